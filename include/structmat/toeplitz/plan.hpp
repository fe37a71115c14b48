/// \file
/// A Toeplitz-like matrix prepared for many products: the transformed symbol beside the lags.
#pragma once

#include <memory>

#include "structmat/core/export.hpp"
#include "structmat/toeplitz/apply.hpp"

namespace structmat {

namespace toeplitz {

/// What a product may lose.
enum class Accuracy {
  normwise,       ///< |error| <= c log2(n) eps ||c||_2 ||x||_2, by whatever is fastest
  componentwise,  ///< |error| <= (n + 1) eps |A| |x|: sums, whatever they cost
};

/// How products are computed.
enum class Method {
  automatic,  ///< sums below the measured crossover, transforms above
  direct,     ///< sums
  fourier,    ///< transforms, normwise accurate
};

struct PlanOptions {
  Accuracy accuracy = Accuracy::normwise;
  Method method = Method::automatic;
};

template <Scalar T>
struct PlanState;
template <Scalar T>
struct DevicePlanState;

}  // namespace toeplitz

/// A Toeplitz, Hankel, circulant or skew-circulant matrix for many products y := op(A) x.
///
/// A is cut into square blocks of a length L without prime factors above 7, about min(m, n): one block
/// for a square matrix. Each is the real part (for complex data: the mean of two such matrices) of an
/// i-circulant one,
///   A = Re D^-1 F^-1 diag(F D a) F D,  D = diag(exp(i pi j / 2L)),  a_l = c_l - i c_{l-L},
/// so that a block of real numbers takes one complex transform of length L each way and nothing is
/// padded with zeros beyond L. A block row or column shares the transforms of x or of y.
/// Both operands are scaled by powers of two, so that transforms overflow only where y does.
///
/// A plan copies what it needs and does not refer to the matrix. Const use is safe from several
/// threads at once; copies share their state. It keeps the workspace of its products for the next
/// ones. Cost: m + n numbers and about 2 max(m, n) more for the symbol (complex: 4); a product needs
/// about max(m, n) numbers of workspace for each of up to 8 right-hand sides of a tile and a thread.
/// Throws ShapeError; DomainError for Accuracy::componentwise with Method::fourier.
///
/// Source: Dudgeon, Mersereau, "Multidimensional Digital Signal Processing" (1984), 2.3 (blocks);
/// Crandall, Fagin, "Discrete weighted transforms and large-integer arithmetic", Math. Comp. 62 (1994).
template <Scalar T, class Space = space::host>
class STRUCTMAT_EXPORT ToeplitzPlan : public OperatorMembers<ToeplitzPlan<T, Space>, T> {
 public:
  using value_type = T;

  explicit ToeplitzPlan(const ToeplitzView<T>& m, const toeplitz::PlanOptions& options = {});
  explicit ToeplitzPlan(const HankelView<T>& m, const toeplitz::PlanOptions& options = {});
  explicit ToeplitzPlan(const CirculantView<T>& m, const toeplitz::PlanOptions& options = {});
  explicit ToeplitzPlan(const SkewCirculantView<T>& m, const toeplitz::PlanOptions& options = {});

  index_t batch() const;
  index_t rows() const;
  index_t cols() const;
  const ToeplitzPlan& view() const { return *this; }

  /// What was chosen: direct or fourier.
  toeplitz::Method method() const;
  /// L; 0 for sums.
  index_t block_length() const;
  /// Does it stand for a Hankel matrix?
  bool is_hankel() const;
  /// The lags of the matrix, or of H J for a Hankel matrix H.
  ToeplitzView<T> lags() const;

  const toeplitz::PlanState<T>& state() const { return *state_; }

 private:
  std::shared_ptr<const toeplitz::PlanState<T>> state_;
};

/// y := op(A) x with a prepared matrix; shapes, aliasing, accuracy and exceptions as for the matrix.
template <Scalar T>
void apply(const exec::cpu& e, const ToeplitzPlan<T>& plan, Op op, View<const T, 3> x,
           View<T, 3> y);

/// A_ij of one batch entry. Cost: O(1). Throws ShapeError.
template <Scalar T>
T entry(const ToeplitzPlan<T>& plan, index_t i, index_t j, index_t batch = 0);

/// dense := A. dense: (batch, m, n) out, any strides. Throws ShapeError.
template <Scalar T>
void to_dense(const ToeplitzPlan<T>& plan, View<T, 3> dense);

/// The same on a device: the symbol in its memory, and what its transforms need.
///
/// L is a power of two, at least max(m, n), up to 2^21 (double: 2^20), with kernels of the library's own:
/// one launch for a product up to L = 8192 (double: 4096), three above; beyond, it has no prime factor
/// above 7 and cuFFT does the transforms. There is one block, whatever the shape.
/// Making a plan allocates and synchronises with the stream of `e`. Lags that are not finite: sums,
/// whatever method is asked for, since transforms would carry them everywhere; method() tells.
/// Const use is safe from several threads and on several streams, with a workspace for each product in
/// progress; copies share their state. Cost: m + n numbers, and L (complex: 2 L) complex ones for the
/// symbol. Throws as on the host; NotAvailable, BackendError.
template <Scalar T>
class STRUCTMAT_EXPORT ToeplitzPlan<T, space::cuda> {
 public:
  using value_type = T;

  ToeplitzPlan(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m,
               const toeplitz::PlanOptions& options = {});
  ToeplitzPlan(const exec::cuda& e, const HankelView<T, space::cuda>& m,
               const toeplitz::PlanOptions& options = {});
  ToeplitzPlan(const exec::cuda& e, const CirculantView<T, space::cuda>& m,
               const toeplitz::PlanOptions& options = {});
  ToeplitzPlan(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m,
               const toeplitz::PlanOptions& options = {});

  index_t batch() const;
  index_t rows() const;
  index_t cols() const;
  const ToeplitzPlan& view() const { return *this; }

  /// What was chosen: direct or fourier.
  toeplitz::Method method() const;
  /// L; 0 for sums.
  index_t block_length() const;
  /// Does it stand for a Hankel matrix?
  bool is_hankel() const;
  /// The lags of the matrix, or of H J for a Hankel matrix H.
  ToeplitzView<T, space::cuda> lags() const;

  const toeplitz::DevicePlanState<T>& state() const { return *state_; }

 private:
  std::shared_ptr<const toeplitz::DevicePlanState<T>> state_;
};

/// Bytes of workspace of apply with k right-hand sides and this batch of x: none for sums and one launch,
/// otherwise L (complex: 2 L) complex numbers for each column of up to 32 MiB together, at least one. apply
/// takes less, what a batch of 1 needs, and then has more launches. Throws ShapeError.
template <Scalar T>
index_t apply_workspace_bytes(const ToeplitzPlan<T, space::cuda>& plan, index_t k,
                              index_t batch = 1);

/// y := op(A) x on a device with a prepared matrix; shapes and aliasing as on the host. Strides: any;
/// y not broadcast. Neither allocates nor synchronises.
/// Bytes: those of x, y and the symbol, and for L beyond one launch twice the workspace, which the
/// second-level cache mostly holds. Accuracy: as on the host, but that x is not scaled: transforms
/// overflow, or lose, where the largest modulus in x times L leaves the range of numbers. NaN and Inf
/// in x make all of their column NaN. Results repeat bitwise and do not depend on k or the batch.
/// Throws ShapeError; DomainError (overlap, workspace), Unsupported (y broadcast), BackendError.
template <Scalar T>
void apply(const exec::cuda& e, const ToeplitzPlan<T, space::cuda>& plan, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

}  // namespace structmat
