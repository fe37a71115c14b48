#include "core/threads.hpp"
#include "nn/quasiseparable_mixer_operands.hpp"
#include "nn/ssd_collect.hpp"
#include "nn/ssd_head_reverse.hpp"

namespace structmat::nn {
namespace {

constexpr auto operation = "nn::quasiseparable_mixer::apply_vjp";

/// What a head adds, in the order of the tokens.
template <RealScalar R>
struct Shares {
  Shares(index_t length, index_t channels, index_t states)
      : x({length, channels}), delta({length}), d(channels) {
    for (auto& way : direction) {
      way = {Array<R, 1>({length}), Array<R, 2>({length, states}), Array<R, 2>({length, states})};
    }
  }

  struct Direction {
    Array<R, 1> dt;
    Array<R, 2> b, c;
  };
  Array<R, 2> x;
  Direction direction[2];
  Array<R, 1> delta;
  std::vector<double> d;
  double a = 0, dt_bias = 0;
};

template <Storage T>
Shares<compute_t<T>> pull_back(const MixerTask<T>& task, const View<const T, 2>& y_bar,
                               const QuasiseparableMixerCotangent<T>& bar) {
  using R = compute_t<T>;
  const View<const T, 2> x = task.direction[0].head.x;
  Shares<R> shares(task.length, x.extent(1), task.direction[0].head.b.extent(1));
  for (int i = 0; i < 2; ++i) {
    auto& way = shares.direction[i];
    HeadCotangent<R> head_bar{task.read(i, shares.x.view()), task.read(i, way.dt.view()),
                              task.read(i, way.b.view()), task.read(i, way.c.view())};
    const View<const T, 2> from = task.written(i, y_bar);
    const Array<R, 2> initial_bar =
        HeadReverse<T>(task.head(i), task.direction[i].initial_state)
            .run({}, head_bar,
                 [&](index_t first, const SsdRows<R>& r, const HeadRows<T>&, const R*,
                     Array<R, 2>& out) {
                   load_rows(from, first, r.tokens, r.channels, out.data());
                 });
    shares.a += head_bar.a, shares.dt_bias += head_bar.dt_bias;
    const auto& of_initial = (i == 0 ? bar.forward : bar.backward).initial_state;
    if (of_initial.data()) {
      add_state(initial_bar,
                of_initial.select(0, task.direction[0].sequence).select(0, task.direction[0].h));
    }
  }
  for (index_t t = 0; t < task.length; ++t) {
    for (index_t p = 0; p < x.extent(1); ++p) {
      const R y = static_cast<R>(y_bar(t, p)), product = y * static_cast<R>(x(t, p));
      shares.x(t, p) += task.diagonal(t, p) * y;
      shares.delta(t) += product;
      shares.d[p] += static_cast<double>(product);
    }
  }
  return shares;
}

template <Storage T>
class Collector {
 public:
  using R = compute_t<T>;

  explicit Collector(const QuasiseparableMixerCotangent<T>& bar)
      : bar_(bar),
        sums_{GroupSum<T, R>(bar.forward.b), GroupSum<T, R>(bar.forward.c),
              GroupSum<T, R>(bar.backward.b), GroupSum<T, R>(bar.backward.c)} {}

  void add_head(const MixerTask<T>& task, const Shares<R>& s) {
    const SsdTask<T>& head = task.direction[0];
    add_rows(head, head.h, s.x, bar_.x);
    for (int i = 0; i < 2; ++i) {
      add_steps(head, s.direction[i].dt, (i == 0 ? bar_.forward : bar_.backward).dt);
      sums_[2 * i].add(place_of(head), s.direction[i].b);
      sums_[2 * i + 1].add(place_of(head), s.direction[i].c);
    }
    add_steps(head, s.delta, bar_.delta);
    add_parameter(head.h, s.a, bar_.a);
    add_parameter(head.h, s.dt_bias, bar_.dt_bias);
    add_channels(head.h, s.d, bar_.d);
  }

 private:
  QuasiseparableMixerCotangent<T> bar_;
  GroupSum<T, R> sums_[4];
};

/// Checks `bar` and broadcasts its batches.
template <Storage T>
bool check_cotangents(const MixerOperands<T>& o, QuasiseparableMixerCotangent<T>& bar) {
  const SsdShape& s = o.shape[0];
  CotangentCheck check(operation, [&](const auto& result, const char* name) {
    o.require_apart(operation, result, name);
  });
  check("the cotangent of x", bar.x, o.x.extents(), s.batch);
  for (int i = 0; i < 2; ++i) {
    auto& way = i == 0 ? bar.forward : bar.backward;
    const SsdView<T>& m = o.ssd[i];
    check("the cotangent of dt", way.dt, m.dt.extents(), s.batch);
    check("the cotangent of B", way.b, m.b.extents(), s.batch);
    check("the cotangent of C", way.c, m.c.extents(), s.batch);
    check("the cotangent of initial_state", way.initial_state,
          std::array<index_t, 4>{s.sequences, s.heads, s.channels, s.states}, s.sequences);
  }
  check("the cotangent of delta", bar.delta, o.ssd[0].dt.extents(), s.batch);
  check("the cotangent of a", bar.a, std::array<index_t, 1>{s.heads}, s.heads);
  check("the cotangent of dt_bias", bar.dt_bias, std::array<index_t, 1>{s.heads}, s.heads);
  check("the cotangent of D", bar.d, std::array<index_t, 2>{s.heads, s.channels}, s.heads);
  return check.shared();
}

}  // namespace

template <Storage T>
void apply_vjp(const exec::cpu& e, const QuasiseparableMixerView<T>& m, View<const T, 4> x,
               View<const T, 4> y_bar, const QuasiseparableMixerCotangent<T>& cotangent) {
  const MixerOperands<T> o(operation, m, x);
  detail::require_extents(operation, "y_bar", y_bar, x.extents());
  QuasiseparableMixerCotangent<T> bar = cotangent;
  const bool shared = check_cotangents(o, bar);
  if (!bar.accumulate) {
    clear_cotangents(operation, y_bar, bar.x, bar.forward.dt, bar.forward.b, bar.forward.c,
                     bar.forward.initial_state, bar.backward.dt, bar.backward.b, bar.backward.c,
                     bar.backward.initial_state, bar.a, bar.delta, bar.d, bar.dt_bias);
  }
  const int team = shared ? 1 : team_for(e.threads, 32 * x.size() * o.shape[0].states);
  Collector<T> collector(bar);
  in_waves<Shares<compute_t<T>>>(
      team, o.tasks(),
      [&](index_t at) {
        const MixerTask<T> task(o, at);
        return pull_back<T>(task, task.direction[0].part(y_bar), bar);
      },
      [&](index_t at, const Shares<compute_t<T>>& s) {
        collector.add_head(MixerTask<T>(o, at), s);
      });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT void apply_vjp<T>(const exec::cpu&, const QuasiseparableMixerView<T>&, \
                                              View<const T, 4>, View<const T, 4>,                  \
                                              const QuasiseparableMixerCotangent<T>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
