/// \file
/// Vector updates and scalars of conjugate gradients, for many columns at a time: the scalars stay on
/// the device, and a column that is done is left alone. Sums are in double, in pieces of fixed length, in
/// their order.
#pragma once

#include "core/reduce.cuh"
#include "structmat/toeplitz/iterative.hpp"
#include "toeplitz/operand.cuh"

namespace structmat::toeplitz::device {

using Stop = IterativeReport::Stop;

/// How one column goes.
struct ColumnState {
  double size;      ///< ||b||
  double residual;  ///< of the best solution, relative
  double rho, alpha, ratio;
  index_t iterations;
  Stop stop, pending;  ///< `iterations` while it runs; pending: what ended the round
  bool active;         ///< the recursion goes on
  bool in_round, accepted;
};

inline constexpr int krylov_threads = 256;
inline constexpr index_t piece = 16 * krylov_threads;

__host__ __device__ inline index_t pieces_of(index_t n) {
  return (n + piece - 1) / piece;
}

template <class T>
struct KrylovVectors {
  T *r, *z, *p, *q, *candidate, *best;  ///< (columns, n)
  double* partial;                      ///< (columns, pieces)
  ColumnState* state;
  index_t n, columns;
};

enum class Update {
  load,       ///< r := b, best := 0; ||r||^2
  start,      ///< candidate := best, p := z; r^H z
  curvature,  ///< p^H q
  step,       ///< candidate += alpha p, r -= alpha q; ||r||^2
  rho,        ///< r^H z
  direction,  ///< p := z + ratio p
  residual,   ///< r := b - q; ||r||^2
  accept      ///< best := candidate where that is better
};

/// Re(conj(a) b)
template <class T>
__device__ double real_product(T a, T b) {
  if constexpr (gpu::is_complex<T>)
    return double(a.re) * double(b.re) + double(a.im) * double(b.im);
  else
    return double(a) * double(b);
}

template <class T>
struct UpdateProblem {
  KrylovVectors<T> v;
  Input<T> b;
  index_t k;
  Update what;
};

template <class T>
__global__ void __launch_bounds__(krylov_threads)
    update(const __grid_constant__ UpdateProblem<T> m) {
  using R = gpu::real_of_t<T>;
  __shared__ double scratch[32];
  const KrylovVectors<T>& v = m.v;
  const index_t pieces = pieces_of(v.n);
  for (index_t unit = blockIdx.x; unit < v.columns * pieces; unit += gridDim.x) {
    const index_t own = unit / pieces, begin = (unit - own * pieces) * piece;
    const index_t end = begin + piece < v.n ? begin + piece : v.n;
    const ColumnState& state = v.state[own];
    const Column column = column_of(own, m.k);
    double sum = 0;
    for (index_t i = begin + threadIdx.x; i < end; i += krylov_threads) {
      const index_t at = own * v.n + i;
      switch (m.what) {
        case Update::load:
          v.r[at] = m.b(column, i);
          v.best[at] = T(0);
          sum += real_product(v.r[at], v.r[at]);
          break;
        case Update::start:
          v.candidate[at] = v.best[at];
          v.p[at] = v.z[at];
          sum += real_product(v.r[at], v.z[at]);
          break;
        case Update::curvature:
          sum += real_product(v.p[at], v.q[at]);
          break;
        case Update::step:
          if (!state.active) break;
          v.candidate[at] += T(static_cast<R>(state.alpha)) * v.p[at];
          v.r[at] -= T(static_cast<R>(state.alpha)) * v.q[at];
          sum += real_product(v.r[at], v.r[at]);
          break;
        case Update::rho:
          sum += real_product(v.r[at], v.z[at]);
          break;
        case Update::direction:
          if (state.active) v.p[at] = v.z[at] + T(static_cast<R>(state.ratio)) * v.p[at];
          break;
        case Update::residual:
          v.r[at] = m.b(column, i) - v.q[at];
          sum += real_product(v.r[at], v.r[at]);
          break;
        case Update::accept:
          if (state.accepted) v.best[at] = v.candidate[at];
          break;
      }
    }
    if (m.what == Update::direction || m.what == Update::accept) continue;
    sum = gpu::block_sum(sum, scratch);
    if (threadIdx.x == 0) v.partial[unit] = sum;
    __syncthreads();
  }
}

/// What the sum that `update` has left says of each column.
struct DecideProblem {
  const double* partial;
  ColumnState* state;
  int* active;  ///< 1 for each column whose recursion goes on
  index_t columns, pieces, limit;
  double tolerance;
  Update after;
};

__device__ inline void decide(ColumnState& s, double sum, const DecideProblem& m) {
  switch (m.after) {
    case Update::load:
      s = {};
      s.size = sqrt(sum);
      s.stop = Stop::iterations;
      s.residual = 1;
      if (s.size == 0) {
        s.stop = Stop::converged;
        s.residual = 0;
      } else if (!isfinite(s.size)) {
        s.stop = Stop::not_finite;
        s.residual = s.size;
      }
      break;
    case Update::start:
      s.rho = sum;
      s.pending = Stop::iterations;
      s.active = s.in_round =
          s.stop == Stop::iterations && s.residual > m.tolerance && s.iterations < m.limit;
      break;
    case Update::curvature:
      if (!s.active) break;
      if (s.iterations >= m.limit) {
        s.active = false;
        break;
      }
      ++s.iterations;
      if (!isfinite(sum) || !isfinite(s.rho))
        s.pending = Stop::not_finite;
      else if (!(sum > 0))
        s.pending = Stop::not_positive;
      s.active = s.pending == Stop::iterations;
      s.alpha = s.rho / sum;
      break;
    case Update::step:
      if (s.active && sqrt(sum) <= m.tolerance * s.size) s.active = false;
      break;
    case Update::rho:
      if (!s.active) break;
      s.ratio = sum / s.rho;
      s.rho = sum;
      break;
    default: {  // residual
      s.accepted = false;
      if (!s.in_round) break;
      const double before = s.residual, after = sqrt(sum) / s.size;
      s.accepted = after < before;
      if (s.accepted) s.residual = after;
      if (s.pending != Stop::iterations)
        s.stop = s.pending;
      else if (s.residual <= m.tolerance)
        s.stop = Stop::converged;
      else if (!(after < 0.5 * before) && s.iterations < m.limit)
        s.stop = Stop::stagnated;
      s.active = s.stop == Stop::iterations && s.iterations < m.limit;
      break;
    }
  }
}

/// A template for its definition in a header.
template <int Threads>
__global__ void __launch_bounds__(Threads) decide_columns(const __grid_constant__ DecideProblem m) {
  __shared__ double scratch[32];
  for (index_t c = blockIdx.x; c < m.columns; c += gridDim.x) {
    double sum = 0;
    for (index_t i = threadIdx.x; i < m.pieces; i += Threads) sum += m.partial[c * m.pieces + i];
    sum = gpu::block_sum(sum, scratch);
    if (threadIdx.x == 0) {
      ColumnState s = m.state[c];
      decide(s, sum, m);
      m.state[c] = s;
      m.active[c] = s.active ? 1 : 0;
    }
    __syncthreads();
  }
}

template <class T>
struct StoreProblem {
  const T* best;
  Output<T> x;
  index_t columns, k;
};

template <class T>
__global__ void __launch_bounds__(krylov_threads)
    store_solution(const __grid_constant__ StoreProblem<T> m) {
  for (index_t at = index_t{blockIdx.x} * krylov_threads + threadIdx.x; at < m.columns * m.x.rows;
       at += index_t{gridDim.x} * krylov_threads) {
    const index_t unit = at / m.x.rows;
    const Column column = column_of(unit, m.k);
    m.x.write(column, at - unit * m.x.rows, m.best[at], {1, 1}, false);
  }
}

}  // namespace structmat::toeplitz::device
