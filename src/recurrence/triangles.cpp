#include "recurrence/triangles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"
#include "structmat/core/array.hpp"

namespace structmat::recurrence {
namespace {

/// Rows for which the generators (and packed operands) stay in the first-level cache, which has
/// room for other things too, while all groups of states and tiles of right-hand sides pass over
/// them.
template <transition::Uniform K>
constexpr index_t chunk_rows(index_t order) {
  const index_t transition = K::rank == 2 ? 1 : K::rank == 3 ? order : order * order;
  return std::clamp<index_t>(1536 / (2 * order + transition + 1), 16, 128);
}

/// One triangle of one batch entry for columns [first, last) of x and y, run by run.
template <Scalar T, transition::Uniform K>
class Pass {
 public:
  using R = real_t<T>;
  static constexpr index_t parts = is_complex_v<T> ? 2 : 1;
  static constexpr index_t lanes = tile_width<T>;

  Pass(const Triangle<T, K>& t, index_t batch, View<const T, 1> diagonal, bool conjugate,
       View<const T, 2> x, View<T, 2> y)
      : r_{t.out.select(0, batch), t.in.select(0, batch), t.transition.select(0, batch), t.emit},
        diagonal_(diagonal),
        conjugate_(conjugate),
        x_(x),
        y_(y),
        chunk_rows_(chunk_rows<K>(r_.order())) {
    const index_t r = r_.order(), columns = x.extent(1), vector = parts * lanes;
    const index_t tiles = (columns + lanes - 1) / lanes;
    state_ = Array<R, 1>({tiles * r * vector});
    if constexpr (std::same_as<K, transition::Dense>) spare_ = Array<R, 1>({r * vector});
    // Only whole tiles of neighbouring real numbers, and single columns, are used where they are.
    const bool in_place =
        RealScalar<T> &&
        (columns == 1 || (columns % lanes == 0 && x.stride(1) == 1 && y.stride(1) == 1));
    if (!in_place) {
      packed_ = Array<R, 1>({2 * std::min(chunk_rows_, x.extent(0)) * vector}, uninitialized);
    }
    strided_ = r > 1 && (r_.out.stride(1) != 1 || r_.in.stride(1) != 1 ||
                         (K::rank == 3 && r_.transition.stride(1) != 1));
    if (strided_) generators_ = Array<T, 1>({3 * chunk_rows_ * r}, uninitialized);
  }

  /// Rows [begin, end) as if none were in front of them, of which only the state is wanted.
  void sweep_state(index_t begin, index_t end) {
    // All rows of the result lie on one another.
    Array<T, 1> ignored({y_.extent(1)});
    const View<T, 2> y =
        std::exchange(y_, View<T, 2>(ignored.data(), {y_.extent(0), y_.extent(1)}, {0, 1}));
    rows(begin, end, true);
    y_ = y;
  }

  /// The lanes of the state behind the last row, state by state.
  Array<R, 1>& state() { return state_; }
  index_t order() const { return r_.order(); }
  const Recurrence<T, K>& recurrence() const { return r_; }

  /// Rows begin <= i < end in sweep order, which follow those of the previous call. On the first of
  /// the two visits of a row y is set to diagonal * x, on the second it is added to.
  void rows(index_t begin, index_t end, bool first_visit) {
    for (index_t i = begin; i < end; i += chunk_rows_) {
      chunk(i, std::min(i + chunk_rows_, end), first_visit);
    }
  }

 private:
  void chunk(index_t begin, index_t end, bool first_visit) {
    const Recurrence<T, K> run = generators(begin, end);
    const index_t columns = x_.extent(1);
    R* state = state_.data();
    for (index_t c = 0; c < columns; c += lanes) {
      const index_t width = std::min(lanes, columns - c);
      const auto x = x_.slice(0, begin, end).slice(1, c, c + width);
      const auto y = y_.slice(0, begin, end).slice(1, c, c + width);
      if (width == 1) {
        tile<1>(run, begin, x, y, first_visit, state);
      } else if (width <= 4) {
        tile<4>(run, begin, x, y, first_visit, state);
      } else {
        tile<static_cast<int>(lanes)>(run, begin, x, y, first_visit, state);
      }
      state += r_.order() * parts * lanes;
    }
  }

