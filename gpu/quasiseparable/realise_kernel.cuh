/// \file
/// From the block sweep over a dense matrix to generators for every index.
///
/// In front of row k = o + t of a block, the block M(k:n, 0:k) has the singular values of
///   X_t = [P(t:, :) D(t:, :t); diag(sigma) V^H(:, :r + t)]
/// and its leading right singular vectors W_t are what the state there is: W_0 = I, and behind the block
/// W = V. With them p_k = [P(t, :) D(t, :t)] W_t, [a_k q_k] = W_{t+1}^H [W_t 0; 0 1]. Every index is cut
/// for itself; the projections commute with the Gramians of the columns, so what is dropped adds up to at
/// most the sum of the squares of all singular values that are.
#pragma once

#include "core/safe_norm.cuh"
#include "core/shared.cuh"
#include "core/strided.cuh"
#include "dense/qr.cuh"

namespace structmat::quasiseparable::device {

template <class D>
struct Realisation {
  struct Side {
    gpu::Strided<const D, 2> m;
    int order;
    index_t pitch;            ///< ld * order numbers
    const D *p, *v;           ///< of step i at i * pitch: P by columns, V by columns
    const double* summaries;  ///< of step i at i * summary_pitch: see PairSweep::advance_by
    D* bases;  ///< W of indices from `begin` on, by columns of ld numbers, pitch apart
    double *dropped, *rounding;  ///< (n)
    gpu::Strided<D, 2> out_p, out_q;
    gpu::Strided<D, 3> out_a;
  };
  Side side[2];
  gpu::Strided<D, 1> diagonal;
  const gpu::real_of_t<D>* scale;  ///< of what the sweep saw, and its inverse
  index_t n, begin, end;           ///< indices of this launch
  int size, ld;                    ///< rows of a block; size + the larger order
  index_t summary_pitch;
  D* scratch;  ///< scratch_stride numbers a block, or null: in shared memory
  index_t scratch_stride;

