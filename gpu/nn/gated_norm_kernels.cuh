/// \file
/// Kernels of gated norms: teams of threads take one row of one group of channels after the other.
#pragma once

#include "core/reduce.cuh"
#include "nn/decays.cuh"
#include "nn/pieces.cuh"

namespace structmat::gpu::nn {

/// Of a block, at most; and the most pieces of a thread.
constexpr int norm_threads = 256, norm_pieces = 4;

/// The operands of one call, as kernels take them.
template <class T>
struct NormOperands {
  Strided<const T, 2> x, z;
  Strided<const float, 1> w;    ///< data null: 1
  index_t rows, groups, group;  ///< group: channels of one
  float epsilon;
  int team, teams;     ///< threads for a row, and such teams of a block
  index_t row_blocks;  ///< blocks for the rows of one group

  __device__ float scale(float squares) const {
    return 1 / sqrt(squares / static_cast<float>(group) + epsilon);
  }
};

template <class T>
struct NormForward {
  NormOperands<T> operands;
  Strided<T, 2> y;
};

template <class T>
struct NormBackward {
  NormOperands<T> operands;
  Strided<const T, 2> y_bar;
  Strided<T, 2> x_bar, z_bar;  ///< data null: not wanted
  bool accumulate;
  float* sums;  ///< (teams of all row blocks, channels) for w; null: not wanted
};

/// Where the gate is.
enum class NormGate { none, after, before };

/// A number of x with its gate.
template <NormGate gate_is>
struct Gated {
  __device__ Gated(float x_, float z) : x(x_) {
    if constexpr (gate_is != NormGate::none) {
      const Silu silu(z);
      gate = silu.value, slope = silu.slope();
    }
  }
  /// What is normalised, and what multiplies it then.
  __device__ float input() const { return gate_is == NormGate::before ? x * gate : x; }
  __device__ float factor() const { return gate_is == NormGate::before ? 1.0f : gate; }

  float x, gate = 1, slope = 0;
};

/// Cotangents of a number, for that of y. `mean` is that of the products of normalised numbers and their cotangents.
struct GatedCotangents {
  template <NormGate gate_is>
  __device__ GatedCotangents(const Gated<gate_is>& v, float y_bar, float w_, float scale,
                             float mean) {
    const float n = v.input() * scale, product = y_bar * w_,
                input_bar = scale * (product * v.factor() - n * mean);
    if constexpr (gate_is == NormGate::before) {
      x = input_bar * v.gate, z = input_bar * v.x * v.slope;
    } else {
      x = input_bar, z = product * n * v.slope;
    }
    w = y_bar * v.factor() * n;
  }
  float x, z, w;
};

/// Of a thread.
template <class T>
struct NormPlace {
  __device__ explicit NormPlace(const NormOperands<T>& o)
      : member(static_cast<int>(threadIdx.x) % o.team),
        team(static_cast<int>(threadIdx.x) / o.team),
        block(blockIdx.x / o.groups),
        first(blockIdx.x % o.groups * o.group) {}

  /// f(row, does it exist): all threads of a block together.
  template <class F>
  __device__ void for_rows(const NormOperands<T>& o, const F& f) const {
    for (index_t row = block * o.teams; row < o.rows; row += o.row_blocks * o.teams) {
      f(row + team, row + team < o.rows);
    }
  }
  __device__ float* sums(const NormOperands<T>& o, float* all) const {
    return all + (block * o.teams + team) * (o.groups * o.group) + first;
  }

  int member, team;
  index_t block, first;  ///< first: channel of the group
};

/// Sums over a team, in all of its threads. A team is a power of two of lanes, or some warps.
template <int K>
class TeamSum {
 public:
  template <class T>
  __device__ void operator()(const NormOperands<T>& o, float (&value)[K]) {
    __shared__ float shared[2][K][norm_threads / 32];
#pragma unroll
    for (int k = 0; k < K; ++k) {
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) {
        if (offset < o.team) value[k] += __shfl_xor_sync(0xffffffffu, value[k], offset);
      }
    }
    if (o.team <= 32) return;
    const int warp = static_cast<int>(threadIdx.x) / 32, warps = o.team / 32;
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int k = 0; k < K; ++k) shared[turn_][k][warp] = value[k];
    }
    __syncthreads();
    const int first = warp / warps * warps;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      value[k] = 0;
      for (int i = 0; i < warps; ++i) value[k] += shared[turn_][k][first + i];
    }
    // The other half is written before the next barrier, behind which all have read this one.
    turn_ = 1 - turn_;
  }

 private:
  int turn_ = 0;
};

