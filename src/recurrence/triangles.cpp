#include "recurrence/triangles.hpp"

#include <algorithm>
#include <vector>

#include "core/instantiate.hpp"
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
      for (index_t c = 0; c < x.extent(1); ++c) y(i, c) = has_diagonal ? multiply(d, x(i, c)) : T{};
    }
  }

  T value(const T& v) const { return conjugate_ ? conjugate(v) : v; }

  /// std::complex multiplication repairs NaN at a high price; plain arithmetic is what is meant.
  static T multiply(const T& a, const T& b) {
    if constexpr (is_complex_v<T>) {
      return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    } else {
      return a * b;
    }
  }

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

/// Both triangles for a share of the columns. Each row is visited twice: the half that a sweep
/// meets first sets y, the other half adds to it. So the two sweeps may run at the same time up to
/// the middle, and again from there on, and always add in the same order.
template <Scalar T, transition::Uniform K>
class Work {
 public:
  Work(const Triangles<T, K>& m, index_t batch, const View<const T, 2>& x, const View<T, 2>& y)
      : n_(x.extent(0)),
        down_(m.down, batch, diagonal(m, batch), m.conjugate, x, y),
        up_(m.up, batch, diagonal(m, batch).reversed(0), m.conjugate, x.reversed(0),
            y.reversed(0)) {}

  void down(bool first_half) {
    first_half ? down_.rows(0, n_ / 2, true) : down_.rows(n_ / 2, n_, false);
  }
  void up(bool first_half) {
    first_half ? up_.rows(0, n_ - n_ / 2, true) : up_.rows(n_ - n_ / 2, n_, false);
  }

 private:
  static View<const T, 1> diagonal(const Triangles<T, K>& m, index_t batch) {
    return m.diagonal.empty() ? View<const T, 1>{} : m.diagonal.select(0, batch);
  }

  index_t n_;
  Pass<T, K> down_, up_;
};

}  // namespace

template <Scalar T, transition::Uniform K>
void apply(int threads, const Triangles<T, K>& m, View<const T, 3> x, View<T, 3> y) {
  const index_t batch = y.extent(0), n = y.extent(1), columns = y.extent(2);
  if (batch == 0 || n == 0 || columns == 0) return;

  const index_t order = m.down.out.extent(2) + m.up.out.extent(2) + 1;
  const index_t share = K::rank == 4 ? order * order : order;
  const int team = team_for(threads, batch * n * columns * share);

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

#define STRUCTMAT_INSTANTIATE(T, K)                                                                \
  template void apply<T, transition::K>(int, const Triangles<T, transition::K>&, View<const T, 3>, \
                                        View<T, 3>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::recurrence
