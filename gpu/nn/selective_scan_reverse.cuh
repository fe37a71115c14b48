/// \file
/// Cotangents of a selective scan, from the last token to the first.
#pragma once

#include "core/reduce.cuh"
#include "core/shared.cuh"
#include "nn/selective_scan_operands.cuh"

namespace structmat::gpu::nn {

/// Sums of a channel over the tokens of a sequence: (sequences, channels, states), and (2, sequences, channels)
/// for d and delta_bias.
template <class S>
struct ScanSums {
  S *a, *b, *c;
  float* parameters;
};

template <class T, class S>
struct ScanReverse {
  ScanOperands<T, S> operands;
  index_t parts, tiles;  ///< of channels, and of each part
  index_t slots;         ///< blocks that share the tiles of a part
  const S* saved;        ///< states in front of every chunk: (slots of chunks, channels, width)
  Strided<const T, 3> y_bar;
  Strided<const S, 3> final_bar;
  Strided<T, 3> u_bar, z_bar, delta_bar;
  Strided<S, 3> initial_bar;
  bool accumulate;
  ScanSums<S> sums;
  S *b_parts = nullptr,
    *c_parts = nullptr;  ///< (parts x slots, tokens of all entries, states), null: not wanted
};

/// Shared memory of a block.
template <class S, class Layout>
struct ReverseMemory {
  static constexpr int warps = Layout::threads / 32;
  float4 steps[Layout::tile][Layout::channels];    ///< Delta, u, what y is multiplied by
  float4 results[Layout::tile][Layout::channels];  ///< sums over states
  S selected[2][Layout::tile][Layout::width];
  S sums[2][warps][Layout::tile][Layout::width];  ///< over the channels of a warp
};

/// Blocks: sequences x parts x slots. Chunk: tokens between saved states.
template <class Layout, bool Plain, bool Vectors, int Chunk, class T, class S>
__global__ void __launch_bounds__(Layout::threads, 2)
    scan_reverse(const __grid_constant__ ScanReverse<T, S> p) {
  constexpr int lanes = Layout::lanes, own = Layout::own, tile = Layout::tile,
                width = Layout::width, together = 2, members = 32 / lanes;
  constexpr float pairs = is_complex<S> ? 2 : 1;
  static_assert(tile % Chunk == 0 && Chunk % together == 0);
  auto& shared = *dynamic_shared<ReverseMemory<S, Layout>>();
  const ScanOperands<T, S>& o = p.operands;
  const index_t row = static_cast<index_t>(blockIdx.x) / p.slots,
                slot = static_cast<index_t>(blockIdx.x) % p.slots, part = row % p.parts;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % lanes, channel = thread / lanes,
            state = lane * own, warp = thread / 32, member = thread % 32 / lanes;
  const int piece_token = thread / Layout::pieces, piece_channel = thread % Layout::pieces * 4;
  const bool stages = thread < Layout::staging, gated = o.z.data != nullptr;

  for (index_t number = slot; number < p.tiles; number += p.slots) {
    const ScanPlace place = scan_place(o, row / p.parts, part, number, Layout::channels);
    const bool exists = channel < place.count, has_piece = stages && piece_channel < place.count;
    const auto own_state = [&](int i) { return exists && state + i < o.states; };
    S a[own], b[own], c[own], g[own], a_sum[own], b_sum[own], c_sum[own];
    load_rows(o, place, channel, state, o.a, a);
    [[maybe_unused]] float rate[own];
    if constexpr (Plain) {
#pragma unroll
      for (int i = 0; i < own; ++i) rate[i] = binary_rate(a[i]);
    } else {
      load_rows(o, place, channel, state, o.b, b);
      load_rows(o, place, channel, state, o.c, c);
    }
#pragma unroll
    for (int i = 0; i < own; ++i) {
      a_sum[i] = b_sum[i] = c_sum[i] = S(0.0f);
      g[i] = p.final_bar.data != nullptr && own_state(i)
                 ? p.final_bar(place.sequence.number, place.first + channel, state + i)
                 : S(0.0f);
    }
    float bias[4] = {}, skip[4] = {}, d_sum[4] = {}, bias_sum[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (!has_piece || piece_channel + i >= place.count) continue;
      const index_t at = place.first + piece_channel + i;
      if (o.bias.data != nullptr) bias[i] = o.bias(at);
      if (o.d.data != nullptr) skip[i] = o.d(at);
    }
    const index_t last = place.sequence.length - 1;
    const index_t saved_step = o.channels * width;
    const S* saved_at = p.saved +
                        (place.sequence.slot + (last < 0 ? 0 : last / Chunk)) * saved_step +
                        (place.first + channel) * width + state;
    const auto load_saved = [&](S(&to)[own]) {
      if (exists) {
        load_states(saved_at, to);
      } else {
#pragma unroll
        for (int i = 0; i < own; ++i) to[i] = S(0.0f);
      }
      saved_at -= saved_step;
    };

    const index_t last_tile = last < 0 ? -1 : last / tile * tile,
                  piece_last = place.sequence.begin + last_tile + piece_token;
    ChannelWalk<const T> u_at(o.u, place, piece_last, piece_channel, -tile),
        z_at(o.z, place, piece_last, piece_channel, -tile),
        delta_at(o.delta, place, piece_last, piece_channel, -tile),
        y_bar_at(p.y_bar, place, piece_last, piece_channel, -tile);
    ChannelWalk<T> u_bar_at(p.u_bar, place, piece_last, piece_channel, -tile),
        z_bar_at(p.z_bar, place, piece_last, piece_channel, -tile),
        delta_bar_at(p.delta_bar, place, piece_last, piece_channel, -tile);
    for (index_t first = last_tile; first >= 0; first -= tile) {
      const int count = static_cast<int>(min(index_t(tile), place.sequence.length - first));
      const index_t token = place.sequence.begin + first;
      Piece<T, 4> u{}, z{}, delta{}, y_bar{};
      const bool has_token = has_piece && piece_token < count;
      if (has_token) {
        load_channels<Vectors>(u_at, o.vectors, u);
        load_channels<Vectors>(delta_at, o.vectors, delta);
        load_channels<Vectors>(y_bar_at, o.vectors, y_bar);
        if (gated) load_channels<Vectors>(z_at, o.vectors, z);
      }
      u_at.advance(), delta_at.advance(), y_bar_at.advance(), z_at.advance();
      {
        SelectedTile<S, Layout> both;
        both.template load<Vectors>(o, place, token, count);
        both.store(&shared.selected[0][0][0]);
      }
      if (stages) {
        float x[4], raw[4], seen[4], gate[4];
        unpack(u, x), unpack(delta, raw), unpack(y_bar, seen), unpack(z, gate);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const bool there = has_token && piece_channel + i < place.count;
          const float factor = gated ? silu(gate[i]) : 1.0f;
          shared.steps[piece_token][piece_channel + i] =
              there ? float4{scan_step(o.rule, raw[i] + bias[i]), x[i], pairs * (seen[i] * factor),
                             0.0f}
                    : float4{0.0f, 0.0f, 0.0f, 0.0f};
        }
      }
      __syncthreads();

      for (int t0 = (count - 1) / Chunk * Chunk; t0 >= 0; t0 -= Chunk) {
        // alpha, and the states behind each token; first of all in front of it.
        S before[own], h[Chunk][own];
        [[maybe_unused]] S alpha[Plain ? Chunk : 1][own];
        float sum[Chunk];
        load_saved(before);
#pragma unroll
        for (int j = 0; j < Chunk; ++j) {
          const float4 step = shared.steps[t0 + j][channel];
          if (Plain || o.b_varying.data != nullptr) {
            load_states(&shared.selected[0][t0 + j][state], b);
          }
          if (Plain || o.c_varying.data != nullptr) {
            load_states(&shared.selected[1][t0 + j][state], c);
          }
          sum[j] = 0;
#pragma unroll
          for (int i = 0; i < own; ++i) {
            const S old = j == 0 ? before[i] : h[j - 1][i];
            if constexpr (Plain) {
              alpha[j][i] = exp2_fast(step.x * rate[i]);
              h[j][i] = fma(alpha[j][i], old, step.x * step.y * b[i]);
            } else {
              const Held<S> held(o.hold, step.x, a[i]);
              h[j][i] = held.alpha * old + step.y * (held.phi * b[i]);
            }
            sum[j] += real_part(c[i] * h[j][i]);
          }
        }
        float of_delta[Chunk], of_u[Chunk];
#pragma unroll
        for (int j0 = Chunk - together; j0 >= 0; j0 -= together) {
          S b_bar[together * own], c_bar[together * own];
#pragma unroll
          for (int k = together - 1; k >= 0; --k) {
            const int j = j0 + k;
            const float4 step = shared.steps[t0 + j][channel];
            if (Plain || o.b_varying.data != nullptr) {
              load_states(&shared.selected[0][t0 + j][state], b);
            }
            if (Plain || o.c_varying.data != nullptr) {
              load_states(&shared.selected[1][t0 + j][state], c);
            }
            of_delta[j] = of_u[j] = 0;
#pragma unroll
            for (int i = 0; i < own; ++i) {
              const S old = j == 0 ? before[i] : h[j - 1][i];
              g[i] += step.z * conjugate(c[i]);
              c_bar[k * own + i] = step.z * conjugate(h[j][i]);
              if constexpr (Plain) {
                of_u[j] = fma(b[i], g[i], of_u[j]);
                b_bar[k * own + i] = step.x * step.y * g[i];
                g[i] *= alpha[j][i];
                const float share = old * g[i];
                a_sum[i] = fma(step.x, share, a_sum[i]);
                of_delta[j] = fma(a[i], share, of_delta[j]);
              } else {
                const Held<S> held(o.hold, step.x, a[i]);
                const S alpha_bar = conjugate(old) * g[i], beta_bar = step.y * g[i],
                        phi_bar = conjugate(b[i]) * beta_bar;
                b_bar[k * own + i] = conjugate(held.phi) * beta_bar;
                a_sum[i] +=
                    conjugate(held.alpha_by_a) * alpha_bar + conjugate(held.phi_by_a) * phi_bar;
                of_delta[j] += real_part(conjugate(held.alpha_by_delta) * alpha_bar +
                                         conjugate(held.phi_by_delta) * phi_bar);
                of_u[j] += real_part(conjugate(held.phi * b[i]) * g[i]);
                b_sum[i] += b_bar[k * own + i], c_sum[i] += c_bar[k * own + i];
                g[i] *= conjugate(held.alpha);
              }
            }
          }
          // Over the channels of the warp; each lane keeps some of the numbers.
          constexpr int kept = together * own / members > 0 ? together * own / members : 1;
          const auto keep = [&](int which, S(&value)[together * own]) {
            if constexpr (members > 1) scatter_sums<members, lanes>(~0u, member, value);
#pragma unroll
            for (int v = 0; v < kept; ++v) {
              const int at = member * kept + v;
              shared.sums[which][warp][t0 + j0 + at / own][state + at % own] = value[v];
            }
          };
          if (p.b_parts != nullptr) keep(0, b_bar);
          if (p.c_parts != nullptr) keep(1, c_bar);
        }
        constexpr int of_lane = Chunk / lanes > 0 ? Chunk / lanes : 1;
        scatter_sums<lanes, 1>(~0u, lane, sum);
        scatter_sums<lanes, 1>(~0u, lane, of_delta);
        scatter_sums<lanes, 1>(~0u, lane, of_u);
        constexpr int same = lanes > Chunk ? lanes / Chunk : 1;  // lanes that have the same sum
        if (lane % same == 0) {
#pragma unroll
          for (int v = 0; v < of_lane; ++v) {
            shared.results[t0 + lane / same * of_lane + v][channel] = {sum[v], of_delta[v], of_u[v],
                                                                       0.0f};
          }
        }
      }
      __syncthreads();

      if (has_token) {
        float x[4], raw[4], seen[4], gate[4], u_out[4], z_out[4], delta_out[4];
        unpack(u, x), unpack(delta, raw), unpack(y_bar, seen), unpack(z, gate);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float4 step = shared.steps[piece_token][piece_channel + i],
                       result = shared.results[piece_token][piece_channel + i];
          const float factor = gated ? silu(gate[i]) : 1.0f, y = seen[i] * factor;
          z_out[i] = seen[i] * fma(skip[i], x[i], pairs * result.x) * silu_slope(gate[i]);
          u_out[i] = fma(skip[i], y, Plain ? step.x * result.z : result.z);
          const float by_step = Plain ? fma(x[i], result.z, result.y) : result.y;
          delta_out[i] = by_step * scan_slope(o.rule, o.clamps, raw[i] + bias[i]);
          if (piece_channel + i < place.count) {
            bias_sum[i] += delta_out[i];
            d_sum[i] = fma(y, x[i], d_sum[i]);
          }
        }
        const auto write = [&](const ChannelWalk<T>& to, float(&value)[4]) {
          put_channels<Vectors>(to, o.vectors, value, p.accumulate);
        };
        if (p.u_bar.data != nullptr) write(u_bar_at, u_out);
        if (gated && p.z_bar.data != nullptr) write(z_bar_at, z_out);
        if (p.delta_bar.data != nullptr) write(delta_bar_at, delta_out);
      }
      u_bar_at.advance(), z_bar_at.advance(), delta_bar_at.advance();
      const auto add_parts = [&](int which, S* parts) {
        if (parts == nullptr) return;
        const index_t tokens = o.tokens.batch * o.tokens.length,
                      at = place.sequence.entry * o.tokens.length + token;
        S* const to = parts + ((part * p.slots + slot) * tokens + at) * o.states;
        for (int i = thread; i < count * width; i += Layout::threads) {
          const int t = i / width, n = i % width;
          if (n >= o.states) continue;
          S sum = shared.sums[which][0][t][n];
#pragma unroll
          for (int w = 1; w < ReverseMemory<S, Layout>::warps; ++w) {
            sum += shared.sums[which][w][t][n];
          }
          S& whole = to[t * o.states + n];
          whole = number == slot ? sum : whole + sum;
        }
      };
      add_parts(0, p.b_parts);
      add_parts(1, p.c_parts);
    }

#pragma unroll
    for (int i = 0; i < own; ++i) {
      if (!own_state(i)) continue;
      const index_t at =
          (place.sequence.number * o.channels + place.first + channel) * o.states + state + i;
      p.sums.a[at] = a_sum[i];
      if (!Plain && p.sums.b != nullptr) p.sums.b[at] = b_sum[i];
      if (!Plain && p.sums.c != nullptr) p.sums.c[at] = c_sum[i];
      if (p.initial_bar.data == nullptr) continue;
      S& to = p.initial_bar(place.sequence.number, place.first + channel, state + i);
      to = p.accumulate ? to + g[i] : g[i];
    }
    __syncthreads();
    if (stages) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        shared.results[piece_token][piece_channel + i] = {d_sum[i], bias_sum[i], 0.0f, 0.0f};
      }
    }
    __syncthreads();
    if (thread < place.count) {
      float d = 0, of_bias = 0;
      for (int t = 0; t < tile; ++t) {
        const float4 v = shared.results[t][thread];
        d += v.x, of_bias += v.y;
      }
      const index_t at = place.sequence.number * o.channels + place.first + thread;
      p.sums.parameters[at] = d;
      p.sums.parameters[o.tokens.sequences * o.channels + at] = of_bias;
    }
    __syncthreads();
  }
}

