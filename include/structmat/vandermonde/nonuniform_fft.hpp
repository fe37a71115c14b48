/// \file
/// Fourier sums at arbitrary points of the circle, fast: F_pj = exp(i (f + j) theta_p), a Vandermonde
/// matrix with nodes exp(i theta_p).
#pragma once

#include <memory>
#include <vector>

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"

namespace structmat {

namespace vandermonde {
template <RealScalar R>
class UnitCircle;
}  // namespace vandermonde

struct NonuniformFftOptions {
  /// Of results, relative as below; at least about 1e-14 (float: 1e-6).
  double tolerance = 1e-12;
  /// f, the mode of the first column: -n / 2 makes modes symmetric.
  index_t first_mode = 0;
};

/// F of m points and n modes. As an operator: F x has values of a Fourier series at the points (called
/// type 2), F^H x sums over the points with exp(-i (f + j) theta_p) (type 1), F^T x with the other sign.
///
/// angles: m numbers, finite, of any size: they are reduced by 2 pi in twice the precision. Shapes of
/// products: x (batch, n, k) in, y (batch, m, k) out, transposed the other way round; any strides.
/// Cost: a transform of 2 n complex numbers (filled up to a length of small factors) and 4 w m flops
/// a column, w = log10(1 / tolerance) + 2 <= 16. Plan: w exponentials for each point. Memory: 8 or 16 numbers
/// a point and 3 n; workspace of a product 8 n per thread.
/// Threads: over batch and columns, and over points for type 2; the result does not depend on their number.
/// Accuracy: normwise, ||error||_2 <= c (tolerance + eps log n) ||F||_F ||x||_2 with c about 1; typically
/// tolerance times ||y||_2. Positions are found in twice the precision, so that no term n eps is added.
/// apply_transpose is exactly the transpose of apply, but for roundings.
/// Throws ShapeError; DomainError (angles not finite, tolerance not in (0, 1), overlap).
/// Source: Dutt, Rokhlin, "Fast Fourier transforms for nonequispaced data", SIAM J. Sci. Comput. 14
/// (1993); Barnett, Magland, af Klinteberg, "A parallel nonuniform fast Fourier transform library
/// based on an "exponential of semicircle" kernel", SIAM J. Sci. Comput. 41 (2019), sections 2 and 3.
template <ComplexScalar T>
class STRUCTMAT_EXPORT NonuniformFft : public OperatorMembers<NonuniformFft<T>, T> {
 public:
  using value_type = T;

  NonuniformFft(View<const real_t<T>, 1> angles, index_t modes,
                const NonuniformFftOptions& options = {});

  index_t batch() const { return 1; }
  index_t rows() const { return static_cast<index_t>(angles_.size()); }
  index_t cols() const { return modes_; }
  index_t first_mode() const { return options_.first_mode; }
  const std::vector<double>& angles() const { return angles_; }
  const NonuniformFft& view() const { return *this; }

  /// Null where there is no point or no mode.
  const vandermonde::UnitCircle<real_t<T>>* circle() const { return circle_.get(); }

 private:
  index_t modes_ = 0;
  NonuniformFftOptions options_;
  std::vector<double> angles_;
  std::shared_ptr<const vandermonde::UnitCircle<real_t<T>>> circle_;
};

template <ComplexScalar T>
void apply(const exec::cpu& e, const NonuniformFft<T>& f, Op op, View<const T, 3> x, View<T, 3> y);

/// exp(i (f + j) theta_p). batch: 0. Accuracy: 4 eps. Throws ShapeError.
template <ComplexScalar T>
T entry(const NonuniformFft<T>& f, index_t p, index_t j, index_t batch = 0);
/// dense: (1, m, n) out. Throws ShapeError.
template <ComplexScalar T>
void to_dense(const NonuniformFft<T>& f, View<T, 3> dense);

}  // namespace structmat
