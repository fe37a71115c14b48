/// \file
/// A row vector carried through transitions: how single entries are evaluated from their
/// definition.
#pragma once

#include <algorithm>
#include <vector>

#include "structmat/core/view.hpp"

namespace structmat::recurrence {

/// Holds w^T; `through` makes it w^T a, `times` is w^T q.
template <Scalar T>
class Walk {
 public:
  explicit Walk(const View<const T, 1>& row) : w_(row.extent(0)) {
    for (index_t l = 0; l < row.extent(0); ++l) w_[l] = row(l);
  }

  /// Scalar transition.
  void through(const T& a) {
    for (T& w : w_) w *= a;
  }
  /// Diagonal transition.
  void through(const View<const T, 1>& a) {
    for (index_t l = 0; l < a.extent(0); ++l) w_[l] *= a(l);
  }
  /// Dense transition, not necessarily square.
  void through(const View<const T, 2>& a) {
    next_.assign(a.extent(1), T{});
    for (index_t m = 0; m < a.extent(0); ++m) {
      for (index_t l = 0; l < a.extent(1); ++l) next_[l] += w_[m] * a(m, l);
    }
    std::swap(w_, next_);
  }

  T times(const View<const T, 1>& q) const {
    T sum{};
    for (index_t l = 0; l < q.extent(0); ++l) sum += w_[l] * q(l);
    return sum;
  }

 private:
  std::vector<T> w_, next_;
};

/// Entry `index` of a batch of uniform transitions: a number, a vector or a matrix.
template <class T, int Rank>
auto transition_at(const View<const T, Rank>& a, index_t index) {
  if constexpr (Rank == 1) {
    return a(index);
  } else {
    return a.select(0, index);
  }
}

}  // namespace structmat::recurrence
