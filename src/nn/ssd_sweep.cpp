#include "nn/ssd_sweep.hpp"

#include <algorithm>

namespace structmat::nn {
namespace {

/// Vectors of a block of channels: four states of four vectors, and what they meet, fit the registers.
constexpr int most_vectors = 4;

template <class R>
using Vec = simd::Vector<R, lanes<R>>;

template <class R, int V>
STRUCTMAT_INLINE void forward_tile(const SsdRows<R>& rows, index_t n, index_t p, R* s, R* y) {
  Vec<R> state[state_tile][V];
  for (int i = 0; i < state_tile; ++i) {
    for (int v = 0; v < V; ++v) {
      state[i][v] = simd::load<Vec<R>>(s + (n + i) * rows.channels + p + v * lanes<R>);
    }
  }
  for (index_t t = 0; t < rows.tokens; ++t) {
    const R *x = rows.x + t * rows.channels + p, *q = rows.q + t * rows.states + n,
            *c = rows.c + t * rows.states + n;
    const R decay = rows.decay[t];
    for (int v = 0; v < V; ++v) {
      const Vec<R> xv = simd::load<Vec<R>>(x + v * lanes<R>);
      for (int i = 0; i < state_tile; ++i) state[i][v] = decay * state[i][v] + q[i] * xv;
      if (y != nullptr) {
        R* const at = y + t * rows.channels + p + v * lanes<R>;
        const Vec<R> first = c[0] * state[0][v] + c[1] * state[1][v];
        simd::store(at, simd::load<Vec<R>>(at) + first + (c[2] * state[2][v] + c[3] * state[3][v]));
      }
    }
  }
  for (int i = 0; i < state_tile; ++i) {
    for (int v = 0; v < V; ++v) {
      simd::store(s + (n + i) * rows.channels + p + v * lanes<R>, state[i][v]);
    }
  }
}

/// f(n, p, number of vectors) for all tiles, where the last block of channels may be narrower.
template <class R, class F>
STRUCTMAT_INLINE void for_each_tile(const SsdRows<R>& rows, const F& f) {
  for (index_t n = 0; n < rows.states; n += state_tile) {
    for (index_t p = 0; p < rows.channels; p += most_vectors * lanes<R>) {
      f(n, p, std::min<index_t>(most_vectors, (rows.channels - p) / lanes<R>));
    }
  }
}

template <RealScalar R>
STRUCTMAT_CLONES void forward(const SsdRows<R>& rows, R* s, R* y) {
  for_each_tile(rows, [&](index_t n, index_t p, index_t vectors) STRUCTMAT_ALWAYS {
    if (vectors == 4) return forward_tile<R, 4>(rows, n, p, s, y);
    if (vectors == 3) return forward_tile<R, 3>(rows, n, p, s, y);
    if (vectors == 2) return forward_tile<R, 2>(rows, n, p, s, y);
    forward_tile<R, 1>(rows, n, p, s, y);
  });
}

/// The states in front of each token, and S_t c's cotangents. `past`: (tokens, state_tile, V) vectors.
/// `sums`: for each token a vector for each of four q_bar and four c_bar, added to.
template <class R, int V>
STRUCTMAT_INLINE void reverse_tile(const SsdRows<R>& rows, index_t n, index_t p, const R* s,
                                   const R* y_bar, R* g, R* x_bar, R* past, R* sums, R* decay_sums) {
  constexpr index_t w = lanes<R>;
  Vec<R> state[state_tile][V];
  for (int i = 0; i < state_tile; ++i) {
    for (int v = 0; v < V; ++v) state[i][v] = simd::load<Vec<R>>(s + (n + i) * rows.channels + p + v * w);
  }
  for (index_t t = 0; t < rows.tokens; ++t) {
    const R *x = rows.x + t * rows.channels + p, *q = rows.q + t * rows.states + n;
    const R decay = rows.decay[t];
    R* const kept = past + t * state_tile * V * w;
    for (int v = 0; v < V; ++v) {
      const Vec<R> xv = simd::load<Vec<R>>(x + v * w);
      for (int i = 0; i < state_tile; ++i) {
        simd::store(kept + (i * V + v) * w, state[i][v]);
        state[i][v] = decay * state[i][v] + q[i] * xv;
      }
    }
  }
  Vec<R> grad[state_tile][V];
  for (int i = 0; i < state_tile; ++i) {
    for (int v = 0; v < V; ++v) grad[i][v] = simd::load<Vec<R>>(g + (n + i) * rows.channels + p + v * w);
  }
  for (index_t t = rows.tokens - 1; t >= 0; --t) {
    const R *q = rows.q + t * rows.states + n, *c = rows.c + t * rows.states + n;
    const R decay = rows.decay[t];
    const R* const kept = past + t * state_tile * V * w;
    R* const sum = sums + t * 2 * state_tile * w;
    Vec<R> q_sum[state_tile], c_sum[state_tile];
    for (int i = 0; i < state_tile; ++i) {
      q_sum[i] = simd::load<Vec<R>>(sum + i * w);
      c_sum[i] = simd::load<Vec<R>>(sum + (state_tile + i) * w);
    }
    Vec<R> decay_sum = simd::load<Vec<R>>(decay_sums + t * w);
    for (int v = 0; v < V; ++v) {
      const index_t at = t * rows.channels + p + v * w;
      const Vec<R> xv = simd::load<Vec<R>>(rows.x + at), yv = simd::load<Vec<R>>(y_bar + at);
      Vec<R> x_sum = simd::load<Vec<R>>(x_bar + at);
      for (int i = 0; i < state_tile; ++i) {
        const Vec<R> before = simd::load<Vec<R>>(kept + (i * V + v) * w);
        grad[i][v] += c[i] * yv;
        c_sum[i] += (decay * before + q[i] * xv) * yv;
        q_sum[i] += grad[i][v] * xv;
        x_sum += q[i] * grad[i][v];
        decay_sum += grad[i][v] * before;
        grad[i][v] *= decay;
      }
      simd::store(x_bar + at, x_sum);
    }
    for (int i = 0; i < state_tile; ++i) {
      simd::store(sum + i * w, q_sum[i]);
      simd::store(sum + (state_tile + i) * w, c_sum[i]);
    }
    simd::store(decay_sums + t * w, decay_sum);
  }
  for (int i = 0; i < state_tile; ++i) {
    for (int v = 0; v < V; ++v) simd::store(g + (n + i) * rows.channels + p + v * w, grad[i][v]);
  }
}

template <RealScalar R>
STRUCTMAT_CLONES void reverse(const SsdRows<R>& rows, const R* s, const R* y_bar, R* g, R* x_bar,
                              R* q_bar, R* c_bar, R* decay_bar, R* scratch) {
  constexpr index_t w = lanes<R>, tile_sums = 2 * state_tile * w;
  R* const past = scratch;
  R* const sums = past + chunk_tokens * state_tile * most_vectors * w;
  R* const decay_sums = sums + chunk_tokens * tile_sums;
  const auto lane_sum = [](const R* v) STRUCTMAT_ALWAYS {
    return simd::sum<R, w>(simd::load<Vec<R>>(v));
  };
  std::fill_n(decay_sums, rows.tokens * w, R(0));
  for_each_tile(rows, [&](index_t n, index_t p, index_t vectors) STRUCTMAT_ALWAYS {
    if (p == 0) std::fill_n(sums, rows.tokens * tile_sums, R(0));
    const auto run = [&]<int V>(std::integral_constant<int, V>) STRUCTMAT_ALWAYS {
      reverse_tile<R, V>(rows, n, p, s, y_bar, g, x_bar, past, sums, decay_sums);
    };
    if (vectors == 4) run(std::integral_constant<int, 4>{});
    if (vectors == 3) run(std::integral_constant<int, 3>{});
    if (vectors == 2) run(std::integral_constant<int, 2>{});
    if (vectors == 1) run(std::integral_constant<int, 1>{});
    if (p + vectors * w < rows.channels) return;
    for (index_t t = 0; t < rows.tokens; ++t) {
      for (index_t i = 0; i < state_tile; ++i) {
        q_bar[t * rows.states + n + i] = lane_sum(sums + t * tile_sums + i * w);
        c_bar[t * rows.states + n + i] = lane_sum(sums + t * tile_sums + (state_tile + i) * w);
      }
    }
  });
  for (index_t t = 0; t < rows.tokens; ++t) decay_bar[t] = lane_sum(decay_sums + t * w);
}

}  // namespace

template <RealScalar R>
void sweep(const SsdRows<R>& rows, R* s, R* y) {
  forward<R>(rows, s, y);
}

template <RealScalar R>
void reverse_sweep(const SsdRows<R>& rows, const R* s, const R* y_bar, R* g, R* x_bar, R* q_bar,
                   R* c_bar, R* decay_bar, R* scratch) {
  reverse<R>(rows, s, y_bar, g, x_bar, q_bar, c_bar, decay_bar, scratch);
}

#define STRUCTMAT_INSTANTIATE(R)                                                                    \
  template void sweep<R>(const SsdRows<R>&, R*, R*);                                                \
  template void reverse_sweep<R>(const SsdRows<R>&, const R*, const R*, R*, R*, R*, R*, R*, R*);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)

}  // namespace structmat::nn
