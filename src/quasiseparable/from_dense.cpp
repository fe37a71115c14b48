#include "structmat/quasiseparable/from_dense.hpp"

#include <vector>

#include "core/instantiate.hpp"
#include "quasiseparable/triangle_sweep.hpp"
#include "quasiseparable/truncation_options.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::quasiseparable {
namespace {

/// Generators of one triangle while the partition is still growing.
template <Scalar T>
struct Parts {
  std::vector<Array<T, 2>> p, basis;
  std::vector<index_t> states{0};

  BlockTriangle<T> assemble(const Partition& partition) const {
    BlockTriangle<T> t(partition, states);
    for (index_t i = 0; i < partition.blocks(); ++i) {
      const index_t entering = states[i];
      copy(p[i].view(), t.p(0, i));
      copy(basis[i].view().slice(1, 0, entering), t.a(0, i));
      copy(View<const T, 2>(basis[i].view().slice(1, entering, basis[i].extent(1)).transposed()),
           t.q(0, i));
    }
    return t;
  }
};

}  // namespace

template <Scalar T>
FromDense<T> from_dense(View<const T, 2> m, const FromDenseOptions& options) {
  constexpr auto operation = "quasiseparable::from_dense";
  const index_t n = m.extent(0);
  dense::require_square(operation, m);
  require_truncation(operation, options);
  if (options.block_size && *options.block_size < 1) {
    throw DomainError(std::string(operation) + ": block_size is " +
                      std::to_string(*options.block_size) + ", it must be at least 1");
  }
  dense::require_finite(operation, m);

  FromDense<T> result;
  result.frobenius_norm = dense::frobenius_norm(m);
  const double unit = double(epsilon<T>);
  const double allowed = options.absolute_tolerance.value_or(
      options.tolerance.value_or(double(n) * unit) * result.frobenius_norm);

  Partition& partition = result.matrix.partition;
  TriangleSweep<T> lower(m), upper(m.transposed());
  Parts<T> lower_parts, upper_parts;
  std::vector<Array<T, 2>> diagonal;
  const auto pass = [&](TriangleSweep<T>& sweep, Parts<T>& parts, index_t begin, index_t size,
                        index_t most) {
    parts.p.push_back(sweep.rows(begin, size));
    const index_t columns = size + sweep.state();
    // The squared error allowed is shared out by rows, half of it to each triangle.
    sweep.advance(begin, size, {allowed * std::sqrt(0.5 * double(size) / double(n)), most, false});
    parts.basis.push_back(sweep.basis());
    parts.states.push_back(sweep.state());
    result.rounding_bound += 4 * unit * std::sqrt(double(columns)) * sweep.norm();
  };
  while (partition.rows() < n) {
    const index_t begin = partition.rows();
    const index_t order = std::max(lower.state(), upper.state());
    const index_t size = options.block_size ? std::min(*options.block_size, n - begin)
                                            : next_block(order, n - begin);
    partition.offsets.push_back(begin + size);
    diagonal.push_back(to_array(m.slice(0, begin, begin + size).slice(1, begin, begin + size)));
    pass(lower, lower_parts, begin, size, options.order ? options.order->lower : INT64_MAX);
    pass(upper, upper_parts, begin, size, options.order ? options.order->upper : INT64_MAX);
  }

  result.matrix.lower = lower_parts.assemble(partition);
  result.matrix.upper_transposed = upper_parts.assemble(partition);
  result.matrix.diagonal = BlockDiagonal<T>(partition);
  for (index_t i = 0; i < partition.blocks(); ++i) {
    copy(std::as_const(diagonal[i]).view(), result.matrix.diagonal.block(0, i));
  }
  result.truncation_error = std::sqrt(lower.dropped_squares() + upper.dropped_squares());
  return result;
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT FromDense<T> from_dense<T>(View<const T, 2>, const FromDenseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
