/// \file
/// Cauchy sums pair by pair: what products and their gradients are made of.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/view.hpp"

namespace structmat::cauchy {

/// y_ic := or += sign sum_j w_ij x_jc with w_ij = (a_i . b_j) / (s_i - t_j)^power, without
/// conjugation; a_i . b_j is 1 where there are no factors, and w_ij is 0 where s_i = t_j.
template <Scalar T>
struct DirectSums {
  View<const T, 1> s{}, t{};  // (m), (n)
  bool factors = false;       // with a and b
  View<const T, 2> a{}, b{};  // (m, r), (n, r)
  int power = 1;              // or, with factors, 2
  bool coincide = false;      // may some s_i equal some t_j?
  bool conjugate_x = false;   // take conj(x)
  bool conjugate_y = false;   // write the conjugate of the sum
  bool add = false;           // to y
  int sign = 1;
};

/// x: (n, k) in, y: (m, k) out or in/out; no overlap. Cost: m n (r + k) multiply-adds and, for every
/// four columns, m n reciprocals of which two or four share a division. Workspace: n (r + 5) + m
/// numbers. Accuracy: componentwise, (n + r + 8) eps sum_j |a_i|.|b_j| |x_jc| / |s_i - t_j|^power.
/// Threads: over the targets; the result does not depend on them.
template <Scalar T>
void add_direct(int threads, const DirectSums<T>& sums, const View<const T, 2>& x,
                const View<T, 2>& y);

}  // namespace structmat::cauchy
