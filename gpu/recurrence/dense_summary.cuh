/// \file
/// Dense transitions of order up to 8 R: what is kept of chunks, and how it is combined. The product
/// of a chunk's transitions has a power of two for each of its columns, since it may leave the range
/// of double although its product with a state does not.
#pragma once

#include "recurrence/tensor_core.cuh"
#include "recurrence/triangles.cuh"

namespace structmat::gpu::recurrence {

/// Chunks that a block summarises.
constexpr int group_chunks = 8;

/// Summaries, one after the other: a product (column, state), its columns' exponents, and the states
/// (right-hand side, state), parts innermost.
template <int P, int R>
struct DenseSummaries {
  static constexpr int order = 8 * R, product_size = order * order * P, state_size = order * P;
  double* product;
  int* exponent;
  double* state;
  index_t columns;  ///< right-hand sides of a summary

  __device__ double* product_of(index_t at) const { return product + at * product_size; }
  __device__ int* exponent_of(index_t at) const { return exponent + at * order; }
  __device__ double* state_of(index_t at, index_t column) const {
    return state + (at * columns + column) * state_size;
  }
};

/// The lane's states of a column that begins at `to`.
template <int P, int R>
__device__ void store_column(const Columns<P, R>& columns, double* to) {
  const int first = 2 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
  for (int s = 0; s < R; ++s) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int p = 0; p < P; ++p) to[(8 * s + first + i) * P + p] = columns.v[s][p][i];
    }
  }
}

template <int P, int R>
__device__ Columns<P, R> load_column(const double* from) {
  Columns<P, R> columns;
  const int first = 2 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
  for (int s = 0; s < R; ++s) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int p = 0; p < P; ++p) columns.v[s][p][i] = from[(8 * s + first + i) * P + p];
    }
  }
  return columns;
}

/// A product, as columns with exponents.
template <int P, int R>
struct Product {
  Columns<P, R> column[R];
  int exponent[R] = {};

  __device__ static Product identity(index_t order) {
    Product one;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int c = 0; c < R; ++c) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const bool diagonal = lane / 4 == 2 * (lane % 4) + i && 8 * c + lane / 4 < order;
        one.column[c].v[c][0][i] = diagonal ? 1 : 0;
      }
    }
    return one;
  }

  __device__ void store(double* product, int* exponents) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int c = 0; c < R; ++c) {
      const int at = 8 * c + lane / 4;
      store_column(column[c], product + at * 8 * R * P);
      if (lane % 4 == 0) exponents[at] = exponent[c];
    }
  }
};

/// What a chunk does to the states in front of it.
template <int P, int R>
struct ChunkStep {
  Matrix<P, R> product;
  int exponent[R][2];  ///< of the states that the lane holds

  __device__ static ChunkStep load(const double* product, const int* exponents) {
    ChunkStep step;
    const int lane = static_cast<int>(threadIdx.x) % 32, first = 2 * (lane % 4);
#pragma unroll
    for (int k = 0; k < R; ++k) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = 8 * k + first + j;
        step.exponent[k][j] = exponents[column];
#pragma unroll
        for (int i = 0; i < R; ++i) {
#pragma unroll
          for (int p = 0; p < P; ++p) {
            step.product.v[i][k][p][j] = product[(column * 8 * R + 8 * i + lane / 4) * P + p];
          }
        }
      }
    }
    return step;
  }

  /// product * states, plus `added`.
  __device__ Columns<P, R> times(const Columns<P, R>& states, const Columns<P, R>& added) const {
    Columns<P, R> result = added;
    advance(product, shifted(states, 0), result);
    return result;
  }

  /// product * other.
  __device__ void compose(Product<P, R>& other) const {
#pragma unroll
    for (int c = 0; c < R; ++c) {
      constexpr int none = -(1 << 30);
      int largest = none;
#pragma unroll
      for (int k = 0; k < R; ++k) {
#pragma unroll
        for (int p = 0; p < P; ++p) {
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const int size = binary_exponent(other.column[c].v[k][p][j]);
            if (size != below_all && size != above_all) {
              largest = max(largest, size + exponent[k][j]);
            }
          }
        }
      }
      largest = column_max(largest);
      if (largest == none) largest = 0;
      Columns<P, R> result;
      advance(product, shifted(other.column[c], -largest), result);
      normalise(result, largest);
      // Far beyond what a double can bring back, and far from overflow of int.
      constexpr int limit = 1 << 28;
      other.exponent[c] = max(-limit, min(limit, other.exponent[c] + largest));
      other.column[c] = result;
    }
  }

 private:
  __device__ Columns<P, R> shifted(const Columns<P, R>& states, int by) const {
    Columns<P, R> result;
#pragma unroll
    for (int k = 0; k < R; ++k) {
#pragma unroll
      for (int p = 0; p < P; ++p) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          result.v[k][p][j] = ldexp(states.v[k][p][j], exponent[k][j] + by);
        }
      }
    }
    return result;
  }
};

}  // namespace structmat::gpu::recurrence
