#include "structmat/quasiseparable/ldl_vjp.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/ldl_bars.hpp"
#include "quasiseparable/ldl_factor_reverse.hpp"
#include "quasiseparable/ldl_sweep_reverse.hpp"

namespace structmat::quasiseparable {
namespace {

template <Scalar T>
void conjugate_all(Array<T, 2>& x) {
  if constexpr (is_complex_v<T>) {
    for (T& v : x) v = std::conj(v);
  }
}

/// Through one sweep: fed as in SweepReverse; bar: cotangent of its output in, of its input out.
template <Scalar T, transition::Uniform K>
void sweep_vjp(const UnitTriangle<const T, K>& triangle, bool solve, const View<const T, 2>& fed,
               const View<T, 2>& bar, const UnitTriangle<T, K>& gradient) {
  const index_t n = fed.extent(0);
  SweepReverse<T, K> reverse(triangle, solve);
  TriangleBarRows<T, K> bars(gradient, n, triangle.out.extent(1));
  for (index_t c = 0; c < fed.extent(1); ++c) {
    reverse.record(fed.select(1, c));
    reverse.begin();
    for (index_t run = reverse.runs() - 1; run >= 0; --run) {
      bars.clear();
      reverse.run(run, fed.select(1, c), bar.select(1, c), {bars.out(), bars.in(), bars.a()});
      bars.add(run * chunk_rows, std::min((run + 1) * chunk_rows, n));
    }
  }
}

/// One batch entry of ldl_apply_vjp.
template <Scalar T, transition::Uniform K>
class ApplyVjp {
 public:
  using R = real_t<T>;

  ApplyVjp(const LdlView<T, K>& f, index_t batch, const View<const T, 3>& x,
           const View<const T, 3>& y_bar, const LdlCotangent<T, K>& gradient)
      : entry_{f.p.slice(0, batch, batch + 1), f.w.slice(0, batch, batch + 1),
               f.a.slice(0, batch, batch + 1), f.d.slice(0, batch, batch + 1)},
        lower_(UnitTriangle<const T, K>::lower(f.p.select(0, batch), f.w.select(0, batch),
                                               f.a.select(0, batch))),
        d_(f.d.select(0, batch)),
        x_(x.select(0, batch)),
        y_bar_(y_bar.select(0, batch)),
        gradient_{entry_of(gradient.p, batch), entry_of(gradient.w, batch),
                  transitions_over_states<K>(entry_of(gradient.a, batch), f.order())},
        d_bar_(entry_of(gradient.d, batch)) {}

  /// The cotangent of x.
  Array<T, 2> run(LdlPart part) const {
    switch (part) {
      case LdlPart::solve:
        return solve();
      case LdlPart::solve_lower:
        return down(true, result(LdlPart::solve_lower, x_), to_array(y_bar_));
      case LdlPart::solve_lower_adjoint:
        return up(true, result(LdlPart::solve_lower_adjoint, x_), to_array(y_bar_));
      case LdlPart::apply_lower:
        return apply_lower();
      case LdlPart::apply_lower_adjoint:
        return apply_lower_adjoint();
    }
    return {};
  }

 private:
  Array<T, 2> result(LdlPart part, const View<const T, 2>& x) const {
    Array<T, 2> y(x.extents(), uninitialized);
    ldl_apply<T>(exec::cpu{1}, entry_, part, as_batch(x), as_batch(y.view()));
    return y;
  }

  Array<T, 2> down(bool solve, const Array<T, 2>& fed, Array<T, 2> bar) const {
    sweep_vjp<T, K>(lower_, solve, fed, bar, gradient_);
    return bar;
  }
  Array<T, 2> up(bool solve, Array<T, 2> fed, Array<T, 2> bar) const {
    conjugate_all(fed);
    conjugate_all(bar);
    sweep_vjp<T, K>(lower_.transposed(), solve, View<const T, 2>(fed).reversed(0),
                    bar.view().reversed(0), gradient_.transposed());
    conjugate_all(bar);
    return bar;
  }

