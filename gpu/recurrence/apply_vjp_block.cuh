/// \file
/// Reverse mode of y = op(M) x for block generators: what the families call.
#pragma once

#include "recurrence/block_steps.cuh"
#include "structmat/core/exec.hpp"

namespace structmat::gpu::recurrence {

/// Cotangents of a BlockMatrixOnDevice: all of them, or none (null). Batch 1 collects sums.
template <Scalar T>
struct BlockCotangentOnDevice {
  const Partition* partition = nullptr;
  BlockTriangleOnDevice<T>*lower = nullptr, *upper_transposed = nullptr;
  BlockDiagonalOnDevice<T>* diagonal = nullptr;
};

/// `batch`: that of the operation.
template <Scalar T>
index_t apply_vjp_workspace_bytes(const char* operation, const BlockMatrixOnDevice<T>& m, index_t k,
                                  index_t batch);

/// Checks all operands and enqueues.
template <Scalar T>
void apply_vjp(const char* operation, const exec::cuda& e, const BlockMatrixOnDevice<T>& m, Op op,
               const View<const T, 3, space::cuda>& x, const View<const T, 3, space::cuda>& y_bar,
               const BlockCotangentOnDevice<T>& m_bar, View<T, 3, space::cuda> x_bar);

}  // namespace structmat::gpu::recurrence
