#include "quasiseparable/hankel.hpp"

#include <algorithm>
#include <random>

#include "core/instantiate.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat::quasiseparable {
namespace {

/// Products with a Hankel matrix and its adjoint by FFT.
template <Scalar T>
class Hankel {
 public:
  explicit Hankel(const View<const T, 1>& lags)
      : cols_((lags.extent(0) + 2) / 2),
        rows_(lags.extent(0) + 1 - cols_),
        plan_(fft::good_length(lags.extent(0))),
        signal_({1, plan_.length()}),
        spectrum_({1, plan_.spectrum_length()}),
        symbol_({1, plan_.spectrum_length()}) {
    for (index_t l = 0; l < lags.extent(0); ++l) signal_(0, l) = lags(l);
    plan_.forward(signal_, symbol_);
    const auto scale = real_t<T>(1) / static_cast<real_t<T>>(plan_.length());
    for (auto& v : symbol_) v *= scale;
  }

  index_t rows() const { return rows_; }
  index_t cols() const { return cols_; }

  /// H x for x of (cols, k).
  Array<T, 2> multiply(const Array<T, 2>& x) {
    return convolve(x, rows_, [](const T& v) { return v; });
  }
  /// H^H x for x of (rows, k): H^T is the Hankel matrix of the same lags with the sizes exchanged.
  Array<T, 2> multiply_adjoint(const Array<T, 2>& x) {
    return convolve(x, cols_, [](const T& v) { return conjugate(v); });
  }

 private:
  /// y_i = sum_j lag_{i+j} x_j is entry i + size - 1 of the convolution of the lags with x reversed;
  /// what wraps around in a cyclic one of m points lies in front of these.
  template <class Map>
  Array<T, 2> convolve(const Array<T, 2>& x, index_t out, const Map& map) {
    const index_t in = x.extent(0), k = x.extent(1);
    Array<T, 2> y({out, k}, uninitialized);
    for (index_t c = 0; c < k; ++c) {
      std::fill(signal_.begin(), signal_.end(), T{});
      for (index_t j = 0; j < in; ++j) signal_(0, in - 1 - j) = map(x(j, c));
      plan_.forward(signal_, spectrum_);
      for (index_t f = 0; f < spectrum_.size(); ++f) spectrum_(0, f) *= symbol_(0, f);
      plan_.backward(spectrum_, signal_);
      for (index_t i = 0; i < out; ++i) y(i, c) = map(signal_(0, in - 1 + i));
    }
    return y;
  }

  index_t cols_, rows_;
  fft::Plan<T> plan_;
  Array<T, 2> signal_;
  Array<std::complex<real_t<T>>, 2> spectrum_, symbol_;
};

template <Scalar T>
RightSingular<T> decompose(const View<const T, 2>& h) {
  const index_t k = std::min(h.extent(0), h.extent(1));
  RightSingular<T> result{Array<real_t<T>, 1>({k}), Array<T, 2>({h.extent(1), k})};
  if (k == 0) return result;
  dense::svd_right<T>(h, result.values, result.vectors.view().transposed());
  for (T& v : result.vectors) v = conjugate(v);
  return result;
}

/// Orthonormal columns whose span contains the columns of y.
template <Scalar T>
Array<T, 2> orthonormal(const Array<T, 2>& y) {
  // y^T = X S V^H, so the columns of conj(V) span those of y.
  RightSingular<T> of_transpose = decompose(y.view().transposed());
  for (T& v : of_transpose.vectors) v = conjugate(v);
  return std::move(of_transpose.vectors);
}

template <Scalar T>
Array<T, 2> gaussian(index_t rows, index_t cols) {
  std::mt19937_64 engine(20101);
  std::normal_distribution<real_t<T>> normal;
  Array<T, 2> x({rows, cols}, uninitialized);
  for (T& v : x) {
    if constexpr (is_complex_v<T>) {
      const real_t<T> re = normal(engine);
      v = {re, normal(engine)};
    } else {
      v = normal(engine);
    }
  }
  return x;
}

}  // namespace

template <Scalar T>
RightSingular<T> right_singular(View<const T, 1> lags, index_t direct, double smallest,
                                index_t most) {
  const index_t m = lags.extent(0), q = (m + 2) / 2, p = m + 1 - q;
  if (m <= direct) {
    Array<T, 2> h({m > 0 ? p : 0, m > 0 ? q : 0}, uninitialized);
    for (index_t i = 0; i < h.extent(0); ++i) {
      for (index_t j = 0; j < q; ++j) h(i, j) = lags(i + j);
    }
    return decompose<T>(h);
  }
  Hankel<T> h(lags);
  constexpr index_t first_block = 16, oversampling = 8;
  const index_t largest = std::min(p, most + oversampling);
  for (index_t k = std::min(first_block, largest);; k = std::min(2 * k, largest)) {
    const auto start = orthonormal(h.multiply(gaussian<T>(q, k)));
    const auto basis = orthonormal(h.multiply_adjoint(start));
    const auto image = decompose<T>(h.multiply(basis));
    const double last = image.values(k - 1);
    const bool settled = last <= std::max(smallest, 10 * double(epsilon<T>) * image.values(0));
    if (!settled && k < largest) continue;
    RightSingular<T> result{image.values, Array<T, 2>({q, k}, uninitialized)};
    dense::gemm<T>(Op::none, Op::none, T{1}, basis, image.vectors, T{0}, result.vectors);
    return result;
  }
}

#define STRUCTMAT_INSTANTIATE(T) \
  template RightSingular<T> right_singular<T>(View<const T, 1>, index_t, double, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
