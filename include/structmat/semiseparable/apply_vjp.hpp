/// \file
/// Reverse mode of y = M x: cotangents of the generators of a semiseparable M and of x.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/semiseparable/block_on_device.hpp"
#include "structmat/semiseparable/cotangent.hpp"

namespace structmat {

/// For y = op(M) x and a loss L with dL = Re <y_bar, dy>:
///   x_bar += op(M)^H y_bar,   m_bar += the cotangents of M's generators.
///
/// m: as in apply; x, y_bar: (batch, n, k) in, x of batch extent 1 is broadcast; m_bar: views of
/// the shapes of the generators in/out, each may be absent; x_bar: (batch, n, k) in/out, or absent
/// (data() null). A batch extent 1 of m_bar or x_bar collects the sum over the batch. A_0 is not
/// read and its cotangent not touched. Strides are free, with 0 along n or the batch as sums. x_bar
/// overlaps nothing; the views of m_bar overlap no input and not each other.
/// Cost: three to four times the flops of apply. Workspace: states at chunk boundaries, n r min(k, 64) / 64
/// numbers (Dense of order above 16: up to n r min(k, 64) / 16), and O(64 r) inside a chunk; Block:
/// the states at all block boundaries.
/// Threads: over the batch where nothing is summed over it. The result does not depend on their
/// number, bit for bit.
/// Accuracy: componentwise, |error| <= c (n + r + k) eps times the sums of absolute values.
/// Throws ShapeError, and DomainError where x_bar overlaps x or y_bar; before anything is written.
/// Source: Griewank, Walther, "Evaluating Derivatives" (2008), chapter 12.
template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cpu& e, const SemiseparableView<T, K>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const SemiseparableCotangent<T, K>& m_bar, View<T, 3> x_bar);

/// The same on the device: what quasiseparable/apply_vjp.hpp says of strides, workspace, accuracy and
/// exceptions holds here.
template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cuda& e, const SemiseparableView<T, K, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const SemiseparableCotangent<T, K, space::cuda>& m_bar,
               View<T, 3, space::cuda> x_bar);

/// Bytes of device workspace for apply_vjp with k right-hand sides and this batch of x. Throws ShapeError.
template <Scalar T, transition::Uniform K>
index_t apply_vjp_workspace_bytes(const SemiseparableView<T, K, space::cuda>& m, index_t k,
                                  index_t batch = 1);

/// m_bar: block generators of m's partition and states, of m's batch extent or 1; or null. What
/// stands above the diagonal of its diagonal blocks is not touched.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const Semiseparable<T, transition::Block>& m, Op op,
               View<const T, 3> x, View<const T, 3> y_bar,
               Semiseparable<T, transition::Block>* m_bar, View<T, 3> x_bar);

/// The same on the device, Block transitions: what quasiseparable/apply_vjp.hpp says of it holds here.
template <Scalar T>
void apply_vjp(const exec::cuda& e, const Semiseparable<T, transition::Block, space::cuda>& m,
               Op op, View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               Semiseparable<T, transition::Block, space::cuda>* m_bar,
               View<T, 3, space::cuda> x_bar);

/// Bytes of device workspace for apply_vjp with k right-hand sides and this batch of x.
template <Scalar T>
index_t apply_vjp_workspace_bytes(const Semiseparable<T, transition::Block, space::cuda>& m,
                                  index_t k, index_t batch = 1);

}  // namespace structmat
