/// \file
/// Dense transitions of any order, phase 3 of reverse mode: a block of threads carries the states of eight
/// right-hand sides through a chunk, keeping some of them in device memory, and their cotangents back.
#pragma once

#include "recurrence/apply_vjp.cuh"
#include "recurrence/dense_steps.cuh"
#include "recurrence/dense_targets.cuh"

namespace structmat::gpu::recurrence {

template <class T>
struct StepsReverse {
  StepsProblem<T, DenseSteps<T>> forward, adjoint;
  Cotangents<T> bar;
  index_t between;  ///< rows from one kept state to the next
  T* kept;          ///< (unit, chunk, place, state, right-hand side)

  __host__ __device__ index_t slots() const { return forward.order * steps_columns; }
  /// States in front of every so many rows, then behind each of so many rows.
  __host__ __device__ index_t checkpoints() const { return pieces(forward.chunks.length, between); }
  __host__ __device__ index_t places() const { return checkpoints() + between; }
};

/// A chunk of one triangle of one batch entry and eight right-hand sides.
template <class T>
class StepsPullBack {
 public:
  __device__ StepsPullBack(const StepsReverse<T>& r, int side, index_t b, index_t range,
                           index_t first_column, T* kept)
      : r_(r),
        m_(r.forward.steps.m),
        triangle_(m_.part[side]),
        side_(side),
        b_(b),
        first_column_(first_column),
        count_(static_cast<int>(min(index_t{steps_columns}, m_.columns - first_column))),
        checkpoint_(kept),
        record_(kept + r.checkpoints() * r.slots()),
        mu_(dynamic_shared<T>()),
        next_(mu_ + r.slots()) {
    const index_t chunk = r.forward.chunks.turned(triangle_.upward, range);
    begin_ = r.forward.chunks.begin(triangle_.upward, chunk);
    end_ = r.forward.chunks.end(triangle_.upward, chunk);
    load(r.forward, chunk, checkpoint_);
    load(r.adjoint, r.adjoint.chunks.turned(r.adjoint.steps.m.part[side].upward, range), mu_);
    __syncthreads();
  }

  __device__ void run() {
    const index_t between = r_.between, slots = r_.slots();
    index_t last = 0;
    for (; begin_ + (last + 1) * between < end_; ++last) {
      const T* from = checkpoint_ + last * slots;
      for (index_t u = 0; u < between; ++u) {
        T* const to = u + 1 < between ? record_ + u % 2 * slots : checkpoint_ + (last + 1) * slots;
        forward(begin_ + last * between + u, from, to);
        from = to;
      }
    }
    for (index_t i = last; i >= 0; --i) {
      const index_t t = begin_ + i * between, rows = min(between, end_ - t);
      const auto behind = [&](index_t u) {
        return u < 0 ? checkpoint_ + i * slots : record_ + u * slots;
      };
      for (index_t u = 0; u < rows; ++u) forward(t + u, behind(u - 1), behind(u));
      for (index_t u = rows - 1; u >= 0; --u) pull_back(t + u, behind(u - 1), behind(u));
    }
  }

 private:
  __device__ void load(const StepsProblem<T, DenseSteps<T>>& problem, index_t chunk, T* to) const {
    for (index_t e = threadIdx.x; e < r_.slots(); e += steps_threads) {
      const index_t l = e / steps_columns, c = e % steps_columns;
      const bool known = chunk > 0 && c < count_ && l < triangle_.states;
      to[e] = known ? problem.state_of(problem.at(b_, side_, chunk), first_column_ + c)[l] : T(0);
    }
  }

  __device__ void advance(const Triangles<T>& m, const Step<T>& step, const T* from, T* to) const {
    for (index_t e = threadIdx.x; e < r_.slots(); e += steps_threads) {
      const index_t l = e / steps_columns;
      const int c = static_cast<int>(e % steps_columns);
      to[e] =
          l < step.leaving ? leaving_state(m, step, from, l, c, b_, first_column_ + c, true) : T(0);
    }
    __syncthreads();
  }
  __device__ void forward(index_t t, const T* from, T* to) const {
    advance(m_, r_.forward.steps.step(side_, b_, t), from, to);
  }

