#include "structmat/nn/ssd.hpp"

#include "nn/chunk_outputs.cuh"
#include "nn/ssd_operands.hpp"
#include "nn/ssd_walks.cuh"

namespace structmat::nn {
namespace {

using Cuda = space::cuda;

constexpr char operation[] = "nn::ssd::apply";

template <Storage T>
SsdShape check(SsdView<T, Cuda>& m, SsdInput<T, Cuda>& in) {
  const SsdShape shape = check_operands(operation, m, in);
  gpu::nn::check_outputs<T>(operation, shape.states, false);
  return shape;
}

}  // namespace

template <Storage T>
index_t apply_workspace_bytes(const SsdView<T, Cuda>& matrix, const SsdInput<T, Cuda>& input) {
  SsdView<T, Cuda> m = matrix;
  SsdInput<T, Cuda> in = input;
  gpu::Workspace workspace(operation);
  gpu::nn::take_walks<T>(workspace, check(m, in), m.starts.extent(0) > 0, 1);
  return workspace.bytes();
}

template <Storage T>
void apply(const exec::cuda& e, const SsdView<T, Cuda>& matrix, const SsdInput<T, Cuda>& input,
           const SsdOutput<T, Cuda>& out) {
  SsdView<T, Cuda> m = matrix;
  SsdInput<T, Cuda> in = input;
  const SsdShape shape = check(m, in);
  detail::require_extents(operation, "y", out.y, in.x.extents());
  if (out.final_state.data()) {
    detail::require_extents(
        operation, "final_state", out.final_state,
        std::array<index_t, 4>{shape.sequences, shape.heads, shape.channels, shape.states});
  }
  require_apart(operation, m, in, View<const T, 4, Cuda>(out.y), "y");
  SsdInput<T, Cuda> others = in;
  if (same_view(input.initial_state, out.final_state)) others.initial_state = {};
  require_apart(operation, m, others, View<const float, 4, Cuda>(out.final_state), "final_state");
  gpu::require_writable(operation, out.y, "y");
  gpu::require_writable(operation, out.final_state, "final_state");

  const bool packed = m.starts.extent(0) > 0;
  const auto scratch = gpu::cut(operation, e.workspace, [&](gpu::Workspace& workspace) {
    return gpu::nn::take_walks<T>(workspace, shape, packed, 1);
  });
  const cudaStream_t stream = gpu::stream_of(e);
  const gpu::nn::Tokens tokens = gpu::nn::make_tokens(
      operation, stream, shape.batch, shape.length, m.starts, gpu::nn::output_chunk, scratch.table);
  gpu::nn::StateWalk<T> walk = gpu::nn::walk_of(m, in);
  walk.last = out.final_state, walk.states = scratch.states[0];
  gpu::nn::walk_states<T>(operation, stream, tokens, std::span(&walk, 1), scratch.segments);

  gpu::nn::ChunkOutputs<T> o{};
  o.forward = {m.b, m.c, m.dt, scratch.states[0]};
  o.x = in.x, o.z = in.z, o.a = m.a, o.dt_bias = m.dt_bias, o.d = m.d;
  o.rule = walk.rule, o.y = out.y;
  gpu::nn::chunk_outputs(operation, stream, tokens, o);
}

#define STRUCTMAT_INSTANTIATE(T)                                                        \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T>(const SsdView<T, Cuda>&,   \
                                                             const SsdInput<T, Cuda>&); \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cuda&, const SsdView<T, Cuda>&,   \
                                          const SsdInput<T, Cuda>&, const SsdOutput<T, Cuda>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
