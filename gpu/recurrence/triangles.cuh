/// \file
/// One or two linear recurrences in opposite directions plus a diagonal, as kernels see them: what
/// products with semiseparable and quasiseparable matrices run on (src/recurrence/sweep.hpp has the
/// recurrence itself). A triangle is given in the order of its sweep: t = 0 ... n-1 is the row, or
/// counts rows from the last one.
///
/// All kernels cut the sweep into chunks and work in three phases:
///   1. per chunk, what it does to the state in front of it (the product of its transitions) and the
///      state that it reaches from zero;
///   2. the state in front of every chunk;
///   3. the recurrence itself, from the true state in front of the chunk.
/// Chunks and all orders of summation depend on the shape only: results repeat bit by bit.
#pragma once

#include "core/strided.cuh"
#include "structmat/core/op.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat::gpu::recurrence {

/// Generators of one triangle. transition 0 and, where the diagonal is not included, out 0 are never
/// read.
template <class T>
struct Triangle {
  Strided<const T, 3> out, in;     // batch, t, state
  Strided<const T, 4> transition;  // batch, t, row, column; strides 0 where it has less
  index_t states = 0;              // 0: absent
  bool upward = false;             // t counts rows from the last one
  bool inclusive = false;  // y_t is taken behind the update of the state, not in front of it
};

template <class T>
struct Triangles {
  Triangle<T> part[2];
  Strided<const T, 2> diagonal;  // batch, row; data null: absent
  Strided<const T, 3> x;         // batch, row, column
  Strided<T, 3> y;
  index_t n = 0, batch = 0, columns = 0;
  // M^H x = conj(M^T conj(x)): operands are conjugated on their way where generators should be.
  bool conjugate = false;

  __host__ __device__ index_t states() const { return part[0].states + part[1].states; }

  __device__ index_t row(int side, index_t t) const { return part[side].upward ? n - 1 - t : t; }
  __device__ T input(index_t b, index_t i, index_t c) const {
    return conjugate_if(conjugate, x(b, i, c));
  }
  /// What a sweep adds to: the diagonal's part for the first one, else what y holds.
  __device__ T base(bool first, index_t b, index_t i, index_t c) const {
    if (!first) return conjugate_if(conjugate, y(b, i, c));
    return diagonal.data == nullptr ? T(0) : diagonal(b, i) * input(b, i, c);
  }
  __device__ void output(index_t b, index_t i, index_t c, T value) const {
    y(b, i, c) = conjugate_if(conjugate, value);
  }
};

/// Rows cut into ranges, all of `length` rows but the last. The chunks of a triangle are these ranges
/// in the order of its sweep, so that both triangles have chunks of the same rows.
struct Chunks {
  index_t rows, length;

  __host__ __device__ index_t count() const { return (rows + length - 1) / length; }
  /// The chunk of a range, and the range of a chunk.
  __device__ index_t turned(bool upward, index_t index) const {
    return upward ? count() - 1 - index : index;
  }
  /// First t of a chunk, and the one behind its last.
  __device__ index_t begin(bool upward, index_t chunk) const {
    return upward ? rows - range_end(count() - 1 - chunk) : chunk * length;
  }
  __device__ index_t end(bool upward, index_t chunk) const {
    return upward ? rows - (count() - 1 - chunk) * length : range_end(chunk);
  }

 private:
  __device__ index_t range_end(index_t range) const {
    return rows - range * length < length ? rows : (range + 1) * length;
  }
};

__host__ __device__ constexpr index_t pieces(index_t total, index_t piece) {
  return (total + piece - 1) / piece;
}

/// Transitions of any kind as an array (batch, t, row, column).
template <class T, int Rank>
Strided<device_scalar_t<T>, 4> widened(const View<T, Rank, space::cuda>& a) {
  const auto s = strided(a);
  Strided<device_scalar_t<T>, 4> w{s.data, {}};
  for (int d = 0; d < Rank; ++d) w.stride[d] = s.stride[d];
  return w;
}

}  // namespace structmat::gpu::recurrence
