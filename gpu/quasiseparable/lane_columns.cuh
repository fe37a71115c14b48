/// \file
/// Small matrices spread over lanes: a group of lanes of one warp holds r x r matrices, lane l their
/// column l, so that a product with a matrix from the left needs nothing of another lane but that
/// matrix, which all of them read from the same place at the same time.
///
/// R = 4, 8: padded order and lanes of a group, columns in registers. R = 0: any order up to 32, a
/// warp, columns in shared memory.
#pragma once

#include "core/complex.cuh"
#include "core/shared.cuh"

namespace structmat::quasiseparable::device {

inline constexpr index_t most_states = 32;
template <int R>
struct Group {
  static constexpr int lanes = R > 0 ? R : 32;
  static constexpr unsigned block = R > 0 ? 64 : 32;  ///< threads
  static constexpr int in_block = static_cast<int>(block) / lanes;
  static_assert(lanes <= 32 && (lanes & (lanes - 1)) == 0);

  static __device__ int lane() { return static_cast<int>(threadIdx.x) % lanes; }
  static __device__ int number() { return static_cast<int>(threadIdx.x) / lanes; }
  static __device__ index_t first() { return index_t{blockIdx.x} * in_block + number(); }
  static __device__ index_t step() { return index_t{gridDim.x} * in_block; }

  /// Other groups of the warp may have left the loop.
  static __device__ unsigned mask() {
    if constexpr (lanes == 32) return 0xffffffffu;
    return ((1u << (lanes % 32)) - 1) << (threadIdx.x % 32 / lanes * lanes);
  }
  static __device__ void sync() { __syncwarp(mask()); }
  static __device__ bool any(bool predicate) { return __any_sync(mask(), predicate) != 0; }
  template <class T>
  static __device__ T sum(T value) {
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      value += gpu::shuffle_xor(mask(), value, offset);
    }
    return value;
  }
};

/// The extent of loops: known to the compiler where columns are in registers.
template <int R>
__host__ __device__ constexpr int padded_order(index_t order) {
  return R > 0 ? R : static_cast<int>(order);
}

/// A column of this lane.
template <class T, int R>
struct Column {
  static constexpr index_t elements(index_t) { return 0; }  ///< of shared memory, for a group

  __device__ Column(T*&, index_t) {}
  __device__ T& operator[](int k) { return v[k]; }
  __device__ const T& operator[](int k) const { return v[k]; }

  T v[R];
};
template <class T>
struct Column<T, 0> {
  static constexpr index_t elements(index_t order) { return order * 32; }

  /// Takes its elements of shared memory.
  __device__ Column(T*& shared, index_t order) : at(shared + Group<0>::lane()) {
    shared += elements(order);
  }
  __device__ T& operator[](int k) const { return at[k * 32]; }

  T* at;
};

/// Consecutive numbers in shared memory that all lanes of a group read at the same time; R of them are
/// read 16 bytes at once.
template <class T, int R>
struct Broadcast {
  __device__ explicit Broadcast(const T* at) {
    struct alignas(16) Packet {
      T v[16 / sizeof(T)];
    };
    constexpr int in_packet = 16 / sizeof(T);
#pragma unroll
    for (int i = 0; i < R / in_packet; ++i) {
      const Packet packet = reinterpret_cast<const Packet*>(at)[i];
#pragma unroll
      for (int j = 0; j < in_packet; ++j) v[i * in_packet + j] = packet.v[j];
    }
  }
  __device__ T operator[](int k) const {
    return v[k];
  }

  T v[R];
};
template <class T>
struct Broadcast<T, 0> {
  __device__ explicit Broadcast(const T* at_) : at(at_) {}
  __device__ T operator[](int k) const { return at[k]; }

  const T* at;
};

/// sum_k row_k column_k; in two chains where the compiler knows how many there are.
template <int R, class T, class Row, class Col>
__device__ T dot(int size, const Row& row, const Col& column) {
  if constexpr (R == 0) {
    T sum = 0;
    for (int k = 0; k < size; ++k) sum = gpu::multiply_add(row[k], column[k], sum);
    return sum;
  } else {
    T even = 0, odd = 0;
#pragma unroll
    for (int k = 0; k < R; k += 2) {
      even = gpu::multiply_add(row[k], column[k], even);
      odd = gpu::multiply_add(row[k + 1], column[k + 1], odd);
    }
    return even + odd;
  }
}

/// Elements of shared memory for a group, rounded so that the groups of a warp, which read at the same
/// offsets at the same time, meet different banks.
template <class T>
__host__ __device__ constexpr index_t group_stride(index_t elements) {
  constexpr index_t line = 128 / sizeof(T), shift = 16 / sizeof(T);
  return (elements + line - 1) / line * line + shift;
}

}  // namespace structmat::quasiseparable::device
