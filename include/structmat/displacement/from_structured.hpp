/// \file
/// Generators of the classical families in closed form, without a dense matrix.
///
/// | matrix      | displacement            | rank | generators                                        |
/// |-------------|-------------------------|------|---------------------------------------------------|
/// | Toeplitz    | Z_e T - T Z_f           | 2    | e_0 and the last column; the first row and e_{n-1} |
/// | Hankel      | Z_e H - H Z_f^T         | 2    | the same with columns reversed                    |
/// | circulant   | Z_1 C - C Z_f           | 1    | (1 - f) c, e_{n-1}                                |
/// | skew-circulant | Z_e S - S Z_-1       | 1    | e_0, (1 + e) J c                                  |
/// | Vandermonde | D_x V - V Z_f           | 1    | x^n - f, e_{n-1}                                  |
/// | Cauchy      | D_s C - C D_t           | 1    | ones, ones                                        |
/// | Cauchy-like | D_s C - C D_t           | r    | its own                                           |
///
/// `batch` is the index of the matrix to take. All cost O(m + n) but for copies of order r; all are exact up to
/// one rounding, x^n up to n eps. All throw ShapeError for an index outside the batch.
#pragma once

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/displacement/generators.hpp"
#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/hankel.hpp"
#include "structmat/toeplitz/toeplitz.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat::displacement {

/// Corners of the shifts on either side. A corner 0 on one side determines rectangular matrices of every
/// shape; 1 and -1 are best conditioned for square ones.
template <Scalar T>
struct Corners {
  T left{1}, right{-1};
};

template <Scalar T>
Generators<T> from_toeplitz(const ToeplitzView<T>& t, Corners<std::type_identity_t<T>> corners = {},
                            index_t batch = 0);
template <Scalar T>
Generators<T> from_hankel(const HankelView<T>& h, Corners<std::type_identity_t<T>> corners = {},
                          index_t batch = 0);
/// Z_1 C - C Z_f.
template <Scalar T>
Generators<T> from_circulant(const CirculantView<T>& c, std::type_identity_t<T> right = T{-1},
                             index_t batch = 0);
/// Z_e S - S Z_-1.
template <Scalar T>
Generators<T> from_skew_circulant(const SkewCirculantView<T>& s,
                                  std::type_identity_t<T> left = T{1}, index_t batch = 0);
/// Throws DomainError where x^n is not finite.
template <Scalar T>
Generators<T> from_vandermonde(const VandermondeView<T>& v, std::type_identity_t<T> corner = T{},
                               index_t batch = 0);
template <Scalar T>
Generators<T> from_cauchy(const CauchyView<T>& c, index_t batch = 0);
template <Scalar T>
Generators<T> from_cauchy_like(const CauchyLikeView<T>& c, index_t batch = 0);

}  // namespace structmat::displacement
