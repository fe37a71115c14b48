/// \file
/// Products of many small matrices of any strides: what cuBLAS does not offer (two levels of batch,
/// conjugation without transposition, outputs that are added to and summed over the batch).
#pragma once

#include "core/strided.cuh"

namespace structmat::gpu {

/// Matrices of an (outer, inner) batch; entry (r, c) lies at
/// data[o * outer + i * inner + r * row + c * column].
template <class T>
struct Factor {
  T* data = nullptr;
  index_t outer = 0, inner = 0, row = 0, column = 0;
  bool conjugated = false;

  __device__ T operator()(index_t o, index_t i, index_t r, index_t c) const {
    return conjugate_if(conjugated, data[o * outer + i * inner + r * row + c * column]);
  }

  Factor transposed() const { return {data, outer, inner, column, row, conjugated}; }
  Factor conjugate(bool where = true) const {
    return {data, outer, inner, row, column, conjugated != where};
  }
};

/// The matrices of a (batch, rows, columns) view.
template <class T>
Factor<const device_scalar_t<T>> factor(const View<const T, 3, space::cuda>& v) {
  const auto s = strided(v);
  return {s.data, s.stride[0], 0, s.stride[1], s.stride[2], false};
}

/// The same, to be written.
template <class T>
Factor<device_scalar_t<T>> target(const View<T, 3, space::cuda>& v) {
  const auto s = strided(v);
  return {s.data, s.stride[0], 0, s.stride[1], s.stride[2], false};
}

/// C_oi (+)= A_oi B_oi with A: m x k, B: k x n; or sums of these over o.
struct ProductShape {
  index_t m = 0, n = 0, k = 0;
  index_t outer = 1, inner = 1;
  bool add = false;        ///< to what C holds
  bool sum_outer = false;  ///< over o, in order
  index_t k_total = -1;    ///< where inner counts pieces of k terms of a sum: all its terms
};

template <class T>
struct ProductProblem {
  ProductShape shape;
  Factor<const T> a, b;
  Factor<T> c;
};

inline constexpr int product_tile = 32, product_depth = 16, product_threads = 256;

/// Sums run over l in order, then over o: they do not depend on the batch.
template <class T>
__global__ void __launch_bounds__(product_threads)
    multiply_tiles(const __grid_constant__ ProductProblem<T> p) {
  constexpr int tile = product_tile, depth = product_depth;
  __shared__ T a[depth][tile + 1], b[depth][tile + 1];
  const ProductShape& s = p.shape;
  const index_t row_tiles = (s.m + tile - 1) / tile, column_tiles = (s.n + tile - 1) / tile;
  const index_t units = (s.sum_outer ? 1 : s.outer) * s.inner * row_tiles * column_tiles;
  const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
  for (index_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    index_t rest = unit / column_tiles;
    const index_t column = (unit - rest * column_tiles) * tile;
    const index_t row = rest % row_tiles * tile;
    rest /= row_tiles;
    const index_t inner = rest % s.inner;
    const index_t first = s.sum_outer ? 0 : rest / s.inner,
                  last = s.sum_outer ? s.outer : first + 1;
    const index_t terms = s.k_total < 0 ? s.k : min(s.k, s.k_total - inner * s.k);
    T sum[2][2] = {{T(0), T(0)}, {T(0), T(0)}};
    for (index_t o = first; o < last; ++o) {
      for (index_t l = 0; l < terms; l += depth) {
        for (int at = static_cast<int>(threadIdx.x); at < depth * tile; at += product_threads) {
          // Neighbouring threads read what lies together.
          const bool along_terms = p.a.column < p.a.row;
          const int r = along_terms ? at / depth : at % tile;
          const int d = along_terms ? at % depth : at / tile;
          a[d][r] = row + r < s.m && l + d < terms ? p.a(o, inner, row + r, l + d) : T(0);
          const bool along_columns = p.b.column <= p.b.row;
          const int c = along_columns ? at % tile : at / depth;
          const int e = along_columns ? at / tile : at % depth;
          b[e][c] = column + c < s.n && l + e < terms ? p.b(o, inner, l + e, column + c) : T(0);
        }
        __syncthreads();
        // No more than there is: zero times what lies beyond an infinity would be NaN.
        const int here = static_cast<int>(min(static_cast<index_t>(depth), terms - l));
        for (int d = 0; d < here; ++d) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
              sum[i][j] = multiply_add(a[d][y + 16 * i], b[d][x + 16 * j], sum[i][j]);
            }
          }
        }
        __syncthreads();
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const index_t r = row + y + 16 * i, c = column + x + 16 * j;
        if (r >= s.m || c >= s.n) continue;
        T& out = p.c.data[first * p.c.outer + inner * p.c.inner + r * p.c.row + c * p.c.column];
        // C is the target of conj(A B) where it says so.
        const T value = conjugate_if(p.c.conjugated, sum[i][j]);
        out = s.add ? out + value : value;
      }
    }
  }
}

