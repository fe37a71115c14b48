#include "structmat/quasiseparable/from_dense.hpp"

#include "core/instantiate.hpp"
#include "dense/inspect.cuh"
#include "quasiseparable/triangle_sweep.cuh"
#include "quasiseparable/truncation_options.hpp"

namespace structmat::quasiseparable {
namespace {

constexpr auto operation = "quasiseparable::from_dense";

/// Generators of one triangle, block by block, on the device.
template <Scalar T>
struct Parts {
  using Piece = typename PairSweep<T>::Piece;
  std::vector<Piece> p, basis;
  std::vector<index_t> states{0};
};

/// The triangle on the host; p is multiplied by `scale`.
template <Scalar T, class D>
BlockTriangle<T> assemble(const Partition& partition, const Parts<T>& parts, const Pool<D>& pool,
                          real_t<T> scale) {
  BlockTriangle<T> t(partition, parts.states);
  for (index_t i = 0; i < partition.blocks(); ++i) {
    const index_t size = partition.size(i), entering = parts.states[i],
                  leaving = parts.states[i + 1], columns = entering + size;
    const T* const p = reinterpret_cast<const T*>(pool.fetched(parts.p[i]));
    const T* const basis = reinterpret_cast<const T*>(pool.fetched(parts.basis[i]));
    const View<T, 2> to_p = t.p(0, i), to_a = t.a(0, i), to_q = t.q(0, i);
    for (index_t l = 0; l < entering; ++l) {
      for (index_t r = 0; r < size; ++r) to_p(r, l) = p[r + l * size] * scale;
    }
    for (index_t l = 0; l < leaving; ++l) {
      const T* const row = basis + l * columns;
      for (index_t c = 0; c < entering; ++c) to_a(l, c) = conjugate(row[c]);
      for (index_t r = 0; r < size; ++r) to_q(r, l) = conjugate(row[entering + r]);
    }
  }
  return t;
}

/// About four times the order: few steps of large products.
index_t next_device_block(index_t order, index_t left) {
  constexpr index_t least = 32, most = 256;
  return std::min(left, std::clamp(4 * order, least, most));
}

}  // namespace

template <Scalar T>
FromDense<T> from_dense(const exec::cuda& e, View<const T, 2, space::cuda> m,
                        const FromDenseOptions& options) {
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;
  const index_t n = m.extent(0);
  if (m.extent(1) != n) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(n) + " x " +
                     std::to_string(m.extent(1)) + ", it must be square");
  }
  require_truncation(operation, options);
  if (options.block_size && *options.block_size < 1) {
    throw DomainError(std::string(operation) + ": block_size is " +
                      std::to_string(*options.block_size) + ", it must be at least 1");
  }
  const cudaStream_t stream = gpu::stream_of(e);
  const int processors = gpu::multiprocessors(operation);

  FromDense<T> result;
  result.frobenius_norm = gpu::finite_norm<T>(operation, m, processors, stream);
  const double unit = double(epsilon<T>), norm = result.frobenius_norm;
  const double allowed =
      options.absolute_tolerance.value_or(options.tolerance.value_or(double(n) * unit) * norm);
  // Kernels expect entries at a scale about 1. A power of two, so that no bit changes.
  constexpr int furthest = std::numeric_limits<R>::max_exponent - 2;
  const int exponent = norm > 0 ? std::clamp(std::ilogb(norm), -furthest, furthest) : 0;
  const double scale = std::ldexp(1.0, -exponent);

  Partition& partition = result.matrix.partition;
  PairSweep<T> sweep(operation, e, m, R(scale));
  Pool<D> pool;
  std::array<Parts<T>, 2> parts;
  std::vector<typename Pool<D>::Piece> diagonal;
  while (partition.rows() < n) {
    const index_t begin = partition.rows();
    const index_t size =
        options.block_size ? std::min(*options.block_size, n - begin)
                           : next_device_block(std::max(sweep.state(0), sweep.state(1)), n - begin);
    partition.offsets.push_back(begin + size);
    diagonal.push_back(pool.take(size * size));
    const auto block = m.slice(0, begin, begin + size).slice(1, begin, begin + size);
    gpu::copy_matrix<D>(operation, gpu::strided(block),
                        gpu::Strided<D, 2>{pool[diagonal.back()], {size, 1}}, size, size,
                        processors, stream);
    // The squared error allowed is shared out by rows, half of it to each triangle.
    const double tail = scale * allowed * std::sqrt(0.5 * double(size) / double(n));
    std::array<Truncation, 2> truncation{{{tail, INT64_MAX, false}, {tail, INT64_MAX, false}}};
    if (options.order) {
      truncation[0].most = options.order->lower;
      truncation[1].most = options.order->upper;
    }
    std::array<index_t, 2> columns{};
    for (int i = 0; i < 2; ++i) {
      parts[i].p.push_back(sweep.rows(i, begin, size, pool));
      columns[i] = size + sweep.state(i);
    }
    sweep.advance(begin, size, truncation, pool);
    for (int i = 0; i < 2; ++i) {
      parts[i].basis.push_back(sweep.basis(i));
      parts[i].states.push_back(sweep.state(i));
      // Once for the products of a step, and once more for what a sketch that grows puts back.
      result.rounding_bound += 8 * unit * std::sqrt(double(columns[i])) * sweep.norm(i) / scale;
    }
  }
  gpu::check(cudaStreamSynchronize(stream), operation);
  pool.fetch();

  result.matrix.lower = assemble<T>(partition, parts[0], pool, R(1 / scale));
  result.matrix.upper_transposed = assemble<T>(partition, parts[1], pool, R(1 / scale));
  result.matrix.diagonal = BlockDiagonal<T>(partition);
  for (index_t i = 0; i < partition.blocks(); ++i) {
    const index_t size = partition.size(i);
    copy(View<const T, 2>(reinterpret_cast<const T*>(pool.fetched(diagonal[i])), {size, size}),
         result.matrix.diagonal.block(0, i));
  }
  result.truncation_error = std::sqrt(sweep.dropped_squares(0) + sweep.dropped_squares(1)) / scale;
  return result;
}

#define STRUCTMAT_INSTANTIATE(T)                        \
  template STRUCTMAT_EXPORT FromDense<T> from_dense<T>( \
      const exec::cuda&, View<const T, 2, space::cuda>, const FromDenseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
