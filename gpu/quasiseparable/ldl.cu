// M = L diag(d) L^H on the device, parallel in n: chunks from f = 0, the tree, chunks from their f.
//
// A bad pivot. The state in front of a chunk is made of the chunks before it, by ordinary rules as long
// as their rows are a definite matrix. So up to the first bad pivot all states are right, and of the
// chunks that report one, each from its own state, the first reports the right one, whatever those
// behind it make of what they got.
#include "structmat/quasiseparable/ldl.hpp"

#include "core/instantiate.hpp"
#include "quasiseparable/ldl_kernel.cuh"
#include "quasiseparable/ldl_operands.cuh"
#include "quasiseparable/ldl_tree_kernel.cuh"

namespace structmat::quasiseparable {
namespace {

using namespace device;

constexpr char operation[] = "quasiseparable::factor_ldl";

constexpr index_t radix = 4;

ChunkTree tree_of(index_t n, const LdlOptions& options) {
  return {n, options.definite ? chunk_length(n) : std::max<index_t>(n, 1), radix};
}

template <class T>
struct Memory {
  T* elements;
  PivotStatus* status;
};

template <class T>
auto layout(index_t batch, index_t order, const ChunkTree& tree) {
  return [=](gpu::Workspace& workspace) {
    Memory<T> memory{};
    memory.elements = workspace.take<T>(batch * tree.elements() * 3 * order * order);
    memory.status = workspace.take<PivotStatus>(batch * tree.count(0));
    return memory;
  };
}

template <class T, bool Dense, int R>
void enqueue(const FactorProblem<T>& problem, const ChunkTree& tree, int processors,
             cudaStream_t stream) {
  const index_t r = problem.order, element = 3 * r * r, batch = problem.batch;
  if (problem.chunks > 1) {
    gpu::launch(operation, factor_chunks<T, Dense, R, true>,
                grid_of_groups<T, R>(batch * (problem.chunks - 1),
                                     factor_elements<T, Dense, R, true>(r), processors),
                stream, problem);
    const auto up = [&](const Level<T>& level) {
      gpu::launch(operation, combine_elements<T, R>,
                  grid_of_groups<T, R>(batch * (level.parent_count - 1),
                                       tree_elements<T, R, true>(r), processors),
                  stream, FactorLevel<T>{level, batch, r});
    };
    for_each_level(tree, problem.elements, batch, element, true, up);
    const auto down = [&](const Level<T>& level) {
      gpu::launch(operation, distribute_states<T, R>,
                  grid_of_groups<T, R>(batch * level.parent_count, tree_elements<T, R, false>(r),
                                       processors),
                  stream, FactorLevel<T>{level, batch, r});
    };
    for_each_level(tree, problem.elements, batch, element, false, down);
  }
  gpu::launch(operation, factor_chunks<T, Dense, R, false>,
              grid_of_groups<T, R>(batch * problem.chunks, factor_elements<T, Dense, R, false>(r),
                                   processors),
              stream, problem);
}

template <Scalar T, transition::Uniform K>
void require_apart(const QuasiseparableView<T, K, space::cuda>& m, const View<T, 3, space::cuda>& w,
                   const View<real_t<T>, 2, space::cuda>& d,
                   const View<PivotStatus, 1, space::cuda>& status,
                   const View<std::byte, 1, space::cuda>& workspace) {
  const auto refuse = [](const char* output, const char* other, bool overlap) {
    if (overlap) {
      throw DomainError(std::string(operation) + ": " + output + " and " + other +
                        " overlap in memory");
    }
  };
  const auto from_matrix = [&](const char* name, const auto& output) {
    refuse(name, "p", overlaps(output, m.p));
    refuse(name, "q", overlaps(output, m.q));
    refuse(name, "a", overlaps(output, m.a));
    refuse(name, "the diagonal of the matrix", overlaps(output, m.d));
    gpu::require_apart(operation, workspace, output, name);
  };
  from_matrix("w", w);
  from_matrix("d", d);
  from_matrix("status", status);
  refuse("w", "d", overlaps(w, d));
  refuse("w", "status", overlaps(w, status));
  refuse("d", "status", overlaps(d, status));
  gpu::require_apart(operation, workspace, m.p, "p");
  gpu::require_apart(operation, workspace, m.q, "q");
  gpu::require_apart(operation, workspace, m.a, "a");
  gpu::require_apart(operation, workspace, m.d, "the diagonal of the matrix");
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t factor_ldl_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& matrix,
                                   const LdlOptions& options) {
  const auto m = checked_lower(matrix, operation);
  return gpu::counted(operation, layout<gpu::device_scalar_t<T>>(m.batch(), m.order().lower,
                                                                 tree_of(m.size(), options)));
}

template <Scalar T, transition::Uniform K>
void factor_ldl(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& matrix,
                const LdlOptions& options, View<T, 3, space::cuda> w,
                View<real_t<T>, 2, space::cuda> d, View<PivotStatus, 1, space::cuda> status) {
  using S = gpu::device_scalar_t<T>;
  const auto m = checked_lower(matrix, operation);
  const index_t batch = m.batch(), n = m.size(), r = m.order().lower;
  detail::require_extents(operation, w, {batch, n, r});
  detail::require_extents(operation, d, {batch, n});
  detail::require_extents(operation, status, {batch});
  require_order(operation, r);
  gpu::require_writable(operation, w, "w");
  gpu::require_writable(operation, d, "d");
  gpu::require_writable(operation, status, "status");
  require_apart(m, w, d, status, e.workspace);
  const ChunkTree tree = tree_of(n, options);
  const auto memory = gpu::cut(operation, e.workspace, layout<S>(batch, r, tree));
  const int processors = gpu::multiprocessors(operation);
  if (batch == 0) return;

  const FactorProblem<S> problem{gpu::strided(m.p),
                                 gpu::strided(m.q),
                                 transitions<K, T>(m.a),
                                 gpu::strided(m.d),
                                 gpu::strided(w),
                                 gpu::strided(d),
                                 n,
                                 batch,
                                 r,
                                 options.definite ? chunk_length(n) : n,
                                 tree.count(0),
                                 options.definite,
                                 memory.elements,
                                 memory.status};
  const cudaStream_t stream = gpu::stream_of(e);
  if (n > 0) {
    with_layout(r, [&]<int R>() {
      enqueue<S, std::same_as<K, transition::Dense>, R>(problem, tree, processors, stream);
    });
  }
  gpu::launch(operation, first_bad_pivots<S>, gpu::persistent_blocks(batch, 1, processors), 256,
              stream, problem, status.data(), status.stride(0));
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                 \
  template STRUCTMAT_EXPORT index_t factor_ldl_workspace_bytes(                     \
      const QuasiseparableView<T, transition::K, space::cuda>&, const LdlOptions&); \
  template STRUCTMAT_EXPORT void factor_ldl(                                        \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&,  \
      const LdlOptions&, View<T, 3, space::cuda>, View<real_t<T>, 2, space::cuda>,  \
      View<PivotStatus, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
