#include "structmat/exact/rank_profile.hpp"

#include <catch2/catch.hpp>

#include "exact/support.hpp"

using namespace structmat;
using namespace structmat::exact;
using namespace structmat::exact::testing;

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
    const auto full = from_dense(Matrix<PrimeField>::random(field, 200, 200, engine));
    CHECK(rank_profile(to_dense(full)).lower == states(full.lower));
  }
}
