/// \file
/// The reverse of the factorisation of one batch entry, run by run from the last.
#pragma once

#include "quasiseparable/state_lanes.hpp"
#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {

/// Padded cotangents of a run of rows: of w in, of d in (pivots) and out (diagonal of the matrix);
/// those of p, a and q are added to.
template <Scalar T>
struct FactorBars {
  Run<const real_t<T>> w;
  Run<real_t<T>> d, p, a, q;
};

/// f of one batch entry at the beginning of each run, and f_bar at its end.
template <Scalar T, transition::Uniform K>
class FactorReverse {
 public:
  using R = real_t<T>;

  FactorReverse(const LdlView<T, K>& f, index_t batch);

  index_t runs() const { return starts_.extent(0); }

  /// Makes f again from w and d, and keeps it at the beginning of each run.
  void record();
  /// In place of that: f at the beginning of `run`, padded.
  void keep_start(index_t run, const R* f);

  void run(index_t run, const FactorBars<T>& bars);

 private:
  static constexpr int dims = transition_dimensions<K>;
  Layout<T> layout_;
  index_t n_;
  View<const R, 1> d_;
  PaddedRows<T, 2> p_, w_;
  PaddedRows<T, dims> a_, a_transposed_;
  Array<R, 2> starts_;
  Array<R, 1> history_, bar_, scratch_;
};

}  // namespace structmat::quasiseparable
