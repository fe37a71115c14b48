/// \file
/// Transitions that are matrices of any sizes: block generators, and dense transitions of an order that
/// tensor_core.cuh does not serve. A step is a block row:
///   y_i += out_i s;  s := a_i s + in_i^T x_i.
/// A block of threads carries eight columns of states, in shared memory. Steps is what knows the
/// generators: step(side, b, t), base(first, b, step, row, column), and the operands `m`.
#pragma once

#include "core/shared.cuh"
#include "recurrence/scaled_product.cuh"
#include "recurrence/triangles.cuh"

namespace structmat::gpu::recurrence {

template <class T>
struct Step {
  index_t index;  // what Steps knows it by
  index_t entering, leaving, first_row, rows;
  Strided<const T, 2> out, in, transition;  // (row, state), (row, state), (leaving, entering)
  bool fresh = false;                       // the first one: nothing enters, transition is not read
};

constexpr int steps_columns = 8;
constexpr unsigned steps_threads = 128;

template <class T, class Steps>
struct StepsProblem {
  Steps steps;
  Chunks chunks;  // of steps
  index_t order;  // the largest state
  T* product;     // batch, side, chunk, column, state
  int* exponent;  // batch, side, chunk, column: a power of two for each column of a product
  T* state;       // batch, side, chunk, right-hand side, state

  __host__ __device__ index_t product_tiles() const { return pieces(order, steps_columns); }
  __host__ __device__ index_t column_tiles() const {
    return pieces(steps.m.columns, steps_columns);
  }
  __device__ index_t at(index_t b, int side, index_t chunk) const {
    return (b * 2 + side) * chunks.count() + chunk;
  }
  __device__ T* product_of(index_t at, index_t column) const {
    return product + (at * order + column) * order;
  }
  __device__ T* state_of(index_t at, index_t column) const {
    return state + (at * steps.m.columns + column) * order;
  }
};

/// Element (state, column) of eight columns.
__device__ inline index_t slot(index_t state, int column) {
  return state * steps_columns + column;
}

/// The states behind a step. Columns first ... first + 7 are right-hand sides; without `with_input`
/// there are none.
template <class T>
__device__ T leaving_state(const Triangles<T>& m, const Step<T>& step, const T* state, index_t l,
                           int c, index_t b, index_t column, bool with_input) {
  T sum = T(0);
  if (!step.fresh) {
    for (index_t k = 0; k < step.entering; ++k) {
      sum = multiply_add(step.transition(l, k), state[slot(k, c)], sum);
    }
  }
  if (with_input && column < m.columns) {
    for (index_t r = 0; r < step.rows; ++r) {
      sum = multiply_add(step.in(r, l), m.input(b, step.first_row + r, column), sum);
    }
  }
  return sum;
}

/// Scales column threadIdx.x by a power of two, which its exponent takes up. A column of zeros gets the
/// exponent 0; one that is not finite stays.
template <class T>
__device__ void normalise_column(T* state, index_t size, int& exponent) {
  real_of_t<T> largest = 0;
  const int c = static_cast<int>(threadIdx.x);
  for (index_t l = 0; l < size; ++l) {
    const auto a = taxicab(state[slot(l, c)]);
    // Written so that NaN stays.
    if (!(a <= largest)) largest = a;
  }
  if (largest == 0) {
    exponent = 0;
  } else if (largest <= std::numeric_limits<real_of_t<T>>::max()) {
    int by = 0;
    frexp(largest, &by);
    for (index_t l = 0; l < size; ++l) state[slot(l, c)] = scaled(state[slot(l, c)], -by);
    exponent += by;
  }
}

/// Phase 1, a block a chunk of one triangle and eight columns: of the product, or right-hand sides.
template <class T, class Steps>
__global__ void __launch_bounds__(steps_threads)
    summarise_steps(const __grid_constant__ StepsProblem<T, Steps> problem) {
  const Triangles<T>& m = problem.steps.m;
  __shared__ int exponent[steps_columns];
  T *state = dynamic_shared<T>(), *next = state + problem.order * steps_columns;
  const index_t tiles = problem.product_tiles() + problem.column_tiles();
  const index_t count = problem.chunks.count(), work = m.batch * 2 * count * tiles;
  constexpr int unscaled = 4;
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t tile = unit % tiles, rest = unit / tiles;
    const index_t chunk = rest % count, b = rest / count / 2;
    const int side = static_cast<int>(rest / count % 2);
    // Nothing is behind the last chunk.
    if (m.part[side].states == 0 || chunk == count - 1) continue;
    const bool of_product = tile < problem.product_tiles();
    const index_t first = (of_product ? tile : tile - problem.product_tiles()) * steps_columns;
    const bool upward = m.part[side].upward;
    const index_t begin = problem.chunks.begin(upward, chunk);
    const index_t end = problem.chunks.end(upward, chunk);
    const index_t slots = problem.order * steps_columns;
    if (threadIdx.x < steps_columns) exponent[threadIdx.x] = 0;
    for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
      state[e] = T(of_product && e / steps_columns == first + e % steps_columns ? 1 : 0);
    }
    __syncthreads();
    for (index_t t = begin; t < end; ++t) {
      const Step<T> step = problem.steps.step(side, b, t);
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t l = e / steps_columns;
        const int c = static_cast<int>(e % steps_columns);
        next[e] = l < step.leaving ? leaving_state(m, step, state, l, c, b, first + c, !of_product)
                                   : T(0);
      }
      __syncthreads();
      T* const behind = next;
      next = state;
      state = behind;
      if (of_product && (t - begin) % unscaled == unscaled - 1) {
        if (threadIdx.x < steps_columns) {
          normalise_column(state, problem.order, exponent[threadIdx.x]);
        }
        __syncthreads();
      }
    }
    const index_t at = problem.at(b, side, chunk);
    for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
      const index_t c = e / problem.order, l = e - c * problem.order, column = first + c;
      const T value = state[slot(l, static_cast<int>(c))];
      if (of_product && column < problem.order) problem.product_of(at, column)[l] = value;
      if (!of_product && column < m.columns) problem.state_of(at, column)[l] = value;
    }
    if (of_product && threadIdx.x < steps_columns && first + threadIdx.x < problem.order) {
      problem.exponent[at * problem.order + first + threadIdx.x] = exponent[threadIdx.x];
    }
    __syncthreads();
  }
}

