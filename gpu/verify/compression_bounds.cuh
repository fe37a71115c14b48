/// \file
/// How large is singular value number order + 1 of the compressions? Bounds for all of them, values for
/// some.
#pragma once

#include <cstddef>
#include <limits>

#include "core/shared.cuh"
#include "dense/elimination.cuh"
#include "dense/qr.cuh"
#include "verify/compressions.cuh"

namespace structmat::verify {

inline constexpr int refine_threads = 512;

/// For 0 < k < n an upper bound of the singular value number order + 1 of M_k: the norm of what is left after
/// `order` steps of elimination, since L U has at most this rank and no matrix of that rank is nearer to M_k
/// than the singular value. A block follows the recurrence through one stretch of rows.
///
/// That holds for any pivots. Complete pivoting keeps the bound within a factor of about 10 of the norm of
/// the singular values from there on, while columns in their given order have, among tens of thousands of
/// matrices, some whose bound is worse by the condition of a square Gaussian matrix. Far from the ends M_k
/// and M_{k+1} are so near to each other that the same pivots serve for many k: they are looked for again
/// where elements grow.
template <class D>
struct Bounds {
  DeviceCompressions<D> family[2];
  double* out[2];  ///< n each
  int edge;        ///< entries of a thread in either direction
  D* m;            ///< matrix_numbers(edge) a block, or null: in shared memory
  D* work;         ///< the same where the work is not in registers
};

/// Numbers of a matrix that is spread over the threads of a block.
inline index_t matrix_numbers(index_t edge) {
  return edge * edge * gpu::grid_threads;
}
/// Bytes of what a block shares beside its matrices, a multiple of 16.
template <class D>
__host__ __device__ index_t bound_bytes(index_t edge, index_t order) {
  const index_t pivots = order * static_cast<index_t>(sizeof(int));
  return (8 * edge * gpu::grid_side * static_cast<index_t>(sizeof(D)) + pivots + 15) / 16 * 16;
}

template <class D, int Edge>
__global__ void __launch_bounds__(gpu::grid_threads)
    bounds_kernel(const __grid_constant__ Bounds<D> p) {
  __shared__ double scratch[32];
  __shared__ typename gpu::Elimination<D>::Candidate candidates[gpu::grid_threads / 32];
  const int thread = static_cast<int>(threadIdx.x), edge = Edge > 0 ? Edge : p.edge,
            padded = edge * gpu::grid_side, slots = edge * edge;
  const int y = thread / gpu::grid_side, x = thread % gpu::grid_side;
  const index_t square = index_t{slots} * gpu::grid_threads;
  D* const rows = gpu::dynamic_shared<D>();
  const int most_steps =
      p.family[0].order > p.family[1].order ? p.family[0].order : p.family[1].order;
  const gpu::Elimination<D> shared{candidates, reinterpret_cast<int*>(rows + 8 * padded),
                                   rows + 4 * padded};
  D* memory =
      reinterpret_cast<D*>(gpu::dynamic_shared<std::byte>() + bound_bytes<D>(edge, most_steps));
  D* const m = (p.m == nullptr ? memory : p.m + blockIdx.x * square) + thread;
  if (p.m == nullptr) memory += square;
  gpu::GridMatrix<D, Edge> w(p.work == nullptr ? memory : p.work + blockIdx.x * square, edge);

  const index_t stretch = p.family[0].stretch, stretches = p.family[0].padded / stretch;
  for (index_t item = blockIdx.x; item < 2 * stretches; item += gridDim.x) {
    const int which = item < stretches ? 0 : 1;
    const DeviceCompressions<D>& f = p.family[which];
    const int s = f.s;
    const index_t first = (item - which * stretches) * stretch;
    const index_t last = first + stretch < f.n ? first + stretch : f.n;
    const D* const start = f.starts + first / stretch * s * s;
    for (int a = 0; a < edge; ++a) {
      for (int b = 0; b < edge; ++b) {
        const int i = y + gpu::grid_side * a, j = x + gpu::grid_side * b;
        m[(a * edge + b) * gpu::grid_threads] = i < s && j < s ? start[i * s + j] : D(0);
      }
    }
    bool known = false;    // pivots of all steps,
    double reference = 0;  // and the square of the bound that they gave first
    for (index_t k = first; k < last; ++k) {
      for (int i = thread; i < padded; i += gpu::grid_threads) {
        const bool inside = i < s;
        rows[i] = inside ? -gpu::conjugate(f.g2[k * f.pitch + i]) : D(0);
        rows[padded + i] = inside ? f.x1[k * s + i] : D(0);
        rows[2 * padded + i] = inside ? gpu::conjugate(f.x2[k * s + i]) : D(0);
        rows[3 * padded + i] = inside ? f.g1[k * f.pitch + i] : D(0);
      }
      __syncthreads();
#pragma unroll
      for (int a = 0; a < edge; ++a) {
        const D left = rows[y + gpu::grid_side * a],
                right = rows[2 * padded + y + gpu::grid_side * a];
#pragma unroll
        for (int b = 0; b < edge; ++b) {
          const int j = x + gpu::grid_side * b;
          D& entry = m[(a * edge + b) * gpu::grid_threads];
          entry = gpu::multiply_add(right, rows[3 * padded + j],
                                    gpu::multiply_add(left, rows[padded + j], entry));
        }
      }
      // Neighbours have bounds that are alike; a worse one shows that the pivots no longer fit.
      constexpr double worse = 9;
      double squares = 0;
      for (bool accepted = false; !accepted;) {
#pragma unroll
        for (int a = 0; a < edge; ++a) {
#pragma unroll
          for (int b = 0; b < edge; ++b) w(a, b) = m[(a * edge + b) * gpu::grid_threads];
        }
        const bool again = known;
        if (again) {
          accepted = gpu::block_eliminate_again(w, f.order, shared);
        } else {
          known = gpu::block_eliminate(w, f.order, shared) == f.order && f.order > 0;
        }
        double own = 0;
#pragma unroll
        for (int a = 0; a < edge; ++a) {
#pragma unroll
          for (int b = 0; b < edge; ++b) own += static_cast<double>(gpu::square(w(a, b)));
        }
        // Its barrier lets the next rows come.
        squares = gpu::block_sum(own, scratch);
        if (again) {
          accepted = accepted && squares <= worse * reference;
          known = accepted;
        } else {
          accepted = true;
          reference = squares;
        }
      }
      if (thread == 0 && k + 1 < f.n) {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        p.out[which][k + 1] = squares < infinite ? sqrt(squares) : infinite;
      }
    }
  }
}

/// m := m - x1 conj(g2)^T + g1 conj(x2)^T for row k; by columns m is the transpose of M.
template <class D>
__device__ void advance(const DeviceCompressions<D>& f, index_t k, D* rows, D* m) {
  const int s = f.s, threads = static_cast<int>(blockDim.x);
  for (int i = static_cast<int>(threadIdx.x); i < s; i += threads) {
    rows[i] = gpu::conjugate(f.g2[k * f.pitch + i]);
    rows[s + i] = f.x1[k * s + i];
    rows[2 * s + i] = gpu::conjugate(f.x2[k * s + i]);
    rows[3 * s + i] = f.g1[k * f.pitch + i];
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int a = warp; a < s; a += threads / 32) {
    const D left = -rows[a], right = rows[2 * s + a];
    for (int b = lane; b < s; b += 32) {
      m[a * s + b] = gpu::multiply_add(right, rows[3 * s + b],
                                       gpu::multiply_add(left, rows[s + b], m[a * s + b]));
    }
  }
  __syncthreads();
}

/// Singular value number order + 1 of M_k for the k of a list, by one-sided Jacobi rotations: out[i]
/// belongs to k[i].
template <class D>
struct Refine {
  DeviceCompressions<D> f;
  const index_t* k;
  index_t count;
  double* out;
  D* m;     ///< s s numbers a block
  D* work;  ///< the same, or null: in shared memory
};
template <class D>
__global__ void __launch_bounds__(refine_threads)
    refine_kernel(const __grid_constant__ Refine<D> p) {
  const DeviceCompressions<D>& f = p.f;
  const int s = f.s, threads = static_cast<int>(blockDim.x);
  D* const m = p.m + index_t{blockIdx.x} * s * s;
  D* const rows = gpu::dynamic_shared<D>();
  D* const work = p.work == nullptr ? rows + 4 * s : p.work + index_t{blockIdx.x} * s * s;
  auto* const norms =
      reinterpret_cast<gpu::real_of_t<D>*>(rows + 4 * s + (p.work == nullptr ? s * s : 0));
  int* const places = reinterpret_cast<int*>(norms + s);
  for (index_t item = blockIdx.x; item < p.count; item += gridDim.x) {
    const index_t k = p.k[item], first = (k - 1) / f.stretch * f.stretch;
    const D* const start = f.starts + first / f.stretch * s * s;
    for (int i = static_cast<int>(threadIdx.x); i < s * s; i += threads) m[i] = start[i];
    __syncthreads();
    for (index_t row = first; row < k; ++row) advance(f, row, rows, m);
    for (int i = static_cast<int>(threadIdx.x); i < s * s; i += threads) work[i] = m[i];
    __syncthreads();
    gpu::block_jacobi(work, s, s, s);
    gpu::block_sort(work, s, s, s, norms, places);
    for (int i = static_cast<int>(threadIdx.x); i < s; i += threads) {
      if (places[i] == f.order) p.out[item] = static_cast<double>(norms[i]);
    }
    __syncthreads();
  }
}

}  // namespace structmat::verify
