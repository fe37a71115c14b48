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
template <Scalar T>
class STRUCTMAT_EXPORT ToeplitzPlan : public OperatorMembers<ToeplitzPlan<T>, T> {
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

}  // namespace structmat
