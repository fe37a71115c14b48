/// \file
/// Matrices of low rank in factored form.
///
///   M = U V^T  (a plain transpose, also for complex data):  M_ij = sum_k u_ik v_jk
///
/// | part | shape         |
/// |------|---------------|
/// | u    | (batch, m, r) |
/// | v    | (batch, n, r) |
///
/// A leading extent 1 is broadcast over the batch; views may broadcast with stride 0.
///
/// | operation                                       | cost            | header        |
/// |-------------------------------------------------|-----------------|---------------|
/// | apply, transpose, adjoint, k right-hand sides   | O((m + n) r k)  | apply.hpp     |
/// | apply_vjp                                       | O((m + n) r k)  | apply_vjp.hpp |
/// | from_dense                                      | O(m n min(m,n)) | from_dense.hpp|
/// | entry                                           | O(r)            | here          |
/// | to_dense                                        | O(m n r)        | here          |
///
/// | here | attention without softmax | Linformer-like mixers |
/// |------|---------------------------|-----------------------|
/// | u, v | queries, keys             | low-rank factors      |
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"

namespace structmat {

/// Factors that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, class Space = space::host>
struct LowRankView {
  using value_type = T;

  const LowRankView& view() const { return *this; }

  View<const T, 3, Space> u{}, v{};

  /// M^T = V U^T.
  LowRankView transposed() const { return {v, u}; }

  index_t batch() const { return u.extent(0); }
  index_t rows() const { return u.extent(1); }
  index_t cols() const { return v.extent(1); }
  index_t order() const { return u.extent(2); }
};

namespace lowrank {

/// The same matrix with every batch extent 1 broadcast to the largest one, or to `batch` if that is
/// larger. Throws ShapeError, on behalf of `operation`.
template <Scalar T, class Space>
LowRankView<T, Space> checked(LowRankView<T, Space> m, const char* operation, index_t batch = 1);

}  // namespace lowrank

/// A matrix of low rank that owns its factors.
template <Scalar T, class Space = space::host>
class LowRank : public OperatorMembers<LowRank<T, Space>, T> {
 public:
  using value_type = T;

  LowRank() = default;

  /// Zero factors. m, n, order, batch >= 0; throws ShapeError.
  LowRank(index_t m, index_t n, index_t order, index_t batch = 1)
      : u({batch, m, order}), v({batch, n, order}) {}

  Array<T, 3, Space> u, v;

  index_t batch() const { return u.extent(0); }
  index_t rows() const { return u.extent(1); }
  index_t cols() const { return v.extent(1); }
  /// The number of columns of the factors: an upper bound of the rank.
  index_t order() const { return u.extent(2); }
  index_t stored() const { return u.size() + v.size(); }

  LowRankView<T, Space> view() const { return {u.view(), v.view()}; }
};

/// Copies on the device and on the host. Blocking. Throw NotAvailable, BackendError.
template <Scalar T>
LowRank<T, space::cuda> to_device(const LowRank<T>& m) {
  LowRank<T, space::cuda> d;
  d.u = to_device(m.u);
  d.v = to_device(m.v);
  return d;
}
template <Scalar T>
LowRank<T> to_host(const LowRank<T, space::cuda>& m) {
  LowRank<T> h;
  h.u = to_host(m.u);
  h.v = to_host(m.v);
  return h;
}

/// M_ij of one batch entry. Cost: O(r). Accuracy: r eps |u_i|^T |v_j|. Throws ShapeError.
template <Scalar T>
T entry(const LowRankView<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := M. dense: (batch, m, n) out, any strides. Cost: O(m n r). Accuracy: as entry. Throws
/// ShapeError.
template <Scalar T>
void to_dense(const LowRankView<T>& m, View<T, 3> dense);

/// The same on a device: enqueued on e.stream, neither allocated nor synchronised; dense: any strides but
/// 0. Cost: m n r multiply-adds, m n numbers written. Throws ShapeError, Unsupported (broadcast
/// result), NotAvailable, BackendError.
template <Scalar T>
void to_dense(const exec::cuda& e, const LowRankView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);

}  // namespace structmat
