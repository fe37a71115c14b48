#include "structmat/cauchy/inverse.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cauchy/coincidence.hpp"
#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/scale.hpp"
#include "toeplitz/magnitude.hpp"

namespace structmat {
namespace {

template <class V>
void require_square(const char* operation, const V& m) {
  if (m.rows() == m.cols()) return;
  throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.rows()) + " x " +
                   std::to_string(m.cols()) + ", it must be square");
}

/// A number of any size: mantissa 2^exponent.
template <Scalar T>
struct Scaled {
  T mantissa{1};
  index_t exponent = 0;

  /// Takes the exponent out of the mantissa, which is then of size 1 or 0.
  void normalise() {
    const real_t<T> size = std::max(std::abs(std::real(mantissa)), std::abs(std::imag(mantissa)));
    if (!(size > 0) || !std::isfinite(size)) return;
    const int e = std::ilogb(size);
    mantissa = structmat::scaled(mantissa, -e);
    exponent += e;
  }
  void times(T factor, bool divide) {
    Scaled other{factor, 0};
    other.normalise();
    mantissa = divide ? mantissa / other.mantissa : product(mantissa, other.mantissa);
    exponent += divide ? -other.exponent : other.exponent;
    normalise();
  }
  double log_abs() const {
    return std::log(double(std::abs(mantissa))) + double(exponent) * std::log(2.0);
  }
};

/// prod_k (x_i - y_k) / prod_{k != i} (x_i - x_k); the denominator for k < i alone if `half`.
template <Scalar T>
Scaled<T> quotient(const View<const T, 1>& x, const View<const T, 1>& y, index_t i) {
  Scaled<T> q;
  for (index_t k = 0; k < x.extent(0); ++k) {
    q.times(x(i) - y(k), false);
    if (k != i) q.times(x(i) - x(k), true);
  }
  return q;
}

template <Scalar T>
void require_finite(const char* operation, const CauchyView<T>& m, index_t batch) {
  for (index_t i = 0; i < m.rows(); ++i) {
    if (toeplitz::is_finite(m.s(batch, i)) && toeplitz::is_finite(m.t(batch, i))) continue;
    throw DomainError(std::string(operation) + ": node " + std::to_string(i) + " of batch entry " +
                      std::to_string(batch) + " is not finite");
  }
}

/// The first i with x_i = x_k for some k < i.
template <Scalar T>
index_t first_repeated(const View<const T, 1>& x) {
  for (index_t i = 0; i < x.extent(0); ++i) {
    for (index_t k = 0; k < i; ++k) {
      if (x(k) == x(i)) return i;
    }
  }
  return x.extent(0);
}

template <Scalar T>
void require_regular(const char* operation, const CauchyView<T>& m, index_t batch) {
  for (const auto& [name, nodes] :
       {std::pair{"s_", m.s.select(0, batch)}, std::pair{"t_", m.t.select(0, batch)}}) {
    const index_t i = first_repeated(nodes);
    if (i == nodes.extent(0)) continue;
    throw DomainError(std::string(operation) + ": the node " + name + std::to_string(i) +
                      " of batch entry " + std::to_string(batch) +
                      " is a repeated one, the matrix is singular");
  }
}

template <Scalar T>
void require_no_coincidence(const char* operation, const CauchyView<T>& m, index_t batch) {
  const auto found = cauchy::find_coincidence(m.s.select(0, batch), m.t.select(0, batch));
  if (found) cauchy::throw_coincidence(operation, found->first, found->second, batch);
}

}  // namespace

