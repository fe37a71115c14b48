#include "structmat/quasiseparable/from_dense.hpp"

#include "core/instantiate.hpp"
#include "dense/inspect.cuh"
#include "quasiseparable/triangle_sweep.cuh"
#include "quasiseparable/truncation_options.hpp"

namespace structmat::quasiseparable {
namespace {

constexpr auto operation = "quasiseparable::from_dense";

/// Generators of one triangle on the device, in the order and layout of BlockTriangle.
template <class D>
struct Parts {
  Pool<D> p, a, q;
  std::vector<index_t> states{0};

  template <Scalar T>
  BlockTriangle<T> fetch(const Partition& partition) const {
    BlockTriangle<T> t(partition, states);
    p.fetch(operation, gpu::device_pointer(t.all_p().data()));
    a.fetch(operation, gpu::device_pointer(t.all_a().data()));
    q.fetch(operation, gpu::device_pointer(t.all_q().data()));
    return t;
  }
};

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
  Pool<D> step, diagonal;
  std::array<Parts<D>, 2> parts;
  // to (rows x columns, row-major) := factor * from, or factor times its conjugate.
  const auto write = [&](gpu::Strided<const D, 2> from, Pool<D>& to, index_t rows, index_t columns,
                         R factor, bool conjugated) {
    gpu::copy_matrix<D>(operation, from, gpu::Strided<D, 2>{to.take(rows * columns), {columns, 1}},
                        rows, columns, processors, stream, factor, conjugated);
  };
  while (partition.rows() < n) {
    const index_t begin = partition.rows();
    const index_t size =
        options.block_size ? std::min(*options.block_size, n - begin)
                           : next_device_block(std::max(sweep.state(0), sweep.state(1)), n - begin);
    partition.offsets.push_back(begin + size);
    write(gpu::strided(m.slice(0, begin, begin + size).slice(1, begin, begin + size)), diagonal,
          size, size, R(1), false);
    // The squared error allowed is shared out by rows, half of it to each triangle.
    const double tail = scale * allowed * std::sqrt(0.5 * double(size) / double(n));
    std::array<Truncation, 2> truncation{{{tail, INT64_MAX, false}, {tail, INT64_MAX, false}}};
    if (options.order) {
      truncation[0].most = options.order->lower;
      truncation[1].most = options.order->upper;
    }
    step.clear();
    std::array<index_t, 2> before{};
    for (int i = 0; i < 2; ++i) {
      before[i] = sweep.state(i);
      const D* const p = sweep.rows(i, begin, size, step);
      write({p, {1, size}}, parts[i].p, size, before[i], R(1 / scale), false);
    }
    sweep.advance(begin, size, truncation, step);
    for (int i = 0; i < 2; ++i) {
      // [A, Q^T]: the rows of V^H.
      const index_t columns = before[i] + size, kept = sweep.state(i);
      const D* const v = sweep.basis(i);
      write({v, {columns, 1}}, parts[i].a, kept, before[i], R(1), true);
      write({v + before[i], {1, columns}}, parts[i].q, size, kept, R(1), true);
      parts[i].states.push_back(kept);
      // Once for the products of a step, and once more for what a sketch that grows puts back.
      result.rounding_bound += 8 * unit * std::sqrt(double(columns)) * sweep.norm(i) / scale;
    }
  }
  gpu::check(cudaStreamSynchronize(stream), operation);

  result.matrix.lower = parts[0].template fetch<T>(partition);
  result.matrix.upper_transposed = parts[1].template fetch<T>(partition);
  result.matrix.diagonal = BlockDiagonal<T>(partition);
  diagonal.fetch(operation, gpu::device_pointer(result.matrix.diagonal.all().data()));
  result.truncation_error = std::sqrt(sweep.dropped_squares(0) + sweep.dropped_squares(1)) / scale;
  return result;
}

#define STRUCTMAT_INSTANTIATE(T)                        \
  template STRUCTMAT_EXPORT FromDense<T> from_dense<T>( \
      const exec::cuda&, View<const T, 2, space::cuda>, const FromDenseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
