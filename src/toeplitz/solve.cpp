#include "structmat/toeplitz/solve.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "core/instantiate.hpp"
#include "core/refine.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/toeplitz/hermitian_inverse.hpp"
#include "structmat/toeplitz/plan.hpp"
#include "toeplitz/hermitian_lags.hpp"
#include "toeplitz/magnitude.hpp"
#include "toeplitz/norm_bound.hpp"
#include "toeplitz/square.hpp"

namespace structmat {
namespace toeplitz {
namespace {

/// The factors of the dense matrix.
template <Scalar T>
class DenseLu {
 public:
  explicit DenseLu(const ToeplitzView<T>& m)
      : n_(m.rows()), factors_({m.batch(), n_, n_}), pivots_(std::size_t(m.batch())) {
    std::vector<PivotStatus> status(pivots_.size());
    to_dense(m, factors_.view().transposed());
    for (index_t b = 0; b < m.batch(); ++b) status[std::size_t(b)] = factor(m, b);
    for (std::size_t b = status.size(); b-- > 0;) {
      if (status[b].ok()) continue;
      status_ = status[b];
      status_.batch = static_cast<index_t>(b);
    }
  }

  const PivotStatus& status() const { return status_; }

  void solve(const exec::cpu&, Op op, const View<const T, 3>& b, const View<T, 3>& x) const {
    const index_t entries = factors_.extent(0);
    for (index_t i = 0; i < x.extent(0); ++i) {
      const index_t entry = entries == 1 ? 0 : i;
      Array<T, 2> columns = to_array(b.select(0, b.extent(0) == 1 ? 0 : i).transposed());
      dense::lu_solve<T>(op, factors_.view().select(0, entry).transposed(),
                         pivots_[std::size_t(entry)], columns.view().transposed());
      copy(std::as_const(columns).view().transposed(), x.select(0, i));
    }
  }

 private:
  PivotStatus factor(const ToeplitzView<T>& m, index_t b) {
    for (index_t l = 0; l < m.lags.extent(1); ++l) {
      if (!is_finite(m.lags(b, l))) return {PivotStatus::Kind::not_finite, b, l, NAN};
    }
    const View<T, 2> a = factors_.view().select(0, b).transposed();
    dense::lu_factor<T>(a, pivots_[std::size_t(b)]);
    double largest = 0, least = INFINITY;
    index_t worst = 0;
    for (index_t i = 0; i < n_; ++i) {
      const double size = std::abs(a(i, i));
      if (size == 0) return {PivotStatus::Kind::zero, b, i, 0};
      largest = std::max(largest, size);
      if (size < least) least = size, worst = i;
    }
    if (least <= 4 * std::sqrt(double(n_)) * double(epsilon<T>) * largest) {
      return {PivotStatus::Kind::near_singular, b, worst, least};
    }
    return {};
  }

