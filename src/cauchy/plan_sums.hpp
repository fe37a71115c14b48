/// \file
/// The fast sums of one matrix of a plan.
#pragma once

#include <mutex>
#include <optional>

#include "cauchy/line.hpp"
#include "cauchy/multipole.hpp"
#include "cauchy/plan_method.hpp"

namespace structmat::cauchy {

template <Scalar T>
Geometry geometry_of(const View<const T, 1>& s, const View<const T, 1>& t);

/// Sums over nodes on a line: complex charges are two real ones.
template <Scalar T>
class LineSums {
 public:
  LineSums(const exec::cpu& e, const View<const T, 1>& s, const View<const T, 1>& t,
           Geometry geometry, double tolerance, Coincidence coincidence, index_t batch);

  /// y_i := sum_j x_j / (s_i - t_j), or exchanged: y_j := sum_i x_i / (t_j - s_i).
  void apply(const exec::cpu& e, bool exchanged, const View<const T, 2>& x,
             const View<T, 2>& y) const;

 private:
  Line<real_t<T>> line_;
  bool vertical_;
};

/// Sums over nodes in the plane, both ways.
template <ComplexScalar T>
class PlaneSums {
 public:
  PlaneSums(const exec::cpu& e, const View<const T, 1>& s, const View<const T, 1>& t,
            double tolerance, Coincidence coincidence);

  void apply(const exec::cpu& e, bool exchanged, const View<const T, 2>& x,
             const View<T, 2>& y) const;

 private:
  using R = real_t<T>;

  View<const T, 1> s_, t_;
  R tolerance_;
  Coincidence coincidence_;
  Multipole<R> forward_;
  mutable std::once_flag once_;
  mutable std::optional<Multipole<R>> exchanged_;  // when first asked for
};

}  // namespace structmat::cauchy
