/// \file
/// Inverses and determinants of square Cauchy and Cauchy-like matrices: inverses are Cauchy-like again,
/// with the nodes exchanged.
///
///   Cauchy       (C^-1)_ji = b_j a_i / (t_j - s_i),
///                a_i = prod_k (s_i - t_k) / prod_{k != i} (s_i - s_k),
///                b_j = prod_k (t_j - s_k) / prod_{k != j} (t_j - t_k)
///   Cauchy-like  diag(t) C^-1 - C^-1 diag(s) = -(C^-1 G) (C^-T H)^T
///   det C = prod_{i<j} (s_j - s_i) (t_i - t_j) / prod_{ij} (s_i - t_j)
///
/// Source: Schechter, "On the inversion of certain matrices", MTAC 13 (1959); Gastinel, "Inversion
/// d'une matrice generalisant la matrice de Hilbert", Chiffres 3 (1960); Heinig, Rost (cauchy.hpp).
#pragma once

#include "structmat/cauchy/lu.hpp"

namespace structmat {
namespace cauchy {

/// C^-1 as an operator of displacement rank 1. m: n x n, batch broadcast.
///
/// Cost: 2 n^2 differences and products, O(n) memory. Accuracy: every entry has a relative error of
/// at most about 4 n eps, whatever the condition. Products are formed with exponents of their own and
/// balanced between the two generators; those that still leave the range of the type are 0 or Inf.
/// Throws ShapeError (m != n); DomainError (some s_i equals some t_j; a repeated s or t: singular; not
/// finite).
template <Scalar T>
CauchyLike<T> inverse(const exec::cpu& e, const CauchyView<T>& m);
template <Scalar T>
CauchyLike<T> inverse(const Cauchy<T>& m) {
  return inverse(exec::cpu{}, m.view());
}

/// C^-1 as an operator of the displacement rank of C. m: n x n, batch broadcast.
///
/// Cost: factor_lu and solutions with 2 r right-hand sides. Accuracy: generators as solutions by
/// factor_lu; an entry of C^-1 beside nearly coinciding nodes loses what their difference does. Throws
/// as above (singular by the status of factor_lu).
template <Scalar T>
CauchyLike<T> inverse(const exec::cpu& e, const CauchyLikeView<T>& m);
template <Scalar T>
CauchyLike<T> inverse(const CauchyLike<T>& m) {
  return inverse(exec::cpu{}, m.view());
}

}  // namespace cauchy

/// det C of one batch entry, as a logarithm and a sign; sign 0 where C is singular.
///
/// m: n x n. Cost: Cauchy 2 n^2 differences and products, Cauchy-like factor_lu. Accuracy: Cauchy,
/// absolute error of log_abs about n eps sqrt(n) whatever the condition; Cauchy-like see
/// cauchy::log_determinant. Throws ShapeError; DomainError (some s_i equals some t_j; not finite).
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const CauchyView<T>& m, index_t batch = 0);
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const CauchyLikeView<T>& m,
                                  index_t batch = 0);

}  // namespace structmat
