#include "core/instantiate.hpp"
#include "structmat/cauchy/lu.hpp"
#include "structmat/dense/solve.hpp"
#include "structmat/displacement/algebra.hpp"
#include "structmat/displacement/convert.hpp"
#include "structmat/displacement/plan.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
bool is_diagonal(const Operator<T>& a) {
  return a.kind == OperatorKind::diagonal;
}

template <Scalar T>
Operator<complex_t<T>> widened(const Operator<T>& a) {
  return {a.kind, complex_t<T>(a.corner), {a.x.begin(), a.x.end()}};
}

/// b := op(X)^-1 b for a Cauchy-like X.
template <Scalar T>
PivotStatus solve(const cauchy::Lu<T>& factors, Op op, View<T, 2> b) {
  if (!factors.status().usable()) return factors.status();
  Array<T, 2> x(b.extents(), uninitialized);
  cauchy::solve(exec::cpu{}, factors, op, as_batch(View<const T, 2>(b)), as_batch(x.view()));
  copy(x.view(), b);
  return factors.status();
}

/// For shifts on both sides or on one: X = W_A C W_B^-1.
template <Scalar T>
class EigenbasisSolver {
  using C = complex_t<T>;

 public:
  explicit EigenbasisSolver(const Generators<T>& x)
      : left_(widened(x.displacement.left)), right_(widened(x.displacement.right)) {
    Generators<C> y;
    if (is_diagonal(left_)) {
      y = diagonalise_right(x);
    } else {
      y = diagonalise_left(x);
      if (!is_diagonal(right_)) y = diagonalise_right(y);
    }
    factors_ = cauchy::factor_lu(to_cauchy_like(y));
  }

  /// X^-1 = W_B C^-1 W_A^-1 and X^-T = W_A^-T C^-T W_B^T, where W_A^-T are the eigenvectors of A^T.
  PivotStatus operator()(Op op, View<T, 2> b) const {
    const bool plain = op == Op::none;
    const Operator<C> from = plain ? left_ : transposed(right_),
                      to = plain ? right_ : transposed(left_);
    Array<C, 2> x(b.extents(), uninitialized);
    for (index_t i = 0; i < b.extent(0); ++i) {
      for (index_t k = 0; k < b.extent(1); ++k) x(i, k) = C(b(i, k));
    }
    if (!is_diagonal(from)) x = to_eigenbasis(from, View<const C, 2>(x.view()));
    const PivotStatus status = solve(factors_, op, x.view());
    if (!status.usable()) return status;
    if (!is_diagonal(to)) x = from_eigenbasis(to, View<const C, 2>(x.view()));
    for (index_t i = 0; i < b.extent(0); ++i) {
      for (index_t k = 0; k < b.extent(1); ++k) {
        if constexpr (is_complex_v<T>) {
          b(i, k) = x(i, k);
        } else {
          b(i, k) = x(i, k).real();
        }
      }
    }
    return status;
  }

 private:
  Operator<C> left_, right_;
  cauchy::Lu<C> factors_;
};

}  // namespace

template <Scalar T>
Inverse<T> inverse(const Generators<T>& given) {
  const Generators<T> x = to_square_sylvester(given);
  const Operator<T>&a = x.displacement.left, &b = x.displacement.right;
  const auto diagonalises = [](const Operator<T>& s) { return is_diagonal(s) || s.corner != T{}; };
  Inverse<T> result;
  if (is_diagonal(a) && is_diagonal(b)) {
    const auto factors = cauchy::factor_lu(to_cauchy_like(x));
    result = inverse(x, [&](Op op, View<T, 2> rhs) { return solve(factors, op, rhs); });
    result.method = InverseMethod::cauchy_like;
  } else if (diagonalises(a) && diagonalises(b)) {
    result = inverse(x, EigenbasisSolver<T>(x));
    result.method = InverseMethod::cauchy_like;
  } else {
    const Array<T, 3> entries = Plan<T>(x).to_dense();
    const View<const T, 2> m = entries.view().select(0, 0);
    result = inverse(x, [&](Op op, View<T, 2> rhs) {
      return dense::solve<T>(op == Op::none ? m : m.transposed(), rhs);
    });
    result.method = InverseMethod::dense;
  }
  return result;
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT Inverse<T> inverse<T>(const Generators<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
