#include "toeplitz/apply_direct.hpp"

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "core/threads.hpp"

namespace structmat::toeplitz {
namespace {

constexpr index_t row_chunk = 512;
constexpr index_t column_tile = 16;

template <Scalar T>
inline constexpr int lanes = 64 / int(sizeof(real_t<T>));

/// W lags from p on; im is not read for real types.
template <Scalar T>
STRUCTMAT_INLINE simd::Lanes<T, lanes<T>> load_lags(const real_t<T>* re, const real_t<T>* im) {
  using V = simd::Vector<real_t<T>, lanes<T>>;
  if constexpr (is_complex_v<T>) {
    return {simd::load<V>(re), simd::load<V>(im)};
  } else {
    return {simd::load<V>(re)};
  }
}

/// A window of lags with separated parts: lag l of the chunk's first row minus the column at re[l].
template <Scalar T>
struct Window {
  using R = real_t<T>;
  const R *re, *im;
};

/// V vectors of rows times K columns of x, which lie next to each other.
template <Scalar T, int V, int K>
STRUCTMAT_INLINE void multiply_tile(const Window<T>& lags, const T* x, index_t n, index_t stride,
                                    real_t<T>* y, index_t y_stride) {
  constexpr int W = lanes<T>;
  using L = simd::Lanes<T, W>;
  L sum[V][K];
  for (int v = 0; v < V; ++v) {
    for (int c = 0; c < K; ++c) sum[v][c] = L::zero();
  }
  for (index_t j = 0; j < n; ++j) {
    const index_t at = n - 1 - j;
    L t[V];
    for (int v = 0; v < V; ++v) t[v] = load_lags<T>(lags.re + at + v * W, lags.im + at + v * W);
    for (int c = 0; c < K; ++c) {
      const T value = x[j * stride + c];
      for (int v = 0; v < V; ++v) sum[v][c] = sum[v][c].plus(value, t[v]);
    }
  }
  for (int c = 0; c < K; ++c) {
    for (int v = 0; v < V; ++v) sum[v][c].store(y + c * y_stride + v * L::reals);
  }
}

/// All rows of a chunk, `vectors` of W. Column c of y begins at y + c y_stride.
template <Scalar T, int K>
STRUCTMAT_CLONES void multiply_chunk(Window<T> lags, const T* x, index_t n, index_t stride,
                                     index_t vectors, real_t<T>* y, index_t y_stride) {
  constexpr int W = lanes<T>, reals = simd::Lanes<T, W>::reals;
  constexpr int V = (K == 1 ? 8 : 4) / (is_complex_v<T> ? 2 : 1);
  index_t v = 0;
  const auto at = [&](index_t first) STRUCTMAT_ALWAYS {
    return Window<T>{lags.re + first * W, lags.im + first * W};
  };
  for (; v + V <= vectors; v += V) {
    multiply_tile<T, V, K>(at(v), x, n, stride, y + v * reals, y_stride);
  }
  for (; v < vectors; ++v) multiply_tile<T, 1, K>(at(v), x, n, stride, y + v * reals, y_stride);
}

/// Rows [first, last) of y := T x for the columns of x and y.
template <Scalar T>
void multiply(View<const T, 1> lags, bool conjugated, const View<const T, 2>& x,
              const View<T, 2>& y, index_t first, index_t last) {
  using R = real_t<T>;
  constexpr int W = lanes<T>, reals = simd::Lanes<T, W>::reals;
  const index_t n = x.extent(0), k = x.extent(1);
  const index_t vectors = (last - first + W - 1) / W;
  const index_t count = last - first + n - 1, padded = vectors * W + n - 1;

  // Zeros behind the last row fill its vector.
  Array<R, 2> parts({is_complex_v<T> ? 2 : 1, padded}, uninitialized);
  R* const re = parts.data();
  R* const im = is_complex_v<T> ? re + padded : re;
  for (index_t l = 0; l < count; ++l) {
    const T c = lags(first + l);
    re[l] = std::real(c);
    if constexpr (is_complex_v<T>) im[l] = conjugated ? -c.imag() : c.imag();
  }
  std::fill(re + count, re + padded, R{});
  if constexpr (is_complex_v<T>) std::fill(im + count, im + padded, R{});

  Array<T, 2> packed({n, k}, uninitialized);
  copy(x, packed.view());
  const index_t column = vectors * reals;
  Array<R, 2> results({k, column}, uninitialized);
  index_t c = 0;
  for (; c + 4 <= k; c += 4) {
    multiply_chunk<T, 4>({re, im}, packed.data() + c, n, k, vectors, results.data() + c * column,
                         column);
  }
  for (; c < k; ++c) {
    multiply_chunk<T, 1>({re, im}, packed.data() + c, n, k, vectors, results.data() + c * column,
                         column);
  }

  for (index_t i = 0; i < last - first; ++i) {
    const index_t place = i / W * reals + i % W;
    for (c = 0; c < k; ++c) {
      const R* const value = results.data() + c * column + place;
      if constexpr (is_complex_v<T>) {
        y(first + i, c) = {value[0], value[W]};
      } else {
        y(first + i, c) = *value;
      }
    }
  }
}

}  // namespace

template <Scalar T>
void apply_direct(const exec::cpu& e, const ToeplitzView<T>& matrix, Op op, View<const T, 3> x,
                  View<T, 3> y) {
  const auto m = op == Op::none ? matrix : matrix.transposed();
  const bool conjugated = is_complex_v<T> && op == Op::adjoint;
  const index_t rows = m.rows(), n = m.cols(), k = y.extent(2), batch = y.extent(0);
  if (y.empty()) return;
  if (n == 0) {
    for (index_t b = 0; b < batch; ++b) {
      for (index_t i = 0; i < rows; ++i) {
        for (index_t c = 0; c < k; ++c) y(b, i, c) = T{};
      }
    }
    return;
  }
  const index_t chunks = (rows + row_chunk - 1) / row_chunk;
  const index_t tiles = (k + column_tile - 1) / column_tile;
  parallel_for(
      team_for(e.threads, batch * rows * n * k), batch * tiles * chunks, [&](index_t task) {
        const index_t b = task / (tiles * chunks), tile = task / chunks % tiles;
        const index_t first = task % chunks * row_chunk;
        const index_t begin = tile * column_tile, end = std::min(k, begin + column_tile);
        multiply<T>(m.lags.select(0, b), conjugated, x.select(0, b).slice(1, begin, end),
                    y.select(0, b).slice(1, begin, end), first, std::min(rows, first + row_chunk));
      });
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template void apply_direct(const exec::cpu&, const ToeplitzView<T>&, Op, View<const T, 3>, \
                             View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
