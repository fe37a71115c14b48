#include "nn/chunk_gradients.cuh"

#include "nn/chunk_gradients_kernel.cuh"

namespace structmat::gpu::nn {
namespace {

constexpr unsigned sum_threads = 1024;

struct PartSums {
  index_t slots, heads, channels;
  GradientParts parts;
  Strided<float, 1> a, dt_bias;
  Strided<float, 2> d;
  bool d_a_head;  ///< one number a head
  bool accumulate;
};

__device__ void put(float& to, double v, bool accumulate) {
  to = static_cast<float>(accumulate ? static_cast<double>(to) + v : v);
}

/// A block has a head.
__global__ void __launch_bounds__(sum_threads) sum_parts(const __grid_constant__ PartSums p) {
  __shared__ double scratch[sum_threads];
  const index_t h = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  const auto sum_slots = [&](const float* parts, const Strided<float, 1>& to) {
    if (to.data == nullptr) return;
    double sum = 0;
    for (index_t s = thread; s < p.slots; s += sum_threads) sum += parts[h * p.slots + s];
    sum = block_sum(sum, scratch);
    if (thread == 0) put(to(h), sum, p.accumulate);
    __syncthreads();
  };
  sum_slots(p.parts.a, p.a);
  sum_slots(p.parts.dt_bias, p.dt_bias);
  if (p.d.data == nullptr) return;
  // 32 channels at a time; the slots of each are shared by 32 threads.
  constexpr int width = 32, rows = sum_threads / width;
  const int column = thread % width, row = thread / width;
  double whole = 0;
  for (index_t first = 0; first < p.channels; first += width) {
    double sum = 0;
    if (first + column < p.channels) {
      const float* const from = p.parts.d + h * p.slots * p.channels + first + column;
#pragma unroll 8
      for (index_t s = row; s < p.slots; s += rows) sum += from[s * p.channels];
    }
    scratch[thread] = sum;
    __syncthreads();
    for (int half = rows / 2; half > 0; half /= 2) {
      if (row < half) scratch[thread] += scratch[thread + half * width];
      __syncthreads();
    }
    if (row == 0) {
      if (p.d_a_head) {
        whole += scratch[column];
      } else if (first + column < p.channels) {
        put(p.d(h, first + column), scratch[column], p.accumulate);
      }
    }
    __syncthreads();
  }
  if (p.d_a_head && row == 0) {
    whole = warp_sum(whole);
    if (column == 0) put(p.d(h, 0), whole, p.accumulate);
  }
}

template <class T, int Width>
void launch_gradients(const char* operation, cudaStream_t stream, const Tokens& tokens,
                      const ChunkGradients<T>& g, const GradientParts& parts) {
  const index_t channels = g.x.extent(3), states = g.b.extent(3);
  const auto round_up = [](index_t n) { return (n + 15) / 16 * 16; };
  GradientParameters<T> p{};
  p.tokens = tokens;
  p.heads = g.x.extent(2), p.groups = g.b.extent(2);
  p.heads_of_group = static_cast<int>(p.heads / p.groups);
  p.channels = static_cast<int>(channels);
  p.x = strided(g.x), p.y_bar = strided(g.y_bar), p.dt = strided(g.dt);
  p.a = strided(g.a), p.dt_bias = strided(g.dt_bias), p.d = strided(g.d);
  p.x_vectors = whole_vectors(g.x), p.y_vectors = whole_vectors(g.y_bar);
  p.rule = g.rule;
  p.backward = g.backward, p.shifted = g.shifted;
  p.state_row = round_up(states), p.state_size = round_up(channels) * p.state_row;
  p.x_bar = strided(g.x_bar), p.dt_bar = strided(g.dt_bar);
  p.out_vectors = whole_vectors(g.x_bar);
  p.accumulate = p.accumulate_dt = g.accumulate, p.accumulate_x = g.accumulate_x;
  p.parts = parts;
  if (!g.d_bar.data()) p.parts.d = nullptr;
  const Grid grid{static_cast<unsigned>(tokens.slots * p.groups), gradient_threads,
                  sizeof(GradientShared<T, Width>)};
  for (index_t first = 0; first == 0 || first < states; first += Width) {
    const index_t last = std::min<index_t>(first + Width, states);
    const auto piece = [&](const auto& v) { return v.data() ? v.slice(3, first, last) : v; };
    p.states = static_cast<int>(last - first);
    p.b = strided(piece(g.b)), p.c = strided(piece(g.c));
    p.b_vectors = whole_vectors(piece(g.b)), p.c_vectors = whole_vectors(piece(g.c));
    p.b_bar = strided(piece(g.b_bar)), p.c_bar = strided(piece(g.c_bar));
    p.front = g.states + first, p.back = g.state_bars + first;
    launch(operation, gradient_kernel<T, Width>, grid, stream, p);
    // What does not belong to a state has been counted; the rest is added to it.
    p.d = {}, p.parts.d = nullptr;
    p.accumulate_x = true, p.accumulate_parts = true, p.accumulate_dt = true;
  }
}

}  // namespace

GradientParts take_gradient_parts(Workspace& workspace, index_t slots, index_t heads,
                                  index_t channels) {
  float* const a = workspace.take<float>(heads * slots);
  float* const dt_bias = workspace.take<float>(heads * slots);
  return {a, dt_bias, workspace.take<float>(heads * slots * channels)};
}

template <class T>
void chunk_gradients(const char* operation, cudaStream_t stream, const Tokens& tokens,
                     const ChunkGradients<T>& g, const GradientParts& parts) {
  const index_t heads = g.x.extent(2), channels = g.x.extent(3);
  if (heads == 0) return;
  const bool any = tokens.slots > 0 && channels > 0;
  if (any) {
    if (std::is_same_v<T, float> || g.b.extent(3) <= 64) {
      launch_gradients<T, 64>(operation, stream, tokens, g, parts);
    } else if constexpr (std::is_same_v<T, bf16>) {
      launch_gradients<T, 128>(operation, stream, tokens, g, parts);
    }
  }
  if (!g.a_bar.data() && !g.dt_bias_bar.data() && !g.d_bar.data()) return;
  PartSums sums{any ? tokens.slots : 0,
                heads,
                channels,
                parts,
                strided(g.a_bar),
                strided(g.dt_bias_bar),
                channels > 0 ? strided(g.d_bar) : Strided<float, 2>{},
                channels > 1 && g.d_bar.stride(1) == 0,
                g.accumulate_parameters};
  launch(operation, sum_parts, static_cast<unsigned>(heads), sum_threads, stream, sums);
}

#define STRUCTMAT_INSTANTIATE(T)                                             \
  template void chunk_gradients<T>(const char*, cudaStream_t, const Tokens&, \
                                   const ChunkGradients<T>&, const GradientParts&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::gpu::nn
