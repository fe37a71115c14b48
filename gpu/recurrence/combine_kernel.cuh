/// \file
/// Phase 2 for scalar and diagonal transitions: end states of chunks, reached from zero, become the
/// states in front of them.
#pragma once

#include "recurrence/scaled_product.cuh"
#include "recurrence/triangles.cuh"

namespace structmat::gpu::recurrence {

/// A product and the summaries of its chunks: products (batch, chunk, states of both triangles), end
/// states (the same, columns).
template <class T>
struct Summarised {
  Triangles<T> m;
  Chunks chunks{};
  T* state = nullptr;
  T* mantissa = nullptr;
  int* exponent = nullptr;

  /// Chunks count in the order of the triangle's sweep.
  __device__ index_t at(index_t b, index_t chunk, int side, index_t state_index) const {
    return (b * chunks.count() + chunk) * m.states() + side * m.part[0].states + state_index;
  }
};

/// One thread a segment of chunks; a block takes a few neighbouring (state, right-hand side) pairs.
constexpr int segments = 128;
constexpr int pairs_per_block = 4;
constexpr unsigned combine_threads = segments * pairs_per_block;

template <class T>
__host__ __device__ index_t combine_work(const Summarised<T>& s) {
  return s.state == nullptr ? 0 : s.m.batch * pieces(s.m.states() * s.m.columns, pairs_per_block);
}

/// What one launch combines: phase 2 takes a few multiprocessors for long. The second may be without
/// summaries.
template <class T>
struct SummarisedTwo {
  Summarised<T> one, other;
};

/// visit(chunk, product, end state) for begin <= chunk < end in turn; several are loaded before the
/// first is used. Nothing is in front of chunk 0: its product is taken as 1, unread. The end state of
/// the last chunk is never computed, nor wanted.
template <class T, class Visit>
__device__ void for_each_chunk(const Summarised<T>& s, index_t b, index_t pair, index_t begin,
                               index_t end, const Visit& visit) {
  constexpr int at_once = is_complex<T> ? 4 : 8;
  const index_t states = s.m.states(), columns = s.m.columns, last = s.chunks.count() - 1;
  const index_t state = pair / columns;
  for (index_t chunk = begin; chunk < end; chunk += at_once) {
    ScaledProduct<T> product[at_once];
    T end_state[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const index_t at = b * s.chunks.count() + chunk + u;
      const bool known = chunk + u < end && chunk + u < last;
      end_state[u] = known ? s.state[at * states * columns + pair] : T(0);
      if (known && chunk + u > 0) {
        product[u].mantissa = s.mantissa[at * states + state];
        product[u].exponent = s.exponent[at * states + state];
      }
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      if (chunk + u < end) visit(chunk + u, product[u], end_state[u]);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(combine_threads)
    combine_chunks(const __grid_constant__ SummarisedTwo<T> two) {
  __shared__ T mantissa[combine_threads], state[combine_threads];
  __shared__ int exponent[combine_threads];
  const int segment = static_cast<int>(threadIdx.x) / pairs_per_block;
  const index_t work_of_one = combine_work(two.one), work = work_of_one + combine_work(two.other);
  for (index_t at_work = blockIdx.x; at_work < work; at_work += gridDim.x) {
    const bool first = at_work < work_of_one;
    const Summarised<T>& s = first ? two.one : two.other;
    const index_t unit = first ? at_work : at_work - work_of_one;
    const index_t pairs = s.m.states() * s.m.columns, tiles = pieces(pairs, pairs_per_block);
    const index_t count = s.chunks.count(), length = pieces(count, segments);
    const index_t begin = min(count, segment * length), end = min(count, begin + length);
    const index_t b = unit / tiles;
    const index_t pair = (unit - b * tiles) * pairs_per_block + threadIdx.x % pairs_per_block;
    ScaledProduct<T> product;
    T value = T(0);
    if (pair < pairs) {
      for_each_chunk(s, b, pair, begin, end, [&](index_t, const ScaledProduct<T>& a, T end_state) {
        value = a.times(value) + end_state;
        product.multiply(a);
      });
    }
    // All segments up to this one, as if they were one: the distance doubles from step to step.
    for (int distance = 1; distance < segments; distance *= 2) {
      mantissa[threadIdx.x] = product.mantissa;
      exponent[threadIdx.x] = product.exponent;
      state[threadIdx.x] = value;
      __syncthreads();
      if (segment >= distance) {
        const unsigned other = threadIdx.x - distance * pairs_per_block;
        value = product.times(state[other]) + value;
        ScaledProduct<T> front;
        front.mantissa = mantissa[other];
        front.exponent = exponent[other];
        product.multiply(front);
      }
      __syncthreads();
    }
    state[threadIdx.x] = value;
    __syncthreads();
    T incoming = segment > 0 ? state[threadIdx.x - pairs_per_block] : T(0);
    if (pair < pairs) {
      for_each_chunk(s, b, pair, begin, end,
                     [&](index_t chunk, const ScaledProduct<T>& a, T end_state) {
                       const index_t at = b * count + chunk;
                       s.state[at * s.m.states() * s.m.columns + pair] = incoming;
                       incoming = a.times(incoming) + end_state;
                     });
    }
    __syncthreads();
  }
}

}  // namespace structmat::gpu::recurrence
