/// \file
/// How a factorisation ended, and the logarithm of a determinant.
#pragma once

#include <string>

#include "structmat/core/export.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat {

/// Numerical breakdown is reported, not thrown: what is wrong with the first bad pivot, and where.
struct PivotStatus {
  enum class Kind {
    ok,
    near_singular,  ///< complete and usable, but a relative change of M by about eps makes it singular
    zero,           ///< the matrix (or a leading minor, where the method needs those) is singular
    not_positive,  ///< a positive definite matrix was asked for
    not_finite     ///< NaN or Inf in the generators at this index, or made of them
  };
  Kind kind = Kind::ok;
  index_t batch = 0, index = 0;  ///< of the first bad pivot
  double pivot = 0;              ///< its value (its modulus, where pivots are complex)

  bool ok() const { return kind == Kind::ok; }
  /// Are there factors to solve with? Solutions then have a small backward error, and with
  /// near_singular nothing more can be said of them.
  bool usable() const { return kind == Kind::ok || kind == Kind::near_singular; }
  friend bool operator==(const PivotStatus&, const PivotStatus&) = default;
};

/// "pivot 3 of batch entry 0 is -1, a positive definite matrix has positive pivots".
STRUCTMAT_EXPORT std::string describe(const PivotStatus& status);

/// det = sign exp(log_abs). sign is 1, -1, a number of modulus 1, or, with log_abs = -inf, 0.
template <Scalar T>
struct LogDeterminant {
  double log_abs = 0;
  T sign{1};
};

}  // namespace structmat
