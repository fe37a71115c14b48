/// \file
/// Matrices over F_p in doubles: exact products through BLAS, and elimination made of them.
///
/// Residues are centred, |x| <= p / 2, which allows the longest sums before a reduction.
#pragma once

#include <vector>

#include "structmat/exact/field.hpp"

namespace structmat::exact::detail {

class Modular {
 public:
  explicit Modular(const PrimeField& field);

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

    index_t rank() const { return static_cast<index_t>(rows.size()); }
  };
  /// Gauss-Jordan elimination of columns from left to right, each with its first nonzero as pivot:
  /// any leading submatrix of X then has as many pivots as its rank. x: (m, n) row-major, centred,
  /// overwritten. O(m n rank) operations, in products for halves of the columns.
  Pivots eliminate(index_t m, index_t n, double* x, index_t ldx);

 private:
  Pivots eliminate_few(index_t m, index_t n, double* x, index_t ldx) const;

  PrimeField field_;
  double p_, half_;
  std::vector<double> high_, low_, product_;
};

}  // namespace structmat::exact::detail
