// Uniform generators in block form on the device, one block of rows a block of threads.
#include "structmat/quasiseparable/to_block.hpp"

#include "core/instantiate.hpp"
#include "core/shared.cuh"
#include "core/strided.cuh"
#include "quasiseparable/triangle_sweep.hpp"

namespace structmat::quasiseparable {
namespace {

constexpr char operation[] = "quasiseparable::to_block";
constexpr int threads = 128;

/// M_ij = out_i^T a_{i-1} ... a_{j+1} in_j.
template <class D>
struct Side {
  gpu::Strided<const D, 3> out, in;
  gpu::Strided<const D, 4> a;
  int order;
  D *p, *q, *a_block;
  index_t p_batch, q_batch, a_batch;
  const index_t* table;
};
template <class D>
struct Problem {
  Side<D> side[2];
  gpu::Strided<const D, 2> d;
  D* diagonal;
  index_t diagonal_batch, n, blocks, batch;
  const index_t* table;
  int columns;  ///< of the states in shared memory
};

/// Columns of the state: those that enter a block, then those of its rows so far. A thread has columns
/// of its own, and meets nobody else.
template <class D, class K>
__global__ void __launch_bounds__(threads) to_block_kernel(const __grid_constant__ Problem<D> p) {
  for (index_t unit = blockIdx.x; unit < p.batch * 2 * p.blocks; unit += gridDim.x) {
    const index_t line = unit / p.blocks, k = unit - line * p.blocks, b = line / 2;
    const int which = static_cast<int>(line % 2);
    const Side<D>& s = p.side[which];
    const int r = s.order;
    const index_t begin = p.table[2 * k], end = p.table[2 * k + 2], rows = end - begin;
    const int entering = k == 0 ? 0 : r, leaving = end == p.n ? 0 : r;
    D* const states = gpu::dynamic_shared<D>();
    D* const next = states + index_t{r} * p.columns;
    D* const block_p = s.p + b * s.p_batch + s.table[5 * k + 1];
    D* const block_q = s.q + b * s.q_batch + s.table[5 * k + 2];
    D* const block_a = s.a_block + b * s.a_batch + s.table[5 * k + 3];
    D* const block_d = p.diagonal + b * p.diagonal_batch + p.table[2 * k + 1];
    for (int c = static_cast<int>(threadIdx.x); c < entering + rows; c += threads) {
      D *x = states + c, *y = next + c;
      const index_t own = c - entering;  // row of the block whose column this is
      if (own >= 0 && which == 0) block_d[own * rows + own] = p.d(b, begin + own);
      for (int l = 0; l < r; ++l) {
        x[index_t{l} * p.columns] = own < 0 ? D(l == c ? 1 : 0) : s.in(b, begin + own, l);
      }
      for (index_t i = own < 0 ? 0 : own + 1; i < rows; ++i) {
        D sum = D(0);
        for (int l = 0; l < r; ++l) {
          sum = gpu::multiply_add(s.out(b, begin + i, l), x[index_t{l} * p.columns], sum);
        }
        if (own < 0) {
          block_p[i * r + c] = sum;
        } else if (which == 0) {
          block_d[i * rows + own] = sum;
        } else {
          block_d[own * rows + i] = sum;
        }
        // Nothing crosses the first row and the last one.
        if (begin + i == 0 || begin + i + 1 == p.n) continue;
        if constexpr (std::same_as<K, transition::Dense>) {
          for (int l = 0; l < r; ++l) {
            D product = D(0);
            for (int j = 0; j < r; ++j) {
              product =
                  gpu::multiply_add(s.a(b, begin + i, l, j), x[index_t{j} * p.columns], product);
            }
            y[index_t{l} * p.columns] = product;
          }
          D* const exchanged = x;
          x = y;
          y = exchanged;
        } else {
          for (int l = 0; l < r; ++l) x[index_t{l} * p.columns] *= s.a(b, begin + i, l, 0);
        }
      }
      for (int l = 0; l < leaving; ++l) {
        const D state = x[index_t{l} * p.columns];
        (own < 0 ? block_a[l * entering + c] : block_q[own * r + l]) = state;
      }
    }
  }
}

/// a(b, i, l, j) for all kinds.
template <class K, Scalar T>
gpu::Strided<const gpu::device_scalar_t<T>, 4> widened(const View<const T, K::rank, space::cuda>& a,
                                                       bool transposed) {
  gpu::Strided<const gpu::device_scalar_t<T>, 4> wide{gpu::device_pointer(a.data()), {}};
  for (int d = 0; d < K::rank; ++d) wide.stride[d] = a.extent(d) == 1 ? 0 : a.stride(d);
  if constexpr (K::rank == 4) {
    if (transposed) std::swap(wide.stride[2], wide.stride[3]);
  }
  return wide;
}

template <Scalar T>
void require_shape(const Quasiseparable<T, transition::Block, space::cuda>& block, index_t n,
                   index_t batch, Order order) {
  if (block.size() != n || block.batch() != batch || block.lower.p.extent(0) != batch ||
      block.upper_transposed.p.extent(0) != batch) {
    throw ShapeError(std::string(operation) + ": the result has " + std::to_string(block.size()) +
                     " rows and batch " + std::to_string(block.batch()) + ", the matrix " +
                     std::to_string(n) + " and " + std::to_string(batch));
  }
  // All inner states are the orders: numbers of elements tell.
  const auto require = [&](const BlockTriangleOnDevice<T>& t, index_t r) {
    const Partition& partition = block.partition;
    const index_t blocks = partition.blocks();
    const index_t first = blocks > 0 ? partition.size(0) : 0,
                  last = blocks > 0 ? partition.size(blocks - 1) : 0;
    if (t.p.extent(1) != (n - first) * r || t.q.extent(1) != (n - last) * r ||
        t.a.extent(1) != std::max<index_t>(blocks - 2, 0) * r * r) {
      throw ShapeError(std::string(operation) + ": the result has states of at most " +
                       std::to_string(t.order) + " numbers, its inner ones must all have " +
                       std::to_string(r));
    }
  };
  require(block.lower, order.lower);
  require(block.upper_transposed, order.upper);
}

}  // namespace

template <Scalar T, transition::Uniform K>
void to_block(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& matrix,
              Quasiseparable<T, transition::Block, space::cuda>& block) {
  using D = gpu::device_scalar_t<T>;
  const auto m = checked(matrix, operation);
  const index_t n = m.size(), batch = m.batch(), blocks = block.partition.blocks();
  const Order order = m.order();
  require_shape(block, n, batch, order);
  const int processors = gpu::multiprocessors(operation);
  if (n == 0 || batch == 0) return;
  index_t most_rows = 0;
  for (index_t k = 0; k < blocks; ++k) most_rows = std::max(most_rows, block.partition.size(k));
  const index_t r = std::max(order.lower, order.upper), columns = r + most_rows;
  constexpr index_t limit = 160 * 1024;
  const index_t bytes = 2 * r * columns * index_t{sizeof(D)};
  if (bytes > limit) {
    throw Unsupported(std::string(operation) + ": blocks of " + std::to_string(most_rows) +
                      " rows with states of " + std::to_string(r) + " numbers need " +
                      std::to_string(bytes) + " bytes of shared memory, up to " +
                      std::to_string(limit) + " are used");
  }
  const auto side = [&](const auto& out, const auto& in, const auto& a, bool transposed,
                        BlockTriangleOnDevice<T>& to) {
    return Side<D>{gpu::strided(out),
                   gpu::strided(in),
                   widened<K, T>(a, transposed),
                   static_cast<int>(out.extent(2)),
                   gpu::device_pointer(to.p.data()),
                   gpu::device_pointer(to.q.data()),
                   gpu::device_pointer(to.a.data()),
                   to.p.extent(1),
                   to.q.extent(1),
                   to.a.extent(1),
                   to.table.data()};
  };
  const Problem<D> p{
      {side(m.p, m.q, m.a, false, block.lower), side(m.h, m.g, m.b, true, block.upper_transposed)},
      gpu::strided(m.d),
      gpu::device_pointer(block.diagonal.all.data()),
      block.diagonal.all.extent(1),
      n,
      blocks,
      batch,
      block.diagonal.table.data(),
      static_cast<int>(columns)};
  gpu::launch(operation, to_block_kernel<D, K>,
              gpu::Grid{gpu::persistent_blocks(batch * 2 * blocks, 1, processors), threads,
                        static_cast<std::size_t>(bytes)},
              gpu::stream_of(e), p);
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Block, space::cuda> to_block(
    const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& matrix, index_t block_size) {
  if (block_size < 0) {
    throw DomainError(std::string(operation) + ": block_size is " + std::to_string(block_size) +
                      ", it must be at least 0");
  }
  const auto m = checked(matrix, operation);
  const Order order = m.order();
  if (block_size == 0) block_size = next_block(std::max(order.lower, order.upper), INT64_MAX);
  Partition partition;
  while (partition.rows() < m.size()) {
    partition.offsets.push_back(std::min(m.size(), partition.rows() + block_size));
  }
  const auto states = [&](index_t r) {
    std::vector<index_t> all(partition.blocks() + 1, r);
    all.front() = all.back() = 0;
    return all;
  };
  auto block =
      block_zeros_on_device<T>(partition, states(order.lower), states(order.upper), m.batch());
  // The zeros are there, whatever the kind of stream.
  gpu::check(cudaDeviceSynchronize(), operation);
  to_block(e, matrix, block);
  return block;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                     \
  template STRUCTMAT_EXPORT void to_block(                                              \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&,      \
      Quasiseparable<T, transition::Block, space::cuda>&);                              \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Block, space::cuda> to_block( \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, index_t);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
