// Phases 1 and 2 for dense transitions.
#include <limits>

#include "core/instantiate.hpp"
#include "recurrence/dense_summary_kernel.cuh"
#include "recurrence/summaries.cuh"

namespace structmat::gpu::recurrence {
namespace {

/// The length depends on n alone, so that the order of all sums does too.
Chunks dense_chunks(index_t n) {
  index_t length = 16;
  while (length < 256 && length * 2048 < n) length *= 2;
  while (length * 16384 < n) length *= 2;
  return {n, length};
}

}  // namespace

template <class T, int R>
DenseProblem<T, R> take_dense_summaries(Workspace& w, const Triangles<T>& m, index_t batch) {
  DenseProblem<T, R> problem{m,
                             dense_chunks(m.n),
                             {is_paired(m.part[0].transition, m.part[0].states),
                              is_paired(m.part[1].transition, m.part[1].states)},
                             {},
                             {}};
  if (problem.chunks.count() <= 1 || m.states() == 0 || m.columns == 0) return problem;
  const auto take = [&](index_t summaries) {
    using Summaries = DenseSummaries<parts<T>, R>;
    const index_t count = batch * problem.sides() * summaries;
    index_t states = 0;
    if (__builtin_mul_overflow(count * Summaries::state_size, m.columns, &states)) {
      states = std::numeric_limits<index_t>::max();  // which take() refuses
    }
    Summaries s;
    s.product = w.take<double>(count * Summaries::product_size);
    s.state = w.take<double>(states);
    s.exponent = w.take<int>(count * Summaries::order);
    s.columns = m.columns;
    return s;
  };
  problem.prefix = take(problem.chunks.count());
  if (problem.groups() > 1) problem.group = take(problem.groups());
  return problem;
}

template <class T, int R>
void summarise(const char* operation, const DenseProblem<T, R>& problem, int processors,
               cudaStream_t stream) {
  if (problem.chunks.count() <= 1 || problem.m.states() == 0) return;
  const index_t sides = problem.m.batch * problem.sides();
  launch(operation, summarise_dense<T, R>,
         Grid{persistent_blocks(sides * problem.groups(), 1, processors), dense_threads,
              summarise_dense_shared_bytes<T, R>()},
         stream, problem);
  if (problem.groups() <= 1) return;
  launch(operation, combine_dense<T, R>,
         Grid{persistent_blocks(sides * problem.column_tiles(), 1, processors),
              combine_dense_threads, combine_dense_shared_bytes<T, R>()},
         stream, problem);
}

#define STRUCTMAT_INSTANTIATE_ORDER(T, R)                                               \
  template DenseProblem<device_scalar_t<T>, R> take_dense_summaries(                    \
      Workspace&, const Triangles<device_scalar_t<T>>&, index_t);                       \
  template void summarise(const char*, const DenseProblem<device_scalar_t<T>, R>&, int, \
                          cudaStream_t);
#define STRUCTMAT_INSTANTIATE(T)    \
  STRUCTMAT_INSTANTIATE_ORDER(T, 1) \
  STRUCTMAT_INSTANTIATE_ORDER(T, 2)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
