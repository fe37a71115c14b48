/// \file
/// Circulant and skew-circulant matrices by their eigenvalues.
#pragma once

#include "core/product.hpp"
#include "structmat/core/op.hpp"
#include "structmat/core/status.hpp"
#include "structmat/fft/plan.hpp"
#include "structmat/toeplitz/circulant.hpp"
#include "toeplitz/magnitude.hpp"
#include "toeplitz/twist.hpp"

namespace structmat::toeplitz {

/// Eigenvalues of a batch of matrices, and multiplication by functions of them.
template <Scalar T>
class CirculantSpectrum {
 public:
  using R = real_t<T>;
  using C = std::complex<R>;

  /// column: (batch, n).
  CirculantSpectrum(const View<const T, 2>& column, bool skew)
      : n_(column.extent(1)),
        fft_(n_, {.in_place = true}),
        lambda_({column.extent(0), n_}, uninitialized),
        exponents_(column.extent(0), 0) {
    if (n_ == 0) return;
    if (skew) {
      const Twist<R> twist(n_, std::numbers::pi / static_cast<double>(n_));
      std::array<C, Twist<R>::chunk> w;
      for (index_t j = 0; j < n_; ++j) {
        if (j % Twist<R>::chunk == 0) twist.write(j, w.data());
        twist_.push_back(w[j % Twist<R>::chunk]);
      }
    }
    for (index_t b = 0; b < column.extent(0); ++b) {
      note_nonfinite(column.select(0, b), b);
      exponents_[b] = scale_exponent(column.select(0, b));
      C* const row = lambda_.data() + b * n_;
      load(column.select(0, b), exponents_[b], false, row);
      fft_.forward(View<C, 2>(row, {1, n_}));
      if (status_.kind != PivotStatus::Kind::not_finite) note_singular(b);
    }
  }

  const PivotStatus& status() const { return status_; }

  /// The eigenvalues of a batch entry times 2^-exponent(batch).
  View<const C, 1> scaled_eigenvalues(index_t batch) const {
    return {lambda_.data() + batch * n_, {n_}};
  }
  int exponent(index_t batch) const { return exponents_[batch]; }

  /// x := op(A)^-1 b for one column; work: n numbers.
  void solve(Op op, index_t batch, const View<const T, 1>& b, const View<T, 1>& x, C* work) const {
    // A^-H has the conjugate eigenvalues; A^-T b = conj(A^-H conj(b)).
    const bool conjugated = is_complex_v<T> && op == Op::transpose;
    const int scale = scale_exponent(b);
    load(b, scale, conjugated, work);
    fft_.forward(View<C, 2>(work, {1, n_}));
    const C* const lambda = lambda_.data() + batch * n_;
    for (index_t k = 0; k < n_; ++k) work[k] /= op == Op::none ? lambda[k] : std::conj(lambda[k]);
    fft_.backward(View<C, 2>(work, {1, n_}));
    store(work, scale - exponents_[batch], conjugated, x);
  }

  /// The first column of A^-1.
  void invert(index_t batch, const View<T, 1>& column, C* work) const {
    const C* const lambda = lambda_.data() + batch * n_;
    for (index_t k = 0; k < n_; ++k) work[k] = C{1} / lambda[k];
    fft_.backward(View<C, 2>(work, {1, n_}));
    store(work, -exponents_[batch], false, column);
  }

 private:
  /// z_j := 2^-exponent v_j exp(-i pi j / n) (circulant: without the twist)
  void load(const View<const T, 1>& v, int exponent, bool conjugated, C* z) const {
    const R scale = std::ldexp(R{1}, -exponent);
    for (index_t j = 0; j < n_; ++j) {
      const C c(conjugated ? conjugate(v(j)) : v(j));
      z[j] = (twist_.empty() ? c : conjugate_product(twist_[j], c)) * scale;
    }
  }
  /// The opposite, with the factor 1 / n.
  void store(const C* z, int exponent, bool conjugated, const View<T, 1>& v) const {
    const int half = exponent / 2;
    const R first = std::ldexp(R{1} / static_cast<R>(n_), half);
    const R second = std::ldexp(R{1}, exponent - half);
    for (index_t j = 0; j < n_; ++j) {
      const C c = (twist_.empty() ? z[j] : product(twist_[j], z[j])) * first * second;
      if constexpr (is_complex_v<T>) {
        v(j) = conjugated ? conjugate(c) : c;
      } else {
        v(j) = c.real();
      }
    }
  }

  void note_nonfinite(const View<const T, 1>& column, index_t batch) {
    if (status_.kind == PivotStatus::Kind::not_finite) return;
    for (index_t j = 0; j < n_; ++j) {
      if (is_finite(column(j))) continue;
      status_ = {PivotStatus::Kind::not_finite, batch, j,
                 std::abs(std::complex<double>(column(j)))};
      return;
    }
  }

  void note_singular(index_t batch) {
    const C* const lambda = lambda_.data() + batch * n_;
    double largest = 0;
    for (index_t k = 0; k < n_; ++k)
      largest = std::max(largest, std::abs(std::complex<double>(lambda[k])));
    const double least =
        4 * (1 + std::log2(static_cast<double>(n_))) * static_cast<double>(epsilon<T>) * largest;
    for (index_t k = 0; k < n_; ++k) {
      const double size = std::abs(std::complex<double>(lambda[k]));
      if (size > least) continue;
      const auto kind = size == 0 ? PivotStatus::Kind::zero : PivotStatus::Kind::near_singular;
      // A zero eigenvalue counts for more than small ones before it.
      if (status_.ok() || (status_.usable() && kind == PivotStatus::Kind::zero))
        status_ = {kind, batch, k, std::ldexp(size, exponents_[batch])};
    }
  }

  index_t n_;
  fft::Plan<C> fft_;
  Array<C, 2> lambda_;
  std::vector<int> exponents_;
  std::vector<C> twist_;  // exp(i pi j / n), empty for circulant matrices
  PivotStatus status_;
};

}  // namespace structmat::toeplitz