/// Phase 2, a block a triangle of one matrix and eight right-hand sides: the states in front of the
/// chunks take the place of those behind them.
template <class T, class Steps>
__global__ void __launch_bounds__(steps_threads)
    combine_steps(const __grid_constant__ StepsProblem<T, Steps> problem) {
  const Triangles<T>& m = problem.steps.m;
  const index_t order = problem.order, slots = order * steps_columns;
  T *state = dynamic_shared<T>(), *next = state + slots;
  const index_t tiles = problem.column_tiles(), count = problem.chunks.count();
  for (index_t unit = blockIdx.x; unit < m.batch * 2 * tiles; unit += gridDim.x) {
    const index_t first = unit % tiles * steps_columns, rest = unit / tiles;
    const int side = static_cast<int>(rest % 2);
    const index_t b = rest / 2;
    if (m.part[side].states == 0) continue;
    for (index_t e = threadIdx.x; e < slots; e += steps_threads) state[e] = T(0);
    for (index_t chunk = 0; chunk < count; ++chunk) {
      const index_t at = problem.at(b, side, chunk);
      __syncthreads();
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t l = e / steps_columns, column = first + e % steps_columns;
        T behind = T(0);
        if (column < m.columns) {
          T& in_memory = problem.state_of(at, column)[l];
          if (chunk < count - 1) behind = in_memory;
          in_memory = state[e];
        }
        next[e] = behind;
        // Of the last chunk there is no product.
        if (chunk < count - 1) state[e] = scaled(state[e], problem.exponent[at * order + l]);
      }
      __syncthreads();
      if (chunk == count - 1) break;
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t l = e / steps_columns;
        T sum = next[e];
        for (index_t k = 0; k < order; ++k) {
          sum = multiply_add(problem.product_of(at, k)[l],
                             state[slot(k, static_cast<int>(e % steps_columns))], sum);
        }
        next[e] = sum;
      }
      T* const behind = next;
      next = state;
      state = behind;
    }
    __syncthreads();
  }
}

/// Phase 3, a block the rows of a chunk of one matrix, both triangles one after the other, and eight
/// right-hand sides.
template <class T, class Steps>
__global__ void __launch_bounds__(steps_threads)
    apply_steps(const __grid_constant__ StepsProblem<T, Steps> problem) {
  const Triangles<T>& m = problem.steps.m;
  const index_t slots = problem.order * steps_columns;
  T *state = dynamic_shared<T>(), *next = state + slots;
  const index_t tiles = problem.column_tiles(), count = problem.chunks.count();
  for (index_t unit = blockIdx.x; unit < m.batch * count * tiles; unit += gridDim.x) {
    const index_t first_column = unit % tiles * steps_columns, rest = unit / tiles;
    const index_t range = rest % count, b = rest / count;
    bool first = true;
    for (int side = 0; side < 2; ++side) {
      const Triangle<T>& triangle = m.part[side];
      // The first pass writes the diagonal part even if there is no state.
      if (triangle.states == 0 && !(side == 1 && first)) continue;
      const index_t chunk = problem.chunks.turned(triangle.upward, range);
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t column = first_column + e % steps_columns;
        const bool known = chunk > 0 && triangle.states > 0 && column < m.columns;
        state[e] =
            known ? problem.state_of(problem.at(b, side, chunk), column)[e / steps_columns] : T(0);
      }
      __syncthreads();
      const index_t end = problem.chunks.end(triangle.upward, chunk);
      for (index_t t = problem.chunks.begin(triangle.upward, chunk); t < end; ++t) {
        const Step<T> step = problem.steps.step(side, b, t);
        for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
          const index_t l = e / steps_columns;
          const int c = static_cast<int>(e % steps_columns);
          next[e] = l < step.leaving
                        ? leaving_state(m, step, state, l, c, b, first_column + c, true)
                        : T(0);
        }
        if (triangle.inclusive) __syncthreads();
        const T* const emitted = triangle.inclusive ? next : state;
        const index_t size = triangle.inclusive ? step.leaving : step.fresh ? 0 : step.entering;
        for (index_t e = threadIdx.x; e < step.rows * steps_columns; e += steps_threads) {
          const index_t r = e / steps_columns, column = first_column + e % steps_columns;
          if (column >= m.columns) continue;
          T sum = problem.steps.base(first, b, step, r, column);
          for (index_t k = 0; k < size; ++k) {
            sum = multiply_add(step.out(r, k),
                               emitted[slot(k, static_cast<int>(e % steps_columns))], sum);
          }
          m.output(b, step.first_row + r, column, sum);
        }
        __syncthreads();
        T* const behind = next;
        next = state;
        state = behind;
      }
      first = false;
    }
    __syncthreads();
  }
}

}  // namespace structmat::gpu::recurrence
