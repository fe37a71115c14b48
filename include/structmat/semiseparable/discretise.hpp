/// \file
/// From continuous state-space models to discrete ones.
#pragma once

#include "structmat/semiseparable/state_space.hpp"

namespace structmat::semiseparable {

/// | rule            | discrete A                          | discrete B                          |
/// |-----------------|-------------------------------------|-------------------------------------|
/// | zero_order_hold | exp(dt A)                           | int_0^dt exp(u A) du B              |
/// | bilinear        | (I - dt/2 A)^-1 (I + dt/2 A)        | (I - dt/2 A)^-1 dt B                |
/// | euler           | I + dt A                            | dt B                                |
/// | exponential     | exp(dt A)                           | dt B                                |
///
/// zero_order_hold is exact for inputs that are constant within a step; bilinear is the trapezoidal
/// rule in the state with the input held over the step; euler with A = -W is the first-order layer
/// s_i = (I - dt W) s_{i-1} + dt B x_i, whose transition may be singular; exponential is the
/// mixture that Mamba uses.
enum class Discretisation { zero_order_hold, bilinear, euler, exponential };

/// The discrete model of a continuous one; C and D stay.
///
/// m: a continuous model; dt: (batch, n) steps in, finite, >= 0, with extents 1 broadcast: n = 1 is a
/// constant step, otherwise dt(i) leads to index i. The result has the largest batch and n of m and
/// dt: a time-invariant model and a constant step give a time-invariant model.
/// Cost: O(r) a step (Scalar, Diagonal); Dense: O(r^3), for zero_order_hold one exponential of size r
/// + 1, with c >= 0 squarings for a step of about 5 2^c / ||A||_1. Accuracy: Scalar and Diagonal
/// componentwise, a few eps (relative to dt |B| near a zero of the integral) with (e^z - 1) / z in a form
/// without cancellation, so that A = 0 gives B dt; Dense: normwise, see dense::exponential (the column
/// B is normalised first, so that its size plays no part) and dense::solve. A growing model over a
/// long step may overflow to Inf.
/// Throws ShapeError; DomainError: a step that is negative or not finite, a Dense A or B that is not
/// finite, I - dt/2 A singular; with its place.
/// Source: Van Loan, "Computing integrals involving the matrix exponential", IEEE Trans. Autom.
/// Control 23 (1978); Gu, Goel, Re, "Efficiently modeling long sequences with structured state
/// spaces" (2022), section 2.2.
template <Scalar T, transition::Uniform K>
StateSpace<T, K> discretise(const StateSpaceView<T, K>& m, View<const real_t<T>, 2> dt,
                            Discretisation rule);
template <Scalar T, transition::Uniform K>
StateSpace<T, K> discretise(const StateSpace<T, K>& m, View<const real_t<T>, 2> dt,
                            Discretisation rule) {
  return discretise(m.view(), dt, rule);
}
/// With one step for all.
template <Scalar T, transition::Uniform K>
StateSpace<T, K> discretise(const StateSpace<T, K>& m, real_t<T> dt, Discretisation rule) {
  return discretise(m.view(), View<const real_t<T>, 2>(&dt, {1, 1}), rule);
}

}  // namespace structmat::semiseparable
