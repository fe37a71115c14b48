#include "structmat/displacement/algebra.hpp"

#include <string>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "dense/product.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/dense/solve.hpp"
#include "structmat/displacement/convert.hpp"
#include "structmat/displacement/plan.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
std::string shape(const Generators<T>& x) {
  return std::to_string(x.rows()) + " x " + std::to_string(x.cols());
}

template <Scalar T>
Array<T, 2> multiplied(T alpha, Array<T, 2> a) {
  for (T& v : a) v = product(alpha, v);
  return a;
}

template <Scalar T>
Array<T, 2> conjugated(Array<T, 2> a) {
  for (T& v : a) v = conjugate(v);
  return a;
}

/// [X, alpha Y] of the generators on the left, [X, Y] of those on the right.
template <Scalar T>
Generators<T> combined(const char* operation, const Generators<T>& x, T alpha,
                       const Generators<T>& y) {
  require_valid(operation, x);
  require_valid(operation, y);
  if (x.rows() != y.rows() || x.cols() != y.cols()) {
    throw ShapeError(std::string(operation) + ": the left matrix is " + shape(x) +
                     ", the right one " + shape(y));
  }
  if (!(x.displacement == y.displacement)) {
    throw DomainError(std::string(operation) +
                      ": the displacement operators of both matrices differ");
  }
  return {x.displacement, dense::beside<T>(x.g, multiplied(alpha, y.g)),
          dense::beside<T>(x.h, y.h)};
}

/// What B - C of two shifts of size n is: corner difference times e_row e_col^T.
template <Scalar T>
struct Corner {
  T difference{};
  index_t row = 0, col = 0;
};

template <Scalar T>
Corner<T> middle(const Operator<T>& b, const Operator<T>& c, index_t n) {
  if (b == c) return {};
  if (b.kind != c.kind || b.kind == OperatorKind::diagonal) {
    throw DomainError(
        "displacement::multiply: the operator on the right of the left factor and the one on the "
        "left of the right factor are neither equal nor shifts of one kind");
  }
  const bool down = b.kind == OperatorKind::shift;
  return {b.corner - c.corner, down ? 0 : n - 1, down ? n - 1 : 0};
}

/// P [A, e_unit] or P^T [A, e_unit]
template <Scalar T>
Array<T, 2> product_with(const Plan<T>& p, Op op, const Array<T, 2>& a, index_t unit, bool more) {
  Array<T, 2> x({a.extent(0), a.extent(1) + (more ? 1 : 0)});
  copy(a.view(), x.view().slice(1, 0, a.extent(1)));
  if (more) x(unit, a.extent(1)) = T{1};
  Array<T, 2> y({op == Op::none ? p.rows() : p.cols(), x.extent(1)}, uninitialized);
  apply(exec::cpu{}, p, op, as_batch(View<const T, 2>(x.view())), as_batch(y.view()));
  return y;
}

}  // namespace

template <Scalar T>
Generators<T> add(const Generators<T>& x, const Generators<T>& y) {
  return combined("displacement::add", x, T{1}, y);
}

template <Scalar T>
Generators<T> subtract(const Generators<T>& x, const Generators<T>& y) {
  return combined("displacement::subtract", x, T{-1}, y);
}

template <Scalar T>
Generators<T> scale(std::type_identity_t<T> alpha, const Generators<T>& x) {
  require_valid("displacement::scale", x);
  return {x.displacement, multiplied<T>(alpha, x.g), x.h};
}

template <Scalar T>
Generators<T> transpose(const Generators<T>& x) {
  require_valid("displacement::transpose", x);
  const Displacement<T>& d = x.displacement;
  const T sign = d.kind == Kind::sylvester ? T{-1} : T{1};
  return {{d.kind, transposed(d.right), transposed(d.left)}, multiplied(sign, x.h), x.g};
}

template <Scalar T>
Generators<T> adjoint(const Generators<T>& x) {
  Generators<T> y = transpose(x);
  return {{y.displacement.kind, conjugated(y.displacement.left), conjugated(y.displacement.right)},
          conjugated(std::move(y.g)),
          conjugated(std::move(y.h))};
}

template <Scalar T>
Generators<T> multiply(const Generators<T>& x, const Generators<T>& y) {
  require_valid("displacement::multiply", x);
  require_valid("displacement::multiply", y);
  if (x.cols() != y.rows()) {
    throw ShapeError("displacement::multiply: the left matrix is " + shape(x) + ", the right one " +
                     shape(y));
  }
  const Generators<T> left = to_sylvester(x), right = to_sylvester(y);
  const Corner<T> corner = middle(left.displacement.right, right.displacement.left, x.cols());
  const bool more = corner.difference != T{} && x.cols() > 0;
  // A X Y - X Y D = (A X - X B) Y + X (C Y - Y D) + X (B - C) Y
  Array<T, 2> g = product_with(Plan<T>(left), Op::none, right.g, corner.row, more);
  const Array<T, 2> h = product_with(Plan<T>(right), Op::transpose, left.h, corner.col, more);
  for (index_t i = 0; more && i < g.extent(0); ++i) {
    T& last = g(i, g.extent(1) - 1);
    last = product(corner.difference, last);
  }
  const index_t r = left.order();
  Array<T, 2> all_h = dense::beside<T>(h.view().slice(1, 0, r), right.h);
  if (more) all_h = dense::beside<T>(all_h, h.view().slice(1, r, r + 1));
  return {{Kind::sylvester, left.displacement.left, right.displacement.right},
          dense::beside<T>(left.g, g),
          std::move(all_h)};
}

template <Scalar T>
Generators<T> to_square_sylvester(const Generators<T>& x) {
  require_valid("displacement::inverse", x);
  if (x.rows() != x.cols()) {
    throw ShapeError("displacement::inverse: the matrix is " + shape(x) + ", it must be square");
  }
  return to_sylvester(x);
}

template <Scalar T>
Inverse<T> inverse(const Generators<T>& x) {
  to_square_sylvester(x);
  const Array<T, 3> entries = Plan<T>(x).to_dense();
  const View<const T, 2> a = entries.view().select(0, 0);
  return inverse(x, [&](Op op, View<T, 2> b) {
    return dense::solve<T>(op == Op::none ? a : a.transposed(), b);
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT Generators<T> add<T>(const Generators<T>&, const Generators<T>&);      \
  template STRUCTMAT_EXPORT Generators<T> subtract<T>(const Generators<T>&, const Generators<T>&); \
  template STRUCTMAT_EXPORT Generators<T> scale<T>(std::type_identity_t<T>, const Generators<T>&); \
  template STRUCTMAT_EXPORT Generators<T> transpose<T>(const Generators<T>&);                      \
  template STRUCTMAT_EXPORT Generators<T> adjoint<T>(const Generators<T>&);                        \
  template STRUCTMAT_EXPORT Generators<T> multiply<T>(const Generators<T>&, const Generators<T>&); \
  template STRUCTMAT_EXPORT Generators<T> to_square_sylvester<T>(const Generators<T>&);            \
  template STRUCTMAT_EXPORT Inverse<T> inverse<T>(const Generators<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