  index_t n_;
  Array<T, 3> factors_;
  std::vector<std::vector<int>> pivots_;
  PivotStatus status_;
};

/// The other factors behind the same names.
template <Scalar T>
struct ImageLu {
  Lu<T> factors;
  const PivotStatus& status() const { return factors.status(); }
  void solve(const exec::cpu& e, Op op, const View<const T, 3>& b, const View<T, 3>& x) const {
    toeplitz::solve(e, factors, op, b, x);
  }
};

/// The inverse of a positive definite matrix likewise.
template <Scalar T>
struct Positive {
  HermitianInverse<T> inverse;
  PivotStatus status() const { return inverse.status(); }
  void solve(const exec::cpu& e, Op op, const View<const T, 3>& b, const View<T, 3>& x) const {
    const View<const T, 3> right = b.broadcast(0, x.extent(0));
    if (!overlaps(b, x)) return apply(e, inverse, op, right, x);
    apply(e, inverse, op, View<const T, 3>(to_array(right).view()), x);
  }
};

/// The first columns of batch entries that all look positive definite; nothing otherwise.
template <Scalar T>
std::optional<View<const T, 2>> hermitian_column(const ToeplitzView<T>& m) {
  const index_t n = m.rows();
  for (index_t b = 0; b < m.batch(); ++b) {
    if (n == 0 || !(std::real(m.lags(b, n - 1)) > 0) || unequal_lag(m, b) >= 0) return std::nullopt;
  }
  return m.lags.slice(1, n - 1, 2 * n - 1);
}

template <Scalar T, class Factors>
void finish(const exec::cpu& e, const ToeplitzView<T>& m, const Factors& f, Op op,
            const View<const T, 3>& b, const View<T, 3>& x, const SolveOptions& options,
            SolveReport& report) {
  report.status = f.status();
  if (!f.status().usable() || x.empty()) return;
  f.solve(e, op, b, x);
  std::vector<double> norms(static_cast<std::size_t>(m.batch()));
  for (std::size_t i = 0; i < norms.size(); ++i) norms[i] = norm_bound(m, static_cast<index_t>(i));
  const ToeplitzPlan<T> plan(m);
  const Refinement refinement = refine<T>(
      b, x, options.refinements,
      [&](index_t batch) { return norms[std::size_t(m.batch() == 1 ? 0 : batch)]; },
      [&](const View<const T, 3>& v, const View<T, 3>& y) { apply(e, plan, op, v, y); },
      [&](const View<T, 3>& r) { f.solve(e, op, r, r); });
  report.backward_error = refinement.backward_error;
  report.refinements = refinement.steps;
}

/// Below, dense elimination is about as fast as any recursion.
constexpr index_t least_hermitian = 32;

/// Is nothing to be gained by a method that is stable for every matrix?
template <Scalar T>
bool is_settled(const SolveReport& report) {
  return report.status.ok() && report.backward_error <= 32 * double(epsilon<T>);
}

}  // namespace

template <Scalar T>
SolveMethod solve_method(index_t n) {
  // Measured in double precision; real single precision crosses between 192 and 256.
  constexpr index_t crossover = (is_complex_v<T> ? 80 : 144) * (sizeof(real_t<T>) == 4 ? 2 : 1);
  return n < crossover ? SolveMethod::dense : SolveMethod::lu;
}

}  // namespace toeplitz

template <Scalar T>
toeplitz::SolveReport solve(const exec::cpu& e, const ToeplitzView<T>& m, Op op, View<const T, 3> b,
                            View<T, 3> x, const toeplitz::SolveOptions& options) {
  constexpr const char* operation = "toeplitz::solve";
  toeplitz::require_square(operation, m);
  toeplitz::checked(m, operation);
  detail::check_operands(operation, m.batch(), m.rows(), m.rows(), b, x);
  using toeplitz::SolveMethod;
  toeplitz::SolveReport report;
  report.method = options.method;
  if (options.method == SolveMethod::automatic || options.method == SolveMethod::hermitian) {
    const bool automatic = options.method == SolveMethod::automatic;
    const auto column = toeplitz::hermitian_column(m);
    if (!column && !automatic) {
      throw DomainError(std::string(operation) +
                        ": the method for Hermitian matrices of positive diagonal is asked for, "
                        "and this one is another");
    }
    if (column && (!automatic || m.rows() >= toeplitz::least_hermitian)) {
      report.method = SolveMethod::hermitian;
      Array<T, 3> solution(x.extents());
      toeplitz::finish(e, m, toeplitz::Positive<T>{toeplitz::HermitianInverse<T>(*column, {}, e)},
                       op, b, solution.view(), options, report);
      if (!automatic || toeplitz::is_settled<T>(report)) {
        if (report.status.usable()) copy(std::as_const(solution).view(), x);
        return report;
      }
      report = {};
    }
    report.method = toeplitz::solve_method<T>(m.rows());
  }
  if (report.method == SolveMethod::dense) {
    toeplitz::finish(e, m, toeplitz::DenseLu<T>(m), op, b, x, options, report);
  } else {
    const toeplitz::ImageLu<T> f{toeplitz::factor_lu(e, m)};
    report.growth = f.factors.growth();
    toeplitz::finish(e, m, f, op, b, x, options, report);
  }
  return report;
}

template <Scalar T>
toeplitz::SolveReport solve(const exec::cpu& e, const HankelView<T>& m, Op op, View<const T, 3> b,
                            View<T, 3> x, const toeplitz::SolveOptions& options) {
  toeplitz::require_square("hankel::solve", m);
  hankel::checked(m, "hankel::solve");
  detail::check_operands("hankel::solve", m.batch(), m.rows(), m.rows(), b, x);
  const ToeplitzView<T> t = toeplitz::from_hankel(m);
  // H = T J, H^T = J T^T
  if (op == Op::none) return solve(e, t, op, b, x.reversed(1), options);
  return solve(e, t, op, b.reversed(1), x, options);
}

template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const ToeplitzView<T>& m, index_t batch) {
  toeplitz::checked(m, "toeplitz::log_determinant");
  detail::require_index("toeplitz::log_determinant", {m.batch(), 1, 1}, {batch, 0, 0});
  const ToeplitzView<T> one{m.lags.slice(0, batch, batch + 1), m.row_count, m.col_count};
  toeplitz::require_square("toeplitz::log_determinant", one);
  if (const auto column = toeplitz::hermitian_column(one)) {
    const toeplitz::HermitianInverse<T> inverse(*column, {}, e);
    if (inverse.ok()) return inverse.log_determinant();
  }
  return toeplitz::log_determinant(toeplitz::factor_lu(e, one));
}

template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const HankelView<T>& m, index_t batch) {
  LogDeterminant<T> d = log_determinant(e, toeplitz::from_hankel(m), batch);
  // det J = (-1)^{n (n - 1) / 2}
  if (m.rows() % 4 >= 2) d.sign = -d.sign;
  return d;
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                        \
  template STRUCTMAT_EXPORT toeplitz::SolveReport solve<T>(const exec::cpu&, const V<T>&, Op,   \
                                                           View<const T, 3>, View<T, 3>,        \
                                                           const toeplitz::SolveOptions&);      \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant<T>(const exec::cpu&, const V<T>&, \
                                                                 index_t);
#define STRUCTMAT_INSTANTIATE(T)                                                      \
  template STRUCTMAT_EXPORT toeplitz::SolveMethod toeplitz::solve_method<T>(index_t); \
  STRUCTMAT_INSTANTIATE_VIEW(ToeplitzView, T)                                         \
  STRUCTMAT_INSTANTIATE_VIEW(HankelView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
