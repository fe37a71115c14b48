#include "structmat/cauchy/solve.hpp"

#include <algorithm>
#include <vector>

#include "core/instantiate.hpp"
#include "core/refine.hpp"

namespace structmat {
namespace {

/// ||C z|| / ||z|| of each batch entry for signs z: about ||C||_F / sqrt(n).
template <Scalar T, class V>
std::vector<double> norm_bounds(const exec::cpu& e, const V& m) {
  const index_t n = m.rows();
  Array<T, 3> z({1, n, 1}), y({m.batch(), n, 1});
  // Signs without a pattern that a structured matrix could know: the parity of bits.
  for (index_t i = 0; i < n; ++i) {
    z(0, i, 0) = T(__builtin_parityll(static_cast<unsigned long long>(i)) != 0 ? -1 : 1);
  }
  apply(e, m, Op::none, std::as_const(z).view(), y.view());
  std::vector<double> bounds;
  for (index_t b = 0; b < m.batch(); ++b) {
    bounds.push_back(dense::frobenius_norm<T>(std::as_const(y).view().select(0, b)) /
                     std::sqrt(double(std::max<index_t>(n, 1))));
  }
  return bounds;
}

template <class V, Scalar T>
cauchy::SolveReport solve_with(const exec::cpu& e, const V& given, Op op, const View<const T, 3>& b,
                               const View<T, 3>& x, int refinements) {
  const V m = cauchy::checked(given, "cauchy::solve");
  detail::check_operands("cauchy::solve", m.batch(), m.rows(), m.rows(), b, x);
  const auto f = cauchy::factor_lu(e, m);
  cauchy::SolveReport report{f.status(), f.growth()};
  if (!f.status().usable() || x.empty()) return report;
  cauchy::solve(e, f, op, b, x);
  const std::vector<double> bounds = norm_bounds<T>(e, m);
  const Refinement refinement = refine<T>(
      b, x, refinements,
      [&](index_t batch) { return bounds[std::size_t(m.batch() == 1 ? 0 : batch)]; },
      [&](const View<const T, 3>& v, const View<T, 3>& y) { apply(e, m, op, v, y); },
      [&](const View<T, 3>& r) { cauchy::solve<T>(e, f, op, r, r); });
  report.backward_error = refinement.backward_error;
  report.refinements = refinement.steps;
  return report;
}

}  // namespace

template <Scalar T>
cauchy::SolveReport solve(const exec::cpu& e, const CauchyLikeView<T>& m, Op op, View<const T, 3> b,
                          View<T, 3> x, const cauchy::SolveOptions& options) {
  return solve_with(e, m, op, b, x, options.refinements);
}
template <Scalar T>
cauchy::SolveReport solve(const exec::cpu& e, const CauchyView<T>& m, Op op, View<const T, 3> b,
                          View<T, 3> x, const cauchy::SolveOptions&) {
  return solve_with(e, m, op, b, x, 0);
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                    \
  template STRUCTMAT_EXPORT cauchy::SolveReport solve<T>(const exec::cpu&, const V<T>&, Op, \
                                                         View<const T, 3>, View<T, 3>,      \
                                                         const cauchy::SolveOptions&);
#define STRUCTMAT_INSTANTIATE(T)            \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
