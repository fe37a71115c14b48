/// \file
/// The phases of steps_kernel.cuh for block generators that are small: what a step needs is copied to
/// shared memory some steps ahead, so that a step costs no access to device memory that it waits for.
#pragma once

#include "core/async_copy.cuh"
#include "recurrence/block_steps.cuh"

namespace structmat::gpu::recurrence {

constexpr int stages = 4;

/// Where the operands of one step stand in a stage, in elements.
struct StageLayout {
  index_t out, in, transition, x, y, diagonal, size;

  /// For blocks of up to so many rows and states.
  StageLayout(index_t rows, index_t order) {
    out = 0;
    in = out + rows * order;
    transition = in + rows * order;
    x = transition + order * order;
    y = x + rows * steps_columns;
    diagonal = y + rows * steps_columns;
    size = diagonal + rows * rows;
  }
};

/// States of one side's sweep in front of all its steps, kept for reverse mode. `all` null: not kept.
template <class T>
struct StateStore {
  T* all[2];         // (batch, step in the order of rows, right-hand side, state)
  index_t total[2];  // states of a right-hand side

  __device__ T* in_front(const BlockSide<const T>& side, int which, index_t b, index_t block,
                         index_t columns) const {
    return all[which] +
           (b * total[which] + side.states_before(block + (side.transposed ? 1 : 0))) * columns;
  }
};

template <class T>
struct BlocksProblem {
  StepsProblem<T, BlockSteps<T>> general;
  StageLayout layout;
  StateStore<T> store;
  bool product;  // y is written

  index_t states_bytes() const {
    return 2 * general.order * steps_columns * static_cast<index_t>(sizeof(T));
  }
  index_t shared_bytes() const {
    return states_bytes() + stages * layout.size * static_cast<index_t>(sizeof(T));
  }
  index_t combine_bytes() const {
    const index_t order = general.order;
    return states_bytes() +
           stages * (order * (order + steps_columns) * static_cast<index_t>(sizeof(T)) +
                     order * static_cast<index_t>(sizeof(int)));
  }
};

/// The steps of a part of a sweep, one after the other.
template <class T>
class StagedBlocks {
 public:
  /// What is copied besides the transition.
  struct Wanted {
    bool out, in, y, diagonal;
  };
  struct Extents {
    index_t index, entering, leaving, first_row, rows;
  };

  /// memory: `stages` stages; extents: as many, in shared memory, too.
  __device__ StagedBlocks(const BlocksProblem<T>& p, T* memory, Extents* extents, int side,
                          index_t b, index_t first_column, index_t begin, index_t end,
                          Wanted wanted)
      : p_(p),
        memory_(memory),
        extents_(extents),
        side_(side),
        b_(b),
        first_column_(first_column),
        t_(begin),
        end_(end),
        wanted_(wanted),
        ahead_(p.general.steps.step(side, b, begin)) {
    for (index_t t = begin; t < begin + stages - 1; ++t) fill(t);
  }

  /// The next step, all of whose operands are in shared memory. All threads; a barrier for what they
  /// wrote before.
  __device__ Step<T> next() {
    await_copies<stages - 2>();
    __syncthreads();
    fill(t_ + stages - 1);
    const index_t place = t_++ % stages;
    const Extents e = extents_[place];
    current_ = memory_ + place * p_.layout.size;
    const bool transposed = p_.general.steps.side[side_].transposed;
    return {e.index,
            e.entering,
            e.leaving,
            e.first_row,
            e.rows,
            {current_ + p_.layout.out, {e.entering, 1}},
            {current_ + p_.layout.in, {e.leaving, 1}},
            {current_ + p_.layout.transition,
             {transposed ? 1 : e.entering, transposed ? e.leaving : 1}}};
  }

  /// Of the current step; conjugated where the product needs that.
  __device__ T input(index_t r, int c) const { return value(p_.layout.x, r, c); }
  __device__ T output(index_t r, int c) const { return value(p_.layout.y, r, c); }
  __device__ const T* diagonal() const { return current_ + p_.layout.diagonal; }

 private:
  __device__ T value(index_t at, index_t r, int c) const {
    return conjugate_if(p_.general.steps.m.conjugate, current_[at + slot(r, c)]);
  }

