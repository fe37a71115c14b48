#include "nn/ssd_chunk.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace structmat::nn {
namespace {

/// Vectors of a block of columns: tile_rows times as many sums, and what they are made of, fit the registers of
/// AVX-512; where registers are fewer and narrower, those of one vector do.
STRUCTMAT_INLINE index_t most_vectors() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") ? 4 : 1;
#else
  return 1;
#endif
}

template <class R>
using Vec = simd::Vector<R, lanes<R>>;
template <class R, int V>
using Sums = Vec<R>[tile_rows][V];

/// Numbers a(r, k) = at[r * row + k * step].
template <class R>
struct Factor {
  const R* at;
  index_t row, step;
};

/// Rows of numbers.
template <class R>
struct Rows {
  const R* at;
  index_t width;
};

/// sums(r, :) += a(first + r, k) b(k, :) for begin <= k < end.
template <class R, int V>
STRUCTMAT_INLINE void add_products(Sums<R, V>& sums, const Factor<R>& a, index_t first,
                                   const Rows<R>& b, index_t begin, index_t end) {
  for (index_t k = begin; k < end; ++k) {
    const R* const row = b.at + k * b.width;
    const R* const factor = a.at + first * a.row + k * a.step;
    Vec<R> v[V];
    for (int i = 0; i < V; ++i) v[i] = simd::load<Vec<R>>(row + i * lanes<R>);
    for (int r = 0; r < tile_rows; ++r) {
      const R f = factor[r * a.row];
      for (int i = 0; i < V; ++i) sums[r][i] += f * v[i];
    }
  }
}

/// The same for the rows on the diagonal, first <= k < first + tile_rows, where a is a triangle. What is beyond the
/// triangle must not meet a product: zero times Inf would spread from one token to another.
template <bool Lower, class R, int V>
STRUCTMAT_INLINE void add_diagonal(Sums<R, V>& sums, const Factor<R>& a, index_t first,
                                   const Rows<R>& b, index_t tokens) {
  for (int k = 0; k < tile_rows; ++k) {
    if (first + k >= tokens) return;
    const R* const row = b.at + (first + k) * b.width;
    const R* const factor = a.at + first * a.row + (first + k) * a.step;
    for (int r = Lower ? k : 0; r < (Lower ? static_cast<int>(tile_rows) : k + 1); ++r) {
      const R f = factor[r * a.row];
      for (int i = 0; i < V; ++i) sums[r][i] += f * simd::load<Vec<R>>(row + i * lanes<R>);
    }
  }
}

template <class R, int V>
STRUCTMAT_INLINE void store_rows(const Sums<R, V>& sums, R* to, index_t width) {
  for (int r = 0; r < tile_rows; ++r) {
    for (int i = 0; i < V; ++i) simd::store(to + r * width + i * lanes<R>, sums[r][i]);
  }
}

/// f(column, constant number of vectors) for blocks of columns [0, width).
template <class R, class F>
STRUCTMAT_INLINE void for_each_block(index_t width, const F& f) {
  const index_t most = most_vectors();
  for (index_t p = 0; p < width; p += most * lanes<R>) {
    const index_t vectors = std::min(most, (width - p + lanes<R> - 1) / lanes<R>);
    if (vectors == 4) f(p, std::integral_constant<int, 4>{});
    if (vectors == 3) f(p, std::integral_constant<int, 3>{});
    if (vectors == 2) f(p, std::integral_constant<int, 2>{});
    if (vectors == 1) f(p, std::integral_constant<int, 1>{});
  }
}

/// to := the lower triangle of a b, b: `depth` rows of chunk_tokens; vectors that meet the triangle are whole.
template <class R>
STRUCTMAT_INLINE void triangle(const Factor<R>& a, const R* b, index_t depth, index_t tokens,
                               R* to) {
  for (index_t first = 0; first < tokens; first += tile_rows) {
    for_each_block<R>(first + tile_rows,
                      [&]<int V>(index_t p, std::integral_constant<int, V>) STRUCTMAT_ALWAYS {
                        Sums<R, V> sums = {};
                        add_products<R, V>(sums, a, first, {b + p, chunk_tokens}, 0, depth);
                        store_rows<R, V>(sums, to + first * chunk_tokens + p, chunk_tokens);
                      });
  }
}

/// What a token takes from a state, and from other tokens of its chunk.
template <class R>
struct Mixing {
  Factor<R> of_state;
  Rows<R> state;
  index_t depth;   ///< rows of state
  const R* scale;  ///< of what comes from the state
  Factor<R> of_tokens;
  Rows<R> tokens;
  const R* with = nullptr;  ///< not null: rows like the result, of which
  R* dots = nullptr;        ///< the products with what comes from the state are added to
};

