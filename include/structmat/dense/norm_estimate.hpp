/// \file
/// The 1-norm of a matrix that is known by its products only.
#pragma once

#include <functional>

#include "structmat/core/export.hpp"
#include "structmat/core/view.hpp"

namespace structmat::dense {

/// A lower bound of ||A||_1, seldom below a third of it.
///
/// n: the size of A. multiply(x), multiply_adjoint(x): x := A x and x := A^H x for x of n numbers,
/// called at most 11 times together. Throws what they throw. Source: Higham, "FORTRAN codes for
/// estimating the one-norm of a real or complex matrix", ACM Trans. Math. Softw. 14 (1988); LAPACK
/// lacn2.
template <Scalar T>
double one_norm_estimate(index_t n, const std::function<void(View<T, 1>)>& multiply,
                         const std::function<void(View<T, 1>)>& multiply_adjoint);

}  // namespace structmat::dense
