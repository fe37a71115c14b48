/// \file
/// Vandermonde matrices, and the same with nodes given by their logarithms.
///
///   Vandermonde     V_ij = x_i^j,        0 <= i < m, 0 <= j < n  (x_i^0 = 1, also for x_i = 0)
///   LogVandermonde  E_lk = exp(l a_k),   0 <= l < L, 0 <= k < r: column k is a sampled exponential
///
/// | part | shape      | of             |
/// |------|------------|----------------|
/// | x    | (batch, m) | Vandermonde    |
/// | a    | (batch, r) | LogVandermonde |
///
/// A leading extent 1 is broadcast over the batch; views may broadcast with stride 0.
///
/// | here            | numpy.vander(x, n, increasing=True) | S4D kernel               |
/// |-----------------|-------------------------------------|--------------------------|
/// | V               | the same                            |                          |
/// | E c             |                                     | sum_k c_k exp(l dt A_k)  |
///
/// Source: Golub, Van Loan, "Matrix Computations", 4.6; Higham, "Accuracy and Stability of
/// Numerical Algorithms", ch. 22.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"

namespace structmat {

/// Nodes that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, class Space = space::host>
struct VandermondeView {
  using value_type = T;

  const VandermondeView& view() const { return *this; }

  View<const T, 2, Space> x{};
  index_t col_count = 0;

  index_t batch() const { return x.extent(0); }
  index_t rows() const { return x.extent(1); }
  index_t cols() const { return col_count; }
};

template <Scalar T, class Space = space::host>
struct LogVandermondeView {
  using value_type = T;

  const LogVandermondeView& view() const { return *this; }

  View<const T, 2, Space> a{};
  index_t row_count = 0;

  index_t batch() const { return a.extent(0); }
  index_t rows() const { return row_count; }
  index_t cols() const { return a.extent(1); }
};

namespace vandermonde {

/// The same matrix with a batch extent 1 broadcast to `batch`. Throws ShapeError, on behalf of
/// `operation`, for a negative number of columns (rows) or another batch.
template <Scalar T, class Space>
VandermondeView<T, Space> checked(VandermondeView<T, Space> m, const char* operation,
                                  index_t batch = 1);
template <Scalar T, class Space>
LogVandermondeView<T, Space> checked(LogVandermondeView<T, Space> m, const char* operation,
                                     index_t batch = 1);

}  // namespace vandermonde

/// A Vandermonde matrix that owns its nodes.
template <Scalar T, class Space = space::host>
class Vandermonde : public OperatorMembers<Vandermonde<T, Space>, T> {
 public:
  using value_type = T;

  Vandermonde() = default;

  /// All nodes zero. m, n, batch >= 0; throws ShapeError.
  Vandermonde(index_t m, index_t n, index_t batch = 1) : x({batch, m}), col_count(n) {}

  /// One matrix with copies of these nodes and n columns.
  Vandermonde(View<const T, 1> nodes, index_t n) requires std::same_as<Space, space::host>
      : Vandermonde(nodes.extent(0), n) {
    copy(nodes, x.view().select(0, 0));
  }

  Array<T, 2, Space> x;
  index_t col_count = 0;

  index_t batch() const { return x.extent(0); }
  index_t rows() const { return x.extent(1); }
  index_t cols() const { return col_count; }
  index_t stored() const { return x.size(); }

  VandermondeView<T, Space> view() const { return {x.view(), col_count}; }
};

/// E_lk = exp(l a_k), with its logarithmic nodes a.
template <Scalar T, class Space = space::host>
class LogVandermonde : public OperatorMembers<LogVandermonde<T, Space>, T> {
 public:
  using value_type = T;

  LogVandermonde() = default;

  /// All a_k zero. lags, poles, batch >= 0; throws ShapeError.
  LogVandermonde(index_t lags, index_t poles, index_t batch = 1)
      : a({batch, poles}), row_count(lags) {}

  /// One matrix with copies of these logarithms and L rows.
  LogVandermonde(index_t lags,
                 View<const T, 1> logarithms) requires std::same_as<Space, space::host>
      : LogVandermonde(lags, logarithms.extent(0)) {
    copy(logarithms, a.view().select(0, 0));
  }

  Array<T, 2, Space> a;
  index_t row_count = 0;

  index_t batch() const { return a.extent(0); }
  index_t rows() const { return row_count; }
  index_t cols() const { return a.extent(1); }
  index_t stored() const { return a.size(); }

  LogVandermondeView<T, Space> view() const { return {a.view(), row_count}; }
};

/// The same matrix on the device. Blocking. Throws NotAvailable or BackendError.
template <Scalar T>
Vandermonde<T, space::cuda> to_device(const Vandermonde<T>& m) {
  Vandermonde<T, space::cuda> v;
  v.x = to_device(m.x);
  v.col_count = m.col_count;
  return v;
}
template <Scalar T>
LogVandermonde<T, space::cuda> to_device(const LogVandermonde<T>& m) {
  LogVandermonde<T, space::cuda> v;
  v.a = to_device(m.a);
  v.row_count = m.row_count;
  return v;
}

/// The same matrix on the host. Blocking.
template <Scalar T>
Vandermonde<T> to_host(const Vandermonde<T, space::cuda>& m) {
  Vandermonde<T> v;
  v.x = to_host(m.x);
  v.col_count = m.col_count;
  return v;
}
template <Scalar T>
LogVandermonde<T> to_host(const LogVandermonde<T, space::cuda>& m) {
  LogVandermonde<T> v;
  v.a = to_host(m.a);
  v.row_count = m.row_count;
  return v;
}

/// x_i^j of one batch entry. Cost: O(log j). Accuracy: 4 eps, whatever j is (products in twice the
/// precision); beyond the range of T it is infinite or zero. Throws ShapeError.
template <Scalar T>
T entry(const VandermondeView<T>& m, index_t i, index_t j, index_t batch = 0);

/// exp(l a_k) of one batch entry. Cost: one exponential. Accuracy: 4 eps, whatever l is: l a_k is
/// formed in twice the precision, its imaginary part reduced by 2 pi of 106 bits. Row 0 is 1, for
/// every a_k. Throws ShapeError.
template <Scalar T>
T entry(const LogVandermondeView<T>& m, index_t l, index_t k, index_t batch = 0);

/// dense := V. dense: (batch, rows, cols) out, any strides. Cost: O(rows cols). Accuracy as entry.
/// Throws ShapeError.
template <Scalar T>
void to_dense(const VandermondeView<T>& m, View<T, 3> dense);
template <Scalar T>
void to_dense(const LogVandermondeView<T>& m, View<T, 3> dense);

/// The same on a device: enqueued on e.stream, neither allocated nor synchronised; dense: any strides but
/// 0. Cost: m n numbers written, each computed for itself: powers by squaring,
/// 2 log2 j products. Accuracy: relative, a few eps, powers of double and complex<double> j eps; float is
/// computed in double. Exponentials: see apply. Throws ShapeError, Unsupported (broadcast result),
/// NotAvailable, BackendError.
template <Scalar T>
void to_dense(const exec::cuda& e, const VandermondeView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);
template <Scalar T>
void to_dense(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);

}  // namespace structmat
