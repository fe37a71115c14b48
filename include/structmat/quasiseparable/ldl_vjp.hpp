/// \file
/// Gradients through the LDL factorisation of Hermitian quasiseparable matrices and through what is
/// done with the factor.
///
/// The independent variables of a Hermitian matrix are its lower generators p, a, q and its real
/// diagonal d: the upper part follows them, so that a gradient on them is the whole one (that of a
/// strictly lower entry is twice what it would be for a general matrix). Cotangents of d have no
/// imaginary part. Conventions: cotangent.hpp.
///
/// Every reverse pass is a sweep in the opposite direction. States (f, an r x r matrix an index, and
/// s, a vector an index and right-hand side) are kept at every 64th index and made again in between:
/// memory stays O(n r) for Scalar and Diagonal up to order 64.
///
/// Source: Foreman-Mackey, "Scalable backpropagation for Gaussian processes using celerite",
/// Res. Notes AAS 2 (2018).
#pragma once

#include "structmat/quasiseparable/cotangent.hpp"
#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {

/// Views shaped like the parts of a factor; each may be empty (data() null): not wanted, or zero. A
/// batch extent 1 beside a larger batch collects the sum over the batch.
template <Scalar T, transition::Uniform K>
struct LdlCotangent {
  View<T, 3> p{}, w{};
  View<T, K::rank> a{};
  View<real_t<T>, 2> d{};
};

/// Through factor_ldl: cotangents of w and d become those of p, a, q, d of the matrix.
///
/// f: in, the factor of m (only its w and d are read). factor: in, cotangents of w and d; what it
/// holds for p and a is not read (let operations on the factor add to those of the matrix). gradient:
/// p, a, q, d are added to. Extents as in factor_ldl; the gradient must not overlap anything else.
/// Cost: Scalar, Diagonal about 25 n r^2 flops, Dense 20 n r^3. Workspace: n r^2 / 64 numbers per
/// thread. Threads: over the batch, one if the gradient is summed over the batch. Accuracy: c (n +
/// r) eps times the condition of the pivots. Throws ShapeError, before anything is written.
template <Scalar T, transition::Uniform K>
void factor_ldl_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& m, const LdlView<T, K>& f,
                    const LdlCotangent<T, K>& factor,
                    const QuasiseparableCotangent<T, K>& gradient);

/// Through y = part(f) x, see ldl.hpp: solve, solve_lower, solve_lower_adjoint, apply_lower,
/// apply_lower_adjoint.
///
/// x, y_bar: (batch, n, k) in; gradient, x_bar: added to; x_bar may be empty. A batch extent 1 of f
/// or of x is broadcast; x_bar has the batch of y_bar, or 1 for the sum. The results must not overlap
/// anything else. y is computed again.
/// Cost: about five times that of the operation, generators are read once a right-hand side.
/// Workspace: up to 3 n k + n r k / 64 numbers. Threads: over the batch, one if a gradient is summed
/// over it. Throws ShapeError, before anything is written.
template <Scalar T, transition::Uniform K>
void ldl_apply_vjp(const exec::cpu& e, const LdlView<T, K>& f, LdlPart part, View<const T, 3> x,
                   View<const T, 3> y_bar, const LdlCotangent<T, K>& gradient, View<T, 3> x_bar);

/// Through log |det M|: d_bar += log_bar / d for one batch entry. d_bar: (n).
template <Scalar T, transition::Uniform K>
void log_determinant_vjp(const LdlView<T, K>& f, index_t batch, double log_bar,
                         View<real_t<T>, 1> d_bar);

}  // namespace structmat::quasiseparable
