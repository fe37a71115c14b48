#include "structmat/quasiseparable/scale.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "structmat/quasiseparable/with_transition.hpp"
#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable {
namespace {

/// Row i of v times by(b, i).
template <Scalar T>
void scale_rows(const View<const T, 2>& by, const View<T, 3>& v) {
  for (index_t b = 0; b < v.extent(0); ++b) {
    for (index_t i = 0; i < v.extent(1); ++i) {
      for (index_t l = 0; l < v.extent(2); ++l) v(b, i, l) = product(by(b, i), v(b, i, l));
    }
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> scale(const T& alpha, const QuasiseparableView<T, K>& matrix) {
  const auto m = checked(matrix, "quasiseparable::scale");
  Quasiseparable<T, K> c = with_transition<K>(m);
  const View<const T, 2> everywhere(&alpha, {m.batch(), m.size()}, {0, 0});
  scale_rows(everywhere, c.q.view());
  scale_rows(everywhere, c.h.view());
  for (T& v : c.d) v = product(alpha, v);
  return c;
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> scale_diagonal(View<const T, 2> left, const QuasiseparableView<T, K>& matrix,
                                    View<const T, 2> right) {
  constexpr auto operation = "quasiseparable::scale_diagonal";
  recurrence::Shape shape(operation, checked(matrix, operation).batch(), matrix.size());
  shape.require("left", left, 0);
  shape.require("right", right, 0);
  const index_t batch = shape.batch();
  Quasiseparable<T, K> c = with_transition<K>(checked(matrix, operation, batch));
  left = left.broadcast(0, batch);
  right = right.broadcast(0, batch);
  scale_rows(left, c.p.view());
  scale_rows(left, c.g.view());
  scale_rows(right, c.q.view());
  scale_rows(right, c.h.view());
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < c.size(); ++i) {
      c.d(b, i) = product(product(left(b, i), c.d(b, i)), right(b, i));
    }
  }
  return c;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                            \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> scale<T, transition::K>(          \
      const T&, const QuasiseparableView<T, transition::K>&);                                  \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> scale_diagonal<T, transition::K>( \
      View<const T, 2>, const QuasiseparableView<T, transition::K>&, View<const T, 2>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
