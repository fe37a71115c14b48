// y := op(M) x for butterfly M. Vectors that fit go through all factors in shared memory, in one launch:
// M, x and y cross the bus once. Longer ones take a launch for every four factors: a thread keeps the 16
// coordinates that these couple in registers.
#include "structmat/butterfly/apply.hpp"

#include "butterfly/factors.cuh"
#include "core/instantiate.hpp"
#include "core/shared.cuh"
#include "core/workspace.cuh"

namespace structmat {
namespace {

using namespace butterfly;

constexpr char operation[] = "butterfly::apply";

template <class T>
struct Problem {
  Factors<T> factors;
  gpu::Strided<const T, 3> x;
  gpu::Strided<T, 3> y;
  T* z;  ///< (batch, N, columns) between launches
  index_t size, in, out, batch, columns;
};

constexpr unsigned threads = 256;

/// Shared memory of a block, the right-hand sides that go together where they fit, and the threads
/// that share them: a thread has few pairs, whose numbers come from memory one factor after the other.
constexpr index_t shared_bytes = 96 * 1024, most_columns = 8;
constexpr unsigned shared_threads = 1024;

template <class T>
bool fits_shared(index_t size) {
  return size * static_cast<index_t>(sizeof(T)) <= shared_bytes;
}

/// How many right-hand sides a block takes, a power of two: more read a factor less often, fewer keep
/// more blocks busy. A right-hand side is computed alike in both.
template <class T>
index_t columns_at_once(index_t size, index_t columns, index_t batch, int processors) {
  index_t taken = 1;
  while (2 * taken <= std::min(most_columns, columns) && fits_shared<T>(2 * taken * size) &&
         batch * (columns / (2 * taken)) >= processors) {
    taken *= 2;
  }
  return taken;
}

template <class T>
__global__ void __launch_bounds__(shared_threads)
    apply_in_shared(const __grid_constant__ Problem<T> p, int width) {
  T* const z = gpu::dynamic_shared<T>();
  const index_t tiles = (p.columns + width - 1) / width;
  const index_t elements = p.size * width, pairs = p.size / 2 * width;
  for (index_t unit = blockIdx.x; unit < p.batch * tiles; unit += gridDim.x) {
    const index_t b = unit / tiles, first = (unit - b * tiles) * width;
    for (index_t at = threadIdx.x; at < elements; at += shared_threads) {
      const index_t i = at / width, c = first + at % width;
      z[at] = i < p.in && c < p.columns ? p.x(b, i, c) : T(0);
    }
    __syncthreads();
    for (index_t f = 0; f < p.factors.count; ++f) {
      const index_t level = p.factors.level(f), far = (index_t{1} << level) * width;
      for (index_t at = threadIdx.x; at < pairs; at += shared_threads) {
        const index_t pair = at / width;
        T* const u = z + first_of_pair(pair, level) * width + at % width;
        apply_pair(p.factors, p.factors.at(b, f, pair), u[0], u[far]);
      }
      __syncthreads();
    }
    for (index_t at = threadIdx.x; at < p.out * width; at += shared_threads) {
      const index_t i = at / width, c = first + at % width;
      if (c < p.columns) p.y(b, i, c) = z[at];
    }
    __syncthreads();
  }
}

/// Up to four neighbouring levels of one stage: the coordinates that they couple are 2^count elements
/// `stride` apart.
template <class T, int Count>
__global__ void __launch_bounds__(threads)
    apply_in_registers(const __grid_constant__ Problem<T> p, index_t first_factor,
                       index_t lowest_level, bool reads_x, bool writes_y) {
  constexpr int size = 1 << Count;
  const index_t stride = index_t{1} << lowest_level;
  const index_t sets = p.size >> Count, work = p.batch * sets * p.columns;
  const bool upwards = Count == 1 || p.factors.level(first_factor) == lowest_level;
  const index_t step = static_cast<index_t>(gridDim.x) * threads;
  for (index_t unit = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x; unit < work;
       unit += step) {
    const index_t c = unit % p.columns, set = unit / p.columns % sets;
    const index_t b = unit / p.columns / sets;
    const index_t base = (set >> lowest_level << (lowest_level + Count)) + (set & (stride - 1));
    T z[size];
#pragma unroll
    for (int e = 0; e < size; ++e) {
      const index_t i = base + e * stride;
      if (reads_x)
        z[e] = i < p.in ? p.x(b, i, c) : T(0);
      else
        z[e] = p.z[(b * p.size + i) * p.columns + c];
    }
#pragma unroll
    for (int turn = 0; turn < Count; ++turn) {
#pragma unroll
      for (int l = 0; l < Count; ++l) {
        if (l != (upwards ? turn : Count - 1 - turn)) continue;
        const index_t level = lowest_level + l;
#pragma unroll
        for (int e = 0; e < size; ++e) {
          if (e >> l & 1) continue;
          const index_t i = base + e * stride;
          const index_t pair = (i >> (level + 1) << level) + (i & ((index_t{1} << level) - 1));
          apply_pair(p.factors, p.factors.at(b, first_factor + turn, pair), z[e], z[e | 1 << l]);
        }
      }
    }
#pragma unroll
    for (int e = 0; e < size; ++e) {
      const index_t i = base + e * stride;
      if (!writes_y)
        p.z[(b * p.size + i) * p.columns + c] = z[e];
      else if (i < p.out)
        p.y(b, i, c) = z[e];
    }
  }
}

template <class T>
void enqueue_in_registers(const Problem<T>& p, int processors, cudaStream_t stream) {
  constexpr index_t most = 4;
  for (index_t f = 0; f < p.factors.count;) {
    const index_t count = std::min(most, p.factors.levels - f % p.factors.levels);
    const index_t lowest = std::min(p.factors.level(f), p.factors.level(f + count - 1));
    const index_t work = p.batch * (p.size >> count) * p.columns;
    const bool reads_x = f == 0, writes_y = f + count == p.factors.count;
    const auto launch = [&](auto kernel) {
      gpu::launch(operation, kernel, gpu::persistent_blocks(work, threads, processors), threads,
                  stream, p, f, lowest, reads_x, writes_y);
    };
    switch (count) {
      case 1:
        launch(apply_in_registers<T, 1>);
        break;
      case 2:
        launch(apply_in_registers<T, 2>);
        break;
      case 3:
        launch(apply_in_registers<T, 3>);
        break;
      default:
        launch(apply_in_registers<T, 4>);
        break;
    }
    f += count;
  }
}

template <class T>
auto layout(index_t size, index_t batch, index_t columns, index_t factors) {
  return [=](gpu::Workspace& workspace) {
    return workspace.take<T>(fits_shared<T>(size) || factors == 0 ? 0 : batch * size * columns);
  };
}

/// Without factors (N = 1, or no stages): the leading coordinates.
template <class T>
__global__ void copy_leading(const __grid_constant__ Problem<T> p) {
  const index_t work = p.batch * p.out * p.columns,
                step = static_cast<index_t>(gridDim.x) * threads;
  for (index_t unit = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x; unit < work;
       unit += step) {
    const index_t c = unit % p.columns, i = unit / p.columns % p.out, b = unit / p.columns / p.out;
    p.y(b, i, c) = i < p.in ? p.x(b, i, c) : T(0);
  }
}

}  // namespace

template <Scalar T>
index_t apply_workspace_bytes(const ButterflyView<T, space::cuda>& matrix, index_t k,
                              index_t batch) {
  const auto m = checked(matrix, operation, batch);
  using D = gpu::device_scalar_t<T>;
  return gpu::counted(operation, layout<D>(m.size(), m.batch(), k, m.factors.extent(1)));
}

template <Scalar T>
void apply(const exec::cuda& e, const ButterflyView<T, space::cuda>& matrix, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  using D = gpu::device_scalar_t<T>;
  checked(matrix, operation);
  const auto given = op == Op::none ? matrix : matrix.transposed();
  const index_t batch =
      detail::check_operands(operation, given.batch(), given.rows(), given.cols(), x, y);
  const auto m = checked(given, operation, batch);
  gpu::require_writable(operation, y, "y");
  const index_t columns = x.extent(2), count = m.factors.extent(1);
  D* const z = gpu::cut(operation, e.workspace, layout<D>(m.size(), batch, columns, count));
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y, "y");
  const int processors = gpu::multiprocessors(operation);
  if (y.empty()) return;

  const cudaStream_t stream = gpu::stream_of(e);
  const Problem<D> problem{factors(m, op == Op::adjoint),
                           gpu::strided(x),
                           gpu::strided(y),
                           z,
                           m.size(),
                           x.extent(1),
                           y.extent(1),
                           batch,
                           columns};
  if (count == 0) {
    gpu::launch(operation, copy_leading<D>, gpu::persistent_blocks(y.size(), threads, processors),
                threads, stream, problem);
  } else if (fits_shared<D>(m.size())) {
    const index_t width = columns_at_once<D>(m.size(), columns, batch, processors);
    const gpu::Grid grid{
        gpu::persistent_blocks(batch * ((columns + width - 1) / width), 1, processors),
        shared_threads, static_cast<std::size_t>(m.size() * width) * sizeof(D)};
    gpu::launch(operation, apply_in_shared<D>, grid, stream, problem, static_cast<int>(width));
  } else {
    enqueue_in_registers(problem, processors, stream);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const ButterflyView<T, space::cuda>&, \
                                                          index_t, index_t);                    \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const ButterflyView<T, space::cuda>&, \
                                       Op, View<const T, 3, space::cuda>,                       \
                                       View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
