#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "quasiseparable/hankel.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/from_toeplitz.hpp"

namespace structmat::quasiseparable {
namespace {

constexpr auto operation = "quasiseparable::realise";

/// max_l |c_l - C A^{l-1} B| and the l2 norm of the differences; stops at the first one above `limit`.
template <Scalar T>
void measure(Realisation<T>& m, const View<const T, 1>& lags, double limit) {
  const index_t r = m.order();
  Array<T, 1> state = m.b, next({r});
  m.max_error = 0;
  double squares = 0;  // relative to the largest lag, so that none over- or underflows
  for (index_t l = 0; l < lags.extent(0); ++l) {
    T value{};
    for (index_t i = 0; i < r; ++i) value += m.c(i) * state(i);
    const double error = std::abs(lags(l) - value);
    m.max_error = error <= m.max_error ? m.max_error : error;  // NaN stays
    if (!(error <= limit)) break;
    if (m.max_lag > 0) squares += (error / m.max_lag) * (error / m.max_lag);
    for (index_t i = 0; i < r; ++i) {
      T sum{};
      for (index_t j = 0; j < r; ++j) sum += m.a(i, j) * state(j);
      next(i) = sum;
    }
    std::swap(state, next);
  }
  m.l2_error = m.max_lag * std::sqrt(squares);
}

template <Scalar T>
double spectral_radius(const Array<T, 2>& a) {
  Array<std::complex<real_t<T>>, 1> values({a.extent(0)});
  dense::eigenvalues<T>(a, values);
  double largest = 0;
  for (const auto& v : values) largest = std::max(largest, double(std::abs(v)));
  return largest;
}

/// Realisations of all orders from one set of singular vectors.
template <Scalar T>
class Candidates {
 public:
  using R = real_t<T>;

  Candidates(View<const T, 1> lags, RightSingular<T> h, double max_lag, double tolerance,
             bool stabilise)
      : lags_(lags),
        h_(std::move(h)),
        max_lag_(max_lag),
        limit_(tolerance * max_lag),
        stabilise_(stabilise) {
    const index_t q = h_.vectors.extent(0), k = h_.vectors.extent(1);
    shifted_ = Array<T, 2>({k, k});
    output_ = Array<T, 1>({k});
    if (k == 0) return;
    const View<const T, 2> v = h_.vectors.view();
    dense::gemm<T>(Op::adjoint, Op::none, T{1}, v.slice(0, 1, q), v.slice(0, 0, q - 1), T{0},
                   shifted_);
    for (index_t j = 0; j < q; ++j) {
      for (index_t i = 0; i < k; ++i) output_(i) += lags_(j) * v(j, i);
    }
  }

  /// The realisation of order r, stabilised if need be; fully measured if it is the last choice.
  Realisation<T> of_order(index_t r, bool last_choice) const {
    const double limit = last_choice ? std::numeric_limits<double>::infinity() : limit_;
    Realisation<T> m = make(r, true);
    measure(m, lags_, limit);
    m.within_tolerance = m.max_error <= limit_;
    if (!m.within_tolerance && !last_choice) return m;
    m.spectral_radius = spectral_radius(m.a);
    if (!stabilise_ || m.spectral_radius <= 1 + 100 * double(epsilon<T>)) return m;

    Realisation<T> scaled = m;
    for (T& x : scaled.a) x /= static_cast<R>(m.spectral_radius);
    Realisation<T> contraction = make(r, false);
    contraction.spectral_radius = m.spectral_radius;
    for (auto* stable : {&scaled, &contraction}) {
      stable->stabilised = true;
      const bool last = last_choice && stable == &contraction;
      measure(*stable, lags_, last ? limit : limit_);
      stable->within_tolerance = stable->max_error <= limit_;
      if (stable->within_tolerance || last) return *stable;
    }
    return contraction;
  }

 private:
  /// A by least squares over the lags given, or with states 0 behind them.
  Realisation<T> make(index_t r, bool least_squares) const {
    const View<const T, 2> v = h_.vectors.view();
    const index_t q = v.extent(0);
    Realisation<T> m{Array<T, 2>({r, r}), Array<T, 1>({r}), Array<T, 1>({r})};
    m.max_lag = max_lag_;
    // With w the last column of V^H: A = G (I - w w^H)^-1 = G + (G w) w^H / (1 - |w|^2).
    R left = 1;
    for (index_t i = 0; i < r; ++i) left -= std::norm(v(q - 1, i));
    const bool correct = least_squares && left > 100 * epsilon<T>;
    for (index_t i = 0; i < r; ++i) {
      const R root = std::sqrt(h_.values(i));
      m.b(i) = root * conjugate(v(0, i));
      m.c(i) = output_(i) / root;
      T along{};
      for (index_t j = 0; j < r; ++j) along += shifted_(i, j) * conjugate(v(q - 1, j));
      for (index_t j = 0; j < r; ++j) {
        const T entry = shifted_(i, j) + (correct ? along * v(q - 1, j) / left : T{});
        m.a(i, j) = entry * (root / std::sqrt(h_.values(j)));
      }
    }
    return m;
  }

  View<const T, 1> lags_;
  RightSingular<T> h_;
  double max_lag_, limit_;
  bool stabilise_;
  Array<T, 2> shifted_;  ///< V_right^H V_left: one step of the state, without its metric
  Array<T, 1> output_;   ///< the first row of H times V
};

}  // namespace

template <Scalar T>
Realisation<T> realise(View<const T, 1> lags, const RealiseOptions& options) {
  const index_t m = lags.extent(0);
  const double tolerance = options.tolerance.value_or((1000 + double(m)) * double(epsilon<T>));
  const index_t most = options.order.value_or(256);
  if (!(tolerance >= 0) || most < 0) {
    throw DomainError(std::string(operation) + ": the tolerance is " + std::to_string(tolerance) +
                      ", the largest order " + std::to_string(most) + "; neither may be negative");
  }
  double max_lag = 0;
  for (index_t l = 0; l < m; ++l) {
    const double size = std::abs(lags(l));
    if (!std::isfinite(size)) {
      throw DomainError(std::string(operation) + ": lag " + std::to_string(l + 1) +
                        " is not finite");
    }
    max_lag = std::max(max_lag, size);
  }

  constexpr double below = 0.1;  // the tail that is not computed must not matter
  RightSingular<T> h = right_singular(lags, options.direct, below * tolerance * max_lag, most);
  const index_t columns = (m + 2) / 2;
  index_t first = 0, last = 0;
  const double noise = h.values.empty() ? 0 : 10 * double(epsilon<T>) * double(h.values(0)),
               needed = double(columns) * tolerance * max_lag;
  for (const auto sigma : h.values) {
    if (sigma > needed) ++first;
    if (sigma > noise) ++last;
  }
  last = std::min(last, most);
  const Candidates<T> candidates(lags, std::move(h), max_lag, tolerance, options.stabilise);
  for (index_t r = std::min(first, last); r < last; ++r) {
    Realisation<T> found = candidates.of_order(r, false);
    if (found.within_tolerance) return found;
  }
  return candidates.of_order(last, true);
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT Realisation<T> realise<T>(View<const T, 1>, const RealiseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
