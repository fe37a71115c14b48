#include "toeplitz/apply_fourier.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "toeplitz/apply_nonfinite.hpp"
#include "toeplitz/magnitude.hpp"

namespace structmat::toeplitz {
namespace {

/// Tiles of columns whose transforms fit into a second-level cache.
constexpr index_t tile_bytes = index_t{1} << 21;
constexpr index_t widest_tile = 8;

/// Without scaling, transforms of numbers between 2^-limit and 2^limit stay within the range.
template <RealScalar R>
bool needs_scaling(Bits<R> largest) {
  constexpr int limit = std::numeric_limits<R>::max_exponent / 3;
  return !bits_are_finite<R>(largest) || std::abs(scale_exponent<R>(largest)) > limit;
}

/// Rows of a tile as contiguous columns, filled up with zeros, and back.
template <Scalar T>
struct Pack {
  static constexpr index_t chunk = Twist<real_t<T>>::chunk;
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
      // No large power of two, so that rows do not compete for the same cache lines.
      stride_(padded(length_) + pad),
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
  constexpr index_t chunk = Twist<R>::chunk;
  const View<const T, 1> lags = matrix_.lags.select(0, batch);
  bad_lags_.push_back(nonfinite_places(lags));
  exponents_.push_back(scale_exponent(lags));
  const R scale = std::ldexp(R{1}, -exponents_.back());
  const R norm = R{1} / (static_cast<R>(length_) * sheets);
  alignas(64) std::array<C, chunk> w, wrapped;
  std::array<T, chunk> below, above;
  // A chunk of lags from place `from` on; beyond the ends, and for what is not finite, zeros.
  const auto read = [&](index_t from, std::array<T, chunk>& to) {
    const index_t begin = std::clamp<index_t>(-from, 0, chunk);
    const index_t end = std::clamp<index_t>(lags.extent(0) - from, begin, chunk);
    to.fill(T{});
    for (index_t j = begin; j < end; ++j) {
      const T c = lags(from + j);
      to[j] = is_finite(c) ? c * scale * norm : T{};
    }
  };
  for (index_t d = 0; d < differences(); ++d) {
    const index_t diagonal = (d - (col_blocks_ - 1)) * length_ + matrix_.cols() - 1;
    for (index_t first = 0; first < length_; first += chunk) {
      twist_.write(first, w.data());
      read(diagonal + first, below);
      read(diagonal + first - length_, above);
      for (int sheet = 0; sheet < sheets; ++sheet) {
        // c_l - i c_{l-L}, on the other sheet c_l + i c_{l-L}.
        const R sign = sheet == 0 ? R{1} : R{-1};
        for (index_t j = 0; j < chunk; ++j) {
          const C low(below[j]), high(above[j]);
          wrapped[j] = {low.real() + sign * high.imag(), low.imag() - sign * high.real()};
        }
        // The last chunk may be longer than what is left of the row.
        const index_t count = std::min(chunk, stride_ - first);
        C* const a = symbols_.data() + symbol_place(batch, d, sheet) + first;
        kernels::multiply(w.data(), sheet == 1, wrapped.data(), count, false, a);
      }
    }
    for (int sheet = 0; sheet < sheets; ++sheet) {
      C* const a = symbols_.data() + symbol_place(batch, d, sheet);
      std::fill(a + length_, a + stride_, C{});
      fft_.forward(row(a));
    }
  }
}

template <Scalar T>
void BlockSymbol<T>::twist_in(bool conjugated, const View<const T, 2>& x,
                              const std::vector<int>& exponents, C* z,
                              std::vector<Bits<R>>& largest) const {
  const index_t n = x.extent(0), k = x.extent(1);
  Pack<T> pack;
  alignas(64) std::array<C, Twist<R>::chunk> w;
  for (index_t first = 0; first < n; first += Twist<R>::chunk) {
    const index_t last = std::min(n, first + Twist<R>::chunk);
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
  for (index_t r = 0; r < k * sheets; ++r)
    std::fill(z + r * stride_ + n, z + (r + 1) * stride_, C{});
}

template <Scalar T>
void BlockSymbol<T>::twist_out(bool conjugated, const C* z, const std::vector<int>& exponents,
                               const View<T, 2>& y) const {
  const index_t n = y.extent(0), k = y.extent(1);
  Pack<T> pack;
  alignas(64) std::array<C, Twist<R>::chunk> w;
  for (index_t first = 0; first < n; first += Twist<R>::chunk) {
    const index_t last = std::min(n, first + Twist<R>::chunk);
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

template <Scalar T>
void BlockSymbol<T>::multiply(Op op, index_t batch, index_t difference, index_t columns, const C* x,
                              C* z, bool add) const {
  for (index_t c = 0; c < columns; ++c) {
    for (int sheet = 0; sheet < sheets; ++sheet) {
      const index_t at = (c * sheets + sheet) * stride_;
      kernels::multiply(symbols_.data() + symbol_place(batch, difference, sheet), op != Op::none,
                        x + at, padded(length_), add, z + at);
    }
  }
}

template <Scalar T>
std::vector<Bits<real_t<T>>> BlockSymbol<T>::apply_columns(
    Op op, const View<const T, 2>& x, const View<T, 2>& y, index_t batch,
    const std::vector<int>& exponents) const {
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

  std::vector<Bits<R>> largest(k);
  std::vector<int> unscale = exponents;
  for (int& exponent : unscale) exponent += exponents_[batch];
  const auto forward = [&](index_t j) {
    twist_in(conjugated, x.slice(0, j * length_, std::min(in, (j + 1) * length_)), exponents,
             spectrum, largest);
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
  return largest;
}

template <Scalar T>
void BlockSymbol<T>::add_nonfinite_terms(Op op, const View<const T, 1>& x, const View<T, 1>& y,
                                         index_t batch) const {
  const auto m = op == Op::none ? matrix_ : matrix_.transposed();
  std::vector<index_t> bad_lags = bad_lags_[batch];
  if (op != Op::none) {
    std::reverse(bad_lags.begin(), bad_lags.end());
    for (index_t& place : bad_lags) place = m.lags.extent(1) - 1 - place;
  }
  add_nonfinite<T>(m.lags.select(0, batch), is_complex_v<T> && op == Op::adjoint, bad_lags, x,
                   nonfinite_places(x), y);
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
    // Most operands need no scaling; the first attempt tells which do.
    std::vector<int> exponents(end - begin, 0);
    const auto largest = apply_columns(op, x_tile, y_tile, own, exponents);
    if (std::any_of(largest.begin(), largest.end(), needs_scaling<R>)) {
      for (index_t c = 0; c < end - begin; ++c) exponents[c] = scale_exponent(x_tile.select(1, c));
      apply_columns(op, x_tile, y_tile, own, exponents);
    }
    for (index_t c = 0; c < end - begin; ++c) {
      if (!bits_are_finite<R>(largest[c]) || !bad_lags_[own].empty())
        add_nonfinite_terms(op, x_tile.select(1, c), y_tile.select(1, c), own);
    }
  });
}

template class BlockSymbol<float>;
template class BlockSymbol<double>;
template class BlockSymbol<std::complex<float>>;
template class BlockSymbol<std::complex<double>>;

}  // namespace structmat::toeplitz