  /// y = L^{-H} t, t = z / d, z = L^{-1} x
  Array<T, 2> solve() const {
    const Array<T, 2> z = result(LdlPart::solve_lower, x_);
    Array<T, 2> t = z;
    scale(t, [](R d) { return 1 / d; });
    Array<T, 2> bar = up(true, result(LdlPart::solve_lower_adjoint, t), to_array(y_bar_));
    add_to_d(bar, z, [](R d) { return -1 / d / d; });
    scale(bar, [](R d) { return 1 / d; });
    return down(true, z, std::move(bar));
  }

  /// y = L v, v = d^{1/2} x
  Array<T, 2> apply_lower() const {
    Array<T, 2> v = to_array(x_);
    scale(v, [](R d) { return std::sqrt(d); });
    Array<T, 2> bar = down(false, v, to_array(y_bar_));
    add_to_d(bar, x_, [](R d) { return R(0.5) / std::sqrt(d); });
    scale(bar, [](R d) { return std::sqrt(d); });
    return bar;
  }

  /// y = d^{1/2} v, v = L^H x
  Array<T, 2> apply_lower_adjoint() const {
    const Array<T, 2> y = result(LdlPart::apply_lower_adjoint, x_);
    add_to_d(y_bar_, y, [](R d) { return R(0.5) / d; });
    Array<T, 2> bar = to_array(y_bar_);
    scale(bar, [](R d) { return std::sqrt(d); });
    return up(false, to_array(x_), std::move(bar));
  }

  template <class Factor>
  void scale(Array<T, 2>& x, const Factor& factor) const {
    for (index_t i = 0; i < x.extent(0); ++i) {
      for (index_t c = 0; c < x.extent(1); ++c) x(i, c) *= factor(d_(i));
    }
  }

  /// d_bar_i += factor(d_i) sum_c Re(conj(x_ic) y_ic)
  template <class Factor>
  void add_to_d(const View<const T, 2>& x, const View<const T, 2>& y, const Factor& factor) const {
    if (d_bar_.data() == nullptr) return;
    for (index_t i = 0; i < x.extent(0); ++i) {
      R sum = 0;
      for (index_t c = 0; c < x.extent(1); ++c) {
        const T u = x(i, c), v = y(i, c);
        sum += std::real(u) * std::real(v) + std::imag(u) * std::imag(v);
      }
      d_bar_(i) += factor(d_(i)) * sum;
    }
  }

  LdlView<T, K> entry_;
  UnitTriangle<const T, K> lower_;
  View<const R, 1> d_;
  View<const T, 2> x_, y_bar_;
  UnitTriangle<T, K> gradient_;
  View<R, 1> d_bar_;
};

}  // namespace

template <Scalar T, transition::Uniform K>
void factor_ldl_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& m, const LdlView<T, K>& f,
                    const LdlCotangent<T, K>& factor,
                    const QuasiseparableCotangent<T, K>& gradient) {
  constexpr const char* operation = "quasiseparable::factor_ldl_vjp";
  using R = real_t<T>;
  const auto all = checked(LdlView<T, K>{m.p, f.w, m.a, f.d}, operation);
  const index_t batch = all.batch(), n = all.size(), r = all.order();
  Cotangents check(operation, batch, n);
  const auto w_bar = check.checked("the cotangent of w", factor.w, r);
  const auto d_bar = check.checked("the cotangent of d", factor.d, 0);
  const QuasiseparableCotangent<T, K> to = [&] {
    QuasiseparableCotangent<T, K> g;
    g.p = check.added("the gradient of p", gradient.p, r);
    g.q = check.added("the gradient of q", gradient.q, r);
    g.a = check.added("the gradient of a", gradient.a, r);
    g.d = check.added("the gradient of d", gradient.d, 0);
    return g;
  }();

  const int team = check.shared() ? 1 : team_for(e.threads, 5 * batch * n * (r + 1) * (r + 1));
  parallel_for(team, batch, [&](index_t b) {
    const Layout<T> layout(r);
    FactorReverse<T, K> reverse(all, b);
    reverse.record();
    // A triangle with q in place of w.
    TriangleBarRows<T, K> bars(
        {entry_of(to.p, b), entry_of(to.q, b), transitions_over_states<K>(entry_of(to.a, b), r)}, n,
        r);
    const Array<T, 2> none({w_bar.data() == nullptr ? n : 0, r});
    PaddedRows<T, 2> w_rows(
        w_bar.data() == nullptr ? none.view() : View<const T, 2>(w_bar.select(0, b)), layout,
        {.last = true});
    Array<R, 1> pivots({std::min(chunk_rows, n)});
    for (index_t run = reverse.runs() - 1; run >= 0; --run) {
      const index_t begin = run * chunk_rows, end = std::min(begin + chunk_rows, n);
      for (index_t i = begin; i < end; ++i) {
        pivots.data()[i - begin] = d_bar.data() == nullptr ? 0 : d_bar(b, i);
      }
      bars.clear();
      reverse.run(run,
                  {w_rows.rows(begin, end), {pivots.data(), 1}, bars.out(), bars.a(), bars.in()});
      bars.add(begin, end);
      for (index_t i = begin; i < end && to.d.data() != nullptr; ++i) {
        to.d(b, i) += pivots.data()[i - begin];
      }
    }
  });
}