/// to(t, :) := scale_t (of_state state)(t, :) + (of_tokens tokens)(t, :), of_tokens a triangle.
template <bool Lower, class R>
STRUCTMAT_INLINE void mix(const Mixing<R>& m, index_t tokens, index_t width, R* to) {
  for_each_block<R>(width, [&]<int V>(index_t p, std::integral_constant<int, V>) STRUCTMAT_ALWAYS {
    const Rows<R> state{m.state.at + p, m.state.width}, others{m.tokens.at + p, m.tokens.width};
    for (index_t first = 0; first < tokens; first += tile_rows) {
      Sums<R, V> sums = {};
      add_products<R, V>(sums, m.of_state, first, state, 0, m.depth);
      for (int r = 0; r < tile_rows; ++r) {
        for (int i = 0; i < V; ++i) sums[r][i] *= m.scale[first + r];
      }
      if (m.with != nullptr) {
        for (int r = 0; r < tile_rows; ++r) {
          const R* const with = m.with + (first + r) * width + p;
          Vec<R> dot = {};
          for (int i = 0; i < V; ++i) dot += simd::load<Vec<R>>(with + i * lanes<R>) * sums[r][i];
          m.dots[first + r] += simd::sum<R, lanes<R>>(dot);
        }
      }
      if (Lower) add_products<R, V>(sums, m.of_tokens, first, others, 0, first);
      add_diagonal<Lower, R, V>(sums, m.of_tokens, first, others, tokens);
      if (!Lower) {
        add_products<R, V>(sums, m.of_tokens, first, others, first + tile_rows, tokens);
      }
      store_rows<R, V>(sums, to + first * width + p, width);
    }
  });
}

/// s := scale s + a^T diag(weights) b, s: (states, channels); a, b: rows of tokens.
template <class R>
STRUCTMAT_INLINE void advance_state(R scale, const R* a, const R* weights, const R* b,
                                    const SsdRows<R>& rows, R* weighted, R* s) {
  for (index_t t = 0; t < rows.tokens; ++t) {
    for (index_t p = 0; p < rows.channels; p += lanes<R>) {
      const index_t at = t * rows.channels + p;
      simd::store(weighted + at, weights[t] * simd::load<Vec<R>>(b + at));
    }
  }
  for_each_block<R>(
      rows.channels, [&]<int V>(index_t p, std::integral_constant<int, V>) STRUCTMAT_ALWAYS {
        for (index_t n = 0; n < rows.states; n += tile_rows) {
          R* const to = s + n * rows.channels + p;
          Sums<R, V> sums;
          for (int r = 0; r < tile_rows; ++r) {
            for (int i = 0; i < V; ++i) {
              sums[r][i] = scale * simd::load<Vec<R>>(to + r * rows.channels + i * lanes<R>);
            }
          }
          add_products<R, V>(sums, {a, 1, rows.states}, n, {weighted + p, rows.channels}, 0,
                             rows.tokens);
          store_rows<R, V>(sums, to, rows.channels);
        }
      });
}

/// Half of the exchange of lanes and rows: lane l takes lane l - D of the other row where l & D, or keeps its own.
template <int D, class V, int... I>
STRUCTMAT_INLINE V upper_exchange(const V& a, const V& b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, ((I & D) ? static_cast<int>(sizeof...(I)) + I - D : I)...);
}
template <int D, class V, int... I>
STRUCTMAT_INLINE V lower_exchange(const V& a, const V& b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, ((I & D) ? static_cast<int>(sizeof...(I)) + I : I + D)...);
}
template <class R, int D>
STRUCTMAT_INLINE void exchange(Vec<R> (&v)[lanes<R>]) {
  if constexpr (D > 0) {
    constexpr auto all = std::make_integer_sequence<int, static_cast<int>(lanes<R>)>{};
    for (int i = 0; i < lanes<R>; ++i) {
      if (i & D) continue;
      const Vec<R> a = v[i], b = v[i + D];
      v[i] = upper_exchange<D>(a, b, all);
      v[i + D] = lower_exchange<D>(a, b, all);
    }
    exchange<R, D / 2>(v);
  }
}

/// to(j, i) := from(i, j), i < rows, j < width, a multiple of the lanes. Columns of `to` beyond rows, up to a
/// multiple of the lanes, are zero.
template <class R>
STRUCTMAT_INLINE void transpose(const R* from, index_t rows, index_t width, R* to,
                                index_t to_width) {
  constexpr index_t w = lanes<R>;
  for (index_t i = 0; i < rows; i += w) {
    for (index_t j = 0; j < width; j += w) {
      Vec<R> v[w];
      for (index_t k = 0; k < w; ++k) {
        v[k] = i + k < rows ? simd::load<Vec<R>>(from + (i + k) * width + j) : Vec<R>{};
      }
      exchange<R, static_cast<int>(w / 2)>(v);
      for (index_t k = 0; k < w; ++k) simd::store(to + (j + k) * to_width + i, v[k]);
    }
  }
}

