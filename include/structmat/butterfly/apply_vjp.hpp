/// \file
/// Reverse mode of y = M x for butterfly and Monarch matrices: cotangents of the factors and of x.
#pragma once

#include "structmat/butterfly/butterfly.hpp"
#include "structmat/butterfly/monarch.hpp"

namespace structmat {

/// A view shaped like the factors; empty (data() null): not wanted. A batch extent 1 beside a larger
/// batch of the operation collects the sum over the batch.
template <Scalar T, class Space = space::host>
struct ButterflyCotangent {
  View<T, 5, Space> factors{};

  ButterflyCotangent() = default;
  explicit ButterflyCotangent(View<T, 5, Space> bar) : factors(bar) {}
  /// The factors of a matrix that serves as storage.
  explicit ButterflyCotangent(Butterfly<T, Space>& m) : factors(m.factors) {}
};

/// Views shaped like the blocks; as ButterflyCotangent.
template <Scalar T, class Space = space::host>
struct MonarchCotangent {
  View<T, 4, Space> w1{}, w2{};

  MonarchCotangent() = default;
  MonarchCotangent(View<T, 4, Space> w1_bar, View<T, 4, Space> w2_bar) : w1(w1_bar), w2(w2_bar) {}
  /// The blocks of a matrix that serves as storage.
  explicit MonarchCotangent(Monarch<T, Space>& m) : w1(m.w1), w2(m.w2) {}
};

/// For y = op(M) x and a loss L with dL = Re <y_bar, dy>:
///   x_bar += op(M)^H y_bar,   m_bar += the cotangents of the factors.
///
/// m: as in apply; x, y_bar: (batch, n or m, k) in, x of batch extent 1 is broadcast; m_bar: the
/// shape of the factors in/out, or absent; x_bar: (batch or 1, n, k) in/out, or absent (data() null).
/// Strides are free, with 0 as sums. x_bar overlaps neither x nor y_bar; m_bar overlaps no input.
/// Cost: 3 times the flops of apply. Workspace: (stages log2 N + 2) N numbers for 8 right-hand sides:
/// the vectors between the factors.
/// Threads: over the batch where nothing is summed over it. The result does not depend on their
/// number, bit for bit.
/// Accuracy: componentwise, |error| <= c (stages log2 N + k) eps times the sums of absolute values.
/// Throws ShapeError, and DomainError where x_bar overlaps x or y_bar; before anything is written.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const ButterflyView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const ButterflyCotangent<T>& m_bar, View<T, 3> x_bar);

/// The same for a Monarch matrix. Cost: 3 times the flops of apply, by BLAS. Workspace: two
/// intermediates, copies of what is not row-major. Threads: those of the BLAS.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const MonarchView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const MonarchCotangent<T>& m_bar, View<T, 3> x_bar);

/// The same on the device, any strides. e.workspace, aligned to 256 bytes, holds
/// apply_vjp_workspace_bytes(m, k, batch of x): the vectors between the factors. Enqueues on e.stream,
/// two launches a factor, never allocates or synchronises; sums over a batch run in its order.
/// Throws as apply on the device, and as on the host.
template <Scalar T>
void apply_vjp(const exec::cuda& e, const ButterflyView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const ButterflyCotangent<T, space::cuda>& m_bar, View<T, 3, space::cuda> x_bar);
template <Scalar T>
void apply_vjp(const exec::cuda& e, const MonarchView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const MonarchCotangent<T, space::cuda>& m_bar, View<T, 3, space::cuda> x_bar);

/// Bytes of device workspace for apply_vjp with k right-hand sides.
template <Scalar T>
index_t apply_vjp_workspace_bytes(const ButterflyView<T, space::cuda>& m, index_t k,
                                  index_t batch = 1);
template <Scalar T>
index_t apply_vjp_workspace_bytes(const MonarchView<T, space::cuda>& m, index_t k,
                                  index_t batch = 1);

}  // namespace structmat
