/// \file
/// Eigenvalues of circulant and skew-circulant matrices, and what is computed with them: solutions,
/// inverses, determinants and their gradients.
///
///   C = V diag(lambda) V^-1,  lambda_k = sum_j c_j mu_k^-j,  V_jk = mu_k^j,
///   mu_k = exp(2 pi i k / n) (circulant), exp(i pi (2k + 1) / n) (skew-circulant)
///
/// V / sqrt(n) is unitary: circulant matrices are normal, |lambda_k| are their singular values. Any n,
/// primes included: O(n log n) each.
///
/// Singular: an eigenvalue of modulus at most 4 (1 + log2 n) eps times the largest one cannot be told from
/// zero, whatever the scale of the matrix. The status is then near_singular, or zero for an eigenvalue
/// that is exactly zero; `index` is its place k and `pivot` its modulus. NaN and Inf in the column:
/// not_finite, with the place in the column. The first bad batch entry is reported.
///
/// Source: Davis, "Circulant Matrices" (1979); Chen, "On the solution of circulant linear systems", SIAM
/// J. Numer. Anal. 24 (1987).
#pragma once

#include <memory>
#include <vector>

#include "structmat/core/export.hpp"
#include "structmat/core/status.hpp"
#include "structmat/toeplitz/circulant.hpp"

namespace structmat {

namespace circulant {

struct SolveReport {
  PivotStatus status{};
};

template <Scalar T>
struct Inverse {
  Circulant<T> matrix;  ///< without elements where the status is not usable
  PivotStatus status{};
};

template <Scalar T>
struct Determinants {
  std::vector<LogDeterminant<T>> values;  ///< one for each batch entry
  PivotStatus status{};
};

/// The eigenvalues, (batch, n), in the order of k. Accuracy: normwise, c log2(n) eps ||lambda||_2 with c
/// about 1. Throws ShapeError.
template <Scalar T>
Array<std::complex<real_t<T>>, 2> eigenvalues(const CirculantView<T>& m);

/// C^-1, which is circulant. Accuracy: normwise, cond(C) log2(n) eps. Throws ShapeError.
template <Scalar T>
Inverse<T> inverse(const CirculantView<T>& m);

/// log det C. Accuracy: absolute, the sum over k of the relative errors of lambda_k; the sign of a real
/// matrix is exact. Throws ShapeError.
template <Scalar T>
Determinants<T> log_determinant(const CirculantView<T>& m);

}  // namespace circulant

namespace skew_circulant {

template <Scalar T>
struct Inverse {
  SkewCirculant<T> matrix;  ///< without elements where the status is not usable
  PivotStatus status{};
};

/// As for circulant matrices.
template <Scalar T>
Array<std::complex<real_t<T>>, 2> eigenvalues(const SkewCirculantView<T>& m);
template <Scalar T>
Inverse<T> inverse(const SkewCirculantView<T>& m);
template <Scalar T>
circulant::Determinants<T> log_determinant(const SkewCirculantView<T>& m);

}  // namespace skew_circulant

/// log det C or log det S of one batch entry. Cost, accuracy: as circulant::log_determinant. Throws
/// ShapeError; DomainError where an element is not finite.
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const CirculantView<T>& m, index_t batch = 0);
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const SkewCirculantView<T>& m,
                                  index_t batch = 0);

/// x := op(C)^-1 b.
///
/// b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent 1 of C or b is broadcast. They
/// must not overlap. Cost: one complex transform of length n for the matrix and two for each
/// right-hand side; workspace 2 n complex numbers a thread. Threads: over batch and right-hand sides; the
/// result does not depend on their number, bit for bit. Accuracy: normwise, relative error
/// c cond(C) log2(n) eps. x is written if the status is usable. Throws ShapeError, DomainError (overlap).
template <Scalar T>
circulant::SolveReport solve(const exec::cpu& e, const CirculantView<T>& m, Op op,
                             View<const T, 3> b, View<T, 3> x);
template <Scalar T>
circulant::SolveReport solve(const exec::cpu& e, const SkewCirculantView<T>& m, Op op,
                             View<const T, 3> b, View<T, 3> x);

/// Reverse mode of x = op(C)^-1 b, dL = Re <x_bar, dx>:
///   b_bar += op(C)^-H x_bar,  column_bar += the cotangent of C under op(C) x with -op(C)^-H x_bar.
///
/// x: the solution, (batch, n, k) in; x_bar: (batch, n, k) in; column_bar: (batch or 1, n), b_bar:
/// (batch or 1, n, k) in/out, each may be absent (data() null); extent 1 collects the sum over the batch.
/// Cost: of solve and of apply_vjp. Returns the status of the matrix; nothing is added where it is not
/// usable. Throws ShapeError, DomainError (overlap).
template <Scalar T>
circulant::SolveReport solve_vjp(const exec::cpu& e, const CirculantView<T>& m, Op op,
                                 View<const T, 3> x, View<const T, 3> x_bar, View<T, 2> column_bar,
                                 View<T, 3> b_bar);
template <Scalar T>
circulant::SolveReport solve_vjp(const exec::cpu& e, const SkewCirculantView<T>& m, Op op,
                                 View<const T, 3> x, View<const T, 3> x_bar, View<T, 2> column_bar,
                                 View<T, 3> b_bar);

namespace toeplitz {
template <Scalar T>
struct CirculantSolverState;
}  // namespace toeplitz

/// A circulant or skew-circulant matrix in device memory prepared for solutions there: the reciprocals of
/// its eigenvalues, and transforms of length n (any n) for `at_once` right-hand sides together.
///
/// Making it allocates and synchronises; status() is what solve on the host reports, but that the matrix
/// is not scaled: eigenvalues that leave the range of numbers count as not finite, and `index` is the
/// place of an eigenvalue then too. Const use is safe from several threads, with a workspace for each
/// call in progress; copies share their state. Throws ShapeError, DomainError (at_once < 1),
/// NotAvailable, BackendError.
template <Scalar T>
class STRUCTMAT_EXPORT CirculantSolver {
 public:
  using value_type = T;

  CirculantSolver(const exec::cuda& e, const CirculantView<T, space::cuda>& m, index_t at_once = 1);
  CirculantSolver(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m,
                  index_t at_once = 1);

  index_t batch() const;
  index_t size() const;
  const PivotStatus& status() const;

  const toeplitz::CirculantSolverState<T>& state() const { return *state_; }

 private:
  std::shared_ptr<const toeplitz::CirculantSolverState<T>> state_;
};

/// Bytes of workspace of solve: at_once n complex numbers, and what cuFFT asks for.
template <Scalar T>
index_t solve_workspace_bytes(const CirculantSolver<T>& solver);

/// x := op(C)^-1 b on a device; as on the host, with right-hand sides that are not scaled. Strides: any;
/// x not broadcast. Neither allocates nor synchronises: five launches for each at_once columns, of which
/// each reads and writes n numbers. What is not finite in b makes its column of x NaN. Returns the status
/// of the matrix; nothing is enqueued where it is not usable. Throws besides Unsupported, BackendError.
template <Scalar T>
circulant::SolveReport solve(const exec::cuda& e, const CirculantSolver<T>& solver, Op op,
                             View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x);

}  // namespace structmat
