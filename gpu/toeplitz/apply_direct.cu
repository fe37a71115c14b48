#include "toeplitz/apply_direct.cuh"

#include "core/instantiate.hpp"

namespace structmat::toeplitz {
namespace device {
namespace {

/// A block sums `rows_per_block` rows for a few columns, over tiles of columns of the matrix, of which
/// the lags and the numbers of x lie in shared memory.
constexpr int threads = 128;
constexpr int rows_per_thread = 2;
constexpr int rows_per_block = threads * rows_per_thread;
constexpr int tile = 128;

template <class T>
struct DirectProblem {
  Lags<T> lags;
  Input<T> x;
  Output<T> y;
  index_t batch, k;
};

template <class T, int Columns>
__global__ void __launch_bounds__(threads) apply_sums(const __grid_constant__ DirectProblem<T> m) {
  __shared__ T lags[rows_per_block + tile];
  __shared__ T xs[tile * Columns];
  const int thread = static_cast<int>(threadIdx.x);
  const index_t rows = m.y.rows, cols = m.x.rows;
  const index_t row_tiles = (rows + rows_per_block - 1) / rows_per_block;
  const index_t column_tiles = (m.k + Columns - 1) / Columns;
  for (index_t unit = blockIdx.x; unit < m.batch * row_tiles * column_tiles; unit += gridDim.x) {
    const index_t rest = unit / row_tiles, i0 = (unit - rest * row_tiles) * rows_per_block;
    const index_t b = rest / column_tiles, c0 = (rest - b * column_tiles) * Columns;
    T sum[rows_per_thread][Columns];
#pragma unroll
    for (int u = 0; u < rows_per_thread; ++u) {
#pragma unroll
      for (int c = 0; c < Columns; ++c) sum[u][c] = T(0);
    }
    for (index_t j0 = 0; j0 < cols; j0 += tile) {
      const int count = static_cast<int>(cols - j0 < tile ? cols - j0 : tile);
      __syncthreads();
      // Row i0 + r, column j0 + j: lags[r + tile - 1 - j].
      for (int p = thread; p < rows_per_block + tile - 1; p += threads) {
        const index_t lag = i0 - j0 + p - (tile - 1);
        lags[p] = lag > -cols && lag < rows ? m.lags(b, lag) : T(0);
      }
      for (int p = thread; p < tile * Columns; p += threads) {
        const index_t c = c0 + p % Columns;
        xs[p] = c < m.k ? m.x(Column{b, c}, j0 + p / Columns) : T(0);
      }
      __syncthreads();
      const T* const own = lags + thread + tile - 1;
#pragma unroll 4
      for (int j = 0; j < count; ++j) {
#pragma unroll
        for (int u = 0; u < rows_per_thread; ++u) {
          const T lag = own[u * threads - j];
#pragma unroll
          for (int c = 0; c < Columns; ++c)
            sum[u][c] = gpu::multiply_add(lag, xs[j * Columns + c], sum[u][c]);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < rows_per_thread; ++u) {
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        if (c0 + c >= m.k) continue;
        const Column column{b, c0 + c};
        m.y.write(column, i0 + thread + u * threads, sum[u][c], m.y.scale(column), false);
      }
    }
  }
}

}  // namespace
}  // namespace device

template <Scalar T>
void apply_direct(const char* operation, const exec::cuda& e, const DeviceMatrix<T>& m,
                  device::Action action, View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y,
                  bool add) {
  using D = gpu::device_scalar_t<T>;
  const int processors = gpu::multiprocessors(operation);
  if (y.empty()) return;
  const index_t batch = y.extent(0), k = y.extent(2);
  const device::DirectProblem<D> problem{
      m.lags(action.adjoint),
      {gpu::strided(x), x.extent(1), action.conjugated},
      {gpu::strided(y), y.extent(1), action.conjugated, add, nullptr, 0},
      batch,
      k};
  const index_t row_tiles = (y.extent(1) + device::rows_per_block - 1) / device::rows_per_block;
  const auto run = [&](auto kernel, index_t columns) {
    const index_t units = batch * row_tiles * ((k + columns - 1) / columns);
    gpu::launch(operation, kernel,
                gpu::Grid{gpu::persistent_blocks(units, 1, processors), device::threads},
                gpu::stream_of(e), problem);
  };
  if (k == 1)
    run(device::apply_sums<D, 1>, 1);
  else
    run(device::apply_sums<D, 4>, 4);
}

#define STRUCTMAT_INSTANTIATE(T)                                                     \
  template void apply_direct(const char*, const exec::cuda&, const DeviceMatrix<T>&, \
                             device::Action, View<const T, 3, space::cuda>,          \
                             View<T, 3, space::cuda>, bool);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