/// The same V pieces of all rows that a thread takes, with their weights.
template <class T, int V>
struct NormChannels {
  static constexpr int N = 16 / static_cast<int>(sizeof(T));

  __device__ NormChannels(const NormOperands<T>& o, const NormPlace<T>& at) {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const int piece = v * o.team + at.member;
      exists[v] = piece * N < o.group;
      channel[v] = at.first + piece * N;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        w[v][i] = exists[v] && o.w.data ? o.w(channel[v] + i) : 1.0f;
      }
    }
  }
  /// 0 where there is none.
  __device__ void fetch(const Strided<const T, 2>& from, index_t row, bool row_exists,
                        Piece<T, N> (&piece)[V]) const {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      piece[v] = {};
      if (from.data && row_exists && exists[v])
        load<true>(PieceAt<const T>{&from(row, channel[v])}, piece[v]);
    }
  }

  bool exists[V];
  index_t channel[V];
  float w[V][N];
};

/// Rows in vectors, which stay in registers.
template <class T, NormGate gate_is, int V>
__global__ void __launch_bounds__(norm_threads, V == 1 ? 4 : 1)
    norm_forward(const __grid_constant__ NormForward<T> p) {
  constexpr int N = NormChannels<T, V>::N;
  const NormOperands<T>& o = p.operands;
  const NormPlace<T> at(o);
  const NormChannels<T, V> channels(o, at);
  TeamSum<1> sum;
  Piece<T, N> x[V], z[V] = {};
  const auto fetch = [&](index_t row) {
    channels.fetch(o.x, row, row < o.rows, x);
    if (gate_is != NormGate::none) channels.fetch(o.z, row, row < o.rows, z);
  };
  fetch(at.block * o.teams + at.team);
  at.for_rows(o, [&](index_t row, bool exists) {
    float value[V][N], squares[1] = {};
#pragma unroll
    for (int v = 0; v < V; ++v) {
      float gate[N] = {};
      unpack(x[v], value[v]);
      if (gate_is != NormGate::none) unpack(z[v], gate);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const Gated<gate_is> g(value[v][i], gate[i]);
        squares[0] = fma(g.input(), g.input(), squares[0]);
        value[v][i] = g.x * g.gate * channels.w[v][i];
      }
    }
    fetch(row + o.row_blocks * o.teams);
    sum(o, squares);
    const float scale = o.scale(squares[0]);
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int i = 0; i < N; ++i) value[v][i] *= scale;
      if (exists && channels.exists[v]) {
        store<true>(PieceAt<T>{&p.y(row, channels.channel[v])}, pack<T>(value[v]));
      }
    }
  });
}

template <class T, NormGate gate_is, int V>
__global__ void __launch_bounds__(norm_threads, V == 1 ? 2 : 1)
    norm_backward(const __grid_constant__ NormBackward<T> p) {
  constexpr int N = NormChannels<T, V>::N;
  const NormOperands<T>& o = p.operands;
  const NormPlace<T> at(o);
  const NormChannels<T, V> channels(o, at);
  TeamSum<2> sum;
  float w_bar[V][N] = {};
  Piece<T, N> next_x[V], next_z[V] = {}, next_y[V];
  const auto fetch = [&](index_t row) {
    channels.fetch(o.x, row, row < o.rows, next_x);
    if (gate_is != NormGate::none) channels.fetch(o.z, row, row < o.rows, next_z);
    channels.fetch(p.y_bar, row, row < o.rows, next_y);
  };
  fetch(at.block * o.teams + at.team);
  at.for_rows(o, [&](index_t row, bool exists) {
    float x[V][N], z[V][N], y_bar[V][N], sums[2] = {};
#pragma unroll
    for (int v = 0; v < V; ++v) {
      unpack(next_x[v], x[v]), unpack(next_z[v], z[v]), unpack(next_y[v], y_bar[v]);
    }
    fetch(row + o.row_blocks * o.teams);
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const Gated<gate_is> g(x[v][i], z[v][i]);
        sums[0] = fma(g.input(), g.input(), sums[0]);
        sums[1] = fma(y_bar[v][i] * channels.w[v][i] * g.factor(), g.input(), sums[1]);
      }
    }
    sum(o, sums);
    const float scale = o.scale(sums[0]), mean = scale * sums[1] / static_cast<float>(o.group);
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const GatedCotangents bar(Gated<gate_is>(x[v][i], z[v][i]), y_bar[v][i], channels.w[v][i],
                                  scale, mean);
        x[v][i] = bar.x, z[v][i] = bar.z;
        w_bar[v][i] += bar.w;
      }
      if (!exists || !channels.exists[v]) continue;
      const index_t channel = channels.channel[v];
      if (p.x_bar.data) put<true>(PieceAt<T>{&p.x_bar(row, channel)}, x[v], p.accumulate);
      if (gate_is != NormGate::none && p.z_bar.data) {
        put<true>(PieceAt<T>{&p.z_bar(row, channel)}, z[v], p.accumulate);
      }
    }
  });
  if (p.sums == nullptr) return;
  float* const to = at.sums(o, p.sums);
