/// \file
/// What the diagonal of M adds in reverse mode, a thread a row.
#pragma once

#include "recurrence/apply_vjp.cuh"

namespace structmat::gpu::recurrence {

constexpr unsigned diagonal_vjp_threads = 128;

template <class T>
__global__ void __launch_bounds__(diagonal_vjp_threads)
    pull_back_diagonal(const __grid_constant__ Reverse<T> r) {
  const Triangles<T>& m = r.forward;
  const index_t work = m.batch / r.bar.together * m.n;
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t at = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < work;
       at += step) {
    const index_t unit = at / m.n, i = at - unit * m.n;
    for (index_t b = unit * r.bar.together; b < (unit + 1) * r.bar.together; ++b) {
      const T d = m.diagonal(b, i);
      T sum = T(0);
      for (index_t c = 0; c < m.columns; ++c) {
        const T y = r.adjoint.input(b, i, c);
        sum = multiply_add(m.input(b, i, c), y, sum);
        if (r.bar.x.data != nullptr) {
          r.bar.x(b, i, c) += conjugate_if(r.adjoint.conjugate, d * y);
        }
      }
      if (r.bar.diagonal.data != nullptr) r.bar.diagonal(b, i) += conjugate(sum);
    }
  }
}

/// Enqueues it, unless M has no diagonal or nothing is wanted of it.
template <class T>
void enqueue_diagonal_vjp(const char* operation, const Reverse<T>& r, int processors,
                          cudaStream_t stream) {
  if (r.forward.diagonal.data == nullptr) return;
  if (r.bar.diagonal.data == nullptr && r.bar.x.data == nullptr) return;
  launch(operation, pull_back_diagonal<T>,
         persistent_blocks(r.units() * r.forward.n, diagonal_vjp_threads, processors),
         diagonal_vjp_threads, stream, r);
}

}  // namespace structmat::gpu::recurrence