  template <int W>
  void tile(const Recurrence<T, K>& run, index_t begin, const View<const T, 2>& x,
            const View<T, 2>& y, bool first_visit, R* state) {
    const bool fresh = begin == 0;
    if constexpr (RealScalar<T>) {
      const bool unit = W == 1 || (x.stride(1) == 1 && y.stride(1) == 1);
      if (unit && x.extent(1) == W) {
        if (first_visit) start(begin, x, y);
        sweep<T, K, W>(run, fresh, Rows<T>{x.data(), x.stride(0), y.data(), y.stride(0)}, state,
                       spare_.data());
        return;
      }
    }
    if (first_visit) start(begin, x, y);
    constexpr index_t step = parts * W;
    R *px = packed_.data(), *py = px + packed_.size() / 2;
    pack<W>(x, px);
    pack<W>(View<const T, 2>(y), py);
    sweep<T, K, W>(run, fresh, Rows<T>{px, step, py, step}, state, spare_.data());
    unpack<W>(py, y);
  }

  /// y := diagonal * x, or 0.
  void start(index_t begin, const View<const T, 2>& x, const View<T, 2>& y) const {
    const bool has_diagonal = !diagonal_.empty();
    for (index_t i = 0; i < x.extent(0); ++i) {
      const T d = has_diagonal ? value(diagonal_(begin + i)) : T{};
      for (index_t c = 0; c < x.extent(1); ++c) y(i, c) = has_diagonal ? product(d, x(i, c)) : T{};
    }
  }

  T value(const T& v) const { return conjugate_ ? conjugate(v) : v; }

  // The sweep works with plain generators. M^H x = conj(M^T conj(x)), so operands are conjugated on
  // their way in and out where the generators should have been.
  template <int W>
  void pack(const View<const T, 2>& from, R* to) const {
    const R sign = conjugate_ ? R{-1} : R{1};
    for (index_t i = 0; i < from.extent(0); ++i, to += parts * W) {
      for (index_t c = 0; c < W; ++c) {
        const T v = c < from.extent(1) ? from(i, c) : T{};
        if constexpr (is_complex_v<T>) {
          to[c] = v.real();
          to[W + c] = sign * v.imag();
        } else {
          to[c] = v;
        }
      }
    }
  }

  template <int W>
  void unpack(const R* from, const View<T, 2>& to) const {
    const R sign = conjugate_ ? R{-1} : R{1};
    for (index_t i = 0; i < to.extent(0); ++i, from += parts * W) {
      for (index_t c = 0; c < to.extent(1); ++c) {
        if constexpr (is_complex_v<T>) {
          to(i, c) = {from[c], sign * from[W + c]};
        } else {
          to(i, c) = from[c];
        }
      }
    }
  }

  /// The run of rows, copied if the states of a row are not neighbours in memory.
  Recurrence<T, K> generators(index_t begin, index_t end) {
    Recurrence<T, K> run{r_.out.slice(0, begin, end), r_.in.slice(0, begin, end),
                         r_.transition.slice(0, begin, end), r_.emit};
    if (!strided_) return run;
    const index_t count = end - begin, r = r_.order();
    T* at = generators_.data();
    const auto gather = [&](View<const T, 2>& v, index_t skip) {
      const View<T, 2> to(at, {count, r});
      copy(v.slice(0, skip, count), to.slice(0, skip, count));
      v = to;
      at += count * r;
    };
    gather(run.out, 0);
    gather(run.in, 0);
    // Row 0 of the sweep has no transition, and there may be no memory where it would stand.
    if constexpr (K::rank == 3) gather(run.transition, begin == 0 ? 1 : 0);
    return run;
  }

