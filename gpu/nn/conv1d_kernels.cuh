/// \file
/// Kernels of short convolutions: a thread walks along tokens with some channels, and holds their last inputs, and in
/// reverse mode their last cotangents, in rings of W registers. Filters have at most W taps; shorter ones skip the
/// first places, so that nothing that they do not see reaches a product.
#pragma once

#include "core/shared.cuh"
#include "nn/decays.cuh"
#include "nn/pieces.cuh"
#include "nn/tokens.cuh"

namespace structmat::gpu::nn {

/// Of a block.
constexpr int conv_threads = 128;

/// The operands of one call, as kernels take them.
template <class T>
struct ConvOperands {
  Tokens tokens;
  Strided<const T, 3> x;
  Strided<const float, 2> weight;
  Strided<const float, 1> bias;           ///< data null: 0
  Strided<const float, 3> initial_state;  ///< data null: 0
  index_t channels;
  int taps, ahead;
  bool silu;
  int lanes;       ///< pieces of a tile of channels, at most 32
  unsigned tiles;  ///< of channels

  /// What the token s of a sequence, which may lie in front of it, brings to a channel.
  __device__ float input(const Sequence& q, index_t s, index_t channel) const {
    if (s >= 0) return static_cast<float>(x(q.entry, q.begin + s, channel));
    return initial_state.data ? initial_state(q.number, channel, taps - 1 + s) : 0.0f;
  }
  /// One branch for all.
  template <int N>
  __device__ void activate(float (&v)[N]) const {
    if (!silu) return;
#pragma unroll
    for (int e = 0; e < N; ++e) v[e] = nn::silu(v[e]);
  }
  /// g *= derivative at v.
  template <int N>
  __device__ void differentiate(const float (&v)[N], float (&g)[N]) const {
    if (!silu) return;
#pragma unroll
    for (int e = 0; e < N; ++e) g[e] *= silu_slope(v[e]);
  }
};

template <class T>
struct ConvForward {
  ConvOperands<T> operands;
  Strided<T, 3> y;
  Strided<float, 3> final_state;  ///< data null: not written here
};

template <class T>
struct ConvBackward {
  ConvOperands<T> operands;
  Strided<const T, 3> y_bar;
  Strided<const float, 3> final_state_bar;  ///< data null: 0
  Strided<T, 3> x_bar;                      ///< data null: not wanted
  Strided<float, 3> initial_state_bar;
  bool accumulate;
  float* sums;  ///< (rows of blocks, taps + 1, channels), of cotangents of weights, then biases
};

/// What a thread works on: a chunk of tokens of N neighbouring channels.
template <int N, class T>
struct ConvPlace {
  __device__ explicit ConvPlace(const ConvOperands<T>& o)
      : lane(static_cast<int>(threadIdx.x) % o.lanes),
        tile(blockIdx.x % o.tiles),
        row(blockIdx.x / o.tiles),
        channel((index_t(tile) * o.lanes + lane) * N),
        left(o.channels - channel) {
    const index_t slot =
        index_t(row) * (conv_threads / o.lanes) + static_cast<int>(threadIdx.x) / o.lanes;
    chunk = slot < o.tokens.slots && left > 0 ? chunk_of(o.tokens, slot) : Chunk{};
  }

  int lane;
  unsigned tile, row;
  index_t channel, left;
  Chunk chunk;
};

/// The pieces of a thread's channels in the tokens around the first one of its chunk. In vectors, tokens are less than
/// 2^31 bytes apart.
template <class T, int N, bool Vector>
struct ConvLine {
  using Stride = std::conditional_t<Vector, int, index_t>;

  template <class U>
  __device__ ConvLine(const Strided<U, 3>& v, const ConvPlace<N, std::remove_const_t<T>>& at)
      : first(v.data ? &v(at.chunk.sequence.entry, at.chunk.first, at.channel) : nullptr),
        token_stride(static_cast<Stride>(v.stride[1])),
        channel_stride(v.stride[2]),
        left(at.left) {}

  __device__ PieceAt<T> operator[](int token) const {
    return {first + static_cast<index_t>(token) * token_stride, channel_stride, left};
  }
  /// Tokens out of [from, to) are 0, unless all are known to be in.
  template <bool Inside>
  __device__ void fetch(int token, int from, int to,
                        Piece<std::remove_const_t<T>, N>& piece) const {
    if (Inside || (token >= from && token < to)) {
      load<Vector>((*this)[token], piece);
    } else {
      piece = {};
    }
  }

