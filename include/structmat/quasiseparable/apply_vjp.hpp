/// \file
/// Reverse mode of y = M x: cotangents of the generators of a quasiseparable M and of x.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/quasiseparable/block_on_device.hpp"
#include "structmat/quasiseparable/cotangent.hpp"

namespace structmat {

/// For y = op(M) x and a loss L with dL = Re <y_bar, dy>:
///   x_bar += op(M)^H y_bar,   m_bar += the cotangents of M's generators.
///
/// m: as in apply; x, y_bar: (batch, n, k) in, x of batch extent 1 is broadcast; m_bar: views of
/// the shapes of the generators in/out, each may be absent; x_bar: (batch, n, k) in/out, or absent
/// (data() null). A batch extent 1 of m_bar or x_bar collects the sum over the batch. Generators
/// that M does not depend on (a and b at both ends, p_0, q_{n-1}, g_{n-1}, h_0) are not read, and
/// what is added to their cotangents is zero. Strides are free, with 0 along n or the batch as sums.
/// x_bar overlaps nothing; the views of m_bar overlap no input and not each other.
/// Cost: both triangles together, 40 n r k flops for Scalar and Diagonal, 16 n r^2 k for Dense, about
/// 45 n r k for Block: three to four times those of apply, since the forward states are computed
/// twice and all cotangents beside the adjoint states. Workspace: states at chunk boundaries, n r min(k, 64) / 64
/// numbers (Dense of order above 16: up to n r min(k, 64) / 16), and O(64 r) inside a chunk; Block:
/// the states at all block boundaries.
/// Threads: over the batch where nothing is summed over it, otherwise the two triangles at the same
/// time. The result does not depend on their number, bit for bit.
/// Accuracy: each cotangent is a sum of products of generators, x and y_bar and is componentwise
/// accurate, |error| <= c (n + r + k) eps times the same sum of absolute values.
/// Throws ShapeError, and DomainError where x_bar overlaps x or y_bar; before anything is written.
/// Source: Griewank, Walther, "Evaluating Derivatives" (2008), chapter 12 (states recomputed from
/// checkpoints); Foreman-Mackey, "Scalable Backpropagation for Gaussian Processes using Celerite"
/// (2018).
template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const QuasiseparableCotangent<T, K>& m_bar,
               View<T, 3> x_bar);

/// The same on the device. Cotangents are not broadcast with stride 0 (extent 1 along the batch collects
/// the sum, and the entries of the batch then take turns); other strides are free, and fastest where the
/// numbers of a row are neighbours. Enqueues on e.stream, never allocates or synchronises. e.workspace
/// holds apply_vjp_workspace_bytes(m, k, batch).
/// Both directions are cut into the chunks of apply, whose summaries take one pass over the generators
/// each; a chunk is then walked forward and back. Generators are read four times (p, g, q and h: three),
/// cotangents read and written once for 8 (Scalar, Diagonal: 4) right-hand sides. One pass serves all
/// cotangents: absent ones save their traffic only.
/// Dense: in double, on tensor cores up to order 16. Workspace: the states in front of the chunks in both
/// directions, and for Dense those in front of every fourth row of 8 right-hand sides (order above 16: of
/// the square root of a chunk).
/// Accuracy as on the CPU, with the exceptions of apply for sums and products that overflow. The same
/// call gives the same bits, and an entry of the batch the bits that it has alone.
/// Throws NotAvailable without CUDA or a device, Unsupported (cotangents with stride 0), ShapeError,
/// DomainError (overlap, workspace too small), BackendError; before anything is written.
template <Scalar T, transition::Uniform K>
void apply_vjp(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const QuasiseparableCotangent<T, K, space::cuda>& m_bar,
               View<T, 3, space::cuda> x_bar);

/// Bytes of device workspace for apply_vjp with k right-hand sides and this batch of x. Throws ShapeError.
template <Scalar T, transition::Uniform K>
index_t apply_vjp_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& m, index_t k,
                                  index_t batch = 1);

/// m_bar: block generators of m's partition and states, of m's batch extent or 1; or null.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const Quasiseparable<T, transition::Block>& m, Op op,
               View<const T, 3> x, View<const T, 3> y_bar,
               Quasiseparable<T, transition::Block>* m_bar, View<T, 3> x_bar);

/// The same on the device, Block transitions. Any strides of x, y_bar and x_bar, except that x_bar is not
/// broadcast with stride 0 (a batch extent 1 collects the sum). Enqueues on e.stream, never allocates or
/// synchronises.
/// e.workspace holds apply_vjp_workspace_bytes(m, k, batch): the states at all block boundaries of both
/// directions, the summaries of apply and, for more than one entry, x_bar of each.
/// Cost: two products, their states once more, and one pass over all cotangents, which are independent
/// of each other.
/// Accuracy and range as apply on the device. The same call gives the same bits. Sums over a batch are
/// taken in its order.
/// Throws NotAvailable without CUDA or a device, Unsupported (strides; orders that apply refuses),
/// ShapeError, DomainError (overlap, workspace too small), BackendError; before anything is written.
template <Scalar T>
void apply_vjp(const exec::cuda& e, const Quasiseparable<T, transition::Block, space::cuda>& m,
               Op op, View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               Quasiseparable<T, transition::Block, space::cuda>* m_bar,
               View<T, 3, space::cuda> x_bar);

/// Bytes of device workspace for apply_vjp with k right-hand sides and this batch of x.
template <Scalar T>
index_t apply_vjp_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>& m,
                                  index_t k, index_t batch = 1);

/// For x = op(M)^-1 b and b_bar = op(M)^-H x_bar, which a solver gives:
///   m_bar += the cotangents of M's generators.
///
/// The cotangent of op(M) is -b_bar x^H, so this is apply_vjp with y_bar = -b_bar.
/// x, b_bar: (batch, n, k) in. All else as in apply_vjp; workspace n k more.
/// Source: Giles, "Collected Matrix Derivative Results" (2008), section 2.3.
template <Scalar T, transition::Uniform K>
void solve_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& m, Op op, View<const T, 3> x,
               View<const T, 3> b_bar, const QuasiseparableCotangent<T, K>& m_bar);

}  // namespace structmat
