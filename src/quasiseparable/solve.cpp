#include "structmat/quasiseparable/solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/instantiate.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/dense/norm_estimate.hpp"
#include "structmat/quasiseparable/apply.hpp"

namespace structmat {
namespace {

using quasiseparable::Method;
using quasiseparable::SolveOptions;
using quasiseparable::SolveReport;

template <Scalar T>
using Blocks = Quasiseparable<T, transition::Block>;

/// ||x|| of one column.
template <Scalar T>
double norm(const View<const T, 3>& x, index_t batch, index_t column) {
  return dense::frobenius_norm<T>(x.select(0, batch).slice(1, column, column + 1));
}

/// r := b - op(M) x; returns the largest backward error over columns and batch.
template <Scalar T>
double residual(const exec::cpu& e, const Blocks<T>& m, double m_norm, Op op,
                const View<const T, 3>& b, const View<const T, 3>& x, const View<T, 3>& r) {
  apply(e, m, op, x, r);
  double worst = 0;
  for (index_t batch = 0; batch < r.extent(0); ++batch) {
    for (index_t i = 0; i < r.extent(1); ++i) {
      for (index_t c = 0; c < r.extent(2); ++c) r(batch, i, c) = b(batch, i, c) - r(batch, i, c);
    }
    for (index_t c = 0; c < r.extent(2); ++c) {
      const double left = norm<T>(r, batch, c);
      if (left == 0) continue;
      worst = std::max(worst, left / (m_norm * norm(x, batch, c) + norm(b, batch, c)));
    }
  }
  return worst;
}

/// A lower bound of ||M||_2 for the smallest entry of the batch: the largest ||D_k||_F / sqrt(m_k),
/// over diagonal blocks and products with the given vectors.
template <Scalar T>
double norm_bound(const Blocks<T>& m, const View<const T, 3>& x, const View<const T, 3>& b) {
  double least = INFINITY;
  for (index_t batch = 0; batch < x.extent(0); ++batch) {
    double largest = 0;
    const index_t entry = m.batch() == 1 ? 0 : batch;
    for (index_t k = 0; k < m.partition.blocks(); ++k) {
      largest = std::max(largest, dense::frobenius_norm<T>(m.diagonal.block(entry, k)) /
                                      std::sqrt(double(m.partition.size(k))));
    }
    for (index_t c = 0; c < x.extent(2); ++c) {
      const double size = norm(x, batch, c);
      if (size > 0) largest = std::max(largest, norm(b, batch, c) / size);
    }
    least = std::min(least, largest);
  }
  return std::isfinite(least) ? least : 0;
}

template <Scalar T, class Factors>
void substitute(const exec::cpu& e, const Blocks<T>& m, const Factors& f, Op op,
                const View<const T, 3>& b, const View<T, 3>& x, const SolveOptions& options,
                SolveReport& report) {
  report.status = f.status();
  if (!f.status().usable()) return;
  solve(e, f, op, b, x);
  const View<const T, 3> known = x;
  const View<const T, 3> whole = b.broadcast(0, x.extent(0));
  const double bound = norm_bound<T>(m, known, whole);
  Array<T, 3> r(x.extents());
  report.backward_error = residual<T>(e, m, bound, op, whole, known, r.view());
  const double enough = 4 * double(epsilon<T>);
  while (report.refinements < options.refinements && report.backward_error > enough) {
    Array<T, 3> better = to_array(x);
    solve(e, f, op, std::as_const(r).view(), r.view());
    for (index_t i = 0; i < better.size(); ++i) better.data()[i] += r.data()[i];
    const double error =
        residual<T>(e, m, bound, op, whole, std::as_const(better).view(), r.view());
    if (!(error < report.backward_error)) return;
    const bool halved = error <= report.backward_error / 2;
    copy(std::as_const(better).view(), x);
    report.backward_error = error;
    ++report.refinements;
    if (!halved) return;
  }
}

template <Scalar T, class Factors>
double estimate_condition(const Blocks<T>& m, const Factors& f, index_t batch) {
  const index_t n = m.size();
  if (batch < 0 || batch >= f.batch() || f.size() != n) {
    throw ShapeError("quasiseparable::condition_estimate: entry " + std::to_string(batch) +
                     " of a matrix of size " + std::to_string(n) + ", the factors are of size " +
                     std::to_string(f.size()) + " and batch " + std::to_string(f.batch()));
  }
  const index_t entries = std::max(m.batch(), f.batch());
  // One entry of the batch: the others see zeros.
  Array<T, 3> x({entries, n, 1}), y({entries, n, 1});
  const auto with = [&](const auto& action) {
    return [&, action](View<T, 1> v) {
      copy(View<const T, 1>(v), x.view().select(0, batch).select(1, 0));
      action();
      copy(View<const T, 1>(y.view().select(0, batch).select(1, 0)), v);
    };
  };
  const auto product = [&](Op op) {
    return with([&, op] { apply(exec::cpu{}, m, op, std::as_const(x).view(), y.view()); });
  };
  const auto solution = [&](Op op) {
    return with([&, op] { solve(exec::cpu{}, f, op, std::as_const(x).view(), y.view()); });
  };
  return dense::one_norm_estimate<T>(n, product(Op::none), product(Op::adjoint)) *
         dense::one_norm_estimate<T>(n, solution(Op::none), solution(Op::adjoint));
}

template <Scalar T, class Factors>
void condition(const Blocks<T>& m, const Factors& f, SolveReport& report) {
  if (!f.status().usable()) return;
  double largest = 0;
  for (index_t b = 0; b < m.batch(); ++b) largest = std::max(largest, estimate_condition(m, f, b));
  report.condition = largest;
}

}  // namespace

template <Scalar T>
SolveReport solve(const exec::cpu& e, const Blocks<T>& m, Op op, View<const T, 3> b, View<T, 3> x,
                  const SolveOptions& options) {
  detail::check_operands("quasiseparable::solve", m.batch(), m.size(), m.size(), b, x);
  SolveReport report;
  if (options.method == Method::lu) {
    const auto f = quasiseparable::factor_lu(m);
    report.growth = f.growth();
    if (f.status().ok() && f.growth() <= options.growth_limit) {
      report.method = Method::lu;
      substitute<T>(e, m, f, op, b, x, options, report);
      if (options.condition) condition(m, f, report);
      return report;
    }
  }
  const auto f = quasiseparable::factor_qr(m);
  substitute<T>(e, m, f, op, b, x, options, report);
  if (options.condition) condition(m, f, report);
  return report;
}

namespace quasiseparable {

template <Scalar T>
double condition_estimate(const Quasiseparable<T, transition::Block>& m, const Qr<T>& f,
                          index_t batch) {
  return estimate_condition(m, f, batch);
}
template <Scalar T>
double condition_estimate(const Quasiseparable<T, transition::Block>& m, const Lu<T>& f,
                          index_t batch) {
  return estimate_condition(m, f, batch);
}

}  // namespace quasiseparable

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT SolveReport solve<T>(                                                 \
      const exec::cpu&, const Blocks<T>&, Op, View<const T, 3>, View<T, 3>, const SolveOptions&); \
  template STRUCTMAT_EXPORT double quasiseparable::condition_estimate<T>(const Blocks<T>&,        \
                                                                         const Qr<T>&, index_t);  \
  template STRUCTMAT_EXPORT double quasiseparable::condition_estimate<T>(const Blocks<T>&,        \
                                                                         const Lu<T>&, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
