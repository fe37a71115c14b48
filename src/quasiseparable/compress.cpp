#include "structmat/quasiseparable/compress.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/instantiate.hpp"
#include "quasiseparable/finite_blocks.hpp"
#include "quasiseparable/truncation_options.hpp"
#include "recurrence/normal_form.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::quasiseparable {
namespace {

using recurrence::BlockList;

void require_finite_norm(const char* operation, double norm) {
  if (std::isfinite(norm)) return;
  throw DomainError(std::string(operation) +
                    ": products of generators are not finite, although the generators are");
}

template <Scalar T>
double diagonal_norm(const Quasiseparable<T, transition::Block>& m, index_t batch) {
  double norm = 0;
  for (index_t k = 0; k < m.partition.blocks(); ++k) {
    norm = std::hypot(norm, dense::frobenius_norm<T>(m.diagonal.block(batch, k)));
  }
  return norm;
}

/// States in input-normal form become balanced: x_k is exchanged by diag(sigma_k)^(1/2) x_k.
template <Scalar T>
void balance(BlockList<T>& list, const std::vector<std::vector<real_t<T>>>& values) {
  const auto root = [&](index_t k, index_t l) { return std::sqrt(values[k][l]); };
  for (index_t k = 0; k < list.blocks(); ++k) {
    Array<T, 2>&p = list.p[k], &a = list.a[k], &q = list.q[k];
    for (index_t l = 0; l < p.extent(1); ++l) {
      for (index_t i = 0; i < p.extent(0); ++i) p(i, l) /= root(k, l);
      for (index_t i = 0; i < a.extent(0); ++i) a(i, l) /= root(k, l);
    }
    for (index_t l = 0; l < a.extent(0); ++l) {
      for (index_t i = 0; i < a.extent(1); ++i) a(l, i) *= root(k + 1, l);
      for (index_t i = 0; i < q.extent(0); ++i) q(i, l) *= root(k + 1, l);
    }
  }
}

}  // namespace

template <Scalar T>
Compressed<T> compress(const Quasiseparable<T, transition::Block>& m,
                       const CompressOptions& options) {
  constexpr auto operation = "quasiseparable::compress";
  require_truncation(operation, options);
  require_finite(operation, m);
  const index_t n = m.size(), blocks = m.partition.blocks();

  Compressed<T> result;
  result.matrix.partition = m.partition;
  result.matrix.diagonal = m.diagonal;
  std::vector<BlockList<T>> lower, upper;
  for (index_t b = 0; b < m.batch(); ++b) {
    lower.push_back(recurrence::block_list(m.partition, m.lower, b));
    upper.push_back(recurrence::block_list(m.partition, m.upper_transposed, b));
    double norm = diagonal_norm(m, b);
    for (BlockList<T>* list : {&lower[b], &upper[b]}) {
      recurrence::make_rows_isometric(*list);
      norm = std::hypot(norm, recurrence::frobenius_norm(*list));
    }
    require_finite_norm(operation, norm);
    const double allowed = options.absolute_tolerance.value_or(
        options.tolerance.value_or(double(n) * double(epsilon<T>)) * norm);

    double squares = 0, rounding = 0;
    for (BlockList<T>* list : {&lower[b], &upper[b]}) {
      const index_t most = !options.order      ? INT64_MAX
                           : list == &lower[b] ? options.order->lower
                                               : options.order->upper;
      // Read from the other end, columns are rows: block k there is block blocks - 1 - k here.
      const auto truncation = [&](index_t k) {
        const double share = double(m.partition.size(blocks - 1 - k)) / double(n);
        return recurrence::BlockTruncation{allowed * std::sqrt(0.5 * share), most};
      };
      std::vector<std::vector<real_t<T>>> values;
      *list = recurrence::reversed(std::move(*list));
      const recurrence::Dropped dropped = recurrence::truncate_rows(*list, truncation, &values);
      *list = recurrence::reversed(std::move(*list));
      squares += dropped.squares;
      rounding += dropped.rounding;
      if (options.form == CompressOptions::Form::balanced) {
        // In front of block k here is behind block blocks - 1 - k there.
        std::reverse(values.begin(), values.end());
        values.insert(values.begin(), std::vector<real_t<T>>{});
        values.resize(static_cast<std::size_t>(blocks + 1));
        balance(*list, values);
      }
    }
    result.truncation_error = std::max(result.truncation_error, std::sqrt(squares));
    result.rounding_bound = std::max(result.rounding_bound, rounding);
    result.frobenius_norm = std::max(result.frobenius_norm, norm);
  }
  result.matrix.lower = recurrence::assemble(m.partition, lower);
  result.matrix.upper_transposed = recurrence::assemble(m.partition, upper);
  return result;
}

template <Scalar T>
double frobenius_norm(const Quasiseparable<T, transition::Block>& m, index_t batch) {
  constexpr auto operation = "quasiseparable::frobenius_norm";
  require_finite(operation, m);
  double norm = diagonal_norm(m, batch);
  for (const BlockTriangle<T>* triangle : {&m.lower, &m.upper_transposed}) {
    BlockList<T> list = recurrence::block_list(m.partition, *triangle, batch);
    recurrence::make_rows_isometric(list);
    norm = std::hypot(norm, recurrence::frobenius_norm(list));
  }
  require_finite_norm(operation, norm);
  return norm;
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT Compressed<T> compress<T>(const Quasiseparable<T, transition::Block>&, \
                                                      const CompressOptions&);                     \
  template STRUCTMAT_EXPORT double frobenius_norm<T>(const Quasiseparable<T, transition::Block>&,  \
                                                     index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
