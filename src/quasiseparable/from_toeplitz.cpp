#include "structmat/quasiseparable/from_toeplitz.hpp"

#include <algorithm>

#include "core/instantiate.hpp"

namespace structmat::quasiseparable {
namespace {

/// One triangle of a Toeplitz matrix with Dense transitions.
template <Scalar T>
struct Side {
  View<const T, 2> a;
  View<const T, 1> b, c;
};

template <Scalar T>
Quasiseparable<T, transition::Dense> assemble(const Side<T>& lower, T diagonal,
                                              const Side<T>& upper) {
  Quasiseparable<T, transition::Dense> m(1, {lower.b.extent(0), upper.b.extent(0)});
  m.d(0, 0) = diagonal;
  const auto set = [](const View<const T, 1>& from, Array<T, 3>& to) {
    copy(from, to.view().select(0, 0).select(0, 0));
  };
  set(lower.c, m.p);
  set(lower.b, m.q);
  set(upper.c, m.g);
  set(upper.b, m.h);
  copy(lower.a, m.a.view().select(0, 0).select(0, 0));
  copy(upper.a, m.b.view().select(0, 0).select(0, 0));
  return m;
}

/// The companion realisation of a power series, and its constant term.
template <Scalar T>
struct Companion {
  Array<T, 2> a;
  Array<T, 1> b, c;
  T constant{};

  Companion(const char* name, const Rational<T>& f) {
    if (f.denominator.empty() || f.denominator[0] == T{}) {
      throw DomainError(
          std::string("quasiseparable::from_rational_symbol: the denominator of the ") + name +
          " symbol is 0 at 0, it must not be");
    }
    const auto r =
        index_t(std::max({f.numerator.size(), f.denominator.size(), std::size_t(1)})) - 1;
    const auto coefficient = [&](const std::vector<T>& from, index_t k) {
      return k < index_t(from.size()) ? from[k] / f.denominator[0] : T{};
    };
    a = Array<T, 2>({r, r});
    b = Array<T, 1>({r});
    c = Array<T, 1>({r});
    constant = coefficient(f.numerator, 0);
    for (index_t k = 0; k < r; ++k) {
      const T pole = coefficient(f.denominator, k + 1);
      a(0, k) = -pole;
      if (k + 1 < r) a(k + 1, k) = T{1};
      c(k) = coefficient(f.numerator, k + 1) - pole * constant;
    }
    if (r > 0) b(0) = T{1};
  }
  Side<T> side() const { return {a, b, c}; }
};

}  // namespace

template <Scalar T, transition::Uniform K>
QuasiseparableView<T, K> repeated(const QuasiseparableView<T, K>& matrix, index_t n) {
  constexpr auto operation = "quasiseparable::repeated";
  const auto m = checked(matrix, operation);
  if (m.size() != 1 || n < 0) {
    throw ShapeError(std::string(operation) + ": the generators are those of " +
                     std::to_string(m.size()) + " indices, they must be those of 1; the size is " +
                     std::to_string(n));
  }
  const auto all = [n](const auto& v) { return v.broadcast(1, n); };
  return {all(m.p), all(m.q), all(m.a), all(m.d), all(m.g), all(m.h), all(m.b)};
}

template <Scalar T>
Quasiseparable<T, transition::Diagonal> from_exponentials(const Exponentials<T>& lower, T diagonal,
                                                          const Exponentials<T>& upper) {
  for (const auto* side : {&lower, &upper}) {
    if (side->weights.size() != side->bases.size()) {
      throw ShapeError("quasiseparable::from_exponentials: there are " +
                       std::to_string(side->weights.size()) + " weights and " +
                       std::to_string(side->bases.size()) + " bases");
    }
  }
  Quasiseparable<T, transition::Diagonal> m(
      1, {index_t(lower.bases.size()), index_t(upper.bases.size())});
  m.d(0, 0) = diagonal;
  const auto set = [](const Exponentials<T>& from, Array<T, 3>& out, Array<T, 3>& transitions,
                      Array<T, 3>& in) {
    for (index_t k = 0; k < index_t(from.bases.size()); ++k) {
      out(0, 0, k) = T{1};
      transitions(0, 0, k) = from.bases[k];
      in(0, 0, k) = from.weights[k] * from.bases[k];
    }
  };
  set(lower, m.p, m.a, m.q);
  set(upper, m.g, m.b, m.h);
  return m;
}

template <Scalar T>
Quasiseparable<T, transition::Dense> from_rational_symbol(const Rational<T>& lower,
                                                          const Rational<T>& upper) {
  const Companion<T> below("lower", lower), above("upper", upper);
  return assemble<T>(below.side(), below.constant + above.constant, above.side());
}

template <Scalar T>
FromToeplitz<T> from_toeplitz(View<const T, 1> lower, T diagonal, View<const T, 1> upper,
                              const RealiseOptions& options) {
  FromToeplitz<T> result{{}, realise(lower, options), realise(upper, options)};
  const auto side = [](const Realisation<T>& m) { return Side<T>{m.a, m.b, m.c}; };
  result.matrix = assemble<T>(side(result.lower), diagonal, side(result.upper));
  return result;
}

#define STRUCTMAT_INSTANTIATE_KIND(T, K)                                                     \
  template STRUCTMAT_EXPORT QuasiseparableView<T, transition::K> repeated<T, transition::K>( \
      const QuasiseparableView<T, transition::K>&, index_t);
#define STRUCTMAT_INSTANTIATE(T)                                                          \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE_KIND, T)                                      \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Diagonal> from_exponentials<T>( \
      const Exponentials<T>&, T, const Exponentials<T>&);                                 \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Dense> from_rational_symbol<T>( \
      const Rational<T>&, const Rational<T>&);                                            \
  template STRUCTMAT_EXPORT FromToeplitz<T> from_toeplitz<T>(                             \
      View<const T, 1>, T, View<const T, 1>, const RealiseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
