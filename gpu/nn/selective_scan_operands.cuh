/// \file
/// Operands of selective scans as kernels take them, and what blocks of threads share.
#pragma once

#include "nn/decays.cuh"
#include "nn/pieces.cuh"
#include "nn/tokens.cuh"
#include "structmat/nn/selective_scan.hpp"

namespace structmat::gpu::nn {

using structmat::nn::Hold;

/// What b and c of the data are stored in.
template <class T, class S>
using scan_selected_t = std::conditional_t<is_complex<S>, S, T>;

/// S: float or Complex<float>.
template <class T, class S>
struct ScanOperands {
  Tokens tokens;
  Strided<const T, 3> u, z, delta;
  Strided<const S, 2> a, b, c;
  Strided<const scan_selected_t<T, S>, 4> b_varying, c_varying;
  Strided<const float, 1> d, bias;
  Strided<const S, 3> initial;
  StepRule rule;
  bool clamps;  ///< can a step meet the limits of the rule?
  Hold hold;
  index_t channels, states;
  index_t part;                  ///< channels in a row that read the same groups of b and c
  index_t members_b, members_c;  ///< channels of a group
  bool vectors;                  ///< are all pieces of four channels whole vectors?
  bool all_vectors;              ///< all of that
  bool selected_vectors;         ///< and those of four states of b and c?
};

/// Threads of a block: `Lanes` of a channel with `Own` states each, and tiles of tokens.
template <int Threads, int Lanes, int Own>
struct ScanLayout {
  static constexpr int threads = Threads, lanes = Lanes, own = Own;
  static constexpr int channels = Threads / Lanes, width = Lanes * Own;
  /// Tokens in shared memory at a time.
  static constexpr int tile = width <= 16 ? 16 : width <= 64 ? 8 : 4;
  /// Each thread stages at most one piece of four channels.
  static constexpr int pieces = channels / 4, staging = tile * pieces;
  static_assert(staging <= threads);
};

/// What a block works on.
struct ScanPlace {
  Sequence sequence;
  index_t first;  ///< channel
  int count;      ///< of channels
  index_t group_b, group_c;
};

/// Number `tile` of the tiles of `width` channels of part `part`.
template <class T, class S>
__device__ ScanPlace scan_place(const ScanOperands<T, S>& o, index_t sequence, index_t part,
                                index_t tile, int width) {
  const index_t first = part * o.part + tile * width,
                left = min(index_t(width), (part + 1) * o.part - first);
  return {sequence_of(o.tokens, sequence), first, static_cast<int>(left), first / o.members_b,
          first / o.members_c};
}

/// Four channels of tokens that are `step` tokens apart, one after the other. Vectors: known to be whole ones.
template <class T>
struct ChannelWalk {
  PieceAt<T> at;
  index_t step;

  __device__ ChannelWalk(const Strided<T, 3>& v, const ScanPlace& place, index_t token, int channel,
                         index_t tokens)
      : at{nullptr, v.stride[2], place.count - channel}, step(tokens * v.stride[1]) {
    if (v.data != nullptr) at.first = &v(place.sequence.entry, token, place.first + channel);
  }
  __device__ void advance() { at.first += step; }
};
template <bool Vectors, class T>
__device__ void load_channels(const ChannelWalk<const T>& from, bool vectors, Piece<T, 4>& piece) {
  if (Vectors || vectors)
    load<true>(from.at, piece);
  else
    load<false>(from.at, piece);
}
template <bool Vectors, class T>
__device__ void put_channels(const ChannelWalk<T>& to, bool vectors, float (&value)[4],
                             bool accumulate) {
  if (Vectors || vectors)
    put<true>(to.at, value, accumulate);
  else
    put<false>(to.at, value, accumulate);
}

/// log(1 + e^v) to 4 eps, for any v: v where it is positive, and 2 atanh(e / (2 + e)) of e = e^-|v|.
__device__ inline float softplus(float v) {
  const float e = exp2_fast(-fabs(v) * log2_e), t = e * reciprocal_fast(2 + e), s = t * t;
  float sum = 2.0f / 13;
  sum = fma(sum, s, 2.0f / 11);
  sum = fma(sum, s, 2.0f / 9);
  sum = fma(sum, s, 2.0f / 7);
  sum = fma(sum, s, 2.0f / 5);
  sum = fma(sum, s, 2.0f / 3);
  sum = fma(sum, s, 2.0f);
  return fma(sum, t, v > 0 ? v : 0.0f);
}
/// Delta of a raw step, bias included, and what it is differentiated by.
__device__ inline float scan_step(const StepRule& rule, float v) {
  const float u = rule.softplus ? softplus(v) : v;
  // In this order NaN stays NaN.
  return u < rule.low ? rule.low : u > rule.high ? rule.high : u;
}
__device__ inline float scan_slope(const StepRule& rule, bool clamps, float v) {
  if (clamps) {
    const float u = rule.softplus ? softplus(v) : v;
    if (u < rule.low || u > rule.high) return 0;
  }
  return rule.softplus ? sigmoid(v) : 1.0f;
}

/// b and c of a tile of tokens on their way to shared memory, zero beyond states and tokens; what is constant
/// is not read.
template <class S, class Layout>
struct SelectedTile {
  static constexpr int quads = Layout::width / 4, half = Layout::tile * quads;
  static constexpr int rounds = (2 * half + Layout::threads - 1) / Layout::threads;
  S value[rounds][4];

