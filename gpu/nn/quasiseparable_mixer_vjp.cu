#include "nn/chunk_gradients.cuh"
#include "nn/mixer_diagonal.cuh"
#include "nn/quasiseparable_mixer_checks.hpp"
#include "nn/ssd_walks.cuh"
#include "structmat/nn/quasiseparable_mixer.hpp"

namespace structmat::nn {
namespace {

using Cuda = space::cuda;

constexpr char operation[] = "nn::quasiseparable_mixer::apply_vjp";

template <class T>
struct Scratch {
  gpu::nn::WalkScratch<T> walks;
  gpu::nn::GradientParts gradients;
  float* diagonal;
};

template <Storage T>
Scratch<T> take(gpu::Workspace& workspace, const MixerOperands<T, Cuda>& o, bool packed) {
  const SsdShape& s = o.shape[0];
  const index_t slots =
      gpu::nn::slots_of(s.batch, s.length, s.sequences, packed, gpu::nn::gradient_chunk);
  return {gpu::nn::take_walks<T>(workspace, s, packed, 4),
          gpu::nn::take_gradient_parts(workspace, slots, s.heads, s.channels),
          gpu::nn::take_diagonal_parts<T>(workspace, o.x)};
}

template <Storage T>
void require_writable(const QuasiseparableMixerCotangent<T, Cuda>& bar) {
  const auto require = [](const auto& v, const char* name) {
    gpu::require_writable(operation, v, name);
  };
  require(bar.x, "the cotangent of x");
  for (const auto* way : {&bar.forward, &bar.backward}) {
    require(way->dt, "the cotangent of dt");
    require(way->b, "the cotangent of B");
    require(way->c, "the cotangent of C");
    require(way->initial_state, "the cotangent of initial_state");
  }
  require(bar.delta, "the cotangent of delta");
  require(bar.a, "the cotangent of a");
  require(bar.dt_bias, "the cotangent of dt_bias");
  // One number for all channels of a head is their sum.
  if (bar.d.data()) require(bar.d.select(1, 0), "the cotangent of D");
}

/// Throws Unsupported: blocks read y_bar of tokens whose cotangents other blocks write.
template <Storage T>
void require_apart_from(const View<const T, 4, Cuda>& y_bar,
                        const QuasiseparableMixerCotangent<T, Cuda>& bar) {
  const auto require = [&](const auto& v, const char* name) {
    if (v.data() && overlaps(y_bar, v)) {
      throw Unsupported(std::string(operation) + ": the cotangent of " + name +
                        " overlaps y_bar in memory");
    }
  };
  require(bar.x, "x"), require(bar.delta, "delta");
  for (const auto* way : {&bar.forward, &bar.backward}) {
    require(way->dt, "dt"), require(way->b, "B"), require(way->c, "C");
  }
}

}  // namespace

template <Storage T>
index_t apply_vjp_workspace_bytes(const QuasiseparableMixerView<T, Cuda>& m,
                                  View<const T, 4, Cuda> x) {
  const MixerOperands<T, Cuda> operands(operation, m, x);
  return gpu::counted(operation, [&](gpu::Workspace& workspace) {
    return take<T>(workspace, operands, m.starts.extent(0) > 0);
  });
}

template <Storage T>
void apply_vjp(const exec::cuda& e, const QuasiseparableMixerView<T, Cuda>& m,
               View<const T, 4, Cuda> x, View<const T, 4, Cuda> y_bar,
               const QuasiseparableMixerCotangent<T, Cuda>& cotangent) {
  const MixerOperands<T, Cuda> operands(operation, m, x);
  const SsdShape& s = operands.shape[0];
  detail::require_extents(operation, "y_bar", y_bar, x.extents());
  QuasiseparableMixerCotangent<T, Cuda> bar = cotangent;
  check_cotangents(operation, operands, bar);
  require_writable(bar);
  require_apart_from(y_bar, bar);

  const bool packed = m.starts.extent(0) > 0;
  const Scratch<T> scratch = gpu::cut(operation, e.workspace, [&](gpu::Workspace& workspace) {
    return take<T>(workspace, operands, packed);
  });
  const cudaStream_t stream = gpu::stream_of(e);
  const gpu::nn::Tokens tokens = gpu::nn::make_tokens(
      operation, stream, s.batch, s.length, m.starts, gpu::nn::gradient_chunk, scratch.walks.table);

  // States in front of chunks, then cotangents of those behind them, of both directions.
  gpu::nn::StateWalk<T> walks[4];
  for (int i = 0; i < 4; ++i) {
    const int way = i % 2;
    gpu::nn::StateWalk<T>& walk = walks[i];
    walk = gpu::nn::walk_of(operands.ssd[way], operands.in[way]);
    walk.backward = way == 1;
    walk.states = scratch.walks.states[i];
    if (i < 2) continue;
    walk.cotangent = true, walk.shifted = m.shift;
    walk.u = y_bar, walk.v = operands.ssd[way].c;
    walk.initial = {};
    walk.last = (way == 0 ? bar.forward : bar.backward).initial_state;
    walk.accumulate = bar.accumulate;
  }
  gpu::nn::walk_states<T>(operation, stream, tokens, walks, scratch.walks.segments);

  const bool diagonal =
      operands.delta.data() || operands.d.data() || bar.delta.data() || bar.d.data();
  if (diagonal) {
    gpu::nn::pull_back_diagonal<T>(
        operation, stream,
        {x, y_bar, operands.delta, operands.d, bar.x, bar.delta, bar.d, bar.accumulate},
        scratch.diagonal);
  }
  for (int way = 0; way < 2; ++way) {
    const SsdView<T, Cuda>& own = operands.ssd[way];
    const auto& to = way == 0 ? bar.forward : bar.backward;
    gpu::nn::ChunkGradients<T> g{};
    g.x = x, g.y_bar = y_bar, g.b = own.b, g.c = own.c, g.dt = own.dt;
    g.a = own.a, g.dt_bias = own.dt_bias;
    g.rule = walks[way].rule;
    g.backward = way == 1, g.shifted = m.shift;
    g.states = walks[way].states, g.state_bars = walks[2 + way].states;
    g.x_bar = bar.x, g.b_bar = to.b, g.c_bar = to.c, g.dt_bar = to.dt;
    g.a_bar = bar.a, g.dt_bias_bar = bar.dt_bias;
    g.accumulate = bar.accumulate;
    g.accumulate_x = bar.accumulate || diagonal || way == 1;
    g.accumulate_parameters = bar.accumulate || way == 1;
    gpu::nn::chunk_gradients<T>(operation, stream, tokens, g, scratch.gradients);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                          \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes<T>(                         \
      const QuasiseparableMixerView<T, Cuda>&, View<const T, 4, Cuda>);                   \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                            \
      const exec::cuda&, const QuasiseparableMixerView<T, Cuda>&, View<const T, 4, Cuda>, \
      View<const T, 4, Cuda>, const QuasiseparableMixerCotangent<T, Cuda>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
