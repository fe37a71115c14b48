#include "nn/chunk_gradients.cuh"
#include "nn/chunk_outputs.cuh"
#include "nn/ssd_cotangents.hpp"
#include "nn/ssd_walks.cuh"

namespace structmat::nn {
namespace {

using Cuda = space::cuda;

constexpr char operation[] = "nn::ssd::apply_vjp";
static_assert(gpu::nn::gradient_chunk == gpu::nn::output_chunk);

template <Storage T>
SsdShape check(SsdView<T, Cuda>& m, SsdInput<T, Cuda>& in) {
  const SsdShape shape = check_operands(operation, m, in);
  gpu::nn::check_outputs<T>(operation, shape.states, false);
  return shape;
}

template <class T>
struct Scratch {
  gpu::nn::WalkScratch<T> walks;
  gpu::nn::GradientParts parts;
  T* y_bar;  ///< in front of the gate
};
template <class T>
Scratch<T> take(gpu::Workspace& workspace, const SsdShape& s, bool packed, bool gated) {
  const auto walks = gpu::nn::take_walks<T>(workspace, s, packed, 2);
  const index_t slots =
      gpu::nn::slots_of(s.batch, s.length, s.sequences, packed, gpu::nn::gradient_chunk);
  const auto parts = gpu::nn::take_gradient_parts(workspace, slots, s.heads, s.channels);
  return {walks, parts, workspace.take<T>(gated ? s.batch * s.length * s.heads * s.channels : 0)};
}

/// visit(name, cotangent) of all but D.
template <Storage T, class Visit>
void for_each_cotangent(const SsdCotangent<T, Cuda>& bar, const Visit& visit) {
  visit("the cotangent of x", bar.x), visit("the cotangent of z", bar.z);
  visit("the cotangent of dt", bar.dt), visit("the cotangent of a", bar.a);
  visit("the cotangent of B", bar.b), visit("the cotangent of C", bar.c);
  visit("the cotangent of dt_bias", bar.dt_bias);
  visit("the cotangent of initial_state", bar.initial_state);
}

/// Throws Unsupported.
template <Storage T>
void require_supported(const View<const T, 4, Cuda>& y_bar, const SsdCotangent<T, Cuda>& bar) {
  const auto require = [&](const char* name, const auto& v) {
    if (!v.data()) return;
    gpu::require_writable(operation, v, name);
    if (overlaps(y_bar, v)) {
      throw Unsupported(std::string(operation) + ": " + name + " overlaps y_bar in memory");
    }
  };
  for_each_cotangent(bar, require);
  // One number for all channels of a head is their sum.
  if (bar.d.data() && bar.d.extent(1) > 0) require("the cotangent of D", bar.d.select(1, 0));
}

}  // namespace

template <Storage T>
index_t apply_vjp_workspace_bytes(const SsdView<T, Cuda>& matrix, const SsdInput<T, Cuda>& input) {
  SsdView<T, Cuda> m = matrix;
  SsdInput<T, Cuda> in = input;
  const SsdShape shape = check(m, in);
  return gpu::counted(operation, [&](gpu::Workspace& workspace) {
    return take<T>(workspace, shape, m.starts.extent(0) > 0, in.z.data() != nullptr);
  });
}

template <Storage T>
void apply_vjp(const exec::cuda& e, const SsdView<T, Cuda>& matrix, const SsdInput<T, Cuda>& input,
               View<const T, 4, Cuda> y_bar, View<const compute_t<T>, 4, Cuda> final_state_bar,
               const SsdCotangent<T, Cuda>& cotangent) {
  SsdView<T, Cuda> m = matrix;
  SsdInput<T, Cuda> in = input;
  SsdCotangent<T, Cuda> bar = cotangent;
  const SsdShape s = check(m, in);
  detail::require_extents(operation, "y_bar", y_bar, in.x.extents());
  if (final_state_bar.data()) {
    detail::require_extents(operation, "final_state_bar", final_state_bar,
                            std::array<index_t, 4>{s.sequences, s.heads, s.channels, s.states});
  }
  check_cotangents(operation, m, in, s, bar);
  require_supported(y_bar, bar);
  if (bar.initial_state.data() && final_state_bar.data() &&
      !same_view(final_state_bar, bar.initial_state) &&
      overlaps(final_state_bar, bar.initial_state)) {
    throw Unsupported(std::string(operation) +
                      ": the cotangent of initial_state overlaps final_state_bar in memory");
  }

  const bool packed = m.starts.extent(0) > 0, gated = in.z.data() != nullptr;
  const Scratch<T> scratch = gpu::cut(operation, e.workspace, [&](gpu::Workspace& workspace) {
    return take<T>(workspace, s, packed, gated);
  });
  const cudaStream_t stream = gpu::stream_of(e);
  const gpu::nn::Tokens tokens = gpu::nn::make_tokens(
      operation, stream, s.batch, s.length, m.starts, gpu::nn::gradient_chunk, scratch.walks.table);

  // Of states, and of their cotangents.
  gpu::nn::StateWalk<T> walks[2] = {gpu::nn::walk_of(m, in), gpu::nn::walk_of(m, in)};
  walks[0].states = scratch.walks.states[0];
  gpu::nn::StateWalk<T>& back = walks[1];
  back.cotangent = true;
  back.u = y_bar, back.v = m.c;
  back.initial = final_state_bar, back.last = bar.initial_state;
  back.accumulate = bar.accumulate;
  back.states = scratch.walks.states[1];
  const auto walk = [&](int first, int count) {
    gpu::nn::walk_states<T>(
        operation, stream, tokens,
        std::span<const gpu::nn::StateWalk<T>>(walks + first, static_cast<std::size_t>(count)),
        scratch.walks.segments);
  };
  if (gated) {
    walk(0, 1);
    const View<T, 4, Cuda> plain(scratch.y_bar, in.x.extents());
    gpu::nn::ChunkOutputs<T> o{};
    o.forward = {m.b, m.c, m.dt, walks[0].states};
    o.x = in.x, o.z = in.z, o.a = m.a, o.dt_bias = m.dt_bias, o.d = m.d;
    o.rule = walks[0].rule;
    o.y = plain, o.y_bar = y_bar, o.z_bar = bar.z, o.accumulate = bar.accumulate;
    gpu::nn::chunk_outputs(operation, stream, tokens, o);
    back.u = plain;
    walk(1, 1);
  } else {
    walk(0, 2);
  }

  gpu::nn::ChunkGradients<T> g{};
  g.x = in.x, g.y_bar = back.u, g.b = m.b, g.c = m.c, g.dt = m.dt;
  g.a = m.a, g.dt_bias = m.dt_bias, g.d = m.d;
  g.rule = walks[0].rule;
  g.states = walks[0].states, g.state_bars = back.states;
  g.x_bar = bar.x, g.b_bar = bar.b, g.c_bar = bar.c, g.dt_bar = bar.dt;
  g.a_bar = bar.a, g.dt_bias_bar = bar.dt_bias, g.d_bar = bar.d;
  g.accumulate = g.accumulate_x = g.accumulate_parameters = bar.accumulate;
  gpu::nn::chunk_gradients<T>(operation, stream, tokens, g, scratch.parts);
}

#define STRUCTMAT_INSTANTIATE(T)                                                            \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes<T>(const SsdView<T, Cuda>&,   \
                                                                 const SsdInput<T, Cuda>&); \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                              \
      const exec::cuda&, const SsdView<T, Cuda>&, const SsdInput<T, Cuda>&,                 \
      View<const T, 4, Cuda>, View<const compute_t<T>, 4, Cuda>, const SsdCotangent<T, Cuda>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
