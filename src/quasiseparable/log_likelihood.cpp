// The factorisation and the solve z = L^{-1} y take turns, run by run, and so do their reverses:
// with the value l = -(sum |z_i|^2 / d_i + log d_i) / 2, the cotangents z_bar = -z / d and d_bar =
// (|z|^2 / d - 1) / (2 d) go through the solve, whose cotangent of w goes on through the
// factorisation.

#include "structmat/quasiseparable/log_likelihood.hpp"

#include <numbers>
#include <optional>
#include <vector>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/hermitian_input.hpp"
#include "quasiseparable/ldl_bars.hpp"
#include "quasiseparable/ldl_factor.hpp"
#include "quasiseparable/ldl_factor_reverse.hpp"
#include "quasiseparable/ldl_sweep_reverse.hpp"
#include "quasiseparable/log_product.hpp"

namespace structmat::quasiseparable {
namespace {

template <Scalar T>
real_t<T> squared(const T& z) {
  return std::real(z) * std::real(z) + std::imag(z) * std::imag(z);
}

/// One batch entry.
template <Scalar T, transition::Uniform K>
class Likelihood {
 public:
  using R = real_t<T>;

  Likelihood(const QuasiseparableView<T, K>& m, index_t batch, const View<const T, 1>& y,
             bool reverse)
      : n_(m.size()),
        order_(m.p.extent(2)),
        matrix_{entry(m.p, batch), entry(m.q, batch), entry(m.a, batch), entry(m.d, batch)},
        batch_(batch),
        y_(y),
        w_({1, n_, order_}, uninitialized),
        z_({n_, 1}, uninitialized),
        d_({1, n_}, uninitialized) {
    if (reverse) {
      factor_reverse_.emplace(factor(), 0);
      sweep_reverse_.emplace(lower(), true);
    }
  }

  PivotStatus forward(double& value) {
    Factorisation<T, K> factorisation(matrix_, 0, {}, w_, d_);
    UnitSweep<T, K> sweep(lower(), true, 1);
    LogProduct determinant;
    double squares = 0;
    for (index_t begin = 0; begin < n_; begin += chunk_rows) {
      const index_t end = std::min(begin + chunk_rows, n_);
      if (factor_reverse_) {
        factor_reverse_->keep_start(begin / chunk_rows, factorisation.state().data());
        sweep_reverse_->keep_start(begin / chunk_rows, sweep.state(0));
      }
      if (!factorisation.rows(begin, end)) {
        PivotStatus status = factorisation.status();
        status.batch = batch_;
        value = status.kind == PivotStatus::Kind::not_finite
                    ? std::numeric_limits<double>::quiet_NaN()
                    : -std::numeric_limits<double>::infinity();
        return status;
      }
      for (index_t i = begin; i < end; ++i) z_(i, 0) = y_(i);
      sweep.rows(begin, end, z_.view().slice(0, begin, end));
      for (index_t i = begin; i < end; ++i) {
        const double d = d_(0, i);
        determinant.times(d);
        squares += squared(z_(i, 0)) / d;
      }
    }
    value = -0.5 * (squares + determinant.log() +
                    static_cast<double>(n_) * std::log(2 * std::numbers::pi));
    return {};
  }

  /// After forward.
  void reverse(R value_bar, const UnitTriangle<T, K>& triangle_bar, const View<T, 1>& d_bar,
               const View<T, 1>& y_bar) {
    const Layout<T> layout(order_);
    TriangleBarRows<T, K> bars(triangle_bar, n_, order_);
    ResultRows<T, 2> w_bar({}, n_, layout);
    Array<R, 1> pivots({std::min(chunk_rows, n_)});
    Array<T, 1> bar({n_}, uninitialized);
    for (index_t run = factor_reverse_->runs() - 1; run >= 0; --run) {
      const index_t begin = run * chunk_rows, end = std::min(begin + chunk_rows, n_);
      for (index_t i = begin; i < end; ++i) {
        const R inverse = 1 / d_(0, i), share = squared(z_(i, 0)) * inverse;
        bar(i) = z_(i, 0) * (-value_bar * inverse);
        pivots.data()[i - begin] = R(0.5) * value_bar * (share - 1) * inverse;
      }
      bars.clear();
      w_bar.clear();
      sweep_reverse_->run(run, View<const T, 2>(z_).select(1, 0), bar,
                          {bars.out(), w_bar.rows(), bars.a()});
      // w_{n-1} is 0 whatever the matrix.
      if (end == n_) {
        std::fill_n(w_bar.rows().row(end - 1 - begin), layout.vector(), R{});
      }
      factor_reverse_->run(run, {{w_bar.rows().data, w_bar.rows().step},
                                 {pivots.data(), 1},
                                 bars.out(),
                                 bars.a(),
                                 bars.in()});
      bars.add(begin, end);
      for (index_t i = begin; i < end; ++i) {
        if (d_bar.data() != nullptr) d_bar(i) += pivots.data()[i - begin];
        if (y_bar.data() != nullptr) y_bar(i) += bar(i);
      }
    }
  }

