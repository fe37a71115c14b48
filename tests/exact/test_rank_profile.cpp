#include "structmat/exact/rank_profile.hpp"

#include <catch2/catch.hpp>

#include "exact/support.hpp"
#include "structmat/exact/convert.hpp"
#include "structmat/exact/rank.hpp"

using namespace structmat;
using namespace structmat::exact;
using namespace structmat::exact::test;

namespace {

void check_ranks(const Matrix<PrimeField>& m) {
  for (const Blocks blocks : {Blocks::strict, Blocks::with_diagonal}) {
    const index_t extra = blocks == Blocks::with_diagonal ? 1 : 0;
    const RankProfile profile = rank_profile(m, blocks);
    CHECK(profile.lower == naive_ranks(m, extra));
    CHECK(profile.upper == naive_ranks(m.transposed(), extra));
    for (const auto& [ranks, order] : {std::pair{profile.lower, profile.order.lower},
                                       std::pair{profile.upper, profile.order.upper}}) {
      CHECK(order == (ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end())));
    }
  }
}

}  // namespace

TEST_CASE("ranks over F_p are those of each block on its own") {
  for (const std::uint32_t p : {2u, 3u, 101u, 131071u, PrimeField::largest}) {
    const PrimeField field(p);
    Engine engine(p);
    for (const index_t n : {0, 1, 2, 3, 7, 13, 40}) {
      for (int trial = 0; trial < 4; ++trial) {
        check_ranks(to_dense(random_quasiseparable(field, n, {trial, 2}, engine)));
      }
      check_ranks(Matrix<PrimeField>::random(field, n, n, engine));
      check_ranks(Matrix<PrimeField>(field, n, n));
    }
  }
}

TEST_CASE("ranks across several panels, states that end and begin") {
  for (const std::uint32_t p : {2u, 3u, 131071u, PrimeField::largest}) {
    const PrimeField field(p);
    Engine engine(p + 1);
    for (const index_t n : {127, 128, 129, 300}) {
      const auto m = minimal(random_quasiseparable(field, n, {9, 5}, engine));
      const RankProfile profile = rank_profile(to_dense(m));
      CHECK(profile.lower == states(m.lower));
      CHECK(profile.upper == states(m.upper_transposed));
    }
    const auto full = from_dense(Matrix<PrimeField>::random(field, 150, 150, engine));
    CHECK(rank_profile(to_dense(full)).lower == states(full.lower));
  }
}

TEST_CASE("an order of 2 over Q that is 1 modulo 5") {
  const auto m = Matrix<RationalField>::from_integers(
      {}, {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 2, 0, 0}, {3, 1, 0, 0}});
  CHECK(rank_profile(reduced(m, PrimeField(5))).order == Order{1, 0});
  CHECK(rank_profile(reduced(m, PrimeField(7))).order == Order{2, 0});
  const auto sampled = rank_profile(m);
  CHECK(sampled.ranks.lower == std::vector<index_t>{1, 2, 1});
  CHECK(sampled.primes.size() == 3);
  CHECK_FALSE(sampled.proved);
  const auto proved = rank_profile(m, {.deterministic = true});
  CHECK(proved.ranks == sampled.ranks);
  CHECK(proved.proved);
}

TEST_CASE("a product and a square modulo 101 make order 2") {
  const PrimeField field(101);
  Matrix<PrimeField> m(field, 6, 6);
  for (index_t i = 0; i < 6; ++i) {
    for (index_t j = 0; j < 6; ++j) {
      m(i, j) = field.from_integer((i + 1) * (j + 1) + std::min(i, j) * std::min(i, j) + 1);
    }
  }
  CHECK(rank_profile(m).order == Order{2, 2});
}

