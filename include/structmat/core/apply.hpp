/// \file
/// y := A x for every family, written once. A family provides, in namespace structmat, the engine
///   apply(exec, generators, Op, View<const T, 3> x, View<T, 3> y)
/// and entry and to_dense on its generators; what a caller sees is completed here.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/op.hpp"
#include "structmat/core/operand.hpp"
#include "structmat/core/status.hpp"

namespace structmat {

/// A matrix of generators, or a view of one.
template <class M>
concept Structured = Scalar<typename M::value_type> && requires(const M& m) {
  { m.batch() } -> std::convertible_to<index_t>;
  m.view();
};

/// y := A x. x, y: Views, Arrays or vectors of (n), (n, k) or (batch, n, k); y out; they must not
/// overlap. Cost, accuracy and exceptions: see the engine of the family.
template <class Exec, Structured M, detail::Operand X, class Y>
void apply(const Exec& e, const M& m, const X& x, Y&& y) {
  using T = typename M::value_type;
  apply(e, m.view(), Op::none, detail::input<T>(x), detail::output<T>(y));
}

/// y := A^T x (no conjugation).
template <class Exec, Structured M, detail::Operand X, class Y>
void apply_transpose(const Exec& e, const M& m, const X& x, Y&& y) {
  using T = typename M::value_type;
  apply(e, m.view(), Op::transpose, detail::input<T>(x), detail::output<T>(y));
}

/// y := A^H x.
template <class Exec, Structured M, detail::Operand X, class Y>
void apply_adjoint(const Exec& e, const M& m, const X& x, Y&& y) {
  using T = typename M::value_type;
  apply(e, m.view(), Op::adjoint, detail::input<T>(x), detail::output<T>(y));
}

namespace detail {
// Inside a class that has members of these names, they would hide the functions of the family.
template <class V>
auto entry_of(const V& m, index_t i, index_t j, index_t batch) {
  return entry(m, i, j, batch);
}
template <class V, class T>
void write_dense(const V& m, const View<T, 3>& dense) {
  to_dense(m, dense);
}
/// x := A^-1 b; throws DomainError where the report says that A is singular.
template <class T, class V>
void solve_or_throw(const V& m, const View<const T, 3>& b, const View<T, 3>& x) {
  const auto report = solve(exec::cpu{}, m, Op::none, b, x);
  if (!report.status.ok()) throw DomainError("solve: " + describe(report.status));
}
}  // namespace detail

/// Members of the owning matrix types on the host, through the free functions.
template <class M, class T>
class OperatorMembers {
 public:
  template <detail::Operand X, class Y>
  void apply(const X& x, Y&& y) const {
    structmat::apply(exec::cpu{}, self(), x, y);
  }
  template <detail::Operand X, class Y>
  void apply_transpose(const X& x, Y&& y) const {
    structmat::apply_transpose(exec::cpu{}, self(), x, y);
  }
  template <detail::Operand X, class Y>
  void apply_adjoint(const X& x, Y&& y) const {
    structmat::apply_adjoint(exec::cpu{}, self(), x, y);
  }

  /// A x as a new Array of the rank of x. Throws ShapeError; x of rank 1 or 2 needs batch 1.
  template <detail::Operand X>
  auto operator*(const X& x) const {
    const auto v = detail::to_view(x);
    constexpr int rank = decltype(v)::rank;
    std::array<index_t, rank> extents = v.extents();
    extents[rank == 3 ? 1 : 0] = self().rows();
    if (rank == 3 && extents[0] == 1) extents[0] = self().batch();
    Array<T, rank> y(extents, uninitialized);
    apply(v, y);
    return y;
  }

  /// A^-1 b as a new Array of the rank of b. Throws ShapeError; DomainError when A is singular to
  /// working precision or not finite: solve(exec::cpu{}, A, b, x) reports that instead.
  template <detail::Operand B>
  auto solve(const B& b) const {
    const auto v = detail::to_view(b);
    std::array<index_t, decltype(v)::rank> extents = v.extents();
    if (extents.size() == 3 && extents[0] == 1) extents[0] = self().batch();
    Array<T, decltype(v)::rank> x(extents, uninitialized);
    detail::solve_or_throw<T>(self().view(), detail::input<T>(v), detail::output<T>(x));
    return x;
  }

  /// A_ij of one batch entry.
  T entry(index_t i, index_t j, index_t batch = 0) const {
    return detail::entry_of(self().view(), i, j, batch);
  }

  /// (batch, rows, cols).
  Array<T, 3> to_dense() const {
    Array<T, 3> dense({self().batch(), self().rows(), self().cols()}, uninitialized);
    detail::write_dense(self().view(), dense.view());
    return dense;
  }

 private:
  const M& self() const { return static_cast<const M&>(*this); }
};

}  // namespace structmat
