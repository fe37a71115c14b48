#include "structmat/quasiseparable/from_semiseparable.hpp"

#include "core/instantiate.hpp"

namespace structmat::quasiseparable {
namespace {

constexpr auto from_name = "quasiseparable::from_semiseparable";

/// to(b, i) := from(b, i - 1), with row 0 left as it is.
template <Scalar T>
void copy_shifted(const View<const T, 3>& from, const View<T, 3>& to) {
  const index_t n = to.extent(1);
  if (n > 1) copy(from.slice(1, 0, n - 1), to.slice(1, 1, n));
}

/// to(b, i) := from(b, i + 1), with row n - 1 left as it is.
template <Scalar T>
void copy_unshifted(const View<const T, 3>& from, const View<T, 3>& to) {
  const index_t n = to.extent(1);
  if (n > 1) copy(from.slice(1, 1, n), to.slice(1, 0, n - 1));
}

}  // namespace

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_semiseparable(const SemiseparableView<T, K>& lower,
                                        const SemiseparableView<T, K>& upper, View<const T, 2> d) {
  const index_t n = d.extent(1);
  if (lower.size() != n || upper.size() != n) {
    throw ShapeError(std::string(from_name) + ": S_l has size " + std::to_string(lower.size()) +
                     ", S_u has size " + std::to_string(upper.size()) + ", d has " +
                     std::to_string(n) + " entries");
  }
  auto l = semiseparable::checked(lower, from_name), u = semiseparable::checked(upper, from_name);
  index_t batch = 1;
  for (const index_t b : {d.extent(0), l.batch(), u.batch()}) {
    if (b == 1) continue;
    if (batch != 1 && b != batch) {
      throw ShapeError(std::string(from_name) + ": S_l has batch " + std::to_string(l.batch()) +
                       ", S_u has batch " + std::to_string(u.batch()) + ", d has batch " +
                       std::to_string(d.extent(0)));
    }
    batch = b;
  }
  l = semiseparable::checked(lower, from_name, batch);
  u = semiseparable::checked(upper, from_name, batch);

  Quasiseparable<T, K> m(n, {lower.order(), upper.order()}, batch);
  copy(d.broadcast(0, batch), m.d.view());
  copy_shifted(l.c, m.p.view());
  copy(l.a, m.a.view());
  copy(l.b, m.q.view());
  copy_shifted(u.c, m.g.view().reversed(1));
  copy(u.a, m.b.view().reversed(1));
  copy(u.b, m.h.view().reversed(1));
  return m;
}

template <Scalar T, transition::Uniform K>
ShiftedSemiseparable<T, K> to_semiseparable(const QuasiseparableView<T, K>& matrix) {
  const auto m = checked(matrix, "quasiseparable::to_semiseparable");
  const index_t n = m.size(), batch = m.batch();
  ShiftedSemiseparable<T, K> s{Semiseparable<T, K>(n, m.order().lower, batch),
                               Semiseparable<T, K>(n, m.order().upper, batch), to_array(m.d)};
  copy_unshifted(m.p, s.lower.c.view());
  copy(m.a, s.lower.a.view());
  copy(m.q, s.lower.b.view());
  copy_unshifted(m.g.reversed(1), s.upper.c.view());
  copy(m.b.reversed(1), s.upper.a.view());
  copy(m.h.reversed(1), s.upper.b.view());
  return s;
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_semiseparable(const SemiseparableView<T, K>& semiseparable) {
  const auto s = semiseparable::checked(semiseparable, from_name);
  const index_t n = s.size(), r = s.order(), batch = s.batch();
  Quasiseparable<T, K> m(n, {r, 0}, batch);
  copy(s.a, m.a.view());
  copy(s.b, m.q.view());
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t k = 0; k < r; ++k) m.d(b, i) += s.c(b, i, k) * s.b(b, i, k);
      for (index_t k = 0; i > 0 && k < r; ++k) {  // A_0 is never read
        if constexpr (K::rank == transition::Scalar::rank) m.p(b, i, k) = s.a(b, i) * s.c(b, i, k);
        if constexpr (K::rank == transition::Diagonal::rank) {
          m.p(b, i, k) = s.a(b, i, k) * s.c(b, i, k);
        }
        if constexpr (K::rank == transition::Dense::rank) {
          for (index_t l = 0; l < r; ++l) m.p(b, i, k) += s.a(b, i, l, k) * s.c(b, i, l);
        }
      }
    }
  }
  return m;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                                \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> from_semiseparable<T, transition::K>( \
      const SemiseparableView<T, transition::K>&, const SemiseparableView<T, transition::K>&,      \
      View<const T, 2>);                                                                           \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> from_semiseparable<T, transition::K>( \
      const SemiseparableView<T, transition::K>&);                                                 \
  template STRUCTMAT_EXPORT ShiftedSemiseparable<T, transition::K>                                 \
  to_semiseparable<T, transition::K>(const QuasiseparableView<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
