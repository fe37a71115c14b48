#include "toeplitz/cauchy_image.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/scale.hpp"

namespace structmat::toeplitz {
namespace {

/// Tangents of odd multiples of pi / 4n.
class Tangents {
 public:
  explicit Tangents(index_t n) : n_(n) {
    const long double unit = std::numbers::pi_v<long double> / (4.0L * static_cast<long double>(n));
    for (index_t m = 1; m <= n; m += 2) {
      tangents_.push_back(std::tan(static_cast<long double>(m) * unit));
    }
  }

  /// tan(m pi / 4n), 0 < m < 4n
  template <RealScalar R>
  cauchy::CircleNode<R> node(index_t m) const {
    const long double tangent =
        m > 2 * n_ ? -below_quarter_turn(4 * n_ - m) : below_quarter_turn(m);
    const R value = static_cast<R>(tangent);
    return {value, static_cast<R>(tangent - static_cast<long double>(value))};
  }

 private:
  /// tan(pi / 2 - a) = 1 / tan(a)
  long double below_quarter_turn(index_t m) const {
    return m <= n_ ? tangents_[std::size_t(m / 2)] : 1 / tangents_[std::size_t((2 * n_ - m) / 2)];
  }

  index_t n_;
  std::vector<long double> tangents_;
};

}  // namespace

template <RealScalar R>
CauchyImage<R>::CauchyImage(index_t n) : n_(n), plan_(n) {
  roots_.reserve(std::size_t(4 * n));
  for (index_t m = 0; m < 4 * n; ++m) {
    const double angle = std::numbers::pi * double(m % n) / (2.0 * double(n));
    const std::complex<double> w = std::polar(1.0, angle);
    // A quarter turn for every n.
    const std::complex<double> turned[] = {w, {-w.imag(), w.real()}, -w, {w.imag(), -w.real()}};
    roots_.push_back(C(turned[m / n]));
  }
}

template <RealScalar R>
void CauchyImage<R>::transform(Sign sign, C* row) const {
  Array<C, 2> result({1, n_}, uninitialized);
  const View<C, 2> given(row, {1, n_});
  if (sign == Sign::plus) {
    plan_.backward(given, result);
  } else {
    plan_.forward(given, result);
  }
  const R factor = 1 / std::sqrt(R(n_));
  for (index_t i = 0; i < n_; ++i) row[i] = result.data()[i] * factor;
}

template <RealScalar R>
void CauchyImage<R>::twist(Sign sign, C* row) const {
  for (index_t j = 0; j < n_; ++j) {
    row[j] = product(sign == Sign::plus ? root(2 * j) : conjugate(root(2 * j)), row[j]);
  }
}

template <RealScalar R>
template <Scalar T>
void CauchyImage<R>::generators(const View<const T, 1>& lags, int exponent, View<C, 2> g,
                                View<C, 2> h) const {
  const auto lag = [&](index_t l) { return C(scaled(lags(l + n_ - 1), -exponent)); };
  Array<C, 1> column({n_}), row({n_});
  for (index_t i = 0; i < n_; ++i) column(i) = i == 0 ? lag(0) : lag(i) + lag(i - n_);
  for (index_t j = 0; j < n_; ++j) {
    row(j) = j == n_ - 1 ? lag(0) : lag(n_ - 1 - j) - lag(-1 - j);
  }
  transform(Sign::plus, column.data());
  twist(Sign::minus, row.data());
  transform(Sign::minus, row.data());
  const R factor = 1 / std::sqrt(R(n_));
  for (index_t i = 0; i < n_; ++i) {
    g(i, 0) = factor;
    g(i, 1) = column(i);
    h(i, 0) = row(i);
    h(i, 1) = -factor * root(4 * i + 2);
  }
}

template <RealScalar R>
template <Scalar T>
cauchy::Problem<std::complex<R>, cauchy::CircleNode<R>> CauchyImage<R>::problem(
    const View<const T, 1>& lags, int exponent) const {
  Array<C, 2> g({n_, 2}), h({n_, 2});
  generators(lags, exponent, g.view(), h.view());
  cauchy::Problem<C, Node> p{cauchy::Side<C, Node>(n_, 2), cauchy::Side<C, Node>(n_, 2)};
  const Tangents tangents(n_);
  const C factor = product(C(0, R(-0.5)), root(1));
  for (index_t i = 0; i < n_; ++i) {
    for (index_t l = 0; l < 2; ++l) {
      p.rows.set(i, l, g(i, l));
      p.cols.set(i, l, product(factor, h(i, l)));
    }
    p.rows.set_node(i, tangents.node<R>(4 * i + 1));
    p.cols.set_node(i, tangents.node<R>(4 * i + 3));
  }
  return p;
}

template <RealScalar R>
void CauchyImage<R>::to_image(Op op, View<C, 2> columns) const {
  for (index_t c = 0; c < columns.extent(0); ++c) {
    C* row = columns.data() + c * columns.stride(0);
    if (op != Op::none) twist(op == Op::transpose ? Sign::minus : Sign::plus, row);
    transform(op == Op::transpose ? Sign::minus : Sign::plus, row);
  }
}

template <RealScalar R>
void CauchyImage<R>::from_image(Op op, View<C, 2> columns) const {
  for (index_t c = 0; c < columns.extent(0); ++c) {
    C* row = columns.data() + c * columns.stride(0);
    transform(op == Op::transpose ? Sign::plus : Sign::minus, row);
    if (op == Op::none) twist(Sign::minus, row);
  }
}

template class CauchyImage<float>;
template class CauchyImage<double>;
#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template void CauchyImage<real_t<T>>::generators<T>(const View<const T, 1>&, int, View<C, 2>, \
                                                      View<C, 2>) const;                        \
  template cauchy::Problem<std::complex<real_t<T>>, cauchy::CircleNode<real_t<T>>>              \
  CauchyImage<real_t<T>>::problem<T>(const View<const T, 1>&, int) const;
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
