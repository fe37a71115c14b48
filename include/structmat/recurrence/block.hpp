/// \file
/// Block (sequentially semiseparable, SSS) generators of one triangle.
///
/// Rows are cut into blocks; block row i has m_i rows. For block indices i > j the block of the
/// matrix is
///   M_ij = P_i A_{i-1} ... A_{j+1} Q_j^T,   P_i: m_i x s_i,  Q_j: m_j x s_{j+1},  A_i: s_{i+1} x
///   s_i,
/// where s_i is the size of the state that crosses the boundary in front of block i (s_0 = s_B =
/// 0). With m_i about the order r this is 3 n r numbers a triangle (4 n r with half of a dense
/// diagonal block).
///
/// Source: Chandrasekaran, Dewilde, Gu, Pals, Sun, van der Veen, White, "Some fast algorithms for
/// sequentially semiseparable representations", SIAM J. Matrix Anal. Appl. 27 (2005), section 2.
#pragma once

#include <algorithm>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/export.hpp"

namespace structmat {

/// Rows offsets[i] <= row < offsets[i+1] form block i. Begins with 0 and ends with n; no block is
/// empty.
struct Partition {
  std::vector<index_t> offsets{0};

  index_t blocks() const { return static_cast<index_t>(offsets.size()) - 1; }
  index_t rows() const { return offsets.back(); }
  index_t begin(index_t i) const { return offsets[i]; }
  index_t size(index_t i) const { return offsets[i + 1] - offsets[i]; }
  /// The block that holds a row. O(log blocks).
  index_t find(index_t row) const {
    return std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin() - 1;
  }
  friend bool operator==(const Partition&, const Partition&) = default;
};

/// P, Q, A of one triangle, all blocks of a kind one behind the other, each block row-major.
template <Scalar T>
class BlockTriangle {
 public:
  /// All states of size 0.
  BlockTriangle() = default;

  /// Zero generators for the given state sizes (blocks + 1 of them, the first and last 0).
  /// Throws ShapeError when they do not fit the partition.
  BlockTriangle(const Partition& partition, std::vector<index_t> states, index_t batch = 1);

  index_t batch() const { return p_.extent(0); }
  /// s_i, 0 <= i <= blocks.
  index_t state(index_t i) const { return states_[i]; }
  const std::vector<index_t>& states() const { return states_; }
  /// The largest state.
  index_t order() const { return *std::max_element(states_.begin(), states_.end()); }
  /// How many numbers are stored.
  index_t stored() const { return p_.size() + q_.size() + a_.size(); }

  View<const T, 2> p(index_t batch, index_t i) const {
    return {p_.data() + batch * p_.extent(1) + p_at_[i], {rows_[i], states_[i]}};
  }
  View<const T, 2> q(index_t batch, index_t i) const {
    return {q_.data() + batch * q_.extent(1) + q_at_[i], {rows_[i], states_[i + 1]}};
  }
  View<const T, 2> a(index_t batch, index_t i) const {
    return {a_.data() + batch * a_.extent(1) + a_at_[i], {states_[i + 1], states_[i]}};
  }
  View<T, 2> p(index_t batch, index_t i) {
    return {p_.data() + batch * p_.extent(1) + p_at_[i], {rows_[i], states_[i]}};
  }
  View<T, 2> q(index_t batch, index_t i) {
    return {q_.data() + batch * q_.extent(1) + q_at_[i], {rows_[i], states_[i + 1]}};
  }
  View<T, 2> a(index_t batch, index_t i) {
    return {a_.data() + batch * a_.extent(1) + a_at_[i], {states_[i + 1], states_[i]}};
  }

  /// All numbers of a kind, (batch, total): for input and output.
  const Array<T, 2>& all_p() const { return p_; }
  const Array<T, 2>& all_q() const { return q_; }
  const Array<T, 2>& all_a() const { return a_; }
  Array<T, 2>& all_p() { return p_; }
  Array<T, 2>& all_q() { return q_; }
  Array<T, 2>& all_a() { return a_; }

 private:
  std::vector<index_t> rows_, states_{0}, p_at_, q_at_, a_at_;
  Array<T, 2> p_, q_, a_;
};

/// The dense diagonal blocks D_i (m_i x m_i), one behind the other.
template <Scalar T>
class BlockDiagonal {
 public:
  BlockDiagonal() = default;
  explicit BlockDiagonal(const Partition& partition, index_t batch = 1);

  index_t batch() const { return d_.extent(0); }
  index_t stored() const { return d_.size(); }
  View<const T, 2> block(index_t batch, index_t i) const {
    return {d_.data() + batch * d_.extent(1) + at_[i], {rows_[i], rows_[i]}};
  }
  View<T, 2> block(index_t batch, index_t i) {
    return {d_.data() + batch * d_.extent(1) + at_[i], {rows_[i], rows_[i]}};
  }
  const Array<T, 2>& all() const { return d_; }
  Array<T, 2>& all() { return d_; }

 private:
  std::vector<index_t> rows_, at_;
  Array<T, 2> d_;
};

}  // namespace structmat
