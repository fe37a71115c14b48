/// \file
/// Butterfly factors as kernels take them.
#pragma once

#include "core/strided.cuh"
#include "structmat/butterfly/butterfly.hpp"

namespace structmat::butterfly {

template <class T>
struct Factors {
  const T* data;
  index_t batch, factor, pair, row, column;  ///< strides
  index_t count, levels;
  bool increasing, conjugated;

  /// log2 of the stride of a factor.
  __host__ __device__ index_t level(index_t f) const {
    const index_t stage = f / levels, l = f - stage * levels;
    return increasing == (stage % 2 == 0) ? l : levels - 1 - l;
  }
  __device__ const T* at(index_t b, index_t f, index_t p) const {
    return data + b * batch + f * factor + p * pair;
  }
  __device__ T value(const T* entry) const { return gpu::conjugate_if(conjugated, *entry); }
};

template <class T>
auto factors(const ButterflyView<T, space::cuda>& m, bool conjugated) {
  using D = gpu::device_scalar_t<T>;
  const auto s = gpu::strided(m.factors);
  return Factors<D>{s.data,
                    s.stride[0],
                    s.stride[1],
                    s.stride[2],
                    s.stride[3],
                    s.stride[4],
                    m.factors.extent(1),
                    m.levels(),
                    m.first == Strides::increasing,
                    conjugated};
}

/// The pair (i, i + s) with number p, s = 2^level.
__device__ inline index_t first_of_pair(index_t p, index_t level) {
  const index_t s = index_t{1} << level;
  return ((p >> level) << (level + 1)) + (p & (s - 1));
}

/// (u, v) := F_p (u, v).
template <class T>
__device__ void apply_pair(const Factors<T>& f, const T* entry, T& u, T& v) {
  const T x = u, y = v;
  u = gpu::multiply_add(f.value(entry + f.column), y, f.value(entry) * x);
  v = gpu::multiply_add(f.value(entry + f.row + f.column), y, f.value(entry + f.row) * x);
}

}  // namespace structmat::butterfly
