/// \file
/// Quasiseparable matrices of order (r_lower, r_upper): every block strictly below the diagonal has
/// rank at most r_lower, every block strictly above it rank at most r_upper; the diagonal is free.
///
///   i > j:  M_ij = p_i^T a_{i-1} ... a_{j+1} q_j
///   i = j:  M_ii = d_i
///   i < j:  M_ij = g_i^T b_{i+1} ... b_{j-1} h_j
///
/// (transposes are plain, also for complex data). The products run over the indices strictly
/// between i and j, so a and b at the ends 0 and n-1 are never read. Transitions are stored as they
/// are: ratios from one index to the next, never as running products, which would over- or
/// underflow.
///
/// | part         | shape, uniform transitions         | Block transitions                        |
/// |--------------|------------------------------------|------------------------------------------|
/// | p, q (lower) | (batch, n, r_lower)                | BlockTriangle lower                      |
/// | a            | transition.hpp, with r = r_lower   |                                          |
/// | d            | (batch, n)                         | BlockDiagonal (dense m_i x m_i blocks)   |
/// | g, h (upper) | (batch, n, r_upper)                | BlockTriangle upper_transposed           |
/// | b            | transition.hpp, with r = r_upper   |                                          |
///
/// A leading extent 1 is broadcast over the batch; views may broadcast with stride 0.
///
/// | operation                | Scalar, Diagonal | Dense        | Block, m_i = r   |
/// |--------------------------|------------------|--------------|------------------|
/// | apply, transpose, adjoint, k right-hand sides | O(n r k) | O(n r^2 k) | O(n r k) |
/// | entry                    | O(|i-j| r)       | O(|i-j| r^2) | O(|i-j| r + r^2) |
/// | to_dense                 | O(n^2 r)         | O(n^2 r^2)   | O(n^2 r)         |
///
/// | here    | Eidelman-Gohberg | tinygp           | celerite2        | Mamba-2 (inside the shift) |
/// |---------|------------------|------------------|------------------|----------------------------|
/// | p, a, q | p, a, q          | p, a, q          | U, exp(-c dt), V | C_{i-1}, exp(dt A), dt B   |
/// | g, b, h | g, b, h          | transposed q a p | V, exp(-c dt), U | the same from the right    |
///
/// Source: Eidelman, Gohberg, "On a new class of structured matrices", Integral Equations Operator
/// Theory 34 (1999); Vandebril, Van Barel, Mastronardi, "Matrix Computations and Semiseparable
/// Matrices", vol. 1, ch. 2.
#pragma once

#include <string>

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"
#include "structmat/recurrence/block.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat {

/// Orders of the strictly lower and the strictly upper part.
struct Order {
  index_t lower = 0;
  index_t upper = 0;
  friend bool operator==(const Order&, const Order&) = default;
};

/// Generators that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, transition::Uniform K, class Space = space::host>
struct QuasiseparableView {
  using value_type = T;
  using transition_type = K;

  const QuasiseparableView& view() const { return *this; }

  View<const T, 3, Space> p{}, q{};
  View<const T, K::rank, Space> a{};
  View<const T, 2, Space> d{};
  View<const T, 3, Space> g{}, h{};
  View<const T, K::rank, Space> b{};

  index_t batch() const { return d.extent(0); }
  index_t size() const { return d.extent(1); }
  Order order() const { return {p.extent(2), g.extent(2)}; }
};

namespace quasiseparable {

/// The same matrix with every batch extent 1 broadcast to the largest one, or to `batch` if that is
/// larger. Throws ShapeError, on behalf of `operation`, when the generators do not fit together.
template <Scalar T, transition::Uniform K, class Space>
QuasiseparableView<T, K, Space> checked(QuasiseparableView<T, K, Space> m, const char* operation,
                                        index_t batch = 1);

}  // namespace quasiseparable

/// A quasiseparable matrix that owns its generators (see the file's head for shapes).
template <Scalar T, class K = transition::Diagonal, class Space = space::host>
class Quasiseparable : public OperatorMembers<Quasiseparable<T, K, Space>, T> {
 public:
  using value_type = T;
  using transition_type = K;

  Quasiseparable() = default;

  /// Zero generators. batch, n, orders >= 0; throws ShapeError.
  Quasiseparable(index_t n, Order order, index_t batch = 1)
      : p({batch, n, order.lower}),
        q({batch, n, order.lower}),
        a(transition::extents<K>(batch, n, order.lower)),
        d({batch, n}),
        g({batch, n, order.upper}),
        h({batch, n, order.upper}),
        b(transition::extents<K>(batch, n, order.upper)) {}

  Array<T, 3, Space> p, q;
  Array<T, K::rank, Space> a;
  Array<T, 2, Space> d;
  Array<T, 3, Space> g, h;
  Array<T, K::rank, Space> b;

  index_t batch() const { return d.extent(0); }
  index_t size() const { return d.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  /// The state sizes: upper bounds of the orders of the matrix (compress makes them exact).
  Order order() const { return {p.extent(2), g.extent(2)}; }
  index_t stored() const {
    return p.size() + q.size() + a.size() + d.size() + g.size() + h.size() + b.size();
  }

  QuasiseparableView<T, K, Space> view() const {
    return {p.view(), q.view(), a.view(), d.view(), g.view(), h.view(), b.view()};
  }
};

/// Copies on the device and back. Blocking. Throw NotAvailable or BackendError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K, space::cuda> to_device(const Quasiseparable<T, K>& m) {
  Quasiseparable<T, K, space::cuda> there;
  there.p = to_device(m.p), there.q = to_device(m.q), there.a = to_device(m.a);
  there.d = to_device(m.d);
  there.g = to_device(m.g), there.h = to_device(m.h), there.b = to_device(m.b);
  return there;
}
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> to_host(const Quasiseparable<T, K, space::cuda>& m) {
  Quasiseparable<T, K> here;
  here.p = to_host(m.p), here.q = to_host(m.q), here.a = to_host(m.a);
  here.d = to_host(m.d);
  here.g = to_host(m.g), here.h = to_host(m.h), here.b = to_host(m.b);
  return here;
}

/// Block generators: lower holds P, A, Q of the strictly lower block part; upper_transposed those
/// of the transpose of the strictly upper block part (h, b^T, g); diagonal the dense blocks on the
/// diagonal.
template <Scalar T>
class Quasiseparable<T, transition::Block, space::host>
    : public OperatorMembers<Quasiseparable<T, transition::Block, space::host>, T> {
 public:
  using value_type = T;
  using transition_type = transition::Block;

  Quasiseparable() = default;

  Partition partition;
  BlockTriangle<T> lower, upper_transposed;
  BlockDiagonal<T> diagonal;

  index_t batch() const { return diagonal.batch(); }
  index_t size() const { return partition.rows(); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  /// The largest states at block boundaries: what the blocks between them need is at most this.
  Order order() const { return {lower.order(), upper_transposed.order()}; }
  index_t stored() const { return lower.stored() + upper_transposed.stored() + diagonal.stored(); }

  const Quasiseparable& view() const { return *this; }
};

}  // namespace structmat