  T* first;
  Stride token_stride;
  index_t channel_stride, left;
};

/// The filters of a thread's channels; taps are the last ones of W places.
template <int N, int W>
struct ConvFilter {
  /// By all threads of the block; `shared`: N W 32 numbers, free again after the next barrier.
  template <class T>
  __device__ ConvFilter(const ConvOperands<T>& o, const ConvPlace<N, T>& at, float* shared) {
    const int skipped = W - o.taps;
    for (int i = static_cast<int>(threadIdx.x); i < o.lanes * N * W; i += conv_threads) {
      const int c = i / W, place = i % W;
      const index_t channel = index_t(at.tile) * o.lanes * N + c;
      shared[(place * N + c % N) * o.lanes + c / N] =
          place >= skipped && channel < o.channels ? o.weight(channel, place - skipped) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < W; ++j) {
#pragma unroll
      for (int e = 0; e < N; ++e) weight[j][e] = shared[(j * N + e) * o.lanes + at.lane];
    }
#pragma unroll
    for (int e = 0; e < N; ++e) {
      bias[e] = o.bias.data && e < at.left ? o.bias(at.channel + e) : 0.0f;
    }
  }

  float weight[W][N], bias[N];
};

/// The W - 1 inputs in front of the chunk's token `token` to places 0, ..., W - 2 of a ring.
template <bool Vector, int N, int W, class T>
__device__ void fill_ring(const ConvOperands<T>& o, const ConvPlace<N, T>& at,
                          const ConvLine<const T, N, Vector>& x, int token, int from, int to,
                          float (&ring)[W][N]) {
  Piece<T, N> pieces[W];
#pragma unroll
  for (int k = 0; k + 1 < W; ++k) x.template fetch<false>(token - (W - 1) + k, from, to, pieces[k]);
#pragma unroll
  for (int k = 0; k + 1 < W; ++k) unpack(pieces[k], ring[k]);
  if (!o.initial_state.data) return;
  const Sequence& q = at.chunk.sequence;
  const index_t first = at.chunk.first - q.begin + token - (W - 1);
#pragma unroll
  for (int k = 0; k + 1 < W; ++k) {
    if (first + k >= 0 || k < W - o.taps) continue;
#pragma unroll
    for (int e = 0; e < N; ++e) {
      if (e < at.left) {
        ring[k][e] = o.initial_state(q.number, at.channel + e, o.taps - 1 + first + k);
      }
    }
  }
}

/// What the filters make of the W inputs whose oldest is at place `oldest` of a ring.
template <int N, int W>
__device__ void convolve_ring(const ConvFilter<N, W>& filter, const float (&ring)[W][N], int oldest,
                              int skipped, float (&sum)[N]) {
#pragma unroll
  for (int e = 0; e < N; ++e) sum[e] = filter.bias[e];
#pragma unroll
  for (int j = 0; j < W; ++j) {
    if (j < skipped) continue;
#pragma unroll
    for (int e = 0; e < N; ++e) {
      sum[e] = fma(filter.weight[j][e], ring[(oldest + j) % W][e], sum[e]);
    }
  }
}

/// The last inputs of a sequence, of which some may be older ones; final_state may be initial_state.
template <class T>
__device__ void write_final_state(const ConvOperands<T>& o, const Sequence& q, index_t channel,
                                  const Strided<float, 3>& final_state) {
  constexpr int most = 7;
  float value[most];
#pragma unroll
  for (int k = 0; k < most; ++k) {
    if (k < o.taps - 1) value[k] = o.input(q, q.length - (o.taps - 1) + k, channel);
  }
#pragma unroll
  for (int k = 0; k < most; ++k) {
    if (k < o.taps - 1) final_state(q.number, channel, k) = value[k];
  }
}

/// Eight inputs are on their way.
template <class T, int N, int W, bool Vector>
__global__ void __launch_bounds__(conv_threads, W == 4 && Vector ? 3 : 1)
    conv_forward(const __grid_constant__ ConvForward<T> p) {
  constexpr int U = 8;
  static_assert(U % W == 0);
  __shared__ float shared[N * W * 32];
  const ConvOperands<T>& o = p.operands;
  const ConvPlace<N, T> at(o);
  const ConvFilter<N, W> filter(o, at, shared);
  const Chunk& chunk = at.chunk;
  if (chunk.count == 0) return;

  const index_t behind = chunk.first - chunk.sequence.begin;
  const int from = -static_cast<int>(min(behind, index_t(W))), count = chunk.count,
            to = static_cast<int>(min(chunk.sequence.length - behind, index_t(count + o.ahead)));
  const ConvLine<const T, N, Vector> x(o.x, at);
  const ConvLine<T, N, Vector> y(p.y, at);
  Piece<T, N> next[U];
#pragma unroll
  for (int i = 0; i < U; ++i) x.template fetch<false>(i + o.ahead, from, to, next[i]);
  float ring[W][N];
  fill_ring(o, at, x, o.ahead, from, to, ring);
  if (p.final_state.data) {
    for (int e = 0; e < N && e < at.left; ++e) {
      write_final_state(o, chunk.sequence, at.channel + e, p.final_state);
    }
  }
  const int skipped = W - o.taps;
  const auto advance = [&](int t, auto inside) {
#pragma unroll
    for (int i = 0; i < U; ++i) {
      unpack(next[i], ring[(W - 1 + i) % W]);
      x.template fetch<decltype(inside)::value>(t + U + i + o.ahead, from, to, next[i]);
      float sum[N];
      convolve_ring(filter, ring, i, skipped, sum);
      o.activate(sum);
      if (decltype(inside)::value || t + i < count) store<Vector>(y[t + i], pack<T>(sum));
    }
  };
  int t = 0;
  for (; t + 2 * U + o.ahead <= to; t += U) advance(t, std::true_type{});
  for (; t < count; t += U) advance(t, std::false_type{});
}

/// Final states by themselves.
template <class T>
__global__ void __launch_bounds__(conv_threads)
    conv_final_states(const __grid_constant__ ConvForward<T> p) {
  const ConvOperands<T>& o = p.operands;
  const index_t step = static_cast<index_t>(gridDim.x) * conv_threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * conv_threads + threadIdx.x;
       i < o.tokens.sequences * o.channels; i += step) {
    write_final_state(o, sequence_of(o.tokens, i / o.channels), i % o.channels, p.final_state);
  }
}

