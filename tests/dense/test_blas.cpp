#include "structmat/dense/blas.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/dense.hpp"
#include "structmat/dense/norm.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
T op_value(Op op, const View<const T, 2>& a, index_t i, index_t j) {
  const T v = op == Op::none ? a(i, j) : a(j, i);
  return op == Op::adjoint ? conjugate(v) : v;
}

}  // namespace

TEMPLATE_TEST_CASE("gemm and gemv match the textbook formula", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  const T alpha = random.scalar<T>(), beta = random.scalar<T>();
  for (const Op op_a : all_ops) {
    for (const Op op_b : all_ops) {
      for (const auto& [m, n, k] :
           {std::array<index_t, 3>{3, 4, 5}, {1, 7, 2}, {4, 1, 1}, {6, 2, 0}, {0, 3, 2}}) {
        for (const bool column_major : {false, true}) {
          if (column_major && (op_a == Op::adjoint || op_b == Op::adjoint)) continue;
          const auto stored = [&](Op op, index_t rows, index_t cols) {
            if (op != Op::none) std::swap(rows, cols);
            return column_major ? random.array<T, 2>({cols, rows})
                                : random.array<T, 2>({rows, cols});
          };
          const auto a_store = stored(op_a, m, k), b_store = stored(op_b, k, n);
          const auto a = column_major ? a_store.view().transposed() : a_store.view();
          const auto b = column_major ? b_store.view().transposed() : b_store.view();
          auto c = random.array<T, 2>({m, n});
          const auto before = c;
          dense::gemm<T>(op_a, op_b, alpha, a, b, beta, c);
          for (index_t i = 0; i < m; ++i) {
            for (index_t j = 0; j < n; ++j) {
              T sum{};
              for (index_t l = 0; l < k; ++l)
                sum += op_value(op_a, a, i, l) * op_value(op_b, b, l, j);
              CHECK(std::abs(c(i, j) - (alpha * sum + beta * before(i, j))) <=
                    50 * double(epsilon<T>));
            }
          }
          if (n != 1) continue;
          const auto column = [](const auto& v, Op op) {
            return v.select(op == Op::none ? 1 : 0, 0);
          };
          if (op_b == Op::adjoint) continue;
          auto y = before;
          dense::gemv<T>(op_a, alpha, a, column(b, op_b).reversed(0).reversed(0), beta,
                         y.view().select(1, 0));
          for (index_t i = 0; i < m; ++i)
            CHECK(std::abs(y(i, 0) - c(i, 0)) <= 50 * double(epsilon<T>));
        }
      }
    }
  }
}

TEST_CASE("gemv takes negative strides") {
  Array<double, 2> a({2, 3});
  for (index_t i = 0; i < 6; ++i) a.data()[i] = double(i + 1);
  std::vector<double> x{1, 10, 100}, y(2);
  dense::gemv<double>(Op::none, 1, a, View<const double, 1>(x).reversed(0), 0,
                      View<double, 1>(y).reversed(0));
  CHECK(y == std::vector<double>{400 + 50 + 6, 100 + 20 + 3});
}

TEST_CASE("BLAS wrappers refuse what BLAS cannot do") {
  Array<double, 2> a({4, 6}), c({2, 2});
  const auto spread = View<const double, 2>(a.data(), {2, 2}, {12, 2});
  CHECK(message_from<Unsupported>([&] {
          dense::gemm<double>(Op::none, Op::none, 1, spread, c, 0, c);
        }) == "dense::gemm: A has strides (12, 2), BLAS needs 1 in one dimension");
  CHECK(message_from<ShapeError>([&] { dense::gemm<double>(Op::none, Op::none, 1, a, c, 0, c); }) ==
        "dense::gemm: op(A) is 4 x 6, op(B) is 2 x 2, C is 2 x 2");
  std::vector<double> x(5), y(4);
  CHECK(message_from<ShapeError>([&] {
          dense::gemv<double>(Op::none, 1, a, View<const double, 1>(x), 0, View<double, 1>(y));
        }) == "dense::gemv: op(A) is 4 x 6, x has 5 rows, y has 4");
}

TEST_CASE("the norm neither overflows nor underflows, and finds what is not finite") {
  Array<double, 2> a({2, 2});
  a(0, 0) = 3e200;
  a(1, 1) = 4e200;
  CHECK(dense::frobenius_norm<double>(a) == Approx(5e200));
  a(0, 0) = 3e-200;
  a(1, 1) = 4e-200;
  CHECK(dense::frobenius_norm<double>(a) == Approx(5e-200));
  CHECK(dense::frobenius_norm<double>(Array<double, 2>({3, 0})) == 0);
  a(0, 1) = NAN;
  CHECK(std::isnan(dense::frobenius_norm<double>(a)));
  CHECK_THROWS_AS(dense::require_finite<double>("here", a), DomainError);
  a(0, 1) = 0;
  CHECK_NOTHROW(dense::require_finite<double>("here", a));
}