TEST_CASE("ranks over the rationals are those of each block on its own") {
  Engine engine(3);
  for (const index_t n : {0, 1, 2, 5, 11}) {
    auto m = to_dense(random_quasiseparable(RationalField(), n, {2, 1}, engine));
    if (n > 1) m(n - 1, 0) += Rational(1, 3);
    for (const Blocks blocks : {Blocks::strict, Blocks::with_diagonal}) {
      const index_t extra = blocks == Blocks::with_diagonal ? 1 : 0;
      const auto proved = rank_profile(m, {.blocks = blocks, .deterministic = true});
      CHECK(proved.ranks.lower == naive_ranks(m, extra));
      CHECK(proved.ranks.upper == naive_ranks(m.transposed(), extra));
      CHECK(rank_profile(m, {.blocks = blocks}).ranks == proved.ranks);
    }
  }
}

TEST_CASE("primes in denominators are passed over") {
  // Over one prime the seed decides; asked again with a denominator of that prime, another is drawn.
  Matrix<RationalField> m({}, 2, 2);
  m(1, 0) = Rational(1);
  const auto first = rank_profile(m, {.primes = 1}).primes.front();
  m(1, 0) = Rational(1, first);
  const auto second = rank_profile(m, {.primes = 1});
  CHECK(second.primes.front() != first);
  CHECK(second.ranks.order == Order{1, 0});
  CHECK_THROWS_AS(reduced(m, PrimeField(first)), DomainError);
}

TEST_CASE("random projections") {
  Engine engine(8);
  const PrimeField field;
  for (const index_t n : {1, 2, 30, 140, 300}) {
    const auto m = to_dense(random_quasiseparable(field, n, {4, 2}, engine));
    const RankProfile exact = rank_profile(m);
    const Order order = exact.order;
    const Verdict holds = randomised(m, order, 1);
    CHECK(holds.holds);
    CHECK(holds.failure_probability <= 10.0 / PrimeField::largest);
    for (const Part part : {Part::lower, Part::upper}) {
      Order less = order;
      index_t& one = part == Part::lower ? less.lower : less.upper;
      if (one == 0) continue;
      --one;
      const Verdict violated = randomised(m, less, 1);
      REQUIRE_FALSE(violated.holds);
      CHECK(violated.violation->part == part);
      CHECK(violated.violation->rank == one + 1);
      const auto& ranks = part == Part::lower ? exact.lower : exact.upper;
      CHECK(ranks[violated.violation->k - 1] >= one + 1);
      // The first such block; a projection misses it with a probability below 1e-6.
      for (index_t k = 1; k < violated.violation->k; ++k) CHECK(ranks[k - 1] <= one);
    }
  }
  // Over a small field a violation that is found is proved all the same.
  const PrimeField three(3);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto m = to_dense(random_quasiseparable(three, 12, {2, 0}, engine));
    const auto verdict = randomised(m, {1, 0}, seed);
    if (!verdict.holds) CHECK(rank_profile(m).order.lower == 2);
  }
}

TEST_CASE("ranks of any shape") {
  Engine engine(4);
  for (const auto& [rows, cols] : {std::pair{0, 3}, {3, 0}, {1, 5}, {6, 4}, {4, 9}}) {
    for (const std::uint32_t p : {2u, 3u, PrimeField::largest}) {
      const auto m = Matrix<PrimeField>::random(PrimeField(p), rows, cols, engine);
      CHECK(rank(m) == echelon(m).rank());
    }
    const auto m = Matrix<RationalField>::random({}, rows, 2, engine) *
                   Matrix<RationalField>::random({}, 2, cols, engine);
    CHECK(rank(m) == echelon(m).rank());
  }
}

TEST_CASE("profiles refuse what is not square, negative orders and no primes") {
  CHECK_THROWS_AS(rank_profile(Matrix<PrimeField>(PrimeField(7), 2, 3)), ShapeError);
  CHECK_THROWS_AS(randomised(Matrix<PrimeField>(PrimeField(7), 2, 3), {}, 0), ShapeError);
  CHECK_THROWS_AS(randomised(Matrix<PrimeField>(PrimeField(7), 2, 2), {-1, 0}, 0), DomainError);
  CHECK_THROWS_AS(rank_profile(Matrix<RationalField>({}, 2, 3)), ShapeError);
  CHECK_THROWS_AS(rank_profile(Matrix<RationalField>({}, 2, 2), {.primes = 0}), DomainError);
}
