/// \file
/// The product for transitions of any sizes, one chunk of steps a block.
#pragma once

#include <limits>

#include "recurrence/apply.cuh"
#include "recurrence/steps_kernel.cuh"

namespace structmat::gpu::recurrence {

/// Chunks of so many steps that the three steps of each in phases 1 and 3 and the chunks in phase 2, all
/// in turn, are as few as possible in all: sqrt(steps / 3).
inline Chunks steps_chunks(index_t steps) {
  index_t length = 8;
  while (3 * length * length < steps) ++length;
  return {steps, length};
}

/// `steps`: how many there are.
template <class T, class Steps>
StepsProblem<T, Steps> take_step_summaries(Workspace& w, const Steps& steps, index_t count,
                                           index_t batch) {
  const Triangles<T>& m = steps.m;
  StepsProblem<T, Steps> problem{
      steps,  steps_chunks(count), std::max(m.part[0].states, m.part[1].states), nullptr, nullptr,
      nullptr};
  if (problem.chunks.count() <= 1 || m.states() == 0 || m.columns == 0) return problem;
  const index_t columns = batch * 2 * problem.chunks.count() * problem.order;
  index_t states = 0;
  if (__builtin_mul_overflow(columns, m.columns, &states)) {
    states = std::numeric_limits<index_t>::max();  // which take() refuses
  }
  problem.product = w.take<T>(columns * problem.order);
  problem.state = w.take<T>(states);
  problem.exponent = w.take<int>(columns);
  return problem;
}

/// Two states of eight columns lie in shared memory. Throws Unsupported where that is too small.
inline void require_steps_fit(const char* operation, index_t order, index_t shared_bytes) {
  constexpr index_t shared_limit = 160 * 1024;
  if (shared_bytes > shared_limit) {
    throw Unsupported(std::string(operation) + ": order " + std::to_string(order) +
                      " needs states of " + std::to_string(shared_bytes) +
                      " bytes, shared memory is used up to " + std::to_string(shared_limit));
  }
}

/// Enqueues the product; `of` makes the steps of some entries of the batch.
template <class T, class Steps, class Of>
void apply_in_steps(const char* operation, const exec::cuda& e, const Steps& all, index_t count,
                    index_t own, const Of& of) {
  const index_t order = std::max(all.m.part[0].states, all.m.part[1].states);
  const index_t shared_bytes = 2 * order * steps_columns * static_cast<index_t>(sizeof(T));
  require_steps_fit(operation, order, shared_bytes);
  const int processors = multiprocessors(operation);
  const cudaStream_t stream = stream_of(e);
  const auto grid = [&](index_t blocks) {
    return Grid{persistent_blocks(blocks, 1, processors), steps_threads,
                static_cast<std::size_t>(shared_bytes)};
  };
  in_turns(
      operation, e, all.m, own,
      [&](Workspace& w, index_t batch) { return take_step_summaries<T>(w, all, count, batch); },
      [&](const Triangles<T>& some, StepsProblem<T, Steps> problem) {
        problem.steps = of(some);
        const index_t chunks = problem.chunks.count(), tiles = problem.column_tiles();
        if (problem.product != nullptr) {
          launch(operation, summarise_steps<T, Steps>,
                 grid(some.batch * 2 * chunks * (problem.product_tiles() + tiles)), stream,
                 problem);
          launch(operation, combine_steps<T, Steps>, grid(some.batch * 2 * tiles), stream, problem);
        }
        launch(operation, apply_steps<T, Steps>, grid(some.batch * chunks * tiles), stream,
               problem);
      });
}

}  // namespace structmat::gpu::recurrence
