#include "nn/ssd_step.cuh"

#include "core/launch.cuh"
#include "core/reduce.cuh"
#include "nn/decays.cuh"
#include "nn/pieces.cuh"
#include "nn/tiles.cuh"

namespace structmat::gpu::nn {
namespace {

/// Eight lanes share a row of states, so that a warp's load takes four rows of 128 bytes: whole lines, and three exchanges a row.
constexpr int step_threads = 128, lanes = 8, step_rows = step_threads / lanes;
/// Numbers of a piece of a row, and pieces of a lane on their way at a time: 128 states of a row.
constexpr int each = 4, pieces = 4;

template <class T>
struct StepOperands {
  Strided<const T, 3> x, z, b, c;  // without their tokens
  Strided<const T, 2> dt;
  Strided<const float, 1> a, dt_bias;
  Strided<const float, 2> d;
  Strided<const float, 4> initial_state;
  Strided<T, 3> y;
  Strided<float, 4> final_state;
  StepRule rule;
  index_t heads, heads_a_group, channels, states;
  index_t tiles;  ///< of step_rows channels, of a head
  index_t units;
};

/// Vector: rows of states, B and C are whole vectors.
template <class T, bool Vector>
__global__ void __launch_bounds__(step_threads)
    advance_states(const __grid_constant__ StepOperands<T> o) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (index_t unit = blockIdx.x; unit < o.units; unit += gridDim.x) {
    const index_t head = unit / o.tiles, h = head % o.heads, entry = head / o.heads;
    const index_t p = unit % o.tiles * step_rows + threadIdx.x / lanes;
    const bool exists = p < o.channels;
    const index_t group = h / o.heads_a_group;
    const bool before = exists && o.initial_state.data != nullptr;
    const bool after = exists && o.final_state.data != nullptr;
    const float x = exists ? static_cast<float>(o.x(entry, h, p)) : 0.0f;
    const float bias = o.dt_bias.data == nullptr ? 0.0f : o.dt_bias(h);
    const float delta = o.rule(static_cast<float>(o.dt(entry, h)) + bias);
    const float decay = exp2_fast(log2_decay(delta, o.a(h))), weight = delta * x;

    float sum = 0;
    for (index_t first = lane * each; first < o.states; first += lanes * pieces * each) {
      // All loads in front of the first use: they are what the time goes into.
      Piece<float, each> state[pieces] = {};
      Piece<T, each> b[pieces] = {}, c[pieces] = {};
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        const index_t n = first + i * lanes * each;
        if (n >= o.states) continue;
        const auto piece = [&](auto* row, index_t stride) {
          return PieceAt<std::remove_pointer_t<decltype(row)>>{row + n * stride, stride,
                                                               o.states - n};
        };
        if (before) {
          load<Vector>(piece(&o.initial_state(entry, h, p, 0), o.initial_state.stride[3]),
                       state[i]);
        }
        load<Vector>(piece(&o.b(entry, group, 0), o.b.stride[2]), b[i]);
        load<Vector>(piece(&o.c(entry, group, 0), o.c.stride[2]), c[i]);
      }
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        const index_t n = first + i * lanes * each;
        if (n >= o.states) continue;
        float s[each], bs[each], cs[each];
        unpack(state[i], s), unpack(b[i], bs), unpack(c[i], cs);
#pragma unroll
        for (int v = 0; v < each; ++v) {
          // Written out, so that both kinds of loads give the same bits.
          s[v] = fma(weight, bs[v], decay * s[v]);
          if (n + v < o.states) sum = fma(s[v], cs[v], sum);
        }
        if (after) {
          const index_t stride = o.final_state.stride[3];
          const PieceAt<float> to{&o.final_state(entry, h, p, 0) + n * stride, stride,
                                  o.states - n};
          store<Vector>(to, pack<float>(s));
        }
      }
    }
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(~0u, sum, offset);
    }
    if (lane != 0 || !exists) continue;
    if (o.d.data != nullptr) sum = fma(o.d(h, p), x, sum);
    if (o.z.data != nullptr) sum *= silu(static_cast<float>(o.z(entry, h, p)));
    o.y(entry, h, p) = static_cast<T>(sum);
  }
}

}  // namespace

template <class T>
void step(const char* operation, cudaStream_t stream, const structmat::nn::SsdShape& shape,
          const structmat::nn::SsdView<T, space::cuda>& m,
          const structmat::nn::SsdInput<T, space::cuda>& in,
          const structmat::nn::SsdOutput<T, space::cuda>& out) {
  const auto token = [](const auto& v) {
    return strided(v.data() ? v.select(1, 0) : decltype(v.select(1, 0))());
  };
  StepOperands<T> o{};
  o.x = token(in.x), o.z = token(in.z), o.b = token(m.b), o.c = token(m.c), o.dt = token(m.dt);
  o.a = strided(m.a), o.dt_bias = strided(m.dt_bias), o.d = strided(m.d);
  o.initial_state = strided(in.initial_state), o.final_state = strided(out.final_state);
  o.y = token(out.y);
  o.rule = {m.softplus, m.dt_min, m.dt_max};
  o.heads = shape.heads, o.channels = shape.channels, o.states = shape.states;
  o.heads_a_group = shape.groups == 0 ? 1 : shape.heads / shape.groups;
  o.tiles = (shape.channels + step_rows - 1) / step_rows;
  o.units = shape.batch * shape.heads * o.tiles;
  if (o.units == 0) return;
  const bool vectors = whole_vectors(m.b) && whole_vectors(m.c) &&
                       whole_vectors(in.initial_state) && whole_vectors(out.final_state);
  launch(operation, vectors ? advance_states<T, true> : advance_states<T, false>,
         persistent_blocks(o.units, 1, multiprocessors(operation)), step_threads, stream, o);
}

#define STRUCTMAT_INSTANTIATE(T)                                                   \
  template void step<T>(const char*, cudaStream_t, const structmat::nn::SsdShape&, \
                        const structmat::nn::SsdView<T, space::cuda>&,             \
                        const structmat::nn::SsdInput<T, space::cuda>&,            \
                        const structmat::nn::SsdOutput<T, space::cuda>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::gpu::nn
