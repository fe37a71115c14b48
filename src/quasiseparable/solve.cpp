#include "structmat/quasiseparable/solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "core/refine.hpp"
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

/// A lower bound of ||M||_2 of one batch entry: the largest ||D_k||_F / sqrt(m_k), over diagonal
/// blocks.
template <Scalar T>
double norm_bound(const Blocks<T>& m, index_t entry) {
  double largest = 0;
  for (index_t k = 0; k < m.partition.blocks(); ++k) {
    largest = std::max(largest, dense::frobenius_norm<T>(m.diagonal.block(entry, k)) /
                                    std::sqrt(double(m.partition.size(k))));
  }
  return largest;
}

template <Scalar T, class Factors>
void substitute(const exec::cpu& e, const Blocks<T>& m, const Factors& f, Op op,
                const View<const T, 3>& b, const View<T, 3>& x, const SolveOptions& options,
                SolveReport& report) {
  report.status = f.status();
  if (!f.status().usable()) return;
  solve(e, f, op, b, x);
  std::vector<double> norms(static_cast<std::size_t>(m.batch()));
  for (std::size_t i = 0; i < norms.size(); ++i) norms[i] = norm_bound(m, static_cast<index_t>(i));
  const Refinement refinement = refine<T>(
      b, x, options.refinements,
      [&](index_t batch) { return norms[m.batch() == 1 ? 0 : static_cast<std::size_t>(batch)]; },
      [&](const View<const T, 3>& v, const View<T, 3>& y) { apply(e, m, op, v, y); },
      [&](const View<T, 3>& r) { solve(e, f, op, View<const T, 3>(r), r); });
  report.backward_error = refinement.backward_error;
  report.refinements = refinement.steps;
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
