#include <cmath>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/ldl_sweep.hpp"
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

/// One batch entry and some columns. L^H = conj(L^T): the sweep works with plain generators, so
/// operands are conjugated on their way in and out.
template <Scalar T, transition::Uniform K>
class Work {
 public:
  using R = real_t<T>;

  Work(const LdlView<T, K>& f, index_t batch, View<const T, 2> x, View<T, 2> y)
      : lower_(UnitTriangle<const T, K>::lower(f.p.select(0, batch), f.w.select(0, batch),
                                               f.a.select(0, batch))),
        d_(f.d.select(0, batch)),
        x_(x),
        y_(y) {}

  void run(LdlPart part) {
    switch (part) {
      case LdlPart::solve:
        down(true, Scaling::none);
        x_ = y_;
        return up(true, Scaling::divide, Scaling::none);
      case LdlPart::solve_lower:
        return down(true, Scaling::none);
      case LdlPart::solve_lower_adjoint:
        return up(true, Scaling::none, Scaling::none);
      case LdlPart::apply_lower:
        return down(false, Scaling::square_root);
      case LdlPart::apply_lower_adjoint:
        return up(false, Scaling::none, Scaling::square_root);
    }
  }

 private:
  void down(bool solve, Scaling before) {
    sweep(UnitSweep<T, K>(lower_, solve, y_), x_, y_, d_, before, Scaling::none, false);
  }
  void up(bool solve, Scaling before, Scaling after) {
    const View<T, 2> y = y_.reversed(0);
    sweep(UnitSweep<T, K>(lower_.transposed(), solve, y), x_.reversed(0), y, d_.reversed(0), before,
          after, is_complex_v<T>);
  }

  static void sweep(UnitSweep<T, K> rows, const View<const T, 2>& x, const View<T, 2>& y,
                    const View<const R, 1>& d, Scaling before, Scaling after, bool conjugate_it) {
    for (index_t begin = 0; begin < y.extent(0); begin += chunk_rows) {
      const index_t end = std::min(begin + chunk_rows, y.extent(0));
      const View<T, 2> run = y.slice(0, begin, end);
      load<T>(x.slice(0, begin, end), run, d.slice(0, begin, end), before, conjugate_it);
      rows.rows(begin, end);
      if (after != Scaling::none || conjugate_it) {
        load<T>(View<const T, 2>(run), run, d.slice(0, begin, end), after, conjugate_it);
      }
    }
  }

  UnitTriangle<const T, K> lower_;
  View<const R, 1> d_;
  View<const T, 2> x_;
  View<T, 2> y_;
};

constexpr const char* name(LdlPart part) {
  switch (part) {
    case LdlPart::solve:
      return "quasiseparable::solve";
    case LdlPart::solve_lower:
      return "quasiseparable::solve_lower";
    case LdlPart::solve_lower_adjoint:
      return "quasiseparable::solve_lower_adjoint";
    case LdlPart::apply_lower:
      return "quasiseparable::apply_lower";
    case LdlPart::apply_lower_adjoint:
      return "quasiseparable::apply_lower_adjoint";
  }
  return "";
}

/// check_operands of core/operand.hpp refuses any overlap; here y may be x itself.
template <Scalar T>
index_t check_in_place(const char* operation, index_t batch, index_t n, const View<const T, 3>& x,
                       const View<T, 3>& y) {
  const bool same =
      x.data() == y.data() && x.extents() == y.extents() && x.strides() == y.strides();
  const View<const T, 3> elsewhere(nullptr, x.extents(), x.strides());
  return detail::check_operands(operation, batch, n, n, same ? elsewhere : x, y);
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

  x = x.broadcast(0, batch);
  constexpr index_t width = recurrence::tile_width<T>;
  const index_t share = (K::rank == 4 ? f.order() : 1) * (f.order() + 1);
  const int team = team_for(e.threads, batch * n * columns * share);
  // Columns are shared out by whole tiles, whose arithmetic does not depend on who computes them;
  // what is left over goes with the last whole tile, as it does on one thread.
  const index_t tiles = std::max<index_t>(1, columns / width);
  const index_t shares = std::clamp<index_t>(team / batch, 1, tiles);
  parallel_for(team, batch * shares, [&](index_t task) {
    const index_t b = task / shares, s = task % shares;
    const index_t first = s * tiles / shares * width;
    const index_t last = s + 1 == shares ? columns : (s + 1) * tiles / shares * width;
    Work<T, K>(f, b, x.select(0, b).slice(1, first, last), y.select(0, b).slice(1, first, last))
        .run(part);
  });
}

#define STRUCTMAT_INSTANTIATE(T, K)                           \
  template STRUCTMAT_EXPORT void ldl_apply<T, transition::K>( \
      const exec::cpu&, const LdlView<T, transition::K>&, LdlPart, View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
