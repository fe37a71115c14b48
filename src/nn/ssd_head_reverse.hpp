/// \file
/// Reverse mode of one head over one sequence.
#pragma once

#include "nn/ssd_head.hpp"

namespace structmat::nn {

/// Where the cotangents of a head go, in the order of its walk. Rows are contiguous; dt, b and c are set, the others are
/// added to.
template <RealScalar R>
struct HeadCotangent {
  View<R, 2> x;     ///< (tokens, channels)
  View<R, 1> dt;    ///< (tokens), of the raw steps
  View<R, 2> b, c;  ///< (tokens, states)
  double a = 0, dt_bias = 0;
};

/// Walks a head forward, keeping the states in front of chunks, and back.
template <Storage T>
class HeadReverse {
 public:
  using R = compute_t<T>;

  HeadReverse(const Head<T>& head, View<const R, 2> initial_state)
      : head_(head),
        rows_(head),
        front_({head.chunks(), head.states(), head.channels()}, uninitialized),
        y_rows_({chunk_tokens, head.channels()}),
        x_rows_({chunk_tokens, head.channels()}),
        q_rows_({chunk_tokens, head.states()}),
        c_rows_({chunk_tokens, head.states()}),
        log_rows_({chunk_tokens}),
        work_(head.channels(), head.states()) {
    Array<R, 2> state = load_state(head_, initial_state);
    for (index_t chunk = 0; chunk < head_.chunks(); ++chunk) {
      std::copy_n(state.data(), state.size(), front_.data() + chunk * state.size());
      work_.advance(rows_.load_sources(chunk), state.data());
    }
  }

  /// load(first token, rows, HeadRows, the state in front, rows out) fills in the cotangents of y. Returns that
  /// of the initial state, padded.
  template <class Load>
  Array<R, 2> run(View<const R, 2> final_state_bar, HeadCotangent<R>& bar, const Load& load) {
    Array<R, 2> g = load_state(head_, final_state_bar);
    for (index_t chunk = head_.chunks() - 1; chunk >= 0; --chunk) {
      const SsdRows<R> r = rows_.load(chunk);
      const R* const front = front_.data() + chunk * g.size();
      load(chunk * chunk_tokens, r, rows_, front, y_rows_);
      work_.reverse(r, front, y_rows_.data(), g.data(), x_rows_.data(), q_rows_.data(),
                    c_rows_.data(), log_rows_.data());
      for (index_t t = 0; t < r.tokens; ++t) add_token(chunk * chunk_tokens + t, t, bar);
    }
    return g;
  }

 private:
  void add_token(index_t at, index_t t, HeadCotangent<R>& bar) {
    const R delta = rows_.delta(t);
    const index_t states = q_rows_.extent(1);
    const R *const q = q_rows_.data() + t * states, *const c = c_rows_.data() + t * states,
                   *const x = x_rows_.data() + t * x_rows_.extent(1);
    R *const b_bar = &bar.b(at, 0), *const c_bar = &bar.c(at, 0), *const x_bar = &bar.x(at, 0);
    R delta_bar = dot(q, rows_.b(t), states);
    for (index_t n = 0; n < bar.b.extent(1); ++n) b_bar[n] = delta * q[n];
    std::copy_n(c, bar.c.extent(1), c_bar);
    for (index_t p = 0; p < bar.x.extent(1); ++p) x_bar[p] += x[p];
    const R log_bar = log_rows_(t);  // of the exponent Delta a
    delta_bar += head_.a * log_bar;
    const R raw_bar = delta_bar * head_.step.slope(static_cast<R>(head_.dt(at)));
    bar.dt(at) = raw_bar;
    bar.a += static_cast<double>(delta) * static_cast<double>(log_bar);
    bar.dt_bias += static_cast<double>(raw_bar);
  }

  Head<T> head_;
  HeadRows<T> rows_;
  Array<R, 3> front_;
  Array<R, 2> y_rows_, x_rows_, q_rows_, c_rows_;
  Array<R, 1> log_rows_;
  SsdChunk<R> work_;
};

}  // namespace structmat::nn
