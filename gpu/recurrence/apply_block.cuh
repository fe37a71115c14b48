/// \file
/// y := op(M) x for block generators: what the families call.
#pragma once

#include "recurrence/apply_steps.cuh"
#include "recurrence/block_kernel.cuh"

namespace structmat::gpu::recurrence {

template <Scalar T>
index_t apply_block_workspace_bytes(const char* operation, const BlockMatrixOnDevice<T>& m,
                                    index_t k);

/// Enqueues the product; shapes fit, x and y are apart.
template <Scalar T>
void apply_block(const char* operation, const exec::cuda& e, const BlockMatrixOnDevice<T>& m, Op op,
                 const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y);

/// Enqueues the sweeps of a product whose summaries have their memory: y is written if `product`, and the
/// states in front of all steps are kept where `store` has a place for them. rows: of the largest block.
/// Throws Unsupported for an order whose states do not fit into shared memory.
template <class T>
void sweep_blocks(const char* operation, cudaStream_t stream,
                  const StepsProblem<T, BlockSteps<T>>& problem, index_t rows,
                  const StateStore<T>& store, bool product);

}  // namespace structmat::gpu::recurrence
