/// \file
/// Generators in the form in which factorisations work.
#pragma once

#include "structmat/quasiseparable/from_semiseparable.hpp"
#include "structmat/quasiseparable/qr.hpp"

namespace structmat::cli {

/// The same matrix, of batch 1, with Block generators.
template <Scalar T, class K>
Quasiseparable<T, transition::Block> blocks_of(const Quasiseparable<T, K>& m) {
  if constexpr (std::same_as<K, transition::Block>) {
    return m;
  } else {
    return quasiseparable::to_solver_blocks(m.view());
  }
}
template <Scalar T, class K>
Quasiseparable<T, transition::Block> blocks_of(const Semiseparable<T, K>& m) {
  if constexpr (std::same_as<K, transition::Block>) {
    Quasiseparable<T, K> q;
    q.partition = m.partition;
    q.lower = m.lower;
    q.upper_transposed = BlockTriangle<T>(
        m.partition, std::vector<index_t>(m.partition.offsets.size(), 0), m.batch());
    q.diagonal = m.diagonal;
    for (index_t k = 0; k < m.partition.blocks(); ++k) {
      const View<T, 2> d = q.diagonal.block(0, k);
      for (index_t i = 0; i < d.extent(0); ++i) {
        for (index_t j = i + 1; j < d.extent(1); ++j) d(i, j) = T{};
      }
    }
    return q;
  } else {
    return blocks_of(quasiseparable::from_semiseparable(m));
  }
}

}  // namespace structmat::cli
