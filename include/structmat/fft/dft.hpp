/// \file
/// Discrete Fourier transforms as linear operators, with the callers of every other matrix.
///
///   Dft         F_jk = sigma exp(-2 pi i j k / n)
///   CosineDft   C_jk = sigma cos(2 pi j k / n), the real part of F; of rank floor(n / 2) + 1: odd
///               sequences, x_{n-k} = -x_k, go to 0
///   RealDft2d   Y = Re(F_L X F_D) for real L x D arrays X, as a matrix of size L D:
///               M_{(j,d),(k,e)} = sigma cos(2 pi (j k / L + d e / D)), index (j, d) at j D + d
///
/// sigma is 1, or 1 / sqrt(n) (2-D: 1 / sqrt(L D)), for which F is unitary. All three are symmetric,
/// so that transposes are themselves, and adjoints are conjugates.
///
/// | operator  | here            | elsewhere                                     |
/// |-----------|-----------------|-----------------------------------------------|
/// | Dft       | Scaling::none   | numpy.fft.fft; unitary: norm="ortho"          |
/// | RealDft2d | Scaling::none   | FNet's mixing, fft(fft(x, hidden), sequence).real |
///
/// Cost of a product: O(n log n) a right-hand side for every n, primes included; workspace O(n) per
/// thread. Accuracy: normwise, ||error||_2 <= c log2(n) eps ||M||_2 ||x||_2.
///
/// Source: Lee-Thorp et al., "FNet: mixing tokens with Fourier transforms" (2022) for RealDft2d.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat {

/// The factor sigma.
enum class Scaling { none, unitary };

/// The Fourier matrix of size n. Const use is safe from several threads.
template <ComplexScalar T>
class Dft : public OperatorMembers<Dft<T>, T> {
 public:
  using value_type = T;

  /// Throws ShapeError (n < 0), BackendError.
  explicit Dft(index_t n, Scaling scaling = Scaling::none) : plan_(n), scaling_(scaling) {}

  index_t batch() const { return 1; }
  index_t rows() const { return plan_.length(); }
  index_t cols() const { return plan_.length(); }
  Scaling scaling() const { return scaling_; }
  const fft::Plan<T>& plan() const { return plan_; }
  const Dft& view() const { return *this; }

 private:
  fft::Plan<T> plan_;
  Scaling scaling_;
};

/// The cosine part of the Fourier matrix of size n. Const use is safe from several threads.
template <Scalar T>
class CosineDft : public OperatorMembers<CosineDft<T>, T> {
 public:
  using value_type = T;

  /// Throws ShapeError (n < 0), BackendError.
  explicit CosineDft(index_t n, Scaling scaling = Scaling::none) : plan_(n), scaling_(scaling) {}

  index_t batch() const { return 1; }
  index_t rows() const { return plan_.length(); }
  index_t cols() const { return plan_.length(); }
  Scaling scaling() const { return scaling_; }
  const fft::Plan<real_t<T>>& plan() const { return plan_; }
  const CosineDft& view() const { return *this; }

 private:
  fft::Plan<real_t<T>> plan_;
  Scaling scaling_;
};

/// The real part of the two-dimensional transform. Const use is safe from several threads.
template <RealScalar T>
class RealDft2d : public OperatorMembers<RealDft2d<T>, T> {
 public:
  using value_type = T;

  /// Throws ShapeError (a negative extent), BackendError.
  RealDft2d(index_t length, index_t width, Scaling scaling = Scaling::none)
      : across_(width, {.batch = length}),
        along_(length, {.batch = across_.spectrum_length()}),
        scaling_(scaling) {}

  index_t batch() const { return 1; }
  /// L
  index_t length() const { return along_.length(); }
  /// D
  index_t width() const { return across_.length(); }
  index_t rows() const { return length() * width(); }
  index_t cols() const { return length() * width(); }
  Scaling scaling() const { return scaling_; }
  /// Real transforms of the L rows.
  const fft::Plan<T>& across() const { return across_; }
  /// Complex transforms of the D / 2 + 1 columns that are not conjugates of others.
  const fft::Plan<std::complex<T>>& along() const { return along_; }
  const RealDft2d& view() const { return *this; }

 private:
  fft::Plan<T> across_;
  fft::Plan<std::complex<T>> along_;
  Scaling scaling_;
};

/// y_b := op(M) x_b. x, y: (batch, n, k), any strides; they must not overlap. Threads: over batch and
/// right-hand sides; the result does not depend on their number, bit for bit. Cost and accuracy: see
/// the file's head. Throws ShapeError, DomainError (overlap), before anything is written.
template <ComplexScalar T>
void apply(const exec::cpu& e, const Dft<T>& m, Op op, View<const T, 3> x, View<T, 3> y);
template <Scalar T>
void apply(const exec::cpu& e, const CosineDft<T>& m, Op op, View<const T, 3> x, View<T, 3> y);
template <RealScalar T>
void apply(const exec::cpu& e, const RealDft2d<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

/// Y_b := Re(F_L X_b F_D) on arrays of their own shape. x in, y out: (batch, L, D), any strides; no
/// overlap. Otherwise as apply.
template <RealScalar T>
void apply_2d(const exec::cpu& e, const RealDft2d<T>& m, View<const T, 3> x, View<T, 3> y);

/// x_bar += op(M)^H y_bar: the cotangent of x in y = op(M) x, whatever x. y_bar: (batch, n, k) in;
/// x_bar: (batch or 1, n, k) in/out, 1 collects the sum; any strides, no overlap. Costs one product,
/// workspace of the size of y_bar. Throws as apply.
template <ComplexScalar T>
void apply_vjp(const exec::cpu& e, const Dft<T>& m, Op op, View<const T, 3> y_bar,
               View<T, 3> x_bar);
template <Scalar T>
void apply_vjp(const exec::cpu& e, const CosineDft<T>& m, Op op, View<const T, 3> y_bar,
               View<T, 3> x_bar);
template <RealScalar T>
void apply_vjp(const exec::cpu& e, const RealDft2d<T>& m, Op op, View<const T, 3> y_bar,
               View<T, 3> x_bar);

/// M_ij; batch must be 0. Accuracy: 4 eps sigma. Throws ShapeError.
template <ComplexScalar T>
T entry(const Dft<T>& m, index_t i, index_t j, index_t batch = 0);
template <Scalar T>
T entry(const CosineDft<T>& m, index_t i, index_t j, index_t batch = 0);
template <RealScalar T>
T entry(const RealDft2d<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := M. dense: (1, n, n) out, any strides. Throws ShapeError.
template <ComplexScalar T>
void to_dense(const Dft<T>& m, View<T, 3> dense);
template <Scalar T>
void to_dense(const CosineDft<T>& m, View<T, 3> dense);
template <RealScalar T>
void to_dense(const RealDft2d<T>& m, View<T, 3> dense);

}  // namespace structmat