/// Cotangents of x, and of the parameters what a block's tokens give to them. Step i of a thread takes the cotangent of
/// the sum `ahead` tokens before its token i, and has those for the input W - 1 tokens before.
template <class T, int N, int W, bool Vector>
__global__ void __launch_bounds__(conv_threads, W == 4 && Vector ? 3 : 1)
    conv_backward(const __grid_constant__ ConvBackward<T> p) {
  __shared__ float shared[(W + 1) * N * conv_threads];
  const ConvOperands<T>& o = p.operands;
  const ConvPlace<N, T> at(o);
  const ConvFilter<N, W> filter(o, at, shared);
  const Chunk& chunk = at.chunk;
  const int skipped = W - o.taps, count = chunk.count;
  float weight_bar[W][N] = {}, bias_bar[N] = {};
  __syncthreads();  // Filters have been read.
  if (count > 0) {
    const index_t behind = chunk.first - chunk.sequence.begin;
    const int from = -static_cast<int>(min(behind, index_t(W))),
              to = static_cast<int>(
                  min(chunk.sequence.length - behind, index_t(count + o.taps - 1))),
              y_to = min(to, count + o.taps - 1 - o.ahead);
    const ConvLine<const T, N, Vector> x(o.x, at), y_bar(p.y_bar, at);
    const ConvLine<T, N, Vector> x_bar(p.x_bar, at);
    Piece<T, N> next_x[W], next_y[W];
#pragma unroll
    for (int i = 0; i < W; ++i) {
      x.template fetch<false>(i, from, to, next_x[i]);
      y_bar.template fetch<false>(i - o.ahead, from, y_to, next_y[i]);
    }
    float ring[W][N], cotangent[W][N] = {};
    fill_ring(o, at, x, 0, from, to, ring);
    // Inputs from this token on are in the final state.
    const int last =
        static_cast<int>(min(chunk.sequence.length - behind - (o.taps - 1), index_t(count)));
    float* const own_shared = shared + threadIdx.x;
    if (p.final_state_bar.data && last < count) {
      for (int k = 0; k < o.taps - 1; ++k) {
        for (int e = 0; e < N && e < at.left; ++e) {
          own_shared[(k * N + e) * conv_threads] =
              p.final_state_bar(chunk.sequence.number, at.channel + e, k);
        }
      }
    }
    const auto advance = [&](int t, auto inside) {
#pragma unroll
      for (int i = 0; i < W; ++i) {
        const int y_token = t + i - o.ahead, x_token = t + i - (W - 1);
        unpack(next_x[i], ring[(W - 1 + i) % W]);
        float(&g)[N] = cotangent[i];
        unpack(next_y[i], g);
        x.template fetch<decltype(inside)::value>(t + W + i, from, to, next_x[i]);
        y_bar.template fetch<decltype(inside)::value>(t + W + i - o.ahead, from, y_to, next_y[i]);
        float sum[N], own_g[N];
        convolve_ring(filter, ring, i, skipped, sum);
        o.differentiate(sum, g);
        const bool exists = decltype(inside)::value || (y_token >= from && y_token < y_to),
                   own = decltype(inside)::value || (y_token >= 0 && y_token < count);
#pragma unroll
        for (int e = 0; e < N; ++e) {
          g[e] = exists ? g[e] : 0.0f;
          own_g[e] = own ? g[e] : 0.0f;
          bias_bar[e] += own_g[e];
          sum[e] = 0;
        }
#pragma unroll
        for (int j = 0; j < W; ++j) {
          if (j < skipped) continue;
#pragma unroll
          for (int e = 0; e < N; ++e) {
            weight_bar[j][e] = fma(own_g[e], ring[(i + j) % W][e], weight_bar[j][e]);
            sum[e] = fma(filter.weight[j][e], cotangent[(i - j + W) % W][e], sum[e]);
          }
        }
        if (!p.x_bar.data || (!decltype(inside)::value && (x_token < 0 || x_token >= count)))
          continue;
        if (!decltype(inside)::value && x_token >= last && p.final_state_bar.data) {
#pragma unroll
          for (int e = 0; e < N; ++e) {
            sum[e] += own_shared[((x_token - last) * N + e) * conv_threads];
          }
        }
        put<Vector>(x_bar[x_token], sum, p.accumulate);
      }
    };
    const int end = min(min(to, y_to + o.ahead) - W, min(count, last)) - W;
    advance(0, std::false_type{});
    int t = W;
    for (; t <= end; t += W) advance(t, std::true_type{});
    for (; t < count + W - 1; t += W) advance(t, std::false_type{});
  }
  if (p.sums == nullptr) return;
#pragma unroll
  for (int e = 0; e < N; ++e) {
#pragma unroll
    for (int j = 0; j < W; ++j) shared[(j * N + e) * conv_threads + threadIdx.x] = weight_bar[j][e];
    shared[(W * N + e) * conv_threads + threadIdx.x] = bias_bar[e];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < (W + 1) * N * o.lanes; i += conv_threads) {
    const int lane = i % o.lanes, number = i / o.lanes, j = number / N - skipped;
    const index_t channel = (index_t(at.tile) * o.lanes + lane) * N + number % N;
    if (j < 0 || channel >= o.channels) continue;
    float sum = 0;
    for (int k = lane; k < conv_threads; k += o.lanes) sum += shared[number * conv_threads + k];
    p.sums[(index_t(at.row) * (o.taps + 1) + j) * o.channels + channel] = sum;
  }
}