#pragma unroll
  for (int v = 0; v < V; ++v) {
    if (!channels.exists[v]) continue;
#pragma unroll
    for (int i = 0; i < N; ++i) to[channels.channel[v] - at.first + i] = w_bar[v][i];
  }
}

/// Any strides and any number of channels; teams are at most warps, and read their rows twice.
template <class T, NormGate gate_is>
__global__ void __launch_bounds__(norm_threads)
    norm_forward_strided(const __grid_constant__ NormForward<T> p) {
  const NormOperands<T>& o = p.operands;
  const NormPlace<T> at(o);
  TeamSum<1> sum;
  at.for_rows(o, [&](index_t row, bool exists) {
    const auto gated = [&](index_t c) {
      return Gated<gate_is>(static_cast<float>(o.x(row, c)),
                            gate_is == NormGate::none ? 0.0f : static_cast<float>(o.z(row, c)));
    };
    const index_t end = at.first + (exists ? o.group : 0);
    float squares[1] = {};
    for (index_t c = at.first + at.member; c < end; c += o.team) {
      const float input = gated(c).input();
      squares[0] = fma(input, input, squares[0]);
    }
    sum(o, squares);
    const float scale = o.scale(squares[0]);
    for (index_t c = at.first + at.member; c < end; c += o.team) {
      const Gated<gate_is> g = gated(c);
      p.y(row, c) = static_cast<T>(g.x * g.gate * (o.w.data ? o.w(c) : 1.0f) * scale);
    }
  });
}

template <class T, NormGate gate_is>
__global__ void __launch_bounds__(norm_threads)
    norm_backward_strided(const __grid_constant__ NormBackward<T> p) {
  const NormOperands<T>& o = p.operands;
  const NormPlace<T> at(o);
  TeamSum<2> sum;
  float* const w_bar = p.sums ? at.sums(o, p.sums) - at.first : nullptr;
  if (w_bar) {
    for (index_t c = at.first + at.member; c < at.first + o.group; c += o.team) w_bar[c] = 0;
  }
  const auto add = [&](const Strided<T, 2>& to, index_t row, index_t c, float v) {
    if (!to.data) return;
    T& old = to(row, c);
    old = static_cast<T>(p.accumulate ? static_cast<float>(old) + v : v);
  };
  at.for_rows(o, [&](index_t row, bool exists) {
    const auto gated = [&](index_t c) {
      return Gated<gate_is>(static_cast<float>(o.x(row, c)),
                            gate_is == NormGate::none ? 0.0f : static_cast<float>(o.z(row, c)));
    };
    const auto weight = [&](index_t c) { return o.w.data ? o.w(c) : 1.0f; };
    const index_t end = at.first + (exists ? o.group : 0);
    float sums[2] = {};
    for (index_t c = at.first + at.member; c < end; c += o.team) {
      const Gated<gate_is> g = gated(c);
      const float input = g.input();
      sums[0] = fma(input, input, sums[0]);
      sums[1] = fma(static_cast<float>(p.y_bar(row, c)) * weight(c) * g.factor(), input, sums[1]);
    }
    sum(o, sums);
    const float scale = o.scale(sums[0]), mean = scale * sums[1] / static_cast<float>(o.group);
    for (index_t c = at.first + at.member; c < end; c += o.team) {
      const GatedCotangents bar(gated(c), static_cast<float>(p.y_bar(row, c)), weight(c), scale,
                                mean);
      add(p.x_bar, row, c, bar.x), add(p.z_bar, row, c, bar.z);
      if (w_bar) w_bar[c] += bar.w;
    }
  });
}

}  // namespace structmat::gpu::nn
