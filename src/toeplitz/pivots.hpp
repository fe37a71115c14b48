/// \file
/// Pivots of Hermitian Toeplitz matrices, from reflection coefficients.
#pragma once

#include <algorithm>

#include "structmat/core/scalar.hpp"

namespace structmat::toeplitz {

/// The pivots d_0, d_1, ... of T = L diag(d) L^H, which are the prediction errors, one after the
/// other: d_{k+1} = d_k (1 - |rho_{k+1}|^2). T is scaled to d_0 = 1. Kept in double for every T, since
/// rounding of the products adds up.
class Pivots {
 public:
  /// errors: room for all of them. errors[0] is set.
  explicit Pivots(double* errors) : errors_(errors) { errors_[0] = 1; }

  /// The number of good pivots so far.
  index_t count() const { return count_; }
  double last() const { return errors_[count_ - 1]; }
  /// The first one that is not positive; 1 as long as there is none.
  double bad() const { return bad_; }

  /// rho := -numerator / denominator, and the pivot that follows from it. False: it is not positive,
  /// nor will anything after it be of use. The denominator is the last pivot, as the method in hand
  /// knows it.
  template <Scalar T>
  bool next(const T& numerator, real_t<T> denominator, T& rho) {
    // What should be the last pivot has drowned in rounding errors.
    if (!(denominator > 0))
      return fail(static_cast<double>(std::min<real_t<T>>(denominator, 0)), 1);
    rho = -numerator / denominator;
    double square = 0;
    if constexpr (is_complex_v<T>) {
      square = double(rho.real()) * double(rho.real()) + double(rho.imag()) * double(rho.imag());
    } else {
      square = double(rho) * double(rho);
    }
    // What the subtraction loses is no more than what the rounding of rho brings.
    const double pivot = last() * (1 - square);
    if (!(pivot > 0)) return fail(std::min(pivot, 0.0), 0);
    errors_[count_++] = pivot;
    return true;
  }

 private:
  bool fail(double pivot, index_t back) {
    bad_ = pivot;
    count_ -= back;
    return false;
  }

  double* errors_;
  index_t count_ = 1;
  double bad_ = 1;
};

}  // namespace structmat::toeplitz
