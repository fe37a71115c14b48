#include "structmat/quasiseparable/entry.hpp"

#include "core/instantiate.hpp"
#include "recurrence/block_entry.hpp"
#include "recurrence/walk.hpp"

namespace structmat {
using recurrence::transition_at;
using recurrence::Walk;

template <Scalar T, transition::Uniform K>
T entry(const QuasiseparableView<T, K>& matrix, index_t i, index_t j, index_t batch) {
  const auto m = quasiseparable::checked(matrix, "quasiseparable::entry");
  detail::require_index("quasiseparable::entry", {m.batch(), m.size(), m.size()}, {batch, i, j});
  if (i == j) return m.d(batch, i);
  const bool lower = i > j;
  const auto out = (lower ? m.p : m.g).select(0, batch), in = (lower ? m.q : m.h).select(0, batch);
  const auto a = (lower ? m.a : m.b).select(0, batch);
  const index_t step = lower ? -1 : 1;
  Walk<T> walk(out.select(0, i));
  for (index_t k = i + step; k != j; k += step) walk.through(transition_at(a, k));
  return walk.times(in.select(0, j));
}

template <Scalar T, transition::Uniform K>
void to_dense(const QuasiseparableView<T, K>& matrix, View<T, 3> dense) {
  const auto m = quasiseparable::checked(matrix, "quasiseparable::to_dense");
  const index_t n = m.size();
  detail::require_extents("quasiseparable::to_dense", dense, {m.batch(), n, n});
  const auto row = [n](const auto& out, const auto& in, const auto& a, index_t i, index_t step,
                       const View<T, 1>& target) {
    Walk<T> walk(out.select(0, i));
    for (index_t j = i + step; j >= 0 && j < n; j += step) {
      target(j) = walk.times(in.select(0, j));
      walk.through(transition_at(a, j));
    }
  };
  for (index_t b = 0; b < m.batch(); ++b) {
    const auto p = m.p.select(0, b), q = m.q.select(0, b), g = m.g.select(0, b),
               h = m.h.select(0, b);
    const auto lower = m.a.select(0, b), upper = m.b.select(0, b);
    for (index_t i = 0; i < n; ++i) {
      const View<T, 1> target = dense.select(0, b).select(0, i);
      row(p, q, lower, i, -1, target);
      target(i) = m.d(b, i);
      row(g, h, upper, i, 1, target);
    }
  }
}

template <Scalar T>
T entry(const Quasiseparable<T, transition::Block>& m, index_t i, index_t j, index_t batch) {
  detail::require_index("quasiseparable::entry", {m.batch(), m.size(), m.size()}, {batch, i, j});
  const index_t bi = m.partition.find(i), bj = m.partition.find(j);
  if (bi == bj) {
    return m.diagonal.block(batch, bi)(i - m.partition.begin(bi), j - m.partition.begin(bj));
  }
  return bi > bj ? recurrence::block_entry(m.partition, m.lower, batch, i, j)
                 : recurrence::block_entry(m.partition, m.upper_transposed, batch, j, i);
}

template <Scalar T>
void to_dense(const Quasiseparable<T, transition::Block>& m, View<T, 3> dense) {
  const index_t n = m.size();
  detail::require_extents("quasiseparable::to_dense", dense, {m.batch(), n, n});
  for (index_t b = 0; b < m.batch(); ++b) {
    const View<T, 2> target = dense.select(0, b);
    recurrence::block_to_dense(m.partition, m.lower, b, target);
    recurrence::block_to_dense(m.partition, m.upper_transposed, b, target.transposed());
    for (index_t i = 0; i < m.partition.blocks(); ++i) {
      const index_t begin = m.partition.begin(i), end = begin + m.partition.size(i);
      copy(m.diagonal.block(b, i), target.slice(0, begin, end).slice(1, begin, end));
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                                \
  template STRUCTMAT_EXPORT T entry<T, transition::K>(const QuasiseparableView<T, transition::K>&, \
                                                      index_t, index_t, index_t);                  \
  template STRUCTMAT_EXPORT void to_dense<T, transition::K>(                                       \
      const QuasiseparableView<T, transition::K>&, View<T, 3>);
#define STRUCTMAT_INSTANTIATE_KINDS(T)                                                       \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE, T)                                              \
  template STRUCTMAT_EXPORT T entry<T>(const Quasiseparable<T, transition::Block>&, index_t, \
                                       index_t, index_t);                                    \
  template STRUCTMAT_EXPORT void to_dense<T>(const Quasiseparable<T, transition::Block>&,    \
                                             View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_KINDS)

}  // namespace structmat
