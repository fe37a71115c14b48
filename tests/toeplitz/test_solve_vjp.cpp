#include "structmat/toeplitz/solve_vjp.hpp"

#include <catch2/catch.hpp>

#include "structmat/toeplitz/solve.hpp"
#include "support/gradient.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
Array<T, 3> solution(const Toeplitz<T>& m, Op op, const Array<T, 3>& b, index_t batch) {
  Array<T, 3> x({batch, b.extent(1), b.extent(2)});
  toeplitz::solve(exec::cpu{}, toeplitz::factor_lu(m), op, b.view(), x.view());
  return x;
}

/// A diagonal that keeps the condition small.
template <class T>
Toeplitz<T> well_conditioned(index_t n, index_t batch, Random& random) {
  auto m = random_toeplitz<T>(n, n, batch, random);
  for (index_t b = 0; b < batch && n > 0; ++b) m.lags(b, n - 1) += T{3};
  return m;
}

template <class A>
void shift(A& a, double by) {
  for (auto& v : a) v += by;
}

}  // namespace

TEMPLATE_TEST_CASE("gradients of Toeplitz solutions", "", double, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {1, 2, 5}) {
    for (const index_t batch : {1, 2}) {
      auto m = well_conditioned<T>(n, batch, random);
      for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
        INFO("op " << int(op) << ", n " << n << ", batch " << batch);
        auto b = random.array<T, 3>({batch == 1 ? 2 : 1, n, 2});
        const auto x_bar = random.array<T, 3>({2, n, 2});
        const auto x = solution(m, op, b, 2);
        Array<T, 2> lags_bar(m.lags.extents());
        Array<T, 3> b_bar(b.extents());
        // Gradients are added to what is there.
        shift(lags_bar, 1);
        shift(b_bar, 1);
        solve_vjp<T>(exec::cpu{}, toeplitz::factor_lu(m), op, x.view(), x_bar.view(),
                     lags_bar.view(), b_bar.view());
        shift(lags_bar, -1);
        shift(b_bar, -1);
        const auto loss = [&] { return inner(x_bar, solution(m, op, b, 2)); };
        check_gradient("lags", m.lags, lags_bar, loss);
        check_gradient("b", b, b_bar, loss);
      }
    }
  }
}

TEMPLATE_TEST_CASE("gradients of Toeplitz determinants", "", double, std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {0, 1, 2, 3, 8}) {
    auto m = well_conditioned<T>(n, 2, random);
    Array<double, 1> bar({2});
    bar(0) = 0.5, bar(1) = -2;
    Array<T, 2> lags_bar(m.lags.extents());
    shift(lags_bar, 1);
    log_determinant_vjp<T>(exec::cpu{}, m.view(), std::as_const(bar).view(), lags_bar.view());
    shift(lags_bar, -1);
    check_gradient("lags", m.lags, lags_bar, [&] {
      double sum = 0;
      for (index_t b = 0; b < 2; ++b) {
        sum += bar(b) * log_determinant(exec::cpu{}, m.view(), b).log_abs;
      }
      return sum;
    });
  }
}

TEST_CASE("illegal operands of gradients of Toeplitz solvers") {
  Random random(3);
  const auto m = well_conditioned<double>(3, 1, random);
  const auto f = toeplitz::factor_lu(m);
  Array<double, 3> x({1, 3, 1}), longer({1, 4, 1}), other({1, 3, 1});
  Array<double, 2> lags({1, 5}), few({1, 4});
  const auto gradient = [&](auto& x_bar, auto& lags_bar, auto& b_bar) {
    solve_vjp<double>(exec::cpu{}, f, Op::none, x.view(), x_bar.view(), lags_bar.view(),
                      b_bar.view());
  };
  CHECK_THROWS_AS(gradient(longer, lags, x), ShapeError);
  CHECK_THROWS_AS(gradient(other, few, longer), ShapeError);
  CHECK_THROWS_AS(gradient(other, lags, other), DomainError);
  Array<double, 1> one({1}), two({2});
  const auto determinant = [&](const Toeplitz<double>& t, auto& bar, auto& lags_bar) {
    log_determinant_vjp<double>(exec::cpu{}, t.view(), std::as_const(bar).view(), lags_bar.view());
  };
  CHECK_THROWS_AS(determinant(m, two, lags), ShapeError);
  CHECK_THROWS_AS(determinant(m, one, few), ShapeError);
  CHECK_THROWS_AS(determinant(Toeplitz<double>(3, 3), one, lags), DomainError);
  CHECK_THROWS_AS(determinant(Toeplitz<double>(2, 3), one, few), ShapeError);
}
