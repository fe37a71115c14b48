// Solves and products with factors on the device, parallel in n: every triangular sweep in chunks.
#include "core/instantiate.hpp"
#include "quasiseparable/in_place.hpp"
#include "quasiseparable/ldl_operands.cuh"
#include "quasiseparable/ldl_part.hpp"
#include "quasiseparable/ldl_sweep_kernel.cuh"
#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {
namespace {

using namespace device;

constexpr index_t radix = 16;

ChunkTree tree_of(index_t n) {
  return {n, chunk_length(n), radix};
}

template <class T>
auto layout(index_t batch, index_t n, index_t order, index_t columns) {
  return [=](gpu::Workspace& workspace) {
    return workspace.take<T>(batch * tree_of(n).elements() * order * (order + columns));
  };
}

template <class T, bool Dense, int R>
void enqueue(const char* operation, const SweepProblem<T>& problem, int processors,
             cudaStream_t stream) {
  const index_t r = problem.order, batch = problem.batch, all = r + problem.columns;
  const index_t bytes = sweep_elements<T, Dense, R>(r), in_tree = sweep_tree_elements<T, R>(r);
  if (problem.chunks > 1) {
    const ChunkTree tree = tree_of(problem.n);
    gpu::launch(operation, sweep_chunks<T, Dense, R, true>,
                grid_of_groups<T, R>(batch * (problem.chunks - 1) * column_tiles<R>(all), bytes,
                                     processors),
                stream, problem);
    const auto up = [&](const Level<T>& level) {
      gpu::launch(operation, combine_sweeps<T, R>,
                  grid_of_groups<T, R>(batch * (level.parent_count - 1) * column_tiles<R>(all),
                                       in_tree, processors),
                  stream, SweepLevel<T>{level, batch, r, problem.columns});
    };
    for_each_level(tree, problem.elements, batch, r * all, true, up);
    const auto down = [&](const Level<T>& level) {
      gpu::launch(
          operation, distribute_sweeps<T, R>,
          grid_of_groups<T, R>(batch * level.parent_count * column_tiles<R>(problem.columns),
                               in_tree, processors),
          stream, SweepLevel<T>{level, batch, r, problem.columns});
    };
    for_each_level(tree, problem.elements, batch, r * all, false, down);
  }
  gpu::launch(operation, sweep_chunks<T, Dense, R, false>,
              grid_of_groups<T, R>(batch * problem.chunks * column_tiles<R>(problem.columns), bytes,
                                   processors),
              stream, problem);
}

/// The sweeps of a part, each as a problem.
template <Scalar T, transition::Uniform K, class Run>
void run_part(const LdlView<T, K, space::cuda>& f, LdlPart part,
              const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y,
              gpu::device_scalar_t<T>* elements, const Run& run) {
  using S = gpu::device_scalar_t<T>;
  const index_t n = f.size();
  SweepProblem<S> problem{{},
                          {},
                          {},
                          {},
                          {},
                          {},
                          n,
                          y.extent(0),
                          f.order(),
                          y.extent(2),
                          chunk_length(n),
                          tree_of(n).count(0),
                          false,
                          false,
                          Scaling::none,
                          Scaling::none,
                          elements};
  const auto down = [&](bool solve, Scaling before) {
    problem.out = gpu::strided(f.p);
    problem.in = gpu::strided(f.w);
    problem.a = transitions<K, T>(f.a);
    problem.d = gpu::strided(f.d);
    problem.x = gpu::strided(x);
    problem.y = gpu::strided(y);
    problem.solve = solve;
    problem.before = before;
    run(problem);
  };
  // L^H is conj(L^T), and L^T is swept from the last row with p and w exchanged.
  const auto up = [&](bool solve, Scaling before, Scaling after,
                      const View<const T, 3, space::cuda>& from) {
    problem.out = gpu::strided(f.w.reversed(1));
    problem.in = gpu::strided(f.p.reversed(1));
    problem.a = transitions<K, T>(f.a.reversed(1));
    if constexpr (K::rank == 4) std::swap(problem.a.stride[2], problem.a.stride[3]);
    problem.d = gpu::strided(f.d.reversed(1));
    problem.x = gpu::strided(from.reversed(1));
    problem.y = gpu::strided(y.reversed(1));
    problem.solve = solve;
    problem.conjugated = is_complex_v<T>;
    problem.before = before;
    problem.after = after;
    run(problem);
  };
  switch (part) {
    case LdlPart::solve:
      down(true, Scaling::none);
      return up(true, Scaling::divide, Scaling::none, y);
    case LdlPart::solve_lower:
      return down(true, Scaling::none);
    case LdlPart::solve_lower_adjoint:
      return up(true, Scaling::none, Scaling::none, x);
    case LdlPart::apply_lower:
      return down(false, Scaling::square_root);
    case LdlPart::apply_lower_adjoint:
      return up(false, Scaling::none, Scaling::square_root, x);
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t ldl_apply_workspace_bytes(const LdlView<T, K, space::cuda>& factor, index_t k,
                                  index_t batch) {
  constexpr const char* operation = "quasiseparable::ldl_apply_workspace_bytes";
  const auto f = checked(factor, operation, batch);
  if (k < 0) throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " columns");
  return gpu::counted(operation,
                      layout<gpu::device_scalar_t<T>>(f.batch(), f.size(), f.order(), k));
}

template <Scalar T, transition::Uniform K>
void ldl_apply(const exec::cuda& e, const LdlView<T, K, space::cuda>& factor, LdlPart part,
               View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  using S = gpu::device_scalar_t<T>;
  const char* const operation = name(part);
  const index_t n = factor.size();
  const index_t batch = check_in_place(operation, checked(factor, operation).batch(), n, x, y);
  const auto f = checked(factor, operation, batch);
  require_order(operation, f.order());
  gpu::require_writable(operation, y, "y");
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y, "y");
  const index_t columns = y.extent(2);
  S* const elements = gpu::cut(operation, e.workspace, layout<S>(batch, n, f.order(), columns));
  const int processors = gpu::multiprocessors(operation);
  if (y.empty()) return;
  x = x.broadcast(0, batch);
  run_part(f, part, x, y, elements, [&](const SweepProblem<S>& problem) {
    with_layout(f.order(), [&]<int R>() {
      enqueue<S, std::same_as<K, transition::Dense>, R>(operation, problem, processors,
                                                        gpu::stream_of(e));
    });
  });
}

#define STRUCTMAT_INSTANTIATE(T, K)                                              \
  template STRUCTMAT_EXPORT index_t ldl_apply_workspace_bytes(                   \
      const LdlView<T, transition::K, space::cuda>&, index_t, index_t);          \
  template STRUCTMAT_EXPORT void ldl_apply(                                      \
      const exec::cuda&, const LdlView<T, transition::K, space::cuda>&, LdlPart, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
