#include "structmat/displacement/convert.hpp"

#include <string>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "dense/product.hpp"
#include "structmat/displacement/algebra.hpp"
#include "structmat/displacement/plan.hpp"

namespace structmat::displacement {
namespace {

/// J A J
template <Scalar T>
Operator<T> reversed(Operator<T> a) {
  if (a.kind != OperatorKind::diagonal) return transposed(std::move(a));
  std::reverse(a.x.begin(), a.x.end());
  return a;
}

/// Row `unit` of X (Op::transpose) or its column.
template <Scalar T>
Array<T, 2> line(const Plan<T>& p, Op op, index_t unit, T factor) {
  Array<T, 2> x({op == Op::none ? p.cols() : p.rows(), 1}),
      y({op == Op::none ? p.rows() : p.cols(), 1}, uninitialized);
  x(unit, 0) = factor;
  apply(exec::cpu{}, p, op, as_batch(View<const T, 2>(x.view())), as_batch(y.view()));
  return y;
}

template <Scalar T>
Array<T, 2> unit_column(index_t n, index_t at) {
  Array<T, 2> e({n, 1});
  e(at, 0) = T{1};
  return e;
}

}  // namespace

template <Scalar T>
Generators<T> reverse_rows(const Generators<T>& x) {
  require_valid("displacement::reverse_rows", x);
  Displacement<T> d = x.displacement;
  d.left = reversed(std::move(d.left));
  return {std::move(d), to_array(x.g.view().reversed(0)), x.h};
}

template <Scalar T>
Generators<T> reverse_columns(const Generators<T>& x) {
  require_valid("displacement::reverse_columns", x);
  Displacement<T> d = x.displacement;
  d.right = reversed(std::move(d.right));
  return {std::move(d), x.g, to_array(x.h.view().reversed(0))};
}

template <Scalar T>
Generators<T> with_corners(const Generators<T>& x, std::type_identity_t<T> left,
                           std::type_identity_t<T> right) {
  constexpr auto operation = "displacement::with_corners";
  require_valid(operation, x);
  const Displacement<T>& d = x.displacement;
  if (d.kind != Kind::sylvester || d.left.kind == OperatorKind::diagonal ||
      d.right.kind == OperatorKind::diagonal) {
    throw DomainError(std::string(operation) +
                      ": it takes a Sylvester displacement with shifts on both sides");
  }
  Generators<T> y = x;
  y.displacement.left.corner = left;
  y.displacement.right.corner = right;
  const index_t m = x.rows(), n = x.cols();
  if (m == 0 || n == 0 || y.displacement == d) return y;
  const Plan<T> plan(x);
  const T change_left = left - d.left.corner, change_right = right - d.right.corner;
  if (change_left != T{}) {
    const bool down = d.left.kind == OperatorKind::shift;
    y.g = dense::beside<T>(y.g, unit_column<T>(m, down ? 0 : m - 1));
    y.h = dense::beside<T>(y.h, line(plan, Op::transpose, down ? m - 1 : 0, change_left));
  }
  if (change_right != T{}) {
    const bool down = d.right.kind == OperatorKind::shift;
    y.g = dense::beside<T>(y.g, line<T>(plan, Op::none, down ? 0 : n - 1, -change_right));
    y.h = dense::beside<T>(y.h, unit_column<T>(n, down ? n - 1 : 0));
  }
  return y;
}

template <Scalar T>
CauchyLike<T> to_cauchy_like(const Generators<T>& x) {
  constexpr auto operation = "displacement::to_cauchy_like";
  require_valid(operation, x);
  const Displacement<T>& d = x.displacement;
  if (d.kind != Kind::sylvester || d.left.kind != OperatorKind::diagonal ||
      d.right.kind != OperatorKind::diagonal) {
    throw DomainError(std::string(operation) +
                      ": it takes a Sylvester displacement with diagonals on both sides");
  }
  CauchyLike<T> c(x.rows(), x.cols(), x.order());
  std::copy(d.left.x.begin(), d.left.x.end(), c.s.begin());
  std::copy(d.right.x.begin(), d.right.x.end(), c.t.begin());
  copy(x.g.view(), c.g.view().select(0, 0));
  copy(x.h.view(), c.h.view().select(0, 0));
  return c;
}

#define STRUCTMAT_INSTANTIATE(T)                                                    \
  template STRUCTMAT_EXPORT Generators<T> reverse_rows<T>(const Generators<T>&);    \
  template STRUCTMAT_EXPORT Generators<T> reverse_columns<T>(const Generators<T>&); \
  template STRUCTMAT_EXPORT Generators<T> with_corners<T>(                          \
      const Generators<T>&, std::type_identity_t<T>, std::type_identity_t<T>);      \
  template STRUCTMAT_EXPORT CauchyLike<T> to_cauchy_like<T>(const Generators<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
