#include <utility>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/checked_cotangent.hpp"
#include "quasiseparable/multiply_half.hpp"
#include "quasiseparable/operands.hpp"
#include "structmat/quasiseparable/multiply.hpp"

namespace structmat::quasiseparable {
namespace {

using recurrence::add_left;
using recurrence::add_right;
using recurrence::column;
using recurrence::Conjugate;
using recurrence::row;
using recurrence::transposed;

/// to += a conj(b)
template <Scalar T>
void add_conjugated(const View<const T, 2>& a, const View<const T, 2>& b, const View<T, 2>& to) {
  recurrence::add_product<Conjugate::second>(a, b, to);
}

template <class T>
View<const T, 2> constant(const Array<T, 2>& m) {
  return m.view();
}

template <class T>
void add(const View<const T, 1>& from, const View<T, 1>& to) {
  for (index_t l = 0; l < to.extent(0); ++l) to(l) += from(l);
}

/// The transposes of multiply_half, statement by statement in the opposite order, with the f_i of
/// a forward sweep at hand.
template <Scalar T, int Rank>
class HalfAdjoint {
 public:
  HalfAdjoint(const Sides<const T, Rank>& x, const Sides<const T, Rank>& y,
              const Sides<const T, 3>& c_bar, const Sides<T, Rank>& x_bar,
              const Sides<T, Rank>& y_bar)
      : x_(x),
        y_(y),
        c_bar_(c_bar),
        x_bar_(x_bar),
        y_bar_(y_bar),
        n_(x.d.extent(0)),
        r_(x.ahead.order()),
        s_(y.back.order()),
        f_({n_, r_, s_}),
        f_bar_({r_, s_}) {}

  void run() {
    for (index_t i = 0; i + 1 < n_; ++i) forward(i);
    for (index_t i = n_ - 1; i >= 0; --i) {
      Array<T, 2> previous({r_, s_}), pf_bar({1, s_});
      if (i + 1 < n_) state(i, previous);
      if (i + 1 < n_) in_and_out(i, previous, pf_bar);
      if (i > 0) diagonal_and_copies(i, previous, pf_bar);
      f_bar_ = std::move(previous);
    }
  }

 private:
  View<const T, 2> f(index_t i) const { return f_.view().select(0, i); }

  void forward(index_t i) {
    const View<T, 2> next = f_.view().select(0, i + 1);
    recurrence::add_product<>(column(x_.ahead.in.select(0, i)), row(y_.back.out.select(0, i)),
                              next);
    if (i == 0) return;
    Array<T, 2> product_f({r_, s_});
    add_left<>(x_.ahead.transition, i, f(i), product_f.view());
    add_right<>(constant(product_f), y_.back.transition, i, next);
  }

  /// f_{i+1} = t f u + q w^T
  void state(index_t i, Array<T, 2>& previous) {
    const View<const T, 2> bar = constant(f_bar_);
    add_conjugated(bar, column(y_.back.out.select(0, i)), column(x_bar_.ahead.in.select(0, i)));
    add_conjugated(View<const T, 2>(bar.transposed()), column(x_.ahead.in.select(0, i)),
                   column(y_bar_.back.out.select(0, i)));
    if (i == 0) return;
    Array<T, 2> fu({r_, s_}), fu_bar({r_, s_});
    add_right<>(f(i), y_.back.transition, i, fu.view());
    recurrence::add_transition_cotangent(bar, constant(fu), x_bar_.ahead.transition, i);
    add_left<true>(x_.ahead.transition, i, bar, fu_bar.view());
    through_right(i, f(i), fu_bar, previous.view());
  }

  /// For a product m u: m_bar += product_bar u^H, and the cotangent of u.
  void through_right(index_t i, const View<const T, 2>& m, const Array<T, 2>& product_bar,
                     const View<T, 2>& m_bar) {
    add_right<true>(constant(product_bar), y_.back.transition, i, m_bar);
    recurrence::add_transition_cotangent(constant(product_bar).transposed(), m.transposed(),
                                         transposed(y_bar_.back.transition), i);
  }

