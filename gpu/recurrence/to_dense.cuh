/// \file
/// Entries of triangles and their diagonal: what the families call. Their operands x and y are not used.
#pragma once

#include "core/workspace.cuh"
#include "recurrence/apply.cuh"
#include "recurrence/block_steps.cuh"

namespace structmat::gpu::recurrence {

/// K: Diagonal or Dense (kernel_kind).
template <class K, class T>
index_t to_dense_workspace_bytes(const char* operation, const Triangles<T>& m);

/// Enqueues all entries. `dense` fits and is writable.
template <class K, class T>
void to_dense(const char* operation, const exec::cuda& e, const Triangles<T>& m,
              const Strided<T, 3>& dense);

/// The same for block generators, without workspace.
template <class T>
void to_dense(const char* operation, const exec::cuda& e, const BlockSteps<T>& m,
              const Strided<T, 3>& dense);

/// `dense` as kernels take it, after checks; data null where nothing is to be done.
template <Scalar T>
Strided<device_scalar_t<T>, 3> dense_operand(const char* operation, const exec::cuda& e,
                                             const View<T, 3, space::cuda>& dense, index_t batch,
                                             index_t n) {
  detail::require_extents(operation, dense, {batch, n, n});
  require_writable(operation, dense, "the result");
  require_apart(operation, e.workspace, dense, "the result");
  require_device(operation);
  if (dense.empty()) return {};
  return strided(dense);
}

}  // namespace structmat::gpu::recurrence
