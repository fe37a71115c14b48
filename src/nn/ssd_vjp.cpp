#include "core/threads.hpp"
#include "nn/ssd_head.hpp"
#include "nn/ssd_operands.hpp"
#include "nn/ssd_task.hpp"
#include "structmat/nn/ssd.hpp"

namespace structmat::nn {
namespace {

constexpr auto operation = "nn::ssd::apply_vjp";

/// What a head adds to numbers that others add to as well.
template <RealScalar R>
struct Shares {
  Array<R, 2> b, c;         // (tokens, states)
  double a = 0, dt_bias = 0;
  std::vector<double> d{};  // channels
};

/// to += v, rounded once.
template <Storage T, RealScalar R>
void add(T& to, R v) {
  to = static_cast<T>(static_cast<R>(to) + v);
}

template <Storage T>
class Reverse {
 public:
  using R = compute_t<T>;

  Reverse(const SsdTask<T>& task, View<const T, 2> y_bar, const SsdCotangent<T>& bar)
      : task_(task),
        head_(task.head),
        y_bar_(y_bar),
        bar_(bar),
        rows_(head_),
        front_({head_.chunks(), head_.states(), head_.channels()}, uninitialized),
        y_rows_({chunk_tokens, head_.channels()}),
        x_rows_({chunk_tokens, head_.channels()}),
        q_rows_({chunk_tokens, head_.states()}),
        c_rows_({chunk_tokens, head_.states()}),
        decay_rows_({chunk_tokens}),
        scratch_({reverse_scratch<R>}, uninitialized) {}

  Shares<R> run(View<const R, 2> final_state_bar) {
    const index_t states = head_.b.extent(1);
    Shares<R> shares{Array<R, 2>({head_.length(), states}, uninitialized),
                     Array<R, 2>({head_.length(), states}, uninitialized)};
    shares.d.resize(head_.x.extent(1));
    Array<R, 2> state = load_state(head_, task_.initial_state);
    for (index_t chunk = 0; chunk < head_.chunks(); ++chunk) {
      std::copy_n(state.data(), state.size(), front_.data() + chunk * state.size());
      sweep<R>(rows_.load(chunk), state.data(), nullptr);
    }
    Array<R, 2> g = load_state(head_, final_state_bar);
    for (index_t chunk = head_.chunks() - 1; chunk >= 0; --chunk) {
      const SsdRows<R> r = rows_.load(chunk);
      const R* const front = front_.data() + chunk * g.size();
      load_y_bar(chunk, r, front);
      std::fill_n(x_rows_.data(), r.tokens * r.channels, R(0));
      reverse_sweep<R>(r, front, y_rows_.data(), g.data(), x_rows_.data(), q_rows_.data(),
                       c_rows_.data(), decay_rows_.data(), scratch_.data());
      for (index_t t = 0; t < r.tokens; ++t) add_token(chunk * chunk_tokens + t, t, r, shares);
    }
    if (bar_.initial_state.data()) {
      const View<R, 2> to = bar_.initial_state.select(0, task_.sequence).select(0, task_.h);
      for (index_t p = 0; p < to.extent(0); ++p) {
        for (index_t n = 0; n < to.extent(1); ++n) to(p, n) += g(n, p);
      }
    }
    return shares;
  }

 private:
  /// The cotangent of what the gate multiplies, and that of the gate.
  void load_y_bar(index_t chunk, const SsdRows<R>& r, const R* front) {
    load_rows(y_bar_, chunk * chunk_tokens, r.tokens, r.channels, y_rows_.data());
    if (!task_.z.data()) return;
    if (bar_.z.data()) {
      Array<R, 2> state({r.states, r.channels}, uninitialized), sum({r.tokens, r.channels});
      std::copy_n(front, state.size(), state.data());
      sweep(r, state.data(), sum.data());
      const View<T, 2> z_bar = task_.part(bar_.z);
      for_each(chunk, r, [&](index_t at, index_t t, index_t p) {
        const R z = static_cast<R>(task_.z(at, p)), s = sigmoid(z);
        const R y = sum(t, p) + task_.d(p) * rows_.x(t, p);
        add(z_bar(at, p), y_rows_(t, p) * y * s * (1 + z * (1 - s)));
      });
    }
    for_each(chunk, r, [&](index_t at, index_t t, index_t p) {
      y_rows_(t, p) *= silu(static_cast<R>(task_.z(at, p)));
    });
  }

  template <class F>
  void for_each(index_t chunk, const SsdRows<R>& r, const F& f) {
    for (index_t t = 0; t < r.tokens; ++t) {
      for (index_t p = 0; p < head_.x.extent(1); ++p) f(chunk * chunk_tokens + t, t, p);
    }
  }

  void add_token(index_t at, index_t t, const SsdRows<R>& r, Shares<R>& shares) {
    const R delta = rows_.delta(t);
    R delta_bar = 0;
    for (index_t n = 0; n < head_.b.extent(1); ++n) {
      delta_bar += q_rows_(t, n) * rows_.b(t, n);
      shares.b(at, n) = delta * q_rows_(t, n);
      shares.c(at, n) = c_rows_(t, n);
    }
    const R log_bar = r.decay[t] * decay_rows_(t);  // of the exponent Delta a
    delta_bar += head_.a * log_bar;
    shares.a += static_cast<double>(delta) * static_cast<double>(log_bar);
    const R raw_bar = delta_bar * head_.step.slope(static_cast<R>(head_.dt(at)));
    shares.dt_bias += static_cast<double>(raw_bar);
    if (bar_.dt.data()) {
      add(bar_.dt(task_.entry, task_.begin + at, task_.h), raw_bar);
    }
    for (index_t p = 0; p < head_.x.extent(1); ++p) {
      const R y = y_rows_(t, p);
      shares.d[p] += static_cast<double>(y) * static_cast<double>(rows_.x(t, p));
      if (bar_.x.data()) {
        add(bar_.x(task_.entry, task_.begin + at, task_.h, p), x_rows_(t, p) + task_.d(p) * y);
      }
    }
  }

