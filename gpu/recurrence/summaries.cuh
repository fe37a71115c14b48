/// \file
/// Phases 1 and 2: the states in front of all chunks, which products and their reverse mode start from.
#pragma once

#include "core/workspace.cuh"
#include "recurrence/combine_kernel.cuh"
#include "recurrence/dense_rows.cuh"

namespace structmat::gpu::recurrence {

/// Scalar and diagonal transitions. Takes the summaries of `batch` entries of m; none (null) where one
/// chunk has all rows.
template <class T>
Summarised<T> take_summaries(Workspace& w, const Triangles<T>& m, index_t batch);

/// Enqueues both phases; nothing where there are no summaries.
template <class T>
void summarise(const char* operation, const Summarised<T>& s, int processors, cudaStream_t stream);

/// Dense transitions of order up to 8 R.
template <class T, int R>
DenseProblem<T, R> take_dense_summaries(Workspace& w, const Triangles<T>& m, index_t batch);
template <class T, int R>
void summarise(const char* operation, const DenseProblem<T, R>& problem, int processors,
               cudaStream_t stream);

}  // namespace structmat::gpu::recurrence
