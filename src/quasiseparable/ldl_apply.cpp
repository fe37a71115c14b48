#include <cmath>
#include <vector>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/in_place.hpp"
#include "quasiseparable/ldl_part.hpp"
#include "quasiseparable/ldl_sweep.hpp"
#include "quasiseparable/ldl_transfer.hpp"
#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {
namespace {

enum class Scaling { none, divide, square_root };

/// y := x, scaled, or y := conj(x), scaled.
template <Scalar T>
void load(const View<const T, 2>& x, const View<T, 2>& y, const View<const real_t<T>, 1>& d,
          Scaling scaling, bool conjugate_it) {
  for (index_t i = 0; i < y.extent(0); ++i) {
    const real_t<T> factor = scaling == Scaling::none     ? 1
                             : scaling == Scaling::divide ? d(i)
                                                          : std::sqrt(d(i));
    for (index_t c = 0; c < y.extent(1); ++c) {
      const T value = conjugate_it ? conjugate(x(i, c)) : x(i, c);
      y(i, c) = scaling == Scaling::divide ? value / factor : value * factor;
    }
  }
}

/// y := S x, where S is a unit triangle or its inverse, with diagonal matrices before and after it;
/// all in sweep order. With `conjugated`, conj(S): the sweep works with plain generators, so operands
/// are conjugated on their way in and out.
template <Scalar T, transition::Uniform K>
struct Pass {
  using R = real_t<T>;

  UnitTriangle<const T, K> triangle;
  bool solve, conjugated;
  Scaling before, after;
  View<const R, 1> d;
  View<const T, 2> x;
  View<T, 2> y;

  UnitSweep<T, K> sweep() const { return {triangle, solve, y.extent(1)}; }

  /// Rows [begin, end) go through `rows`.
  void run(UnitSweep<T, K>& rows, index_t begin, index_t end) const {
    for_each_run(begin, end, [&](index_t from, index_t to) {
      const View<T, 2> part = y.slice(0, from, to);
      const auto factors = d.slice(0, from, to);
      load<T>(x.slice(0, from, to), part, factors, before, conjugated);
      rows.rows(from, to, part);
      if (after != Scaling::none || conjugated) {
        load<T>(View<const T, 2>(part), part, factors, after, conjugated);
      }
    });
  }

  /// The same without a result: only the state and the transfer.
  void run_ahead(UnitSweep<T, K>& rows, Transfer<T, K>& transfer, index_t begin,
                 index_t end) const {
    Array<T, 2> spare({chunk_rows, y.extent(1)});
    for_each_run(begin, end, [&](index_t from, index_t to) {
      const View<T, 2> part = spare.view().slice(0, 0, to - from);
      load<T>(x.slice(0, from, to), part, d.slice(0, from, to), before, conjugated);
      rows.rows(from, to, part);
      transfer.rows(from, to);
    });
  }

  /// All rows in two phases, with the states between chunks made known in between.
  void run_chunks(int team, int chunks) const {
    const std::vector<index_t> ends = chunk_ends(y.extent(0), chunks);
    const auto count = ends.size();
    std::vector<UnitSweep<T, K>> ahead(count - 1, sweep());
    std::vector<Transfer<T, K>> transfers(count - 1, Transfer<T, K>(triangle, solve, {}));
    parallel_for(team, chunks - 1, [&](index_t task) {
      const auto j = static_cast<std::size_t>(task);
      if (j == 0) return run(ahead[0], 0, ends[0]);
      run_ahead(ahead[j], transfers[j], ends[j - 1], ends[j]);
    });
    for (std::size_t j = 1; j + 1 < count; ++j) {
      for (index_t c = 0; c < y.extent(1); ++c) {
        transfers[j].add_to_state(ahead[j - 1].state(c), ahead[j].state(c));
      }
    }
    parallel_for(team, chunks - 1, [&](index_t task) {
      const auto j = static_cast<std::size_t>(task);
      // The state behind chunk j is where chunk j + 1 begins.
      run(ahead[j], ends[j], ends[j + 1]);
    });
  }

