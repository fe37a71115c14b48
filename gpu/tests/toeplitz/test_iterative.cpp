// Preconditioned conjugate gradients on a device.
#include "structmat/toeplitz/iterative.hpp"

#include <catch2/catch.hpp>

#include "structmat/toeplitz/apply.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"
#include "support/positive_toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;
using toeplitz::IterativeOptions;
using toeplitz::IterativeReport;
using toeplitz::Preconditioner;
using Stop = IterativeReport::Stop;

namespace {

template <class T>
struct Solution {
  Array<T, 3> x;
  IterativeReport report;
};

template <class T>
Solution<T> solved(const Toeplitz<T>& m, const Array<T, 3>& b, const IterativeOptions& options) {
  const auto md = to_device(m);
  const auto bd = to_device(b);
  const index_t batch = m.batch() == 1 ? b.extent(0) : m.batch();
  auto xd = to_device(poisoned<T, 3>({batch, b.extent(1), b.extent(2)}));
  const auto report = toeplitz::conjugate_gradients(
      exec::cuda{}, md.view(), View<const T, 3, space::cuda>(bd.view()), xd.view(), options);
  return {to_host(xd), report};
}

/// The largest ||b - T x|| / ||b|| of a column.
template <class T>
double largest_residual(const Toeplitz<T>& m, const Array<T, 3>& b, const Array<T, 3>& x) {
  const auto product = m * x;
  double largest = 0;
  for (index_t e = 0; e < x.extent(0); ++e) {
    for (index_t c = 0; c < x.extent(2); ++c) {
      double error = 0, size = 0;
      for (index_t i = 0; i < x.extent(1); ++i) {
        const T right = b(b.extent(0) == 1 ? 0 : e, i, c);
        error += std::norm(std::complex<double>(right - product(e, i, c)));
        size += std::norm(std::complex<double>(right));
      }
      if (error > 0) largest = std::max(largest, std::sqrt(error / size));
    }
  }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("conjugate gradients on a device", "[toeplitz_iterative]", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 17, 200}) {
    const auto column = random_covariances<T>(n, 2, 7, 2.0);
    const Toeplitz<T> m = toeplitz::hermitian(std::as_const(column).view());
    const auto b = random.array<T, 3>({2, n, 3});
    for (const auto kind : {Preconditioner::none, Preconditioner::chan, Preconditioner::strang}) {
      const auto [x, report] = solved(m, b, {.preconditioner = kind});
      INFO("n " << n << ", preconditioner " << int(kind) << ", stop " << int(report.stop));
      CHECK(report.converged());
      CHECK(report.residual <= 1e-10);
      CHECK(report.iterations <= 2 * n + 4);
      CHECK(largest_residual(m, b, x) <= 1.1e-10);
    }
  }
}

TEMPLATE_TEST_CASE("long systems by transforms, one matrix for all", "[toeplitz_iterative]", float,
                   double) {
  using T = TestType;
  Random random(2);
  const index_t n = 1000;
  const auto column = random_covariances<T>(n, 1, 3, 4.0);
  const Toeplitz<T> m = toeplitz::hermitian(std::as_const(column).view());
  const auto b = random.array<T, 3>({2, n, 2});
  const double tolerance = std::same_as<T, float> ? 1e-5 : 1e-11;
  const auto first = solved(m, b, {.tolerance = tolerance}),
             again = solved(m, b, {.tolerance = tolerance});
  CHECK(first.report.converged());
  CHECK(largest_residual(m, b, first.x) <= 1.1 * tolerance);
  CHECK(same_bits(first.x, again.x));
  CHECK(first.report.iterations == again.report.iterations);
}

TEST_CASE("how conjugate gradients on a device end", "[toeplitz_iterative]") {
  Random random(3);
  const index_t n = 40;
  const auto column = random_covariances<double>(n, 1, 3, 1.0);
  Toeplitz<double> m = toeplitz::hermitian(std::as_const(column).view());
  auto b = random.array<double, 3>({1, n, 2});
  // A column of zeros is solved at once, beside one that is not.
  for (index_t i = 0; i < n; ++i) b(0, i, 0) = 0;
  const auto good = solved(m, b, {});
  CHECK(good.report.converged());
  for (index_t i = 0; i < n; ++i) CHECK(good.x(0, i, 0) == 0);

  const auto few = solved(m, b, {.iterations = 2});
  CHECK(few.report.stop == Stop::iterations);
  CHECK(few.report.iterations == 2);
  CHECK(few.report.column == 1);
  CHECK(few.report.residual > 1e-10);

  b(0, 3, 1) = NAN;
  const auto broken = solved(m, b, {});
  CHECK(broken.report.stop == Stop::not_finite);
  CHECK(std::isnan(broken.report.residual));

  Toeplitz<double> negative(n, n);
  negative.lags(0, n - 1) = -1;
  const auto x = solved(negative, random.array<double, 3>({1, n, 1}), {});
  CHECK(x.report.stop == Stop::not_positive);

  m.lags(0, 0) += 1;
  CHECK_THROWS_AS(solved(m, b, {}), DomainError);
  CHECK_THROWS_AS(solved(Toeplitz<double>(3, 4), Array<double, 3>({1, 4, 1}), {}), ShapeError);
  CHECK_THROWS_AS(solved(negative, b, {.tolerance = -1}), DomainError);
}
