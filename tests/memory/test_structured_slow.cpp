// Products and solutions with structured matrices take memory in proportion to n.

#include <catch2/catch.hpp>

#include "memory/counter.hpp"
#include "structmat/cauchy/plan.hpp"
#include "structmat/displacement/from_structured.hpp"
#include "structmat/displacement/plan.hpp"
#include "structmat/toeplitz/apply_vjp.hpp"
#include "structmat/toeplitz/circulant_solve.hpp"
#include "structmat/toeplitz/plan.hpp"
#include "structmat/toeplitz/solve.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "structmat/vandermonde/plan.hpp"
#include "support/positive_toeplitz.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// Bytes for `numbers` numbers for each of n rows.
template <class T>
std::size_t linear(index_t n, index_t numbers) {
  return static_cast<std::size_t>(n * numbers) * sizeof(T);
}

}  // namespace

TEMPLATE_TEST_CASE("Toeplitz products, gradients and solutions", "", double, std::complex<double>) {
  using T = TestType;
  Random random(1);
  const index_t n = 100003;
  const auto m = random_toeplitz<T>(n, n, 1, random);
  const auto x = random.array<T, 3>({1, n, 1});
  Array<T, 3> y({1, n, 1}), x_bar({1, n, 1});
  Array<T, 2> lags_bar(m.lags.extents());
  CHECK(peak_of([&] { apply(exec::cpu{}, m, x, y); }) < linear<T>(n, 20));
  CHECK(peak_of([&] { apply(exec::cpu{}, ToeplitzPlan<T>(m.view()), x, y); }) < linear<T>(n, 24));
  CHECK(peak_of([&] {
          apply_vjp(exec::cpu{}, m.view(), Op::none, View<const T, 3>(x.view()),
                    View<const T, 3>(y.view()), lags_bar.view(), x_bar.view());
        }) < linear<T>(n, 48));
  const Toeplitz<T> positive = toeplitz::hermitian<T>(random_covariances<T>(n, 1, 2).view());
  CHECK(peak_of([&] {
          const auto report =
              solve(exec::cpu{}, positive.view(), Op::none, View<const T, 3>(x.view()), y.view());
          CHECK(report.method == toeplitz::SolveMethod::hermitian);
        }) < linear<T>(n, 120));
  Circulant<T> c(n);
  random.fill(c.column);
  CHECK(peak_of([&] {
          solve(exec::cpu{}, c.view(), Op::none, View<const T, 3>(x.view()), y.view());
        }) < linear<T>(n, 24));
}

TEST_CASE("Vandermonde, exponential sums, displacement") {
  using C = std::complex<double>;
  Random random(2);
  const index_t n = 1 << 15;
  const auto x = random.array<C, 2>({n, 1});
  Array<C, 2> y({n, 1});
  Vandermonde<C> v(n, n);
  for (index_t i = 0; i < n; ++i) v.x(0, i) = std::polar(1., 0.1 * double(i));
  CHECK(peak_of([&] { apply(exec::cpu{}, VandermondePlan<C>(v, {1e-10}), x, y); }) <
        linear<C>(n, 200));
  LogVandermonde<C> e(n, 8);
  const auto weights = random.array<C, 2>({8, 1});
  CHECK(peak_of([&] { apply(exec::cpu{}, e, weights, y); }) < linear<C>(n, 8));
  const auto t = random_toeplitz<C>(n, n, 1, random);
  CHECK(peak_of([&] {
          const displacement::Plan<C> plan(displacement::from_toeplitz(t.view()));
          apply(exec::cpu{}, plan, x, y);
        }) < linear<C>(n, 60));
}
