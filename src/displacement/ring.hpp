/// \file
/// Products with f-circulant matrices Z_f(c) = sum_k c_k Z_f^k, which are products of polynomials
/// modulo z^n - f.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "core/product.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat::displacement {

/// phi^k and phi^-k for k < n, phi = f^{1/n}; none where f = 1.
template <class R>
struct RootPowers {
  std::vector<std::complex<R>> up, down;

  RootPowers(index_t n, std::complex<R> f) {
    if (f == std::complex<R>(1)) return;
    const double log_modulus = std::log(std::abs(std::complex<double>(f)));
    const double angle = std::arg(std::complex<double>(f));
    for (index_t k = 0; k < n; ++k) {
      const double part = double(k) / double(n);
      const auto phase = std::polar(1.0, angle * part);
      const double modulus = std::exp(log_modulus * part);
      up.emplace_back(phase * modulus);
      down.emplace_back(std::conj(phase) / modulus);
    }
  }
};

/// y := w x, or x where there are no weights.
template <class C>
void scale_by(const std::vector<C>& w, const C* x, C* y, index_t n) {
  for (index_t k = 0; k < n; ++k) y[k] = w.empty() ? x[k] : product(w[k], x[k]);
}

/// The ring of polynomials modulo z^n - f. Z_f(c) x = synthesise(spectrum(c) . analyse(x)), with a
/// product element by element, and Z_f(c)^T x the same with `transposed`.
///
/// With z = phi w, phi^n = f, the ring is that of w^n - 1: transforms of length n between scalings
/// by phi^k (f = -1: the skew-circulant case). Those amplify rounding by |f| or 1 / |f|; when that is
/// large, or n has large prime factors, products are computed without wrapping round, in twice the
/// length, and then folded.
template <class R>
class Ring {
 public:
  using C = std::complex<R>;

  Ring(index_t n, C f)
      : n_(n),
        corner_(f),
        cyclic_(std::abs(f) >= R(0.25) && std::abs(f) <= R(4) && fft::good_length(n) == n),
        plan_(cyclic_ || n == 0 ? n : fft::good_length(2 * n - 1)),
        powers_(cyclic_ ? n : 0, f) {}

  index_t size() const { return n_; }
  /// Of spectra.
  index_t length() const { return plan_.length(); }

  /// Of c, divided by the length of the transforms. `time`: workspace of length() numbers.
  void spectrum(const C* c, C* time, C* out) const {
    if (n_ == 0) return;
    scale_by(powers_.up, c, time, n_);
    std::fill(time + n_, time + length(), C{});
    forward(time, out);
    for (index_t k = 0; k < length(); ++k) out[k] /= R(length());
  }

  void analyse(bool transposed, const C* x, C* time, C* out) const {
    if (n_ == 0) return;
    scale_by(transposed ? powers_.down : powers_.up, x, time, n_);
    std::fill(time + n_, time + length(), C{});
    if (!transposed) return forward(time, out);
    if (!cyclic_) {
      for (index_t k = 0; k < n_ - 1; ++k) time[n_ + k] = product(corner_, x[k]);
    }
    backward(time, out);
  }

  void synthesise(bool transposed, const C* spectrum, C* time, C* y) const {
    if (n_ == 0) return;
    transposed ? forward(spectrum, time) : backward(spectrum, time);
    scale_by(transposed ? powers_.up : powers_.down, time, y, n_);
    if (transposed || cyclic_) return;
    for (index_t k = 0; k < n_ - 1; ++k) y[k] += product(corner_, time[n_ + k]);
  }

 private:
  void forward(const C* from, C* to) const {
    plan_.forward(View<const C, 2>(from, {1, length()}), View<C, 2>(to, {1, length()}));
  }
  void backward(const C* from, C* to) const {
    plan_.backward(View<const C, 2>(from, {1, length()}), View<C, 2>(to, {1, length()}));
  }

  index_t n_;
  C corner_;
  bool cyclic_;
  fft::Plan<C> plan_;
  RootPowers<R> powers_;
};

}  // namespace structmat::displacement
