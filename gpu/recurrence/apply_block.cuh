/// \file
/// y := op(M) x for block generators: what the families call.
#pragma once

#include "recurrence/apply_steps.cuh"
#include "recurrence/block_steps.cuh"

namespace structmat::gpu::recurrence {

template <Scalar T>
index_t apply_block_workspace_bytes(const char* operation, const BlockMatrixOnDevice<T>& m,
                                    index_t k) {
  if (k < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " right-hand sides");
  }
  auto steps = block_steps(m, Op::none);
  steps.m.columns = k;
  return counted(operation, [&](Workspace& w) {
    take_step_summaries<device_scalar_t<T>>(w, steps, steps.blocks, m.diagonal.batch());
  });
}

/// Enqueues the product; shapes fit, x and y are apart.
template <Scalar T>
void apply_block(const char* operation, const exec::cuda& e, const BlockMatrixOnDevice<T>& m, Op op,
                 const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y) {
  auto steps = block_steps(m, op);
  if (!set_operands<T>(operation, e, steps.m, x, y)) return;
  // Entries take turns only where all have the same matrix: its pointers stay.
  apply_in_steps<device_scalar_t<T>>(operation, e, steps, steps.blocks, m.diagonal.batch(),
                                     [&](const Triangles<device_scalar_t<T>>& some) {
                                       auto own = steps;
                                       own.m = some;
                                       return own;
                                     });
}

}  // namespace structmat::gpu::recurrence
