#include "structmat/quasiseparable/inverse_of_tridiagonal.hpp"

#include <cmath>
#include <optional>

#include "core/finite.hpp"
#include "core/instantiate.hpp"
#include "quasiseparable/off_diagonal.hpp"

namespace structmat::quasiseparable {
namespace {

using Kind = PivotStatus::Kind;

/// Two neighbouring minors up to a common factor, and `coupled`, the part of the larger one that
/// goes through the last off-diagonal entries.
template <Scalar T>
struct Minors {
  T smaller{1}, larger{}, coupled{};

  /// The minors of a block that is one row longer, with the diagonal entry d and off-diagonal
  /// entries of product `forth` times `back`. Divides by the returned size, unless that is 0.
  real_t<T> extend(T d, T forth, T back) {
    const T next = -larger;
    coupled = forth * (back * smaller);
    smaller = next;
    larger = d * smaller + coupled;
    return normalise();
  }
  real_t<T> normalise() {
    const real_t<T> size = std::max(std::abs(smaller), std::abs(larger));
    if (size > 0) {
      smaller /= size;
      larger /= size;
      coupled /= size;
    }
    return size;
  }
};

/// The largest modulus as a power of two, or nothing for data that are not finite.
template <Scalar T>
real_t<T> scale_of(const OffDiagonals<T>& t, index_t b) {
  real_t<T> largest = 0;
  for (const auto& part : {t.diagonal, t.below, t.above}) {
    for (index_t i = 0; i < part.extent(1); ++i) largest = std::max(largest, std::abs(part(b, i)));
  }
  return largest > 0 ? std::exp2(std::floor(std::log2(largest))) : real_t<T>{1};
}

/// The first row with an entry that is not finite.
template <Scalar T>
std::optional<index_t> first_not_finite(const OffDiagonals<T>& t, index_t b) {
  for (index_t i = 0; i < t.size(); ++i) {
    if (!is_finite(t.diagonal(b, i))) return i;
    if (i + 1 < t.size() && !(is_finite(t.below(b, i)) && is_finite(t.above(b, i)))) return i;
  }
  return std::nullopt;
}

template <Scalar T>
PivotStatus invert(const OffDiagonals<T>& t, index_t b, Quasiseparable<T, transition::Scalar>& m) {
  const index_t n = t.size();
  if (const auto bad = first_not_finite(t, b)) {
    return {Kind::not_finite, b, *bad, double(std::abs(t.diagonal(b, *bad)))};
  }
  const real_t<T> scale = scale_of(t, b);
  const auto d = [&](index_t i) { return t.diagonal(b, i) / scale; };
  const auto l = [&](index_t i) { return t.below(b, i - 1) / scale; };
  const auto u = [&](index_t i) { return t.above(b, i) / scale; };

  Array<Minors<T>, 1> tail({n}, uninitialized);
  Minors<T> minors;
  for (index_t k = n; k-- > 0;) {
    if (k + 1 == n) {
      minors.larger = d(k);
      minors.normalise();
    } else {
      const real_t<T> size = minors.extend(d(k), u(k), l(k + 1));
      if (size == 0) return {Kind::zero, b, k, 0};
      m.a(b, k) = l(k + 1) / size;
    }
    m.p(b, k, 0) = minors.smaller;
    tail(k) = minors;
  }
  minors = {};
  for (index_t k = 0; k < n; ++k) {
    if (k == 0) {
      minors.larger = d(k);
      minors.normalise();
    } else {
      const real_t<T> size = minors.extend(d(k), l(k), u(k - 1));
      if (size == 0) return {Kind::zero, b, k, 0};
      m.b(b, k) = u(k - 1) / size;
    }
    m.g(b, k, 0) = minors.smaller;
    const T determinant = minors.coupled * tail(k).smaller + minors.smaller * tail(k).larger;
    if (determinant == T{}) return {Kind::zero, b, k, 0};
    const T head_part = minors.smaller / determinant / scale,
            tail_part = tail(k).smaller / determinant / scale;
    m.d(b, k) = head_part * tail(k).smaller;
    m.q(b, k, 0) = m.a(b, k) * head_part;
    m.h(b, k, 0) = m.b(b, k) * tail_part;
  }
  return {};
}

template <Scalar T>
PivotStatus invert_positive(const OffDiagonals<T>& t, index_t b,
                            Quasiseparable<T, transition::Scalar>& m) {
  using R = real_t<T>;
  const index_t n = t.size();
  Array<R, 1> pivots({n}, uninitialized);
  for (index_t i = 0; i < n; ++i) {
    R pivot = std::real(t.diagonal(b, i));
    if (i > 0) {
      const R coupling = std::abs(t.below(b, i - 1));
      pivot -= coupling * (coupling / pivots(i - 1));
    }
    if (!std::isfinite(pivot)) return {Kind::not_finite, b, i, double(pivot)};
    if (!(pivot > 0)) return {Kind::not_positive, b, i, double(pivot)};
    pivots(i) = pivot;
  }
  for (index_t i = n; i-- > 0;) {
    R value = 1 / pivots(i);
    if (i + 1 < n) {
      const T ratio = -t.below(b, i) / pivots(i);
      m.q(b, i, 0) = m.a(b, i) = ratio;
      m.g(b, i, 0) = m.b(b, i) = conjugate(ratio);
      const R modulus = std::abs(ratio);
      value += modulus * (modulus * std::real(m.d(b, i + 1)));
    }
    m.d(b, i) = m.p(b, i, 0) = m.h(b, i, 0) = T(value);
  }
  return {};
}

/// Inverts one batch entry after the other, until one breaks down.
template <Scalar T, class Invert>
InverseOfTridiagonal<T> invert_all(const OffDiagonals<T>& t, const Invert& invert_one) {
  InverseOfTridiagonal<T> result{Quasiseparable<T, transition::Scalar>(t.size(), {1, 1}, t.batch()),
                                 {}};
  for (index_t b = 0; b < t.batch() && result.status.ok(); ++b) {
    result.status = invert_one(t, b, result.matrix);
  }
  if (!result.status.ok()) result.matrix = {};
  return result;
}

}  // namespace

template <Scalar T>
InverseOfTridiagonal<T> inverse_of_tridiagonal(View<const T, 2> sub, View<const T, 2> diagonal,
                                               View<const T, 2> super) {
  return invert_all(OffDiagonals<T>("quasiseparable::inverse_of_tridiagonal", diagonal, "sub", sub,
                                    "super", super),
                    invert<T>);
}

template <Scalar T>
InverseOfTridiagonal<T> inverse_of_positive_tridiagonal(View<const T, 2> diagonal,
                                                        View<const T, 2> sub) {
  return invert_all(OffDiagonals<T>("quasiseparable::inverse_of_positive_tridiagonal", diagonal,
                                    "sub", sub, "sub", sub),
                    invert_positive<T>);
}

#define STRUCTMAT_INSTANTIATE(T)                                                        \
  template STRUCTMAT_EXPORT InverseOfTridiagonal<T> inverse_of_tridiagonal<T>(          \
      View<const T, 2>, View<const T, 2>, View<const T, 2>);                            \
  template STRUCTMAT_EXPORT InverseOfTridiagonal<T> inverse_of_positive_tridiagonal<T>( \
      View<const T, 2>, View<const T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
