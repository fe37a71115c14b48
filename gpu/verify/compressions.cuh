/// \file
/// The compressions of src/verify/compressions.hpp on the device, from the products that determine them.
/// All arrays are row-major, rows of probes one behind the other.
#pragma once

#include <algorithm>
#include <bit>

#include "dense/blas.cuh"

namespace structmat::verify {

/// Rows of the blocks on the diagonal whose triangles are multiplied as squares.
inline constexpr index_t panel = 256;
inline constexpr int compression_threads = 256;

/// Rows between two compressions that are stored: so many that they take no more memory than a few arrays of
/// probes.
inline index_t stretch_of(index_t probes) {
  constexpr index_t least = 32;
  return std::max(least, static_cast<index_t>(std::bit_ceil(static_cast<unsigned>(probes)) / 4));
}

/// One family: M_{k+1} = M_k - conj(g2_k) x1_k^T + conj(x2_k) g1_k^T, M_0 = 0.
template <class D>
struct DeviceCompressions {
  const D *g1, *g2;  ///< (padded, pitch), zeros from n on
  D *x1, *x2;        ///< (padded, s)
  D* starts;         ///< (padded / stretch + 1, s, s): M_k of every k that is a multiple of stretch
  index_t n, padded, pitch, stretch;  ///< padded: a multiple of panel and of stretch
  int s, order;
};

/// The strictly lower (upper) triangle of scale times each diagonal panel beside zeros, panels padded.
template <class D>
struct Corners {
  const D* a;  ///< (n, n)
  index_t lda, n, padded;
  bool lower;
  D scale;
  D* to;  ///< (panels, panel, panel)
};
template <class D>
__global__ void corners_kernel(const __grid_constant__ Corners<D> p) {
  for (index_t at = index_t{blockIdx.x} * compression_threads + threadIdx.x; at < p.padded * panel;
       at += index_t{gridDim.x} * compression_threads) {
    const index_t i = at / panel, j = i / panel * panel + at % panel;
    const bool inside = i < p.n && j < p.n && (p.lower ? j < i : j > i);
    p.to[at] = inside ? p.scale * p.a[i * p.lda + j] : D(0);
  }
}

/// Array c of `size` numbers, c <= count, becomes the sum of all before it; the last one is not read. Sums of
/// a few first, then sums of those: fewer roundings on the way.
template <class D>
struct RunningSums {
  D* arrays;
  index_t size, count;
};
template <class D>
__global__ void running_sums_kernel(const __grid_constant__ RunningSums<D> p) {
  constexpr int group = 8;
  for (index_t i = index_t{blockIdx.x} * compression_threads + threadIdx.x; i < p.size;
       i += index_t{gridDim.x} * compression_threads) {
    D sum{};
    for (index_t first = 0; first < p.count; first += group) {
      D part[group], of_group{};
#pragma unroll
      for (int l = 0; l < group; ++l) {
        part[l] = first + l < p.count ? p.arrays[(first + l) * p.size + i] : D(0);
      }
#pragma unroll
      for (int l = 0; l < group; ++l) {
        if (first + l < p.count) p.arrays[(first + l) * p.size + i] = sum + of_group;
        of_group += part[l];
      }
      sum += of_group;
    }
    p.arrays[p.count * p.size + i] = sum;
  }
}

/// x1 and x2 of `lower` from the strictly lower part L of scale * a (x1 = L G1, x2 = L^H G2), and of `upper`
/// from the adjoint of its strictly upper part. a: row-major. corners: padded times panel numbers.
///
/// Squares beside the diagonal, of panel rows, then of twice as many and so on: all of one size are one batch,
/// but for one at the end that n cuts.
template <class D>
void multiply_probes(const char* operation, const gpu::Blas& blas, const D* a, index_t lda, D scale,
                     const DeviceCompressions<D>& lower, const DeviceCompressions<D>& upper,
                     D* corners, int processors, cudaStream_t stream) {
  const index_t n = lower.n, panels = lower.padded / panel;
  constexpr auto N = CUBLAS_OP_N, C = CUBLAS_OP_C;
  // In the eyes of cuBLAS, which has columns for rows, everything is transposed: probes and products are
  // s x n, and a is a^T.
  const auto diagonal = [&](bool is_lower, index_t s, index_t pitch, const D* plain_probes,
                            D* plain, const D* adjoint_probes, D* adjoint) {
    gpu::launch(operation, corners_kernel<D>,
                gpu::persistent_blocks(panels * panel * panel, compression_threads, processors),
                compression_threads, stream,
                Corners<D>{a, lda, n, lower.padded, is_lower, scale, corners});
    blas.gemm<D>(N, N, s, panel, panel, D(1), plain_probes, pitch, panel * pitch, corners, panel,
                 panel * panel, D(0), plain, s, panel * s, panels);
    blas.gemm<D>(N, C, s, panel, panel, D(1), adjoint_probes, pitch, panel * pitch, corners, panel,
                 panel * panel, D(0), adjoint, s, panel * s, panels);
  };
  diagonal(true, lower.s, lower.pitch, lower.g1, lower.x1, lower.g2, lower.x2);
  diagonal(false, upper.s, upper.pitch, upper.g2, upper.x2, upper.g1, upper.x1);

  // y_i += B x_j and z_j += B^H w_i with `count` blocks B, rows from i and columns from j on, and so on every
  // `step` rows and columns.
  const auto block = [&](index_t i, index_t rows, index_t j, index_t columns, index_t s,
                         index_t pitch, const D* x, D* y, const D* w, D* z, index_t step,
                         index_t count) {
    const D* const b = a + i * lda + j;
    blas.gemm<D>(N, N, s, rows, columns, scale, x + j * pitch, pitch, step * pitch, b, lda,
                 step * (lda + 1), D(1), y + i * s, s, step * s, count);
    blas.gemm<D>(N, C, s, columns, rows, scale, w + i * pitch, pitch, step * pitch, b, lda,
                 step * (lda + 1), D(1), z + j * s, s, step * s, count);
  };
  for (index_t size = panel; size < n; size *= 2) {
    const auto both = [&](index_t begin, index_t rest, index_t count) {
      const index_t middle = begin + size, step = 2 * size;
      block(middle, rest, begin, size, lower.s, lower.pitch, lower.g1, lower.x1, lower.g2, lower.x2,
            step, count);
      block(begin, size, middle, rest, upper.s, upper.pitch, upper.g2, upper.x2, upper.g1, upper.x1,
            step, count);
    };
    const index_t whole = n / (2 * size), begin = whole * 2 * size;
    both(0, size, whole);
    if (begin + size < n) both(begin, n - begin - size, 1);
  }
}

/// starts, from the other arrays.
template <class D>
void make_starts(const char* operation, const gpu::Blas& blas, const DeviceCompressions<D>& f,
                 int processors, cudaStream_t stream) {
  const index_t s = f.s, square = s * s, count = f.padded / f.stretch;
  // What each stretch adds: sums of conj(left) right^T.
  const auto add = [&](D factor, const D* left, index_t ld_left, const D* right, index_t ld_right,
                       D beta) {
    blas.gemm<D>(CUBLAS_OP_N, CUBLAS_OP_C, s, s, f.stretch, factor, right, ld_right,
                 f.stretch * ld_right, left, ld_left, f.stretch * ld_left, beta, f.starts, s,
                 square, count);
  };
  add(D(-1), f.g2, f.pitch, f.x1, s, D(0));
  add(D(1), f.x2, s, f.g1, f.pitch, D(1));
  gpu::launch(operation, running_sums_kernel<D>,
              gpu::persistent_blocks(square, compression_threads, processors), compression_threads,
              stream, RunningSums<D>{f.starts, square, count});
}

}  // namespace structmat::verify
