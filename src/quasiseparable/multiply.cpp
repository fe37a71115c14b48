#include "structmat/quasiseparable/multiply.hpp"

#include <utility>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/multiply_half.hpp"
#include "quasiseparable/operands.hpp"

namespace structmat::quasiseparable {
namespace {

using recurrence::add_left;
using recurrence::add_product;
using recurrence::add_right;
using recurrence::column;
using recurrence::row;

template <Scalar T>
void clear(Array<T, 2>& m) {
  std::fill(m.begin(), m.end(), T{});
}

template <Scalar T, int Rank>
void copy_transition(const View<const T, Rank>& t, index_t i, const View<T, 2>& to) {
  for (index_t l = 0; l < to.extent(0); ++l) {
    if constexpr (Rank == 3) {
      copy(t.select(0, i).select(0, l), to.select(0, l));
    } else if constexpr (Rank == 2) {
      to(l, l) = t(i, l);
    } else {
      to(l, l) = t(i);
    }
  }
}

/// Writes all of C's `ahead` triangle but the second part of its `out`, and the second part of
/// `out` of the `back` triangle; adds to d.
template <Scalar T, int Rank>
void multiply_half(const Sides<const T, Rank>& x, const Sides<const T, Rank>& y,
                   const Sides<T, 3>& c) {
  const index_t n = x.d.extent(0), r = x.ahead.order(), s = y.back.order();
  const index_t skip = x.back.order();  // of C's back triangle, what belongs to X
  Array<T, 2> f({r, s}), next({r, s}), product_f({r, s}), pf({1, s}), fv({r, 1});
  for (index_t i = 0; i < n; ++i) {
    const bool first = i == 0, last = i + 1 == n;
    const auto p = x.ahead.out.select(0, i), q = x.ahead.in.select(0, i);
    const auto w = y.back.out.select(0, i), v = y.back.in.select(0, i);
    if (!first) {
      copy(p, c.ahead.out.select(0, i).slice(0, 0, r));
      clear(pf);
      add_product<>(row(p), View<const T, 2>(f.view()), pf.view());
      for (index_t l = 0; l < s; ++l) c.d(i) += product(pf(0, l), v(l));
    }
    if (last) break;

    const auto back_out = c.back.out.select(0, i).slice(0, skip, skip + s);
    for (index_t l = 0; l < s; ++l) back_out(l) = product(x.d(i), w(l));
    const auto in = c.ahead.in.select(0, i);
    for (index_t l = 0; l < r; ++l) in(l) = product(q(l), y.d(i));
    copy(y.ahead.in.select(0, i), in.slice(0, r, in.extent(0)));
    clear(next);
    add_product<>(column(q), row(w), next.view());
    if (!first) {
      add_right<>(View<const T, 2>(pf.view()), y.back.transition, i, row(back_out));
      clear(fv);
      add_product<>(View<const T, 2>(f.view()), column(v), fv.view());
      add_left<>(x.ahead.transition, i, View<const T, 2>(fv.view()), column(in.slice(0, 0, r)));
      clear(product_f);
      add_left<>(x.ahead.transition, i, View<const T, 2>(f.view()), product_f.view());
      add_right<>(View<const T, 2>(product_f.view()), y.back.transition, i, next.view());

      const auto a = c.ahead.transition.select(0, i);
      const index_t all = a.extent(0);
      copy_transition(x.ahead.transition, i, a.slice(0, 0, r).slice(1, 0, r));
      copy_transition(y.ahead.transition, i, a.slice(0, r, all).slice(1, r, all));
      add_product<>(column(q), row(y.ahead.out.select(0, i)), a.slice(0, 0, r).slice(1, r, all));
    }
    std::swap(f, next);
  }
}

template <Scalar T, transition::Uniform K>
void multiply_entry(const QuasiseparableView<T, K>& x, const QuasiseparableView<T, K>& y,
                    Quasiseparable<T, transition::Dense>& c, index_t batch) {
  constexpr int rank = K::rank - 1;
  const QuasiseparableCotangent<T, transition::Dense> target(c);
  for (index_t i = 0; i < x.size(); ++i) c.d(batch, i) = product(x.d(batch, i), y.d(batch, i));
  for (const bool reversed : {false, true}) {
    multiply_half<T, rank>(sides<const T, rank>(x, batch, reversed),
                           sides<const T, rank>(y, batch, reversed),
                           sides<T, 3>(target, batch, reversed));
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Dense> multiply(const exec::cpu& e,
                                              const QuasiseparableView<T, K>& x_in,
                                              const QuasiseparableView<T, K>& y_in) {
  const auto operands = checked_operands("quasiseparable::multiply", x_in, y_in);
  const auto &x = operands.first, &y = operands.second;
  const Order rx = x.order(), ry = y.order();
  Quasiseparable<T, transition::Dense> c(x.size(), {rx.lower + ry.lower, rx.upper + ry.upper},
                                         x.batch());
  parallel_for(thread_count(e.threads), x.batch(), [&](index_t b) { multiply_entry(x, y, c, b); });
  return c;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                          \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Dense> multiply<T, transition::K>( \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&,                         \
      const QuasiseparableView<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
