#include "core/instantiate.hpp"
#include "structmat/toeplitz/circulant_approximation.hpp"
#include "structmat/toeplitz/iterative.hpp"
#include "toeplitz/conjugate_gradients_kernel.cuh"
#include "toeplitz/cyclic.cuh"
#include "toeplitz/hermitian_lags.hpp"
#include "toeplitz/plan_state.cuh"

namespace structmat::toeplitz {
namespace {

constexpr char operation[] = "toeplitz::conjugate_gradients";
/// Steps between two looks at the columns, each of which synchronises.
constexpr index_t steps_between_checks = 4;

/// 1 / (n lambda) for the moduli of a circulant matrix's eigenvalues, tiny ones replaced by the largest.
template <Scalar T>
Array<gpu::Complex<real_t<T>>, 1, space::cuda> reciprocals(
    std::vector<std::complex<real_t<T>>> lambda, index_t n) {
  using R = real_t<T>;
  std::vector<gpu::Complex<R>> values;
  for (auto row = lambda.begin(); row != lambda.end(); row += n) {
    R largest = 0;
    for (index_t j = 0; j < n; ++j) largest = std::max(largest, std::abs(row[j]));
    if (largest == 0) largest = 1;
    const R least = largest * epsilon<T> * static_cast<R>(n);
    for (index_t j = 0; j < n; ++j) {
      const R size = std::abs(row[j]);
      values.emplace_back(R(1) / ((size > least ? size : largest) * static_cast<R>(n)));
    }
  }
  return uploaded(values);
}

/// All columns of one call.
template <Scalar T>
class Solver {
 public:
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;
  using C = gpu::Complex<R>;

  Solver(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m,
         const View<const T, 3, space::cuda>& b, const IterativeOptions& options)
      : e_(e),
        options_(options),
        processors_(gpu::multiprocessors(operation)),
        batch_(b.extent(0)),
        n_(b.extent(1)),
        k_(b.extent(2)),
        plan_(e, m),
        vectors_({6, batch_ * k_, n_}),
        partial_({batch_ * k_ * device::pieces_of(n_)}, uninitialized),
        state_({batch_ * k_}, uninitialized),
        active_({batch_ * k_}, uninitialized),
        plan_work_({apply_plan_bytes(operation, plan_.state(), k_)}, uninitialized),
        b_{gpu::strided(b), n_, false} {
    prepare();
  }

  /// x := the best that was found.
  IterativeReport run(const View<T, 3, space::cuda>& x) {
    update(device::Update::load);
    bool more = true;
    while (more) {
      precondition();
      update(device::Update::start);
      for (index_t step = 0; any_active(step); ++step) {
        multiply(2, 3);
        update(device::Update::curvature);
        update(device::Update::step);
        precondition();
        update(device::Update::rho);
        update(device::Update::direction);
      }
      multiply(4, 3);
      update(device::Update::residual);
      update(device::Update::accept);
      more = any_active(0);
    }
    const device::StoreProblem<D> m{
        vector(5), {gpu::strided(x), n_, false, false, nullptr, 0}, columns(), k_};
    gpu::launch(operation, device::store_solution<D>, grid(columns() * n_), stream(), m);
    return report();
  }

 private:
  index_t columns() const { return batch_ * k_; }
  cudaStream_t stream() const { return gpu::stream_of(e_); }
  D* vector(index_t i) { return gpu::device_pointer(vectors_.data()) + i * columns() * n_; }
  gpu::Grid grid(index_t work) const {
    return {gpu::persistent_blocks(work, device::krylov_threads, processors_),
            device::krylov_threads};
  }
  /// Vector i as (batch, n, k).
  View<T, 3, space::cuda> view(index_t i) {
    return {reinterpret_cast<T*>(vector(i)), {batch_, n_, k_}, {k_ * n_, 1, n_}};
  }

  /// Checks that the lags are Hermitian, on the host, and makes the preconditioner there.
  void prepare() {
    const ToeplitzView<T, space::cuda> lags = plan_.lags();
    Toeplitz<T> host;
    host.lags = to_host(plan_.state().lags);
    host.row_count = host.col_count = n_;
    for (index_t entry = 0; entry < lags.batch(); ++entry) {
      const index_t l = unequal_lag(host.view(), entry);
      if (l < 0) continue;
      throw DomainError(std::string(operation) + ": lags " + std::to_string(l) + " and " +
                        std::to_string(-l) + " of batch entry " + std::to_string(entry) +
                        " are not conjugate, the matrix is not Hermitian");
    }
    if (options_.preconditioner == Preconditioner::none || n_ == 0) return;
    const Circulant<T> c = options_.preconditioner == Preconditioner::strang
                               ? strang_circulant(host.view())
                               : chan_circulant(host.view());
    const auto column = to_device(c.column);
    constexpr index_t cached_bytes = index_t{32} << 20;
    const index_t column_bytes = n_ * index_t{sizeof(C)};
    cyclic_.emplace(operation, n_, false,
                    std::clamp<index_t>(cached_bytes / column_bytes, 1, columns()));
    const device::Input<D> numbers{
        {gpu::device_pointer(column.data()), {lags.batch() == 1 ? 0 : n_, 1, 0}}, n_, false};
    inverses_ =
        reciprocals<T>(cyclic_->eigenvalues(operation, stream(), numbers, lags.batch()), n_);
    cyclic_work_ = Array<std::byte, 1, space::cuda>({gpu::counted(operation, cyclic_->layout())},
                                                    uninitialized);
  }

