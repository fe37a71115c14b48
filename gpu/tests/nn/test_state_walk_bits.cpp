// What states in front of chunks do not depend on, bit for bit: when they are computed, what is computed beside them, and how
// operands lie in memory.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "nn/state_walk.cuh"
#include "structmat/core/array.hpp"
#include "structmat/core/bf16.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using gpu::nn::StateWalk;
using gpu::nn::Tokens;

namespace {

using Cuda = space::cuda;

constexpr int size = 64;

template <class T, int Rank>
Array<T, Rank> random_array(const std::array<index_t, Rank>& extents, double low, double high,
                            unsigned seed) {
  Array<T, Rank> a(extents, uninitialized);
  std::mt19937 gen(seed);
  std::uniform_real_distribution<float> d(static_cast<float>(low), static_cast<float>(high));
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = T(d(gen));
  return a;
}

/// Channels in whole sixteens: rows beyond them are not promised.
constexpr index_t heads = 2, groups = 1, channels = 16, states = 24, columns = 32;

template <class T>
struct Operands {
  Operands(index_t batch, index_t length, index_t sequences)
      : u(random_array<T, 4>({batch, length, heads, channels}, -1, 1, 1)),
        v(random_array<T, 4>({batch, length, groups, states}, -1, 1, 2)),
        dt(random_array<T, 3>({batch, length, heads}, 0, 0.3, 3)),
        a(random_array<float, 1>({heads}, -1, -0.1, 4)),
        initial(random_array<float, 4>({sequences, heads, channels, states}, -1, 1, 5)),
        on_u(to_device(u)),
        on_v(to_device(v)),
        on_dt(to_device(dt)),
        on_a(to_device(a)),
        on_initial(to_device(initial)) {}

  StateWalk<T> walk(bool backward, bool cotangent) const {
    StateWalk<T> w{};
    w.u = on_u, w.v = on_v, w.dt = on_dt, w.a = on_a, w.initial = on_initial;
    w.rule = {false, 0, INFINITY};
    w.backward = backward, w.cotangent = cotangent;
    return w;
  }

  Array<T, 4> u, v;
  Array<T, 3> dt;
  Array<float, 1> a;
  Array<float, 4> initial;
  Array<T, 4, Cuda> on_u, on_v;
  Array<T, 3, Cuda> on_dt;
  Array<float, 1, Cuda> on_a;
  Array<float, 4, Cuda> on_initial;
};

template <class T>
struct Result {
  Array<T, 4> states;
  Array<float, 4> last;
};
template <class T>
bool operator==(const Result<T>& x, const Result<T>& y) {
  const auto same = [](const auto& a, const auto& b) {
    return a.extents() == b.extents() &&
           std::memcmp(a.data(), b.data(),
                       sizeof(*a.data()) * static_cast<std::size_t>(a.size())) == 0;
  };
  return same(x.states, y.states) && same(x.last, y.last);
}

/// Walks in one launch; states and last of each.
template <class T>
std::vector<Result<T>> run(std::vector<StateWalk<T>> walks,
                           const std::vector<index_t>& starts = {}) {
  const index_t batch = walks[0].u.extent(0), length = walks[0].u.extent(1);
  const bool packed = !starts.empty();
  const index_t sequences = packed ? static_cast<index_t>(starts.size()) - 1 : batch;
  Array<index_t, 1> begins({static_cast<index_t>(starts.size())}, uninitialized);
  std::copy(starts.begin(), starts.end(), begins.data());
  const auto on_begins = to_device(begins);
  Array<index_t, 1, Cuda> table({gpu::nn::table_size(sequences, packed)}, uninitialized);
  const Tokens tokens =
      gpu::nn::make_tokens("test", nullptr, batch, length, on_begins.view(), size, table.data());
  const auto count = static_cast<index_t>(walks.size());
  Array<float, 1, Cuda> segments(
      {count * gpu::nn::segment_numbers(tokens, heads, channels, states)}, uninitialized);
  std::vector<Array<T, 4, Cuda>> met;
  std::vector<Array<float, 4, Cuda>> last;
  for (StateWalk<T>& w : walks) {
    met.emplace_back(std::array<index_t, 4>{tokens.slots, heads, channels, columns}, uninitialized);
    last.emplace_back(std::array<index_t, 4>{sequences, heads, channels, states}, uninitialized);
    w.states = met.back().data(), w.last = last.back();
  }
  gpu::nn::walk_states<T>("test", nullptr, tokens, std::span<const StateWalk<T>>(walks),
                          segments.data());
  std::vector<Result<T>> results;
  for (index_t i = 0; i < count; ++i) results.push_back({to_host(met[i]), to_host(last[i])});
  return results;
}

/// Entry of a batch.
template <class V>
V entry(const V& v, index_t i) {
  auto extents = v.extents();
  extents[0] = 1;
  return V(v.data() + i * v.stride(0), extents, v.strides());
}
/// Tokens of a batch of one.
template <class V>
V tokens_of(const V& v, index_t first, index_t count) {
  auto extents = v.extents();
  extents[1] = count;
  return V(v.data() + first * v.stride(1), extents, v.strides());
}
/// Rows of the first dimension.
template <class T>
Array<T, 4> rows(const Array<T, 4>& from, index_t first, index_t count) {
  auto extents = from.extents();
  extents[0] = count;
  Array<T, 4> part(extents, uninitialized);
  const index_t each = from.extent(1) * from.extent(2) * from.extent(3);
  std::copy_n(from.data() + first * each, count * each, part.data());
  return part;
}

/// Longer than a segment.
constexpr index_t long_length = size * gpu::nn::segment_chunks + 70;

}  // namespace

