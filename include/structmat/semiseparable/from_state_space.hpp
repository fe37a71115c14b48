/// \file
/// Discrete state-space models as matrices, and back. What the models are is in state_space.hpp.
#pragma once

#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/semiseparable/semiseparable.hpp"
#include "structmat/semiseparable/state_space.hpp"

namespace structmat {

namespace semiseparable {

/// y = (M + diag(d)) x.
template <Scalar T, transition::Uniform K>
struct FromStateSpace {
  Semiseparable<T, K> matrix;
  Array<T, 2> d;
};

/// The matrix of n steps of a model whose output follows its input, s_i = A_i s_{i-1} + B_i x_i, y_i =
/// C_i^T s_i + D_i x_i:
///   M_ij = C_i^T A_i ... A_{j+1} B_j  (i >= j),  d_i = D_i.
///
/// m: a discrete model of n steps or of 1, in; it is copied. Cost: O(n r) copies (Dense: n r^2).
/// Exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
FromStateSpace<T, K> from_state_space(const StateSpaceView<T, K>& m, index_t n);
template <Scalar T, transition::Uniform K>
FromStateSpace<T, K> from_state_space(const StateSpace<T, K>& m, index_t n) {
  return from_state_space(m.view(), n);
}

/// The other direction: the model of n steps that has this matrix, output after input, with D = d.
///
/// d: (batch, n) or (1, n) in; empty: 0. Cost: copies. Exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
StateSpace<T, K> to_state_space(const SemiseparableView<T, K>& m, View<const T, 2> d = {});
template <Scalar T, transition::Uniform K>
StateSpace<T, K> to_state_space(const Semiseparable<T, K>& m, View<const T, 2> d = {}) {
  return to_state_space(m.view(), d);
}

}  // namespace semiseparable

namespace quasiseparable {

/// When a model gives its output.
enum class Output {
  after_input,  ///< y_i = C_i^T s_i + D_i x_i with s_i = A_i s_{i-1} + B_i x_i
  before_input  ///< y_i = C_i^T s_i + D_i x_i, then s_{i+1} = A_i s_i + B_i x_i
};

/// The lower triangular matrix of n steps of a model, D included, of order (r, 0):
///   before_input:  p_i = C_i,          a_i = A_i,  q_j = B_j,  d_i = D_i
///   after_input:   p_i = A_i^T C_i,    a_i = A_i,  q_j = B_j,  d_i = D_i + C_i^T B_i
///
/// Every lower triangular quasiseparable matrix is that of a model with output before input, also
/// where A_i is singular (A_i = 0: the shift, of order 1); with output after input only those whose
/// strict part extends to a semiseparable matrix are. Cost: O(n r) (Dense: n r^2). before_input is
/// exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_state_space(const StateSpaceView<T, K>& m, index_t n, Output output);
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> from_state_space(const StateSpace<T, K>& m, index_t n, Output output) {
  return from_state_space(m.view(), n, output);
}

/// The model of n steps, output before input, of the lower part and the diagonal of m; the upper part
/// is not looked at. Cost: copies. Exact. Throws ShapeError.
template <Scalar T, transition::Uniform K>
StateSpace<T, K> to_state_space(const QuasiseparableView<T, K>& m);
template <Scalar T, transition::Uniform K>
StateSpace<T, K> to_state_space(const Quasiseparable<T, K>& m) {
  return to_state_space(m.view());
}

}  // namespace quasiseparable

}  // namespace structmat
