#include "structmat/toeplitz/hermitian_solve.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "structmat/toeplitz/plan.hpp"

namespace structmat::toeplitz {
namespace {

/// ||T||_F / sqrt(n) of each batch entry.
template <Scalar T>
std::vector<double> norms(const View<const T, 2>& column) {
  const index_t n = column.extent(1);
  std::vector<double> result;
  for (index_t b = 0; b < column.extent(0); ++b) {
    // Relative to c_0, the largest element: squares may be out of range.
    const double c0 = static_cast<double>(std::real(column(b, 0)));
    double sum = 1;
    for (index_t l = 1; l < n; ++l) {
      const double size = static_cast<double>(std::abs(column(b, l))) / c0;
      sum += 2 * (1 - static_cast<double>(l) / static_cast<double>(n)) * size * size;
    }
    result.push_back(c0 * std::sqrt(sum));
  }
  return result;
}

template <Scalar T>
double norm(const View<const T, 1>& x) {
  double sum = 0;
  for (index_t i = 0; i < x.extent(0); ++i) {
    const double size = static_cast<double>(std::abs(x(i)));
    sum += size * size;
  }
  return std::sqrt(sum);
}

}  // namespace

template <Scalar T>
HermitianSolveReport solve_hermitian(const exec::cpu& e, const HermitianInverse<T>& inverse,
                                     View<const T, 3> b, View<T, 3> x, int refinements) {
  const char* const operation = "toeplitz::solve_hermitian";
  const index_t n = inverse.size(), k = x.extent(2);
  const index_t batch = detail::check_operands(operation, inverse.batch(), n, n, b, x);
  if (refinements < 0) {
    throw DomainError(std::string(operation) + ": " + std::to_string(refinements) +
                      " refinements, it takes at least 0");
  }
  HermitianSolveReport report;
  report.status = inverse.status();
  report.method = inverse.method();
  if (!report.status.ok() || batch == 0 || n == 0 || k == 0) return report;

  b = b.broadcast(0, batch);
  apply(e, inverse, Op::none, b, x);
  const Toeplitz<T> matrix = hermitian(inverse.column());
  const ToeplitzPlan<T> plan(matrix.view());
  const std::vector<double> sizes = norms(inverse.column());
  Array<T, 3> residual({batch, n, k}, uninitialized), correction = residual, candidate = residual;

  /// residual := b - T y; returns the backward error.
  const auto measure = [&](const View<const T, 3>& y) {
    apply(e, plan, Op::none, y, residual.view());
    double worst = 0;
    for (index_t i = 0; i < batch; ++i) {
      const double size = sizes[static_cast<std::size_t>(inverse.batch() == 1 ? 0 : i)];
      for (index_t c = 0; c < k; ++c) {
        for (index_t j = 0; j < n; ++j) residual(i, j, c) = b(i, j, c) - residual(i, j, c);
        const double error = norm<T>(residual.view().select(0, i).select(1, c));
        if (error == 0) continue;
        const double relative = error / (size * norm<T>(y.select(0, i).select(1, c)) +
                                         norm<T>(b.select(0, i).select(1, c)));
        // What is not a number stays.
        if (!(relative <= worst)) worst = relative;
      }
    }
    return worst;
  };

  report.backward_error = measure(x);
  while (report.refinements < refinements && report.backward_error > 4 * double(epsilon<T>)) {
    apply(e, inverse, Op::none, std::as_const(residual).view(), correction.view());
    for (index_t i = 0; i < batch; ++i) {
      for (index_t j = 0; j < n; ++j) {
        for (index_t c = 0; c < k; ++c) candidate(i, j, c) = x(i, j, c) + correction(i, j, c);
      }
    }
    const double before = report.backward_error, after = measure(candidate.view());
    ++report.refinements;
    if (after < before) {
      copy(std::as_const(candidate).view(), x);
      report.backward_error = after;
    }
    if (!(after < 0.5 * before)) break;
  }
  return report;
}

#define STRUCTMAT_INSTANTIATE(T)                                     \
  template STRUCTMAT_EXPORT HermitianSolveReport solve_hermitian<T>( \
      const exec::cpu&, const HermitianInverse<T>&, View<const T, 3>, View<T, 3>, int);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
