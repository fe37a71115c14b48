/// \file
/// Cotangents of generators: where the `_vjp` functions of the family put gradients.
///
/// One convention for all of them: for a real loss L, dL = Re <x_bar, dx> with <u, v> = sum conj(u)
/// v, so that the cotangent of x in y = M x is M^H y_bar. Cotangents are added to; the caller
/// zeroes them.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat {

/// Views shaped like the generators of one matrix; each may be empty (data() null): not wanted. A
/// batch extent 1 beside a larger batch of the operation collects the sum over the batch, which is
/// the cotangent of broadcast generators.
template <Scalar T, transition::Uniform K, class Space = space::host>
struct QuasiseparableCotangent {
  View<T, 3, Space> p{}, q{};
  View<T, K::rank, Space> a{};
  View<T, 2, Space> d{};
  View<T, 3, Space> g{}, h{};
  View<T, K::rank, Space> b{};

  QuasiseparableCotangent() = default;
  /// All generators of a matrix that serves as storage.
  explicit QuasiseparableCotangent(Quasiseparable<T, K, Space>& m)
      : p(m.p), q(m.q), a(m.a), d(m.d), g(m.g), h(m.h), b(m.b) {}
};

}  // namespace structmat
