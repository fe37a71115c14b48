#include "toeplitz/apply_fourier.hpp"

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "core/threads.hpp"
#include "toeplitz/apply_nonfinite.hpp"
#include "toeplitz/magnitude.hpp"

namespace structmat::toeplitz {
namespace {

/// Tiles of columns whose transforms fit into a second-level cache.
constexpr index_t tile_bytes = index_t{1} << 20;
constexpr index_t widest_tile = 8;

template <Scalar T>
STRUCTMAT_INLINE T finite_or_zero(const T& x) {
  return is_finite(x) ? x : T{};
}

/// z_j := scale x_j w_j, and with conj(w_j) for a second sheet.
template <Scalar T>
STRUCTMAT_CLONES void twist_chunk(const T* x, index_t stride, bool conjugated, real_t<T> scale,
                                  const std::complex<real_t<T>>* w, index_t count,
                                  std::complex<real_t<T>>* z, std::complex<real_t<T>>* second) {
  const auto run = [&](index_t step) STRUCTMAT_ALWAYS {
    for (index_t j = 0; j < count; ++j) {
      const T v = finite_or_zero(x[j * step]) * scale;
      if constexpr (is_complex_v<T>) {
        const T u = conjugated ? conjugate(v) : v;
        z[j] = product(u, w[j]);
        second[j] = conjugate_product(w[j], u);
      } else {
        z[j] = {v * w[j].real(), v * w[j].imag()};
      }
    }
  };
  if (stride == 1) return run(1);
  run(stride);
}

/// y_j := the real part of z_j conj(w_j), or z_j conj(w_j) + second_j w_j, times two scales.
template <Scalar T>
STRUCTMAT_CLONES void untwist_chunk(const std::complex<real_t<T>>* z,
                                    const std::complex<real_t<T>>* second,
                                    const std::complex<real_t<T>>* w, index_t count,
                                    bool conjugated, const std::array<real_t<T>, 2>& scale, T* y,
                                    index_t stride) {
  const auto run = [&](index_t step) STRUCTMAT_ALWAYS {
    for (index_t j = 0; j < count; ++j) {
      if constexpr (is_complex_v<T>) {
        const T v = conjugate_product(w[j], z[j]) + product(second[j], w[j]);
        y[j * step] = (conjugated ? conjugate(v) : v) * scale[0] * scale[1];
      } else {
        const T v = z[j].real() * w[j].real() + z[j].imag() * w[j].imag();
        y[j * step] = v * scale[0] * scale[1];
      }
    }
  };
  if (stride == 1) return run(1);
  run(stride);
}

/// z := a x or conj(a) x, or z += that.
template <RealScalar R>
STRUCTMAT_CLONES void multiply_row(const std::complex<R>* a, bool conjugated,
                                   const std::complex<R>* x, index_t n, bool add,
                                   std::complex<R>* z) {
  const R sign = conjugated ? R{-1} : R{1};
  for (index_t k = 0; k < n; ++k) {
    const R re = a[k].real(), im = sign * a[k].imag();
    const std::complex<R> v{re * x[k].real() - im * x[k].imag(),
                            re * x[k].imag() + im * x[k].real()};
    z[k] = add ? z[k] + v : v;
  }
}

}  // namespace

index_t block_length(index_t m, index_t n) {
  constexpr index_t shortest = 32;
  const index_t small = std::max(shortest, std::min(m, n)), large = std::max(m, n);
  index_t best = 0;
  double least = 0;
  const auto consider = [&](index_t length) {
    const index_t smooth = fft::good_length(std::max(small, length));
    const double l = static_cast<double>(smooth);
    // Passes over the data besides the transforms cost about as much as four levels of them.
    const double cost =
        static_cast<double>(1 + (large + smooth - 1) / smooth) * l * (std::log2(l) + 4);
    if (best == 0 || cost < least) {
      best = smooth;
      least = cost;
    }
  };
  for (index_t parts = 1; parts <= 4; ++parts) consider((large + parts - 1) / parts);
  for (index_t length = small; length < large; length *= 2) consider(length);
  return best;
}

/// Workspace of one task, taken from the spare ones and given back.
template <Scalar T>
class BlockSymbol<T>::Buffer {
 public:
  Buffer(const BlockSymbol& owner, index_t size) : owner_(owner) {
    {
      const std::lock_guard lock(owner_.mutex_);
      if (!owner_.spare_.empty()) {
        data_ = std::move(owner_.spare_.back());
        owner_.spare_.pop_back();
      }
    }
    if (data_.size() < size) data_ = Array<C, 1>({size}, uninitialized);
  }
  ~Buffer() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.spare_.push_back(std::move(data_));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  C* data() { return data_.data(); }

