#include "structmat/nn/conv1d.hpp"

#include <algorithm>
#include <string>

#include "core/threads.hpp"
#include "nn/activation.hpp"
#include "nn/collect.hpp"
#include "nn/conv1d_operands.hpp"
#include "structmat/core/array.hpp"

namespace structmat::nn {
namespace {

/// Channels of a task.
constexpr index_t width = 64;

/// A call after its checks.
template <Storage T>
struct Convolution : Conv1dOperands<T> {
  using Conv1dOperands<T>::Conv1dOperands;

  index_t blocks() const { return (this->channels + width - 1) / width; }
  index_t tasks() const { return this->sequences * blocks(); }
};

/// Some channels of one sequence.
template <Storage T>
struct Task {
  using R = compute_t<T>;

  Task(const Convolution<T>& c, index_t at)
      : m(c.m),
        sequence(at / c.blocks()),
        first(at % c.blocks() * width),
        count(std::min(width, c.channels - first)),
        taps(c.taps),
        behind(taps - 1 - m.ahead) {
    const bool packed = m.starts.extent(0) > 0;
    entry = packed ? 0 : sequence;
    begin = packed ? m.starts(sequence) : 0;
    length = (packed ? m.starts(sequence + 1) : c.in.x.extent(1)) - begin;
    x = part(c.in.x);
    if (c.in.initial_state.data()) state = c.in.initial_state.select(0, sequence);
  }

  template <class U>
  View<U, 2> part(const View<U, 3>& v) const {
    return v.select(0, entry).slice(0, begin, begin + length).slice(1, first, first + count);
  }

  /// use(channel of the task, its tap j's input) for the token that tap j of token t sees, if there is one.
  template <class Use>
  void with_inputs(index_t t, index_t j, const Use& use) const {
    const index_t s = t - behind + j;
    if (s >= length || (s < 0 && !state.data())) return;
    for (index_t c = 0; c < count; ++c) {
      use(c, s < 0 ? state(first + c, taps - 1 + s) : static_cast<R>(x(s, c)));
    }
  }
  /// What the activation is applied to.
  void sums(index_t t, R* sum) const {
    for (index_t c = 0; c < count; ++c) sum[c] = m.bias.data() ? m.bias(first + c) : R(0);
    for (index_t j = 0; j < taps; ++j) {
      with_inputs(t, j, [&](index_t c, R v) { sum[c] += m.weight(first + c, j) * v; });
    }
  }