 private:
  template <class Body>
  static void for_each_run(index_t begin, index_t end, const Body& body) {
    for (index_t from = begin; from < end; from += chunk_rows) {
      body(from, std::min(from + chunk_rows, end));
    }
  }
};

/// The passes of one batch entry and some columns; `execute` runs each of them.
template <Scalar T, transition::Uniform K, class Execute>
void run_part(const LdlView<T, K>& f, index_t batch, LdlPart part, const View<const T, 2>& x,
              const View<T, 2>& y, const Execute& execute) {
  const auto lower = UnitTriangle<const T, K>::lower(f.p.select(0, batch), f.w.select(0, batch),
                                                     f.a.select(0, batch));
  const auto d = f.d.select(0, batch);
  const auto down = [&](bool solve, Scaling before) {
    execute(Pass<T, K>{lower, solve, false, before, Scaling::none, d, x, y});
  };
  const auto up = [&](bool solve, Scaling before, Scaling after, const View<const T, 2>& from) {
    execute(Pass<T, K>{lower.transposed(), solve, is_complex_v<T>, before, after, d.reversed(0),
                       from.reversed(0), y.reversed(0)});
  };
  switch (part) {
    case LdlPart::solve:
      down(true, Scaling::none);
      return up(true, Scaling::divide, Scaling::none, y);
    case LdlPart::solve_lower:
      return down(true, Scaling::none);
    case LdlPart::solve_lower_adjoint:
      return up(true, Scaling::none, Scaling::none, x);
    case LdlPart::apply_lower:
      return down(false, Scaling::square_root);
    case LdlPart::apply_lower_adjoint:
      return up(false, Scaling::none, Scaling::square_root, x);
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
void ldl_apply(const exec::cpu& e, const LdlView<T, K>& factor, LdlPart part, View<const T, 3> x,
               View<T, 3> y) {
  const char* const operation = name(part);
  const index_t n = factor.size();
  const index_t batch = check_in_place(operation, checked(factor, operation).batch(), n, x, y);
  const auto f = checked(factor, operation, batch);
  const index_t columns = y.extent(2);
  if (batch == 0 || n == 0 || columns == 0) return;

  require_chunks(operation, e);
  x = x.broadcast(0, batch);
  constexpr index_t width = recurrence::tile_width<T>;
  const index_t share = (K::rank == 4 ? f.order() : 1) * (f.order() + 1);
  const int team = team_for(e.threads, batch * n * columns * share);
  if (e.chunks > 1 && columns < 3 && n >= e.chunks) {
    for (index_t b = 0; b < batch; ++b) {
      run_part(f, b, part, x.select(0, b), y.select(0, b),
               [&](const Pass<T, K>& pass) { pass.run_chunks(team, e.chunks); });
    }
    return;
  }
  // Columns are shared out by whole tiles, whose arithmetic does not depend on who computes them;
  // what is left over goes with the last whole tile, as it does on one thread.
  const index_t tiles = std::max<index_t>(1, columns / width);
  const index_t shares = std::clamp<index_t>(team / batch, 1, tiles);
  parallel_for(team, batch * shares, [&](index_t task) {
    const index_t b = task / shares, s = task % shares;
    const index_t first = s * tiles / shares * width;
    const index_t last = s + 1 == shares ? columns : (s + 1) * tiles / shares * width;
    run_part(f, b, part, x.select(0, b).slice(1, first, last), y.select(0, b).slice(1, first, last),
             [&](const Pass<T, K>& pass) {
               UnitSweep<T, K> rows = pass.sweep();
               pass.run(rows, 0, n);
             });
  });
}

#define STRUCTMAT_INSTANTIATE(T, K)                           \
  template STRUCTMAT_EXPORT void ldl_apply<T, transition::K>( \
      const exec::cpu&, const LdlView<T, transition::K>&, LdlPart, View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