/// In which sums over sequences are kept.
template <class S>
using scan_wide_t = std::conditional_t<is_complex<S>, Complex<double>, double>;

__device__ inline double widened(float v) {
  return v;
}
__device__ inline Complex<double> widened(Complex<float> v) {
  return {v.re, v.im};
}
__device__ inline float narrowed(double v) {
  return static_cast<float>(v);
}
__device__ inline Complex<float> narrowed(Complex<double> v) {
  return {static_cast<float>(v.re), static_cast<float>(v.im)};
}

template <class S>
struct ScanParameters {
  ScanSums<S> sums;
  index_t sequences, channels, states;
  Strided<S, 2> a, b, c;
  Strided<float, 1> d, bias;
  bool accumulate;
};

/// Cotangents of parameters: sums over sequences, in order.
template <class S>
__global__ void scan_parameters(const __grid_constant__ ScanParameters<S> p) {
  const index_t size = p.channels * p.states, step = static_cast<index_t>(gridDim.x) * blockDim.x;
  const auto sum_over_sequences = [&](const auto* from, index_t width, index_t at) {
    using V = std::remove_cvref_t<decltype(*from)>;
    scan_wide_t<V> sum(0);
    for (index_t s = 0; s < p.sequences; ++s) sum += widened(from[s * width + at]);
    return narrowed(sum);
  };
  const auto put_sum = [&](auto& to, auto sum) { to = p.accumulate ? to + sum : sum; };
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < 3 * size + 2 * p.channels; i += step) {
    if (i < 3 * size) {
      const index_t which = i / size, at = i % size;
      const Strided<S, 2>& to = which == 0 ? p.a : which == 1 ? p.b : p.c;
      const S* const from = which == 0 ? p.sums.a : which == 1 ? p.sums.b : p.sums.c;
      if (to.data == nullptr) continue;
      put_sum(to(at / p.states, at % p.states), sum_over_sequences(from, size, at));
    } else {
      const index_t which = (i - 3 * size) / p.channels, at = (i - 3 * size) % p.channels;
      const Strided<float, 1>& to = which == 0 ? p.d : p.bias;
      if (to.data == nullptr) continue;
      put_sum(to(at), sum_over_sequences(p.sums.parameters + which * p.sequences * p.channels,
                                         p.channels, at));
    }
  }
}

template <class T, class S>
struct ScanSelected {
  const S* parts;  ///< (groups x blocks, tokens of all entries, states)
  index_t batch, length, groups, states;
  index_t blocks;  ///< of a group
  Strided<scan_selected_t<T, S>, 4> to;
  bool accumulate;
};

/// Cotangents of b or c of the data: sums over the blocks of a group, in order.
template <class T, class S>
__global__ void scan_selected(const __grid_constant__ ScanSelected<T, S> p) {
  const index_t tokens = p.batch * p.length, size = tokens * p.groups * p.states,
                step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const index_t n = i % p.states, token = i / p.states % tokens, group = i / (tokens * p.states);
    const S* const from = p.parts + (group * p.blocks * tokens + token) * p.states + n;
    S sum = from[0];
#pragma unroll 8
    for (index_t k = 1; k < p.blocks; ++k) sum += from[k * tokens * p.states];
    auto& to = p.to(token / p.length, token % p.length, group, n);
    if constexpr (is_complex<S>) {
      to = p.accumulate ? to + sum : sum;
    } else {
      to = static_cast<T>(p.accumulate ? static_cast<float>(to) + sum : sum);
    }
  }
}

}  // namespace structmat::gpu::nn
