/// \file
/// Cotangents of the first column of a Hermitian Toeplitz matrix from those of the whole matrix.
#pragma once

#include "structmat/core/array.hpp"
#include "toeplitz/spectra.hpp"

namespace structmat::toeplitz {

/// Of cotangents M = sum w x^H of the matrix: c_bar_l += sum_i M_{i+l,i} + conj(sum_i M_{i,i+l}), half
/// of that for l = 0. The sums are correlations, added up as transforms.
template <Scalar T>
class HermitianCorrelation {
 public:
  using C = std::complex<real_t<T>>;

  /// The plan is of length >= 2 n - 1, or of length 0 for n = 0.
  HermitianCorrelation(const fft::Plan<T>& plan, index_t n)
      : plan_(plan),
        n_(n),
        signal_({plan.length()}),
        w_({plan.spectrum_length()}, uninitialized),
        x_({plan.spectrum_length()}, uninitialized),
        sum_({plan.spectrum_length()}) {}

  void add(const View<const T, 1>& w, const View<const T, 1>& x) {
    transform(w, w_);
    transform(x, x_);
    correlate_spectra(x_.size(), w_.data(), x_.data(), x_.data());
    for (index_t j = 0; j < sum_.size(); ++j) sum_(j) += x_(j);
  }

  /// c_bar += factor times what was added. Starts anew.
  void take(real_t<T> factor, const View<T, 1>& c_bar) {
    if (n_ == 0) return;
    plan_.backward(as_row<const C>(sum_.data(), sum_.size()),
                   as_row<T>(signal_.data(), signal_.size()));
    const real_t<T> scale = factor / static_cast<real_t<T>>(plan_.length());
    c_bar(0) += std::real(signal_(0)) * scale / 2;
    for (index_t l = 1; l < n_; ++l) c_bar(l) += signal_(l) * scale;
    std::fill(sum_.begin(), sum_.end(), C{});
  }

 private:
  void transform(const View<const T, 1>& v, Array<C, 1>& spectrum) {
    for (index_t i = 0; i < n_; ++i) signal_(i) = v(i);
    std::fill(signal_.data() + n_, signal_.end(), T{});
    plan_.forward(as_row<const T>(signal_.data(), signal_.size()),
                  as_row<C>(spectrum.data(), spectrum.size()));
  }

  const fft::Plan<T>& plan_;
  index_t n_;
  Array<T, 1> signal_;
  Array<C, 1> w_, x_, sum_;
};

}  // namespace structmat::toeplitz
