/// \file
/// Generators to entries. A block of threads owns a few columns and walks over the steps of a triangle;
/// what it carries are the states that unit vectors in these columns leave:
///   entries of a step's rows: out s;  s := a s;  a column of the step's own rows begins with s = in.
/// Steps is what knows the generators: step(side, b, t), step_of(side, row), whether transitions are
/// diagonal, and the operands `m`. A triangle without states is written as zeros.
#pragma once

#include "core/shared.cuh"
#include "recurrence/steps_kernel.cuh"

namespace structmat::gpu::recurrence {

constexpr unsigned to_dense_threads = 256;
constexpr int to_dense_warps = to_dense_threads / 32;

template <class T, class Steps>
struct ToDenseProblem {
  Steps steps;
  Strided<T, 3> dense;
  index_t count;    // of steps
  index_t order;    // the largest state
  index_t segment;  // steps whose rows a block writes
  int columns;      // that a block carries, a power of two up to 32

  __host__ __device__ index_t tiles() const { return pieces(steps.m.n, columns); }
  __host__ __device__ index_t segments() const { return pieces(count, segment); }
};

/// `Rows` rows of a step, from `row` on in steps of `stride`, of one column.
template <int Rows, class T, class Write>
__device__ void write_products(const Step<T>& step, index_t size, index_t row, index_t stride,
                               const T* state, int columns, const Write& write) {
  T sum[Rows];
#pragma unroll
  for (int q = 0; q < Rows; ++q) sum[q] = T(0);
  for (index_t l = 0; l < size; ++l) {
    const T s = state[l * columns];
#pragma unroll
    for (int q = 0; q < Rows; ++q) {
      sum[q] = multiply_add(step.out(row + q * stride, l), s, sum[q]);
    }
  }
#pragma unroll
  for (int q = 0; q < Rows; ++q) write(row + q * stride, sum[q]);
}

/// Entries outside the steps' own square blocks, of one triangle, a segment of steps and a few columns.
template <class T, class Steps>
__global__ void __launch_bounds__(to_dense_threads)
    write_triangles(const __grid_constant__ ToDenseProblem<T, Steps> p) {
  const Triangles<T>& m = p.steps.m;
  const int columns = p.columns;
  const index_t tiles = p.tiles(), segments = p.segments();
  const int c = static_cast<int>(threadIdx.x) % columns;
  const int group = static_cast<int>(threadIdx.x) / columns;
  const int groups = static_cast<int>(to_dense_threads) / columns;
  T* const memory = dynamic_shared<T>();
  for (index_t unit = blockIdx.x; unit < m.batch * 2 * segments * tiles; unit += gridDim.x) {
    const index_t segment = unit / tiles % segments, b = unit / tiles / segments / 2;
    const int side = static_cast<int>(unit / tiles / segments % 2);
    const bool upward = m.part[side].upward, absent = m.part[side].states == 0;
    const index_t begin = segment * p.segment, end = min(p.count, begin + p.segment);
    // Columns in the order of rows; the first step of the sweep that has one of them.
    const index_t first_column = unit % tiles * columns;
    const index_t last_column = min(m.n, first_column + columns) - 1;
    const index_t first = p.steps.step_of(side, upward ? last_column : first_column);
    if (first >= end) continue;
    const index_t column = first_column + c;
    T *state = memory, *next = memory + p.order * columns;
    for (index_t t = first; t < end; ++t) {
      const Step<T> step = p.steps.step(side, b, t);
      const index_t behind = step.first_row + step.rows;
      const index_t entering = absent ? 0 : step.entering, leaving = absent ? 0 : step.leaving;
      const bool own = column >= step.first_row && column < behind;
      const bool passed =
          column <= last_column && (upward ? column >= behind : column < step.first_row);
      if (t >= begin && passed) {
        const auto write = [&](index_t row, T value) {
          p.dense(b, step.first_row + row, column) = value;
        };
        constexpr int many = 4;
        index_t row = group;
        for (; row + (many - 1) * groups < step.rows; row += many * groups) {
          write_products<many>(step, entering, row, groups, state + c, columns, write);
        }
        for (; row < step.rows; row += groups) {
          write_products<1>(step, entering, row, groups, state + c, columns, write);
        }
      }
      if (t + 1 == end) break;
      for (index_t l = group; l < leaving; l += groups) {
        T sum = T(0);
        if (own && column <= last_column) {
          sum = step.in(column - step.first_row, l);
        } else if (passed) {
          if constexpr (Steps::diagonal_transitions) {
            sum = step.transition(l, l) * state[l * columns + c];
          } else {
            for (index_t k = 0; k < entering; ++k) {
              sum = multiply_add(step.transition(l, k), state[k * columns + c], sum);
            }
          }
        }
        next[l * columns + c] = sum;
      }
      __syncthreads();
      T* const carried = next;
      next = state;
      state = carried;
    }
    __syncthreads();
  }
}

/// Columns that fit into shared memory for two states of this order. Throws Unsupported for too few.
template <class T>
int require_columns(const char* operation, index_t order) {
  constexpr index_t shared_limit = 160 * 1024;
  constexpr int fewest = 4;
  int columns = 32;
  while (2 * order * columns * static_cast<index_t>(sizeof(T)) > shared_limit) {
    columns /= 2;
    if (columns < fewest) {
      throw Unsupported(std::string(operation) + ": states of order " + std::to_string(order) +
                        " do not fit into " + std::to_string(shared_limit) +
                        " bytes of shared memory");
    }
  }
  return columns;
}

/// Enqueues the entries outside the steps' own square blocks. Throws Unsupported (require_columns).
template <class T, class Steps>
void enqueue_triangles(const char* operation, const exec::cuda& e, const Steps& steps,
                       index_t count, const Strided<T, 3>& dense) {
  const Triangles<T>& m = steps.m;
  const index_t order = std::max(m.part[0].states, m.part[1].states);
  const int columns = require_columns<T>(operation, order);
  if (count < 2) return;
  const int processors = multiprocessors(operation);
  ToDenseProblem<T, Steps> p{steps, dense, count, order, count, columns};
  // A few blocks a processor; each carries its columns up to its segment first.
  const index_t wanted = pieces(8 * processors, m.batch * 2 * p.tiles());
  p.segment = std::max<index_t>(pieces(count, wanted), std::min<index_t>(count, 4));
  const auto shared_bytes = static_cast<std::size_t>(2 * order * columns) * sizeof(T);
  launch(operation, write_triangles<T, Steps>,
         Grid{persistent_blocks(m.batch * 2 * p.segments() * p.tiles(), 1, processors),
              to_dense_threads, shared_bytes},
         stream_of(e), p);
}

}  // namespace structmat::gpu::recurrence