  /// Step t, whose pointers were found one call before.
  __device__ void fill(index_t t) {
    if (t < end_) {
      const index_t place = t % stages;
      T* const to = memory_ + place * p_.layout.size;
      const BlockSteps<T>& steps = p_.general.steps;
      const Triangles<T>& m = steps.m;
      if (threadIdx.x == 0) {
        extents_[place] = {ahead_.index, ahead_.entering, ahead_.leaving, ahead_.first_row,
                           ahead_.rows};
      }
      copy(to + p_.layout.transition, ahead_.transition.data, ahead_.entering * ahead_.leaving);
      if (wanted_.out) copy(to + p_.layout.out, ahead_.out.data, ahead_.rows * ahead_.entering);
      if (wanted_.in) copy(to + p_.layout.in, ahead_.in.data, ahead_.rows * ahead_.leaving);
      if (wanted_.in || wanted_.diagonal) copy(to + p_.layout.x, m.x);
      if (wanted_.y) copy(to + p_.layout.y, m.y);
      if (wanted_.diagonal) {
        copy(to + p_.layout.diagonal, steps.diagonal.block(b_, ahead_.index),
             ahead_.rows * ahead_.rows);
      }
      if (t + 1 < end_) ahead_ = steps.step(side_, b_, t + 1);
    }
    commit_copies();
  }
  __device__ static void copy(T* to, const T* from, index_t size) {
    for (index_t e = threadIdx.x; e < size; e += steps_threads) copy_async(to + e, from + e);
  }
  template <class U>
  __device__ void copy(T* to, const Strided<U, 3>& v) const {
    for (index_t e = threadIdx.x; e < ahead_.rows * steps_columns; e += steps_threads) {
      const index_t column = first_column_ + e % steps_columns;
      if (column >= p_.general.steps.m.columns) continue;
      copy_async<T>(to + e, &v(b_, ahead_.first_row + e / steps_columns, column));
    }
  }

  const BlocksProblem<T>& p_;
  T* memory_;
  Extents* extents_;
  int side_;
  index_t b_, first_column_, t_, end_;
  Wanted wanted_;
  Step<T> ahead_;
  const T* current_ = nullptr;
};

/// Phase 1, as summarise_steps.
template <class T>
__global__ void __launch_bounds__(steps_threads)
    summarise_blocks(const __grid_constant__ BlocksProblem<T> p) {
  using Staged = StagedBlocks<T>;
  const StepsProblem<T, BlockSteps<T>>& problem = p.general;
  const Triangles<T>& m = problem.steps.m;
  __shared__ int exponent[steps_columns];
  __shared__ typename Staged::Extents extents[stages];
  const index_t slots = problem.order * steps_columns;
  T* const memory = dynamic_shared<T>();
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
    T *state = memory, *next = memory + slots;
    index_t size = problem.order;
    if (threadIdx.x < steps_columns) exponent[threadIdx.x] = 0;
    for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
      state[e] = T(of_product && e / steps_columns == first + e % steps_columns ? 1 : 0);
    }
    Staged staged(p, memory + 2 * slots, extents, side, b, first, begin, end,
                  {false, !of_product, false, false});
    for (index_t t = begin; t < end; ++t) {
      if (of_product && t > begin && (t - begin) % unscaled == 0) {
        __syncthreads();
        if (threadIdx.x < steps_columns) normalise_column(state, size, exponent[threadIdx.x]);
      }
      const Step<T> step = staged.next();
      for (index_t e = threadIdx.x; e < step.leaving * steps_columns; e += steps_threads) {
        const index_t l = e / steps_columns;
        const int c = static_cast<int>(e % steps_columns);
        T sum = T(0);
        for (index_t k = 0; k < step.entering; ++k) {
          sum = multiply_add(step.transition(l, k), state[slot(k, c)], sum);
        }
        if (!of_product && first + c < m.columns) {
          for (index_t r = 0; r < step.rows; ++r) {
            sum = multiply_add(step.in(r, l), staged.input(r, c), sum);
          }
        }
        next[e] = sum;
      }
      size = step.leaving;
      T* const behind = next;
      next = state;
      state = behind;
    }
    __syncthreads();
    const index_t at = problem.at(b, side, chunk);
    for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
      const index_t c = e / problem.order, l = e - c * problem.order, column = first + c;
      const T value = l < size ? state[slot(l, static_cast<int>(c))] : T(0);
      if (of_product && column < problem.order) problem.product_of(at, column)[l] = value;
      if (!of_product && column < m.columns) problem.state_of(at, column)[l] = value;
    }
    if (of_product && threadIdx.x < steps_columns && first + threadIdx.x < problem.order) {
      problem.exponent[at * problem.order + first + threadIdx.x] = exponent[threadIdx.x];
    }
    __syncthreads();
  }
}

