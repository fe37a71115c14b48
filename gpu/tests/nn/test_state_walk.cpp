// States in front of chunks against the recurrence by its definition, in double.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "nn/state_walk.cuh"
#include "structmat/core/array.hpp"
#include "structmat/core/bf16.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using gpu::nn::StateWalk;
using gpu::nn::Tokens;

namespace {

template <class T, int Rank>
Array<T, Rank> random_array(const std::array<index_t, Rank>& extents, double low, double high,
                            std::mt19937& gen) {
  Array<T, Rank> a(extents, uninitialized);
  std::uniform_real_distribution<float> d(static_cast<float>(low), static_cast<float>(high));
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = T(d(gen));
  return a;
}

struct Case {
  index_t batch, length, heads, groups, channels, states;
  bool backward = false, cotangent = false, shifted = false;
  std::vector<index_t> starts{};
};

constexpr int size = 64;

/// The worst error over the worst of the numbers, states and last.
template <class T>
double worst_error(const Case& c, double step) {
  std::mt19937 gen(7);
  const auto u = random_array<T, 4>({c.batch, c.length, c.heads, c.channels}, -1, 1, gen);
  const auto v = random_array<T, 4>({c.batch, c.length, c.groups, c.states}, -1, 1, gen);
  const auto dt = random_array<T, 3>({c.batch, c.length, c.heads}, 0, step, gen);
  const auto a = random_array<float, 1>({c.heads}, -1, -0.1, gen);
  const index_t sequences = c.starts.empty() ? c.batch : static_cast<index_t>(c.starts.size()) - 1;
  const std::array<index_t, 4> of_states{sequences, c.heads, c.channels, c.states};
  const auto initial = random_array<float, 4>(of_states, -1, 1, gen);
  Array<index_t, 1> starts({static_cast<index_t>(c.starts.size())}, uninitialized);
  for (std::size_t i = 0; i < c.starts.size(); ++i) starts(static_cast<index_t>(i)) = c.starts[i];

  const auto du = to_device(u), dv = to_device(v);
  const auto ddt = to_device(dt);
  const auto da = to_device(a);
  const auto dinitial = to_device(initial);
  const auto dstarts = to_device(starts);
  Array<index_t, 1, space::cuda> table({gpu::nn::table_size(sequences, !c.starts.empty())},
                                       uninitialized);
  const Tokens tokens =
      gpu::nn::make_tokens("test", nullptr, c.batch, c.length, dstarts.view(), size, table.data());
  const index_t rows = gpu::nn::padded_extent(c.channels),
                columns = gpu::nn::padded_extent(c.states);
  Array<T, 4, space::cuda> states({tokens.slots, c.heads, rows, columns}, uninitialized);
  Array<float, 4, space::cuda> last(of_states, uninitialized);
  Array<float, 1, space::cuda> segments(
      {gpu::nn::segment_numbers(tokens, c.heads, c.channels, c.states)}, uninitialized);
  StateWalk<T> walk{};
  walk.u = du.view(), walk.v = dv.view(), walk.dt = ddt.view(), walk.a = da.view();
  walk.rule = {false, 0, INFINITY};
  walk.backward = c.backward, walk.cotangent = c.cotangent, walk.shifted = c.shifted;
  walk.initial = dinitial.view(), walk.last = last.view(), walk.states = states.data();
  gpu::nn::walk_states<T>("test", nullptr, tokens, std::span(&walk, 1), segments.data());
  const auto seen = to_host(states);
  const auto seen_last = to_host(last);

  double worst = 0, scale = 0;
  index_t slot = 0;
  for (index_t s = 0; s < sequences; ++s) {
    const index_t entry = c.starts.empty() ? s : 0, begin = c.starts.empty() ? 0 : c.starts[s],
                  length = c.starts.empty() ? c.length : c.starts[s + 1] - begin;
    const index_t chunks = (length + size - 1) / size;
    for (index_t h = 0; h < c.heads; ++h) {
      const index_t group = h / (c.heads / c.groups);
      std::vector<double> state(c.channels * c.states);
      for (index_t i = 0; i < c.channels * c.states; ++i)
        state[i] = initial(s, h, i / c.states, i % c.states);
      const auto compare = [&](index_t chunk) {
        for (index_t p = 0; p < rows; ++p) {
          for (index_t n = 0; n < columns; ++n) {
            if (p >= c.channels && n < c.states) continue;  // not promised
            const double expected = p < c.channels && n < c.states ? state[p * c.states + n] : 0;
            if (p < c.channels || n >= c.states) {
              const double got = static_cast<float>(seen(slot + chunk, h, p, n));
              worst = std::max(worst, std::abs(got - expected));
              if (std::isnan(got)) worst = INFINITY;
            }
            scale = std::max(scale, std::abs(expected));
          }
        }
      };
      const bool ascending = c.backward == c.cotangent;
      // Place in the order of the walk.
      for (index_t k = 0; k < length; ++k) {
        const index_t t = ascending ? k : length - 1 - k;
        const bool chunk_starts =
            ascending ? t % size == 0 : t == length - 1 || t % size == size - 1;
        if (chunk_starts) compare(t / size);
        const double delta = static_cast<float>(dt(entry, begin + t, h)),
                     decay = std::exp(delta * a(h));
        const index_t next = c.backward ? t - 1 : t + 1;
        const index_t from = c.shifted ? next : t;
        const bool there = from >= 0 && from < length;
        for (index_t p = 0; p < c.channels; ++p) {
          for (index_t n = 0; n < c.states; ++n) {
            const double add = there ? double(static_cast<float>(u(entry, begin + from, h, p))) *
                                           static_cast<float>(v(entry, begin + t, group, n))
                                     : 0;
            double& x = state[p * c.states + n];
            // Cotangents: of the state behind the token first gets its share, then goes through its decay.
            x = c.cotangent ? decay * (x + add) : decay * x + delta * add;
          }
        }
      }
      for (index_t i = 0; i < c.channels * c.states; ++i) {
        worst = std::max(worst, std::abs(seen_last(s, h, i / c.states, i % c.states) - state[i]));
        scale = std::max(scale, std::abs(state[i]));
      }
    }
    slot += chunks;
  }
  return scale == 0 ? worst : worst / scale;
}

}  // namespace

