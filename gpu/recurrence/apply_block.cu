// Blocks that are small go through shared memory, some steps ahead of their use; others are read where
// they are.
#include "recurrence/apply_block.cuh"

#include "core/instantiate.hpp"

namespace structmat::gpu::recurrence {
namespace {

/// The states in front of all steps, from those in front of chunks. A block a chunk of one triangle and
/// eight right-hand sides.
template <class T>
__global__ void __launch_bounds__(steps_threads)
    carry_states(const __grid_constant__ StepsProblem<T, BlockSteps<T>> problem,
                 const __grid_constant__ StateStore<T> store) {
  const Triangles<T>& m = problem.steps.m;
  const index_t slots = problem.order * steps_columns;
  T *state = dynamic_shared<T>(), *next = state + slots;
  const index_t tiles = problem.column_tiles(), count = problem.chunks.count();
  for (index_t unit = blockIdx.x; unit < m.batch * 2 * count * tiles; unit += gridDim.x) {
    const index_t first = unit % tiles * steps_columns, chunk = unit / tiles % count;
    const index_t b = unit / tiles / count / 2;
    const int side = static_cast<int>(unit / tiles / count % 2);
    if (m.part[side].states == 0) continue;
    for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
      const index_t column = first + e % steps_columns;
      const bool known = chunk > 0 && column < m.columns;
      state[e] =
          known ? problem.state_of(problem.at(b, side, chunk), column)[e / steps_columns] : T(0);
    }
    __syncthreads();
    const bool upward = m.part[side].upward;
    const index_t end = problem.chunks.end(upward, chunk);
    for (index_t t = problem.chunks.begin(upward, chunk); t < end; ++t) {
      const Step<T> step = problem.steps.step(side, b, t);
      T* const kept = store.in_front(problem.steps.side[side], side, b, step.index, m.columns);
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t l = e % problem.order, column = first + e / problem.order;
        if (l < step.entering && column < m.columns) {
          kept[column * step.entering + l] = state[slot(l, static_cast<int>(e / problem.order))];
        }
      }
      if (t + 1 == end) break;
      for (index_t e = threadIdx.x; e < slots; e += steps_threads) {
        const index_t l = e / steps_columns;
        const int c = static_cast<int>(e % steps_columns);
        next[e] = l < step.leaving ? leaving_state(m, step, state, l, c, b, first + c, true) : T(0);
      }
      __syncthreads();
      T* const behind = next;
      next = state;
      state = behind;
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void sweep_blocks(const char* operation, cudaStream_t stream,
                  const StepsProblem<T, BlockSteps<T>>& problem, index_t rows,
                  const StateStore<T>& store, bool product) {
  // Several blocks of threads share a multiprocessor.
  constexpr index_t staged_limit = 64 * 1024;
  const BlocksProblem<T> staged{problem, StageLayout(rows, problem.order), store, product};
  require_steps_fit(operation, problem.order, staged.states_bytes());
  const bool small =
      staged.shared_bytes() <= staged_limit && staged.combine_bytes() <= staged_limit;
  const index_t batch = problem.steps.m.batch, chunks = problem.chunks.count();
  const index_t tiles = problem.column_tiles();
  const bool keeps = store.all[0] != nullptr || store.all[1] != nullptr;
  const int processors = multiprocessors(operation);
  const auto grid = [&](index_t blocks, index_t bytes) {
    return Grid{persistent_blocks(blocks, 1, processors), steps_threads,
                static_cast<std::size_t>(bytes)};
  };
  const index_t in_phase_1 = batch * 2 * chunks * (problem.product_tiles() + tiles);
  if (small) {
    if (problem.product != nullptr) {
      launch(operation, summarise_blocks<T>, grid(in_phase_1, staged.shared_bytes()), stream,
             staged);
      launch(operation, combine_blocks<T>, grid(batch * 2 * tiles, staged.combine_bytes()), stream,
             staged);
    }
    launch(operation, apply_blocks<T>, grid(batch * chunks * tiles, staged.shared_bytes()), stream,
           staged);
    return;
  }
  using Steps = BlockSteps<T>;
  const index_t bytes = staged.states_bytes();
  if (problem.product != nullptr) {
    launch(operation, summarise_steps<T, Steps>, grid(in_phase_1, bytes), stream, problem);
    launch(operation, combine_steps<T, Steps>, grid(batch * 2 * tiles, bytes), stream, problem);
  }
  if (keeps) {
    launch(operation, carry_states<T>, grid(batch * 2 * chunks * tiles, bytes), stream, problem,
           store);
  }
  if (product) {
    launch(operation, apply_steps<T, Steps>, grid(batch * chunks * tiles, bytes), stream, problem);
  }
}

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

template <Scalar T>
void apply_block(const char* operation, const exec::cuda& e, const BlockMatrixOnDevice<T>& m, Op op,
                 const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y) {
  using D = device_scalar_t<T>;
  auto steps = block_steps(m, op);
  if (!set_operands<T>(operation, e, steps.m, x, y)) return;
  in_turns(
      operation, e, steps.m, m.diagonal.batch(),
      [&](Workspace& w, index_t batch) {
        return take_step_summaries<D>(w, steps, steps.blocks, batch);
      },
      [&](const Triangles<D>& some, StepsProblem<D, BlockSteps<D>> problem) {
        // Entries take turns only where all have the same matrix: its pointers stay.
        problem.steps.m = some;
        sweep_blocks<D>(operation, stream_of(e), problem, m.diagonal.rows, {}, true);
      });
}

#define STRUCTMAT_INSTANTIATE(T)                                                               \
  template void sweep_blocks(                                                                  \
      const char*, cudaStream_t,                                                               \
      const StepsProblem<device_scalar_t<T>, BlockSteps<device_scalar_t<T>>>&, index_t,        \
      const StateStore<device_scalar_t<T>>&, bool);                                            \
  template index_t apply_block_workspace_bytes(const char*, const BlockMatrixOnDevice<T>&,     \
                                               index_t);                                       \
  template void apply_block(const char*, const exec::cuda&, const BlockMatrixOnDevice<T>&, Op, \
                            const View<const T, 3, space::cuda>&, const View<T, 3, space::cuda>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::gpu::recurrence