  Recurrence<T, K> r_;
  View<const T, 1> diagonal_;
  bool conjugate_, strided_ = false;
  View<const T, 2> x_;
  View<T, 2> y_;
  index_t chunk_rows_;
  Array<R, 1> state_, spare_, packed_;
  Array<T, 1> generators_;
};

template <Scalar T, transition::Uniform K>
View<const T, 1> diagonal_of(const Triangles<T, K>& m, index_t batch) {
  return m.diagonal.empty() ? View<const T, 1>{} : m.diagonal.select(0, batch);
}

/// Both triangles for a share of the columns. Each row is visited twice: the half that a sweep
/// meets first sets y, the other half adds to it. So the two sweeps may run at the same time up to
/// the middle, and again from there on, and always add in the same order.
template <Scalar T, transition::Uniform K>
class Work {
 public:
  Work(const Triangles<T, K>& m, index_t batch, const View<const T, 2>& x, const View<T, 2>& y)
      : n_(x.extent(0)),
        down_(m.down, batch, diagonal_of(m, batch), m.conjugate, x, y),
        up_(m.up, batch, diagonal_of(m, batch).reversed(0), m.conjugate, x.reversed(0),
            y.reversed(0)) {}

  void down(bool first_half) {
    first_half ? down_.rows(0, n_ / 2, true) : down_.rows(n_ / 2, n_, false);
  }
  void up(bool first_half) {
    first_half ? up_.rows(0, n_ - n_ / 2, true) : up_.rows(n_ - n_ / 2, n_, false);
  }

 private:
  index_t n_;
  Pass<T, K> down_, up_;
};

/// What a run of rows does to the state in front of it: the product of their transitions.
template <Scalar T, transition::Uniform K>
class RunProduct {
 public:
  using R = real_t<T>;

  RunProduct(const Recurrence<T, K>& r, index_t begin, index_t end) : order_(r.order()) {
    const index_t columns = K::rank == 4 ? order_ : 1;
    product_ = Array<T, 2>({K::rank == 2 ? 1 : order_, columns});
    for (index_t l = 0; l < product_.extent(0); ++l) product_(l, K::rank == 4 ? l : 0) = T{1};
    Array<T, 2> next(product_.extents());
    for (index_t i = begin; i < end && !vanished(); ++i) {
      for (index_t l = 0; l < product_.extent(0); ++l) {
        for (index_t c = 0; c < columns; ++c) {
          T sum{};
          if constexpr (K::rank == 2) sum = r.transition(i) * product_(l, c);
          if constexpr (K::rank == 3) sum = r.transition(i, l) * product_(l, c);
          if constexpr (K::rank == 4) {
            for (index_t k = 0; k < order_; ++k) sum += r.transition(i, l, k) * product_(k, c);
          }
          next(l, c) = negligible(sum) ? T{} : sum;
        }
      }
      std::swap(product_, next);
    }
  }

  /// behind += product * front, lane vectors of `width` numbers, or of twice as many if complex.
  void add(const R* front, index_t width, R* behind) const {
    constexpr index_t parts = is_complex_v<T> ? 2 : 1;
    for (index_t l = 0; l < order_; ++l) {
      for (index_t k = K::rank == 4 ? 0 : l; k < (K::rank == 4 ? order_ : l + 1); ++k) {
        const T f = product_(K::rank == 2 ? 0 : l, K::rank == 4 ? k : 0);
        const R* from = front + k * parts * width;
        R* to = behind + l * parts * width;
        for (index_t c = 0; c < width; ++c) {
          if constexpr (is_complex_v<T>) {
            to[c] += f.real() * from[c] - f.imag() * from[width + c];
            to[width + c] += f.real() * from[width + c] + f.imag() * from[c];
          } else {
            to[c] += f * from[c];
          }
        }
      }
    }
  }

 private:
  /// Far below rounding; on the way to denormal numbers, which take fifteen times as long.
  static bool negligible(const T& v) {
    return std::abs(v) < std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  }
  bool vanished() const {
    return std::all_of(product_.begin(), product_.end(), [](const T& v) { return v == T{}; });
  }

