#include "structmat/nn/quasiseparable_mixer.hpp"

#include "nn/chunk_outputs.cuh"
#include "nn/quasiseparable_mixer_checks.hpp"
#include "nn/ssd_walks.cuh"

namespace structmat::nn {
namespace {

using Cuda = space::cuda;

constexpr char operation[] = "nn::quasiseparable_mixer::apply";

template <Storage T>
MixerOperands<T, Cuda> check(const QuasiseparableMixerView<T, Cuda>& m,
                             const View<const T, 4, Cuda>& x) {
  MixerOperands<T, Cuda> o(operation, m, x);
  gpu::nn::check_outputs<T>(operation, o.shape[0].states, true);
  return o;
}

}  // namespace

template <Storage T>
index_t apply_workspace_bytes(const QuasiseparableMixerView<T, Cuda>& m, View<const T, 4, Cuda> x) {
  gpu::Workspace workspace(operation);
  gpu::nn::take_walks<T>(workspace, check(m, x).shape[0], m.starts.extent(0) > 0, 2);
  return workspace.bytes();
}

template <Storage T>
void apply(const exec::cuda& e, const QuasiseparableMixerView<T, Cuda>& m, View<const T, 4, Cuda> x,
           View<T, 4, Cuda> y) {
  const MixerOperands<T, Cuda> operands = check(m, x);
  const SsdShape& shape = operands.shape[0];
  detail::require_extents(operation, "y", y, x.extents());
  operands.require_apart(operation, View<const T, 4, Cuda>(y), "y");
  gpu::require_writable(operation, y, "y");

  const bool packed = m.starts.extent(0) > 0;
  const auto scratch = gpu::cut(operation, e.workspace, [&](gpu::Workspace& workspace) {
    return gpu::nn::take_walks<T>(workspace, shape, packed, 2);
  });
  const cudaStream_t stream = gpu::stream_of(e);
  const gpu::nn::Tokens tokens = gpu::nn::make_tokens(
      operation, stream, shape.batch, shape.length, m.starts, gpu::nn::output_chunk, scratch.table);
  gpu::nn::ChunkOutputs<T> o{};
  gpu::nn::StateWalk<T> walks[2];
  for (int i = 0; i < 2; ++i) {
    walks[i] = gpu::nn::walk_of(operands.ssd[i], operands.in[i]);
    walks[i].backward = i == 1;
    walks[i].states = scratch.states[i];
    (i == 0 ? o.forward : o.backward) = {operands.ssd[i].b, operands.ssd[i].c, operands.ssd[i].dt,
                                         scratch.states[i]};
  }
  gpu::nn::walk_states<T>(operation, stream, tokens, walks, scratch.segments);
  o.mixer = true, o.shift = m.shift;
  o.x = x, o.a = m.a, o.dt_bias = m.dt_bias, o.d = m.d, o.delta = operands.delta;
  o.rule = walks[0].rule, o.y = y;
  gpu::nn::chunk_outputs(operation, stream, tokens, o);
}

#define STRUCTMAT_INSTANTIATE(T)                                                   \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T>(                      \
      const QuasiseparableMixerView<T, Cuda>&, View<const T, 4, Cuda>);            \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cuda&,                       \
                                          const QuasiseparableMixerView<T, Cuda>&, \
                                          View<const T, 4, Cuda>, View<T, 4, Cuda>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