/// Enqueues the products. Reads and writes what the strides say; A and B of extent 0 give zeros.
template <class T>
void multiply(const char* operation, const ProductShape& shape, const Factor<const T>& a,
              const Factor<const T>& b, const Factor<T>& c, int processors, cudaStream_t stream) {
  const auto tiles = [](index_t n) { return (n + product_tile - 1) / product_tile; };
  const index_t units =
      (shape.sum_outer ? 1 : shape.outer) * shape.inner * tiles(shape.m) * tiles(shape.n);
  if (units == 0) return;
  launch(operation, multiply_tiles<T>, persistent_blocks(units, 1, processors), product_threads,
         stream, ProductProblem<T>{shape, a, b, c});
}

/// A long sum in pieces of about this many terms: enough of them to fill a device, the same for
/// every batch.
inline index_t piece_of(index_t terms) {
  constexpr index_t shortest = 256, most_pieces = 512;
  return max(shortest, (terms + most_pieces - 1) / most_pieces);
}
inline index_t pieces_of(index_t terms) {
  return (terms + piece_of(terms) - 1) / piece_of(terms);
}

template <class T>
struct Pieces {
  const T* partial;  ///< (outer, pieces, size)
  T* sum;            ///< (outer, size)
  index_t outer, pieces, size;
};

template <class T>
__global__ void sum_pieces(const __grid_constant__ Pieces<T> p) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t at = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < p.outer * p.size; at += step) {
    const index_t o = at / p.size;
    const T* const from = p.partial + o * p.pieces * p.size + (at - o * p.size);
    T sum = T(0);
    for (index_t i = 0; i < p.pieces; ++i) sum += from[i * p.size];
    p.sum[at] = sum;
  }
}

/// C_o := A_o B_o, row-major (outer, m, n), for a long sum and a small result; `partial` holds
/// outer * pieces_of(k) * m * n elements.
template <class T>
void multiply_long(const char* operation, index_t outer, index_t m, index_t n, index_t k,
                   Factor<const T> a, Factor<const T> b, T* partial, T* c, int processors,
                   cudaStream_t stream) {
  const index_t piece = piece_of(k), pieces = pieces_of(k), size = m * n;
  a.inner = piece * a.column;
  b.inner = piece * b.row;
  ProductShape shape{m, n, piece, outer, max(pieces, index_t{1})};
  shape.k_total = k;
  if (pieces <= 1) {
    multiply<T>(operation, shape, a, b, {c, size, 0, n, 1}, processors, stream);
    return;
  }
  multiply<T>(operation, shape, a, b, {partial, pieces * size, size, n, 1}, processors, stream);
  if (outer * size == 0) return;
  launch(operation, sum_pieces<T>, persistent_blocks(outer * size, 128, processors), 128, stream,
         Pieces<T>{partial, c, outer, pieces, size});
}

}  // namespace structmat::gpu
