#include "structmat/toeplitz/hermitian_solve.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/error.hpp"
#include "support/battery.hpp"
#include "support/positive_toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;
using toeplitz::HermitianMethod;
using toeplitz::HermitianOptions;

TEMPLATE_TEST_CASE("refined solutions are those of dense elimination", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 7, 50, 127}) {
    for (const index_t batch : {1, 3}) {
      const auto column = random_covariances<T>(n, batch, unsigned(n));
      const auto b = random.array<T, 3>({1, n, 2});
      auto x = poisoned<T, 3>({batch, n, 2});
      const auto report = toeplitz::solve_hermitian<T>(
          exec::cpu{}, column.view(), b.view(), x.view(), 2, {HermitianMethod::superfast, 4});
      REQUIRE(report.status.ok());
      CHECK(report.method == HermitianMethod::superfast);
      CHECK(report.backward_error <= 8 * double(epsilon<T>));
      for (index_t e = 0; e < batch; ++e) {
        const auto m = hermitian_dense<T>(std::as_const(column).view().select(0, e));
        const DenseCholesky<Wide<T>> oracle(m);
        Array<Wide<T>, 2> rhs({n, 2}), got({n, 2});
        for (index_t i = 0; i < n; ++i) {
          for (index_t c = 0; c < 2; ++c) {
            rhs(i, c) = Wide<T>(b(0, i, c));
            got(i, c) = Wide<T>(x(e, i, c));
          }
        }
        const auto exact = oracle.solve(rhs);
        const double condition = norm_of(m) * norm_of(oracle.inverse());
        CHECK(distance(got, exact) <=
              16 * double(epsilon<T>) * condition * (norm_of(exact) + 1e-30));
      }
    }
  }
}

TEST_CASE("refinement makes residuals small where the condition is large") {
  // cond about 1e8: the superfast inverse alone leaves residuals of some 1e-9.
  const index_t n = 1500;
  Array<double, 2> column({1, n});
  for (index_t l = 0; l < n; ++l) column(0, l) = std::exp(-0.5 * double(l * l) / 100);
  column(0, 0) += 1e-7;
  // T times ones: a solution of moderate size, which the vectors of the formula, of the size of T^-1,
  // make up by cancellation.
  Array<double, 3> b({1, n, 1});
  const auto m = hermitian_dense<double>(std::as_const(column).view().select(0, 0));
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) b(0, i, 0) += m(i, j);
  }
  auto x = poisoned<double, 3>({1, n, 1});
  const toeplitz::HermitianInverse<double> inverse(column.view(), {HermitianMethod::superfast});
  REQUIRE(inverse.ok());
  const auto plain = toeplitz::solve_hermitian<double>(exec::cpu{}, inverse, b.view(), x.view(), 0);
  CHECK(plain.refinements == 0);
  const auto refined =
      toeplitz::solve_hermitian<double>(exec::cpu{}, inverse, b.view(), x.view(), 3);
  INFO(plain.backward_error << " becomes " << refined.backward_error);
  CHECK(refined.backward_error < plain.backward_error);
  CHECK(refined.backward_error <= 1e-14);
  CHECK(refined.refinements >= 1);
}

TEST_CASE("no solution without a positive definite matrix") {
  const Array<double, 2> column({1, 3});
  const Array<double, 3> b({1, 3, 1});
  auto x = poisoned<double, 3>({1, 3, 1});
  const auto report =
      toeplitz::solve_hermitian<double>(exec::cpu{}, column.view(), b.view(), x.view());
  CHECK(report.status.kind == PivotStatus::Kind::not_positive);
  for (const double v : x) CHECK(std::isnan(v));
  CHECK_THROWS_AS(toeplitz::solve_hermitian<double>(exec::cpu{}, column.view(), b.view(),
                                                    View<double, 3>(x.data(), {1, 2, 1})),
                  ShapeError);
  CHECK_THROWS_AS(
      toeplitz::solve_hermitian<double>(exec::cpu{}, column.view(), b.view(), x.view(), -1),
      DomainError);
}