  /// Vectors: all of them are whole, and of the data.
  template <bool Vectors, class T>
  __device__ void load(const ScanOperands<T, S>& o, const ScanPlace& place, index_t token,
                       int count) {
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int i = static_cast<int>(threadIdx.x) + r * Layout::threads;
      const bool of_c = i >= half;
      const int t = i % half / quads, n = i % quads * 4;
      const auto& from = of_c ? o.c_varying : o.b_varying;
#pragma unroll
      for (int v = 0; v < 4; ++v) value[r][v] = S(0.0f);
      if (i >= 2 * half || t >= count || n >= o.states) continue;
      if (!Vectors && from.data == nullptr) continue;
      const auto* at =
          &from(place.sequence.entry, token + t, of_c ? place.group_c : place.group_b, n);
      if constexpr (!is_complex<S>) {
        const PieceAt<const T> piece_at{at, from.stride[3], o.states - n};
        Piece<T, 4> piece;
        if (Vectors || o.selected_vectors)
          gpu::nn::load<true>(piece_at, piece);
        else
          gpu::nn::load<false>(piece_at, piece);
        unpack(piece, value[r]);
      } else {
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          if (n + v < o.states) value[r][v] = at[v * from.stride[3]];
        }
      }
    }
  }
  /// to: (2, tile, width)
  __device__ void store(S* to) const {
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int i = static_cast<int>(threadIdx.x) + r * Layout::threads;
      if (i >= 2 * half) continue;
      if constexpr (is_complex<S>) {
#pragma unroll
        for (int v = 0; v < 4; ++v) to[i * 4 + v] = value[r][v];
      } else {
        reinterpret_cast<float4*>(to)[i] = {value[r][0], value[r][1], value[r][2], value[r][3]};
      }
    }
  }
};

/// The lane's states of rows of shared memory.
template <int Own, class S>
__device__ void load_states(const S* from, S (&to)[Own]) {
  if constexpr (Own % 4 == 0 && !is_complex<S>) {
#pragma unroll
    for (int i = 0; i < Own; i += 4) {
      const float4 v = *reinterpret_cast<const float4*>(from + i);
      to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
    }
  } else {
#pragma unroll
    for (int i = 0; i < Own; ++i) to[i] = from[i];
  }
}
template <int Own, class S>
__device__ void store_states(S* to, const S (&from)[Own]) {
  if constexpr (Own % 4 == 0 && !is_complex<S>) {
#pragma unroll
    for (int i = 0; i < Own; i += 4) {
      *reinterpret_cast<float4*>(to + i) = {from[i], from[i + 1], from[i + 2], from[i + 3]};
    }
  } else {
#pragma unroll
    for (int i = 0; i < Own; ++i) to[i] = from[i];
  }
}

__device__ inline float exponential(float z) {
  return exp2_fast(z * log2_e);
}
__device__ inline Complex<float> exponential(Complex<float> z) {
  const float r = exponential(z.re);
  return {r * cos(z.im), r * sin(z.im)};
}

/// alpha and beta / b of a step, and their derivatives: those of the CPU.
template <class S>
struct Held {
  S alpha, phi;
  S alpha_by_delta, alpha_by_a, phi_by_a, phi_by_delta;

  __device__ Held(Hold hold, float delta, S a) {
    const S z = delta * a;
    if (hold == Hold::first) {
      alpha = S(1.0f) + z;
      alpha_by_delta = a, alpha_by_a = S(delta);
    } else {
      alpha = exponential(z);
      alpha_by_delta = a * alpha, alpha_by_a = delta * alpha;
    }
    if (hold != Hold::zero) {
      phi = S(delta), phi_by_delta = S(1.0f), phi_by_a = S(0.0f);
      return;
    }
    phi_by_delta = alpha;
    // By their series where the quotients cancel.
    if (taxicab(z) > 0.5f) {
      const S inverse = reciprocal(a);
      phi = (alpha - S(1.0f)) * inverse;
      phi_by_a = (delta * alpha - phi) * inverse;
      return;
    }
    S term(1.0f), sum(0.0f), slope(0.0f);  // term: z^k / (k + 1)!
    constexpr int terms = 9;
    for (int k = 0; k < terms; ++k) {
      sum += term;
      slope += static_cast<float>(k + 1) / static_cast<float>(k + 2) * term;
      term = 1 / static_cast<float>(k + 2) * (term * z);
    }
    phi = delta * sum, phi_by_a = delta * delta * slope;
  }
};

/// The lane's states in front of the first token, and its a: zero beyond states and channels.
template <int Own, class T, class S>
__device__ void load_rows(const ScanOperands<T, S>& o, const ScanPlace& place, int channel,
                          int state, const Strided<const S, 2>& from, S (&to)[Own]) {
#pragma unroll
  for (int i = 0; i < Own; ++i) {
    const bool exists = from.data != nullptr && channel < place.count && state + i < o.states;
    to[i] = exists ? from(place.first + channel, state + i) : S(0.0f);
  }
}

/// a log2(e), finite: a step of 0 leaves the state as it is.
__device__ inline float binary_rate(float a) {
  constexpr float most = 3e38f;
  const float v = a * log2_e;
  return v < -most ? -most : v > most ? most : v;
}

}  // namespace structmat::gpu::nn
