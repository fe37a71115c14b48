/// \file
/// The compressions M_k of one part of a matrix, from the products that determine them.
#pragma once

#include <vector>

#include "structmat/core/array.hpp"

namespace structmat::verify {

/// M_{k+1} = M_k - conj(g2_k) x1_k^T + conj(x2_k) g1_k^T with rows k of g1, g2, x1, x2.
template <Scalar T>
struct Compressions {
  /// Rows between two stored compressions.
  static constexpr index_t segment = 64;

  static index_t segments(index_t n) { return (n + segment - 1) / segment; }

  /// Zero products for n rows and s probes; g1, g2: (n, s), the last stride 1.
  Compressions(View<const T, 2> probes1, View<const T, 2> probes2)
      : g1(probes1),
        g2(probes2),
        x1(probes1.extents()),
        x2(probes1.extents()),
        starts({segments(size()) + 1, probes(), probes()}) {}

  index_t size() const { return g1.extent(0); }
  index_t probes() const { return g1.extent(1); }
  /// M_k of the first row k of segment i; that of segments(n) is M_n.
  View<T, 2> start(index_t i) { return starts.view().select(0, i); }

  View<const T, 2> g1, g2;
  Array<T, 2> x1, x2;
  Array<T, 3> starts;
};

/// Follows the recurrence through the starts of segments, except those at a multiple of `given`
/// (in segments), which are known already. Calls BLAS.
template <Scalar T>
void fill_starts(Compressions<T>& c, index_t given);

/// M_k, s x s.
template <Scalar T>
Array<T, 2> compression(const Compressions<T>& c, index_t k);

/// For all k from 1 to n - 1 an upper bound of the singular value number `order` + 1 of M_k (entry
/// k), by QR factorisations of `order` columns; 0 <= order < s. Does not call BLAS.
template <Scalar T>
std::vector<double> bounds(const Compressions<T>& c, index_t order, int threads);

}  // namespace structmat::verify