  const Conv1dView<T>& m;
  index_t sequence, first, count, taps, behind, entry = 0, begin = 0, length = 0;
  View<const T, 2> x;
  View<const R, 2> state;
};

}  // namespace

template <Storage T>
void apply(const exec::cpu& e, const Conv1dView<T>& m, const Conv1dInput<T>& in,
           const Conv1dOutput<T>& out) {
  using R = compute_t<T>;
  const Convolution<T> c("nn::conv1d::apply", m, in);
  c.require_results(out);
  parallel_for(team_for(e.threads, in.x.size() * c.taps), c.tasks(), [&](index_t at) {
    const Task<T> task(c, at);
    const View<T, 2> y = task.part(out.y);
    R sum[width];
    for (index_t t = 0; t < task.length; ++t) {
      task.sums(t, sum);
      for (index_t i = 0; i < task.count; ++i) {
        y(t, i) = static_cast<T>(m.activation == Activation::silu ? silu(sum[i]) : sum[i]);
      }
    }
    if (!out.final_state.data()) return;
    const View<R, 2> last = out.final_state.select(0, task.sequence);
    for (index_t k = 0; k + 1 < task.taps; ++k) {
      // In place, older inputs move to the front before their places are taken.
      std::fill_n(sum, task.count, R(0));
      task.with_inputs(task.length, k, [&](index_t i, R v) { sum[i] = v; });
      for (index_t i = 0; i < task.count; ++i) last(task.first + i, k) = sum[i];
    }
  });
}

template <Storage T>
void apply_vjp(const exec::cpu& e, const Conv1dView<T>& m, const Conv1dInput<T>& in,
               View<const T, 3> y_bar, View<const compute_t<T>, 3> final_state_bar,
               const Conv1dCotangent<T>& bar) {
  using R = compute_t<T>;
  const Convolution<T> c("nn::conv1d::apply_vjp", m, in);
  c.require_cotangents(y_bar, final_state_bar, bar);
  const KeptStates<R, 3> last_bar(final_state_bar, bar.initial_state, !bar.accumulate);
  if (!bar.accumulate) {
    clear_cotangents(c.operation, y_bar, bar.x, bar.weight, bar.bias, bar.initial_state);
  }

  // Of each task: sums for its channels, the bias behind the taps.
  Array<double, 3> shares({c.tasks(), width, c.taps + 1});
  parallel_for(team_for(e.threads, 4 * in.x.size() * c.taps), c.tasks(), [&](index_t at) {
    const Task<T> task(c, at);
    // Cotangents of the sums, with room for the states around the tokens.
    const index_t room = task.taps - 1;
    Array<R, 2> g({task.length + 2 * room, width}), sums({1, width});
    const View<const T, 2> y = task.part(y_bar);
    for (index_t t = 0; t < task.length; ++t) {
      task.sums(t, sums.data());
      for (index_t i = 0; i < task.count; ++i) {
        const R slope = m.activation == Activation::silu ? silu_slope(sums(0, i)) : R(1);
        g(room + t, i) = static_cast<R>(y(t, i)) * slope;
        shares(at, i, task.taps) += static_cast<double>(g(room + t, i));
      }
      for (index_t j = 0; j < task.taps; ++j) {
        task.with_inputs(t, j, [&](index_t i, R v) {
          shares(at, i, j) += static_cast<double>(g(room + t, i)) * static_cast<double>(v);
        });
      }
    }
    // Of the token s, also in front of the sequence.
    const auto cotangent = [&](index_t s, index_t i) {
      R sum = 0;
      for (index_t j = 0; j < task.taps; ++j) {
        const index_t t = s + task.behind - j;
        if (t >= -room && t < task.length + room) {
          sum += m.weight(task.first + i, j) * g(room + t, i);
        }
      }
      const index_t k = s - task.length + room;
      if (last_bar.view.data() && k >= 0) {
        sum += last_bar.view(task.sequence, task.first + i, k);
      }
      return sum;
    };
    if (bar.x.data()) {
      const View<T, 2> x_bar = task.part(bar.x);
      for (index_t s = 0; s < task.length; ++s) {
        for (index_t i = 0; i < task.count; ++i) {
          x_bar(s, i) = static_cast<T>(static_cast<R>(x_bar(s, i)) + cotangent(s, i));
        }
      }
    }
    if (bar.initial_state.data()) {
      for (index_t k = 0; k < room; ++k) {
        for (index_t i = 0; i < task.count; ++i) {
          bar.initial_state(task.sequence, task.first + i, k) += cotangent(k - room, i);
        }
      }
    }
  });
  for (index_t at = 0; at < c.tasks(); ++at) {
    const Task<T> task(c, at);
    for (index_t i = 0; i < task.count; ++i) {
      for (index_t j = 0; bar.weight.data() && j < task.taps; ++j) {
        bar.weight(task.first + i, j) += static_cast<R>(shares(at, i, j));
      }
      if (bar.bias.data()) bar.bias(task.first + i) += static_cast<R>(shares(at, i, task.taps));
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                          \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const Conv1dView<T>&,         \
                                          const Conv1dInput<T>&, const Conv1dOutput<T>&); \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                            \
      const exec::cpu&, const Conv1dView<T>&, const Conv1dInput<T>&, View<const T, 3>,    \
      View<const compute_t<T>, 3>, const Conv1dCotangent<T>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