template <Scalar T, transition::Uniform K>
void ldl_apply_vjp(const exec::cpu& e, const LdlView<T, K>& factor, LdlPart part,
                   View<const T, 3> x, View<const T, 3> y_bar, const LdlCotangent<T, K>& gradient,
                   View<T, 3> x_bar) {
  constexpr const char* operation = "quasiseparable::ldl_apply_vjp";
  const index_t n = factor.size(), r = factor.order(), k = x.extent(2);
  T apart{};  // y itself is not at hand
  const View<T, 3> y(&apart, y_bar.extents(), {0, 0, 0});
  const index_t batch =
      detail::check_operands(operation, checked(factor, operation).batch(), n, n, x, y);
  const auto f = checked(factor, operation, batch);
  Cotangents check(operation, batch, n);
  const LdlCotangent<T, K> to{check.added("the gradient of p", gradient.p, r),
                              check.added("the gradient of w", gradient.w, r),
                              check.added("the gradient of a", gradient.a, r),
                              check.added("the gradient of d", gradient.d, 0)};
  const View<T, 3> dx = check.added("the gradient of x", x_bar, k);
  x = x.broadcast(0, batch);

  const int team = check.shared() ? 1 : team_for(e.threads, 5 * batch * n * k * (r + 1));
  parallel_for(team, batch, [&](index_t b) {
    const Array<T, 2> bar = ApplyVjp<T, K>(f, b, x, y_bar, to).run(part);
    if (dx.data() == nullptr) return;
    for (index_t i = 0; i < n; ++i) {
      for (index_t c = 0; c < k; ++c) dx(b, i, c) += bar(i, c);
    }
  });
}

template <Scalar T, transition::Uniform K>
void log_determinant_vjp(const LdlView<T, K>& factor, index_t batch, double log_bar,
                         View<real_t<T>, 1> d_bar) {
  constexpr const char* operation = "quasiseparable::log_determinant_vjp";
  const auto f = checked(factor, operation);
  detail::require_extents(operation, d_bar, {f.size()});
  if (batch < 0 || batch >= f.batch()) {
    throw ShapeError(std::string(operation) + ": batch entry " + std::to_string(batch) +
                     ", the factor has " + std::to_string(f.batch()));
  }
  for (index_t i = 0; i < f.size(); ++i) {
    d_bar(i) += static_cast<real_t<T>>(log_bar) / f.d(batch, i);
  }
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                  \
  template STRUCTMAT_EXPORT void factor_ldl_vjp<T, transition::K>(                   \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&,                 \
      const LdlView<T, transition::K>&, const LdlCotangent<T, transition::K>&,       \
      const QuasiseparableCotangent<T, transition::K>&);                             \
  template STRUCTMAT_EXPORT void ldl_apply_vjp<T, transition::K>(                    \
      const exec::cpu&, const LdlView<T, transition::K>&, LdlPart, View<const T, 3>, \
      View<const T, 3>, const LdlCotangent<T, transition::K>&, View<T, 3>);          \
  template STRUCTMAT_EXPORT void log_determinant_vjp<T, transition::K>(              \
      const LdlView<T, transition::K>&, index_t, double, View<real_t<T>, 1>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
