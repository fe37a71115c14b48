/// \file
/// Transforms of sequences weighted by powers of exp(+-i pi / 2L): products of two spectra are products
/// of polynomials modulo t^L - i, on the second sheet modulo t^L + i.
#pragma once

#include <vector>

#include "structmat/fft/plan.hpp"
#include "toeplitz/magnitude.hpp"
#include "toeplitz/twist.hpp"

namespace structmat::toeplitz {

/// Without scaling, transforms of numbers between 2^-limit and 2^limit stay within the range, and so do
/// products of two.
template <RealScalar R>
bool needs_scaling(Bits<R> largest) {
  constexpr int limit = std::numeric_limits<R>::max_exponent / 4;
  return !bits_are_finite<R>(largest) || std::abs(scale_exponent<R>(largest)) > limit;
}

/// Forward and backward transforms of length L of tiles of columns. A tile in the spectral domain has,
/// for each column, `sheets` rows of stride() numbers, of which those from L on are zero.
template <Scalar T>
class WeightedTransform {
 public:
  using R = real_t<T>;
  using C = std::complex<R>;
  /// Of a real sequence the second sheet is the conjugate of the first.
  static constexpr int sheets = is_complex_v<T> ? 2 : 1;
  static constexpr index_t widest_tile = 8;
  static constexpr index_t chunk = Twist<R>::chunk;

  explicit WeightedTransform(index_t length)
      : length_(length),
        // No large power of two, so that rows do not compete for the same cache lines.
        stride_(padded(length) + pad),
        twist_(length, std::numbers::pi / (2 * static_cast<double>(length))),
        fft_(length, {.in_place = true}) {}

  index_t length() const { return length_; }
  index_t stride() const { return stride_; }
  const Twist<R>& twist() const { return twist_; }

  /// z := spectra of the columns of x (conjugated: of their conjugates) times 2^-exponent, with zeros in
  /// place of what is not finite and beyond the end. x: (at most L, at most widest_tile). `largest`
  /// collects the bits of the largest moduli.
  void forward(bool conjugated, const View<const T, 2>& x, const std::vector<int>& exponents, C* z,
               std::vector<Bits<R>>& largest) const {
    const index_t n = x.extent(0), k = x.extent(1);
    Pack pack;
    alignas(64) std::array<C, chunk> w;
    for (index_t first = 0; first < n; first += chunk) {
      const index_t last = std::min(n, first + chunk);
      twist_.write(first, w.data());
      pack.read(x.slice(0, first, last));
      for (index_t c = 0; c < k; ++c) {
        C* const to = z + c * sheets * stride_ + first;
        const Bits<R> bits =
            kernels::twist<T>(pack.column(c), conjugated, std::ldexp(R{1}, -exponents[c]), w.data(),
                              padded(last - first), to, to + stride_);
        largest[c] = std::max(largest[c], bits);
      }
    }
    for (index_t r = 0; r < k * sheets; ++r) {
      std::fill(z + r * stride_ + n, z + (r + 1) * stride_, C{});
      transform(z + r * stride_);
    }
  }

  /// y := the columns whose spectra are in z, which is overwritten, without the factor 1 / L, times
  /// 2^exponent: the real part on one sheet, the sum of two. conjugated: their conjugates.
  void backward(bool conjugated, C* z, const std::vector<int>& exponents,
                const View<T, 2>& y) const {
    const index_t n = y.extent(0), k = y.extent(1);
    for (index_t r = 0; r < k * sheets; ++r) fft_.backward(row(z + r * stride_));
    Pack pack;
    alignas(64) std::array<C, chunk> w;
    for (index_t first = 0; first < n; first += chunk) {
      const index_t last = std::min(n, first + chunk);
      twist_.write(first, w.data());
      for (index_t c = 0; c < k; ++c) {
        const C* const from = z + c * sheets * stride_ + first;
        const int half = exponents[c] / 2;
        kernels::untwist<T>(from, from + stride_, w.data(), padded(last - first), conjugated,
                            {std::ldexp(R{1}, half), std::ldexp(R{1}, exponents[c] - half)},
                            pack.column(c));
      }
      pack.write(y.slice(0, first, last));
    }
  }

  /// The transforms alone, in place on L numbers.
  void transform(C* z) const { fft_.forward(row(z)); }
  void transform_back(C* z) const { fft_.backward(row(z)); }

 private:
  /// Rows of a tile as contiguous columns, filled up with zeros, and back.
  struct Pack {
    alignas(64) std::array<T, widest_tile * chunk> columns;

    T* column(index_t c) { return columns.data() + c * chunk; }

    void read(const View<const T, 2>& x) {
      const index_t n = x.extent(0), k = x.extent(1);
      for (index_t i = 0; i < n; ++i) {
        for (index_t c = 0; c < k; ++c) column(c)[i] = x(i, c);
      }
      for (index_t c = 0; c < k; ++c) std::fill(column(c) + n, column(c) + padded(n), T{});
    }
    void write(const View<T, 2>& y) {
      for (index_t i = 0; i < y.extent(0); ++i) {
        for (index_t c = 0; c < y.extent(1); ++c) y(i, c) = column(c)[i];
      }
    }
  };

  View<C, 2> row(C* data) const { return {data, {1, length_}}; }

  index_t length_, stride_;
  Twist<R> twist_;
  fft::Plan<C> fft_;
};

}  // namespace structmat::toeplitz
