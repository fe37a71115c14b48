/// \file
/// The compressions of src/verify/compressions.hpp on the device: the products that determine them, and
/// bounds of their singular values. All arrays are row-major, rows of probes one behind the other.
#pragma once

#include "core/random.cuh"
#include "core/shared.cuh"
#include "dense/blas.cuh"
#include "dense/qr.cuh"

namespace structmat::verify {

/// Rows between two compressions that products give, and rows that one block of threads then goes
/// through.
inline constexpr index_t panel = 256, stretch = 32;
inline constexpr int bound_threads = 256, refine_threads = 512;

/// One family: M_{k+1} = M_k - conj(g2_k) x1_k^T + conj(x2_k) g1_k^T, n padded to whole panels.
template <class D>
struct DeviceCompressions {
  const D *g1, *g2;  ///< (padded n, pitch)
  D *x1, *x2;        ///< (padded n, s)
  D* starts;         ///< (panels, s, s): M_k of the first row k of each panel
  index_t n, pitch;
  int s, order;
};

/// The strictly lower (upper) triangle of scale times each diagonal panel beside zeros, panels padded.
template <class D>
struct Corners {
  const D* a;  ///< (n, n)
  index_t lda, n;
  bool lower;
  D scale;
  D* to;  ///< (panels, panel, panel)
};
template <class D>
__global__ void corners_kernel(const __grid_constant__ Corners<D> p) {
  const index_t padded = (p.n + panel - 1) / panel * panel;
  for (index_t at = index_t{blockIdx.x} * bound_threads + threadIdx.x; at < padded * panel;
       at += index_t{gridDim.x} * bound_threads) {
    const index_t i = at / panel, j = i / panel * panel + at % panel;
    const bool inside = i < p.n && j < p.n && (p.lower ? j < i : j > i);
    p.to[at] = inside ? p.scale * p.a[i * p.lda + j] : D(0);
  }
}

/// to := the sum of `count` arrays of `size` numbers, one behind the other.
template <class D>
struct Sum {
  const D* from;
  index_t size, count;
  D* to;
};
template <class D>
__global__ void sum_kernel(const __grid_constant__ Sum<D> p) {
  for (index_t i = index_t{blockIdx.x} * bound_threads + threadIdx.x; i < p.size;
       i += index_t{gridDim.x} * bound_threads) {
    D sum{};
    for (index_t c = 0; c < p.count; ++c) sum += p.from[c * p.size + i];
    p.to[i] = sum;
  }
}

/// For 0 < k < n an upper bound of the singular value number order + 1 of M_k: what is left after
/// `order` reflections. A block follows the recurrence through one stretch of rows.
template <class D>
struct Bounds {
  DeviceCompressions<D> family[2];
  double* out[2];  ///< n each
  D* m;            ///< block_size numbers a block: s s for the larger s
  D* work;         ///< the same, or null: in shared memory
  index_t block_size;
};

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

template <class D>
__global__ void __launch_bounds__(bound_threads)
    bounds_kernel(const __grid_constant__ Bounds<D> p) {
  __shared__ double scratch[32];
  const index_t stretches = (p.family[0].n + stretch - 1) / stretch;
  const int threads = static_cast<int>(blockDim.x);
  D* const m = p.m + blockIdx.x * p.block_size;
  for (index_t item = blockIdx.x; item < 2 * stretches; item += gridDim.x) {
    const int which = item < stretches ? 0 : 1;
    const DeviceCompressions<D>& f = p.family[which];
    const index_t first = (item - which * stretches) * stretch;
    const index_t last = first + stretch < f.n ? first + stretch : f.n;
    const int s = f.s;
    D* const rows = gpu::dynamic_shared<D>();
    D* const diagonal = rows + 4 * s;
    D* const work = p.work == nullptr ? diagonal + s : p.work + blockIdx.x * p.block_size;
    const D* const start = f.starts + first / panel * s * s;
    for (int i = static_cast<int>(threadIdx.x); i < s * s; i += threads) m[i] = start[i];
    __syncthreads();
    for (index_t k = first / panel * panel; k < first; ++k) advance(f, k, rows, m);
    for (index_t k = first; k < last; ++k) {
      advance(f, k, rows, m);
      for (int i = static_cast<int>(threadIdx.x); i < s * s; i += threads) work[i] = m[i];
      __syncthreads();
      gpu::block_qr(work, s, s, s, f.order, diagonal);
      double squares = 0;
      const int left = s - f.order;
      for (int i = static_cast<int>(threadIdx.x); i < left * left; i += threads) {
        squares +=
            static_cast<double>(gpu::square(work[(f.order + i / left) * s + f.order + i % left]));
      }
      squares = gpu::block_sum(squares, scratch);
      if (threadIdx.x == 0 && k + 1 < f.n) p.out[which][k + 1] = sqrt(squares);
      __syncthreads();
    }
  }
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
    const index_t k = p.k[item], first = (k - 1) / panel * panel;
    const D* const start = f.starts + first / panel * s * s;
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

/// x1, x2 and starts of `lower` from the strictly lower part L of scale * a (x1 = L G1, x2 = L^H G2),
/// and of `upper` from the adjoint of its strictly upper part. a: row-major; all outputs are zeros
/// before. corners: padded n times panel numbers; parts: panels / 2 + 1 times s s.
template <class D>
void multiply_probes(const char* operation, const gpu::Blas& blas, const D* a, index_t lda, D scale,
                     const DeviceCompressions<D>& lower, const DeviceCompressions<D>& upper,
                     D* corners, D* parts, int processors, cudaStream_t stream) {
  const index_t n = lower.n, panels = (n + panel - 1) / panel;
  constexpr auto N = CUBLAS_OP_N, C = CUBLAS_OP_C;
  // In the eyes of cuBLAS, which has columns for rows, everything is transposed: probes and products are
  // s x n, and a is a^T.
  const auto row = [](auto* x, index_t i, index_t pitch) { return x + i * pitch; };
  // M_k := sum over rows [begin, end) of conj(left) right^T, in chunks that run beside each other.
  const auto start = [&](const DeviceCompressions<D>& f, index_t k, const D* left, index_t ld_left,
                         const D* right, index_t ld_right, index_t begin, index_t end) {
    constexpr index_t chunk = 2 * panel;
    const index_t s = f.s, whole = (end - begin) / chunk, rest = end - begin - whole * chunk;
    blas.gemm<D>(N, C, s, s, chunk, D(1), row(right, begin, ld_right), ld_right, chunk * ld_right,
                 row(left, begin, ld_left), ld_left, chunk * ld_left, D(0), parts, s, s * s, whole);
    const index_t at = begin + whole * chunk;
    if (rest > 0) {
      blas.gemm<D>(N, C, s, s, rest, D(1), row(right, at, ld_right), ld_right, 0,
                   row(left, at, ld_left), ld_left, 0, D(0), parts + whole * s * s, s, 0);
    }
    gpu::launch(operation, sum_kernel<D>, gpu::persistent_blocks(s * s, bound_threads, processors),
                bound_threads, stream,
                Sum<D>{parts, s * s, whole + (rest > 0), f.starts + k / panel * s * s});
  };
  for (index_t c = 0; c + 1 < panels; ++c) {
    // Column panel c, rows below it.
    const index_t begin = c * panel, end = begin + panel, s = lower.s;
    blas.gemm<D>(N, N, s, n - end, panel, scale, row(lower.g1, begin, lower.pitch), lower.pitch, 0,
                 a + end * lda + begin, lda, 0, D(1), row(lower.x1, end, s), s, 0);
    start(lower, end, lower.g2, lower.pitch, lower.x1, s, end, n);
  }
  for (index_t c = 1; c < panels; ++c) {
    // Row panel c, columns before it.
    const index_t begin = c * panel, size = std::min(panel, n - begin), s = lower.s;
    blas.gemm<D>(N, C, s, begin, size, scale, row(lower.g2, begin, lower.pitch), lower.pitch, 0,
                 a + begin * lda, lda, 0, D(1), lower.x2, s, 0);
  }
  for (index_t c = panels - 1; c > 0; --c) {
    // Column panel c, rows above it.
    const index_t begin = c * panel, size = std::min(panel, n - begin), s = upper.s;
    blas.gemm<D>(N, N, s, begin, size, scale, row(upper.g2, begin, upper.pitch), upper.pitch, 0,
                 a + begin, lda, 0, D(1), upper.x2, s, 0);
    start(upper, begin, upper.x2, s, upper.g1, upper.pitch, 0, begin);
  }
  for (index_t c = 0; c + 1 < panels; ++c) {
    // Row panel c, columns behind it.
    const index_t begin = c * panel, end = begin + panel, s = upper.s;
    blas.gemm<D>(N, C, s, n - end, panel, scale, row(upper.g1, begin, upper.pitch), upper.pitch, 0,
                 a + begin * lda + end, lda, 0, D(1), row(upper.x1, end, s), s, 0);
  }
  const auto diagonal = [&](bool is_lower, index_t s, index_t pitch, const D* plain_probes,
                            D* plain, const D* adjoint_probes, D* adjoint) {
    gpu::launch(operation, corners_kernel<D>,
                gpu::persistent_blocks(panels * panel * panel, bound_threads, processors),
                bound_threads, stream, Corners<D>{a, lda, n, is_lower, scale, corners});
    blas.gemm<D>(N, N, s, panel, panel, D(1), plain_probes, pitch, panel * pitch, corners, panel,
                 panel * panel, D(1), plain, s, panel * s, panels);
    blas.gemm<D>(N, C, s, panel, panel, D(1), adjoint_probes, pitch, panel * pitch, corners, panel,
                 panel * panel, D(1), adjoint, s, panel * s, panels);
  };
  diagonal(true, lower.s, lower.pitch, lower.g1, lower.x1, lower.g2, lower.x2);
  diagonal(false, upper.s, upper.pitch, upper.g2, upper.x2, upper.g1, upper.x1);
}

}  // namespace structmat::verify