TEMPLATE_TEST_CASE("states in front of chunks", "[nn_state_walk]", float, bf16) {
  // bf16: weighted operands and stored states are rounded to 2^-9 each. float: some ten eps, of decays and of parts of tf32.
  const double limit = sizeof(TestType) == 2 ? 0.012 : 3e-6;
  for (const Case& shape :
       {Case{1, 1, 1, 1, 1, 1}, Case{2, 65, 2, 1, 3, 5}, Case{1, 130, 2, 2, 64, 16},
        Case{1, 200, 2, 1, 80, 130}, Case{1, 63, 4, 2, 16, 64}, Case{2, 4200, 1, 1, 5, 8}}) {
    for (int flags = 0; flags < 8; ++flags) {
      Case c = shape;
      c.backward = flags & 1, c.cotangent = flags & 2, c.shifted = flags & 4;
      INFO(c.length << " tokens, P " << c.channels << ", N " << c.states << ", flags " << flags);
      if (c.shifted && !c.cotangent) continue;
      CHECK(worst_error<TestType>(c, 0.2) < limit);
      CHECK(worst_error<TestType>(c, 50) < limit);
      // No steps at all, and such that nothing lasts.
      if (c.length != 65) continue;
      CHECK(worst_error<TestType>(c, 0) < limit);
      CHECK(worst_error<TestType>(c, 1e9) < limit);
    }
  }
}

TEMPLATE_TEST_CASE("packed sequences, empty ones among them", "[nn_state_walk]", float, bf16) {
  const double limit = sizeof(TestType) == 2 ? 0.012 : 3e-6;
  for (int flags = 0; flags < 8; ++flags) {
    Case c{1, 5000, 2, 1, 4, 6};
    c.starts = {0, 0, 70, 70, 4300, 4364, 5000, 5000};
    c.backward = flags & 1, c.cotangent = flags & 2, c.shifted = flags & 4;
    if (c.shifted && !c.cotangent) continue;
    INFO("flags " << flags);
    CHECK(worst_error<TestType>(c, 0.2) < limit);
  }
}