  /// Row t; front, behind: the states there.
  __device__ void pull_back(index_t t, const T* front, const T* behind) {
    const Triangles<T>& adjoint = r_.adjoint.steps.m;
    const TriangleCotangent<T>& bar = r_.bar.part[side_];
    const RowUse use(m_.n, t, triangle_.inclusive, true);
    const index_t row = m_.row(side_, t), states = triangle_.states;
    const Step<T> step = r_.adjoint.steps.step(side_, b_, m_.n - 1 - t);
    advance(adjoint, step, mu_, next_);
    const T* const mu = triangle_.inclusive ? next_ : mu_;
    const T* const emitted = triangle_.inclusive ? behind : front;
    if (use.transits && bar.transition.data != nullptr) {
      for (index_t e = threadIdx.x; e < states * states; e += steps_threads) {
        const index_t l = e / states, k = e - l * states;
        T sum = T(0);
        for (int c = 0; c < count_; ++c) {
          sum = multiply_add(mu[slot(l, c)], front[slot(k, c)], sum);
        }
        bar.transition(b_, t, l, k) += conjugate(sum);
      }
    }
    for (index_t l = threadIdx.x; l < states; l += steps_threads) {
      T in = T(0), out = T(0);
      for (int c = 0; c < count_; ++c) {
        in = multiply_add(mu[slot(l, c)], m_.input(b_, row, first_column_ + c), in);
        out = multiply_add(emitted[slot(l, c)], adjoint.input(b_, row, first_column_ + c), out);
      }
      if (use.fed && bar.in.data != nullptr) bar.in(b_, t, l) += conjugate(in);
      if (use.emits && bar.out.data != nullptr) bar.out(b_, t, l) += conjugate(out);
    }
    const int c = static_cast<int>(threadIdx.x);
    if (use.fed && c < count_ && r_.bar.x.data != nullptr) {
      T sum = T(0);
      for (index_t l = 0; l < states; ++l) {
        sum = multiply_add(step.out(0, l), mu[slot(l, c)], sum);
      }
      r_.bar.x(b_, row, first_column_ + c) += conjugate_if(adjoint.conjugate, sum);
    }
    __syncthreads();
    T* const before = mu_;
    mu_ = next_;
    next_ = before;
  }

  const StepsReverse<T>& r_;
  const Triangles<T>& m_;
  const Triangle<T>& triangle_;
  int side_;
  index_t b_, first_column_, begin_, end_;
  int count_;
  T *checkpoint_, *record_;
  T *mu_, *next_;
};

/// A block has the rows of a chunk: both triangles, all right-hand sides, and all entries of the batch
/// that add to the same numbers, one after the other.
template <class T>
__global__ void __launch_bounds__(steps_threads)
    pull_back_steps(const __grid_constant__ StepsReverse<T> r) {
  const Triangles<T>& m = r.forward.steps.m;
  const index_t chunks = r.forward.chunks.count(), work = m.batch / r.bar.together * chunks;
  for (index_t at = blockIdx.x; at < work; at += gridDim.x) {
    const index_t unit = at / chunks, range = at - unit * chunks;
    T* const kept = r.kept + at * r.places() * r.slots();
    for (index_t b = unit * r.bar.together; b < (unit + 1) * r.bar.together; ++b) {
      for (int side = 0; side < 2; ++side) {
        if (m.part[side].states == 0) continue;
        for (index_t column = 0; column < m.columns; column += steps_columns) {
          StepsPullBack<T>(r, side, b, range, column, kept).run();
        }
      }
    }
  }
}

}  // namespace structmat::gpu::recurrence
