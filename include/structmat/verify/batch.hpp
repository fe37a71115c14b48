/// \file
/// Ranks of the off-diagonal blocks of many dense matrices at once, on a device: are all of them
/// N-quasiseparable, and which are not?
#pragma once

#include <algorithm>
#include <vector>

#include "structmat/core/exec.hpp"
#include "structmat/verify/rank_profile.hpp"

namespace structmat::verify {

/// One report for each matrix, in the order of the batch.
struct BatchReport {
  std::vector<Report> matrices;

  bool all_hold() const {
    return std::all_of(matrices.begin(), matrices.end(), [](const Report& r) { return r.holds; });
  }
  /// Numbers of the matrices that do not have the order asked for.
  std::vector<index_t> violating() const {
    std::vector<index_t> numbers;
    for (std::size_t b = 0; b < matrices.size(); ++b) {
      if (!matrices[b].holds) numbers.push_back(static_cast<index_t>(b));
    }
    return numbers;
  }
};

/// What verify::quasiseparable tells of one matrix, for a batch of them.
///
/// m: (batch, n, n) in, any strides, finite. Reports as of the host's function, with the same meaning
/// of tolerance, order and verdict. The differences: singular values are relative to ||M||_F only;
/// after an early stop the profile may end at another k; an order above 216 cannot be counted, the
/// report is then incomplete with what was found so far.
/// A block of threads for each triangle carries H_k = M(k:n, 0:k) past 8 to 32 rows at a time as C W,
/// W of orthonormal rows: R of X = [C, new columns] by Householder QR of pieces of rows, then
/// reflections from the right on R, with row pivoting, until what is left is below the tolerance.
/// Then all H_k of the step, each as a matrix of about the order's size plus the step's, go through
/// the singular values of dense::singular_values. Synchronises and allocates: about n (order + 8)
/// numbers a triangle, and at most 2 GB in all; the workspace of `e` is not used. Matrices whose
/// state outgrows the space for it are done again with more.
/// Cost: O(n^2 N + n N^3) a matrix. Accuracy: singular values within c n eps ||M||_F, plus tolerance
/// / 8 ||M||_F. Progress is reported between groups of matrices. Throws as the host's function
/// (DomainError names the matrix and the entry that is not finite), and Unsupported
/// (Relative::block; values of chosen blocks; an order asked for above 200), NotAvailable,
/// BackendError.
template <Scalar T>
BatchReport quasiseparable(const exec::cuda& e, View<const T, 3, space::cuda> m,
                           const Options& options = {});

/// The same for blocks that contain the diagonal, as verify::semiseparable has them.
template <Scalar T>
BatchReport semiseparable(const exec::cuda& e, View<const T, 3, space::cuda> m,
                          const Options& options = {});

template <Scalar T>
BatchReport quasiseparable(const exec::cuda& e, const Array<T, 3, space::cuda>& m,
                           const Options& options = {}) {
  return quasiseparable(e, m.view(), options);
}
template <Scalar T>
BatchReport semiseparable(const exec::cuda& e, const Array<T, 3, space::cuda>& m,
                          const Options& options = {}) {
  return semiseparable(e, m.view(), options);
}

}  // namespace structmat::verify
