#include "structmat/toeplitz/iterative.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/error.hpp"
#include "structmat/toeplitz/circulant_approximation.hpp"
#include "support/battery.hpp"
#include "support/positive_toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;
using toeplitz::IterativeOptions;
using toeplitz::IterativeReport;
using toeplitz::Preconditioner;
using Stop = IterativeReport::Stop;

namespace {

/// General matrices with decaying lags and eigenvalues away from 0.
template <class T>
Toeplitz<T> decaying(index_t n, index_t batch, unsigned seed) {
  Random random(seed);
  Toeplitz<T> m(n, n, batch);
  for (index_t b = 0; b < batch; ++b) {
    for (index_t l = 1 - n; l < n; ++l) {
      m.lags(b, l + n - 1) =
          random.scalar<T>() * real_t<T>(1 / std::pow(1 + std::abs(double(l)), 1.5));
    }
    if (n > 0) m.lags(b, n - 1) = T(4);
  }
  return m;
}

/// ||b - T x|| / ||b|| by the definition.
template <class T>
double true_residual(const Array<T, 3>& dense, index_t entry, const Array<T, 3>& b,
                     const Array<T, 3>& x, index_t c) {
  double error = 0, size = 0;
  const index_t in_b = b.extent(0) == 1 ? 0 : entry, in_m = dense.extent(0) == 1 ? 0 : entry;
  for (index_t i = 0; i < x.extent(1); ++i) {
    Wide<T> sum = Wide<T>(b(in_b, i, c));
    size += std::norm(sum);
    for (index_t j = 0; j < x.extent(1); ++j)
      sum -= Wide<T>(dense(in_m, i, j)) * Wide<T>(x(entry, j, c));
    error += std::norm(sum);
  }
  return error == 0 ? 0 : std::sqrt(error / size);
}

}  // namespace

TEMPLATE_TEST_CASE("circulant approximations by the definition", "", double, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 5, 8}) {
    const auto m = decaying<T>(n, 2, 1);
    const auto chan = toeplitz::chan_circulant(m.view()),
               strang = toeplitz::strang_circulant(m.view());
    for (index_t b = 0; b < 2; ++b) {
      for (index_t l = 0; l < n; ++l) {
        // Next in the Frobenius norm: the mean of what stands on the diagonals that are one.
        T sum{};
        for (index_t j = 0; j < n; ++j) sum += m.entry((j + l) % n, j, b);
        CHECK(std::abs(chan.column(b, l) - sum / double(n)) < 1e-14);
        if (2 * l < n) CHECK(strang.column(b, l) == m.entry(l, 0, b));
        if (2 * l > n) CHECK(strang.column(b, l) == m.entry(0, n - l, b));
        if (2 * l == n && n > 0)
          CHECK(strang.column(b, l) == (m.entry(l, 0, b) + m.entry(0, l, b)) / 2.0);
      }
    }
  }
  CHECK_THROWS_AS(toeplitz::chan_circulant(Toeplitz<T>(2, 3).view()), ShapeError);
}

TEMPLATE_TEST_CASE("conjugate gradients", "", double, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 17, 100}) {
    const auto column = random_covariances<T>(n, 2, 7, 2.0);
    const Toeplitz<T> m = toeplitz::hermitian(std::as_const(column).view());
    const Array<T, 3> dense = m.to_dense();
    const auto b = random.array<T, 3>({1, n, 2});
    for (const Preconditioner p :
         {Preconditioner::none, Preconditioner::strang, Preconditioner::chan}) {
      auto x = poisoned<T, 3>({2, n, 2});
      const IterativeReport report = toeplitz::conjugate_gradients<T>(
          exec::cpu{}, m.view(), b.view(), x.view(), {.preconditioner = p, .tolerance = 1e-12});
      INFO("n " << n << ", preconditioner " << int(p) << ", residual " << report.residual);
      CHECK(report.converged());
      double worst = 0;
      for (index_t e = 0; e < 2; ++e) {
        for (const index_t c : {0, 1}) worst = std::max(worst, true_residual(dense, e, b, x, c));
      }
      CHECK(worst <= 2e-12);
      CHECK(std::abs(worst - report.residual) <= 1e-13);
      CHECK(report.iterations <= 4 * n);
    }
  }
}

