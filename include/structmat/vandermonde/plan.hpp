/// \file
/// Vandermonde matrices prepared for many fast products, with nodes anywhere.
#pragma once

#include <memory>

#include "structmat/core/apply.hpp"
#include "structmat/core/export.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat {

namespace vandermonde {

/// How products are computed.
enum class Method {
  automatic,  ///< direct where that is estimated to be faster, or without a tolerance; else as the next
  direct,          ///< by Horner's rule and running powers
  nonuniform_fft,  ///< nonuniform Fourier transforms on circles, interpolated between radii
  barycentric      ///< a Fourier transform and Cauchy sums over roots of unity
};

struct PlanOptions {
  /// What a product may lose beside rounding; see VandermondePlan. 0: nothing, method direct.
  double tolerance = 0;
  Method method = Method::automatic;
};

template <Scalar T>
struct PlanState;

}  // namespace vandermonde

/// A Vandermonde matrix for many products y := op(V) x.
///
/// nonuniform_fft: nodes with |log|x|| n <= 1 about, and each further range of |x|, share S circles
/// |x| = exp(r_q) at Chebyshev points r_q of log|x|; values between them are interpolated. Nodes
/// inside the unit circle need only the coefficients whose powers are above the tolerance; nodes
/// outside are taken as 1 / x with reversed coefficients. S is 1 or 2 where all |x| = 1 up to
/// rounding, and at most about 35 for a tolerance of 1e-12. This serves nodes of any modulus.
/// barycentric: p(x) = (sum_k w_k Y_k / (x - w_k)) / (sum_k w_k / (x - w_k)) with w_k = exp(2 pi i k
/// / n) and Y the values there; a node on a root has the value Y_k, |x| > 1 by reversal. Cauchy sums
/// by CauchyPlan with the same tolerance.
///
/// A plan copies what it needs; copies share their state. Const use is safe from several threads.
/// Cost: nonuniform_fft, S transforms of 2 n complex numbers and S w m multiply-adds a column, w =
/// log10(1 / tolerance) + 3; barycentric, one transform and O((m + n) log(1 / tolerance)) with a
/// larger constant. Memory: O(m + n).
/// Accuracy: normwise in every row, |error_i| <= c (tolerance + log(n) eps) max(1, |x_i|^(n-1))
/// sqrt(n) ||x||_2, c about 10; barycentric with n eps in place of log(n) eps, since roots of unity are
/// rounded. direct: as apply. Real nodes in [-1, 1]: nothing is gained over this by any method, as
/// most rows depend on few coefficients.
/// Non-finite x may reach every output. Nodes that are not finite are served directly.
/// Throws ShapeError; DomainError (tolerance not in [0, 1), or 0 for a fast method).
/// Source: Dutt, Rokhlin, "Fast Fourier transforms for nonequispaced data", SIAM J. Sci. Comput. 14
/// (1993); Berrut, Trefethen, "Barycentric Lagrange interpolation", SIAM Review 46 (2004).
template <Scalar T>
class STRUCTMAT_EXPORT VandermondePlan : public OperatorMembers<VandermondePlan<T>, T> {
 public:
  using value_type = T;

  explicit VandermondePlan(const VandermondeView<T>& m,
                           const vandermonde::PlanOptions& options = {});
  explicit VandermondePlan(const Vandermonde<T>& m, const vandermonde::PlanOptions& options = {})
      : VandermondePlan(m.view(), options) {}

  index_t batch() const;
  index_t rows() const;
  index_t cols() const;
  const VandermondePlan& view() const { return *this; }

  /// What was chosen; direct where all nodes are served so.
  vandermonde::Method method() const;

  const vandermonde::PlanState<T>& state() const { return *state_; }

 private:
  std::shared_ptr<const vandermonde::PlanState<T>> state_;
};

/// y := op(V) x by the method of the plan. x, y: as in apply for VandermondeView; no overlap.
/// Workspace: O(m + n) numbers per thread. Threads: over batch, columns and points; the result does not depend
/// on their number, bit for bit. apply_transpose is exactly the transpose of apply, but for
/// roundings. Throws ShapeError, DomainError (overlap).
template <Scalar T>
void apply(const exec::cpu& e, const VandermondePlan<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y);

/// x_i^j of one batch entry, and all of them, as for VandermondeView.
template <Scalar T>
T entry(const VandermondePlan<T>& m, index_t i, index_t j, index_t batch = 0);
template <Scalar T>
void to_dense(const VandermondePlan<T>& m, View<T, 3> dense);

}  // namespace structmat
