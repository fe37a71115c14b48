/// \file
/// Block generators as steps: a step is a block row.
#pragma once

#include "recurrence/steps_kernel.cuh"
#include "structmat/recurrence/block_on_device.hpp"

namespace structmat::gpu::recurrence {

/// The generators of one step. T is const where they are read only.
template <class T>
struct BlockParts {
  index_t entering, leaving;
  Strided<T, 2> out, in, transition;
};

/// A BlockTriangleOnDevice. `transposed` sweeps upwards: P and Q change roles.
template <class T>
struct BlockSide {
  T *p, *q, *a;
  index_t p_batch, q_batch, a_batch;
  const index_t* table;
  bool transposed;

  __device__ BlockParts<T> parts(index_t b, index_t block) const {
    const index_t* const at = table + 5 * block;
    const index_t front = at[0], behind = at[5];
    const Strided<T, 2> of_p{p + b * p_batch + at[1], {front, 1}},
        of_q{q + b * q_batch + at[2], {behind, 1}};
    T* const transition = a + b * a_batch + at[3];
    if (transposed) return {behind, front, of_q, of_p, {transition, {1, front}}};
    return {front, behind, of_p, of_q, {transition, {front, 1}}};
  }
  /// How many states are in front of the blocks before this one, in the order of rows.
  __device__ index_t states_before(index_t block) const { return table[5 * block + 4]; }
};

/// The blocks on the diagonal.
template <class T>
struct BlocksOnDiagonal {
  T* all;
  index_t batch_stride;
  const index_t* table;
  bool lower_triangular;  ///< what stands above their diagonal counts as zero

  __device__ index_t first_row(index_t block) const { return table[2 * block]; }
  __device__ index_t rows(index_t block) const { return table[2 * block + 2] - table[2 * block]; }
  /// Row-major, rows(block) x rows(block).
  __device__ T* block(index_t b, index_t at) const {
    return all + b * batch_stride + table[2 * at + 1];
  }
};

/// What m of other kinds of steps is: operands, orders and directions; generators are here.
template <class T>
struct BlockSteps {
  static constexpr bool diagonal_transitions = false;

  Triangles<T> m;
  BlockSide<const T> side[2];
  BlocksOnDiagonal<const T> diagonal;
  bool transposed;
  bool accumulate = false;  ///< y is added to
  index_t blocks;

  __device__ index_t block(int which, index_t t) const {
    return side[which].transposed ? blocks - 1 - t : t;
  }

  __device__ Step<T> step(int which, index_t b, index_t t) const {
    const index_t i = block(which, t);
    const BlockParts<const T> parts = side[which].parts(b, i);
    return {i,         parts.entering, parts.leaving,   diagonal.first_row(i), diagonal.rows(i),
            parts.out, parts.in,       parts.transition};
  }

  /// The step that has a row.
  __device__ index_t step_of(int which, index_t row) const {
    index_t low = 0, high = blocks;  // the block is in [low, high)
    while (high - low > 1) {
      const index_t middle = low + (high - low) / 2;
      (row < diagonal.first_row(middle) ? high : low) = middle;
    }
    return block(which, low);
  }

  __device__ T base(bool first, index_t b, const Step<T>& step, index_t r, index_t column) const {
    const T sum = !first || accumulate ? m.base(false, b, step.first_row + r, column) : T(0);
    if (!first) return sum;
    return diagonal_product(diagonal.block(b, step.index), step.rows, r, sum,
                            [&](index_t c) { return m.input(b, step.first_row + c, column); });
  }

  /// sum + row r of a block on the diagonal, or of its transpose, times input(0 ... rows - 1).
  template <class Input>
  __device__ T diagonal_product(const T* block, index_t rows, index_t r, T sum,
                                const Input& input) const {
    // Entries that count as zero let no NaN pass.
    const index_t begin = diagonal.lower_triangular && transposed ? r : 0;
    const index_t end = diagonal.lower_triangular && !transposed ? r + 1 : rows;
    for (index_t c = begin; c < end; ++c) {
      sum = multiply_add(transposed ? block[c * rows + r] : block[r * rows + c], input(c), sum);
    }
    return sum;
  }
};

/// The part of a triangle of T (const: read only) below the diagonal, or its transpose above it.
template <class T, class Triangle>
BlockSide<device_scalar_t<T>> block_side(Triangle& triangle, bool transposed) {
  const auto stride = [](const auto& all) { return all.extent(0) == 1 ? 0 : all.extent(1); };
  return {device_pointer(triangle.p.data()),
          device_pointer(triangle.q.data()),
          device_pointer(triangle.a.data()),
          stride(triangle.p),
          stride(triangle.q),
          stride(triangle.a),
          triangle.table.data(),
          transposed};
}

template <class T, class Diagonal>
BlocksOnDiagonal<device_scalar_t<T>> blocks_on_diagonal(Diagonal& diagonal, bool lower_triangular) {
  return {device_pointer(diagonal.all.data()), diagonal.batch() == 1 ? 0 : diagonal.all.extent(1),
          diagonal.table.data(), lower_triangular};
}

/// A matrix of block generators as the families hold it: BlockMatrix of src/recurrence/block_apply.hpp.
template <Scalar T>
struct BlockMatrixOnDevice {
  const Partition& partition;
  const BlockTriangleOnDevice<T>& lower;
  const BlockTriangleOnDevice<T>* upper_transposed;  ///< null: absent
  const BlockDiagonalOnDevice<T>& diagonal;
  bool lower_triangular;
};

/// op(M) on operands that are set later. What is below the blocks on the diagonal sweeps downward; of
/// the transpose that is the transposed upper part.
template <Scalar T>
BlockSteps<device_scalar_t<T>> block_steps(const BlockMatrixOnDevice<T>& m, Op op) {
  using D = device_scalar_t<T>;
  const bool plain = op == Op::none;
  const BlockTriangleOnDevice<T>*below = &m.lower, *above = m.upper_transposed;
  if (!plain) std::swap(below, above);
  // A triangle that is absent has no states; the other one's table stands in, of which a sweep without
  // states reads the rows' sizes.
  const auto side = [&](const BlockTriangleOnDevice<T>* triangle, bool transposed) {
    return block_side<const T>(triangle != nullptr ? *triangle : m.lower, transposed);
  };
  BlockSteps<D> steps{{},
                      {side(below, false), side(above, true)},
                      blocks_on_diagonal<const T>(m.diagonal, m.lower_triangular),
                      !plain,
                      false,
                      m.partition.blocks()};
  steps.m.part[0].states = below == nullptr ? 0 : below->order;
  steps.m.part[1].states = above == nullptr ? 0 : above->order;
  steps.m.part[1].upward = true;
  steps.m.n = m.partition.rows();
  steps.m.conjugate = is_complex_v<T> && op == Op::adjoint;
  return steps;
}

}  // namespace structmat::gpu::recurrence