  index_t order_;
  Array<T, 2> product_;
};

/// One triangle in two phases over ranges of rows (exec::cpu::chunks). All but the first and the last
/// range are swept twice, so that equal ranges keep `chunks - 1` threads busy.
template <Scalar T, transition::Uniform K, class MakePass>
void sweep_chunks(int team, int chunks, index_t n, index_t columns, bool first_visit,
                  const MakePass& make) {
  const auto begin_of = [&](index_t c) { return c * n / chunks; };
  std::vector<Pass<T, K>> passes;
  passes.reserve(chunks);
  for (int c = 0; c < chunks; ++c) passes.push_back(make());
  std::vector<std::optional<RunProduct<T, K>>> products(chunks);
  parallel_for(team, chunks - 1, [&](index_t c) {
    if (c == 0) return passes[0].rows(0, begin_of(1), first_visit);
    passes[c].sweep_state(begin_of(c), begin_of(c + 1));
    products[c].emplace(passes[c].recurrence(), begin_of(c), begin_of(c + 1));
  });
  const index_t width = columns == 1 ? 1 : columns <= 4 ? 4 : tile_width<T>;
  Array<real_t<T>, 1> front = passes[0].state();
  for (int c = 1; c < chunks; ++c) {
    // passes[c] holds the state behind its range, and is to start from the one in front of it.
    Array<real_t<T>, 1> behind = std::exchange(passes[c].state(), front);
    if (c + 1 == chunks) break;
    products[c]->add(front.data(), width, behind.data());
    front = std::move(behind);
  }
  parallel_for(team, chunks - 1, [&](index_t task) {
    const index_t c = task + 1;
    passes[c].rows(begin_of(c), begin_of(c + 1), first_visit);
  });
}

}  // namespace

template <Scalar T, transition::Uniform K>
void apply(const exec::cpu& e, const Triangles<T, K>& m, View<const T, 3> x, View<T, 3> y) {
  const index_t batch = y.extent(0), n = y.extent(1), columns = y.extent(2);
  if (batch == 0 || n == 0 || columns == 0) return;

  const index_t order = m.down.out.extent(2) + m.up.out.extent(2) + 1;
  const index_t share = K::rank == 4 ? order * order : order;
  const int team = team_for(e.threads, batch * n * columns * share);

  if (e.chunks > 1 && columns <= tile_width<T> && n >= e.chunks) {
    for (index_t b = 0; b < batch; ++b) {
      const auto xb = x.select(0, b);
      const auto yb = y.select(0, b);
      const auto d = diagonal_of(m, b);
      const bool only_up = m.down.out.extent(2) == 0 && m.up.out.extent(2) > 0;
      if (!only_up) {
        sweep_chunks<T, K>(team, e.chunks, n, columns, true,
                           [&] { return Pass<T, K>(m.down, b, d, m.conjugate, xb, yb); });
      }
      if (m.up.out.extent(2) > 0) {
        sweep_chunks<T, K>(team, e.chunks, n, columns, only_up, [&] {
          return Pass<T, K>(m.up, b, d.reversed(0), m.conjugate, xb.reversed(0), yb.reversed(0));
        });
      }
    }
    return;
  }

  // Columns are shared out by whole tiles, whose arithmetic does not depend on who computes them.
  const index_t tiles = (columns + tile_width<T> - 1) / tile_width<T>;
  const index_t shares = std::clamp<index_t>(team / batch, 1, tiles);
  const index_t tasks = batch * shares;
  const auto work = [&](index_t task) {
    const index_t b = task / shares, s = task % shares;
    const index_t first = s * tiles / shares * tile_width<T>;
    const index_t last = std::min(columns, (s + 1) * tiles / shares * tile_width<T>);
    return Work<T, K>(m, b, x.select(0, b).slice(1, first, last),
                      y.select(0, b).slice(1, first, last));
  };

  if (tasks >= team) {
    parallel_for(team, tasks, [&](index_t task) {
      Work<T, K> w = work(task);
      w.down(true);
      w.up(true);
      w.down(false);
      w.up(false);
    });
    return;
  }
  std::vector<Work<T, K>> all;
  all.reserve(tasks);
  for (index_t task = 0; task < tasks; ++task) all.push_back(work(task));
  for (const bool first_half : {true, false}) {
    parallel_for(team, 2 * tasks, [&](index_t i) {
      i % 2 == 0 ? all[i / 2].down(first_half) : all[i / 2].up(first_half);
    });
  }
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                           \
  template void apply<T, transition::K>(const exec::cpu&, const Triangles<T, transition::K>&, \
                                        View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::recurrence
