#include "structmat/toeplitz/circulant_solve.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "structmat/toeplitz/apply_vjp.hpp"
#include "toeplitz/circulant_spectrum.hpp"

namespace structmat {
namespace {

template <Scalar T>
using Spectrum = toeplitz::CirculantSpectrum<T>;
template <Scalar T>
using Complex = std::complex<real_t<T>>;

template <Scalar T>
Array<Complex<T>, 2> eigenvalues_of(const View<const T, 2>& column, bool skew) {
  using R = real_t<T>;
  const Spectrum<T> spectrum(column, skew);
  Array<Complex<T>, 2> values(column.extents(), uninitialized);
  for (index_t b = 0; b < values.extent(0); ++b) {
    for (index_t k = 0; k < values.extent(1); ++k) {
      values(b, k) = spectrum.scaled_eigenvalues(b)(k) * std::ldexp(R{1}, spectrum.exponent(b));
    }
  }
  return values;
}

template <Scalar T>
PivotStatus inverse_of(const View<const T, 2>& column, bool skew, Array<T, 2>& result) {
  const Spectrum<T> spectrum(column, skew);
  if (!spectrum.status().usable()) return spectrum.status();
  result = Array<T, 2>(column.extents(), uninitialized);
  Array<Complex<T>, 1> work({column.extent(1)}, uninitialized);
  for (index_t b = 0; b < column.extent(0); ++b)
    spectrum.invert(b, result.view().select(0, b), work.data());
  return spectrum.status();
}

/// The eigenvalues of a real matrix come in conjugate pairs, but for those of mu = 1 and mu = -1.
template <Scalar T>
T sign_of(const View<const Complex<T>, 1>& lambda, bool skew) {
  const index_t n = lambda.extent(0);
  if constexpr (is_complex_v<T>) {
    T sign{1};
    for (index_t k = 0; k < n; ++k) {
      sign = product(sign, lambda(k) / std::abs(lambda(k)));
      sign /= std::abs(sign);
    }
    return sign;
  } else {
    T sign{1};
    const auto take = [&](index_t k) {
      if (lambda(k).real() < 0) sign = -sign;
    };
    if (!skew) take(0);
    if (!skew && n % 2 == 0) take(n / 2);
    if (skew && n % 2 == 1) take((n - 1) / 2);
    return sign;
  }
}

template <Scalar T>
circulant::Determinants<T> determinants_of(const View<const T, 2>& column, bool skew) {
  const Spectrum<T> spectrum(column, skew);
  const index_t n = column.extent(1);
  circulant::Determinants<T> result;
  result.status = spectrum.status();
  for (index_t b = 0; b < column.extent(0); ++b) {
    LogDeterminant<T> value;
    if (n > 0) {
      const auto lambda = spectrum.scaled_eigenvalues(b);
      value.log_abs = static_cast<double>(n) * spectrum.exponent(b) * std::numbers::ln2;
      for (index_t k = 0; k < n; ++k)
        value.log_abs += std::log(std::abs(std::complex<double>(lambda(k))));
      value.sign = std::isinf(value.log_abs) ? T{} : sign_of<T>(lambda, skew);
    }
    result.values.push_back(value);
  }
  return result;
}

template <class M>
auto determinant_of_entry(const char* operation, M m, index_t batch, bool skew) {
  detail::require_index(operation, {m.batch(), 1, 1}, {batch, 0, 0});
  const auto found = determinants_of(m.column.slice(0, batch, batch + 1), skew);
  if (found.status.kind == PivotStatus::Kind::not_finite) {
    throw DomainError(std::string(operation) + ": element " + std::to_string(found.status.index) +
                      " of batch entry " + std::to_string(batch) + " is not finite");
  }
  return found.values.front();
}

template <Scalar T>
circulant::SolveReport solve_with(const std::string& operation, const exec::cpu& e,
                                  const View<const T, 2>& column, bool skew, Op op,
                                  const View<const T, 3>& b, const View<T, 3>& x) {
  const index_t n = column.extent(1), k = b.extent(2);
  const index_t batch = detail::check_operands(operation, column.extent(0), n, n, b, x);
  const Spectrum<T> spectrum(column, skew);
  if (!spectrum.status().usable() || n == 0) return {spectrum.status()};
  const auto from = b.broadcast(0, batch);
  // Several columns share a workspace.
  constexpr index_t width = 8;
  const index_t tiles = (k + width - 1) / width;
  parallel_for(team_for(e.threads, 64 * batch * n * k), batch * tiles, [&](index_t task) {
    const index_t entry = task / tiles, begin = task % tiles * width;
    Array<Complex<T>, 1> work({n}, uninitialized);
    for (index_t c = begin; c < std::min(k, begin + width); ++c) {
      spectrum.solve(op, column.extent(0) == 1 ? 0 : entry, from.select(0, entry).select(1, c),
                     x.select(0, entry).select(1, c), work.data());
    }
  });
  return {spectrum.status()};
}

/// op(A)^-H u, negative: the cotangent of op(A) x in op(A) x = b.
template <class M, Scalar T>
circulant::SolveReport solve_vjp_with(const exec::cpu& e, const M& m, Op op,
                                      const View<const T, 3>& x, const View<const T, 3>& x_bar,
                                      const View<T, 2>& column_bar, const View<T, 3>& b_bar) {
  // conj(A)^-1 u = conj(A^-1 conj(u)) for the transpose.
  const bool conjugated = is_complex_v<T> && op == Op::transpose;
  Array<T, 3> u = to_array(x_bar), v(x_bar.extents(), uninitialized);
  const auto turn = [&](Array<T, 3>& a) {
    if (!conjugated) return;
    for (T& s : a) s = conjugate(s);
  };
  turn(u);
  const auto inverse_op = op == Op::none ? Op::adjoint : Op::none;
  const auto report = solve(e, m, inverse_op, View<const T, 3>(u), v.view());
  if (!report.status.usable()) return report;
  turn(v);
  for (T& s : v) s = -s;
  // Checks all shapes before anything is written.
  apply_vjp(e, m, op, x, View<const T, 3>(v), column_bar, View<T, 3>{});
  if (!b_bar.data()) return report;
  const auto sum = b_bar.broadcast(0, v.extent(0));
  for (index_t b = 0; b < v.extent(0); ++b) {
    for (index_t i = 0; i < v.extent(1); ++i) {
      for (index_t c = 0; c < v.extent(2); ++c) sum(b, i, c) -= v(b, i, c);
    }
  }
  return report;
}

template <Scalar T>
void require_cotangent(const std::string& operation, const View<T, 3>& b_bar,
                       const View<const T, 3>& x_bar) {
  if (!b_bar.data()) return;
  const bool fits = (b_bar.extent(0) == 1 || b_bar.extent(0) == x_bar.extent(0)) &&
                    b_bar.extent(1) == x_bar.extent(1) && b_bar.extent(2) == x_bar.extent(2);
  if (!fits) {
    throw ShapeError(operation + ": b_bar is " + std::to_string(b_bar.extent(0)) + " x " +
                     std::to_string(b_bar.extent(1)) + " x " + std::to_string(b_bar.extent(2)) +
                     ", x_bar is " + std::to_string(x_bar.extent(0)) + " x " +
                     std::to_string(x_bar.extent(1)) + " x " + std::to_string(x_bar.extent(2)));
  }
  if (overlaps(View<const T, 3>(b_bar), x_bar))
    throw DomainError(operation + ": b_bar overlaps x_bar in memory");
}

}  // namespace

namespace circulant {

template <Scalar T>
Array<std::complex<real_t<T>>, 2> eigenvalues(const CirculantView<T>& m) {
  return eigenvalues_of(checked(m, "circulant::eigenvalues").column, false);
}

template <Scalar T>
Inverse<T> inverse(const CirculantView<T>& m) {
  Inverse<T> result;
  result.status = inverse_of(checked(m, "circulant::inverse").column, false, result.matrix.column);
  return result;
}

template <Scalar T>
Determinants<T> log_determinant(const CirculantView<T>& m) {
  return determinants_of(checked(m, "circulant::log_determinant").column, false);
}

}  // namespace circulant

namespace skew_circulant {

template <Scalar T>
Array<std::complex<real_t<T>>, 2> eigenvalues(const SkewCirculantView<T>& m) {
  return eigenvalues_of(checked(m, "skew_circulant::eigenvalues").column, true);
}

template <Scalar T>
Inverse<T> inverse(const SkewCirculantView<T>& m) {
  Inverse<T> result;
  result.status =
      inverse_of(checked(m, "skew_circulant::inverse").column, true, result.matrix.column);
  return result;
}

template <Scalar T>
circulant::Determinants<T> log_determinant(const SkewCirculantView<T>& m) {
  return determinants_of(checked(m, "skew_circulant::log_determinant").column, true);
}

}  // namespace skew_circulant

template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu&, const CirculantView<T>& m, index_t batch) {
  constexpr auto operation = "circulant::log_determinant";
  return determinant_of_entry(operation, circulant::checked(m, operation), batch, false);
}
template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu&, const SkewCirculantView<T>& m, index_t batch) {
  constexpr auto operation = "skew_circulant::log_determinant";
  return determinant_of_entry(operation, skew_circulant::checked(m, operation), batch, true);
}

