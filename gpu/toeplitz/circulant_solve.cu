#include "structmat/toeplitz/circulant_solve.hpp"

#include "core/instantiate.hpp"
#include "toeplitz/cyclic.cuh"
#include "toeplitz/magnitude.hpp"

namespace structmat {
namespace toeplitz {

template <Scalar T>
struct CirculantSolverState {
  using R = real_t<T>;
  using C = gpu::Complex<R>;

  CirculantSolverState(const char* operation, const exec::cuda& e,
                       const View<const T, 2, space::cuda>& column, bool skew, index_t at_once)
      : batch(column.extent(0)), cyclic(operation, column.extent(1), skew, at_once) {
    if (column.empty()) return;
    const index_t n = cyclic.size();
    const device::Input<gpu::device_scalar_t<T>> numbers{
        {gpu::device_pointer(column.data()),
         {batch == 1 ? 0 : column.stride(0), column.stride(1), 0}},
        n,
        false};
    // Without a scale: eigenvalues beyond the range of numbers count as not finite.
    auto lambda = cyclic.eigenvalues(operation, gpu::stream_of(e), numbers, batch);
    for (index_t b = 0; b < batch && status.kind != PivotStatus::Kind::not_finite; ++b)
      examine(b, lambda.data() + b * n);
    if (!status.usable()) return;
    std::vector<C> reciprocals;
    for (const std::complex<R>& value : lambda) {
      const std::complex<R> r = std::complex<R>(1) / (value * static_cast<R>(n));
      reciprocals.emplace_back(r.real(), r.imag());
    }
    inverses = uploaded(reciprocals);
  }

  /// A zero eigenvalue counts for more than small ones before it.
  void examine(index_t b, const std::complex<R>* lambda) {
    const index_t n = cyclic.size();
    double largest = 0;
    for (index_t k = 0; k < n; ++k) {
      const double size = std::abs(std::complex<double>(lambda[k]));
      if (!std::isfinite(size)) {
        status = {PivotStatus::Kind::not_finite, b, k, size};
        return;
      }
      largest = std::max(largest, size);
    }
    const double least =
        4 * (1 + std::log2(static_cast<double>(n))) * static_cast<double>(epsilon<T>) * largest;
    for (index_t k = 0; k < n; ++k) {
      const double size = std::abs(std::complex<double>(lambda[k]));
      if (size > least) continue;
      const auto kind = size == 0 ? PivotStatus::Kind::zero : PivotStatus::Kind::near_singular;
      if (status.ok() || (status.usable() && kind == PivotStatus::Kind::zero))
        status = {kind, b, k, size};
    }
  }

  index_t batch;
  Cyclic<T> cyclic;
  PivotStatus status;
  Array<C, 1, space::cuda> inverses;  ///< 1 / (n lambda), (batch, n)
};

namespace {

index_t checked_at_once(const char* operation, index_t at_once) {
  if (at_once < 1) {
    throw DomainError(std::string(operation) + ": " + std::to_string(at_once) +
                      " columns at once, at least 1 is needed");
  }
  return at_once;
}

}  // namespace
}  // namespace toeplitz

template <Scalar T>
CirculantSolver<T>::CirculantSolver(const exec::cuda& e, const CirculantView<T, space::cuda>& m,
                                    index_t at_once) {
  constexpr auto operation = "circulant::solver";
  state_ = std::make_shared<const toeplitz::CirculantSolverState<T>>(
      operation, e, circulant::checked(m, operation).column, false,
      toeplitz::checked_at_once(operation, at_once));
}
template <Scalar T>
CirculantSolver<T>::CirculantSolver(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m,
                                    index_t at_once) {
  constexpr auto operation = "skew_circulant::solver";
  state_ = std::make_shared<const toeplitz::CirculantSolverState<T>>(
      operation, e, skew_circulant::checked(m, operation).column, true,
      toeplitz::checked_at_once(operation, at_once));
}
template <Scalar T>
index_t CirculantSolver<T>::batch() const {
  return state_->batch;
}
template <Scalar T>
index_t CirculantSolver<T>::size() const {
  return state_->cyclic.size();
}
template <Scalar T>
const PivotStatus& CirculantSolver<T>::status() const {
  return state_->status;
}

template <Scalar T>
index_t solve_workspace_bytes(const CirculantSolver<T>& solver) {
  return gpu::counted("circulant::solve_workspace_bytes", solver.state().cyclic.layout());
}

template <Scalar T>
circulant::SolveReport solve(const exec::cuda& e, const CirculantSolver<T>& solver, Op op,
                             View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x) {
  constexpr auto operation = "circulant::solve";
  const auto& state = solver.state();
  const index_t n = solver.size(), k = b.extent(2);
  const index_t batch = detail::check_operands(operation, solver.batch(), n, n, b, x);
  gpu::require_writable(operation, x, "x");
  gpu::require_apart(operation, e.workspace, b, "b");
  gpu::require_apart(operation, e.workspace, x, "x");
  if (!state.status.usable() || x.empty()) return {state.status};
  const auto spectra = gpu::cut(operation, e.workspace, state.cyclic.layout());
  // A^-H has the conjugate eigenvalues; A^-T b = conj(A^-H conj(b)).
  const bool conjugated = op == Op::transpose;
  state.cyclic.apply(operation, gpu::stream_of(e), state.inverses.data(), state.batch == 1 ? 0 : n,
                     op != Op::none, {gpu::strided(b.broadcast(0, batch)), n, conjugated},
                     {gpu::strided(x), n, conjugated, false, nullptr, 0}, batch * k, k, spectra);
  return {state.status};
}

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template class CirculantSolver<T>;                                                   \
  template STRUCTMAT_EXPORT index_t solve_workspace_bytes(const CirculantSolver<T>&);  \
  template STRUCTMAT_EXPORT circulant::SolveReport solve(                              \
      const exec::cuda&, const CirculantSolver<T>&, Op, View<const T, 3, space::cuda>, \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
