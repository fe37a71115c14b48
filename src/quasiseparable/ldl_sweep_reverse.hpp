/// \file
/// The reverse of the sweeps in ldl_sweep.hpp for one column, run by run from the last.
#pragma once

#include "quasiseparable/ldl_sweep.hpp"

namespace structmat::quasiseparable {

/// Padded cotangents of a run of generators, added to.
template <Scalar T>
struct TriangleBars {
  Run<real_t<T>> out, in, a;
};

/// s of one batch entry and column at the beginning of each run, and s_bar at its end.
template <Scalar T, transition::Uniform K>
class SweepReverse {
 public:
  using R = real_t<T>;

  SweepReverse(const UnitTriangle<const T, K>& triangle, bool solve);

  index_t runs() const { return starts_.extent(0); }

  /// fed: what s was made of, that is y of a solve, x of a product; (n). Goes through all rows and
  /// keeps s at the beginning of each run.
  void record(const View<const T, 1>& fed);
  /// In place of that: s at the beginning of `run`.
  void keep_start(index_t run, const R* s);

  /// Forgets s_bar: the next run is the last one.
  void begin() { std::fill(bar_.begin(), bar_.end(), R{}); }

  /// bar: (n), cotangent of y in, of x out, on the rows of `run`.
  void run(index_t run, const View<const T, 1>& fed, const View<T, 1>& bar,
           const TriangleBars<T>& bars);

 private:
  Layout<T> layout_;
  index_t n_;
  bool solve_;
  PaddedRows<T, 2> out_, in_;
  PaddedRows<T, transition_dimensions<K>> a_, a_transposed_;
  Array<R, 2> starts_;
  Array<R, 1> history_, bar_, spare_;
};

}  // namespace structmat::quasiseparable
