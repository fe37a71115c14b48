/// \file
/// Reverse mode for block generators. With w the conjugate of y_bar, and both sweeps over plain
/// generators: the product's sweep has the states s, that of the transposed product on w the states
/// lambda, whose output is the conjugate of x_bar. For a block i of a triangle the cotangents are the
/// conjugates of
///   P_i: w_i s^T,  Q_i: x_i lambda^T,  A_i: lambda s^T,  D_i: w_i x_i^T,
/// with s in front of the block and lambda behind it; all of them are independent of each other once the
/// states at all boundaries are known. For the transpose, x and w change places, and so do s and lambda.
#pragma once

#include "recurrence/block_steps.cuh"

namespace structmat::gpu::recurrence {

/// States at all boundaries of the blocks of one triangle: of the sweep downward and of the one upward.
template <class T>
struct BoundaryStates {
  T *down, *up;   // batch, boundary, right-hand side, state
  index_t total;  // states at all boundaries
};

/// One operand, and whether what the cotangents take is its conjugate.
template <class T>
struct Factor {
  Strided<const T, 3> v;
  bool conjugated;

  __device__ T operator()(index_t b, index_t i, index_t c) const {
    return conjugate_if(conjugated, v(b, i, c));
  }
};

template <class T>
struct BlockCotangents {
  BlockSide<T> bar[2];          // lower, upper transposed, none of them as a transpose
  BoundaryStates<T> states[2];  // data null: no such triangle
  BlocksOnDiagonal<T> diagonal;
  Factor<T> p[2], q[2];  // what P and Q of a triangle are multiplied with
  index_t batch, blocks, columns;
  bool summed;  // over the batch
};

/// A block all cotangents of a block row of one triangle.
template <class T>
__global__ void __launch_bounds__(steps_threads)
    add_cotangents(const __grid_constant__ BlockCotangents<T> p) {
  const index_t outputs = p.summed ? 1 : p.batch;
  for (index_t unit = blockIdx.x; unit < outputs * 2 * p.blocks; unit += gridDim.x) {
    const index_t i = unit % p.blocks, b = unit / p.blocks / 2;
    const int which = static_cast<int>(unit / p.blocks % 2);
    const index_t last = p.summed ? p.batch : b + 1;
    const index_t first_row = p.diagonal.first_row(i), rows = p.diagonal.rows(i);
    // target(r, c) += sum of left(e, r, column) right(e, c, column) over right-hand sides, then entries.
    const auto add = [&](index_t height, index_t width, T* target, const auto& left,
                         const auto& right) {
      for (index_t at = threadIdx.x; at < height * width; at += steps_threads) {
        const index_t r = at / width, c = at - r * width;
        T sum = T(0);
        for (index_t e = b; e < last; ++e) {
          for (index_t column = 0; column < p.columns; ++column) {
            sum = multiply_add(left(e, r, column), right(e, c, column), sum);
          }
        }
        target[at] += sum;
      }
    };
    const auto of_rows = [&](const Factor<T>& factor) {
      return [&](index_t e, index_t r, index_t column) { return factor(e, first_row + r, column); };
    };
    if (which == 0) {
      const index_t height = rows;
      T* const target = p.diagonal.block(b, i);
      if (!p.diagonal.lower_triangular) {
        add(height, height, target, of_rows(p.p[0]), of_rows(p.q[0]));
      } else {
        for (index_t r = 0; r < height; ++r) {
          const auto row = [&](index_t e, index_t, index_t column) {
            return p.p[0](e, first_row + r, column);
          };
          add(1, r + 1, target + r * height, row, of_rows(p.q[0]));
        }
      }
    }
    const BoundaryStates<T>& states = p.states[which];
    if (states.down == nullptr) continue;
    const BlockSide<T>& bar = p.bar[which];
    const BlockParts<T> parts = bar.parts(b, i);
    const index_t front = bar.states_before(i), behind = bar.states_before(i + 1);
    const auto down = [&](index_t e, index_t l, index_t column) {
      return conjugate(
          states.down[(e * states.total + front) * p.columns + column * parts.entering + l]);
    };
    const auto up = [&](index_t e, index_t l, index_t column) {
      return conjugate(
          states.up[(e * states.total + behind) * p.columns + column * parts.leaving + l]);
    };
    add(rows, parts.entering, parts.out.data, of_rows(p.p[which]), down);
    add(rows, parts.leaving, parts.in.data, of_rows(p.q[which]), up);
    add(parts.leaving, parts.entering, parts.transition.data, up, down);
  }
}

/// x_bar += the batch's sums, in its order.
template <class T>
struct SumOverBatch {
  const T* sums;  // batch, row, column
  Strided<T, 3> x_bar;
  index_t batch, rows, columns;
};

template <class T>
__global__ void __launch_bounds__(steps_threads)
    add_over_batch(const __grid_constant__ SumOverBatch<T> p) {
  const index_t size = p.rows * p.columns;
  for (index_t at = static_cast<index_t>(blockIdx.x) * steps_threads + threadIdx.x; at < size;
       at += static_cast<index_t>(gridDim.x) * steps_threads) {
    T sum = T(0);
    for (index_t b = 0; b < p.batch; ++b) sum += p.sums[b * size + at];
    p.x_bar(0, at / p.columns, at % p.columns) += sum;
  }
}

}  // namespace structmat::gpu::recurrence
