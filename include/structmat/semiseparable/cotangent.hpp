/// \file
/// Cotangents of generators; the convention is that of quasiseparable/cotangent.hpp.
#pragma once

#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat {

/// Views shaped like the generators of one matrix; each may be empty (data() null): not wanted. A
/// batch extent 1 beside a larger batch of the operation collects the sum over the batch.
template <Scalar T, transition::Uniform K, class Space = space::host>
struct SemiseparableCotangent {
  View<T, 3, Space> c{}, b{};
  View<T, K::rank, Space> a{};

  SemiseparableCotangent() = default;
  /// All generators of a matrix that serves as storage.
  explicit SemiseparableCotangent(Semiseparable<T, K, Space>& m) : c(m.c), b(m.b), a(m.a) {}
};

}  // namespace structmat