/// Smaller than the smallest normal number is 0: products of numbers below are slow, and carry few digits.
template <class R>
STRUCTMAT_INLINE Vec<R> flushed(const Vec<R>& v) {
  return v < std::numeric_limits<R>::min() ? Vec<R>{} : v;
}

/// L in rows of chunk_tokens, right of the diagonal of no meaning, and decay_0 ... decay_t.
template <class R>
STRUCTMAT_INLINE void multiply_decays(const SsdRows<R>& rows, R* decays, R* from_front) {
  constexpr index_t w = lanes<R>;
  std::fill_n(decays, chunk_tokens, R(0));
  decays[0] = 1;
  R product = 1;
  for (index_t t = 0; t < padded(rows.tokens, tile_rows); ++t) {
    product *= rows.decay[t];
    if (product < std::numeric_limits<R>::min()) product = 0;
    from_front[t] = product;
    if (t == 0) continue;
    R* const row = decays + t * chunk_tokens;
    for (index_t j = 0; j < chunk_tokens; j += w) {
      const Vec<R> above = simd::load<Vec<R>>(row - chunk_tokens + j);
      simd::store(row + j, flushed<R>(rows.decay[t] * above));
    }
    row[t] = 1;
  }
}

template <RealScalar R>
STRUCTMAT_CLONES void apply_chunk(const SsdRows<R>& rows, const typename SsdChunk<R>::Space& space,
                                  R* s, R* y) {
  multiply_decays<R>(rows, space.decays, space.from_front);
  transpose<R>(rows.q, rows.tokens, rows.states, space.q_transposed, chunk_tokens);
  triangle<R>({rows.c, rows.states, 1}, space.q_transposed, rows.states, rows.tokens, space.scores);
  for (index_t t = 0; t < rows.tokens; ++t) {
    for (index_t j = 0; j <= t; j += lanes<R>) {
      const index_t at = t * chunk_tokens + j;
      simd::store(space.scores + at,
                  simd::load<Vec<R>>(space.decays + at) * simd::load<Vec<R>>(space.scores + at));
    }
  }
  mix<true, R>({{rows.c, rows.states, 1},
                {s, rows.channels},
                rows.states,
                space.from_front,
                {space.scores, chunk_tokens, 1},
                {rows.x, rows.channels}},
               rows.tokens, rows.channels, y);
  const index_t last = rows.tokens - 1;
  advance_state<R>(space.from_front[last], rows.q, space.decays + last * chunk_tokens, rows.x, rows,
                   space.weighted, s);
}

template <RealScalar R>
STRUCTMAT_CLONES void advance_chunk(const SsdRows<R>& rows,
                                    const typename SsdChunk<R>::Space& space, R* s) {
  R weight = 1;
  for (index_t t = rows.tokens - 1; t >= 0; --t) {
    space.to_end[t] = weight;
    weight *= rows.decay[t];
    if (weight < std::numeric_limits<R>::min()) weight = 0;
  }
  advance_state<R>(weight, rows.q, space.to_end, rows.x, rows, space.weighted, s);
}

/// Cotangents of log decay_t: the sums over rectangles i >= t > j of `flows`, of what flows from token j to token i,
/// and what flows from the state in front (c_dots), to the last one (q_dots), and through. No differences.
template <class R>
STRUCTMAT_INLINE void sum_rectangles(index_t tokens, const R* flows, const R* c_dots,
                                     const R* q_dots, R through, R* log_bar) {
  constexpr index_t w = lanes<R>;
  using Int = std::conditional_t<sizeof(R) == 4, std::int32_t, std::int64_t>;
  typedef Int Mask __attribute__((vector_size(64)));
  Mask lane;
  for (index_t i = 0; i < w; ++i) lane[i] = static_cast<Int>(i);
  R to_end = 0;
  for (index_t t = 0; t < tokens; ++t) {
    log_bar[t] = to_end;
    to_end += q_dots[t];
  }
  Vec<R> columns[chunk_tokens / w] = {};
  R from_front = 0;
  for (index_t t = tokens - 1; t >= 0; --t) {
    const index_t edge = t / w;
    for (index_t v = 0; v <= edge; ++v) {
      columns[v] += simd::load<Vec<R>>(flows + t * chunk_tokens + v * w);
    }
    Vec<R> sum = lane < static_cast<Int>(t - edge * w) ? columns[edge] : Vec<R>{};
    for (index_t v = 0; v < edge; ++v) sum += columns[v];
    from_front += c_dots[t];
    log_bar[t] += from_front + through + simd::sum<R, w>(sum);
  }
}

