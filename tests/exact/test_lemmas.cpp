#include "structmat/exact/lemmas.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace structmat;
using namespace structmat::exact;

TEST_CASE("every lemma holds in every field") {
  for (const Lemma& l : lemmas()) {
    for (const LemmaField field : {LemmaField::rational, LemmaField::gfp, LemmaField::real}) {
      const LemmaOutcome outcome = l.run(field, {.trials = 1, .seed = 7});
      INFO(l.name() << " over " << outcome.field << ": " << outcome.violation);
      CHECK(outcome.holds);
      CHECK(outcome.instances > 0);
      CHECK(outcome.witness.empty() == !l.has_witness());
    }
  }
}

TEST_CASE("every lemma fails when its hypothesis is broken by one") {
  for (const Lemma& l : lemmas()) {
    for (const LemmaField field : {LemmaField::rational, LemmaField::gfp, LemmaField::real}) {
      INFO(l.name() << " over " << name(field) << ", broken by " << l.broken_by());
      // Chance may spare an instance, as when a random row is zero; not most of them.
      CHECK(l.failures_when_broken(field, 6, 3) >= 4);
    }
  }
}

TEST_CASE("small fields have room for the theorems") {
  for (const Lemma& l : lemmas()) {
    // Distinct nodes, and 1/8, need larger fields than F_3 and F_2.
    const LemmaOutcome outcome =
        l.run(LemmaField::gfp, {.order = 1, .trials = 2, .prime = PrimeField(101)});
    INFO(l.name() << ": " << outcome.violation);
    CHECK(outcome.holds);
  }
}

TEST_CASE("the registry is well formed") {
  std::set<std::string> names;
  for (const Lemma& l : lemmas()) {
    INFO(l.name());
    CHECK(names.insert(l.name()).second);
    CHECK(l.statement().back() == '.');
    CHECK_FALSE(l.map().empty());
    CHECK_FALSE(l.broken_by().empty());
  }
  CHECK(names.size() >= 30);
}

TEST_CASE("sweeps that make no sense are refused") {
  const Lemma& l = lemmas().front();
  CHECK_THROWS_AS(l.run(LemmaField::gfp, {.order = 0}), DomainError);
  CHECK_THROWS_AS(l.run(LemmaField::gfp, {.size = -1}), DomainError);
  CHECK_THROWS_AS(l.run(LemmaField::gfp, {.trials = 0}), DomainError);
}
