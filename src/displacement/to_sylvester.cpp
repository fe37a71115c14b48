#include <string>

#include "core/instantiate.hpp"
#include "displacement/ring.hpp"
#include "structmat/displacement/algebra.hpp"
#include "structmat/displacement/convert.hpp"

namespace structmat::displacement {
namespace {

/// [G, column], [H, row]
template <Scalar T>
Generators<T> with_term(const Generators<T>& x, Displacement<T> d, const Array<T, 1>& column,
                        const Array<T, 1>& row) {
  const index_t r = x.order();
  Generators<T> y{std::move(d), Array<T, 2>({x.rows(), r + 1}), Array<T, 2>({x.cols(), r + 1})};
  copy(x.g.view(), y.g.view().slice(1, 0, r));
  copy(x.h.view(), y.h.view().slice(1, 0, r));
  copy(column.view(), y.g.view().select(1, r));
  copy(row.view(), y.h.view().select(1, r));
  return y;
}

template <Scalar T>
bool is_shift(const Operator<T>& a) {
  return a.kind == OperatorKind::shift;
}

/// The last row of X (left Z_0) or the first one (left Z_0^T), X = sum_k A^k G H^T B^k:
/// sum_k gamma_k h^T B^k with gamma the column of G from that row on.
template <Scalar T>
Array<T, 1> edge_row(const Generators<T>& x) {
  using R = real_t<T>;
  using C = complex_t<T>;
  const index_t m = x.rows(), n = x.cols();
  const Ring<R> ring(n, C{});
  const auto g = is_shift(x.displacement.left) ? x.g.view().reversed(0) : x.g.view();
  const auto h = is_shift(x.displacement.right) ? x.h.view().reversed(0) : x.h.view();
  std::vector<C> sum(ring.length()), gamma(n), eta(n), time(ring.length()), first(ring.length()),
      second(ring.length());
  for (index_t k = 0; k < x.order(); ++k) {
    std::fill(gamma.begin(), gamma.end(), C{});
    for (index_t i = 0; i < std::min(m, n); ++i) gamma[i] = g(i, k);
    for (index_t j = 0; j < n; ++j) eta[j] = h(j, k);
    ring.spectrum(gamma.data(), time.data(), first.data());
    ring.analyse(false, eta.data(), time.data(), second.data());
    for (index_t l = 0; l < ring.length(); ++l) sum[l] += product(first[l], second[l]);
  }
  ring.synthesise(false, sum.data(), time.data(), eta.data());
  Array<T, 1> row({n});
  const auto out = is_shift(x.displacement.right) ? row.view().reversed(0) : row.view();
  for (index_t j = 0; j < n; ++j) {
    if constexpr (is_complex_v<T>) {
      out(j) = eta[j];
    } else {
      out(j) = eta[j].real();
    }
  }
  return row;
}

/// X - Z_0 X B with a singular B: the corner 0 on the left becomes 1.
template <Scalar T>
Generators<T> with_left_corner(const Generators<T>& x) {
  const index_t m = x.rows();
  // Z_1 = Z_0 + e_0 e_{m-1}^T adds -e_0 (e_{m-1}^T X B).
  const Array<T, 1> edge = edge_row(x);
  const View<const T, 2> as_row(edge.data(), {1, edge.extent(0)});
  const Array<T, 2> moved = apply_right(as_row, x.displacement.right);
  Array<T, 1> column({m});
  column(is_shift(x.displacement.left) ? 0 : m - 1) = T{-1};
  Displacement<T> d = x.displacement;
  d.left.corner = T{1};
  return with_term(x, std::move(d), column, to_array(moved.view().select(0, 0)));
}

/// X - D X B with a zero in D and the corner 0 in B: that becomes 1.
template <Scalar T>
Generators<T> with_right_corner(const Generators<T>& x) {
  const index_t m = x.rows(), n = x.cols(), r = x.order();
  const auto& d = x.displacement.left.x;
  // The first column of X (right Z_0) or the last one: sum_k D^k G h_k, h_k from that column on.
  const auto h = is_shift(x.displacement.right) ? x.h.view() : x.h.view().reversed(0);
  Array<T, 1> column({m});
  for (index_t i = 0; i < m; ++i) {
    T sum{};
    for (index_t k = n - 1; k >= 0; --k) {
      sum = product(d[i], sum);
      for (index_t l = 0; l < r; ++l) sum += product(x.g(i, l), h(k, l));
    }
    column(i) = -product(d[i], sum);
  }
  Array<T, 1> row({n});
  row(is_shift(x.displacement.right) ? n - 1 : 0) = T{1};
  Displacement<T> changed = x.displacement;
  changed.right.corner = T{1};
  return with_term(x, std::move(changed), column, row);
}

template <Scalar T>
Array<T, 2> negated(Array<T, 2> a) {
  for (T& v : a) v = -v;
  return a;
}

}  // namespace

template <Scalar T>
Generators<T> to_sylvester(const Generators<T>& x) {
  require_valid("displacement::to_sylvester", x);
  const Operator<T>&a = x.displacement.left, &b = x.displacement.right;
  if (x.displacement.kind == Kind::sylvester) return x;
  if (x.rows() == 0 || x.cols() == 0) return {{Kind::sylvester, a, b}, x.g, x.h};
  if (invertible(a)) {
    const Operator<T> inverted = inverse(a);
    return {{Kind::sylvester, inverted, b}, apply_left<T>(inverted, x.g), x.h};
  }
  if (invertible(b)) {
    const Operator<T> inverted = inverse(b);
    return {{Kind::sylvester, a, inverted}, negated(x.g), apply_left<T>(transposed(inverted), x.h)};
  }
  const bool left_shift = a.kind != OperatorKind::diagonal,
             right_shift = b.kind != OperatorKind::diagonal;
  if (left_shift && right_shift) return to_sylvester(with_left_corner(x));
  if (right_shift) return to_sylvester(with_right_corner(x));
  if (left_shift) return transpose(to_sylvester(transpose(x)));
  throw DomainError(
      "displacement::to_sylvester: both diagonals have a zero, no form A X - X B has this rank");
}

template <Scalar T>
Generators<T> to_stein(const Generators<T>& x) {
  require_valid("displacement::to_stein", x);
  if (x.displacement.kind == Kind::stein) return x;
  if (!invertible(x.displacement.left)) {
    throw DomainError("displacement::to_stein: the operator on the left is not invertible");
  }
  const Operator<T> inverted = inverse(x.displacement.left);
  return {{Kind::stein, inverted, x.displacement.right}, apply_left<T>(inverted, x.g), x.h};
}

#define STRUCTMAT_INSTANTIATE(T)                                                 \
  template STRUCTMAT_EXPORT Generators<T> to_sylvester<T>(const Generators<T>&); \
  template STRUCTMAT_EXPORT Generators<T> to_stein<T>(const Generators<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
