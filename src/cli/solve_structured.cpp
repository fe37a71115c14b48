#include "solve_structured.hpp"

#include <fmt/format.h>

#include "promote.hpp"
#include "structmat/cauchy/inverse.hpp"
#include "structmat/cauchy/solve.hpp"
#include "structmat/toeplitz/circulant_solve.hpp"
#include "structmat/toeplitz/solve.hpp"
#include "structmat/vandermonde/solve.hpp"

namespace structmat::cli {
namespace {

template <class M, class T = typename M::value_type>
concept HasSolver = requires(const M& m, View<const T, 3> b, View<T, 3> x) {
  solve(exec::cpu{}, m.view(), Op::none, b, x);
};
template <class M>
concept HasDeterminant = requires(const M& m) {
  log_determinant(exec::cpu{}, m.view());
};

template <class Report>
SolveFacts facts_of(const Report& report) {
  SolveFacts facts{.status = report.status};
  if constexpr (requires { report.backward_error; }) facts.backward_error = report.backward_error;
  if constexpr (requires { report.growth; }) facts.growth = report.growth;
  if constexpr (requires { report.refinements; }) facts.refinements = report.refinements;
  return facts;
}

[[noreturn]] void refuse(const io::AnyStructured& a, const char* what) {
  throw Unsupported(fmt::format("{} matrices have no {}", family_of(a), what));
}

}  // namespace

template <Scalar T>
SolveFacts solve_structured(const io::AnyStructured& a, Op op, View<const T, 2> b, View<T, 2> x) {
  return visit_structured(
      [&]<class M>(const M& m) -> SolveFacts {
        if constexpr (!HasSolver<M>) {
          refuse(a, "solver");
        } else if constexpr (std::same_as<common_t<T, typename M::value_type>, T>) {
          const auto& wide = in_scalar<T>(m);
          return facts_of(solve(exec::cpu{}, wide.view(), op, View<const T, 3>(as_batch(b)),
                                View<T, 3>(as_batch(x))));
        } else {
          refuse(a, "solver in a narrower scalar type");
        }
      },
      a);
}

template SolveFacts solve_structured(const io::AnyStructured&, Op, View<const float, 2>,
                                     View<float, 2>);
template SolveFacts solve_structured(const io::AnyStructured&, Op, View<const double, 2>,
                                     View<double, 2>);
template SolveFacts solve_structured(const io::AnyStructured&, Op,
                                     View<const std::complex<float>, 2>,
                                     View<std::complex<float>, 2>);
template SolveFacts solve_structured(const io::AnyStructured&, Op,
                                     View<const std::complex<double>, 2>,
                                     View<std::complex<double>, 2>);

LogDeterminant<std::complex<double>> log_determinant_structured(const io::AnyStructured& a) {
  return visit_structured(
      [&]<class M>(const M& m) -> LogDeterminant<std::complex<double>> {
        if constexpr (HasDeterminant<M>) {
          const auto found = log_determinant(exec::cpu{}, m.view());
          return {found.log_abs, std::complex<double>(found.sign)};
        } else {
          refuse(a, "determinant");
        }
      },
      a);
}

}  // namespace structmat::cli
