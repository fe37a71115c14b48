/// \file
/// Reverse mode of y = U V^T x: cotangents of both factors and of x.
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/lowrank/low_rank.hpp"

namespace structmat {

/// Views shaped like the factors; each may be empty (data() null): not wanted. A batch extent 1
/// beside a larger batch of the operation collects the sum over the batch.
template <Scalar T, class Space = space::host>
struct LowRankCotangent {
  View<T, 3, Space> u{}, v{};

  LowRankCotangent() = default;
  LowRankCotangent(View<T, 3, Space> u_bar, View<T, 3, Space> v_bar) : u(u_bar), v(v_bar) {}
  /// Both factors of a matrix that serves as storage.
  explicit LowRankCotangent(LowRank<T, Space>& m) : u(m.u), v(m.v) {}
};
template <Scalar T, class Space>
LowRankCotangent(LowRank<T, Space>&) -> LowRankCotangent<T, Space>;

/// For y = op(M) x and a loss L with dL = Re <y_bar, dy>:
///   x_bar += op(M)^H y_bar,   U_bar += y_bar (V^T x)^H,   V_bar += conj(x) (U^H y_bar)^T  (op none)
///
/// m: as in apply; x, y_bar: (batch, n or m, k) in, x of batch extent 1 is broadcast; m_bar:
/// (batch or 1, m or n, r) in/out; x_bar: (batch or 1, n, k) in/out, or absent (data() null).
/// Strides are free, with 0 as sums. x_bar overlaps neither x nor y_bar; the views of m_bar overlap
/// no input and not each other.
/// Cost: 6 to 10 (m + n) r k / 2 flops by BLAS; workspace O((m + n) (r + k)).
/// Threads: those of the BLAS. Accuracy: componentwise, |error| <= c (m + n + r + k) eps times the
/// sums of absolute values.
/// Throws ShapeError, and DomainError where x_bar overlaps x or y_bar; before anything is written.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const LowRankView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const LowRankCotangent<T>& m_bar, View<T, 3> x_bar);

/// The same on the device, any strides. e.workspace, aligned to 256 bytes, holds
/// apply_vjp_workspace_bytes(m, k, batch of x). Enqueues on e.stream, never allocates or synchronises;
/// sums over a batch run in its order. The views of m_bar and x_bar do not overlap the workspace.
/// Throws as apply on the device, and as on the host.
template <Scalar T>
void apply_vjp(const exec::cuda& e, const LowRankView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const LowRankCotangent<T, space::cuda>& m_bar, View<T, 3, space::cuda> x_bar);

/// Bytes of device workspace for apply_vjp with k right-hand sides.
template <Scalar T>
index_t apply_vjp_workspace_bytes(const LowRankView<T, space::cuda>& m, index_t k,
                                  index_t batch = 1);

}  // namespace structmat