template <RealScalar R>
STRUCTMAT_CLONES void reverse_chunk(const SsdRows<R>& rows,
                                    const typename SsdChunk<R>::Space& space, const R* s,
                                    const R* y_bar, R* g, R* x_bar, R* q_bar, R* c_bar,
                                    R* log_bar) {
  const index_t tokens = rows.tokens, states = rows.states, channels = rows.channels;
  multiply_decays<R>(rows, space.decays, space.from_front);
  std::copy_n(space.decays + (tokens - 1) * chunk_tokens, chunk_tokens, space.to_end);
  transpose<R>(rows.q, tokens, states, space.q_transposed, chunk_tokens);
  transpose<R>(rows.x, tokens, channels, space.x_transposed, chunk_tokens);
  transpose<R>(s, states, channels, space.s_transposed, states);
  transpose<R>(g, states, channels, space.g_transposed, states);
  triangle<R>({rows.c, states, 1}, space.q_transposed, states, tokens, space.scores);
  triangle<R>({y_bar, channels, 1}, space.x_transposed, channels, tokens, space.slopes);
  R* const flows = space.decays;
  for (index_t t = 0; t < tokens; ++t) {
    for (index_t j = 0; j <= t; j += lanes<R>) {
      const index_t at = t * chunk_tokens + j;
      const Vec<R> score = simd::load<Vec<R>>(space.scores + at),
                   decay = simd::load<Vec<R>>(space.decays + at),
                   slope = decay * simd::load<Vec<R>>(space.slopes + at);
      simd::store(space.scores + at, decay * score);
      simd::store(space.slopes + at, slope);
      simd::store(flows + at, slope * score);
    }
  }
  mix<false, R>({{rows.q, states, 1},
                 {g, channels},
                 states,
                 space.to_end,
                 {space.scores, 1, chunk_tokens},
                 {y_bar, channels}},
                tokens, channels, x_bar);
  std::fill_n(space.c_dots, chunk_tokens, R(0));
  mix<true, R>({{y_bar, channels, 1},
                {space.s_transposed, states},
                channels,
                space.from_front,
                {space.slopes, chunk_tokens, 1},
                {rows.q, states},
                rows.c,
                space.c_dots},
               tokens, states, c_bar);
  std::fill_n(space.q_dots, chunk_tokens, R(0));
  mix<false, R>({{rows.x, channels, 1},
                 {space.g_transposed, states},
                 channels,
                 space.to_end,
                 {space.slopes, 1, chunk_tokens},
                 {rows.c, states},
                 rows.q,
                 space.q_dots},
                tokens, states, q_bar);
  Vec<R> product = {};
  for (index_t i = 0; i < states * channels; i += lanes<R>) {
    product += simd::load<Vec<R>>(s + i) * simd::load<Vec<R>>(g + i);
  }
  const R whole = space.from_front[tokens - 1];
  sum_rectangles<R>(tokens, flows, space.c_dots, space.q_dots,
                    whole * simd::sum<R, lanes<R>>(product), log_bar);
  advance_state<R>(whole, rows.c, space.from_front, y_bar, rows, space.weighted, g);
}

}  // namespace

template <RealScalar R>
SsdChunk<R>::SsdChunk(index_t channels, index_t states)
    : squares_({3, chunk_tokens, chunk_tokens}, uninitialized),
      q_({states, chunk_tokens}, uninitialized),
      x_({channels, chunk_tokens}, uninitialized),
      s_({channels, states}, uninitialized),
      g_({channels, states}, uninitialized),
      weighted_({chunk_tokens, channels}, uninitialized),
      rows_({4, chunk_tokens}, uninitialized) {}

template <RealScalar R>
typename SsdChunk<R>::Space SsdChunk<R>::space() {
  constexpr index_t square = chunk_tokens * chunk_tokens;
  R *const squares = squares_.data(), *const rows = rows_.data();
  return {squares,
          squares + square,
          squares + 2 * square,
          q_.data(),
          x_.data(),
          s_.data(),
          g_.data(),
          weighted_.data(),
          rows,
          rows + chunk_tokens,
          rows + 2 * chunk_tokens,
          rows + 3 * chunk_tokens};
}

template <RealScalar R>
void SsdChunk<R>::apply(const SsdRows<R>& rows, R* s, R* y) {
  apply_chunk<R>(rows, space(), s, y);
}

template <RealScalar R>
void SsdChunk<R>::advance(const SsdRows<R>& rows, R* s) {
  advance_chunk<R>(rows, space(), s);
}

template <RealScalar R>
void SsdChunk<R>::reverse(const SsdRows<R>& rows, const R* s, const R* y_bar, R* g, R* x_bar,
                          R* q_bar, R* c_bar, R* log_bar) {
  reverse_chunk<R>(rows, space(), s, y_bar, g, x_bar, q_bar, c_bar, log_bar);
}

template class SsdChunk<float>;
template class SsdChunk<double>;

}  // namespace structmat::nn
