/// \file
/// What a run of rows does to the state in front of it, for two-phase sweeps: local sweeps from
/// zero, states combined from run to run, sweeps from the right states.
#pragma once

#include <vector>

#include "quasiseparable/ldl_sweep.hpp"

namespace structmat::quasiseparable {

/// Consecutive ranges of rows: the first sweep of the first range is also its last, so it is longer
/// than the others by the price of a transfer. The end of range j is the beginning of range j + 1.
std::vector<index_t> chunk_ends(index_t n, int chunks);

/// Phi: the product over the rows, begun with the first one, of a_i - in_i out_i^T (solve) or a_i;
/// G = sum_i conj(t_i) t_i^T / d_i, where t_i^T = out_i^T (Phi before row i).
///
/// Elements of Phi that come near the underflow threshold count as 0: numbers below it are slow to
/// compute with, and once all of Phi has faded, as it does where transitions decay, the rest of the
/// rows costs nothing.
///
/// A sweep that would end in s_local from s = 0 ends in s_local + Phi s. With the factor of the rows
/// alone for in and d, f_local becomes f_local + Phi f (1 - G f)^{-1} Phi^H (Woodbury).
template <Scalar T, transition::Uniform K>
class Transfer {
 public:
  using R = real_t<T>;

  /// d: (n), or empty: no G.
  Transfer(const UnitTriangle<const T, K>& triangle, bool solve, const View<const R, 1>& d);

  /// Rows begin <= i < end, at most chunk_rows of them, which follow those of the previous call.
  void rows(index_t begin, index_t end);

  /// s_local += Phi s, padded vectors.
  void add_to_state(const R* s, R* s_local) const;
  /// f_local += Phi f (1 - G f)^{-1} Phi^H, padded matrices.
  void add_to_factor(const R* f, R* f_local) const;

 private:
  Array<T, 2> dense(const R* columns) const;
  void drop_faded();

  Layout<T> layout_;
  bool solve_, faded_ = false;
  View<const R, 1> d_;
  PaddedRows<T, 2> out_, in_;
  PaddedRows<T, transition_dimensions<K>> a_;
  Array<R, 1> phi_, gram_, scratch_;  // phi_ by rows
};

}  // namespace structmat::quasiseparable
