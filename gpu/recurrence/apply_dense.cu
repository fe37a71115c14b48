// The product for dense transitions. Computed in double whatever T is: tensor cores multiply in double
// as fast as the other units in float.
//
// Long sequences are bound by memory: transitions, `in` and x are read twice.
#include "core/instantiate.hpp"
#include "recurrence/apply_steps.cuh"
#include "recurrence/dense_kernel.cuh"
#include "recurrence/dense_steps.cuh"

namespace structmat::gpu::recurrence {
namespace {

/// The length depends on n alone, so that the order of all sums does too.
Chunks dense_chunks(index_t n) {
  index_t length = 16;
  while (length < 256 && length * 2048 < n) length *= 2;
  while (length * 16384 < n) length *= 2;
  return {n, length};
}

/// Two neighbours of a row may be read at once: they are neighbours in memory, aligned as a pair, and
/// rows consist of pairs.
template <class T>
bool is_paired(const Triangle<T>& t) {
  const auto& a = t.transition;
  return a.stride[3] == 1 && t.states % 2 == 0 && a.stride[0] % 2 == 0 && a.stride[1] % 2 == 0 &&
         a.stride[2] % 2 == 0 && reinterpret_cast<std::uintptr_t>(a.data) % sizeof(Two<T>) == 0;
}

template <class T, int R>
DenseProblem<T, R> take_summaries(Workspace& w, const Triangles<T>& m, index_t batch) {
  DenseProblem<T, R> problem{
      m, dense_chunks(m.n), {is_paired(m.part[0]), is_paired(m.part[1])}, {}, {}};
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
void enqueue(const char* operation, const exec::cuda& e, const Triangles<T>& m, index_t own) {
  const int processors = multiprocessors(operation);
  const cudaStream_t stream = stream_of(e);
  in_turns(
      operation, e, m, own,
      [&](Workspace& w, index_t batch) { return take_summaries<T, R>(w, m, batch); },
      [&](const Triangles<T>& some, DenseProblem<T, R> problem) {
        problem.m = some;
        const index_t sides = some.batch * problem.sides(), tiles = problem.column_tiles();
        if (problem.chunks.count() > 1 && some.states() > 0) {
          launch(operation, summarise_dense<T, R>,
                 Grid{persistent_blocks(sides * problem.groups(), 1, processors), dense_threads,
                      summarise_dense_shared_bytes<T, R>()},
                 stream, problem);
          if (problem.groups() > 1) {
            launch(operation, combine_dense<T, R>,
                   Grid{persistent_blocks(sides * tiles, 1, processors), combine_dense_threads,
                        combine_dense_shared_bytes<T, R>()},
                   stream, problem);
          }
        }
        launch(
            operation, apply_dense<T, R>,
            persistent_blocks(some.batch * problem.chunks.count() * tiles, dense_warps, processors),
            dense_threads, stream, problem);
      });
}

}  // namespace

template <class K, class T>
index_t apply_workspace_bytes(const char* operation, const Triangles<T>& m, index_t batch) {
  const index_t order = std::max(m.part[0].states, m.part[1].states);
  return counted(operation, [&](Workspace& w) {
    if (order <= 8) {
      take_summaries<T, 1>(w, m, batch);
    } else if (order <= 16) {
      take_summaries<T, 2>(w, m, batch);
    } else {
      take_step_summaries<T>(w, DenseSteps<T>{m}, m.n, batch);
    }
  });
}

template <class K, class T>
void apply(const char* operation, const exec::cuda& e, const Triangles<T>& m, index_t own) {
  const index_t order = std::max(m.part[0].states, m.part[1].states);
  if (order <= 8) return enqueue<T, 1>(operation, e, m, own);
  if (order <= 16) return enqueue<T, 2>(operation, e, m, own);
  apply_in_steps<T>(operation, e, DenseSteps<T>{m}, m.n, own,
                    [](const Triangles<T>& some) { return DenseSteps<T>{some}; });
}

#define STRUCTMAT_INSTANTIATE(T)                                         \
  template index_t apply_workspace_bytes<transition::Dense>(             \
      const char*, const Triangles<device_scalar_t<T>>&, index_t);       \
  template void apply<transition::Dense>(const char*, const exec::cuda&, \
                                         const Triangles<device_scalar_t<T>>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