  const SsdTask<T>& task_;
  const Head<T>& head_;
  View<const T, 2> y_bar_;
  const SsdCotangent<T>& bar_;
  HeadRows<T> rows_;
  Array<R, 3> front_;
  Array<R, 2> y_rows_, x_rows_, q_rows_, c_rows_;
  Array<R, 1> decay_rows_, scratch_;
};

/// Adds the shares of heads one after the other, whoever computed them; those of the heads of a group to B
/// and C at once.
template <Storage T>
class Collector {
 public:
  using R = compute_t<T>;

  explicit Collector(const SsdCotangent<T>& bar) : bar_(bar) {}

  void add_head(const SsdTask<T>& task, index_t heads_of_group, const Shares<R>& s) {
    const index_t place = task.h % heads_of_group;
    if (place == 0) b_ = Array<R, 2>(s.b.extents()), c_ = Array<R, 2>(s.c.extents());
    for (index_t i = 0; i < s.b.size(); ++i) {
      b_.data()[i] += s.b.data()[i];
      c_.data()[i] += s.c.data()[i];
    }
    if (place == heads_of_group - 1) {
      flush(task, bar_.b, b_);
      flush(task, bar_.c, c_);
    }
    if (bar_.a.data()) bar_.a(task.h) += static_cast<R>(s.a);
    if (bar_.dt_bias.data()) bar_.dt_bias(task.h) += static_cast<R>(s.dt_bias);
    if (bar_.d.data()) {
      for (index_t p = 0; p < bar_.d.extent(1); ++p) bar_.d(task.h, p) += static_cast<R>(s.d[p]);
    }
  }

 private:
  void flush(const SsdTask<T>& task, const View<T, 4>& to, const Array<R, 2>& sum) {
    if (!to.data()) return;
    for (index_t t = 0; t < sum.extent(0); ++t) {
      for (index_t n = 0; n < sum.extent(1); ++n) {
        add(to(task.entry, task.begin + t, task.group, n), sum(t, n));
      }
    }
  }

  SsdCotangent<T> bar_;
  Array<R, 2> b_, c_;
};

/// Checks and broadcasts `bar`; true where entries of the batch add to the same numbers.
template <Storage T>
bool check_cotangents(const SsdView<T>& m, const SsdInput<T>& in, const SsdShape& s,
                      SsdCotangent<T>& bar) {
  bool shared = false;
  const auto require = [&](const char* name, auto& v, const auto& extents, index_t batch) {
    if (!v.data()) return;
    v = v.broadcast(0, batch);
    detail::require_extents(operation, name, v, extents);
    shared = shared || (batch > 1 && v.stride(0) == 0);
    const View<const typename std::remove_reference_t<decltype(v)>::value_type,
               std::remove_reference_t<decltype(v)>::rank>
        result(v);
    require_apart(operation, m, in, result, name);
  };
  using E4 = std::array<index_t, 4>;
  require("the cotangent of x", bar.x, in.x.extents(), s.batch);
  require("the cotangent of z", bar.z, in.x.extents(), s.batch);
  require("the cotangent of dt", bar.dt, m.dt.extents(), s.batch);
  require("the cotangent of B", bar.b, m.b.extents(), s.batch);
  require("the cotangent of C", bar.c, m.c.extents(), s.batch);
  require("the cotangent of initial_state", bar.initial_state,
          E4{s.sequences, s.heads, s.channels, s.states}, s.sequences);
  require("the cotangent of a", bar.a, std::array<index_t, 1>{s.heads}, s.heads);
  require("the cotangent of dt_bias", bar.dt_bias, std::array<index_t, 1>{s.heads}, s.heads);
  require("the cotangent of D", bar.d, std::array<index_t, 2>{s.heads, s.channels}, s.heads);
  return shared;
}

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
  const bool shared = check_cotangents(m, in, shape, bar);
  const index_t tasks = shape.sequences * shape.heads;
  if (tasks == 0) return;
  const int team = shared ? 1
                          : team_for(e.threads, 16 * shape.batch * shape.length * shape.heads *
                                                    shape.channels * shape.states);
  Collector<T> collector(bar);
  for (index_t first = 0; first < tasks; first += team) {
    const index_t count = std::min<index_t>(team, tasks - first);
    std::vector<Shares<R>> shares(count);
    parallel_for(team, count, [&](index_t i) {
      const SsdTask<T> task(m, in, shape, first + i);
      const View<const R, 2> last =
          final_state_bar.data() ? final_state_bar.select(0, task.sequence).select(0, task.h)
                                 : View<const R, 2>();
      shares[i] = Reverse<T>(task, task.part(y_bar), bar).run(last);
    });
    for (index_t i = 0; i < count; ++i) {
      collector.add_head(SsdTask<T>(m, in, shape, first + i), shape.heads / shape.groups,
                         shares[i]);
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                               \
      const exec::cpu&, const SsdView<T>&, const SsdInput<T>&, View<const T, 4>,             \
      View<const compute_t<T>, 4>, const SsdCotangent<T>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
