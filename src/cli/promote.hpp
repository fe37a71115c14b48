/// \file
/// Exact widening of scalar types: float to double, real to complex.
#pragma once

#include <algorithm>

#include "structmat/io/generators.hpp"

namespace structmat::cli {

namespace detail {
template <Scalar T, Scalar U>
struct Common {
  using Real = std::conditional_t<(sizeof(real_t<T>) > sizeof(real_t<U>)), real_t<T>, real_t<U>>;
  using type = std::conditional_t<is_complex_v<T> || is_complex_v<U>, std::complex<Real>, Real>;
};
}  // namespace detail

/// The narrowest type that holds every value of T and of U.
template <Scalar T, Scalar U>
using common_t = typename detail::Common<T, U>::type;

template <Scalar T, Scalar U, int Rank>
void promote(const Array<U, Rank>& from, Array<T, Rank>& to) {
  to = Array<T, Rank>(from.extents(), uninitialized);
  std::transform(from.begin(), from.end(), to.begin(), [](const U& x) { return T(x); });
}
template <Scalar T, Scalar U>
void promote(const BlockTriangle<U>& from, const Partition& partition, BlockTriangle<T>& to) {
  to = BlockTriangle<T>(partition, from.states(), from.batch());
  promote(from.all_p(), to.all_p());
  promote(from.all_q(), to.all_q());
  promote(from.all_a(), to.all_a());
}
template <Scalar T, Scalar U>
void promote(const BlockDiagonal<U>& from, const Partition& partition, BlockDiagonal<T>& to) {
  to = BlockDiagonal<T>(partition, from.batch());
  promote(from.all(), to.all());
}

/// The same matrix with scalars of type T.
template <Scalar T, Scalar U, class K>
Quasiseparable<T, K> promoted(const Quasiseparable<U, K>& m) {
  Quasiseparable<T, K> r;
  if constexpr (std::same_as<K, transition::Block>) {
    r.partition = m.partition;
    promote(m.lower, m.partition, r.lower);
    promote(m.upper_transposed, m.partition, r.upper_transposed);
    promote(m.diagonal, m.partition, r.diagonal);
  } else {
    promote(m.p, r.p), promote(m.q, r.q), promote(m.a, r.a), promote(m.d, r.d);
    promote(m.g, r.g), promote(m.h, r.h), promote(m.b, r.b);
  }
  return r;
}
template <Scalar T, Scalar U, class K>
Semiseparable<T, K> promoted(const Semiseparable<U, K>& m) {
  Semiseparable<T, K> r;
  if constexpr (std::same_as<K, transition::Block>) {
    r.partition = m.partition;
    promote(m.lower, m.partition, r.lower);
    promote(m.diagonal, m.partition, r.diagonal);
  } else {
    promote(m.c, r.c), promote(m.b, r.b), promote(m.a, r.a);
  }
  return r;
}
template <Scalar T, Scalar U>
Array<T, 2> promoted(const Array<U, 2>& m) {
  Array<T, 2> r;
  promote(m, r);
  return r;
}

/// m itself where it has scalars of type T already.
template <Scalar T, class M>
decltype(auto) widened(const M& m) {
  if constexpr (std::same_as<typename M::value_type, T>) {
    return (m);
  } else {
    return promoted<T>(m);
  }
}

}  // namespace structmat::cli
