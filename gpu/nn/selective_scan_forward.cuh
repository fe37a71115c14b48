/// \file
/// States of a selective scan from token to token, and what is read off them.
#pragma once

#include "core/reduce.cuh"
#include "nn/selective_scan_operands.cuh"

namespace structmat::gpu::nn {

template <class T, class S>
struct ScanForward {
  ScanOperands<T, S> operands;
  index_t parts, tiles;  ///< of channels, and of each part
  Strided<T, 3> y;
  Strided<S, 3> final_state;
  S* saved = nullptr;  ///< states in front of every chunk: (slots, channels, width)
};

/// Blocks: sequences x parts x tiles. Plain: Hold::euler, b and c of the data. Vectors: whole ones,
/// and b and c of the data. Saved > 0: only writes the states in
/// front of every `Saved` tokens.
template <class Layout, bool Plain, bool Vectors, int Saved, class T, class S>
__global__ void __launch_bounds__(Layout::threads)
    scan_forward(const __grid_constant__ ScanForward<T, S> p) {
  constexpr int lanes = Layout::lanes, own = Layout::own, tile = Layout::tile,
                width = Layout::width, group = 4;
  constexpr float pairs = is_complex<S> ? 2 : 1;
  alignas(16) __shared__ float2 steps[tile][Layout::channels];  // Delta, and u or Delta u
  alignas(16) __shared__ float results[tile][Layout::channels];
  alignas(16) __shared__ S selected[2][tile][width];
  const ScanOperands<T, S>& o = p.operands;
  const index_t block = blockIdx.x, row = block / p.tiles;
  const ScanPlace place =
      scan_place(o, row / p.parts, row % p.parts, block % p.tiles, Layout::channels);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % lanes, channel = thread / lanes,
            state = lane * own;
  const bool exists = channel < place.count;

  S a[own], h[own], b[own], c[own];
  load_rows(o, place, channel, state, o.a, a);
  if constexpr (Plain) {
#pragma unroll
    for (int i = 0; i < own; ++i) a[i] = binary_rate(a[i]);
  } else {
    load_rows(o, place, channel, state, o.b, b);
    load_rows(o, place, channel, state, o.c, c);
  }
#pragma unroll
  for (int i = 0; i < own; ++i) {
    h[i] = o.initial.data != nullptr && exists && state + i < o.states
               ? o.initial(place.sequence.number, place.first + channel, state + i)
               : S(0.0f);
  }

  // This thread's piece of a tile.
  const int piece_token = thread / Layout::pieces, piece_channel = thread % Layout::pieces * 4;
  const bool stages = thread < Layout::staging, has_piece = stages && piece_channel < place.count;
  float bias[4] = {}, skip[4] = {};
  if (has_piece) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (piece_channel + i >= place.count) continue;
      const index_t at = place.first + piece_channel + i;
      if (o.bias.data != nullptr) bias[i] = o.bias(at);
      if (o.d.data != nullptr) skip[i] = o.d(at);
    }
  }
  const index_t piece_first = place.sequence.begin + piece_token;
  ChannelWalk<const T> u_at(o.u, place, piece_first, piece_channel, tile),
      z_at(o.z, place, piece_first, piece_channel, tile),
      delta_at(o.delta, place, piece_first, piece_channel, tile);
  ChannelWalk<T> y_at(p.y, place, piece_first, piece_channel, tile);
  const bool gated = Saved == 0 && o.z.data != nullptr;
  Piece<T, 4> u{}, z{}, delta{};
  SelectedTile<S, Layout> next;
  const auto fetch = [&](index_t t) {
    const int count = static_cast<int>(min(index_t(tile), place.sequence.length - t));
    if (has_piece && piece_token < count) {
      load_channels<Vectors>(u_at, o.vectors, u);
      load_channels<Vectors>(delta_at, o.vectors, delta);
      if (gated) load_channels<Vectors>(z_at, o.vectors, z);
    }
    u_at.advance(), delta_at.advance(), z_at.advance();
    next.template load<Vectors>(o, place, place.sequence.begin + t, count);
  };
  if (place.sequence.length > 0) fetch(0);
  for (index_t first = 0; first < place.sequence.length; first += tile) {
    const int count = static_cast<int>(min(index_t(tile), place.sequence.length - first));
    if (stages) {
      float x[4], raw[4];
      unpack(u, x), unpack(delta, raw);
      float2 staged[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        // What is not there is a step of 0.
        const bool there = piece_token < count && piece_channel + i < place.count;
        const float step = there ? scan_step(o.rule, raw[i] + bias[i]) : 0.0f;
        const float input = there ? x[i] : 0.0f;
        staged[i] = {step, Plain ? step * input : input};
      }
      float4* const to = reinterpret_cast<float4*>(&steps[piece_token][piece_channel]);
      to[0] = {staged[0].x, staged[0].y, staged[1].x, staged[1].y};
      to[1] = {staged[2].x, staged[2].y, staged[3].x, staged[3].y};
    }
    next.store(&selected[0][0][0]);
    __syncthreads();
    const Piece<T, 4> u_now = u, z_now = z;
    if (first + tile < place.sequence.length) fetch(first + tile);

    for (int t0 = 0; t0 < count; t0 += group) {
      float sum[group];
#pragma unroll
      for (int j = 0; j < group; ++j) {
        const int t = t0 + j;
        if constexpr (Saved > 0) {
          if (t % Saved == 0 && t < count && exists) {
            const index_t slot = place.sequence.slot + (first + t) / Saved;
            store_states(p.saved + (slot * o.channels + place.first + channel) * width + state, h);
          }
        }
        const float2 step = steps[t][channel];
        if (Plain || o.b_varying.data != nullptr) load_states(&selected[0][t][state], b);
        if constexpr (Saved == 0) {
          if (Plain || o.c_varying.data != nullptr) load_states(&selected[1][t][state], c);
        }
        sum[j] = 0;
#pragma unroll
        for (int i = 0; i < own; ++i) {
          if constexpr (Plain) {
            h[i] = fma(exp2_fast(step.x * a[i]), h[i], step.y * b[i]);
          } else {
            const Held<S> held(o.hold, step.x, a[i]);
            h[i] = held.alpha * h[i] + step.y * (held.phi * b[i]);
          }
          if constexpr (Saved == 0) sum[j] += real_part(c[i] * h[i]);
        }
      }
      if constexpr (Saved == 0) {
        scatter_sums<lanes, 1, group>(~0u, lane, sum);
        if (lane % (lanes / group) == 0) results[t0 + lane / (lanes / group)][channel] = sum[0];
      }
    }
    __syncthreads();
    if constexpr (Saved == 0) {
      if (has_piece && piece_token < count) {
        float x[4], gate[4];
        unpack(u_now, x), unpack(z_now, gate);
        const float4 sums = *reinterpret_cast<const float4*>(&results[piece_token][piece_channel]);
        float y[4] = {sums.x, sums.y, sums.z, sums.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          y[i] = fma(skip[i], x[i], pairs * y[i]);
          if (gated) y[i] *= silu(gate[i]);
        }
        put_channels<Vectors>(y_at, o.vectors, y, false);
      }
      y_at.advance();
    }
  }
  if (Saved == 0 && p.final_state.data != nullptr && exists) {
#pragma unroll
    for (int i = 0; i < own; ++i) {
      if (state + i < o.states) {
        p.final_state(place.sequence.number, place.first + channel, state + i) = h[i];
      }
    }
  }
}

}  // namespace structmat::gpu::nn