  /// c.ahead.in = [d_y q + t f v; y.ahead.in] and the second part of c.back.out, d_x w + p^T f u
  void in_and_out(index_t i, Array<T, 2>& previous, Array<T, 2>& pf_bar) {
    const auto q = x_.ahead.in.select(0, i), v = y_.back.in.select(0, i),
               w = y_.back.out.select(0, i);
    const auto c_in = c_bar_.ahead.in.select(0, i);
    const auto in_bar = c_in.slice(0, 0, r_);
    const auto q_bar = x_bar_.ahead.in.select(0, i), w_bar = y_bar_.back.out.select(0, i);
    add<T>(c_in.slice(0, r_, c_in.extent(0)), y_bar_.ahead.in.select(0, i));
    for (index_t l = 0; l < r_; ++l) {
      q_bar(l) += conjugate_product(y_.d(i), in_bar(l));
      y_bar_.d(i) += conjugate_product(q(l), in_bar(l));
    }
    const index_t skip = x_.back.order();
    const auto out_bar = c_bar_.back.out.select(0, i).slice(0, skip, skip + s_);
    for (index_t l = 0; l < s_; ++l) {
      w_bar(l) += conjugate_product(x_.d(i), out_bar(l));
      x_bar_.d(i) += conjugate_product(w(l), out_bar(l));
    }
    if (i == 0) return;

    Array<T, 2> fv({r_, 1}), fv_bar({r_, 1});
    recurrence::add_product<>(f(i), column(v), fv.view());
    recurrence::add_transition_cotangent(column(in_bar), constant(fv), x_bar_.ahead.transition, i);
    add_left<true>(x_.ahead.transition, i, column(in_bar), fv_bar.view());
    add_conjugated(constant(fv_bar), row(v), previous.view());
    add_conjugated(View<const T, 2>(constant(fv_bar).transposed()), f(i),
                   row(y_bar_.back.in.select(0, i)));

    Array<T, 2> product_bar({1, s_});
    copy(out_bar, product_bar.view().select(0, 0));
    through_right(i, constant(pf(i)), product_bar, pf_bar.view());
  }

  Array<T, 2> pf(index_t i) const {
    Array<T, 2> result({1, s_});
    recurrence::add_product<>(row(x_.ahead.out.select(0, i)), f(i), result.view());
    return result;
  }

  /// d = d_x d_y + (p^T f) v; c.ahead.out = [p; ...]; the transitions [t, q y.out^T; 0, y.t]
  void diagonal_and_copies(index_t i, Array<T, 2>& previous, Array<T, 2>& pf_bar) {
    const auto p = x_.ahead.out.select(0, i), v = y_.back.in.select(0, i);
    const auto p_bar = x_bar_.ahead.out.select(0, i), v_bar = y_bar_.back.in.select(0, i);
    const T d_bar = c_bar_.d(i);
    const Array<T, 2> product_f = pf(i);
    for (index_t l = 0; l < s_; ++l) {
      pf_bar(0, l) += conjugate_product(v(l), d_bar);
      v_bar(l) += conjugate_product(product_f(0, l), d_bar);
    }
    add_conjugated(constant(pf_bar), View<const T, 2>(f(i).transposed()), row(p_bar));
    add_conjugated(View<const T, 2>(constant(pf_bar).transposed()), row(p),
                   previous.view().transposed());
    add<T>(c_bar_.ahead.out.select(0, i).slice(0, 0, r_), p_bar);
    if (i + 1 == n_) return;

    const auto a_bar = c_bar_.ahead.transition.select(0, i);
    const index_t all = a_bar.extent(0);
    add_dense(a_bar.slice(0, 0, r_).slice(1, 0, r_), x_bar_.ahead.transition, i);
    add_dense(a_bar.slice(0, r_, all).slice(1, r_, all), y_bar_.ahead.transition, i);
    const auto corner = a_bar.slice(0, 0, r_).slice(1, r_, all);
    add_conjugated(corner, column(y_.ahead.out.select(0, i)), column(x_bar_.ahead.in.select(0, i)));
    add_conjugated(View<const T, 2>(corner.transposed()), column(x_.ahead.in.select(0, i)),
                   column(y_bar_.ahead.out.select(0, i)));
  }

