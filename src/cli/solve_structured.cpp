#include "solve_structured.hpp"

#include <fmt/format.h>

#include "device.hpp"
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

namespace {

/// The solvers of the device, by factors of the family or by a prepared matrix; nullopt: none.
template <class M, Scalar T>
std::optional<PivotStatus> solve_there(const M& m, Op op, View<const T, 3, space::cuda> b,
                                       View<T, 3, space::cuda> x) {
  if constexpr (requires { CirculantSolver<T>(exec::cuda{}, m.view()); }) {
    const CirculantSolver<T> solver({}, m.view(), b.extent(2));
    auto workspace = device_workspace(solve_workspace_bytes(solver));
    return solve(exec::cuda{nullptr, workspace}, solver, op, b, x).status;
  } else if constexpr (requires { solve_workspace_bytes(m.view(), index_t{1}); }) {
    auto workspace = device_workspace(solve_workspace_bytes(m.view(), b.extent(2)));
    Array<PivotStatus, 1, space::cuda> status({1});
    solve(exec::cuda{nullptr, workspace}, m.view(), op, b, x, status.view());
    return to_host(status)(0);
  } else {
    return std::nullopt;
  }
}

}  // namespace

template <Scalar T>
SolveFacts solve_on_device(const io::AnyStructured& a, Op op, const Array<T, 2>& b,
                           Array<T, 2>& x) {
  const auto right = to_device(b);
  Array<T, 2, space::cuda> solution(x.extents());
  const std::optional<PivotStatus> status = visit_structured(
      [&]<class M>(const M& m) -> std::optional<PivotStatus> {
        if constexpr (std::same_as<common_t<T, typename M::value_type>, T>) {
          return solve_there(to_device(in_scalar<T>(m)), op,
                             View<const T, 3, space::cuda>(as_batch(right.view())),
                             View<T, 3, space::cuda>(as_batch(solution.view())));
        } else {
          refuse(a, "solver in a narrower scalar type");
        }
      },
      a);
  if (!status) {
    throw Unsupported(fmt::format(
        "backend cuda: {} matrices have no solver there; Toeplitz, circulant, skew-circulant, "
        "Cauchy, Cauchy-like and Hermitian quasiseparable ones have",
        family_of(a)));
  }
  x = to_host(solution);
  return {.status = *status};
}

#define STRUCTMAT_INSTANTIATE(T)                                                        \
  template SolveFacts solve_structured(const io::AnyStructured&, Op, View<const T, 2>,  \
                                       View<T, 2>);                                     \
  template SolveFacts solve_on_device(const io::AnyStructured&, Op, const Array<T, 2>&, \
                                      Array<T, 2>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

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
