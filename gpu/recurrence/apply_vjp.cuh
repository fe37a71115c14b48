/// \file
/// Reverse mode of y := M x with the triangles of triangles.cuh: what the families call, and what kernels
/// see.
///
/// With mu the conjugate of the cotangent of a state, M^H y_bar is the same kind of recurrence with plain
/// generators: M^T on conj(y_bar). So both the states s and mu come from phases 1 and 2 as of a product,
/// and all cotangents are conjugates of plain products,
///   out_bar = conj(s y),  in_bar = conj(mu x),  transition_bar = conj(mu s^T),  x_bar = conj(in^T mu),
/// with y the conjugate of y_bar, s and mu on the sides of the row that src/recurrence/sweep_vjp.hpp says.
/// Phase 3 walks a chunk twice: forward from the state in front of it, keeping every few rows' state, then
/// back, where the states between are computed again.
#pragma once

#include "core/workspace.cuh"
#include "recurrence/apply.cuh"

namespace structmat::gpu::recurrence {

/// Cotangents of the generators of a triangle, in the order of its sweep; data null: not wanted.
template <class T>
struct TriangleCotangent {
  Strided<T, 3> out, in;
  Strided<T, 4> transition;
};

/// All are added to.
template <class T>
struct Cotangents {
  TriangleCotangent<T> part[2];
  Strided<T, 2> diagonal;
  Strided<T, 3> x;
  /// A transition is one number for all states: its cotangent is a sum over them.
  bool shared_transition = false;
  /// Entries of the batch that add to the same numbers, and so are done in turn: 1 or all.
  index_t together = 1;
};

/// The adjoint of triangle s of op(M) is triangle s of `adjoint`, with y_bar in place of x.
template <class T>
struct Reverse {
  Triangles<T> forward, adjoint;
  Cotangents<T> bar;

  index_t batch() const { return forward.batch; }
  index_t units() const { return forward.batch == 0 ? 0 : forward.batch / bar.together; }
};

/// Bytes of workspace. batch and columns of r are set. Throws ShapeError beyond 64-bit arithmetic.
template <class K, class T>
index_t apply_vjp_workspace_bytes(const char* operation, const Reverse<T>& r);

/// Enqueues the reverse mode. Shapes fit, all operands are set and apart, batch and columns are not 0.
template <class K, class T>
void apply_vjp(const char* operation, const exec::cuda& e, const Reverse<T>& r);

/// Throws Unsupported or DomainError where a cotangent cannot be written to.
template <class V>
void require_cotangent(const char* operation, const exec::cuda& e, const V& bar, const char* name) {
  if (!bar.data()) return;
  require_writable(operation, bar, name);
  require_apart(operation, e.workspace, bar, name);
}

/// Do several entries of a batch add to the same numbers?
template <class V>
bool sums_over_batch(const V& bar) {
  return bar.data() && bar.extent(0) > 1 && bar.stride(0) == 0;
}

/// Checks and sets the operands, whose shapes fit; false when there is nothing to do.
template <Scalar T>
bool set_operands(const char* operation, const exec::cuda& e, Reverse<device_scalar_t<T>>& r,
                  const View<const T, 3, space::cuda>& x,
                  const View<const T, 3, space::cuda>& y_bar,
                  const View<T, 3, space::cuda>& x_bar) {
  require_apart(operation, e.workspace, x, "x");
  require_apart(operation, e.workspace, y_bar, "y_bar");
  require_device(operation);
  r.forward.x = strided(x);
  r.adjoint.x = strided(y_bar);
  r.forward.batch = r.adjoint.batch = y_bar.extent(0);
  r.forward.columns = r.adjoint.columns = y_bar.extent(2);
  if (x_bar.data()) r.bar.x = strided(x_bar);
  return !y_bar.empty();
}

/// What both kinds of transitions share: the workspace query.
template <transition::Uniform K, class T>
index_t reverse_workspace_bytes(const char* operation, Reverse<T> r, index_t k, index_t batch) {
  if (k < 0 || batch < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) +
                     " right-hand sides, batch " + std::to_string(batch));
  }
  r.forward.columns = r.adjoint.columns = k;
  r.forward.batch = r.adjoint.batch = batch;
  return apply_vjp_workspace_bytes<kernel_kind<K>>(operation, r);
}

}  // namespace structmat::gpu::recurrence