 private:
  template <class V>
  static V entry(const V& view, index_t batch) {
    return view.slice(0, batch, batch + 1);
  }
  LdlView<T, K> factor() const { return {matrix_.p, w_.view(), matrix_.a, d_.view()}; }
  UnitTriangle<const T, K> lower() const {
    return UnitTriangle<const T, K>::lower(matrix_.p.select(0, 0), w_.view().select(0, 0),
                                           matrix_.a.select(0, 0));
  }

  index_t n_, order_;
  QuasiseparableView<T, K> matrix_;
  index_t batch_;
  View<const T, 1> y_;
  Array<T, 3> w_;
  Array<T, 2> z_;
  Array<R, 2> d_;
  std::optional<FactorReverse<T, K>> factor_reverse_;
  std::optional<SweepReverse<T, K>> sweep_reverse_;
};

/// y over the batch of both.
template <Scalar T, transition::Uniform K>
std::pair<QuasiseparableView<T, K>, View<const T, 2>> checked_operands(
    const char* operation, const QuasiseparableView<T, K>& matrix, const View<const T, 2>& y) {
  recurrence::Shape shape(operation, checked_hermitian(matrix, operation).batch(), matrix.size());
  shape.require("y", y, 0);
  return {checked_hermitian(matrix, operation, shape.batch()), y.broadcast(0, shape.batch())};
}

}  // namespace

template <Scalar T, transition::Uniform K>
PivotStatus log_likelihood(const exec::cpu& e, const QuasiseparableView<T, K>& matrix,
                           View<const T, 2> observations, View<double, 1> value) {
  constexpr const char* operation = "quasiseparable::log_likelihood";
  const auto [m, y] = checked_operands(operation, matrix, observations);
  const index_t batch = m.batch(), r = m.p.extent(2);
  detail::require_extents(operation, value, {batch});
  std::vector<PivotStatus> status(static_cast<std::size_t>(batch));
  const int team = team_for(e.threads, batch * m.size() * (r + 1) * (r + 1));
  parallel_for(team, batch, [&, &m = m, &y = y](index_t b) {
    status[static_cast<std::size_t>(b)] =
        Likelihood<T, K>(m, b, y.select(0, b), false).forward(value(b));
  });
  return first_bad(status);
}

template <Scalar T, transition::Uniform K>
PivotStatus log_likelihood_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& matrix,
                               View<const T, 2> observations, View<double, 1> value,
                               View<const double, 1> value_bar,
                               const QuasiseparableCotangent<T, K>& gradient, View<T, 2> y_bar) {
  constexpr const char* operation = "quasiseparable::log_likelihood_vjp";
  const auto [m, y] = checked_operands(operation, matrix, observations);
  const index_t batch = m.batch(), n = m.size(), r = m.p.extent(2);
  detail::require_extents(operation, value, {batch});
  detail::require_extents(operation, value_bar, {batch});
  Cotangents check(operation, batch, n);
  const View<T, 3> to_p = check.added("the gradient of p", gradient.p, r);
  const View<T, 3> to_q = check.added("the gradient of q", gradient.q, r);
  const auto to_a = check.added("the gradient of a", gradient.a, r);
  const View<T, 2> to_d = check.added("the gradient of d", gradient.d, 0);
  const View<T, 2> to_y = check.added("the gradient of y", y_bar, 0);

  std::vector<PivotStatus> status(static_cast<std::size_t>(batch));
  const int team = check.shared() ? 1 : team_for(e.threads, 5 * batch * n * (r + 1) * (r + 1));
  parallel_for(team, batch, [&, &m = m, &y = y](index_t b) {
    Likelihood<T, K> likelihood(m, b, y.select(0, b), true);
    const PivotStatus end = likelihood.forward(value(b));
    status[static_cast<std::size_t>(b)] = end;
    if (!end.ok()) return;
    // A triangle with q in place of w.
    likelihood.reverse(
        static_cast<real_t<T>>(value_bar(b)),
        {entry_of(to_p, b), entry_of(to_q, b), transitions_over_states<K>(entry_of(to_a, b), r)},
        entry_of(to_d, b), entry_of(to_y, b));
  });
  return first_bad(status);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                             \
  template STRUCTMAT_EXPORT PivotStatus log_likelihood<T, transition::K>(                       \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&, View<const T, 2>,          \
      View<double, 1>);                                                                         \
  template STRUCTMAT_EXPORT PivotStatus log_likelihood_vjp<T, transition::K>(                   \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&, View<const T, 2>,          \
      View<double, 1>, View<const double, 1>, const QuasiseparableCotangent<T, transition::K>&, \
      View<T, 2>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