TEMPLATE_TEST_CASE("walks repeat, alone and beside others", "[nn_state_walk_bits]", float, bf16) {
  using T = TestType;
  for (const index_t length : {index_t{100}, long_length}) {
    const index_t batch = length == long_length ? 1 : 2;
    const Operands<T> o(batch, length, batch);
    std::vector<StateWalk<T>> walks;
    for (int flags = 0; flags < 4; ++flags) {
      if (test::quick() && length == long_length && flags % 3 != 0) continue;
      walks.push_back(o.walk(flags & 1, flags & 2));
    }
    const auto together = run(walks);
    const int times = length == long_length ? 1 : test::quick() ? 2 : 30;
    bool same = true;
    for (int i = 0; i < times; ++i) same &= run(walks) == together;
    CHECK(same);
    for (std::size_t i = 0; i < walks.size(); ++i) {
      INFO("walk " << i);
      CHECK(run<T>({walks[i]})[0] == together[i]);
      if (batch == 1) continue;
      StateWalk<T> alone = walks[i];
      alone.u = entry(alone.u, 1), alone.v = entry(alone.v, 1), alone.dt = entry(alone.dt, 1);
      alone.initial = entry(alone.initial, 1);
      const index_t chunks = gpu::nn::chunks_of(length, size);
      const Result<T> expected{rows(together[i].states, chunks, chunks),
                               rows(together[i].last, 1, 1)};
      CHECK(run<T>({alone})[0] == expected);
    }
  }
}