 private:
  const BlockSymbol& owner_;
  Array<C, 1> data_;
};

template <Scalar T>
BlockSymbol<T>::BlockSymbol(const ToeplitzView<T>& m)
    : matrix_(m),
      length_(block_length(m.rows(), m.cols())),
      // Not a multiple of large powers of two, so that rows do not compete for the same cache lines.
      stride_((length_ / 8 + 1) * 8),
      row_blocks_((m.rows() + length_ - 1) / length_),
      col_blocks_((m.cols() + length_ - 1) / length_),
      twist_(length_),
      fft_(length_, {.in_place = true}),
      symbols_({m.batch() * differences() * sheets * stride_}, uninitialized) {
  // Room for what push_back in a destructor needs, so that it cannot fail.
  spare_.reserve(64);
  for (index_t b = 0; b < m.batch(); ++b) transform_lags(b);
}

template <Scalar T>
void BlockSymbol<T>::transform_lags(index_t batch) {
  const View<const T, 1> lags = matrix_.lags.select(0, batch);
  bad_lags_.push_back(nonfinite_places(lags));
  exponents_.push_back(scale_exponent(lags));
  const R scale = std::ldexp(R{1}, -exponents_.back());
  const R norm = R{1} / (static_cast<R>(length_) * sheets);
  const auto lag = [&](index_t l) {
    const index_t place = l + matrix_.cols() - 1;
    return place < 0 || place >= lags.extent(0) ? T{} : finite_or_zero(lags(place)) * scale;
  };
  std::array<C, Twist<R>::chunk> w;
  for (index_t d = 0; d < differences(); ++d) {
    const index_t shift = (d - (col_blocks_ - 1)) * length_;
    for (int sheet = 0; sheet < sheets; ++sheet) {
      C* const a = const_cast<C*>(symbol(batch, d, sheet));
      for (index_t first = 0; first < length_; first += Twist<R>::chunk) {
        twist_.write(first, w.data());
        const index_t count = std::min(Twist<R>::chunk, length_ - first);
        for (index_t j = 0; j < count; ++j) {
          const index_t l = shift + first + j;
          const C below(lag(l)), above(lag(l - length_));
          // c_l - i c_{l-L}, on the other sheet c_l + i c_{l-L}.
          const C wrapped = sheet == 0
                                ? C{below.real() + above.imag(), below.imag() - above.real()}
                                : C{below.real() - above.imag(), below.imag() + above.real()};
          a[first + j] = product(sheet == 0 ? w[j] : conjugate(w[j]), wrapped) * norm;
        }
      }
      fft_.forward(row(a));
    }
  }
}

template <Scalar T>
void BlockSymbol<T>::twist_in(bool conjugated, const View<const T, 2>& x,
                              const std::vector<int>& exponents, C* z) const {
  const index_t n = x.extent(0), k = x.extent(1);
  std::array<C, Twist<R>::chunk> w;
  for (index_t first = 0; first < n; first += Twist<R>::chunk) {
    twist_.write(first, w.data());
    const index_t count = std::min(Twist<R>::chunk, n - first);
    for (index_t c = 0; c < k; ++c) {
      C* const to = z + c * sheets * stride_ + first;
      twist_chunk(x.data() + x.offset(first, c), x.stride(0), conjugated,
                  std::ldexp(R{1}, -exponents[c]), w.data(), count, to, to + stride_);
    }
  }
  for (index_t r = 0; r < k * sheets; ++r)
    std::fill(z + r * stride_ + n, z + r * stride_ + length_, C{});
}

template <Scalar T>
void BlockSymbol<T>::twist_out(bool conjugated, const C* z, const std::vector<int>& exponents,
                               const View<T, 2>& y) const {
  const index_t n = y.extent(0), k = y.extent(1);
  std::array<C, Twist<R>::chunk> w;
  for (index_t first = 0; first < n; first += Twist<R>::chunk) {
    twist_.write(first, w.data());
    const index_t count = std::min(Twist<R>::chunk, n - first);
    for (index_t c = 0; c < k; ++c) {
      const C* const from = z + c * sheets * stride_ + first;
      const int half = exponents[c] / 2;
      untwist_chunk<T>(from, from + stride_, w.data(), count, conjugated,
                       {std::ldexp(R{1}, half), std::ldexp(R{1}, exponents[c] - half)},
                       y.data() + y.offset(first, c), y.stride(0));
    }
  }
}

template <Scalar T>
void BlockSymbol<T>::multiply(Op op, index_t batch, index_t difference, index_t columns, const C* x,
                              C* z, bool add) const {
  for (index_t c = 0; c < columns; ++c) {
    for (int sheet = 0; sheet < sheets; ++sheet) {
      const index_t at = (c * sheets + sheet) * stride_;
      multiply_row(symbol(batch, difference, sheet), op != Op::none, x + at, length_, add, z + at);
    }
  }
}

template <Scalar T>
void BlockSymbol<T>::apply_columns(Op op, const View<const T, 2>& x, const View<T, 2>& y,
                                   index_t batch) const {
  // op(T) is T^H, its blocks have the conjugate symbols; T^T x = conj(T^H conj(x)).
  const bool conjugated = is_complex_v<T> && op == Op::transpose;
  const index_t k = x.extent(1), in = x.extent(0), out = y.extent(0);
  const index_t in_blocks = op == Op::none ? col_blocks_ : row_blocks_;
  const index_t out_blocks = op == Op::none ? row_blocks_ : col_blocks_;
  const auto difference = [&](index_t i, index_t j) {
    return (op == Op::none ? i - j : j - i) + col_blocks_ - 1;
  };
  const index_t size = k * sheets * stride_;
  const bool one_block = in_blocks == 1 && out_blocks == 1;
  Buffer buffer(*this, one_block ? size : 2 * size);
  C* const spectrum = buffer.data();
  C* const result = one_block ? spectrum : spectrum + size;

  std::vector<int> scale(k), unscale(k);
  for (index_t c = 0; c < k; ++c) {
    scale[c] = scale_exponent(x.select(1, c));
    unscale[c] = scale[c] + exponents_[batch];
  }
  const auto forward = [&](index_t j) {
    twist_in(conjugated, x.slice(0, j * length_, std::min(in, (j + 1) * length_)), scale, spectrum);
    for (index_t r = 0; r < k * sheets; ++r) fft_.forward(row(spectrum + r * stride_));
  };
  const auto backward = [&](index_t i) {
    for (index_t r = 0; r < k * sheets; ++r) fft_.backward(row(result + r * stride_));
    twist_out(conjugated, result, unscale,
              y.slice(0, i * length_, std::min(out, (i + 1) * length_)));
  };
  // There is one block row or one block column.
  if (out_blocks == 1) {
    for (index_t j = 0; j < in_blocks; ++j) {
      forward(j);
      multiply(op, batch, difference(0, j), k, spectrum, result, j > 0);
    }
    backward(0);
  } else {
    forward(0);
    for (index_t i = 0; i < out_blocks; ++i) {
      multiply(op, batch, difference(i, 0), k, spectrum, result, false);
      backward(i);
    }
  }
}

template <Scalar T>
void BlockSymbol<T>::apply(const exec::cpu& e, Op op, View<const T, 3> x, View<T, 3> y) const {
  const index_t batch = y.extent(0), k = y.extent(2);
  const index_t column_bytes = sheets * stride_ * static_cast<index_t>(sizeof(C));
  const index_t width = std::clamp<index_t>(tile_bytes / column_bytes, 1, widest_tile);
  const index_t tiles = (k + width - 1) / width;
  const index_t work = batch * k * (x.extent(1) + y.extent(1)) * 16;
  parallel_for(team_for(e.threads, work), batch * tiles, [&](index_t task) {
    const index_t b = task / tiles, begin = task % tiles * width, end = std::min(k, begin + width);
    const index_t own = matrix_.batch() == 1 ? 0 : b;
    const auto x_tile = x.select(0, b).slice(1, begin, end);
    const auto y_tile = y.select(0, b).slice(1, begin, end);
    apply_columns(op, x_tile, y_tile, own);

    const auto m = op == Op::none ? matrix_ : matrix_.transposed();
    std::vector<index_t> bad_lags = bad_lags_[own];
    if (op != Op::none) {
      std::reverse(bad_lags.begin(), bad_lags.end());
      for (index_t& place : bad_lags) place = m.lags.extent(1) - 1 - place;
    }
    for (index_t c = 0; c < end - begin; ++c) {
      const View<const T, 1> column = x_tile.select(1, c);
      const auto bad_x = nonfinite_places(column);
      if (bad_x.empty() && bad_lags.empty()) continue;
      add_nonfinite(m.lags.select(0, own), is_complex_v<T> && op == Op::adjoint, bad_lags, column,
                    bad_x, y_tile.select(1, c));
    }
  });
}

template class BlockSymbol<float>;
template class BlockSymbol<double>;
template class BlockSymbol<std::complex<float>>;
template class BlockSymbol<std::complex<double>>;

}  // namespace structmat::toeplitz
