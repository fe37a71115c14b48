// Large systems with singular and nearly singular leading minors, in O(n) memory.
#include <catch2/catch.hpp>

#include "structmat/toeplitz/solve.hpp"
#include "support/memory.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// ||x - y|| / ||y||
template <class T>
double difference(const std::vector<T>& x, const std::vector<T>& y) {
  double above = 0, below = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    above += std::norm(x[i] - y[i]);
    below += std::norm(y[i]);
  }
  return std::sqrt(above / below);
}

/// Solves for a known x by the O(n^2) method without refinement, and with it.
template <class T>
void check_large(const Toeplitz<T>& m, double condition) {
  const index_t n = m.rows();
  std::vector<T> x(static_cast<std::size_t>(n)), b(x.size()), got(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(std::cos(3.0 * double(i)));
  apply(exec::cpu{}, m, x, b);
  for (const int refinements : {0, 2}) {
    const auto report = solve(exec::cpu{}, m, b, got,
                              {.method = toeplitz::SolveMethod::lu, .refinements = refinements});
    CHECK(report.status.ok());
    CHECK(report.growth < 1e4);
    CHECK(report.backward_error <= (refinements == 0 ? 1e-13 : 2e-15));
    CHECK(difference(got, x) <= condition * 1e-14);
  }
}

Toeplitz<double> from_lags(index_t n, const std::vector<std::pair<index_t, double>>& lags) {
  Toeplitz<double> m(n, n);
  for (const auto& [l, value] : lags) m.lags(0, l + n - 1) = value;
  return m;
}

}  // namespace

TEST_CASE("leading minors that vanish, embedded in n = 4099") {
  const index_t n = 4099;  // a prime
  // First minor 0; the symbol 2.5 e^{it} + e^{-it} stays away from zero, but not its winding number:
  // corners make it regular.
  check_large(from_lags(n, {{0, 0}, {1, 2.5}, {-1, 1}, {n - 1, 0.5}, {1 - n, 2.0}}), 1e3);
  // First minor 1e-8 and 0 beside symmetric entries that decay slowly.
  for (const double first : {1e-8, 0.}) {
    std::vector<std::pair<index_t, double>> lags{{0, first}};
    for (index_t l = 1; l < n; ++l) {
      const double value = std::sin(double(l * l)) / std::sqrt(double(l));
      lags.push_back({l, value});
      lags.push_back({-l, value});
    }
    check_large(from_lags(n, lags), 1e5);
  }
  // Second minor 0.
  std::vector<std::pair<index_t, double>> lags{{0, 1}, {1, 2}, {-1, 0.5}};
  for (index_t l = 2; l < n; ++l) {
    lags.push_back({l, std::sin(double(l * l)) / double(l)});
    lags.push_back({-l, std::cos(double(l * l)) / double(l)});
  }
  check_large(from_lags(n, lags), 1e5);
}

TEST_CASE("complex indefinite systems of n = 4096") {
  Random random(7);
  check_large(random_toeplitz<std::complex<double>>(4096, 4096, 1, random), 1e5);
}

TEST_CASE("no n x n numbers are formed") {
  Random random(8);
  const index_t n = 8192;  // 512 MiB as a dense matrix
  const auto m = random_toeplitz<double>(n, n, 1, random);
  std::vector<double> b(static_cast<std::size_t>(n), 1), x(b.size());
  const bool measured = restart_peak_memory();
  const double before = peak_memory();
  const auto report = solve(exec::cpu{}, m, b, x);
  CHECK(report.method == toeplitz::SolveMethod::lu);
  CHECK(report.backward_error <= 1e-14);
  if (measured && !memory_is_instrumented) CHECK(peak_memory() - before < 64);
}
