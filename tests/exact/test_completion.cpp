#include "structmat/exact/completion.hpp"

#include <catch2/catch.hpp>

#include "exact/support.hpp"

using namespace structmat;
using namespace structmat::exact;
using namespace structmat::exact::test;

namespace {

/// Calls work(m) for all matrices with arbitrary entries at `places` and zeros elsewhere.
template <class Work>
void for_all(const PrimeField& field, index_t n,
             const std::vector<std::pair<index_t, index_t>>& places, const Work& work) {
  Matrix<PrimeField> m(field, n, n);
  for (;;) {
    work(m);
    std::size_t l = 0;
    while (l < places.size()) {
      auto& entry = m(places[l].first, places[l].second);
      entry = field.add(entry, 1);
      if (entry != 0) break;
      ++l;
    }
    if (l == places.size()) return;
  }
}

std::vector<std::pair<index_t, index_t>> places(index_t n, bool below, index_t extra) {
  std::vector<std::pair<index_t, index_t>> result;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      if ((i + extra > j) == below) result.emplace_back(i, j);
    }
  }
  return result;
}

/// The definition: the ranks of M(k:n, 0:k+1) for all values of all entries of the diagonal.
void check_against_all_diagonals(Matrix<PrimeField> m, index_t order) {
  const PrimeField field = m.field();
  const index_t n = m.rows(), p = field.prime();
  const auto completion = complete_diagonal(m, order);
  bool completable = true, same = static_cast<index_t>(completion.entries.size()) == n;
  index_t minimal_order = 0;
  std::optional<index_t> blocking;
  for (index_t k = 0; k < n && same; ++k) {
    std::vector<index_t> ranks;
    for (index_t d = 0; d < p; ++d) {
      m(k, k) = static_cast<std::uint32_t>(d);
      ranks.push_back(echelon(m.block(k, n, 0, k + 1)).rank());
    }
    const index_t least = *std::min_element(ranks.begin(), ranks.end());
    const auto fitting =
        std::count_if(ranks.begin(), ranks.end(), [&](index_t r) { return r <= order; });
    const auto best = std::count(ranks.begin(), ranks.end(), least);
    minimal_order = std::max(minimal_order, least);
    if (fitting == 0 && !blocking) blocking = k;
    completable = completable && fitting > 0;
    const auto& entry = completion.entries[k];
    same = same && entry.least_rank() == least && ranks[entry.value] == least;
    same = same && best == (entry.freedom == Freedom::free ? p : 1);
    if (fitting > 0) same = same && (entry.freedom == Freedom::forced) == (fitting == 1);
  }
  CHECK(same);
  CHECK(completion.completable == completable);
  CHECK(completion.blocking == blocking);
  CHECK(completion.minimal_order == minimal_order);
}

}  // namespace

TEST_CASE("completion by a diagonal against all diagonals over F_3") {
  const PrimeField field(3);
  for (const index_t order : {0, 1, 2}) {
    for (const index_t n : {1, 2, 3, 4}) {
      for_all(field, n, places(n, true, 0),
              [&](const auto& m) { check_against_all_diagonals(m, order); });
    }
  }
  Engine engine(1);
  for (int trial = 0; trial < 300; ++trial) {
    check_against_all_diagonals(Matrix<PrimeField>::random(field, 5, 5, engine), 1 + trial % 2);
    check_against_all_diagonals(
        to_dense(random_quasiseparable(field, 6, {1 + trial % 2, 0}, engine)), 1 + trial % 2);
  }
}

TEST_CASE("how many strictly lower triangles of order 1 no diagonal completes") {
  struct Case {
    std::uint32_t p;
    index_t n, in_class, not_completable;
  };
  for (const auto& [p, n, in_class, not_completable] :
       {Case{3, 3, 27, 4}, Case{3, 4, 297, 88}, Case{3, 5, 3321, 1392}, Case{5, 4, 3625, 896}}) {
    index_t members = 0, without = 0;
    const PrimeField field(p);
    for_all(field, n, places(n, true, 0), [&](const auto& m) {
      const auto completion = complete_diagonal(m, 1);
      index_t order = 0;
      for (const auto& entry : completion.entries) order = std::max(order, entry.rank_below);
      if (order > 1) return;
      ++members;
      if (!completion.completable) ++without;
    });
    CHECK(members == in_class);
    CHECK(without == not_completable);
  }
}

TEMPLATE_TEST_CASE("completion of known 3 x 3 triangles", "", PrimeField, RationalField) {
  const TestType field{};
  const auto middle = [&](std::int64_t a21, std::int64_t a31, std::int64_t a32) {
    return complete_diagonal(
        Matrix<TestType>::from_integers(field, {{0, 0, 0}, {a21, 0, 0}, {a31, a32, 0}}), 1);
  };
  const auto shift = middle(1, 0, 1);
  CHECK_FALSE(shift.completable);
  CHECK(shift.blocking == 1);
  CHECK(shift.minimal_order == 2);
  const auto half = middle(1, 2, 1);
  CHECK(half.completable);
  CHECK(half.entries[1].freedom == Freedom::forced);
  CHECK(field.add(half.diagonal()[1], half.diagonal()[1]) == field.from_integer(1));
  const auto zero = middle(0, 3, 1);
  CHECK(zero.entries[1].freedom == Freedom::forced);
  CHECK(zero.entries[1].value == field.from_integer(0));
  CHECK(middle(0, 0, 1).entries[1].freedom == Freedom::free);
}

TEST_CASE("generators with states that are not minimal complete as their matrix does") {
  Engine engine(2);
  const PrimeField field(3);
  for (int trial = 0; trial < 50; ++trial) {
    const auto m = random_quasiseparable(field, 7, {2, 0}, engine);
    const auto by_generators = complete_diagonal(field, m.lower, 1);
    const auto by_matrix = complete_diagonal(to_dense(m), 1);
    CHECK(by_generators.completable == by_matrix.completable);
    CHECK(by_generators.minimal_order == by_matrix.minimal_order);
    CHECK(by_generators.diagonal() == by_matrix.diagonal());
  }
}

TEST_CASE("the least rank of a completion against all completions over F_3") {
  const PrimeField field(3);
  constexpr index_t n = 3;
  for (const Blocks blocks : {Blocks::strict, Blocks::with_diagonal}) {
    const index_t extra = blocks == Blocks::with_diagonal ? 1 : 0;
    for_all(field, n, places(n, true, extra), [&](const auto& prescribed) {
      index_t least = n;
      for_all(field, n, places(n, false, extra), [&](const auto& rest) {
        least = std::min(least, echelon(prescribed + rest).rank());
      });
      CHECK(representable_order(prescribed, blocks) == least);
    });
  }
}

TEST_CASE("the shift has order 1, but no completion of rank below 3") {
  const auto shift = Matrix<RationalField>::from_integers(
      {}, {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}});
  CHECK(from_dense(shift).order() == Order{1, 0});
  CHECK(representable_order(shift, Blocks::strict) == 3);
}

TEST_CASE("completion refuses what is not square, and negative orders") {
  const PrimeField field(7);
  CHECK_THROWS_AS(complete_diagonal(Matrix<PrimeField>(field, 2, 3), 1), ShapeError);
  CHECK_THROWS_AS(complete_diagonal(Matrix<PrimeField>(field, 2, 2), -1), DomainError);
  CHECK_THROWS_AS(representable_order(Matrix<PrimeField>(field, 2, 3), Blocks::strict), ShapeError);
  CHECK(complete_diagonal(Matrix<PrimeField>(field, 0, 0), 0).completable);
}
