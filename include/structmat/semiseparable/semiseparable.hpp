/// \file
/// Semiseparable matrices of order r: lower triangular, every block on and below the diagonal has
/// rank at most r.
///
///   i >= j:  M_ij = c_i^T A_i A_{i-1} ... A_{j+1} b_j     (descending; the identity for i = j)
///
/// This is the inclusive form, in which the diagonal belongs to the semiseparable structure
/// (state-space models: s_i = A_i s_{i-1} + b_i x_i, y_i = c_i^T s_i). A_0 is never read.
/// Transposes are plain, also for complex data.
///
/// | part | shape, uniform transitions | Block transitions                          |
/// |------|----------------------------|--------------------------------------------|
/// | c, b | (batch, n, r)              | BlockTriangle lower                        |
/// | A    | transition.hpp             |                                            |
/// |      |                            | BlockDiagonal (lower triangular m_i x m_i) |
///
/// | operation | Scalar, Diagonal | Dense        | Block, m_i = r |
/// |-----------|------------------|--------------|----------------|
/// | apply     | O(n r k)         | O(n r^2 k)   | O(n r k)       |
/// | entry     | O(|i-j| r)       | O(|i-j| r^2) | O(|i-j| r + r^2) |
/// | to_dense  | O(n^2 r)         | O(n^2 r^2)   | O(n^2 r)       |
///
/// | here | Mamba-2 (SSD)   | state-space models | Vandebril et al. (a = 1) |
/// |------|-----------------|--------------------|--------------------------|
/// | c    | C               | C                  | u                        |
/// | A    | exp(dt A)       | discretised A      | 1                        |
/// | b    | dt B            | discretised B      | v                        |
///
/// Source: Hwang, Lahoti, Dao, Gu, "Hydra" (2024), definition 3.1; Dao, Gu, "Transformers are SSMs"
/// (2024).
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"
#include "structmat/recurrence/block.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat {

/// Generators that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, transition::Uniform K, class Space = space::host>
struct SemiseparableView {
  using value_type = T;
  using transition_type = K;

  const SemiseparableView& view() const { return *this; }

  View<const T, 3, Space> c{}, b{};
  View<const T, K::rank, Space> a{};

  index_t batch() const { return c.extent(0); }
  index_t size() const { return c.extent(1); }
  index_t order() const { return c.extent(2); }
};

namespace semiseparable {

/// The same matrix with every batch extent 1 broadcast to the largest one, or to `batch` if that is
/// larger. Throws ShapeError, on behalf of `operation`, when the generators do not fit together.
template <Scalar T, transition::Uniform K, class Space>
SemiseparableView<T, K, Space> checked(SemiseparableView<T, K, Space> m, const char* operation,
                                       index_t batch = 1);

}  // namespace semiseparable

/// A lower triangular semiseparable matrix that owns its generators (see the file's head for
/// shapes).
template <Scalar T, class K = transition::Diagonal, class Space = space::host>
class Semiseparable : public OperatorMembers<Semiseparable<T, K, Space>, T> {
 public:
  using value_type = T;
  using transition_type = K;

  Semiseparable() = default;

  /// Zero generators. Throws ShapeError.
  Semiseparable(index_t n, index_t order, index_t batch = 1)
      : c({batch, n, order}), b({batch, n, order}), a(transition::extents<K>(batch, n, order)) {}

  Array<T, 3, Space> c, b;
  Array<T, K::rank, Space> a;

  index_t batch() const { return c.extent(0); }
  index_t size() const { return c.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  /// The state size: an upper bound of the order of the matrix.
  index_t order() const { return c.extent(2); }
  index_t stored() const { return c.size() + b.size() + a.size(); }

  SemiseparableView<T, K, Space> view() const { return {c.view(), b.view(), a.view()}; }
};

/// Copies on the device and back. Blocking. Throw NotAvailable or BackendError.
template <Scalar T, transition::Uniform K>
Semiseparable<T, K, space::cuda> to_device(const Semiseparable<T, K>& m) {
  Semiseparable<T, K, space::cuda> there;
  there.c = to_device(m.c), there.b = to_device(m.b), there.a = to_device(m.a);
  return there;
}
template <Scalar T, transition::Uniform K>
Semiseparable<T, K> to_host(const Semiseparable<T, K, space::cuda>& m) {
  Semiseparable<T, K> here;
  here.c = to_host(m.c), here.b = to_host(m.b), here.a = to_host(m.a);
  return here;
}

/// Block generators; the diagonal blocks are lower triangular (what stands above their diagonal is
/// ignored).
template <Scalar T>
class Semiseparable<T, transition::Block, space::host>
    : public OperatorMembers<Semiseparable<T, transition::Block, space::host>, T> {
 public:
  using value_type = T;
  using transition_type = transition::Block;

  Partition partition;
  BlockTriangle<T> lower;
  BlockDiagonal<T> diagonal;

  index_t batch() const { return diagonal.batch(); }
  index_t size() const { return partition.rows(); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  /// The largest state at a block boundary.
  index_t order() const { return lower.order(); }
  index_t stored() const { return lower.stored() + diagonal.stored(); }

  const Semiseparable& view() const { return *this; }
};

}  // namespace structmat
