// Products with quasiseparable matrices of block generators on a device.
#include "products.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_TEST_CASE("block generators on a device", "[quasiseparable_apply_block]",
                   (Case<float, transition::Block>), (Case<double, transition::Block>),
                   (Case<std::complex<float>, transition::Block>),
                   (Case<std::complex<double>, transition::Block>)) {
  using T = typename TestType::Value;
  Random random(10);
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 17, 150}) {
    for (const Order r : {Order{0, 0}, {3, 0}, {0, 5}, {8, 13}}) {
      for (const index_t k : {1, 9}) {
        if (n == 150 && seed++ % 3 != 0) continue;
        check_products(TestType::make(n, r, 1 + seed % 2, seed), std::max(r.lower, r.upper) + 5, k,
                       random);
      }
    }
  }
  const auto m = TestType::make(61, {3, 5}, 2, 3);
  check_linearity(m, 10, random);
  check_strides(m, 3, random);
  check_errors(m, "quasiseparable");

  // Too large for stages in shared memory.
  check_products(TestType::make(40, {200, 100}, 2, 4), 100, 9, random);

  const auto large = TestType::make(quick() ? 700 : 30000, {4, 9}, 1, 4);
  check_against_host(large, Op::none, random.array<T, 3>({1, large.rows(), 1}));
  const auto x = random.array<T, 3>({2, large.rows(), 3});
  check_against_host(large, Op::adjoint, x);
  CHECK(same_bits(product(large, Op::none, x), product(large, Op::none, x)));
}

TEST_CASE("block generators come back from a device", "[quasiseparable_apply_block]") {
  const auto m = random_block_quasiseparable<double>(23, {3, 4}, 2, 1);
  const auto back = to_host(to_device(m));
  CHECK(back.partition == m.partition);
  CHECK(same_bits(back.to_dense(), m.to_dense()));
}

TEST_CASE("block generators, one matrix: alone or together, the same bits",
          "[quasiseparable_apply_block]") {
  for (const index_t k : {1, 10}) {
    check_batches(Case<double, transition::Block>::make(quick() ? 150 : 300, {8, 3}, 1, 11), k);
  }
}
