/// \file
/// Cauchy sums with poles in conjugate pairs, of which one is stored:
///
///   out_l = sum_n v_n / (z_l - w_n) + conj(v_n) / (z_l - conj(w_n)),
///
/// the transforms of real state-space models at any nodes z.
///
/// | operand | shape                                       |
/// |---------|---------------------------------------------|
/// | v, w    | (batch, N), extents 1 broadcast              |
/// | z       | (batch, L), extent 1 broadcast: shared nodes |
/// | out     | (batch, L)                                  |
///
/// At roots of unity a Fourier transform is faster; see S4 in structmat/toeplitz/from_state_space.hpp.
/// Source: Gu, Goel, Re, "Efficiently modeling long sequences with structured state spaces" (2022).
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat::cauchy {

/// Any strides; out overlaps no operand.
/// Cost: 2 L N complex reciprocals and products. Accuracy: componentwise, |error_l| <= (N + 12) eps
/// sum_n |v_n| (1 / |z_l - w_n| + 1 / |z_l - conj(w_n)|). A node that is a pole, of either kind, has a
/// sum that is not finite; NaN reaches the sums that depend on it.
/// Throws ShapeError; DomainError (overlap); before anything is written.
template <ComplexScalar T>
void conjugate_sums(const exec::cpu& e, View<const T, 2> v, View<const T, 2> w, View<const T, 2> z,
                    View<T, 2> out);

/// The same on the device. Both terms of a pair share one real reciprocal:
/// (z - w) (z - conj w) = (a^2 - p q) + 2 i a Im z with a = Re (z - w), p, q = Im z -+ Im w.
/// Enqueues on e.stream, never allocates or synchronises; e.workspace holds
/// conjugate_sums_workspace_bytes (none but for very long sums: N >= 1024). Results do not depend on
/// the batch, bit for bit. Cost: 15 real operations and one reciprocal a pair, 10 where nodes
/// lie on the imaginary axis; v, w, z read and out
/// written once. Nodes and poles above 2^29 (single) or 2^250 (double) take slower exact divisions.
/// Throws NotAvailable; ShapeError, DomainError (overlap, workspace too small), Unsupported (a broadcast
/// output), BackendError.
template <ComplexScalar T>
void conjugate_sums(const exec::cuda& e, View<const T, 2, space::cuda> v,
                    View<const T, 2, space::cuda> w, View<const T, 2, space::cuda> z,
                    View<T, 2, space::cuda> out);
/// Bytes of device workspace for sums of these shapes.
template <ComplexScalar T>
index_t conjugate_sums_workspace_bytes(index_t batch, index_t poles, index_t nodes);

/// Views shaped like v, w and z; each may be absent (data() null). A batch extent 1 beside a larger
/// batch collects the sum over the batch.
template <ComplexScalar T, class Space = space::host>
struct ConjugateSumsCotangent {
  View<T, 2, Space> v{}, w{}, z{};
};

/// For a loss with dL = Re <out_bar, d out>, with A = 1 / (z_l - w_n) and B = 1 / (z_l - conj(w_n)):
///   v_bar_n += sum_l out_bar_l conj(A) + conj(out_bar_l) B
///   w_bar_n += conj(v_n) sum_l out_bar_l conj(A)^2 + conj(out_bar_l) B^2
///   z_bar_l -= out_bar_l conj(sum_n v_n A^2 + conj(v_n) B^2)
///
/// out_bar: (batch, L) in; bar: in/out, overlapping no input and not each other. Cost: about three times
/// the sums, and twice for z. Accuracy: componentwise. Throws as conjugate_sums.
template <ComplexScalar T>
void conjugate_sums_vjp(const exec::cpu& e, View<const T, 2> v, View<const T, 2> w,
                        View<const T, 2> z, View<const T, 2> out_bar,
                        const ConjugateSumsCotangent<T>& bar);

/// The same on the device; e.workspace holds conjugate_sums_vjp_workspace_bytes. Sums over nodes are cut
/// into segments that depend on N and L alone, sums over a batch run in its order.
template <ComplexScalar T>
void conjugate_sums_vjp(const exec::cuda& e, View<const T, 2, space::cuda> v,
                        View<const T, 2, space::cuda> w, View<const T, 2, space::cuda> z,
                        View<const T, 2, space::cuda> out_bar,
                        const ConjugateSumsCotangent<T, space::cuda>& bar);
template <ComplexScalar T>
index_t conjugate_sums_vjp_workspace_bytes(index_t batch, index_t poles, index_t nodes);

}  // namespace structmat::cauchy
