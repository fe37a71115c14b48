/// \file
/// Displacement operators: linear maps of matrices under which structured matrices have small rank.
///
///   Sylvester  X -> A X - X B
///   Stein      X -> X - A X B
///
/// A and B are one of
///   shift(f)             Z_f: ones on the first subdiagonal, f in the upper right corner (n = 1:
///                        the number f)
///   shift_transposed(f)  Z_f^T
///   diagonal(x)          diag(x)
///
/// | matrix                     | preset            | displacement       | rank |
/// |----------------------------|-------------------|--------------------|------|
/// | Toeplitz T_ij = c_{i-j}    | toeplitz()        | Z_1 T - T Z_-1     | 2    |
/// | Hankel H_ij = c_{i+j}      | hankel()          | Z_1 H - H Z_-1^T   | 2    |
/// | Vandermonde V_ij = x_i^j   | vandermonde(x, f) | D_x V - V Z_f      | 1    |
/// | Cauchy C_ij = 1/(s_i - t_j)| cauchy(s, t)      | D_s C - C D_t      | 1    |
///
/// Source: Kailath, Sayed, "Displacement structure: theory and applications", SIAM Review 37
/// (1995).
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "structmat/core/array.hpp"

namespace structmat::displacement {

enum class OperatorKind { shift, shift_transposed, diagonal };

/// Z_f, Z_f^T or diag(x); of any size for the shifts.
template <Scalar T>
struct Operator {
  OperatorKind kind = OperatorKind::shift;
  T corner{};          ///< f, of the shifts
  std::vector<T> x{};  ///< of the diagonal
};

template <Scalar T>
Operator<T> shift(std::type_identity_t<T> f) {
  return {OperatorKind::shift, f, {}};
}
template <Scalar T>
Operator<T> shift_transposed(std::type_identity_t<T> f) {
  return {OperatorKind::shift_transposed, f, {}};
}
template <Scalar T>
Operator<T> diagonal(std::vector<T> x) {
  return {OperatorKind::diagonal, T{}, std::move(x)};
}

/// A^T.
template <Scalar T>
Operator<T> transposed(Operator<T> a) {
  if (a.kind != OperatorKind::diagonal) {
    a.kind = a.kind == OperatorKind::shift ? OperatorKind::shift_transposed : OperatorKind::shift;
  }
  return a;
}

/// conj(A).
template <Scalar T>
Operator<T> conjugated(Operator<T> a) {
  a.corner = conjugate(a.corner);
  for (T& v : a.x) v = conjugate(v);
  return a;
}

/// Is no eigenvalue exactly zero?
template <Scalar T>
bool invertible(const Operator<T>& a) {
  if (a.kind != OperatorKind::diagonal) return a.corner != T{};
  return std::find(a.x.begin(), a.x.end(), T{}) == a.x.end();
}

/// A^-1 of an invertible operator: Z_f^-1 = Z_{1/f}^T.
template <Scalar T>
Operator<T> inverse(Operator<T> a) {
  for (T& v : a.x) v = T{1} / v;
  if (a.kind == OperatorKind::diagonal) return a;
  a.corner = T{1} / a.corner;
  return transposed(std::move(a));
}

/// The same numbers, exactly.
template <Scalar T>
bool operator==(const Operator<T>& a, const Operator<T>& b) {
  if (a.kind != b.kind) return false;
  return a.kind == OperatorKind::diagonal ? a.x == b.x : a.corner == b.corner;
}

enum class Kind { sylvester, stein };

template <Scalar T>
struct Displacement {
  Kind kind = Kind::sylvester;
  Operator<T> left{}, right{};

  friend bool operator==(const Displacement& a, const Displacement& b) {
    return a.kind == b.kind && a.left == b.left && a.right == b.right;
  }
};

template <Scalar T>
Displacement<T> toeplitz() {
  return {Kind::sylvester, shift<T>(1), shift<T>(-1)};
}
template <Scalar T>
Displacement<T> hankel() {
  return {Kind::sylvester, shift<T>(1), shift_transposed<T>(-1)};
}
template <Scalar T>
Displacement<T> vandermonde(std::vector<T> x, std::type_identity_t<T> f = {}) {
  return {Kind::sylvester, diagonal(std::move(x)), shift<T>(f)};
}
template <Scalar T>
Displacement<T> cauchy(std::vector<T> s, std::vector<T> t) {
  return {Kind::sylvester, diagonal(std::move(s)), diagonal(std::move(t))};
}

/// The two matrices whose difference a displacement is: A X and X B, or X and A X B.
template <Scalar T>
struct Terms {
  Array<T, 2> first, second;
};

/// d, x, cost, errors: as displace.
template <Scalar T>
Terms<T> terms(const Displacement<T>& d, View<const T, 2> x);

/// first - second, in the memory of first.
template <Scalar T>
Array<T, 2> difference(Terms<T> both) {
  for (index_t i = 0; i < both.first.size(); ++i) both.first.data()[i] -= both.second.data()[i];
  return std::move(both.first);
}

/// A X - X B or X - A X B as a dense matrix.
///
/// d: for an m x n matrix X a diagonal on the left has m numbers, one on the right n; x: (m, n) in,
/// any strides. Cost: O(m n). Accuracy: componentwise, 3 eps (|A| |X| + |X| |B|). Throws ShapeError.
template <Scalar T>
Array<T, 2> displace(const Displacement<T>& d, View<const T, 2> x);

template <Scalar T>
Array<T, 2> displace(const Displacement<T>& d, const Array<T, 2>& x) {
  return displace(d, x.view());
}

/// A X.
template <Scalar T>
Array<T, 2> apply_left(const Operator<T>& a, View<const T, 2> x);
/// X B.
template <Scalar T>
Array<T, 2> apply_right(View<const T, 2> x, const Operator<T>& b);

}  // namespace structmat::displacement
