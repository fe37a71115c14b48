#include "vandermonde/unit_circle.hpp"

#include <cmath>
#include <numbers>

#include "core/product.hpp"
#include "structmat/vandermonde/exponential_sum.hpp"
#include "vandermonde/exponential.hpp"

namespace structmat::vandermonde {

namespace {

/// Positive nodes and weights of the Gauss-Legendre rule of 2 q points on [-1, 1], by Newton's
/// method on the recurrence of Legendre polynomials.
struct GaussLegendre {
  explicit GaussLegendre(int q) {
    const int n = 2 * q;
    for (int i = 0; i < q; ++i) {
      double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 0;
      for (int step = 0; step < 8; ++step) {
        double p = 1, before = 0;
        for (int k = 1; k <= n; ++k) {
          const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
          before = p;
          p = next;
        }
        slope = n * (x * p - before) / (x * x - 1);
        x -= p / slope;
      }
      nodes.push_back(x);
      weights.push_back(2 / ((1 - x * x) * slope * slope));
    }
  }
  std::vector<double> nodes, weights;
};

/// The kernel of w grid points: beta balances its truncation at the ends against aliasing for a
/// grid of twice the modes.
constexpr double beta_of(int w) {
  return 2.30 * w;
}

/// w / 2 times the integral of phi(z) cos(pi w k z / grid) for 0 <= k <= count.
std::vector<double> kernel_transform(int w, index_t grid, index_t count) {
  const GaussLegendre rule(10 + 2 * w);
  const auto poles = static_cast<index_t>(rule.nodes.size());
  LogVandermonde<std::complex<double>> waves(count + 1, poles);
  std::vector<std::complex<double>> weights;
  weights.reserve(rule.nodes.size());
  for (index_t q = 0; q < poles; ++q) {
    const double z = rule.nodes[q];
    waves.a(0, q) = {0, std::numbers::pi * w * z / static_cast<double>(grid)};
    weights.emplace_back(w / 2.0 * rule.weights[q] *
                         std::exp(beta_of(w) * (std::sqrt(1 - z * z) - 1)));
  }
  std::vector<double> transform(count + 1);
  real_exponential_sum(exec::cpu{1}, waves, weights, transform);
  return transform;
}

/// Real and imaginary parts of a grid with margins.
template <RealScalar R>
struct SplitGrid {
  explicit SplitGrid(index_t grid)
      : re({grid + 2 * Spreading<R>::margin}), im({grid + 2 * Spreading<R>::margin}) {}
  Array<R, 1> re, im;
};

}  // namespace

template <RealScalar R>
UnitCircle<R>::UnitCircle(const std::vector<TwoDoubles>& angles, index_t n, index_t first_mode,
                          double tolerance)
    : n_(n), grid_(fft::good_length(std::max<index_t>(2 * n, 2 * Spreading<R>::margin))) {
  constexpr int narrowest = 2, widest = 16;
  const int w =
      std::clamp(static_cast<int>(std::ceil(-std::log10(tolerance))) + 2, narrowest, widest);
  spreading_ = Spreading<R>(angles, grid_, w, beta_of(w));
  const index_t half = n / 2;
  correction_.reserve(half + 1);
  for (const double v : kernel_transform(w, grid_, half)) {
    correction_.push_back(static_cast<R>(1 / v));
  }
  const auto middle = static_cast<double>(first_mode + half);
  phase_.reserve(angles.size());
  for (const TwoDoubles& angle : angles) {
    const TwoDoubles phase = two_product(middle, angle.high) + TwoDoubles{middle * angle.low, 0};
    phase_.push_back(C(unit(phase)));
  }
  fft_ = std::make_shared<const fft::Plan<C>>(grid_);
}

template <RealScalar R>
void UnitCircle<R>::evaluate(int threads, const C* c, C* values) const {
  constexpr index_t margin = Spreading<R>::margin;
  const index_t half = n_ / 2;
  Array<C, 2> spectrum({1, grid_}), samples({1, grid_}, uninitialized);
  for (index_t j = 0; j < n_; ++j) {
    const index_t k = j - half;
    spectrum.data()[k < 0 ? k + grid_ : k] = c[j] * correction_[k < 0 ? -k : k];
  }
  fft_->backward(spectrum, samples);
  SplitGrid<R> grid(grid_);
  const auto set = [&](index_t to, index_t from) {
    grid.re.data()[to] = samples.data()[from].real();
    grid.im.data()[to] = samples.data()[from].imag();
  };
  for (index_t l = 0; l < grid_; ++l) set(margin + l, l);
  for (index_t l = 0; l < margin; ++l) {
    set(l, grid_ - margin + l);
    set(margin + grid_ + l, l);
  }
  spreading_.interpolate(threads, grid.re.data(), grid.im.data(), values);
  for (index_t p = 0; p < points(); ++p) values[p] = product(values[p], phase_[p]);
}

template <RealScalar R>
void UnitCircle<R>::sum(const C* values, C* c) const {
  constexpr index_t margin = Spreading<R>::margin;
  const index_t half = n_ / 2;
  std::vector<C> turned(points());
  for (index_t p = 0; p < points(); ++p) turned[p] = product(values[p], phase_[p]);
  SplitGrid<R> grid(grid_);
  spreading_.spread(turned.data(), grid.re.data(), grid.im.data());
  Array<C, 2> samples({1, grid_}, uninitialized), spectrum({1, grid_}, uninitialized);
  const auto at = [&](index_t l) { return C(grid.re.data()[l], grid.im.data()[l]); };
  for (index_t l = 0; l < grid_; ++l) samples.data()[l] = at(margin + l);
  for (index_t l = 0; l < margin; ++l) {
    samples.data()[grid_ - margin + l] += at(l);
    samples.data()[l] += at(margin + grid_ + l);
  }
  fft_->backward(samples, spectrum);
  for (index_t j = 0; j < n_; ++j) {
    const index_t k = j - half;
    c[j] = spectrum.data()[k < 0 ? k + grid_ : k] * correction_[k < 0 ? -k : k];
  }
}

template class UnitCircle<float>;
template class UnitCircle<double>;

}  // namespace structmat::vandermonde
