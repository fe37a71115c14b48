#include "structmat/semiseparable/entry.hpp"

#include "core/instantiate.hpp"
#include "recurrence/block_entry.hpp"
#include "recurrence/walk.hpp"

namespace structmat {

using recurrence::transition_at;
using recurrence::Walk;

template <Scalar T, transition::Uniform K>
T entry(const SemiseparableView<T, K>& matrix, index_t i, index_t j, index_t batch) {
  const auto m = semiseparable::checked(matrix, "semiseparable::entry");
  detail::require_index("semiseparable::entry", {m.batch(), m.size(), m.size()}, {batch, i, j});
  if (i < j) return T{};
  const auto a = m.a.select(0, batch);
  Walk<T> walk(m.c.select(0, batch).select(0, i));
  for (index_t k = i; k > j; --k) walk.through(transition_at(a, k));
  return walk.times(m.b.select(0, batch).select(0, j));
}

template <Scalar T, transition::Uniform K>
void to_dense(const SemiseparableView<T, K>& matrix, View<T, 3> dense) {
  const auto m = semiseparable::checked(matrix, "semiseparable::to_dense");
  const index_t n = m.size();
  detail::require_extents("semiseparable::to_dense", dense, {m.batch(), n, n});
  for (index_t batch = 0; batch < m.batch(); ++batch) {
    const auto c = m.c.select(0, batch), b = m.b.select(0, batch);
    const auto a = m.a.select(0, batch);
    for (index_t i = 0; i < n; ++i) {
      const View<T, 1> row = dense.select(0, batch).select(0, i);
      Walk<T> walk(c.select(0, i));
      for (index_t j = i; j >= 0; --j) {
        row(j) = walk.times(b.select(0, j));
        if (j > 0) walk.through(transition_at(a, j));
      }
      for (index_t j = i + 1; j < n; ++j) row(j) = T{};
    }
  }
}

template <Scalar T>
T entry(const Semiseparable<T, transition::Block>& m, index_t i, index_t j, index_t batch) {
  detail::require_index("semiseparable::entry", {m.batch(), m.size(), m.size()}, {batch, i, j});
  if (i < j) return T{};
  const index_t bi = m.partition.find(i), bj = m.partition.find(j);
  if (bi == bj) {
    return m.diagonal.block(batch, bi)(i - m.partition.begin(bi), j - m.partition.begin(bj));
  }
  return recurrence::block_entry(m.partition, m.lower, batch, i, j);
}

template <Scalar T>
void to_dense(const Semiseparable<T, transition::Block>& m, View<T, 3> dense) {
  const index_t n = m.size();
  detail::require_extents("semiseparable::to_dense", dense, {m.batch(), n, n});
  for (index_t batch = 0; batch < m.batch(); ++batch) {
    const View<T, 2> target = dense.select(0, batch);
    recurrence::block_to_dense(m.partition, m.lower, batch, target);
    for (index_t bi = 0; bi < m.partition.blocks(); ++bi) {
      const index_t begin = m.partition.begin(bi), size = m.partition.size(bi);
      const View<const T, 2> d = m.diagonal.block(batch, bi);
      for (index_t i = 0; i < size; ++i) {
        for (index_t j = 0; j <= i; ++j) target(begin + i, begin + j) = d(i, j);
        for (index_t j = begin + i + 1; j < n; ++j) target(begin + i, j) = T{};
      }
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                               \
  template STRUCTMAT_EXPORT T entry<T, transition::K>(const SemiseparableView<T, transition::K>&, \
                                                      index_t, index_t, index_t);                 \
  template STRUCTMAT_EXPORT void to_dense<T, transition::K>(                                      \
      const SemiseparableView<T, transition::K>&, View<T, 3>);
#define STRUCTMAT_INSTANTIATE_KINDS(T)                                                      \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE, T)                                             \
  template STRUCTMAT_EXPORT T entry<T>(const Semiseparable<T, transition::Block>&, index_t, \
                                       index_t, index_t);                                   \
  template STRUCTMAT_EXPORT void to_dense<T>(const Semiseparable<T, transition::Block>&,    \
                                             View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_KINDS)

}  // namespace structmat
