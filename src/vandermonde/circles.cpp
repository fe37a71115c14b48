// Values of polynomials between circles: exp(j r) as a function of r = log|x|, for 0 <= j < n and
// r_max - r = H (1 - t), is exp(j r_max) exp(-j H) sum_s a_s I_s(j H) T_s(t) with coefficients that
// are bounded and decay quickly beyond sqrt(j H), so that interpolation in r at S Chebyshev points
// has the error of a truncated Chebyshev series, relative to values on the outer circle.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "vandermonde/direct.hpp"
#include "vandermonde/evaluator.hpp"
#include "vandermonde/exponential_table.hpp"
#include "vandermonde/unit_circle.hpp"

namespace structmat::vandermonde {

namespace {

/// 2 exp(-z) I_s(z) for s < count, by the recurrence downwards, which is stable, and the sum rule.
std::vector<double> bessel_coefficients(double z, int count) {
  std::vector<double> a(count);
  double above = 0, here = 1e-290, total = 0;
  for (int s = count + 60; s >= 0; --s) {
    // I_{s-1} = I_{s+1} + (2 s / z) I_s; `here` is I_s.
    if (s < count) a[s] = here;
    total += s == 0 ? here : 2 * here;
    const double below = above + 2 * s / z * here;
    above = here;
    here = below;
    if (here > 1e100) {
      for (double* v : {&here, &above, &total}) *v *= 1e-200;
      for (double& v : a) v *= 1e-200;
    }
  }
  for (double& v : a) v *= 2 / total;
  return a;
}

template <RealScalar R>
class Direct final : public Evaluator<R> {
 public:
  using typename Evaluator<R>::C;
  Direct(std::vector<C> nodes, index_t n) : nodes_(std::move(nodes)), n_(n) {}

  void evaluate(int, const C* c, C* values) const override {
    vandermonde::evaluate(nodes_.data(), count(), c, n_, values);
  }
  void sum(int, const C* values, C* c) const override {
    power_sums(nodes_.data(), count(), values, n_, c);
  }

 private:
  index_t count() const { return static_cast<index_t>(nodes_.size()); }
  std::vector<C> nodes_;
  index_t n_;
};

template <RealScalar R>
class Circles final : public Evaluator<R> {
 public:
  using typename Evaluator<R>::C;

  Circles(const std::vector<Polar>& nodes, index_t n, int circles, double tolerance)
      : n_(n), circle_(angles_of(nodes), n, 0, tolerance / 4) {
    const auto by_radius = [](const Polar& a, const Polar& b) { return a.radius < b.radius; };
    const auto [low, high] = std::minmax_element(nodes.begin(), nodes.end(), by_radius);
    const double middle = (low->radius + high->radius) / 2;
    const double half = (high->radius - low->radius) / 2;
    for (int q = 0; q < circles; ++q) {
      const double angle = (2 * q + 1) * std::numbers::pi / (2 * circles);
      points_.push_back(std::cos(angle));
      weights_.push_back((q % 2 == 0 ? 1 : -1) * std::sin(angle));
      radii_.push_back(middle + half * points_.back());
    }
    if (circles == 1) return;
    for (const Polar& node : nodes) {
      double t = half > 0 ? (node.radius - middle) / half : 0, total = 0;
      // On an interpolation point the quotient is 0 / 0; next to it, it is as good.
      while (std::find(points_.begin(), points_.end(), t) != points_.end()) {
        t = std::nextafter(t, 2.0);
      }
      for (int q = 0; q < circles; ++q) total += weights_[q] / (t - points_[q]);
      positions_.push_back(t);
      scales_.push_back(1 / total);
    }
  }

  void evaluate(int threads, const C* c, C* values) const override {
    const index_t count = circle_.points();
    std::vector<C> scaled(n_), part(count);
    std::vector<double> growth;
    std::fill_n(values, count, C{});
    for (std::size_t q = 0; q < radii_.size(); ++q) {
      exponential_table(radii_[q], 1, n_, growth);
      for (index_t j = 0; j < n_; ++j) scaled[j] = c[j] * static_cast<R>(growth[j]);
      circle_.evaluate(threads, scaled.data(), part.data());
      for (index_t i = 0; i < count; ++i) values[i] += part[i] * share(q, i);
    }
  }

  void sum(int, const C* values, C* c) const override {
    const index_t count = circle_.points();
    std::vector<C> part(count), sums(n_);
    std::vector<double> growth;
    std::fill_n(c, n_, C{});
    for (std::size_t q = 0; q < radii_.size(); ++q) {
      for (index_t i = 0; i < count; ++i) part[i] = values[i] * share(q, i);
      circle_.sum(part.data(), sums.data());
      exponential_table(radii_[q], 1, n_, growth);
      for (index_t j = 0; j < n_; ++j) c[j] += sums[j] * static_cast<R>(growth[j]);
    }
  }

 private:
  static std::vector<TwoDoubles> angles_of(const std::vector<Polar>& nodes) {
    std::vector<TwoDoubles> angles;
    angles.reserve(nodes.size());
    for (const Polar& node : nodes) angles.push_back(node.angle);
    return angles;
  }
  /// Of circle q in the value at node i.
  R share(std::size_t q, index_t i) const {
    if (radii_.size() == 1) return 1;
    return static_cast<R>(weights_[q] / (positions_[i] - points_[q]) * scales_[i]);
  }

  index_t n_;
  UnitCircle<R> circle_;
  std::vector<double> radii_, points_, weights_;  // of the circles
  std::vector<double> positions_, scales_;        // of the nodes among them
};

}  // namespace

int circle_count(double min, double max, index_t n, double tolerance) {
  const double z = static_cast<double>(n) * (max - min) / 2;
  if (!(z > 0)) return 1;
  constexpr int most = 100;
  const auto a = bessel_coefficients(z, most);
  double tail = 0;
  int count = most;
  while (count > 1 && 2 * (tail + a[count - 1]) <= tolerance / 4) tail += a[--count];
  return count;
}

template <RealScalar R>
std::unique_ptr<Evaluator<R>> direct_evaluator(std::vector<std::complex<R>> nodes, index_t n) {
  return std::make_unique<Direct<R>>(std::move(nodes), n);
}
template <RealScalar R>
std::unique_ptr<Evaluator<R>> circles_evaluator(const std::vector<Polar>& nodes, index_t n,
                                                int circles, double tolerance) {
  return std::make_unique<Circles<R>>(nodes, n, circles, tolerance);
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define STRUCTMAT_INSTANTIATE(R)                                                                  \
  template std::unique_ptr<Evaluator<R>> direct_evaluator(std::vector<std::complex<R>>, index_t); \
  template std::unique_ptr<Evaluator<R>> circles_evaluator(const std::vector<Polar>&, index_t,    \
                                                           int, double);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace structmat::vandermonde