TEMPLATE_TEST_CASE("gmres", "", float, double, std::complex<double>) {
  using T = TestType;
  Random random(2);
  const double tolerance = std::same_as<real_t<T>, float> ? 1e-5 : 1e-12;
  for (const index_t n : {0, 1, 2, 17, 100}) {
    const auto m = decaying<T>(n, 2, 3);
    const Array<T, 3> dense = m.to_dense();
    const auto b = random.array<T, 3>({2, n, 2});
    for (const Preconditioner p :
         {Preconditioner::none, Preconditioner::strang, Preconditioner::chan}) {
      for (const index_t restart : {5, 50}) {
        auto x = poisoned<T, 3>({2, n, 2});
        const IterativeReport report =
            toeplitz::gmres<T>(exec::cpu{}, m.view(), b.view(), x.view(),
                               {.preconditioner = p, .tolerance = tolerance, .restart = restart});
        INFO("n " << n << ", preconditioner " << int(p) << ", residual " << report.residual);
        CHECK(report.converged());
        double worst = 0;
        for (index_t e = 0; e < 2; ++e) {
          for (const index_t c : {0, 1}) worst = std::max(worst, true_residual(dense, e, b, x, c));
        }
        CHECK(worst <= 2 * tolerance);
      }
    }
  }
}

TEST_CASE("preconditioners save steps") {
  const index_t n = 500;
  std::vector<double> column(n), b(n, 1.0);
  for (index_t l = 0; l < n; ++l) column[std::size_t(l)] = std::pow(0.95, double(l));
  const auto m = toeplitz::hermitian(View<const double, 1>(column));
  std::vector<double> x(n);
  index_t steps[2];
  for (const int i : {0, 1}) {
    const auto report = toeplitz::conjugate_gradients<double>(
        exec::cpu{}, m.view(), as_batch(View<const double, 1>(b)), as_batch(View<double, 1>(x)),
        {.preconditioner = i == 0 ? Preconditioner::none : Preconditioner::strang});
    CHECK(report.converged());
    steps[i] = report.iterations;
  }
  CHECK(3 * steps[1] < steps[0]);
}

TEST_CASE("what cannot be solved is said") {
  const std::vector<double> b{1, 2, 3};
  std::vector<double> x(3);
  const auto solve = [&](auto method, const Toeplitz<double>& m, const IterativeOptions& options) {
    return method(exec::cpu{}, m.view(), as_batch(View<const double, 1>(b)),
                  as_batch(View<double, 1>(x)), options);
  };
  const auto cg = [](auto&&... a) { return toeplitz::conjugate_gradients<double>(a...); };
  const auto gmres = [](auto&&... a) { return toeplitz::gmres<double>(a...); };
  const std::vector<double> indefinite{1, 2, 0}, not_a_number{1, NAN, 0}, good{2, 1, 0.5};
  const auto hermitian = [](const std::vector<double>& c) {
    return toeplitz::hermitian(View<const double, 1>(c));
  };
  CHECK(solve(cg, hermitian(indefinite), {.preconditioner = Preconditioner::none}).stop ==
        Stop::not_positive);
  CHECK(solve(gmres, hermitian(indefinite), {}).converged());
  CHECK(solve(cg, hermitian(not_a_number), {}).stop == Stop::not_finite);
  CHECK(solve(gmres, hermitian(not_a_number), {}).stop == Stop::not_finite);
  for (const double v : x) CHECK(v == 0);
  // A tolerance that nothing meets, steps that run out, a singular matrix.
  const auto strict = solve(cg, hermitian(good), {.tolerance = 0});
  CHECK((strict.converged() ? strict.residual == 0 : strict.stop == Stop::stagnated));
  CHECK(strict.residual < 1e-14);
  CHECK(solve(cg, hermitian(good), {.iterations = 1}).stop == Stop::iterations);
  CHECK(solve(gmres, hermitian(good), {.iterations = 1}).stop == Stop::iterations);
  const auto singular = solve(gmres, Toeplitz<double>(3, 3), {});
  CHECK(singular.stop == Stop::stagnated);
  CHECK(singular.residual == 1);

  Toeplitz<double> general(3, 3);
  general.lags(0, 0) = 1;
  CHECK_THROWS_AS(solve(cg, general, {}), DomainError);
  CHECK_THROWS_AS(solve(cg, hermitian(good), {.tolerance = -1}), DomainError);
  CHECK_THROWS_AS(solve(gmres, hermitian(good), {.restart = 0}), DomainError);
  CHECK_THROWS_AS(solve(gmres, Toeplitz<double>(3, 2), {}), ShapeError);
}
