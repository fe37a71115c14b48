/// \file
/// Reverse mode of y = C x: cotangents of the nodes and generators of a Cauchy or Cauchy-like matrix,
/// and of x.
#pragma once

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/core/exec.hpp"
#include "structmat/core/op.hpp"

namespace structmat {

/// Views shaped like the nodes; each may be empty (data() null): not wanted. A batch extent 1 beside a
/// larger batch of the operation collects the sum over the batch, which is the cotangent of broadcast
/// nodes.
template <Scalar T, class Space = space::host>
struct CauchyCotangent {
  View<T, 2, Space> s{}, t{};

  CauchyCotangent() = default;
  /// All nodes of a matrix that serves as storage.
  explicit CauchyCotangent(Cauchy<T, Space>& m) : s(m.s), t(m.t) {}
};

/// The same with generators.
template <Scalar T, class Space = space::host>
struct CauchyLikeCotangent {
  View<T, 2, Space> s{}, t{};
  View<T, 3, Space> g{}, h{};

  CauchyLikeCotangent() = default;
  /// All parts of a matrix that serves as storage.
  explicit CauchyLikeCotangent(CauchyLike<T, Space>& m) : s(m.s), t(m.t), g(m.g), h(m.h) {}
};

/// For y = op(C) x and a loss L with dL = Re <y_bar, dy>:
///   x_bar += op(C)^H y_bar,   m_bar += the cotangents of nodes and generators, which for y = C x are
///   the conjugates of
///     s_i:  -sum_j (conj(y_bar_i) . x_j) (g_i . h_j) / (s_i - t_j)^2
///     t_j:   sum_i (conj(y_bar_i) . x_j) (g_i . h_j) / (s_i - t_j)^2
///     g_i:   sum_j (conj(y_bar_i) . x_j) h_j / (s_i - t_j),  h_j with the roles exchanged.
///
/// m, x: as in apply; y_bar: the shape of y, in; m_bar: views of the shapes of nodes and generators
/// in/out, each may be absent; x_bar: (batch or 1, rows of x, k) in/out, or absent (data() null).
/// Strides are free, with 0 along the batch as sums. x_bar overlaps neither x nor y_bar; the views of
/// m_bar overlap no input and not each other.
/// Cost: a product of order k with r columns for each of s, t, g and h, and one of order r with k
/// columns for x_bar. Workspace: O((m + n) (r + k)).
/// Threads: those of the products; the result does not depend on them, bit for bit.
/// Accuracy: componentwise, |error| <= c (m + n + r + k) eps times the same sums of absolute values.
/// Coincidence::skip: the entries that are skipped have no derivative, and add nothing.
/// Throws ShapeError; DomainError where x_bar overlaps x or y_bar, and for a coincidence; before
/// anything is written.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const CauchyView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const CauchyCotangent<T>& m_bar, View<T, 3> x_bar);
template <Scalar T>
void apply_vjp(const exec::cpu& e, const CauchyLikeView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const CauchyLikeCotangent<T>& m_bar, View<T, 3> x_bar);

/// The same on the device, any strides. e.workspace, aligned to 256 bytes, holds
/// apply_vjp_workspace_bytes(m, k, batch of x): the sums for one cotangent at a time. Enqueues on
/// e.stream, never allocates or synchronises; sums over a batch run in its order. Coincidence as in
/// apply on the device: skipped entries add nothing, others make their cotangents not finite. m_bar
/// and x_bar do not overlap the workspace. Throws as apply on the device, and as on the host but for
/// coincidences.
template <Scalar T>
void apply_vjp(const exec::cuda& e, const CauchyView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const CauchyCotangent<T, space::cuda>& m_bar, View<T, 3, space::cuda> x_bar);
template <Scalar T>
void apply_vjp(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const CauchyLikeCotangent<T, space::cuda>& m_bar, View<T, 3, space::cuda> x_bar);

/// Bytes of device workspace for apply_vjp with k right-hand sides; batch: that of x, where it is
/// larger than that of m.
template <Scalar T>
index_t apply_vjp_workspace_bytes(const CauchyView<T, space::cuda>& m, index_t k,
                                  index_t batch = 1);
template <Scalar T>
index_t apply_vjp_workspace_bytes(const CauchyLikeView<T, space::cuda>& m, index_t k,
                                  index_t batch = 1);

}  // namespace structmat
