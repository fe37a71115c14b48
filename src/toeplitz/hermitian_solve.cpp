#include "structmat/toeplitz/hermitian_solve.hpp"

#include "core/instantiate.hpp"
#include "core/refine.hpp"
#include "structmat/toeplitz/plan.hpp"
#include "toeplitz/norm_bound.hpp"

namespace structmat::toeplitz {
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

  apply(e, inverse, Op::none, b.broadcast(0, batch), x);
  const Toeplitz<T> matrix = hermitian(inverse.column());
  const ToeplitzPlan<T> plan(matrix.view());
  const Refinement refinement = refine<T>(
      b, x, refinements,
      [&](index_t entry) { return norm_bound(matrix.view(), inverse.batch() == 1 ? 0 : entry); },
      [&](const View<const T, 3>& v, const View<T, 3>& y) { apply(e, plan, Op::none, v, y); },
      [&](const View<T, 3>& r) {
        apply(e, inverse, Op::none, View<const T, 3>(to_array(r).view()), r);
      });
  report.backward_error = refinement.backward_error;
  report.refinements = refinement.steps;
  return report;
}

#define STRUCTMAT_INSTANTIATE(T)                                     \
  template STRUCTMAT_EXPORT HermitianSolveReport solve_hermitian<T>( \
      const exec::cpu&, const HermitianInverse<T>&, View<const T, 3>, View<T, 3>, int);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
