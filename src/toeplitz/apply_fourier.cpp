#include "toeplitz/apply_fourier.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "toeplitz/apply_nonfinite.hpp"
#include "toeplitz/magnitude.hpp"

namespace structmat::toeplitz {
namespace {

/// Tiles of columns whose transforms fit into a second-level cache.
constexpr index_t tile_bytes = index_t{1} << 21;
/// Tiles of long columns, for which the limit is the workspace.
constexpr index_t long_tile_bytes = index_t{1} << 26;

/// to_ci := from_ic
template <Scalar T>
void exchange_axes(const View<const T, 2>& from, const View<T, 2>& to) {
  constexpr index_t block = 64;
  for (index_t first = 0; first < from.extent(0); first += block) {
    const index_t last = std::min(from.extent(0), first + block);
    for (index_t c = 0; c < from.extent(1); ++c) {
      for (index_t i = first; i < last; ++i) to(c, i) = from(i, c);
    }
  }
}

}  // namespace

index_t block_length(index_t m, index_t n, index_t long_from) {
  constexpr index_t shortest = 32;
  const index_t small = std::max(shortest, std::min(m, n)), large = std::max(m, n);
  index_t best = 0;
  double least = 0;
  const auto consider = [&](index_t length) {
    const index_t least_length = std::max(small, length);
    const index_t smooth =
        least_length < long_from ? fft::good_length(least_length) : four_step_length(least_length);
    const double l = static_cast<double>(smooth);
    // Passes over the data besides the transforms cost about as much as four levels of them.
    const index_t blocks = (large + smooth - 1) / smooth;
    const double cost = static_cast<double>(1 + blocks) * l * (std::log2(l) + 4);
    if (best == 0 || cost < least) {
      best = smooth;
      least = cost;
    }
  };
  for (index_t parts = 1; parts <= 4; ++parts) consider((large + parts - 1) / parts);
  for (index_t length = small; length < large; length *= 2) consider(length);
  return best;
}

template <Scalar T>
BlockSymbol<T>::BlockSymbol(const ToeplitzView<T>& m, const exec::cpu& e, index_t long_from)
    : matrix_(m),
      length_(block_length(m.rows(), m.cols(), long_from)),
      row_blocks_((m.rows() + length_ - 1) / length_),
      col_blocks_((m.cols() + length_ - 1) / length_) {
  if (length_ >= long_from) {
    long_.emplace(length_, m.batch(), row_blocks_, col_blocks_);
  } else {
    transform_.emplace(length_);
    symbols_ =
        Array<C, 1>({m.batch() * differences() * sheets * transform_->stride()}, uninitialized);
  }
  for (index_t b = 0; b < m.batch(); ++b) {
    exponents_.push_back(0);
    bad_lags_.emplace_back();
    const Bits<R> largest = transform_lags(e, b, 0);
    if (!needs_scaling<R>(largest)) continue;
    exponents_[b] = scale_exponent(matrix_.lags.select(0, b));
    if (!bits_are_finite<R>(largest)) bad_lags_[b] = nonfinite_places(matrix_.lags.select(0, b));
    transform_lags(e, b, exponents_[b]);
  }
}

template <Scalar T>
Bits<real_t<T>> BlockSymbol<T>::transform_lags(const exec::cpu& e, index_t batch, int exponent) {
  if (long_) {
    return long_->transform_lags(e, batch, matrix_.lags.select(0, batch), matrix_.cols() - 1,
                                 exponent);
  }
  constexpr index_t chunk = WeightedTransform<T>::chunk;
  const index_t stride = transform_->stride();
  const View<const T, 1> lags = matrix_.lags.select(0, batch);
  const R scale = std::ldexp(R{1} / (static_cast<R>(length()) * sheets), -exponent);
  alignas(64) std::array<C, chunk> w, folded;
  alignas(64) std::array<T, chunk> below, above;
  // A chunk of lags from place `from` on, with zeros beyond the ends.
  const auto read = [&](index_t from, std::array<T, chunk>& to) {
    const index_t begin = std::clamp<index_t>(-from, 0, chunk);
    const index_t end = std::clamp<index_t>(lags.extent(0) - from, begin, chunk);
    if (end - begin < chunk) to.fill(T{});
    copy(lags.slice(0, from + begin, from + end), View<T, 1>(to).slice(0, begin, end));
  };
  Bits<R> largest = 0;
  for (index_t d = 0; d < differences(); ++d) {
    const index_t diagonal = (d - (col_blocks_ - 1)) * length() + matrix_.cols() - 1;
    for (index_t first = 0; first < length(); first += chunk) {
      transform_->twist().write(first, w.data());
      read(diagonal + first, below);
      read(diagonal + first - length(), above);
      for (int sheet = 0; sheet < sheets; ++sheet) {
        // c_l - i c_{l-L}, on the other sheet c_l + i c_{l-L}.
        const R sign = sheet == 0 ? R{1} : R{-1};
        largest = std::max<Bits<R>>(largest, kernels::fold<T>(below.data(), above.data(), sign,
                                                              scale, chunk, folded.data()));
        // The last chunk may be longer than what is left of the row.
        const index_t count = std::min(chunk, stride - first);
        C* const a = symbols_.data() + symbol_place(batch, d, sheet) + first;
        kernels::multiply(w.data(), sheet == 1, folded.data(), count, false, a);
      }
    }
    for (int sheet = 0; sheet < sheets; ++sheet) {
      C* const a = symbols_.data() + symbol_place(batch, d, sheet);
      std::fill(a + length(), a + stride, C{});
      transform_->transform(a);
    }
  }
  return largest;
}

template <Scalar T>
void BlockSymbol<T>::multiply(Op op, index_t batch, index_t difference, index_t columns, const C* x,
                              C* z, bool add) const {
  for (index_t c = 0; c < columns; ++c) {
    for (int sheet = 0; sheet < sheets; ++sheet) {
      const index_t at = (c * sheets + sheet) * transform_->stride();
      kernels::multiply(symbols_.data() + symbol_place(batch, difference, sheet), op != Op::none,
                        x + at, padded(length()), add, z + at);
    }
  }
}

template <Scalar T>
std::vector<Bits<real_t<T>>> BlockSymbol<T>::apply_columns(
    const exec::cpu& e, Op op, const View<const T, 2>& x, const View<T, 2>& y, index_t batch,
    const std::vector<int>& exponents) const {
  if (long_) return apply_long_columns(e, op, x, y, batch, exponents);
  // op(T) is T^H, its blocks have the conjugate symbols; T^T x = conj(T^H conj(x)).
  const bool conjugated = is_complex_v<T> && op == Op::transpose;
  const index_t k = x.extent(1), in = x.extent(0), out = y.extent(0);
  const index_t in_blocks = op == Op::none ? col_blocks_ : row_blocks_;
  const index_t out_blocks = op == Op::none ? row_blocks_ : col_blocks_;
  const auto difference = [&](index_t i, index_t j) {
    return (op == Op::none ? i - j : j - i) + col_blocks_ - 1;
  };
  const index_t size = k * sheets * transform_->stride();
  const bool one_block = in_blocks == 1 && out_blocks == 1;
  typename Workspaces<C>::Loan buffer(workspaces_, one_block ? size : 2 * size);
  C* const spectrum = buffer.data();
  C* const result = one_block ? spectrum : spectrum + size;

  std::vector<Bits<R>> largest(k);
  std::vector<int> unscale = exponents;
  for (int& exponent : unscale) exponent += exponents_[batch];
  const auto forward = [&](index_t j) {
    transform_->forward(conjugated, x.slice(0, j * length(), std::min(in, (j + 1) * length())),
                        exponents, spectrum, largest);
  };
  const auto backward = [&](index_t i) {
    transform_->backward(conjugated, result, unscale,
                         y.slice(0, i * length(), std::min(out, (i + 1) * length())));
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
std::vector<Bits<real_t<T>>> BlockSymbol<T>::apply_long_columns(
    const exec::cpu& e, Op op, const View<const T, 2>& x, const View<T, 2>& y, index_t batch,
    const std::vector<int>& exponents) const {
  const index_t k = x.extent(1), in = x.extent(0), out = y.extent(0);
  std::vector<Bits<R>> largest(k);
  const auto apply_column = [&](index_t c, const View<const T, 1>& from, const View<T, 1>& to) {
    largest[c] =
        long_->apply(e, op, batch, from, exponents[c], exponents[c] + exponents_[batch], to);
  };
  if (k == 1) {
    apply_column(0, x.select(1, 0), y.select(1, 0));
    return largest;
  }
  // Columns side by side are laid one after the other: each alone would touch every cache line of all.
  typename Workspaces<T>::Loan columns(packed_columns_, k * (in + out));
  const View<T, 2> packed_x(columns.data(), {k, in}), packed_y(&packed_x(0, 0) + k * in, {k, out});
  exchange_axes<T>(x, packed_x);
  for (index_t c = 0; c < k; ++c) apply_column(c, packed_x.select(0, c), packed_y.select(0, c));
  exchange_axes<T>(packed_y.transposed(), y.transposed());
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
  const index_t column_bytes = sheets * length() * static_cast<index_t>(sizeof(C));
  const index_t width = std::clamp<index_t>((long_ ? long_tile_bytes : tile_bytes) / column_bytes,
                                            1, WeightedTransform<T>::widest_tile);
  const index_t tiles = (k + width - 1) / width;
  const index_t work = batch * k * (x.extent(1) + y.extent(1)) * 16;
  const int team = team_for(e.threads, work);
  // Few tiles of long columns are taken one after the other, each column by all threads.
  const bool one_by_one = long_ && batch * tiles < team;
  parallel_for(one_by_one ? 1 : team, batch * tiles, [&](index_t task) {
    const index_t b = task / tiles, begin = task % tiles * width, end = std::min(k, begin + width);
    const index_t own = matrix_.batch() == 1 ? 0 : b;
    const auto x_tile = x.select(0, b).slice(1, begin, end);
    const auto y_tile = y.select(0, b).slice(1, begin, end);
    // Most operands need no scaling; the first attempt tells which do.
    std::vector<int> exponents(end - begin, 0);
    const auto largest = apply_columns(e, op, x_tile, y_tile, own, exponents);
    if (std::any_of(largest.begin(), largest.end(), needs_scaling<R>)) {
      for (index_t c = 0; c < end - begin; ++c) exponents[c] = scale_exponent(x_tile.select(1, c));
      apply_columns(e, op, x_tile, y_tile, own, exponents);
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
