/// \file
/// Matrices over F_p in doubles: exact products through BLAS, elimination through FFLAS-FFPACK.
///
/// Residues are centred, |x| <= p / 2, which allows the longest sums before a reduction.
#pragma once

#include <cstdint>
#include <vector>

#include "structmat/exact/field.hpp"

namespace structmat::exact::detail {

class Modular {
 public:
  explicit Modular(std::uint32_t p);

  /// The centred residue of 0 <= x < p.
  double centred(std::uint32_t x) const { return x > half_ ? double(x) - p_ : double(x); }

  /// C := C - A B mod p. Row-major, A: (m, k), B: (k, n), C: (m, n), leading dimensions as given,
  /// all centred.
  void subtract_product(index_t m, index_t n, index_t k, const double* a, index_t lda,
                        const double* b, index_t ldb, double* c, index_t ldc);

  /// What elimination finds in X.
  struct Pivots {
    std::vector<index_t> rows, columns;  ///< of the nonzeros of the rank profile matrix
    /// (rows of X, rank): spans the columns of X, is the identity in the pivot rows and zero above
    /// the pivot in each column.
    std::vector<double> basis;
  };
  /// x: (m, n) row-major, centred, overwritten. The pivots are those of the rank profile matrix:
  /// any leading submatrix of X has as many of them as its rank.
  Pivots eliminate(index_t m, index_t n, std::vector<double>& x) const;

 private:
  double p_, half_;
  std::vector<double> high_, low_, product_;
};

}  // namespace structmat::exact::detail
