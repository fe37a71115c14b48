/// \file
/// The factorisation of one batch entry, run by run, so that other work on the same rows can take
/// turns with it while they are in cache.
#pragma once

#include <vector>

#include "quasiseparable/state_lanes.hpp"
#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {

/// That of the first entry which is not ok.
inline PivotStatus first_bad(const std::vector<PivotStatus>& all) {
  for (const PivotStatus& status : all) {
    if (!status.ok()) return status;
  }
  return {};
}

/// Padded rows of a run.
template <Scalar T>
struct FactorRows {
  using R = real_t<T>;
  index_t count, padded;
  Run<const R> p, q, a;
  Run<const R> m;  ///< the diagonal
  Run<R> w, d;
  bool definite;
};

/// All rows with f carried on; `scratch`: a vector, and a matrix for Dense.
/// Returns how many rows have a good pivot; a bad one is in d.
template <Scalar T, bool Dense, int W, bool One>
index_t factor_rows(const FactorRows<T>& rows, real_t<T>* f, real_t<T>* scratch);

/// One batch entry of the generators, and where its factor goes.
template <Scalar T, transition::Uniform K>
class Factorisation {
 public:
  using R = real_t<T>;

  Factorisation(const QuasiseparableView<T, K>& m, index_t batch, const LdlOptions& options,
                const View<T, 3>& w, const View<R, 2>& d);

  /// Rows begin <= i < end, at most chunk_rows of them, which follow those of the previous call.
  /// False: there is a bad pivot, which status() tells.
  bool rows(index_t begin, index_t end);

  const PivotStatus& status() const { return status_; }
  /// f before the next row, in padded form.
  const Array<R, 1>& state() const { return f_; }
  Array<R, 1>& state() { return f_; }

 private:
  void report(index_t i, R pivot);
  bool finite_row(index_t i) const;

  static constexpr int dims = transition_dimensions<K>;
  Layout<T> layout_;
  index_t batch_;
  bool definite_;
  View<const T, 2> p_, q_;
  View<const T, dims> a_;
  View<const T, 1> m_;
  View<T, 2> w_;
  View<R, 1> d_;
  PaddedRows<T, 2> p_rows_, q_rows_;
  PaddedRows<T, dims> a_rows_;
  ResultRows<T, 2> w_rows_;
  Array<R, 1> diagonal_, f_, scratch_;
  PivotStatus status_;
};

}  // namespace structmat::quasiseparable
