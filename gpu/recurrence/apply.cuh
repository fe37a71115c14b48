/// \file
/// y := (both triangles + diagonal) x: what the families call.
#pragma once

#include "core/workspace.cuh"
#include "recurrence/triangles.cuh"

namespace structmat::gpu::recurrence {

/// The kernels that serve a kind of transition: K is Diagonal or Dense below.
template <transition::Uniform K>
using kernel_kind =
    std::conditional_t<std::same_as<K, transition::Dense>, transition::Dense, transition::Diagonal>;

/// Bytes of summaries for `batch` entries. Throws ShapeError when they exceed 64-bit arithmetic.
template <class K, class T>
index_t apply_workspace_bytes(const char* operation, const Triangles<T>& m, index_t batch);

/// Enqueues the product. The workspace holds the summaries of `own` batch entries or more; the
/// batch's entries take turns in it. Shapes fit, operands are apart and the output is writable.
template <class K, class T>
void apply(const char* operation, const exec::cuda& e, const Triangles<T>& m, index_t own);

/// Entries [begin, begin + count) of the batch.
template <class T>
Triangles<T> entries(Triangles<T> m, index_t begin, index_t count) {
  const auto advance = [begin](auto& operand) {
    if (operand.data != nullptr) operand.data += begin * operand.stride[0];
  };
  for (Triangle<T>& t : m.part) {
    advance(t.out);
    advance(t.in);
    advance(t.transition);
  }
  advance(m.diagonal);
  advance(m.x);
  advance(m.y);
  m.batch = count;
  return m;
}

/// Calls visit(entries, summaries) for as many entries at a time as the workspace holds.
/// layout(workspace, batch) takes the summaries of so many entries.
template <class T, class Layout, class Visit>
void in_turns(const char* operation, const exec::cuda& e, const Triangles<T>& m, index_t own,
              const Layout& layout, const Visit& visit) {
  const index_t one = counted(operation, [&](Workspace& w) { return layout(w, 1); });
  const index_t fitting = one == 0 ? m.batch : e.workspace.size() / one;
  const index_t at_once = std::min(m.batch, std::max(own, fitting));
  for (index_t done = 0; done < m.batch; done += at_once) {
    const index_t count = std::min(at_once, m.batch - done);
    visit(entries(m, done, count),
          cut(operation, e.workspace, [&](Workspace& w) { return layout(w, count); }));
  }
}

/// Checks and sets x and y, whose shapes fit; false when there is nothing to do.
template <Scalar T>
bool set_operands(const char* operation, const exec::cuda& e, Triangles<device_scalar_t<T>>& m,
                  const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y) {
  require_writable(operation, y, "y");
  require_apart(operation, e.workspace, x, "x");
  require_apart(operation, e.workspace, y, "y");
  require_device(operation);
  m.x = strided(x);
  m.y = strided(y);
  m.batch = y.extent(0);
  m.columns = y.extent(2);
  return !y.empty();
}

/// y := M x for triangles without operands; shapes fit. `own`: the matrix's batch.
template <transition::Uniform K, Scalar T>
void multiply(const char* operation, const exec::cuda& e, Triangles<device_scalar_t<T>> m,
              const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y,
              index_t own) {
  if (set_operands<T>(operation, e, m, x, y)) apply<kernel_kind<K>>(operation, e, m, own);
}

/// Bytes of workspace for k right-hand sides.
template <transition::Uniform K, class T>
index_t multiply_workspace_bytes(const char* operation, Triangles<T> m, index_t k, index_t own) {
  if (k < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " right-hand sides");
  }
  m.columns = k;
  return apply_workspace_bytes<kernel_kind<K>>(operation, m, own);
}

}  // namespace structmat::gpu::recurrence
