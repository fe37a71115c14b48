/// \file
/// SSD of one head over one sequence, chunk by chunk in padded rows. Views are in the order in which the
/// recurrence walks: the other direction is a reversed view, a shifted result a sliced one.
#pragma once

#include <algorithm>
#include <cmath>

#include "nn/ssd_chunk.hpp"
#include "nn/step_rule.hpp"
#include "structmat/core/array.hpp"
#include "structmat/nn/storage.hpp"

namespace structmat::nn {

template <Storage T>
struct Head {
  using R = compute_t<T>;
  View<const T, 2> x;     // (L, P)
  View<const T, 1> dt;    // (L)
  View<const T, 2> b, c;  // (L, N)
  R a;
  StepRule<R> step;

  /// Tokens [begin, end).
  Head part(index_t begin, index_t end) const {
    Head h = *this;
    h.x = x.slice(0, begin, end), h.dt = dt.slice(0, begin, end);
    h.b = b.slice(0, begin, end), h.c = c.slice(0, begin, end);
    return h;
  }
  /// In the opposite order.
  Head reversed() const {
    Head h = *this;
    h.x = x.reversed(0), h.dt = dt.reversed(0), h.b = b.reversed(0), h.c = c.reversed(0);
    return h;
  }

  index_t length() const { return x.extent(0); }
  index_t channels() const { return padded(x.extent(1), lanes<R>); }
  index_t states() const { return padded(b.extent(1), lanes<R>); }
  index_t chunks() const { return (length() + chunk_tokens - 1) / chunk_tokens; }
};

/// Columns of `from` beyond its own are zero, and so are rows up to a multiple of tile_rows.
template <class T, RealScalar R>
void load_rows(const View<const T, 2>& from, index_t first, index_t count, index_t width, R* to) {
  for (index_t t = 0; t < count; ++t) {
    const T* const row = from.data() + (first + t) * from.stride(0);
    R* const out = to + t * width;
    const index_t given = from.extent(1);
    if (from.stride(1) != 1) {
      for (index_t i = 0; i < given; ++i) out[i] = static_cast<R>(row[i * from.stride(1)]);
    } else if constexpr (std::same_as<T, R>) {
      std::copy_n(row, given, out);
    } else {
      for (index_t i = 0; i < given; ++i) out[i] = static_cast<R>(row[i]);
    }
    if (given < width) std::fill(out + given, out + width, R(0));
  }
  std::fill(to + count * width, to + padded(count, tile_rows) * width, R(0));
}

/// The rows of a chunk of a head, and all its steps.
template <Storage T>
class HeadRows {
 public:
  using R = compute_t<T>;

  explicit HeadRows(const Head<T>& head)
      : head_(head),
        x_({chunk_tokens, head.channels()}, uninitialized),
        q_({chunk_tokens, head.states()}, uninitialized),
        b_(q_.extents(), uninitialized),
        c_(q_.extents()),
        delta_({padded(head.length(), tile_rows)}),
        decay_(delta_.extents(), uninitialized) {
    for (index_t t = 0; t < head.length(); ++t) delta_(t) = head.step(static_cast<R>(head.dt(t)));
    for (index_t t = 0; t < delta_.size(); ++t) decay_(t) = std::exp(delta_(t) * head.a);
    for (index_t t = head.length(); t < delta_.size(); ++t) decay_(t) = 1;
  }

  SsdRows<R> load(index_t chunk) {
    const SsdRows<R> rows = load_sources(chunk);
    load_rows(head_.c, chunk * chunk_tokens, rows.tokens, rows.states, c_.data());
    return rows;
  }
  /// Without c.
  SsdRows<R> load_sources(index_t chunk) {
    const index_t first = chunk * chunk_tokens, states = head_.states(),
                  count = std::min(chunk_tokens, head_.length() - first);
    first_ = first;
    load_rows(head_.x, first, count, head_.channels(), x_.data());
    load_rows(head_.b, first, count, states, b_.data());
    for (index_t t = 0; t < padded(count, tile_rows); ++t) {
      const R delta = delta_(first + t);
      const R* const b_row = b(t);
      R* const q = q_.data() + t * states;
      for (index_t n = 0; n < states; ++n) q[n] = delta * b_row[n];
    }
    return {count,     head_.channels(),     states, x_.data(), q_.data(),
            c_.data(), decay_.data() + first};
  }

  const R* b(index_t t) const { return b_.data() + t * b_.extent(1); }
  const R* x(index_t t) const { return x_.data() + t * x_.extent(1); }
  R delta(index_t t) const { return delta_(first_ + t); }

 private:
  Head<T> head_;
  Array<R, 2> x_, q_, b_, c_;
  Array<R, 1> delta_, decay_;
  index_t first_ = 0;
};

/// A padded (states, channels) state of a head from (P, N) numbers, or zero, and back.
template <Storage T>
Array<compute_t<T>, 2> load_state(const Head<T>& head, const View<const compute_t<T>, 2>& from) {
  Array<compute_t<T>, 2> s({head.states(), head.channels()});
  if (from.data() == nullptr) return s;
  for (index_t p = 0; p < from.extent(0); ++p) {
    for (index_t n = 0; n < from.extent(1); ++n) s(n, p) = from(p, n);
  }
  return s;
}

/// Adds a padded state, or its cotangent, to (P, N) numbers.
template <RealScalar R>
void add_state(const Array<R, 2>& s, const View<R, 2>& to) {
  for (index_t p = 0; p < to.extent(0); ++p) {
    for (index_t n = 0; n < to.extent(1); ++n) to(p, n) += s(n, p);
  }
}

/// emit(first token, rows, HeadRows, sums) for each chunk, sums: S_t^T c_t of its tokens, for emit to work in.
/// Returns the last state, padded.
template <Storage T, class Emit>
Array<compute_t<T>, 2> walk(const Head<T>& head, View<const compute_t<T>, 2> initial_state,
                            const Emit& emit) {
  using R = compute_t<T>;
  HeadRows<T> rows(head);
  SsdChunk<R> work(head.channels(), head.states());
  Array<R, 2> state = load_state(head, initial_state);
  Array<R, 2> sum({chunk_tokens, head.channels()});
  for (index_t chunk = 0; chunk < head.chunks(); ++chunk) {
    const SsdRows<R> r = rows.load(chunk);
    work.apply(r, state.data(), sum.data());
    emit(chunk * chunk_tokens, r, rows, sum);
  }
  return state;
}

}  // namespace structmat::nn