/// Cotangents of initial states: those of inputs in front of sequences.
template <class T>
__global__ void __launch_bounds__(conv_threads)
    conv_initial_states(const __grid_constant__ ConvBackward<T> p) {
  const ConvOperands<T>& o = p.operands;
  const int states = o.taps - 1;
  const index_t step = static_cast<index_t>(gridDim.x) * conv_threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * conv_threads + threadIdx.x;
       i < o.tokens.sequences * o.channels * states; i += step) {
    const int k = static_cast<int>(i % states);
    const index_t channel = i / states % o.channels;
    const Sequence q = sequence_of(o.tokens, i / states / o.channels);
    const auto cotangent = [&](int t) {
      float sum[1] = {o.bias.data ? o.bias(channel) : 0.0f},
            g[1] = {static_cast<float>(p.y_bar(q.entry, q.begin + t, channel))};
      for (int j = 0; j < o.taps; ++j) {
        sum[0] = fma(o.weight(channel, j), o.input(q, t - states + j, channel), sum[0]);
      }
      o.differentiate(sum, g);
      return g[0];
    };
    float sum = 0;
    for (int j = 0; j <= k; ++j) {
      if (k - j < q.length) sum = fma(o.weight(channel, j), cotangent(k - j), sum);
    }
    if (p.final_state_bar.data && k >= q.length) {
      sum += p.final_state_bar(q.number, channel, k - q.length);
    }
    float& to = p.initial_state_bar(q.number, channel, k);
    to = p.accumulate ? to + sum : sum;
  }
}

}  // namespace structmat::gpu::nn