TEMPLATE_TEST_CASE("walks of packed sequences are those of each", "[nn_state_walk_bits]", float,
                   bf16) {
  using T = TestType;
  const std::vector<index_t> starts{0, 0, 70, 71, 71, 199, 199 + long_length};
  const auto sequences = static_cast<index_t>(starts.size()) - 1;
  const Operands<T> o(1, starts.back(), sequences);
  std::vector<StateWalk<T>> walks{o.walk(false, false), o.walk(true, true)};
  walks[1].shifted = true;
  const auto packed = run(walks, starts);
  for (std::size_t i = 0; i < walks.size(); ++i) {
    index_t slot = 0;
    for (index_t s = 0; s < sequences; ++s) {
      INFO("walk " << i << ", sequence " << s);
      const index_t first = starts[s], length = starts[s + 1] - first;
      if (length == 0) {
        CHECK(std::memcmp(&packed[i].last(s, 0, 0, 0), &o.initial(s, 0, 0, 0),
                          sizeof(float) * heads * channels * states) == 0);
        continue;
      }
      StateWalk<T> alone = walks[i];
      alone.u = tokens_of(alone.u, first, length), alone.v = tokens_of(alone.v, first, length);
      alone.dt = tokens_of(alone.dt, first, length), alone.initial = entry(alone.initial, s);
      const index_t chunks = gpu::nn::chunks_of(length, size);
      const Result<T> expected{rows(packed[i].states, slot, chunks), rows(packed[i].last, s, 1)};
      CHECK(run<T>({alone})[0] == expected);
      slot += chunks;
    }
  }
}

TEMPLATE_TEST_CASE("walks over operands wherever they lie", "[nn_state_walk_bits]", float, bf16) {
  using T = TestType;
  constexpr index_t batch = 2, length = 90;
  const Operands<T> o(batch, length, batch);
  // One projection's rows, from an odd place on; channels in the opposite order.
  constexpr index_t wide = heads * channels, narrow = groups * states;
  constexpr index_t row = 1 + wide + narrow + heads;
  Array<T, 3> projection({batch, length, row});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t t = 0; t < length; ++t) {
      T* at = &projection(b, t, 1);
      for (index_t h = 0; h < heads; ++h) {
        for (index_t p = channels; p-- > 0;) *at++ = o.u(b, t, h, p);
      }
      at = std::copy_n(&o.v(b, t, 0, 0), narrow, at);
      std::copy_n(&o.dt(b, t, 0), heads, at);
    }
  }
  const auto on = to_device(projection);
  const T* const first = on.data() + 1;
  for (int flags = 0; flags < 4; ++flags) {
    INFO("flags " << flags);
    const StateWalk<T> plain = o.walk(flags & 1, flags & 2);
    StateWalk<T> sliced = plain;
    const View<const T, 4, Cuda> u(first + channels - 1, {batch, length, heads, channels},
                                   {length * row, row, channels, -1}),
        v(first + wide, {batch, length, groups, states}, {length * row, row, states, 1});
    sliced.u = u, sliced.v = v;
    sliced.dt = View<const T, 3, Cuda>(first + wide + narrow, {batch, length, heads},
                                       {length * row, row, 1});
    CHECK(run<T>({sliced})[0] == run<T>({plain})[0]);
  }
}

TEMPLATE_TEST_CASE(
    "what a walk ends with may be added to, or take the place of what it starts from",
    "[nn_state_walk_bits]", float, bf16) {
  using T = TestType;
  for (const index_t length : {index_t{100}, long_length}) {
    INFO(length << " tokens");
    const Operands<T> o(1, length, 1);
    const auto expected = run<T>({o.walk(false, false)})[0].last;
    const auto ends_in = [&](const Array<float, 4>& held, bool in_place) {
      auto last = to_device(held);
      StateWalk<T> w = o.walk(false, false);
      w.last = last, w.accumulate = !in_place;
      if (in_place) w.initial = w.last;
      const Tokens tokens = gpu::nn::make_tokens("test", nullptr, 1, length, {}, size, nullptr);
      Array<float, 1, Cuda> segments({gpu::nn::segment_numbers(tokens, heads, channels, states)},
                                     uninitialized);
      gpu::nn::walk_states<T>("test", nullptr, tokens, std::span<const StateWalk<T>>(&w, 1),
                              segments.data());
      return to_host(last);
    };
    const auto in_place = ends_in(o.initial, true);
    const auto added = ends_in(o.initial, false);
    bool same = true;
    for (index_t i = 0; i < expected.size(); ++i) {
      same &= in_place.data()[i] == expected.data()[i];
      same &= added.data()[i] == o.initial.data()[i] + expected.data()[i];
    }
    CHECK(same);
  }
}
