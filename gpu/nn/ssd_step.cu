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

/// Numbers of a row of `count`, from the nth on.
template <class U>
__device__ PieceAt<U> piece_of(U* row, index_t stride, index_t n, index_t count) {
  return {row + n * stride, stride, count - n};
}

/// Vector: rows of states, B and C are whole vectors.
template <class T, bool Vector>
__global__ void __launch_bounds__(step_threads, Vector ? 4 : 2)
    advance_states(const __grid_constant__ StepOperands<T> o) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (index_t unit = blockIdx.x; unit < o.units; unit += gridDim.x) {
    const index_t head = unit / o.tiles, h = head % o.heads, entry = head / o.heads;
    const index_t p = unit % o.tiles * step_rows + threadIdx.x / lanes;
    const bool exists = p < o.channels;
    const index_t group = h / o.heads_a_group;
    const bool before = exists && o.initial_state.data != nullptr;
    const bool after = exists && o.final_state.data != nullptr;
    const float* const from = before ? &o.initial_state(entry, h, p, 0) : nullptr;
    float* const to = after ? &o.final_state(entry, h, p, 0) : nullptr;
    const T *const row_b = &o.b(entry, group, 0), *const row_c = &o.c(entry, group, 0);

    Piece<float, each> state[pieces];
    Piece<T, each> b[pieces], c[pieces];
    const auto fetch = [&](index_t first) {
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        const index_t n = first + i * lanes * each;
        state[i] = {}, b[i] = {}, c[i] = {};
        if (n >= o.states) continue;
        if (before) load<Vector>(piece_of(from, o.initial_state.stride[3], n, o.states), state[i]);
        load<Vector>(piece_of(row_b, o.b.stride[2], n, o.states), b[i]);
        load<Vector>(piece_of(row_c, o.c.stride[2], n, o.states), c[i]);
      }
    };
    // In front of everything that waits for memory itself: with few sequences the time goes into that.
    fetch(lane * each);
    const float x = exists ? static_cast<float>(o.x(entry, h, p)) : 0.0f;
    const float bias = o.dt_bias.data == nullptr ? 0.0f : o.dt_bias(h);
    const float raw = static_cast<float>(o.dt(entry, h)), a = o.a(h);
    const float delta = o.rule(raw + bias);
    const float decay = exp2_fast(log2_decay(delta, a)), weight = delta * x;

    float sum = 0;
    for (index_t first = lane * each; first < o.states;) {
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
          store<Vector>(piece_of(to, o.final_state.stride[3], n, o.states), pack<float>(s));
        }
      }
      first += lanes * pieces * each;
      fetch(first);
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