template <Scalar T>
circulant::SolveReport solve(const exec::cpu& e, const CirculantView<T>& m, Op op,
                             View<const T, 3> b, View<T, 3> x) {
  constexpr auto operation = "circulant::solve";
  return solve_with(operation, e, circulant::checked(m, operation).column, false, op, b, x);
}
template <Scalar T>
circulant::SolveReport solve(const exec::cpu& e, const SkewCirculantView<T>& m, Op op,
                             View<const T, 3> b, View<T, 3> x) {
  constexpr auto operation = "skew_circulant::solve";
  return solve_with(operation, e, skew_circulant::checked(m, operation).column, true, op, b, x);
}

template <Scalar T>
circulant::SolveReport solve_vjp(const exec::cpu& e, const CirculantView<T>& m, Op op,
                                 View<const T, 3> x, View<const T, 3> x_bar, View<T, 2> column_bar,
                                 View<T, 3> b_bar) {
  require_cotangent("circulant::solve_vjp", b_bar, x_bar);
  return solve_vjp_with(e, m, op, x, x_bar, column_bar, b_bar);
}
template <Scalar T>
circulant::SolveReport solve_vjp(const exec::cpu& e, const SkewCirculantView<T>& m, Op op,
                                 View<const T, 3> x, View<const T, 3> x_bar, View<T, 2> column_bar,
                                 View<T, 3> b_bar) {
  require_cotangent("skew_circulant::solve_vjp", b_bar, x_bar);
  return solve_vjp_with(e, m, op, x, x_bar, column_bar, b_bar);
}

#define STRUCTMAT_INSTANTIATE_FAMILY(T, family, M)                                               \
  template STRUCTMAT_EXPORT Array<std::complex<real_t<T>>, 2> family::eigenvalues(const M<T>&);  \
  template STRUCTMAT_EXPORT family::Inverse<T> family::inverse(const M<T>&);                     \
  template STRUCTMAT_EXPORT circulant::Determinants<T> family::log_determinant(const M<T>&);     \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant(const exec::cpu&, const M<T>&,     \
                                                              index_t);                          \
  template STRUCTMAT_EXPORT circulant::SolveReport solve(const exec::cpu&, const M<T>&, Op,      \
                                                         View<const T, 3>, View<T, 3>);          \
  template STRUCTMAT_EXPORT circulant::SolveReport solve_vjp(const exec::cpu&, const M<T>&, Op,  \
                                                             View<const T, 3>, View<const T, 3>, \
                                                             View<T, 2>, View<T, 3>);
#define STRUCTMAT_INSTANTIATE(T)                            \
  STRUCTMAT_INSTANTIATE_FAMILY(T, circulant, CirculantView) \
  STRUCTMAT_INSTANTIATE_FAMILY(T, skew_circulant, SkewCirculantView)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
