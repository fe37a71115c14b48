/// \file
/// Ranks of the off-diagonal blocks of a dense matrix, with margins and a certificate.
///
/// One meaning everywhere: a singular value of a block counts when it exceeds tolerance *
/// reference, where the reference is ||M||_F (Relative::matrix) or the largest singular value of
/// that block (Relative::block).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/exec.hpp"
#include "structmat/core/export.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::verify {

enum class Relative { matrix, block };

/// What a call of check may be asked for.
struct Options {
  /// Verdict: does the order stay at or below this? Unset: the order is only measured.
  std::optional<Order> order{};
  /// Unset: n eps of the scalar type.
  std::optional<double> tolerance{};
  Relative relative = Relative::matrix;
  /// With `order`: stop at the first block that exceeds it. The profile then ends there (complete =
  /// false).
  bool stop_at_violation = true;
  /// The k of blocks whose singular values are wanted in the report, lower and upper; others than
  /// those of the profile are ignored.
  std::vector<index_t> blocks{};
  /// Called now and then with the fraction done, 0 to 1.
  std::function<void(double)> progress{};
};

enum class Part { lower, upper };

/// A block and its singular values in descending order, relative to the reference.
struct Block {
  Part part = Part::lower;
  index_t row_begin = 0, row_end = 0, col_begin = 0, col_end = 0;
  std::vector<double> singular_values;  ///< those that were computed: all above rounding level
};

/// Outcome of a check.
struct Report {
  std::string property;  ///< "quasiseparable" or "semiseparable"
  index_t size = 0;
  std::optional<Order> asked{};
  bool holds = true;     ///< true when no order was asked for
  bool complete = true;  ///< false after an early stop: order and profile are then lower bounds
  Order order{};
  /// Entry t is the rank of block t. quasiseparable: M(k:n, 0:k) and M(0:k, k:n) for k = t + 1 (n -
  /// 1 entries). semiseparable: M(k:n, 0:k+1) and M(0:k+1, k:n) for k = t (n entries).
  std::vector<index_t> lower, upper;
  /// Over all blocks, relative to the reference; 0 where there is none.
  double smallest_kept = 0;
  double largest_dropped = 0;
  double tolerance = 0;
  Relative relative = Relative::matrix;
  double frobenius_norm = 0;
  /// The block of largest rank or, with an order asked for, of the largest singular value beyond
  /// it.
  std::optional<Block> worst_block{};
  /// The blocks asked for, as far as the check went: lower ones first, in the order of the profile.
  std::vector<Block> blocks{};
};

/// Rank profile of all strictly lower and strictly upper blocks; with options.order, the verdict.
///
/// m: (n, n) in, any strides, finite.
/// The block sweep of from_dense (carrying everything above rounding level) gives, for each k, a
/// matrix with about N rows and columns that has the singular values of M(k:n, 0:k). Cost: O(n^2 N
/// + n N^3) for order N; workspace O(n N). Every n x n matrix has order floor(n/2) at most, so the
/// worst case is that of n dense singular value problems; blocks whose rank is settled by those of
/// their neighbours (it changes by at most one from k to k + 1) are not computed. Accuracy:
/// singular values within c n eps ||M||_F (Relative::block: of that block), c about 1. Throws
/// ShapeError, DomainError (NaN or Inf, with its place; a negative or NaN tolerance or order).
template <Scalar T>
Report quasiseparable(View<const T, 2> m, const Options& options = {});

/// The same for blocks that contain the diagonal: lower M(k:n, 0:k+1), upper M(0:k+1, k:n). A
/// triangular matrix is semiseparable of the order of its own half; for a full matrix both halves
/// are reported. When the matrix is lower (upper) triangular, only that half enters order, verdict
/// and profile.
template <Scalar T>
Report semiseparable(View<const T, 2> m, const Options& options = {});

/// The same for a matrix on the device; only Relative::matrix. The sweep is that of from_dense on the
/// device; of every block that is not settled by its neighbours, one block of threads finds the singular
/// values (one-sided Jacobi rotations). Meant for orders up to a few hundred: beyond that a matrix no
/// longer fits into shared memory, and its threads are few. Synchronises and allocates: e.workspace is
/// not used. Accuracy, options and exceptions as on the CPU; also Unsupported (Relative::block),
/// NotAvailable, BackendError.
template <Scalar T>
Report quasiseparable(const exec::cuda& e, View<const T, 2, space::cuda> m,
                      const Options& options = {});
template <Scalar T>
Report semiseparable(const exec::cuda& e, View<const T, 2, space::cuda> m,
                     const Options& options = {});

template <Scalar T>
Report quasiseparable(const exec::cuda& e, const Array<T, 2, space::cuda>& m,
                      const Options& options = {}) {
  return quasiseparable(e, m.view(), options);
}
template <Scalar T>
Report semiseparable(const exec::cuda& e, const Array<T, 2, space::cuda>& m,
                     const Options& options = {}) {
  return semiseparable(e, m.view(), options);
}

template <Scalar T>
Report quasiseparable(const Array<T, 2>& m, const Options& options = {}) {
  return quasiseparable(m.view(), options);
}
template <Scalar T>
Report semiseparable(const Array<T, 2>& m, const Options& options = {}) {
  return semiseparable(m.view(), options);
}

}  // namespace structmat::verify