  /// State in front of index o, at the boundary of a block.
  __device__ int state(int which, index_t o) const {
    const index_t most = min(o, n - o);
    return static_cast<int>(min(most, index_t{side[which].order}));
  }
};

/// Numbers of the largest X_t with its vectors, and of its columns, for the orders and rows of blocks.
inline index_t realise_size(index_t order, index_t size) {
  return (size + 2 * order) * ((size + 2 * order) / 2 + 1);
}
inline index_t realise_columns(index_t order, index_t size) {
  return (size + 2 * order) / 2 + 1;
}
template <class D>
__host__ __device__ constexpr index_t realise_bytes(index_t columns) {
  return gpu::sort_bytes<gpu::real_of_t<D>>(columns);
}

inline constexpr int realise_threads = 512;

template <class D>
__global__ void __launch_bounds__(realise_threads)
    cut_indices_kernel(const __grid_constant__ Realisation<D> p, int most_columns) {
  using R = gpu::real_of_t<D>;
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  R* const norms = gpu::dynamic_shared<R>();
  int* const places = reinterpret_cast<int*>(norms + most_columns);
  D* const h = p.scratch == nullptr ? reinterpret_cast<D*>(gpu::dynamic_shared<unsigned char>() +
                                                           realise_bytes<D>(most_columns))
                                    : p.scratch + blockIdx.x * p.scratch_stride;
  const index_t count = p.end - p.begin;
  for (index_t unit = blockIdx.x; unit < 2 * count; unit += gridDim.x) {
    const int which = static_cast<int>(unit / count);
    const index_t k = p.begin + unit % count, step = k / p.size, o = step * p.size;
    const int t = static_cast<int>(k - o);
    const auto& s = p.side[which];
    if (t == 0) {
      if (thread == 0) s.dropped[k] = s.rounding[k] = 0;
      continue;
    }
    const int size = static_cast<int>(min(index_t{p.size}, p.n - o)), top = size - t;
    const int r = p.state(which, o), behind = p.state(which, o + size), rows = top + behind,
              columns = r + t;
    const bool tall = rows >= columns;
    const int vectors = tall ? columns : rows, length = tall ? rows : columns,
              ld = tall ? rows + columns : columns;
    const D* const block_p = s.p + step * s.pitch;
    const D* const v = s.v + step * s.pitch;
    const double* const sigma = s.summaries + step * p.summary_pitch + 1;
    const R scale = p.scale[0];
    for (int at = thread; at < rows * columns; at += threads) {
      const int i = at % rows, j = at / rows;
      D value;
      if (i >= top) {
        value = gpu::conjugate(v[j + (i - top) * (r + size)]) * static_cast<R>(sigma[i - top]);
      } else if (j < r) {
        value = block_p[t + i + j * size];
      } else {
        value = s.m(k + i, o + j - r) * scale;
      }
      h[tall ? i + j * ld : j + i * ld] = tall ? value : gpu::conjugate(value);
    }
    for (int at = thread; tall && at < columns * columns; at += threads) {
      const int i = at % columns, j = at / columns;
      h[rows + i + j * ld] = D(i == j ? 1 : 0);
    }
    __syncthreads();
    gpu::block_jacobi(h, ld, length, vectors, tall ? columns : 0);
    gpu::block_sort(h, ld, length, vectors, norms, places);
    double kept = 0, dropped = 0;
    for (int c = 0; c < vectors; ++c) {
      const double norm = static_cast<double>(norms[c]);
      (places[c] < s.order ? kept : dropped) += norm * norm;
    }
    constexpr double unit_roundoff = std::numeric_limits<R>::epsilon();
    const double norm = sqrt(kept + dropped);
    const R floor = static_cast<R>(4 * unit_roundoff * norm);
    if (thread == 0) {
      s.dropped[k] = sqrt(dropped);
      s.rounding[k] = 8 * unit_roundoff * sqrt(static_cast<double>(columns)) * norm;
    }
    const int warp = thread / 32, lane = thread % 32;
    D* const basis = s.bases + (k - p.begin) * s.pitch;
    for (int c = warp; c < vectors; c += threads / 32) {
      if (places[c] >= s.order) continue;
      const bool real = norms[c] > floor;
      const R factor = tall ? R(1) : R(1) / norms[c];
      for (int j = lane; j < columns; j += 32) {
        basis[places[c] * p.ld + j] = real ? h[(tall ? rows : 0) + j + c * ld] * factor : D(0);
      }
    }
    for (int c = vectors + warp; c < s.order; c += threads / 32) {
      for (int j = lane; j < columns; j += 32) basis[c * p.ld + j] = D(0);
    }
    __syncthreads();
  }
}

inline constexpr int write_threads = 256;

/// Generators of index k, both sides, one block an index.
template <class D>
__global__ void __launch_bounds__(write_threads)
    write_generators_kernel(const __grid_constant__ Realisation<D> p) {
  using R = gpu::real_of_t<D>;
  const int thread = static_cast<int>(threadIdx.x);
  const index_t count = p.end - p.begin;
  for (index_t unit = blockIdx.x; unit < 2 * count; unit += gridDim.x) {
    const int which = static_cast<int>(unit / count);
    const index_t k = p.begin + unit % count, step = k / p.size, o = step * p.size;
    const int t = static_cast<int>(k - o);
    const auto& s = p.side[which];
    const int size = static_cast<int>(min(index_t{p.size}, p.n - o)), r = p.state(which, o),
              order = s.order, columns = r + t;
    const D* const block_p = s.p + step * s.pitch;
    const bool first = t == 0, last = t + 1 == size;
    const D* const front = s.bases + (k - p.begin) * s.pitch;
    const int front_count = first ? r : order;
    const D* const behind = last ? s.v + step * s.pitch : front + s.pitch;
    const int behind_count = last ? p.state(which, o + size) : order, ld = last ? r + size : p.ld;
    // Spoilt where the matrix is not finite.
    const R scale = p.scale[0], back = p.scale[1], one = p.scale[2];
    for (int j = thread; j < order; j += write_threads) {
      D sum = D(0);
      if (first && j < r) sum = block_p[j * size];
      for (int l = 0; !first && l < columns; ++l) {
        const D entry = l < r ? block_p[t + l * size] : s.m(k, o + l - r) * scale;
        sum = gpu::multiply_add(entry, front[j * p.ld + l], sum);
      }
      s.out_p(k, j) = sum * back;
      s.out_q(k, j) =
          j < behind_count ? gpu::conjugate(behind[j * ld + columns]) * one : D(one - one);
    }
    for (int e = thread; e < order * order; e += write_threads) {
      const int c = e / order, j = e - c * order;
      D sum = D(0);
      if (c < behind_count && j < front_count) {
        if (first) {
          sum = gpu::conjugate(behind[c * ld + j]);
        } else {
          for (int l = 0; l < columns; ++l) {
            sum = gpu::multiply_add(gpu::conjugate(behind[c * ld + l]), front[j * p.ld + l], sum);
          }
        }
      }
      s.out_a(k, c, j) = sum * one;
    }
    if (which == 0 && thread == 0) p.diagonal(k) = s.m(k, k) * one;
  }
}

/// Norm of a matrix by parts, one a block, then its scale.
template <class D>
struct Measure {
  gpu::Strided<const D, 2> m;  ///< the second index changes fastest in memory
  index_t n;
  double* parts;
  int count;
  double* norm;
  gpu::real_of_t<D>* scale;  ///< a power of two, its inverse, 1; NaN where m is not finite
};
inline constexpr int measure_threads = 256;
template <class D>
__global__ void __launch_bounds__(measure_threads)
    measure_kernel(const __grid_constant__ Measure<D> p) {
  __shared__ double scratch[32];
  gpu::SafeNorm norm;
  for (index_t i = blockIdx.x; i < p.n; i += gridDim.x) {
    for (index_t j = threadIdx.x; j < p.n; j += measure_threads) norm.add(p.m(i, j));
  }
  const double value = norm.block_value(scratch);
  if (threadIdx.x == 0) p.parts[blockIdx.x] = value;
}
template <class D>
__global__ void __launch_bounds__(measure_threads)
    scale_kernel(const __grid_constant__ Measure<D> p) {
  using R = gpu::real_of_t<D>;
  __shared__ double scratch[32];
  gpu::SafeNorm norm;
  for (int i = static_cast<int>(threadIdx.x); i < p.count; i += measure_threads) {
    norm.add(p.parts[i]);
  }
  const double value = norm.block_value(scratch);
  if (threadIdx.x != 0) return;
  constexpr int furthest = std::numeric_limits<R>::max_exponent - 2;
  const bool finite = value <= std::numeric_limits<double>::max();
  const int exponent = finite && value > 0 ? max(-furthest, min(furthest, ilogb(value))) : 0;
  *p.norm = value;
  p.scale[0] = ldexp(R(1), -exponent);
  p.scale[1] = finite ? ldexp(R(1), exponent) : static_cast<R>(NAN);
  p.scale[2] = finite ? R(1) : static_cast<R>(NAN);
}

/// What all steps and indices have dropped.
template <class D, class Report>
struct RealisationReport {
  Realisation<D> all;
  index_t steps;
  int oversampling;
  const double* norm;
  Report* to;
};
template <class D, class Report>
__global__ void __launch_bounds__(measure_threads)
    realisation_report_kernel(const __grid_constant__ RealisationReport<D, Report> p) {
  using R = gpu::real_of_t<D>;
  __shared__ double scratch[32];
  gpu::SafeNorm steps, indices;
  double rounding = 0;
  const auto& a = p.all;
  for (index_t unit = threadIdx.x; unit < 2 * p.steps; unit += measure_threads) {
    const int which = static_cast<int>(unit % 2);
    const index_t step = unit / 2, o = step * a.size, size = min(index_t{a.size}, a.n - o),
                  rest = a.n - o - size;
    const int order = a.side[which].order, columns = a.state(which, o) + static_cast<int>(size);
    const int smaller = static_cast<int>(min(rest, index_t{columns}));
    // As PairSweep::advance_by has it.
    const int asked = order + p.oversampling, found = 4 * asked < 3 * smaller ? asked : smaller,
              kept = a.state(which, o + size);
    const double* const summary = a.side[which].summaries + step * a.summary_pitch;
    double squares = summary[0], all = summary[0];
    for (int l = 0; l < found; ++l) {
      const double v = summary[1 + l] * summary[1 + l];
      all += v;
      if (l >= kept) squares += v;
    }
    steps.add(sqrt(squares));
    rounding +=
        8 * double(std::numeric_limits<R>::epsilon()) * sqrt(static_cast<double>(columns) * all);
  }
  for (index_t unit = threadIdx.x; unit < 2 * a.n; unit += measure_threads) {
    const auto& s = a.side[unit % 2];
    indices.add(s.dropped[unit / 2]);
    rounding += s.rounding[unit / 2];
  }
  const double by_steps = steps.block_value(scratch);
  __syncthreads();
  const double by_indices = indices.block_value(scratch);
  __syncthreads();
  rounding = gpu::block_sum(rounding, scratch);
  if (threadIdx.x == 0) {
    const double back = static_cast<double>(a.scale[1]);
    *p.to = Report{(by_steps + by_indices) * back, rounding * back, *p.norm * a.scale[2]};
  }
}

}  // namespace structmat::quasiseparable::device
