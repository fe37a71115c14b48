#include "structmat/quasiseparable/with_transition.hpp"

#include "core/instantiate.hpp"

namespace structmat::quasiseparable {
namespace {

/// The diagonal of the last two dimensions.
template <class T>
View<T, 3> diagonal_of(const View<T, 4>& a) {
  return {a.data(),
          {a.extent(0), a.extent(1), a.extent(2)},
          {a.stride(0), a.stride(1), a.stride(2) + a.stride(3)}};
}

template <class T>
void promote(const View<const T, 2>& from, const View<T, 3>& to) {
  copy(View<const T, 3>(from.data(), to.extents(), {from.stride(0), from.stride(1), 0}), to);
}
template <class T>
void promote(const View<const T, 2>& from, const View<T, 4>& to) {
  promote(from, diagonal_of(to));
}
template <class T>
void promote(const View<const T, 3>& from, const View<T, 4>& to) {
  copy(from, diagonal_of(to));
}
template <class T, int Rank>
void promote(const View<const T, Rank>& from, const View<T, Rank>& to) {
  copy(from, to);
}

}  // namespace

template <transition::Uniform To, Scalar T, transition::Uniform From>
requires(promotes<To, From>)
    Quasiseparable<T, To> with_transition(const QuasiseparableView<T, From>& matrix) {
  const auto m = checked(matrix, "quasiseparable::with_transition");
  Quasiseparable<T, To> result(m.size(), m.order(), m.batch());
  copy(m.p, result.p.view());
  copy(m.q, result.q.view());
  promote(m.a, result.a.view());
  copy(m.d, result.d.view());
  copy(m.g, result.g.view());
  copy(m.h, result.h.view());
  promote(m.b, result.b.view());
  return result;
}

#define STRUCTMAT_INSTANTIATE(T, To, From)                    \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::To> \
  with_transition<transition::To, T, transition::From>(       \
      const QuasiseparableView<T, transition::From>&);
#define STRUCTMAT_INSTANTIATE_PAIRS(T)         \
  STRUCTMAT_INSTANTIATE(T, Scalar, Scalar)     \
  STRUCTMAT_INSTANTIATE(T, Diagonal, Scalar)   \
  STRUCTMAT_INSTANTIATE(T, Diagonal, Diagonal) \
  STRUCTMAT_INSTANTIATE(T, Dense, Scalar)      \
  STRUCTMAT_INSTANTIATE(T, Dense, Diagonal)    \
  STRUCTMAT_INSTANTIATE(T, Dense, Dense)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_PAIRS)

}  // namespace structmat::quasiseparable
