#include "core/instantiate.hpp"
#include "toeplitz/hermitian_lags.hpp"
#include "toeplitz/krylov.hpp"

namespace structmat::toeplitz {
namespace {

using Stop = IterativeReport::Stop;

template <Scalar T>
ColumnReport one_column(const KrylovMatrix<T>& m, const Array<T, 1>& b, Array<T, 1>& x,
                        const IterativeOptions& options) {
  const index_t n = m.size();
  const double size = norm(b);
  ColumnReport report;
  if (size == 0) return report;
  report.residual = 1;
  report.stop = Stop::iterations;
  if (!std::isfinite(size)) {
    report.residual = size;
    report.stop = Stop::not_finite;
    return report;
  }
  Array<T, 1> r = b, z({n}), p({n}), q({n}), candidate({n});
  // Each round ends with the residual computed from x; the recursion of one round may have drifted.
  while (report.iterations < options.iterations && report.residual > options.tolerance) {
    m.precondition(r, z);
    p = z;
    double rho = std::real(dot(r, z));
    Stop stop = Stop::iterations;
    candidate = x;
    while (report.iterations < options.iterations) {
      m.apply(p, q);
      ++report.iterations;
      const double curvature = std::real(dot(p, q));
      if (!std::isfinite(curvature) || !std::isfinite(rho))
        stop = Stop::not_finite;
      else if (!(curvature > 0))
        stop = Stop::not_positive;
      if (stop != Stop::iterations) break;
      const auto step = static_cast<real_t<T>>(rho / curvature);
      add(T(step), p, candidate);
      add(T(-step), q, r);
      if (norm(r) <= options.tolerance * size) break;
      m.precondition(r, z);
      const double next = std::real(dot(r, z));
      const auto ratio = static_cast<real_t<T>>(next / rho);
      for (index_t i = 0; i < n; ++i) p(i) = z(i) + ratio * p(i);
      rho = next;
    }
    m.residual(b, candidate, r);
    const double before = report.residual, after = norm(r) / size;
    if (after < before) {
      x = candidate;
      report.residual = after;
    }
    if (stop != Stop::iterations) {
      report.stop = stop;
      return report;
    }
    if (!(after < 0.5 * before) && report.residual > options.tolerance &&
        report.iterations < options.iterations) {
      report.stop = Stop::stagnated;
      return report;
    }
  }
  if (report.residual <= options.tolerance) report.stop = Stop::converged;
  return report;
}

}  // namespace

template <Scalar T>
IterativeReport conjugate_gradients(const exec::cpu& e, const ToeplitzView<T>& m,
                                    View<const T, 3> b, View<T, 3> x,
                                    const IterativeOptions& options) {
  const char* const operation = "toeplitz::conjugate_gradients";
  const ToeplitzView<T> t = checked(m, operation);
  for (index_t entry = 0; t.rows() == t.cols() && entry < t.batch(); ++entry) {
    const index_t l = unequal_lag(t, entry);
    if (l < 0) continue;
    throw DomainError(std::string(operation) + ": lags " + std::to_string(l) + " and " +
                      std::to_string(-l) + " of batch entry " + std::to_string(entry) +
                      " are not conjugate, the matrix is not Hermitian");
  }
  return krylov(operation, e, m, b, x, options, true,
                [&](const KrylovMatrix<T>& one, const Array<T, 1>& rhs, Array<T, 1>& solution) {
                  return one_column(one, rhs, solution, options);
                });
}

#define STRUCTMAT_INSTANTIATE(T)                                              \
  template STRUCTMAT_EXPORT IterativeReport conjugate_gradients(              \
      const exec::cpu&, const ToeplitzView<T>&, View<const T, 3>, View<T, 3>, \
      const IterativeOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
