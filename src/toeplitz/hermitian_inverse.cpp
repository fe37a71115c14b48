#include "structmat/toeplitz/hermitian_inverse.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "core/finite.hpp"
#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "toeplitz/spectra.hpp"
#include "toeplitz/superfast.hpp"

namespace structmat {
namespace toeplitz {
namespace {

/// Measured: docs/math/toeplitz_solve.md. Plans of transforms are made once for a batch.
constexpr index_t crossover = 2048, crossover_in_batch = 1024, default_base = 128;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What is found out about one matrix.
struct Outcome {
  PivotStatus status;
  double log_determinant = 0;
};

/// Everything about one matrix. pivots: n; first, last: the columns of the inverse out, NaN where
/// there is none.
template <Scalar T, class Predict>
Outcome factor(const View<const T, 1>& column, const Predict& predict,
               const View<double, 1>& pivots, const View<T, 1>& first, const View<T, 1>& last) {
  using R = real_t<T>;
  using Kind = PivotStatus::Kind;
  const index_t n = column.extent(0);
  for (index_t i = 0; i < n; ++i) {
    pivots(i) = nan;
    first(i) = last(i) = T(std::numeric_limits<R>::quiet_NaN());
  }
  Outcome outcome;
  const auto bad = [&](Kind kind, index_t index, double pivot) {
    outcome.status = {kind, 0, index, pivot};
    return outcome;
  };
  if (n == 0) return outcome;
  if (!is_finite(column(0)))
    return bad(Kind::not_finite, 0, static_cast<double>(std::real(column(0))));
  const R c0 = std::real(column(0));
  if (!(c0 > 0)) return bad(Kind::not_positive, 0, static_cast<double>(c0));

  // A lag as large as c_0 ends what can be positive definite, if it is finite at all.
  index_t good = 1;
  while (good < n && std::abs(column(good)) < c0) ++good;
  std::vector<T> lags(static_cast<std::size_t>(good)), a(lags.size());
  for (index_t i = 0; i < good; ++i) lags[static_cast<std::size_t>(i)] = column(i) / c0;
  Pivots recursion(pivots.data());
  predict(lags.data(), good, recursion, a.data());
  for (index_t i = 0; i < recursion.count(); ++i) {
    outcome.log_determinant += std::log(pivots(i));
    pivots(i) *= static_cast<double>(c0);
  }
  for (index_t i = recursion.count(); i < good; ++i) pivots(i) = nan;
  outcome.log_determinant += static_cast<double>(n) * std::log(static_cast<double>(c0));
  if (recursion.count() < good) {
    return bad(Kind::not_positive, recursion.count(), recursion.bad() * static_cast<double>(c0));
  }
  if (good < n) {
    if (!is_finite(column(good))) {
      return bad(Kind::not_finite, good, static_cast<double>(std::abs(column(good))));
    }
    T sum{};
    for (index_t j = 0; j < good; ++j) {
      sum += product<T>(column(good - j), a[static_cast<std::size_t>(j)]);
    }
    const double pivot = pivots(good - 1), size = static_cast<double>(std::abs(sum));
    return bad(Kind::not_positive, good, std::min(pivot - size / pivot * size, 0.0));
  }
  const R error = static_cast<R>(pivots(n - 1));
  for (index_t i = 0; i < n; ++i) {
    first(i) = a[static_cast<std::size_t>(i)] / error;
    last(n - 1 - i) = conjugate(first(i));
  }
  return outcome;
}

void check_batch(const char* operation, index_t batch, index_t batches) {
  if (batch >= 0 && batch < batches) return;
  throw ShapeError(std::string(operation) + ": batch entry " + std::to_string(batch) +
                   ", the matrix has " + std::to_string(batches));
}

void require_ok(const char* operation, const PivotStatus& status) {
  if (!status.ok()) throw DomainError(std::string(operation) + ": " + describe(status));
}

}  // namespace

template <Scalar T>
HermitianInverse<T>::HermitianInverse(View<const T, 2> column, const HermitianOptions& options,
                                      const exec::cpu& e)
    : column_(to_array(column)), pivots_({column.extent(0), column.extent(1)}) {
  const char* const operation = "toeplitz::HermitianInverse";
  const index_t n = size();
  if (options.base < 0) {
    throw DomainError(std::string(operation) + ": base is " + std::to_string(options.base) +
                      ", it takes at least 1, or 0 for the default");
  }
  for (index_t b = 0; n > 0 && b < batch(); ++b) {
    const auto imaginary = std::imag(column_(b, 0));
    if (imaginary == 0 || !std::isfinite(imaginary)) continue;
    throw DomainError(std::string(operation) + ": c_0 of batch entry " + std::to_string(b) +
                      " has the imaginary part " + std::to_string(imaginary) +
                      ", the diagonal of a Hermitian matrix is real");
  }
  method_ = options.method;
  if (method_ == HermitianMethod::automatic) {
    const index_t least = batch() < 4 ? crossover : crossover_in_batch;
    method_ = n < least ? HermitianMethod::levinson : HermitianMethod::superfast;
  }
  std::optional<Superfast<T>> superfast;
  if (method_ == HermitianMethod::superfast && n > 0) {
    superfast.emplace(n, options.base > 0 ? options.base : default_base);
  }
  const auto predict = [&](const T* lags, index_t count, Pivots& pivots, T* a) {
    if (superfast) return superfast->run(lags, count, pivots, a);
    if (method_ == HermitianMethod::schur) return schur(lags, count, pivots, a);
    levinson(lags, count, pivots, a);
  };
  Array<T, 2> first({batch(), n}, uninitialized), last({batch(), n}, uninitialized);
  statuses_.resize(static_cast<std::size_t>(batch()));
  log_determinants_.resize(statuses_.size());
  parallel_for(
      team_for(e.threads, batch() * n * std::min<index_t>(n, 256)), batch(), [&](index_t b) {
        const auto at = static_cast<std::size_t>(b);
        const auto outcome = factor<T>(std::as_const(column_).view().select(0, b), predict,
                                       pivots_.view().select(0, b), first.view().select(0, b),
                                       last.view().select(0, b));
        statuses_[at] = outcome.status;
        statuses_[at].batch = outcome.status.ok() ? 0 : b;
        log_determinants_[at] = outcome.log_determinant;
      });
  formula_ = GohbergSemencul<T>(std::as_const(first).view(), std::as_const(last).view());
}

template <Scalar T>
PivotStatus HermitianInverse<T>::status() const {
  for (const PivotStatus& status : statuses_) {
    if (!status.ok()) return status;
  }
  return {};
}

template <Scalar T>
PivotStatus HermitianInverse<T>::status(index_t entry) const {
  check_batch("toeplitz::HermitianInverse::status", entry, batch());
  return statuses_[static_cast<std::size_t>(entry)];
}

template <Scalar T>
LogDeterminant<T> HermitianInverse<T>::log_determinant(index_t entry) const {
  const char* const operation = "toeplitz::HermitianInverse::log_determinant";
  check_batch(operation, entry, batch());
  require_ok(operation, statuses_[static_cast<std::size_t>(entry)]);
  return {log_determinants_[static_cast<std::size_t>(entry)], T(1)};
}

template <Scalar T>
Array<real_t<T>, 2> HermitianInverse<T>::diagonal() const {
  require_ok("toeplitz::HermitianInverse::diagonal", status());
  const Array<T, 2> diagonal = formula_.diagonal();
  Array<real_t<T>, 2> result(diagonal.extents(), uninitialized);
  std::transform(diagonal.begin(), diagonal.end(), result.begin(),
                 [](const T& v) { return std::real(v); });
  return result;
}

template <Scalar T>
Array<T, 1> HermitianInverse<T>::diagonal_sums(index_t entry) const {
  const char* const operation = "toeplitz::HermitianInverse::diagonal_sums";
  check_batch(operation, entry, batch());
  require_ok(operation, statuses_[static_cast<std::size_t>(entry)]);
  using R = real_t<T>;
  using C = std::complex<R>;
  // With x the first column, summing the formula along its diagonals gives
  //   s_l = sum_m (n - l - 2 m) x_{m+l} conj(x_m) / x_0,
  // and with y_m = (n / 2 - m) x_m, (n / 2 - m) + (n / 2 - m - l) being the factor, it is the
  // correlation of x and y together with that of y and x.
  const index_t n = size();
  Array<T, 1> result({n}, uninitialized);
  if (n == 0) return result;
  const auto& plan = formula_.plan();
  const View<const T, 1> x = first_column().select(0, entry);
  Array<T, 1> signal({plan.length()});
  Array<C, 1> spectrum({plan.spectrum_length()}, uninitialized);
  for (index_t m = 0; m < n; ++m) {
    signal(m) = x(m) * (R(0.5) * static_cast<R>(n) - static_cast<R>(m));
  }
  plan.forward(as_row<const T>(signal.data(), signal.size()),
               as_row<C>(spectrum.data(), spectrum.size()));
  correlate_spectra(spectrum.size(), &formula_.first_spectrum()(entry, 0), spectrum.data(),
                    spectrum.data());
  plan.backward(as_row<const C>(spectrum.data(), spectrum.size()),
                as_row<T>(signal.data(), signal.size()));
  for (index_t l = 0; l < n; ++l) result(l) = signal(l);
  return result;
}

template <Scalar T>
HermitianInverse<T> hermitian_inverse(const ToeplitzView<T>& m, const HermitianOptions& options) {
  const ToeplitzView<T> t = checked(m, "toeplitz::hermitian_inverse");
  if (t.rows() != t.cols()) {
    throw ShapeError("toeplitz::hermitian_inverse: the matrix has " + std::to_string(t.rows()) +
                     " rows and " + std::to_string(t.cols()) + " columns");
  }
  const index_t n = t.rows();
  return HermitianInverse<T>(t.lags.slice(1, n > 0 ? n - 1 : 0, n > 0 ? 2 * n - 1 : 0), options);
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template class HermitianInverse<T>;                                                        \
  template STRUCTMAT_EXPORT HermitianInverse<T> hermitian_inverse<T>(const ToeplitzView<T>&, \
                                                                     const HermitianOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
#undef STRUCTMAT_INSTANTIATE

}  // namespace toeplitz

template <Scalar T>
void apply(const exec::cpu& e, const toeplitz::HermitianInverse<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y) {
  toeplitz::require_ok("toeplitz::apply", m.status());
  apply(e, m.formula(), op, x, y);
}

template <Scalar T>
T entry(const toeplitz::HermitianInverse<T>& m, index_t i, index_t j, index_t batch) {
  toeplitz::require_ok("toeplitz::entry", m.status());
  return entry(m.formula(), i, j, batch);
}

template <Scalar T>
void to_dense(const toeplitz::HermitianInverse<T>& m, View<T, 3> dense) {
  toeplitz::require_ok("toeplitz::to_dense", m.status());
  to_dense(m.formula(), dense);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT void apply(const exec::cpu&, const toeplitz::HermitianInverse<T>&, Op, \
                                       View<const T, 3>, View<T, 3>);                              \
  template STRUCTMAT_EXPORT T entry(const toeplitz::HermitianInverse<T>&, index_t, index_t,        \
                                    index_t);                                                      \
  template STRUCTMAT_EXPORT void to_dense(const toeplitz::HermitianInverse<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
