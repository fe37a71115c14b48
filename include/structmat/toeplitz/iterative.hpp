/// \file
/// Krylov methods with circulant preconditioners, for those who ask for them: a product and a solution
/// with a circulant matrix a step, O(n log n).
///
/// How many steps it takes depends on the spectrum: few for lags that decay and eigenvalues away from
/// 0, as many as there are rows at worst. The direct methods (hermitian_inverse.hpp) have no such
/// conditions and give the determinant besides.
///
/// Source: R. Chan, Ng, "Conjugate gradient methods for Toeplitz systems", SIAM Rev. 38 (1996); Saad,
/// "Iterative Methods for Sparse Linear Systems" (2003), 6.5, 9.3.
#pragma once

#include "structmat/core/operand.hpp"
#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat::toeplitz {

enum class Preconditioner { none, strang, chan };

struct IterativeOptions {
  Preconditioner preconditioner = Preconditioner::chan;
  double tolerance = 1e-10;   ///< of ||b - T x||_2 / ||b||_2
  index_t iterations = 1000;  ///< products with T for a column, at most
  index_t restart = 50;       ///< gmres: the largest Krylov space; n restart numbers of workspace
};

struct IterativeReport {
  enum class Stop {
    converged,     ///< the residual, computed from x, keeps to the tolerance
    iterations,    ///< all are used up
    stagnated,     ///< no more progress: rounding, or a restart without a better residual
    not_positive,  ///< conjugate_gradients: p^H T p <= 0, the matrix is not positive definite
    not_finite     ///< NaN or Inf in T or b, or made of them
  };
  Stop stop = Stop::converged;    ///< of the first column that did not converge
  index_t batch = 0, column = 0;  ///< that one
  double residual = 0;            ///< the largest ||b - T x||_2 / ||b||_2, computed from x
  index_t iterations = 0;         ///< the most of a column

  bool converged() const { return stop == Stop::converged; }
};

// In both: m: n x n; b: (batch, n, k) in; x: (batch, n, k) out, whatever the report says: the best
// that was found; any strides; a batch extent 1 of m or b is broadcast. b and x must not overlap. They
// start from x = 0; where b = 0, x = 0. Each column has a Krylov space of its own.
// Preconditioners: eigenvalues below n eps of the largest one count as that one (no scaling there).
// Threads: over the columns. Workspace: 5 n numbers a thread (gmres: n (restart + 3)).
// Throw ShapeError; DomainError: overlap, tolerance or iterations or restart out of range.

/// x := T^-1 b for Hermitian positive definite T. Throws DomainError besides where c_{-l} is not
/// conj(c_l). The moduli of the eigenvalues of the preconditioner are taken, so that it is positive
/// definite too.
template <Scalar T>
IterativeReport conjugate_gradients(const exec::cpu& e, const ToeplitzView<T>& m,
                                    View<const T, 3> b, View<T, 3> x,
                                    const IterativeOptions& options = {});

/// The same on a device, all columns at a time. It allocates: a plan of the matrix (ToeplitzPlan), 6 n
/// numbers a column and the preconditioner's transforms; and it synchronises at the beginning, after
/// every 4th step and at the end: a column that is done waits for the others, unchanged. The
/// workspace of `e` is not used. Products by transforms or sums, as the plan chooses; sums of products in
/// double. Results repeat bitwise. Throws besides Unsupported (x broadcast), NotAvailable, BackendError.
template <Scalar T>
IterativeReport conjugate_gradients(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m,
                                    View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x,
                                    const IterativeOptions& options = {});

/// x := T^-1 b for general T, preconditioned from the right, with restarts.
template <Scalar T>
IterativeReport gmres(const exec::cpu& e, const ToeplitzView<T>& m, View<const T, 3> b,
                      View<T, 3> x, const IterativeOptions& options = {});

}  // namespace structmat::toeplitz
