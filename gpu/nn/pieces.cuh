/// \file
/// Neighbouring numbers of a row, in one access to memory where that is possible.
#pragma once

#include "core/strided.cuh"
#include "core/tensor.cuh"

namespace structmat::gpu::nn {

/// N numbers as they are stored, N sizeof(T) = 4, 8 or 16 bytes.
template <class T, int N>
struct alignas(N * sizeof(T)) Piece {
  static constexpr int words = N * static_cast<int>(sizeof(T)) / 4;
  unsigned word[words];
};

/// Where a piece lies: `count` of its numbers exist, `stride` apart.
template <class T>
struct PieceAt {
  T* first;
  index_t stride = 1;
  index_t count = 0;
};

template <class T, int N>
__device__ void unpack(const Piece<T, N>& piece, float (&value)[N]) {
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int i = 0; i < N; ++i) value[i] = __uint_as_float(piece.word[i]);
  } else {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      const float2 pair = floats_of_bf16(piece.word[i / 2]);
      value[i] = pair.x, value[i + 1] = pair.y;
    }
  }
}

/// Rounded once.
template <class T, int N>
__device__ Piece<T, N> pack(const float (&value)[N]) {
  Piece<T, N> piece;
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int i = 0; i < N; ++i) piece.word[i] = __float_as_uint(value[i]);
  } else {
#pragma unroll
    for (int i = 0; i < N; i += 2) piece.word[i / 2] = bf16_pair(value[i], value[i + 1]);
  }
  return piece;
}

/// Vector: all of the piece exists, its numbers lie together, and its address is a multiple of its size. Else
/// numbers that do not exist are 0.
template <bool Vector, class T, int N>
__device__ void load(const PieceAt<const T>& from, Piece<T, N>& piece) {
  if constexpr (Vector) {
    piece = *reinterpret_cast<const Piece<T, N>*>(from.first);
  } else {
    float value[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      value[i] = i < from.count ? static_cast<float>(from.first[i * from.stride]) : 0.0f;
    }
    piece = pack<T>(value);
  }
}

template <bool Vector, class T, int N>
__device__ void store(const PieceAt<T>& to, const Piece<T, N>& piece) {
  if constexpr (Vector) {
    *reinterpret_cast<Piece<T, N>*>(to.first) = piece;
  } else {
    float value[N];
    unpack(piece, value);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (i < to.count) to.first[i * to.stride] = static_cast<T>(value[i]);
    }
  }
}

/// to := value, or to += value, rounded once.
template <bool Vector, class T, int N>
__device__ void put(const PieceAt<T>& to, float (&value)[N], bool accumulate) {
  if (accumulate) {
    Piece<T, N> old;
    load<Vector>(PieceAt<const T>{to.first, to.stride, to.count}, old);
    float before[N];
    unpack(old, before);
#pragma unroll
    for (int i = 0; i < N; ++i) value[i] += before[i];
  }
  store<Vector>(to, pack<T>(value));
}

}  // namespace structmat::gpu::nn
