#include "core/threads.hpp"
#include "nn/ssd_collect.hpp"
#include "nn/ssd_cotangents.hpp"
#include "nn/ssd_head_reverse.hpp"
#include "nn/ssd_operands.hpp"
#include "nn/ssd_task.hpp"
#include "structmat/nn/ssd.hpp"

namespace structmat::nn {
namespace {

constexpr auto operation = "nn::ssd::apply_vjp";

/// What a head adds to numbers that others add to as well, or that are rounded when they are whole.
template <RealScalar R>
struct Shares {
  Array<R, 2> x;     // (tokens, channels)
  Array<R, 1> dt;    // (tokens)
  Array<R, 2> b, c;  // (tokens, states)
  double a = 0, dt_bias = 0;
  std::vector<double> d{};  // channels
};

template <Storage T>
Shares<compute_t<T>> pull_back(const SsdTask<T>& task, const View<const T, 2>& y_bar,
                               const View<const compute_t<T>, 2>& final_state_bar,
                               const SsdCotangent<T>& bar) {
  using R = compute_t<T>;
  const index_t length = task.head.length(), channels = y_bar.extent(1),
                states = task.head.b.extent(1);
  Shares<R> shares{Array<R, 2>({length, channels}), Array<R, 1>({length}),
                   Array<R, 2>({length, states}), Array<R, 2>({length, states})};
  shares.d.resize(channels);
  HeadCotangent<R> head_bar{shares.x, shares.dt, shares.b, shares.c};

  const bool gated = task.z.data() != nullptr, of_gate = gated && bar.z.data() != nullptr;
  const View<T, 2> z_bar = of_gate ? task.part(bar.z) : View<T, 2>();
  const auto load = [&](index_t first, const SsdRows<R>& r, const HeadRows<T>& rows, const R* front,
                        Array<R, 2>& out) {
    load_rows(y_bar, first, r.tokens, r.channels, out.data());
    Array<R, 2> sum;
    if (of_gate) {
      // What the gate multiplied.
      Array<R, 2> state({r.states, r.channels}, uninitialized);
      std::copy_n(front, state.size(), state.data());
      sum = Array<R, 2>({r.tokens, r.channels});
      sweep(r, state.data(), sum.data());
    }
    for (index_t t = 0; t < r.tokens; ++t) {
      for (index_t p = 0; p < channels; ++p) {
        R& y = out(t, p);
        if (gated) {
          const R z = static_cast<R>(task.z(first + t, p));
          if (of_gate) {
            const R product = sum(t, p) + task.d(p) * rows.x(t, p);
            add(z_bar(first + t, p), y * product * silu_slope(z));
          }
          y *= silu(z);
        }
        shares.x(first + t, p) += task.d(p) * y;
        shares.d[p] += static_cast<double>(y) * static_cast<double>(rows.x(t, p));
      }
    }
  };
  const Array<R, 2> initial_bar =
      HeadReverse<T>(task.head, task.initial_state).run(final_state_bar, head_bar, load);
  shares.a = head_bar.a, shares.dt_bias = head_bar.dt_bias;
  if (bar.initial_state.data()) {
    add_state(initial_bar, bar.initial_state.select(0, task.sequence).select(0, task.h));
  }
  return shares;
}

/// Adds the shares of heads one after the other, whoever computed them.
template <Storage T>
class Collector {
 public:
  using R = compute_t<T>;

  explicit Collector(const SsdCotangent<T>& bar) : bar_(bar), b_(bar.b), c_(bar.c) {}

  void add_head(const SsdTask<T>& task, const Shares<R>& s) {
    add_rows(task, task.h, s.x, bar_.x);
    add_steps(task, s.dt, bar_.dt);
    b_.add(place_of(task), s.b);
    c_.add(place_of(task), s.c);
    add_parameter(task.h, s.a, bar_.a);
    add_parameter(task.h, s.dt_bias, bar_.dt_bias);
    add_channels(task.h, s.d, bar_.d);
  }

 private:
  SsdCotangent<T> bar_;
  GroupSum<T, R> b_, c_;
};

}  // namespace

template <Storage T>
void apply_vjp(const exec::cpu& e, const SsdView<T>& matrix, const SsdInput<T>& input,
               View<const T, 4> y_bar, View<const compute_t<T>, 4> final_state_bar,
               const SsdCotangent<T>& cotangent) {
  using R = compute_t<T>;
  SsdView<T> m = matrix;
  SsdInput<T> in = input;
  SsdCotangent<T> bar = cotangent;
  const SsdShape shape = check_operands(operation, m, in);
  check_starts(operation, m.starts, shape.length);
  detail::require_extents(operation, "y_bar", y_bar, in.x.extents());
  if (final_state_bar.data()) {
    detail::require_extents(
        operation, "final_state_bar", final_state_bar,
        std::array<index_t, 4>{shape.sequences, shape.heads, shape.channels, shape.states});
  }
  const bool shared = check_cotangents(operation, m, in, shape, bar);
  const index_t tasks = shape.sequences * shape.heads;
  const KeptStates<R, 4> last_bar(final_state_bar, bar.initial_state, !bar.accumulate);
  if (!bar.accumulate) {
    clear_cotangents(operation, y_bar, bar.x, bar.z, bar.dt, bar.a, bar.b, bar.c, bar.d,
                     bar.dt_bias, bar.initial_state);
  }
  const int team = shared ? 1
                          : team_for(e.threads, 16 * shape.batch * shape.length * shape.heads *
                                                    shape.channels * shape.states);
  Collector<T> collector(bar);
  in_waves<Shares<R>>(
      team, tasks,
      [&](index_t at) {
        const SsdTask<T> task(m, in, shape, at);
        const View<const R, 2> last = last_bar.view.data()
                                          ? last_bar.view.select(0, task.sequence).select(0, task.h)
                                          : View<const R, 2>();
        return pull_back<T>(task, task.part(y_bar), last, bar);
      },
      [&](index_t at, const Shares<R>& s) { collector.add_head(SsdTask<T>(m, in, shape, at), s); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                 \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                   \
      const exec::cpu&, const SsdView<T>&, const SsdInput<T>&, View<const T, 4>, \
      View<const compute_t<T>, 4>, const SsdCotangent<T>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