/// Phase 2, as combine_steps.
template <class T>
__global__ void __launch_bounds__(steps_threads)
    combine_blocks(const __grid_constant__ BlocksProblem<T> p) {
  const StepsProblem<T, BlockSteps<T>>& problem = p.general;
  const Triangles<T>& m = problem.steps.m;
  const index_t order = problem.order, slots = order * steps_columns;
  T *state = dynamic_shared<T>(), *next = state + slots;
  T* const memory = next + slots;
  int* const exponents = reinterpret_cast<int*>(memory + stages * (order * order + slots));
  const index_t tiles = problem.column_tiles(), count = problem.chunks.count();
  for (index_t unit = blockIdx.x; unit < m.batch * 2 * tiles; unit += gridDim.x) {
    const index_t first = unit % tiles * steps_columns, rest = unit / tiles;
    const int side = static_cast<int>(rest % 2);
    const index_t b = rest / 2;
    if (m.part[side].states == 0) continue;
    const auto stage = [&](index_t chunk) {
      return memory + chunk % stages * (order * order + slots);
    };
    // Of the last chunk neither product nor state are known.
    const auto fill = [&](index_t chunk) {
      if (chunk < count - 1) {
        const index_t at = problem.at(b, side, chunk);
        T* const to = stage(chunk);
        for (index_t e = threadIdx.x; e < order * order; e += steps_threads) {
          copy_async<T>(to + e, problem.product_of(at, 0) + e);
        }
        for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
          const index_t c = e / order, l = e - c * order;
          if (first + c >= m.columns) continue;
          copy_async<T>(to + order * order + slot(l, static_cast<int>(c)),
                        problem.state_of(at, first + c) + l);
        }
        for (index_t e = threadIdx.x; e < order; e += steps_threads) {
          copy_async<int>(exponents + chunk % stages * order + e,
                          problem.exponent + at * order + e);
        }
      }
      commit_copies();
    };
    for (index_t e = threadIdx.x; e < slots; e += steps_threads) state[e] = T(0);
    for (index_t chunk = 0; chunk < stages - 1; ++chunk) fill(chunk);
    for (index_t chunk = 0; chunk < count; ++chunk) {
      const index_t at = problem.at(b, side, chunk);
      await_copies<stages - 2>();
      __syncthreads();
      fill(chunk + stages - 1);
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t l = e / steps_columns, column = first + e % steps_columns;
        if (column < m.columns) problem.state_of(at, column)[l] = state[e];
        if (chunk < count - 1) {
          state[e] = scaled(state[e], exponents[chunk % stages * order + l]);
        }
      }
      if (chunk == count - 1) break;
      __syncthreads();
      const T *const product = stage(chunk), *const behind = product + order * order;
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t l = e / steps_columns;
        const int c = static_cast<int>(e % steps_columns);
        if (first + c >= m.columns) continue;
        T sum = behind[e];
        for (index_t k = 0; k < order; ++k) {
          sum = multiply_add(product[k * order + l], state[slot(k, c)], sum);
        }
        next[e] = sum;
      }
      T* const swapped = next;
      next = state;
      state = swapped;
    }
    __syncthreads();
  }
}

/// Phase 3, as apply_steps; and the states in front of the steps, where they are kept.
template <class T>
__global__ void __launch_bounds__(steps_threads)
    apply_blocks(const __grid_constant__ BlocksProblem<T> p) {
  using Staged = StagedBlocks<T>;
  const StepsProblem<T, BlockSteps<T>>& problem = p.general;
  const BlockSteps<T>& steps = problem.steps;
  const Triangles<T>& m = steps.m;
  __shared__ typename Staged::Extents extents[stages];
  const index_t slots = problem.order * steps_columns;
  T* const memory = dynamic_shared<T>();
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
      T *state = memory, *next = memory + slots;
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t column = first_column + e % steps_columns;
        const bool known = chunk > 0 && triangle.states > 0 && column < m.columns;
        state[e] =
            known ? problem.state_of(problem.at(b, side, chunk), column)[e / steps_columns] : T(0);
      }
      const index_t begin = problem.chunks.begin(triangle.upward, chunk);
      const index_t end = problem.chunks.end(triangle.upward, chunk);
      const bool adds = !first || steps.accumulate;
      Staged staged(p, memory + 2 * slots, extents, side, b, first_column, begin, end,
                    {p.product, true, p.product && adds, p.product && first});
      for (index_t t = begin; t < end; ++t) {
        const Step<T> step = staged.next();
        const index_t inner = step.leaving * steps_columns;
        const index_t outer = p.product ? step.rows * steps_columns : 0;
        for (index_t e = threadIdx.x; e < inner + outer; e += steps_threads) {
          const int c = static_cast<int>(e % steps_columns);
          if (first_column + c >= m.columns) continue;
          if (e < inner) {
            const index_t l = e / steps_columns;
            T sum = T(0);
            for (index_t k = 0; k < step.entering; ++k) {
              sum = multiply_add(step.transition(l, k), state[slot(k, c)], sum);
            }
            for (index_t r = 0; r < step.rows; ++r) {
              sum = multiply_add(step.in(r, l), staged.input(r, c), sum);
            }
            next[e] = sum;
          } else {
            const index_t r = (e - inner) / steps_columns;
            T sum = adds ? staged.output(r, c) : T(0);
            if (first) {
              sum = steps.diagonal_product(staged.diagonal(), step.rows, r, sum,
                                           [&](index_t at) { return staged.input(at, c); });
            }
            for (index_t k = 0; k < step.entering; ++k) {
              sum = multiply_add(step.out(r, k), state[slot(k, c)], sum);
            }
            m.output(b, step.first_row + r, first_column + c, sum);
          }
        }
        if (p.store.all[side] != nullptr) {
          T* const kept = p.store.in_front(steps.side[side], side, b, step.index, m.columns);
          for (index_t e = threadIdx.x; e < step.entering * steps_columns; e += steps_threads) {
            const index_t c = e / step.entering, l = e - c * step.entering;
            if (first_column + c >= m.columns) continue;
            kept[(first_column + c) * step.entering + l] = state[slot(l, static_cast<int>(c))];
          }
        }
        T* const behind = next;
        next = state;
        state = behind;
      }
      first = false;
      __syncthreads();
    }
  }
}

}  // namespace structmat::gpu::recurrence
