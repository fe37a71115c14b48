/// \file
/// Convolution kernels of time-invariant state-space models: the first columns of lower triangular
/// Toeplitz matrices,
///   y_i = sum_{l <= i} K_l x_{i-l},   K_l = C^T Abar^l Bbar.
///
/// | model                                 | kernel by                                   | function        |
/// |---------------------------------------|---------------------------------------------|-----------------|
/// | diagonal A, zero-order hold (S4D)     | exponential sums (a Vandermonde product)    | s4d_kernel      |
/// | diagonal plus rank 1, bilinear (S4)   | Cauchy sums at the roots of unity, one FFT  | s4_kernel       |
///
/// Source: Gu, Goel, Re, "Efficiently modeling long sequences with structured state spaces" (2022);
/// Gu, Goel, Gupta, Re, "On the parameterization and initialization of diagonal state space models"
/// (2022).
#pragma once

#include <memory>

#include "structmat/core/exec.hpp"
#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat::toeplitz {

/// A continuous diagonal model of a real signal, of which one of each pair of conjugate poles is
/// stored. a, w: (batch, r), w = B C element by element; dt: (batch) steps, finite and >= 0.
template <ComplexScalar T, class Space = space::host>
struct DiagonalModel {
  View<const T, 2, Space> a{}, w{};
  View<const real_t<T>, 1, Space> dt{};
};

/// K_l = 2 Re sum_n w_n (exp(dt a_n) - 1) / a_n exp(dt a_n l), 0 <= l < L: zero-order hold.
///
/// m: extents 1 of its batch are broadcast; returns (batch, L). Cost: 4 L r flops a kernel. Accuracy:
/// componentwise, c (r + 16) eps sum_n |w_n (exp(dt a_n) - 1) / a_n| |exp(dt a_n l)| beside what rounding
/// dt a_n does to its l-th power; a_n = 0 gives w_n dt. Throws ShapeError; DomainError (a step that is
/// negative or not finite, L < 0).
template <ComplexScalar T>
Array<real_t<T>, 2> s4d_kernel(const exec::cpu& e, const DiagonalModel<T>& m, index_t length);

/// A continuous model with A = diag(lambda) - p q^H; all of lambda, p, q, b, c: (batch, r), dt: (batch).
/// Poles of real signals come with their conjugates, all stored.
template <ComplexScalar T, class Space = space::host>
struct DiagonalPlusRankOneModel {
  View<const T, 2, Space> lambda{}, p{}, q{}, b{}, c{};
  View<const real_t<T>, 1, Space> dt{};
};

/// K_l = C^T Abar^l Bbar, 0 <= l < L, with the bilinear Abar = (I - dt/2 A)^-1 (I + dt/2 A), Bbar = (I -
/// dt/2 A)^-1 dt B, for C^T given through Ct^T = C^T (I - Abar^L), which m.c holds (s4_output).
///
/// At w = exp(-2 pi i k / L) the transform of K is
///   2 / (1 + w) (R(ct, b) - R(ct, p) R(conj q, b) / (1 + R(conj q, p))),
///   R(u, v) = sum_n u_n v_n / (z - lambda_n),  z = (2 / dt) (1 - w) / (1 + w) = (2 i / dt) tan(pi k / L),
/// and for even L at w = -1, where z is infinite, its limit (dt / 2) ct^T b.
///
/// Returns (batch, L), real up to rounding where the model is. Cost: 4 products with an L x r Cauchy matrix in one
/// pass, and a transform of length L. Accuracy: normwise, c log L eps of the largest term above; large
/// where z comes near an eigenvalue, that is where the model hardly decays over L steps. Throws
/// ShapeError; DomainError (a step that is not positive and finite, L < 0, a pole that is a node z).
template <ComplexScalar T>
Array<T, 2> s4_kernel(const exec::cpu& e, const DiagonalPlusRankOneModel<T>& m, index_t length);

/// Ct = (I - Abar^L)^T C of a model with output c, by repeated squaring of the r x r matrix.
///
/// Returns (batch, r). Cost: O(r^3 log L). Accuracy: normwise, r log L eps while powers of Abar do not grow.
/// Throws as s4_kernel; DomainError where I - dt/2 A is singular.
template <ComplexScalar T>
Array<T, 2> s4_output(const DiagonalPlusRankOneModel<T>& m, index_t length);

/// Bytes of workspace of the kernels of diagonal models on the device.
template <ComplexScalar T>
index_t s4d_kernel_workspace_bytes(const DiagonalModel<T, space::cuda>& m);

/// The same on the device: kernel, (batch, L), out; any strides. No allocation, no synchronisation. Steps are
/// not looked at: what cannot be computed is not finite. Accuracy: as on the CPU, dt a_n rounded to T. Throws
/// ShapeError; DomainError (L < 0, overlap, workspace too small); Unsupported (kernel with stride 0);
/// NotAvailable, BackendError.
template <ComplexScalar T>
void s4d_kernel(const exec::cuda& e, const DiagonalModel<T, space::cuda>& m,
                View<real_t<T>, 2, space::cuda> kernel);

/// What s4_kernel on the device needs for `batch` models and L lags: a transform. Copies share it; const use is
/// safe from several threads with a workspace for each call, whose enqueueing takes turns.
/// Making it allocates. Throws ShapeError (negative extents), NotAvailable, BackendError.
template <ComplexScalar T>
class STRUCTMAT_EXPORT S4Plan {
 public:
  struct State;

  S4Plan(index_t batch, index_t length);

  index_t batch() const { return batch_; }
  index_t length() const { return length_; }
  const State& state() const { return *state_; }

 private:
  index_t batch_ = 0, length_ = 0;
  std::shared_ptr<const State> state_;
};

/// Bytes of workspace for models with r poles: 6 batch L complex numbers about.
template <ComplexScalar T>
index_t s4_kernel_workspace_bytes(const S4Plan<T>& plan, index_t r);

/// s4_kernel on the device: four Cauchy sums on mapped roots of unity (cauchy/roots_of_unity.hpp) in one pass and
/// a transform. kernel: (batch, L) out; any strides. No allocation, no synchronisation. Accuracy: that of
/// the sums, log L eps of the largest value of the transform. Throws as s4d_kernel on the device.
template <ComplexScalar T>
void s4_kernel(const exec::cuda& e, const S4Plan<T>& plan,
               const DiagonalPlusRankOneModel<T, space::cuda>& m, View<T, 2, space::cuda> kernel);

/// The lower triangular Toeplitz matrices with these first columns. kernel: (batch, L) in.
template <Scalar T>
Toeplitz<T> from_kernel(View<const T, 2> kernel);

}  // namespace structmat::toeplitz
