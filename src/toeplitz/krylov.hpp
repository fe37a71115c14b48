/// \file
/// What Krylov methods share: columns one by one, products, preconditioners, verified residuals.
#pragma once

#include <cmath>
#include <vector>

#include "core/product.hpp"
#include "core/threads.hpp"
#include "structmat/fft/plan.hpp"
#include "structmat/toeplitz/circulant_approximation.hpp"
#include "structmat/toeplitz/iterative.hpp"
#include "structmat/toeplitz/plan.hpp"
#include "toeplitz/spectra.hpp"

namespace structmat::toeplitz {

/// sum conj(x_i) y_i, in double.
template <Scalar T>
auto dot(const Array<T, 1>& x, const Array<T, 1>& y) {
  using W = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
  W sum{};
  for (index_t i = 0; i < x.size(); ++i) sum += conjugate_product(W(x(i)), W(y(i)));
  return sum;
}

template <Scalar T>
double norm(const Array<T, 1>& x) {
  return std::sqrt(std::real(dot(x, x)));
}

/// y += factor x
template <Scalar T>
void add(const T& factor, const Array<T, 1>& x, Array<T, 1>& y) {
  for (index_t i = 0; i < x.size(); ++i) y(i) += product(factor, x(i));
}

/// One matrix with its preconditioner. Const use is safe from several threads.
template <Scalar T>
class KrylovMatrix {
 public:
  using C = std::complex<real_t<T>>;

  KrylovMatrix(const ToeplitzView<T>& m, Preconditioner kind, bool positive)
      : plan_(m), transform_(kind == Preconditioner::none ? 0 : m.rows()) {
    if (kind == Preconditioner::none) return;
    const Circulant<T> c = kind == Preconditioner::strang ? strang_circulant(m) : chan_circulant(m);
    const index_t n = m.rows();
    inverses_ = Array<C, 2>({1, transform_.spectrum_length()}, uninitialized);
    transform_.forward(c.column.view(), inverses_.view());
    real_t<T> largest = 0;
    for (const C& v : inverses_) largest = std::max(largest, std::abs(v));
    if (largest == 0) largest = 1;
    const real_t<T> least = largest * epsilon<T> * static_cast<real_t<T>>(n);
    for (C& v : inverses_) {
      const real_t<T> size = std::abs(v);
      const C value = !(size > least) ? C(largest) : positive ? C(size) : v;
      v = real_t<T>(1) / (value * static_cast<real_t<T>>(n));
    }
  }

  index_t size() const { return plan_.rows(); }

  /// y := T x
  void apply(const Array<T, 1>& x, Array<T, 1>& y) const {
    structmat::apply(exec::cpu{1}, plan_, x, y);
  }

  /// y := C^-1 x
  void precondition(const Array<T, 1>& x, Array<T, 1>& y) const {
    if (inverses_.empty()) {
      std::copy(x.begin(), x.end(), y.begin());
      return;
    }
    Array<C, 1> spectrum({transform_.spectrum_length()}, uninitialized);
    transform_.forward(as_row(x.data(), x.size()), as_row(spectrum.data(), spectrum.size()));
    multiply_spectra(spectrum.size(), spectrum.data(), inverses_.data(), spectrum.data());
    transform_.backward(as_row<const C>(spectrum.data(), spectrum.size()),
                        as_row(y.data(), y.size()));
  }

  /// r := b - T x
  void residual(const Array<T, 1>& b, const Array<T, 1>& x, Array<T, 1>& r) const {
    apply(x, r);
    for (index_t i = 0; i < r.size(); ++i) r(i) = b(i) - r(i);
  }

 private:
  ToeplitzPlan<T> plan_;
  fft::Plan<T> transform_;
  Array<C, 2> inverses_;
};

/// How one column went.
struct ColumnReport {
  IterativeReport::Stop stop = IterativeReport::Stop::converged;
  double residual = 0;
  index_t iterations = 0;
};

/// method(matrix, b, x) for each column; x is 0 at first.
template <Scalar T, class Method>
IterativeReport krylov(const char* operation, const exec::cpu& e, const ToeplitzView<T>& m,
                       View<const T, 3> b, const View<T, 3>& x, const IterativeOptions& options,
                       bool positive, const Method& method) {
  const auto fail = [&](const std::string& what) {
    throw DomainError(std::string(operation) + ": " + what);
  };
  const ToeplitzView<T> t = checked(m, operation);
  const index_t n = t.rows();
  if (n != t.cols()) {
    throw ShapeError(std::string(operation) + ": the matrix has " + std::to_string(n) +
                     " rows and " + std::to_string(t.cols()) + " columns");
  }
  const index_t batch = detail::check_operands(operation, t.batch(), n, n, b, x);
  if (!(options.tolerance >= 0)) fail("the tolerance is negative or not a number");
  if (options.iterations < 0) fail("the number of iterations is negative");
  if (options.restart < 1) fail("restart is below 1");
  b = b.broadcast(0, batch);

  const index_t k = x.extent(2);
  std::vector<ColumnReport> columns(static_cast<std::size_t>(batch * k));
  for (index_t matrix = 0; n > 0 && k > 0 && matrix < t.batch(); ++matrix) {
    const KrylovMatrix<T> one({t.lags.slice(0, matrix, matrix + 1), n, n}, options.preconditioner,
                              positive);
    const index_t first = t.batch() == 1 ? 0 : matrix, count = t.batch() == 1 ? batch : 1;
    parallel_for(team_for(e.threads, count * k * n * 100), count * k, [&](index_t task) {
      const index_t entry = first + task / k, c = task % k;
      const Array<T, 1> rhs = to_array(b.select(0, entry).select(1, c));
      Array<T, 1> solution({n});
      columns[static_cast<std::size_t>(entry * k + c)] = method(one, rhs, solution);
      copy(std::as_const(solution).view(), x.select(0, entry).select(1, c));
    });
  }
  IterativeReport report;
  for (index_t i = 0; i < batch * k; ++i) {
    const ColumnReport& column = columns[static_cast<std::size_t>(i)];
    // A residual that is not a number stays.
    if (!(column.residual <= report.residual)) report.residual = column.residual;
    report.iterations = std::max(report.iterations, column.iterations);
    if (!report.converged() || column.stop == IterativeReport::Stop::converged) continue;
    report.stop = column.stop;
    report.batch = i / k;
    report.column = i % k;
  }
  return report;
}

}  // namespace structmat::toeplitz
