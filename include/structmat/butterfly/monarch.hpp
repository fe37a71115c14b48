/// \file
/// Monarch matrices: a block-diagonal matrix, a transposition of the index grid, a block-diagonal
/// matrix, and the transposition back.
///
///   t_{kappa q + eta}    = sum_pi  w1[kappa, eta, pi]      x_{kappa p + pi}
///   y_{sigma l + lambda} = sum_rho w2[lambda, sigma, rho]  t_{rho l + lambda}
///
/// | part | shape           | what                                              |
/// |------|-----------------|---------------------------------------------------|
/// | w1   | (batch, k, q, p) | k blocks of q x p; n = k p                       |
/// | w2   | (batch, l, s, r) | l blocks of s x r; m = l s; l r = k q            |
///
/// M is m x n. A leading extent 1 is broadcast over the batch; views may broadcast with stride 0.
/// With q = l and r = k, and for n = b^2 with all of them b, the block of M with rows lambda mod l
/// and columns of kappa has rank 1.
///
/// | operation                                     | cost                          | header        |
/// |-----------------------------------------------|-------------------------------|---------------|
/// | apply, transpose, adjoint, c right-hand sides | O((k q p + l s r) c)          | apply.hpp     |
/// | apply_vjp                                     | O((k q p + l s r) c)          | apply_vjp.hpp |
/// | from_dense                                    | O(m n min(s, p))              | from_dense.hpp|
/// | entry                                         | O(q / l + 1)                  | here          |
/// | to_dense                                      | O(m n (q / l + 1))            | here          |
///
/// | here   | Monarch Mixer's code | Dao et al. 2022, M = P L P^T R            |
/// |--------|----------------------|-------------------------------------------|
/// | w1, w2 | w1_bfly, w2_bfly     | blocks of R, blocks of L                  |
///
/// Source: Dao et al., "Monarch: expressive structured matrices for efficient and accurate training"
/// (2022); Fu et al., "Monarch Mixer" (2023).
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"

namespace structmat {

/// Blocks that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, class Space = space::host>
struct MonarchView {
  using value_type = T;

  const MonarchView& view() const { return *this; }

  View<const T, 4, Space> w1{}, w2{};

  index_t batch() const { return w1.extent(0); }
  index_t rows() const { return w2.extent(1) * w2.extent(2); }
  index_t cols() const { return w1.extent(1) * w1.extent(3); }
};

namespace monarch {

/// The same matrix with every batch extent 1 broadcast to the largest one, or to `batch` if that is
/// larger. Throws ShapeError, on behalf of `operation`, for l r != k q.
template <Scalar T, class Space>
MonarchView<T, Space> checked(MonarchView<T, Space> m, const char* operation, index_t batch = 1);

}  // namespace monarch

/// A Monarch matrix that owns its blocks (see the file's head).
template <Scalar T, class Space = space::host>
class Monarch : public OperatorMembers<Monarch<T, Space>, T> {
 public:
  using value_type = T;

  Monarch() = default;

  /// Zero blocks: (k, q, p) and (l, s, r). Throws ShapeError for a negative extent.
  Monarch(const std::array<index_t, 3>& first, const std::array<index_t, 3>& second,
          index_t batch = 1)
      : w1({batch, first[0], first[1], first[2]}), w2({batch, second[0], second[1], second[2]}) {}

  Array<T, 4, Space> w1, w2;

  index_t batch() const { return w1.extent(0); }
  index_t rows() const { return w2.extent(1) * w2.extent(2); }
  index_t cols() const { return w1.extent(1) * w1.extent(3); }
  index_t stored() const { return w1.size() + w2.size(); }

  MonarchView<T, Space> view() const { return {w1.view(), w2.view()}; }
};

/// Copies on the device and on the host. Blocking. Throw NotAvailable, BackendError.
template <Scalar T>
Monarch<T, space::cuda> to_device(const Monarch<T>& m) {
  Monarch<T, space::cuda> d;
  d.w1 = to_device(m.w1);
  d.w2 = to_device(m.w2);
  return d;
}
template <Scalar T>
Monarch<T> to_host(const Monarch<T, space::cuda>& m) {
  Monarch<T> h;
  h.w1 = to_host(m.w1);
  h.w2 = to_host(m.w2);
  return h;
}

/// M_ij of one batch entry. Cost: O(q / l + 1). Accuracy: componentwise, as apply. Throws ShapeError.
template <Scalar T>
T entry(const MonarchView<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := M. dense: (batch, m, n) out, any strides. Throws ShapeError.
template <Scalar T>
void to_dense(const MonarchView<T>& m, View<T, 3> dense);

/// The same on a device: enqueued on e.stream, neither allocated nor synchronised; dense: any strides but
/// 0. Cost: m n numbers written, each from q / l + 1 products. Throws ShapeError, Unsupported
/// (broadcast result), NotAvailable, BackendError.
template <Scalar T>
void to_dense(const exec::cuda& e, const MonarchView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);

}  // namespace structmat
