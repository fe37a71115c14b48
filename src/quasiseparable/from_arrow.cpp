#include "structmat/quasiseparable/from_arrow.hpp"

#include "core/instantiate.hpp"
#include "quasiseparable/off_diagonal.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
Quasiseparable<T, transition::Scalar> from_arrow(View<const T, 2> diagonal, View<const T, 2> row,
                                                 View<const T, 2> column, ArrowHead head) {
  const OffDiagonals<T> t("quasiseparable::from_arrow", diagonal, "row", row, "column", column);
  const index_t n = t.size(), batch = t.batch();
  Quasiseparable<T, transition::Scalar> m(n, {1, 1}, batch);
  copy(t.diagonal, m.d.view());
  if (n < 2) return m;
  for (auto* transitions : {&m.a, &m.b}) {
    for (T& one : *transitions) one = T{1};
  }
  const auto set = [n](const View<const T, 2>& from, Array<T, 3>& to, index_t first) {
    copy(from, to.view().select(2, 0).slice(1, first, first + n - 1));
  };
  const auto mark = [batch](Array<T, 3>& to, index_t i) {
    for (index_t b = 0; b < batch; ++b) to(b, i, 0) = T{1};
  };
  if (head == ArrowHead::last) {
    mark(m.p, n - 1);
    set(t.below, m.q, 0);
    set(t.above, m.g, 0);
    mark(m.h, n - 1);
  } else {
    set(t.above, m.p, 1);
    mark(m.q, 0);
    mark(m.g, 0);
    set(t.below, m.h, 1);
  }
  return m;
}

#define STRUCTMAT_INSTANTIATE(T)                                                 \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Scalar> from_arrow<T>( \
      View<const T, 2>, View<const T, 2>, View<const T, 2>, ArrowHead);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
