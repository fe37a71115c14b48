/// \file
/// Block generators of a dense matrix, by a sweep over its block columns.
#pragma once

#include <optional>

#include "structmat/core/exec.hpp"
#include "structmat/quasiseparable/block_on_device.hpp"

namespace structmat::quasiseparable {

/// What to keep. With `order`, that many singular values a block boundary at most, whatever they
/// are; otherwise as many as the tolerance asks for. A given absolute_tolerance takes the place of
/// tolerance.
struct FromDenseOptions {
  /// ||M - Q||_F <= tolerance ||M||_F. Unset: n eps.
  std::optional<double> tolerance{};
  /// ||M - Q||_F <= absolute_tolerance.
  std::optional<double> absolute_tolerance{};
  /// Fixed largest order, lower and upper.
  std::optional<Order> order{};
  /// Rows a block; unset: about the order found so far, between 8 and 256.
  std::optional<index_t> block_size{};
};

/// Result of from_dense.
template <Scalar T, class Space = space::host>
struct FromDense {
  Quasiseparable<T, transition::Block, Space> matrix;
  /// sqrt of the sum of all squared singular values that were dropped: ||M - matrix||_F up to
  /// rounding.
  double truncation_error = 0;
  /// What rounding may add to it.
  double rounding_bound = 0;
  double frobenius_norm = 0;  ///< of M
};

/// What became of one entry of a batch, in device memory. NaN: its data are not finite.
struct TruncationReport {
  double truncation_error = 0, rounding_bound = 0, frobenius_norm = 0;
};

/// Q with Q ~ M: strictly lower and strictly upper parts compressed, diagonal blocks exact.
///
/// m: (n, n) in, any strides, finite.
/// For k over the block boundaries, the block H_k = M(k:n, 0:k) is carried as C_k W_k with W_k of
/// orthonormal rows; the next one comes from a thin QR and a small SVD of [C_k without its first
/// rows, new columns]. Row spaces of what is dropped are mutually orthogonal, so the squared errors
/// add up to truncation_error^2. Cost: about 5 n^2 N flops a triangle for order N and blocks of N
/// rows, O(n^2 N); workspace O(n N). Accuracy: ||M - matrix||_F <= truncation_error +
/// rounding_bound. Throws ShapeError (not square), DomainError (NaN or Inf in m, with its place; a
/// negative or NaN tolerance). Source: Chandrasekaran et al. (2005), section 3; Dewilde, van der
/// Veen, "Time-Varying Systems and Computations" (1998), chapter 5.
template <Scalar T>
FromDense<T> from_dense(View<const T, 2> m, const FromDenseOptions& options = {});

/// The same of a matrix on the device; the generators, small beside it, are returned on the host.
///
/// m: (n, n) in, any strides, finite. Rows a block, unset: about four times the order found so far,
/// between 32 and 256, which makes few steps of large products. A sketch of each block takes the place
/// of its QR factorisation (Gaussian numbers, the same in every call); what the sketch misses is
/// formed and measured, and enters truncation_error like everything that is dropped. Where it would
/// exceed a quarter of what may be dropped, the sketch grows, until it is no gain: so the orders are
/// those of the CPU but for singular values at the tolerance itself, and with options.order a
/// truncation is at most slightly larger than the least possible one.
/// Synchronises once a block, and allocates: e.workspace is not used. Cost: m is read three times; 4
/// n^2 N flops a triangle in products, and for each block about a millisecond of small dependent
/// factorisations. Memory: about 4 (N + 256) n numbers. Accuracy and exceptions: as above; also
/// NotAvailable, BackendError. Source: Halko, Martinsson, Tropp, SIAM Review 53 (2011).
template <Scalar T>
FromDense<T> from_dense(const exec::cuda& e, View<const T, 2, space::cuda> m,
                        const FromDenseOptions& options = {});
template <Scalar T>
FromDense<T> from_dense(const exec::cuda& e, const Array<T, 2, space::cuda>& m,
                        const FromDenseOptions& options = {}) {
  return from_dense(e, m.view(), options);
}

/// Generators of the orders of `result`, for every index, in device memory: no allocation, no
/// synchronisation; entries of the batch in turn.
///
/// m: (batch, n, n) in, any strides. result: out, of this batch and n, orders up to 128. reports: out, (batch).
/// Workspace: from_dense_workspace_bytes. The sweep above in steps of about the order (16 to 64 rows)
/// with sketches of order + 16 columns, then within each block of rows one singular value
/// decomposition an index, all of them beside each other. truncation_error: sqrt of the sum of squares
/// that steps have dropped, and of those that indices have; sums of squares of the second kind count a
/// direction as often as it is dropped, so for matrices of larger order this bound may be several times
/// the error. Rows of [a, q] are orthonormal where nothing was dropped; states whose singular value is rounding
/// are zeros. Cost: m is read about twice, n / 16 to n / 64 steps of about ten launches, and n decompositions of
/// matrices of about twice the order. Accuracy: ||M - result||_F <= truncation_error + rounding_bound. An entry
/// of the batch with NaN or Inf gets NaN. Throws ShapeError, DomainError (workspace), Unsupported (order),
/// NotAvailable, BackendError.
template <Scalar T>
void from_dense(const exec::cuda& e, View<const T, 3, space::cuda> m,
                Quasiseparable<T, transition::Dense, space::cuda>& result,
                View<TruncationReport, 1, space::cuda> reports);

/// Bytes of workspace for that.
template <Scalar T>
index_t from_dense_workspace_bytes(const View<const T, 3, space::cuda>& m, Order order);

template <Scalar T>
FromDense<T> from_dense(View<T, 2> m, const FromDenseOptions& options = {}) {
  return from_dense(View<const T, 2>(m), options);
}
template <Scalar T>
FromDense<T> from_dense(const Array<T, 2>& m, const FromDenseOptions& options = {}) {
  return from_dense(m.view(), options);
}

}  // namespace structmat::quasiseparable
