// Products with semiseparable matrices of block generators on a device.
#include <catch2/catch.hpp>

#include "structmat/semiseparable/apply.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
auto make(index_t n, index_t r, index_t batch, unsigned seed) {
  return on_device(random_block_semiseparable<T>(n, r, batch, seed));
}

}  // namespace

TEMPLATE_TEST_CASE("semiseparable products of block generators match the entries",
                   "[semiseparable_apply_block]", float, double, std::complex<float>,
                   std::complex<double>) {
  Random random(1);
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 17, 150}) {
    for (const index_t r : {0, 3, 13}) {
      for (const index_t k : {1, 9}) {
        if (n == 150 && seed++ % 2 != 0) continue;
        check_products(make<TestType>(n, r, 1 + seed % 2, seed), r + 5, k, random);
      }
    }
  }
  const auto m = make<TestType>(61, 5, 2, 3);
  check_linearity(m, 10, random);
  check_strides(m, 3, random);
  check_errors(m, "semiseparable");
  // Too large for stages in shared memory.
  check_products(make<TestType>(40, 200, 2, 4), 100, 9, random);
}

TEMPLATE_TEST_CASE("long semiseparable products of block generators match the host's",
                   "[semiseparable_apply_block]", double, std::complex<float>) {
  using T = TestType;
  Random random(2);
  const index_t n = quick() ? 500 : 100000;
  const auto m = make<T>(n, 9, 1, 4);
  for (const Op op : all_ops) {
    const auto x = random.array<T, 3>({2, n, 3});
    auto y = poisoned<T, 3>({2, n, 3}), expected = y, bound = y, size = x, again = y;
    for (T& v : size) v = std::abs(v);
    apply_op(exec::cpu{}, m, op, x, y);
    apply_op(exec::cpu{}, m, op, x, again);
    CHECK(same_bits(y, again));
    apply_op(exec::cpu{}, m.host(), op, x, expected);
    apply_op(exec::cpu{}, absolute(m.host()), op, size, bound);
    index_t wrong = 0;
    for (index_t i = 0; i < y.size(); ++i) {
      const double limit = 8 * 2000 * static_cast<double>(epsilon<T>) * std::abs(bound.data()[i]);
      wrong += !(static_cast<double>(std::abs(y.data()[i] - expected.data()[i])) <= limit);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("semiseparable block generators: what stands above the diagonal does not count",
          "[semiseparable_apply_block]") {
  const index_t n = 40, bad = 20;
  auto m = random_block_semiseparable<double>(n, 3, 1, 5);
  for (index_t i = 0; i < m.partition.blocks(); ++i) {
    const auto d = m.diagonal.block(0, i);
    for (index_t r = 0; r < d.extent(0); ++r) {
      for (index_t c = r + 1; c < d.extent(1); ++c) d(r, c) = NAN;
    }
  }
  for (const Op op : all_ops) {
    Array<double, 1> x({n}), y({n});
    for (double& v : x) v = 1;
    x(bad) = INFINITY;
    apply_op(exec::cpu{}, on_device(m), op, x, y);
    for (index_t i = 0; i < n; ++i) {
      const bool before = op == Op::none ? i < bad : i > bad;
      if (before || i == bad) CHECK(std::isfinite(y(i)) == before);
    }
  }
}

TEST_CASE("semiseparable block generators in a CUDA graph, and back",
          "[semiseparable_apply_block]") {
  const auto m = random_block_semiseparable<double>(70, 4, 2, 6);
  const auto there = to_device(m);
  CHECK(to_host(there).partition == m.partition);
  CHECK(same_bits(to_host(there).to_dense(), m.to_dense()));
  Random random(3);
  const auto x = random.array<double, 3>({2, 70, 2});
  auto expected = poisoned<double, 3>({2, 70, 2});
  apply_op(exec::cpu{}, on_device(m), Op::transpose, x, expected);
  const auto x_there = to_device(x);
  auto y = to_device(poisoned<double, 3>({2, 70, 2}));
  const index_t bytes = apply_workspace_bytes(there, 2);
  Array<std::byte, 1, space::cuda> workspace({bytes}, uninitialized);
  replay([&](void* stream) {
    apply(exec::cuda{stream, workspace}, there, Op::transpose, x_there.view(), y.view());
  });
  CHECK(same_bits(to_host(y), expected));
  REQUIRE(bytes > 0);
  CHECK_THROWS_AS(apply(exec::cuda{nullptr, workspace.view().slice(0, 0, bytes - 1)}, there,
                        Op::none, x_there.view(), y.view()),
                  DomainError);
  CHECK_THROWS_AS(apply_workspace_bytes(there, -1), ShapeError);
}