  static void add_dense(const View<const T, 2>& from, const View<T, Rank>& bar, index_t i) {
    for (index_t l = 0; l < from.extent(0); ++l) {
      if constexpr (Rank == 3) add<T>(from.select(0, l), bar.select(0, i).select(0, l));
      if constexpr (Rank == 2) bar(i, l) += from(l, l);
      if constexpr (Rank == 1) bar(i) += from(l, l);
    }
  }

  Sides<const T, Rank> x_, y_;
  Sides<const T, 3> c_bar_;
  Sides<T, Rank> x_bar_, y_bar_;
  index_t n_, r_, s_;
  Array<T, 3> f_;
  Array<T, 2> f_bar_;  // of f_{i+1}
};

/// Absent cotangents are replaced by views all of whose elements are one number that nobody reads.
template <Scalar T, transition::Uniform K>
QuasiseparableCotangent<T, K> with_sink(QuasiseparableCotangent<T, K> bar,
                                        const QuasiseparableView<T, K>& m, T& sink) {
  const auto complete = [&](auto& view, const auto& like) {
    if (!view.data()) view = {&sink, like.extents(), {}};
  };
  complete(bar.p, m.p);
  complete(bar.q, m.q);
  complete(bar.a, m.a);
  complete(bar.d, m.d);
  complete(bar.g, m.g);
  complete(bar.h, m.h);
  complete(bar.b, m.b);
  return bar;
}

}  // namespace

template <Scalar T, transition::Uniform K>
void multiply_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& x_in,
                  const QuasiseparableView<T, K>& y_in,
                  const QuasiseparableView<T, transition::Dense>& c_bar_in,
                  const QuasiseparableCotangent<T, K>& x_bar_in,
                  const QuasiseparableCotangent<T, K>& y_bar_in) {
  constexpr auto operation = "quasiseparable::multiply_vjp";
  constexpr int rank = K::rank - 1;
  const auto operands = checked_operands(operation, x_in, y_in);
  const auto &x = operands.first, &y = operands.second;
  const index_t batch = x.batch(), n = x.size();
  const Order rx = x.order(), ry = y.order();
  const auto c_bar = checked(c_bar_in, operation, batch);
  if (c_bar.order() != Order{rx.lower + ry.lower, rx.upper + ry.upper} || c_bar.size() != n ||
      c_bar.batch() != batch) {
    throw ShapeError(std::string(operation) + ": the cotangent of C has size " +
                     std::to_string(c_bar.size()) + " and order (" +
                     std::to_string(c_bar.order().lower) + ", " +
                     std::to_string(c_bar.order().upper) + "), X Y has size " + std::to_string(n) +
                     " and order (" + std::to_string(rx.lower + ry.lower) + ", " +
                     std::to_string(rx.upper + ry.upper) + ")");
  }
  const auto x_bar = checked_cotangent(operation, x_bar_in, batch, n, rx);
  const auto y_bar = checked_cotangent(operation, y_bar_in, batch, n, ry);
  const int team = sums_over_batch(x_bar) || sums_over_batch(y_bar) ? 1 : thread_count(e.threads);
  parallel_for(team, batch, [&](index_t b) {
    T sink{};
    const auto xb = with_sink(x_bar, x, sink), yb = with_sink(y_bar, y, sink);
    for (index_t i = 0; i < n; ++i) {
      xb.d(b, i) += conjugate_product(y.d(b, i), c_bar.d(b, i));
      yb.d(b, i) += conjugate_product(x.d(b, i), c_bar.d(b, i));
    }
    for (const bool reversed : {false, true}) {
      HalfAdjoint<T, rank>(sides<const T, rank>(x, b, reversed),
                           sides<const T, rank>(y, b, reversed),
                           sides<const T, 3>(c_bar, b, reversed), sides<T, rank>(xb, b, reversed),
                           sides<T, rank>(yb, b, reversed))
          .run();
    }
  });
}

#define STRUCTMAT_INSTANTIATE(T, K)                                  \
  template STRUCTMAT_EXPORT void multiply_vjp<T, transition::K>(     \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&, \
      const QuasiseparableView<T, transition::K>&,                   \
      const QuasiseparableView<T, transition::Dense>&,               \
      const QuasiseparableCotangent<T, transition::K>&,              \
      const QuasiseparableCotangent<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