  device::KrylovVectors<D> vectors() {
    return {vector(0), vector(1),       vector(2),     vector(3), vector(4),
            vector(5), partial_.data(), state_.data(), n_,        columns()};
  }

  void update(device::Update what) {
    const index_t pieces = device::pieces_of(n_);
    const device::UpdateProblem<D> m{vectors(), b_, k_, what};
    gpu::launch(operation, device::update<D>,
                gpu::Grid{gpu::persistent_blocks(columns() * pieces, 1, processors_),
                          device::krylov_threads},
                stream(), m);
    if (what == device::Update::direction || what == device::Update::accept) return;
    constexpr int threads = 128;
    const device::DecideProblem d{partial_.data(),    state_.data(), active_.data(),
                                  columns(),          pieces,        options_.iterations,
                                  options_.tolerance, what};
    gpu::launch(operation, device::decide_columns<threads>,
                gpu::Grid{gpu::persistent_blocks(columns(), 1, processors_), threads}, stream(), d);
  }

  /// vector(to) := T vector(from)
  void multiply(index_t from, index_t to) {
    const exec::cuda e{e_.stream, plan_work_.view()};
    apply_plan<T>(operation, e, plan_.state(), device::Action{},
                  View<const T, 3, space::cuda>(view(from)), view(to), false);
  }

  /// z := C^-1 r
  void precondition() {
    if (!cyclic_) {
      return gpu::check(cudaMemcpyAsync(vector(1), vector(0),
                                        static_cast<std::size_t>(columns() * n_) * sizeof(D),
                                        cudaMemcpyDeviceToDevice, stream()),
                        operation);
    }
    const auto spectra = gpu::cut(operation, cyclic_work_.view(), cyclic_->layout());
    cyclic_->apply(operation, stream(), inverses_.data(), plan_.batch() == 1 ? 0 : n_, false,
                   {gpu::strided(View<const T, 3, space::cuda>(view(0))), n_, false},
                   {gpu::strided(view(1)), n_, false, false, nullptr, 0}, columns(), k_, spectra);
  }

  /// Does any column go on? Asks the device now and then.
  bool any_active(index_t step) {
    if (step % steps_between_checks != 0) return true;
    gpu::check(cudaStreamSynchronize(stream()), operation);
    for (const int active : to_host(active_)) {
      if (active != 0) return true;
    }
    return false;
  }

  IterativeReport report() {
    gpu::check(cudaStreamSynchronize(stream()), operation);
    std::vector<device::ColumnState> states(static_cast<std::size_t>(columns()));
    structmat::detail::copy_device_to_host(states.data(), state_.data(),
                                           states.size() * sizeof(device::ColumnState));
    IterativeReport report;
    for (index_t i = 0; i < columns(); ++i) {
      const device::ColumnState& column = states[static_cast<std::size_t>(i)];
      // A residual that is not a number stays.
      if (!(column.residual <= report.residual)) report.residual = column.residual;
      report.iterations = std::max(report.iterations, column.iterations);
      if (!report.converged() || column.stop == IterativeReport::Stop::converged) continue;
      report.stop = column.stop;
      report.batch = i / k_;
      report.column = i % k_;
    }
    return report;
  }

  exec::cuda e_;
  IterativeOptions options_;
  int processors_;
  index_t batch_, n_, k_;
  ToeplitzPlan<T, space::cuda> plan_;
  Array<T, 3, space::cuda> vectors_;  ///< r, z, p, q, the candidate, the best solution
  Array<double, 1, space::cuda> partial_;
  Array<device::ColumnState, 1, space::cuda> state_;
  Array<int, 1, space::cuda> active_;
  Array<std::byte, 1, space::cuda> plan_work_, cyclic_work_;
  std::optional<Cyclic<T>> cyclic_;
  Array<C, 1, space::cuda> inverses_;
  device::Input<D> b_;
};

}  // namespace

template <Scalar T>
IterativeReport conjugate_gradients(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m,
                                    View<const T, 3, space::cuda> b, View<T, 3, space::cuda> x,
                                    const IterativeOptions& options) {
  const auto fail = [&](const std::string& what) {
    throw DomainError(std::string(operation) + ": " + what);
  };
  const auto t = checked(m, operation);
  const index_t n = t.rows();
  if (n != t.cols()) {
    throw ShapeError(std::string(operation) + ": the matrix has " + std::to_string(n) +
                     " rows and " + std::to_string(t.cols()) + " columns");
  }
  const index_t batch = structmat::detail::check_operands(operation, t.batch(), n, n, b, x);
  gpu::require_writable(operation, x, "x");
  if (!(options.tolerance >= 0)) fail("the tolerance is negative or not a number");
  if (options.iterations < 0) fail("the number of iterations is negative");
  if (x.empty()) return {};
  return Solver<T>(e, t, b.broadcast(0, batch), options).run(x);
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template STRUCTMAT_EXPORT IterativeReport conjugate_gradients(                             \
      const exec::cuda&, const ToeplitzView<T, space::cuda>&, View<const T, 3, space::cuda>, \
      View<T, 3, space::cuda>, const IterativeOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
