#include "structmat/quasiseparable/from_banded.hpp"

#include <algorithm>

#include "core/instantiate.hpp"
#include "quasiseparable/off_diagonal.hpp"

namespace structmat::quasiseparable {
namespace {

/// One triangle of the band: entry(b, i, k) is M_{i, i - k} below, M_{i - k, i} above.
template <Scalar T, class Entry>
BlockTriangle<T> block_triangle(const Partition& partition, index_t width, index_t batch,
                                const Entry& entry) {
  const index_t blocks = partition.blocks();
  std::vector<index_t> states(blocks + 1, width);
  states.front() = states.back() = 0;
  BlockTriangle<T> t(partition, std::move(states), batch);
  for (index_t b = 0; b < batch; ++b) {
    // State k at a boundary is x of the row k + 1 in front of it.
    for (index_t i = 1; i < blocks; ++i) {
      for (index_t row = 0; row < std::min(width, partition.size(i)); ++row) {
        for (index_t k = 0; row + k + 1 <= width; ++k) {
          t.p(b, i)(row, k) = entry(b, partition.begin(i) + row, row + k + 1);
        }
      }
      const View<T, 2> q = t.q(b, i - 1);
      for (index_t k = 0; k < width; ++k) q(q.extent(0) - 1 - k, k) = T{1};
    }
  }
  return t;
}

}  // namespace

template <Scalar T, class K>
requires(std::same_as<K, transition::Dense> || std::same_as<K, transition::Block>)
    Quasiseparable<T, K> from_banded(View<const T, 3> diagonals, Order bandwidth) {
  const auto [l, u] = bandwidth;
  if (l < 0 || u < 0 || diagonals.extent(1) != l + u + 1) {
    throw ShapeError("quasiseparable::from_banded: there are " +
                     std::to_string(diagonals.extent(1)) + " diagonals, the bandwidth is (" +
                     std::to_string(l) + ", " + std::to_string(u) + ")");
  }
  const index_t n = diagonals.extent(2), batch = diagonals.extent(0);
  const auto entry = [&, upper = u](index_t b, index_t i, index_t j) {
    return diagonals(b, upper + i - j, j);
  };
  if constexpr (std::same_as<K, transition::Block>) {
    constexpr index_t least_block = 8;
    Quasiseparable<T, K> m;
    for (const index_t size = std::max({l, u, least_block}); m.partition.rows() < n;) {
      m.partition.offsets.push_back(std::min(n, m.partition.rows() + size));
    }
    m.lower = block_triangle<T>(
        m.partition, l, batch, [&](index_t b, index_t i, index_t k) { return entry(b, i, i - k); });
    m.upper_transposed = block_triangle<T>(
        m.partition, u, batch, [&](index_t b, index_t i, index_t k) { return entry(b, i - k, i); });
    m.diagonal = BlockDiagonal<T>(m.partition, batch);
    for (index_t b = 0; b < batch; ++b) {
      for (index_t i = 0; i < m.partition.blocks(); ++i) {
        const View<T, 2> block = m.diagonal.block(b, i);
        const index_t begin = m.partition.begin(i), size = m.partition.size(i);
        for (index_t row = 0; row < size; ++row) {
          for (index_t j = std::max<index_t>(0, row - l); j < std::min(size, row + u + 1); ++j) {
            block(row, j) = entry(b, begin + row, begin + j);
          }
        }
      }
    }
    return m;
  } else {
    Quasiseparable<T, K> m(n, bandwidth, batch);
    for (index_t b = 0; b < batch; ++b) {
      for (index_t i = 0; i < n; ++i) {
        m.d(b, i) = entry(b, i, i);
        for (index_t k = 0; k < std::min(l, i); ++k) m.p(b, i, k) = entry(b, i, i - 1 - k);
        for (index_t k = 0; k < std::min(u, n - 1 - i); ++k) m.g(b, i, k) = entry(b, i, i + 1 + k);
        if (l > 0) m.q(b, i, 0) = T{1};
        if (u > 0) m.h(b, i, 0) = T{1};
        for (index_t k = 0; k + 1 < l; ++k) m.a(b, i, k + 1, k) = T{1};
        for (index_t k = 0; k + 1 < u; ++k) m.b(b, i, k + 1, k) = T{1};
      }
    }
    return m;
  }
}

template <Scalar T>
Quasiseparable<T, transition::Scalar> from_tridiagonal(View<const T, 2> sub,
                                                       View<const T, 2> diagonal,
                                                       View<const T, 2> super) {
  const OffDiagonals<T> t("quasiseparable::from_tridiagonal", diagonal, "sub", sub, "super", super);
  const index_t n = t.size();
  Quasiseparable<T, transition::Scalar> m(n, {1, 1}, t.batch());
  copy(t.diagonal, m.d.view());
  for (T& one : m.q) one = T{1};
  for (T& one : m.h) one = T{1};
  for (index_t b = 0; b < t.batch(); ++b) {
    for (index_t i = 0; i + 1 < n; ++i) {
      m.p(b, i + 1, 0) = t.below(b, i);
      m.g(b, i, 0) = t.above(b, i);
    }
  }
  return m;
}

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Dense>                       \
      from_banded<T, transition::Dense>(View<const T, 3>, Order);                      \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Block>                       \
      from_banded<T, transition::Block>(View<const T, 3>, Order);                      \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Scalar> from_tridiagonal<T>( \
      View<const T, 2>, View<const T, 2>, View<const T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
