// Trigonometric interpolation at scattered times: a Vandermonde system with nodes exp(i t), then the
// interpolant on a fine grid by a nonuniform Fourier transform.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <structmat/vandermonde/nonuniform_fft.hpp>
#include <structmat/vandermonde/solve.hpp>

using namespace structmat;
using C = std::complex<double>;

namespace {

double signal(double t) {
  return std::exp(std::sin(t)) * std::cos(3 * t);
}

}  // namespace

int main() {
  // 101 times, each moved from a regular grid by up to a third of a step, and the signal there.
  const index_t half = 50, n = 2 * half + 1;
  const double step = 2 * std::numbers::pi / double(n);
  Vandermonde<C> v(n, n);
  Array<C, 1> f({n});
  for (index_t i = 0; i < n; ++i) {
    const double t = step * (double(i) + std::sin(12.9898 * double(i)) / 3);
    v.x(0, i) = std::polar(1.0, t);
    // sum_k a_k exp(i k t), |k| <= half, is a polynomial in exp(i t) divided by its power half.
    f(i) = signal(t) * std::polar(1.0, double(half) * t);
  }
  Array<C, 1> a({n});
  const auto report = solve(exec::cpu{}, v, f, a);
  if (!report.status.ok()) {
    std::printf("%s\n", describe(report.status).c_str());
    return 1;
  }

  // The interpolant at 10,000 times, compared with the signal.
  std::vector<double> times(10000);
  for (std::size_t p = 0; p < times.size(); ++p) {
    times[p] = 2 * std::numbers::pi * double(p) / double(times.size());
  }
  const NonuniformFft<C> series(times, n, {.tolerance = 1e-13, .first_mode = -half});
  const auto values = series * a;
  double worst = 0;
  for (std::size_t p = 0; p < times.size(); ++p) {
    worst = std::max(worst, std::abs(values(index_t(p)) - signal(times[p])));
  }
  std::printf("%d scattered samples, largest error of the interpolant %.1e\n", int(n), worst);
  return worst < 1e-11 ? 0 : 1;
}
