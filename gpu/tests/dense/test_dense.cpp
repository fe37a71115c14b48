// Dense products and solutions on the device against those of the CPU.
#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/dense/blas.hpp"
#include "structmat/dense/solve.hpp"
#include "support/on_device.hpp"
#include "support/random.hpp"

using namespace structmat;
using test::Mirror;

namespace {

Array<std::byte, 1, space::cuda> junk(index_t bytes) {
  Array<std::byte, 1> host({bytes}, uninitialized);
  std::fill(host.begin(), host.end(), std::byte{0xff});
  return to_device(host);
}

template <Scalar T>
double distance(const Array<T, 2>& a, const Array<T, 2>& b) {
  double largest = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a.data()[i] - b.data()[i]);
    if (!(d <= largest)) largest = d;
  }
  return largest;
}

constexpr Op ops[] = {Op::none, Op::transpose, Op::adjoint};

}  // namespace

TEMPLATE_TEST_CASE("products agree with the CPU", "[dense_dense]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  test::Random random(1);
  auto workspace = junk(dense::gemm_workspace_bytes<T>());
  const exec::cuda e{nullptr, workspace};
  for (const auto [m, n, k] :
       {std::array<index_t, 3>{5, 7, 3}, {1, 1, 1}, {33, 1, 17}, {1, 9, 4}}) {
    for (const Op op_a : ops) {
      for (const Op op_b : ops) {
        const auto shape = [](Op op, index_t rows, index_t columns) {
          return op == Op::none ? std::array<index_t, 2>{rows, columns}
                                : std::array<index_t, 2>{columns, rows};
        };
        const Array<T, 2> a = random.array<T, 2>(shape(op_a, m, k)),
                          b = random.array<T, 2>(shape(op_b, k, n));
        Array<T, 2> c = random.array<T, 2>({m, n});
        auto there = to_device(c);
        const auto a_there = to_device(a), b_there = to_device(b);
        const T alpha = random.scalar<T>(), beta = random.scalar<T>();
        dense::gemm<T>(op_a, op_b, alpha, a, b, beta, c);
        dense::gemm<T>(e, op_a, op_b, alpha, a_there, b_there, beta, there);
        CHECK(distance(c, to_host(there)) < 20 * double(epsilon<T>) * double(k));
      }
    }
  }
  // A by columns; beta = 0 does not read.
  const Array<T, 2> a = random.array<T, 2>({4, 6}), b = random.array<T, 2>({4, 3});
  Array<T, 2> c({6, 3});
  dense::gemm<T>(Op::none, Op::none, T{1}, a.view().transposed(), b, T{0}, c);
  const auto a_there = to_device(a), b_there = to_device(b);
  Array<T, 2> nan({6, 3});
  for (T& v : nan) v = std::nan("");
  auto there = to_device(nan);
  dense::gemm<T>(e, Op::none, Op::none, T{1}, a_there.view().transposed(), b_there, T{0}, there);
  CHECK(distance(c, to_host(there)) < 100 * double(epsilon<T>));

  CHECK_THROWS_AS(dense::gemm<T>(e, Op::none, Op::none, T{1}, a_there, b_there, T{0}, there),
                  ShapeError);
  CHECK_THROWS_AS(dense::gemm<T>({}, Op::transpose, Op::none, T{1}, a_there, b_there, T{0}, there),
                  DomainError);
  CHECK_THROWS_AS(dense::gemm<T>(e, Op::none, Op::none, T{1}, a_there.view().transposed(), b_there,
                                 T{0}, View<T, 2, space::cuda>(there.data(), {6, 3}, {1, 6})),
                  Unsupported);
}

TEMPLATE_TEST_CASE("solutions agree with the CPU, whatever the strides", "[dense_dense]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  test::Random random(2);
  for (const index_t n : {index_t{1}, index_t{5}, index_t{40}}) {
    const index_t k = 3;
    const Array<T, 2> a = random.array<T, 2>({n, 2 * n});
    const Array<T, 2> b = random.array<T, 2>({k, n});
    // Every other column of a, from the last one; b by columns.
    const View<const T, 2> left(a.data() + 2 * n - 1, {n, n}, {2 * n, -2});
    Array<T, 2> expected = to_array(b.view().transposed());
    REQUIRE(dense::solve<T>(left, expected.view()).ok());
    const auto a_there = to_device(a);
    auto b_there = to_device(b);
    const View<const T, 2, space::cuda> left_there(a_there.data() + 2 * n - 1, {n, n}, {2 * n, -2});
    auto workspace = junk(dense::solve_workspace_bytes<T>(left_there, k));
    auto status = to_device(Array<int, 1>({1}));
    dense::solve<T>({nullptr, workspace}, left_there, b_there.view().transposed(), status);
    CHECK(to_host(status)(0) == 0);
    const Array<T, 2> found = to_host(b_there);
    double scale = 1;
    for (const T& v : expected) scale = std::max(scale, double(std::abs(v)));
    CHECK(distance(to_array(found.view().transposed()), expected) <
          1e4 * double(n) * double(epsilon<T>) * scale * scale);
  }
}

TEST_CASE("a singular matrix is reported and leaves b alone", "[dense_dense]") {
  Array<double, 2> a({3, 3}), b({3, 1});
  a(0, 0) = 1, a(1, 1) = 1, b(0, 0) = 7;
  const auto a_there = to_device(a);
  auto b_there = to_device(b);
  auto workspace = junk(dense::solve_workspace_bytes<double>(a_there.view(), 1));
  auto status = to_device(Array<int, 1>({1}));
  dense::solve<double>({nullptr, workspace}, a_there, b_there, status);
  CHECK(to_host(status)(0) == 3);
  CHECK(to_host(b_there)(0, 0) == 7);
  CHECK_THROWS_AS(dense::solve<double>({}, a_there, b_there, status), DomainError);
  CHECK_THROWS_AS(
      dense::solve<double>({nullptr, workspace}, a_there.view().slice(0, 0, 2), b_there, status),
      ShapeError);
}
