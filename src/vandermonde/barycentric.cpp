// The quotient form of interpolation at roots of unity. Close to a root both sums are dominated by
// the same term, so that its error cancels; the form with (x^n - 1) / n in front would lose eps /
// distance. For |x| > 1 the quotient itself cancels: callers reverse the polynomial.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/product.hpp"
#include "structmat/cauchy/plan.hpp"
#include "structmat/fft/plan.hpp"
#include "vandermonde/evaluator.hpp"
#include "vandermonde/exponential.hpp"

namespace structmat::vandermonde {

namespace {

template <RealScalar R>
std::vector<std::complex<R>> roots_of_unity(index_t n) {
  std::vector<std::complex<R>> roots;
  roots.reserve(n);
  for (index_t k = 0; k < n; ++k) {
    const auto part = static_cast<double>(k), whole = static_cast<double>(n);
    const double turns = part / whole;
    roots.emplace_back(unit(two_pi * TwoDoubles{turns, std::fma(-turns, whole, part) / whole}));
  }
  return roots;
}

/// The root that x is equal to, or -1.
template <RealScalar R>
index_t root_at(const std::complex<R>& x, const std::vector<std::complex<R>>& roots) {
  const auto n = static_cast<index_t>(roots.size());
  const double turns = std::atan2(double(x.imag()), double(x.real())) / (2 * std::numbers::pi);
  const auto near = static_cast<index_t>(std::nearbyint(turns * static_cast<double>(n)));
  for (index_t k = near - 1; k <= near + 1; ++k) {
    const index_t root = ((k % n) + n) % n;
    if (roots[root] == x) return root;
  }
  return -1;
}

template <RealScalar R>
class Barycentric final : public Evaluator<R> {
 public:
  using typename Evaluator<R>::C;

  Barycentric(const std::vector<C>& nodes, index_t n, double tolerance)
      : roots_(roots_of_unity<R>(n)),
        sums_(CauchyView<C>{row(nodes), row(roots_), Coincidence::skip}, {tolerance}),
        fft_(n) {
    on_root_.reserve(nodes.size());
    for (const C& x : nodes) on_root_.push_back(root_at(x, roots_));
    denominators_.resize(nodes.size());
    cauchy_sums(exec::cpu{}, Op::none, roots_, denominators_);
  }

  void evaluate(int threads, const C* c, C* values) const override {
    const auto n = static_cast<index_t>(roots_.size());
    Array<C, 2> at_roots({1, n}, uninitialized);
    fft_.backward(View<const C, 2>(c, {1, n}), at_roots);
    std::vector<C> weighted(n);
    for (index_t k = 0; k < n; ++k) weighted[k] = product(roots_[k], at_roots.data()[k]);
    std::vector<C> numerators(on_root_.size());
    cauchy_sums(exec::cpu{threads}, Op::none, weighted, numerators);
    for (std::size_t i = 0; i < on_root_.size(); ++i) {
      values[i] =
          on_root_[i] >= 0 ? at_roots.data()[on_root_[i]] : numerators[i] / denominators_[i];
    }
  }

  void sum(int threads, const C* values, C* c) const override {
    const auto n = static_cast<index_t>(roots_.size());
    std::vector<C> quotients(on_root_.size()), sums(n);
    Array<C, 2> at_roots({1, n}, uninitialized);
    for (std::size_t i = 0; i < on_root_.size(); ++i) {
      if (on_root_[i] < 0) quotients[i] = values[i] / denominators_[i];
    }
    cauchy_sums(exec::cpu{threads}, Op::transpose, quotients, sums);
    for (index_t k = 0; k < n; ++k) at_roots.data()[k] = product(roots_[k], sums[k]);
    for (std::size_t i = 0; i < on_root_.size(); ++i) {
      if (on_root_[i] >= 0) at_roots.data()[on_root_[i]] += values[i];
    }
    fft_.backward(at_roots, View<C, 2>(c, {1, n}));
  }

 private:
  static View<const C, 2> row(const std::vector<C>& v) {
    return {v.data(), {1, static_cast<index_t>(v.size())}};
  }
  void cauchy_sums(const exec::cpu& e, Op op, const std::vector<C>& x, std::vector<C>& y) const {
    const auto in = as_batch(View<const C, 1>(x));
    structmat::apply(e, sums_, op, in, as_batch(View<C, 1>(y)));
  }

  std::vector<C> roots_;
  CauchyPlan<C> sums_;
  fft::Plan<C> fft_;
  std::vector<index_t> on_root_;
  std::vector<C> denominators_;
};

}  // namespace

template <RealScalar R>
std::unique_ptr<Evaluator<R>> barycentric_evaluator(const std::vector<std::complex<R>>& nodes,
                                                    index_t n, double tolerance) {
  return std::make_unique<Barycentric<R>>(nodes, n, tolerance);
}
template std::unique_ptr<Evaluator<float>> barycentric_evaluator(
    const std::vector<std::complex<float>>&, index_t, double);
template std::unique_ptr<Evaluator<double>> barycentric_evaluator(
    const std::vector<std::complex<double>>&, index_t, double);

}  // namespace structmat::vandermonde
