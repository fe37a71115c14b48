// Substitution with the factors of elimination.cuh: a block for each system and one or four right-hand sides,
// 32 steps at a time. A warp solves with the triangle of these steps; all threads do what is left of them.
#include "cauchy/elimination.cuh"
#include "core/reduce.cuh"

namespace structmat::cauchy::device {
namespace {

constexpr int steps = 32;

template <class T>
struct Problem {
  Substitution<T> s;
  index_t column_tiles;
};

template <class T, int Columns>
struct Run {
  int n;
  T *y, *z;              // Columns vectors each, by line and by step
  T (*tile)[steps + 1];  // of these steps and their pivots
  T (*solved)[steps];

  __device__ void stage(const T* matrix, const index_t* order, int first, int count) const {
    for (int e = threadIdx.x; e < steps * steps; e += blockDim.x) {
      const int step = e / steps, pivot = e % steps;
      tile[step][pivot] = step < count && pivot < count
                              ? matrix[index_t{first + step} * n + order[first + pivot]]
                              : T(0);
    }
  }
  /// 1 / diagonal of a lane's step.
  __device__ T inverse(bool unit, int lane, int count) const {
    return unit || lane >= count ? T(1) : gpu::reciprocal(tile[lane][lane]);
  }

  /// z_k = y(order_k) / M_kk, y_i -= M_ki z_k, in turn.
  __device__ void forward(const T* matrix, const index_t* order, bool unit) const {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    for (int first = 0; first < n; first += steps) {
      const int count = min(steps, n - first);
      stage(matrix, order, first, count);
      __syncthreads();
      if (warp < Columns) {
        const T factor = inverse(unit, lane, count);
        T value = lane < count ? y[index_t{warp} * n + order[first + lane]] : T(0);
        for (int step = 0; step < count; ++step) {
          const T found = gpu::shuffle(0xffffffffu, value * factor, step);
          if (lane == step) value = found;
          if (lane > step) value -= tile[step][lane] * found;
        }
        solved[warp][lane] = value;
        if (lane < count) z[index_t{warp} * n + first + lane] = value;
      }
      __syncthreads();
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        T own[Columns];
#pragma unroll
        for (int c = 0; c < Columns; ++c) own[c] = y[index_t{c} * n + i];
        const T* at = matrix + index_t{first} * n + i;
        for (int step = 0; step < count; ++step, at += n) {
          const T entry = -*at;
#pragma unroll
          for (int c = 0; c < Columns; ++c)
            own[c] = gpu::multiply_add(entry, solved[c][step], own[c]);
        }
#pragma unroll
        for (int c = 0; c < Columns; ++c) y[index_t{c} * n + i] = own[c];
      }
      __syncthreads();
    }
  }

  /// y(order_k) = (z_k - sum_j M_kj y_j) / M_kk, from the last k on.
  __device__ void backward(const T* matrix, const index_t* order, bool unit) const {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int warps = static_cast<int>(blockDim.x) / 32;
    for (int i = threadIdx.x; i < n * Columns; i += blockDim.x) y[i] = T(0);
    __syncthreads();
    for (int first = (n - 1) / steps * steps; first >= 0; first -= steps) {
      const int count = min(steps, n - first);
      stage(matrix, order, first, count);
      for (int step = warp; step < count; step += warps) {
        T sum[Columns] = {};
        const T* const row = matrix + index_t{first + step} * n;
        for (int j = lane; j < n; j += 32) {
          const T entry = row[j];
#pragma unroll
          for (int c = 0; c < Columns; ++c)
            sum[c] = gpu::multiply_add(entry, y[index_t{c} * n + j], sum[c]);
        }
#pragma unroll
        for (int c = 0; c < Columns; ++c) {
          sum[c] = gpu::warp_sum(sum[c]);
          if (lane == 0) solved[c][step] = z[index_t{c} * n + first + step] - sum[c];
        }
      }
      __syncthreads();
      if (warp < Columns) {
        const T factor = inverse(unit, lane, count);
        T value = lane < count ? solved[warp][lane] : T(0);
        for (int step = count - 1; step >= 0; --step) {
          const T found = gpu::shuffle(0xffffffffu, value * factor, step);
          if (lane == step) value = found;
          if (lane < step) value -= tile[lane][step] * found;
        }
        if (lane < count) y[index_t{warp} * n + order[first + lane]] = value;
      }
      __syncthreads();
    }
  }
};

constexpr unsigned most_threads = 256;

template <class T, int Columns>
__global__ void __launch_bounds__(most_threads)
    substitute_systems(const __grid_constant__ Problem<T> p) {
  __shared__ T tile[steps][steps + 1], solved[Columns][steps];
  const Substitution<T>& s = p.s;
  const Factors<T>& f = s.factors;
  const int n = static_cast<int>(f.n);
  for (index_t unit = blockIdx.x; unit < s.batch * p.column_tiles; unit += gridDim.x) {
    const index_t b = unit / p.column_tiles, m = s.shared_factors ? 0 : b;
    const index_t first_column = (unit - b * p.column_tiles) * Columns;
    T* const y = s.workspace + 2 * unit * Columns * n;
    Run<T, Columns> run{n, y, y + index_t{Columns} * n, tile, solved};
    const PivotStatus::Kind kind = f.status[m].kind;
    const bool usable = kind == PivotStatus::Kind::ok || kind == PivotStatus::Kind::near_singular;
    if (usable) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma unroll
        for (int c = 0; c < Columns; ++c) {
          const index_t column = first_column + c;
          y[index_t{c} * n + i] =
              column < s.columns ? gpu::conjugate_if(s.conjugated, T(s.b(b, i, column))) : T(0);
        }
      }
      __syncthreads();
      const T *const lower = f.lower + m * n * n, *const upper = f.upper + m * n * n;
      const index_t *const rows = f.row_order + m * n, *const cols = f.col_order + m * n;
      run.forward(s.transposed ? upper : lower, s.transposed ? cols : rows, !s.transposed);
      run.backward(s.transposed ? lower : upper, s.transposed ? rows : cols, s.transposed);
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      for (int c = 0; c < Columns; ++c) {
        const index_t column = first_column + c;
        if (column >= s.columns) break;
        s.x(b, i, column) = usable ? gpu::conjugate_if(s.conjugated, y[index_t{c} * n + i])
                                   : T(static_cast<gpu::real_of_t<T>>(NAN));
      }
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void substitute(const char* operation, const Substitution<T>& s, int processors,
                cudaStream_t stream) {
  if (s.batch == 0 || s.columns == 0 || s.factors.n == 0) return;
  const unsigned threads = s.factors.n <= 128 ? 128 : most_threads;
  const auto run = [&](auto kernel, index_t columns) {
    const Problem<T> problem{s, (s.columns + columns - 1) / columns};
    gpu::launch(operation, kernel,
                gpu::persistent_blocks(s.batch * problem.column_tiles, 1, processors), threads,
                stream, problem);
  };
  if (s.columns == 1)
    run(substitute_systems<T, 1>, 1);
  else
    run(substitute_systems<T, 4>, 4);
}

#define STRUCTMAT_INSTANTIATE(T) \
  template void substitute(const char*, const Substitution<T>&, int, cudaStream_t);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(gpu::Complex<float>)
STRUCTMAT_INSTANTIATE(gpu::Complex<double>)

}  // namespace structmat::cauchy::device