namespace cauchy {

template <Scalar T>
CauchyLike<T> inverse(const exec::cpu&, const CauchyView<T>& given) {
  constexpr const char* operation = "cauchy::inverse";
  require_square(operation, given);
  const CauchyView<T> m = checked(given, operation);
  const index_t n = m.rows();
  CauchyLike<T> c(n, n, 1, m.batch());
  copy(m.t, c.s.view());
  copy(m.s, c.t.view());
  for (index_t b = 0; b < m.batch(); ++b) {
    require_finite(operation, m, b);
    require_no_coincidence(operation, m, b);
    require_regular(operation, m, b);
    std::vector<Scaled<T>> g, h;
    // Exponents of g and of h around a common one.
    index_t low = 0, high = 0;
    for (index_t i = 0; i < n; ++i) {
      g.push_back(quotient<T>(m.t.select(0, b), m.s.select(0, b), i));
      h.push_back(quotient<T>(m.s.select(0, b), m.t.select(0, b), i));
      const index_t lead = g.back().exponent - h.back().exponent;
      low = i == 0 ? lead : std::min(low, lead);
      high = i == 0 ? lead : std::max(high, lead);
    }
    const index_t shift = (low + high) / 4;
    const auto number = [](const Scaled<T>& v, index_t by) {
      constexpr index_t limit = 4 * std::numeric_limits<real_t<T>>::max_exponent;
      return scaled(v.mantissa, int(std::clamp(v.exponent + by, -limit, limit)));
    };
    for (index_t i = 0; i < n; ++i) {
      c.g(b, i, 0) = number(g[std::size_t(i)], -shift);
      c.h(b, i, 0) = number(h[std::size_t(i)], shift);
    }
  }
  return c;
}

template <Scalar T>
CauchyLike<T> inverse(const exec::cpu& e, const CauchyLikeView<T>& given) {
  constexpr const char* operation = "cauchy::inverse";
  require_square(operation, given);
  const CauchyLikeView<T> m = checked(given, operation);
  const index_t n = m.rows(), r = m.order();
  const Lu<T> f = factor_lu(e, m);
  if (!f.status().ok()) throw DomainError(std::string(operation) + ": " + describe(f.status()));
  CauchyLike<T> c(n, n, r, m.batch());
  copy(m.t, c.s.view());
  copy(m.s, c.t.view());
  solve<T>(e, f, Op::none, m.g, c.g.view());
  solve<T>(e, f, Op::transpose, m.h, c.h.view());
  for (T& v : c.g) v = -v;
  return c;
}

}  // namespace cauchy

template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu&, const CauchyView<T>& given, index_t batch) {
  constexpr const char* operation = "cauchy::log_determinant";
  require_square(operation, given);
  const CauchyView<T> m = cauchy::checked(given, operation);
  detail::require_index(operation, {m.batch(), 1, 1}, {batch, 0, 0});
  require_finite(operation, m, batch);
  require_no_coincidence(operation, m, batch);
  Scaled<T> d;
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t k = 0; k < m.rows(); ++k) d.times(m.s(batch, i) - m.t(batch, k), true);
    for (index_t k = 0; k < i; ++k) {
      d.times(m.s(batch, i) - m.s(batch, k), false);
      d.times(m.t(batch, k) - m.t(batch, i), false);
    }
  }
  if (d.mantissa == T{}) return {-INFINITY, T{}};
  return {d.log_abs(), d.mantissa / std::abs(d.mantissa)};
}

template <Scalar T>
LogDeterminant<T> log_determinant(const exec::cpu& e, const CauchyLikeView<T>& given,
                                  index_t batch) {
  constexpr const char* operation = "cauchy::log_determinant";
  require_square(operation, given);
  const CauchyLikeView<T> m = cauchy::checked(given, operation);
  detail::require_index(operation, {m.batch(), 1, 1}, {batch, 0, 0});
  const auto of = [batch](const auto& v) { return v.slice(0, batch, batch + 1); };
  return cauchy::log_determinant(
      cauchy::factor_lu(e, CauchyLikeView<T>{of(m.s), of(m.t), of(m.g), of(m.h), m.coincidence}));
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                        \
  template STRUCTMAT_EXPORT CauchyLike<T> cauchy::inverse<T>(const exec::cpu&, const V<T>&);    \
  template STRUCTMAT_EXPORT LogDeterminant<T> log_determinant<T>(const exec::cpu&, const V<T>&, \
                                                                 index_t);
#define STRUCTMAT_INSTANTIATE(T)            \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
