#include "verify/square_root.hpp"

#include <limits>

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/lapack.hpp"

namespace structmat::verify {
namespace {

/// Columns of R are rescaled when they leave this range.
constexpr double least = 1.0 / (index_t{1} << 30), most = static_cast<double>(index_t{1} << 30);

/// Rows are padded to whole 64-byte vectors, so that loops over them need no remainder.
template <Scalar T>
index_t padded(index_t order) {
  constexpr index_t chunk = 64 / sizeof(T);
  return (order + chunk - 1) / chunk * chunk;
}

/// x y, without the search for infinities that complex multiplication makes.
template <Scalar T>
STRUCTMAT_INLINE T product(const T& x, const T& y) {
  if constexpr (is_complex_v<T>) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  } else {
    return x * y;
  }
}

template <Scalar T>
STRUCTMAT_INLINE real_t<T> size1(const T& v) {
  return std::abs(std::real(v)) + std::abs(std::imag(v));
}

/// row := row scale; next := bounds of the columns of [R diag(a); row]. Returns whether all of them
/// stay in range.
template <class T>
STRUCTMAT_CLONES bool scale_row(index_t order, const T* a, T* row, const real_t<T>* scales,
                                const real_t<T>* bounds, real_t<T>* next) {
  using R = real_t<T>;
  index_t outside = 0;
  for (index_t l = 0; l < order; ++l) {
    const bool empty = bounds[l] == 0 && row[l] == T{};
    row[l] *= scales[l];
    next[l] = bounds[l] * size1(a[l]) + size1(row[l]);
    outside += empty || (next[l] >= R(least) && next[l] <= R(most)) ? 0 : 1;
  }
  return outside == 0;
}

/// Multiplies the columns of the upper triangle R by a and rotates the row into it.
template <class T>
STRUCTMAT_CLONES void rotate_in(index_t order, index_t stride, const T* a, T* r, T* row) {
  using R = real_t<T>;
  constexpr index_t chunk = 64 / sizeof(T);
  for (index_t i = 0; i < order; ++i) {
    T* at = r + i * stride;
#pragma omp simd
    for (index_t l = i / chunk * chunk; l < stride; ++l) at[l] = product(at[l], a[l]);
  }
  for (index_t i = 0; i < order; ++i) {
    T* top = r + i * stride;
    const T x = top[i], y = row[i];
    const R square = std::real(x) * std::real(x) + std::imag(x) * std::imag(x) +
                     std::real(y) * std::real(y) + std::imag(y) * std::imag(y);
    if (y == T{} || square < std::numeric_limits<R>::min()) continue;
    const R inverse = 1 / std::sqrt(square);
    // [conj x, conj y; -y, x] / sqrt(|x|^2 + |y|^2)
    const T c = x * inverse, s = y * inverse, cc = conjugate(c), sc = conjugate(s);
    for (index_t begin = i / chunk * chunk; begin < stride; begin += chunk) {
#pragma omp simd
      for (index_t l = begin; l < begin + chunk; ++l) {
        const T above = top[l], below = row[l];
        top[l] = product(cc, above) + product(sc, below);
        row[l] = product(c, below) - product(s, above);
      }
    }
    row[i] = T{};
  }
}

/// x = m R^T.
template <Scalar T>
void times_factor(const Array<T, 2>& m, const SquareRoot<T>& f, Array<T, 2>& x) {
  dense::gemm<T>(Op::none, Op::transpose, T{1}, m, f.factor(), T{0}, x);
}

}  // namespace

template <Scalar T>
SquareRoot<T>::SquareRoot(index_t rows, index_t order)
    : rows_(rows),
      order_(order),
      stride_(padded<T>(order)),
      r_(rows * stride_),
      row_(stride_),
      a_(stride_),
      exponents_(order),
      scales_(order, R{1}),
      bounds_(order),
      next_(order) {}

template <Scalar T>
void SquareRoot<T>::append(const View<const T, 1>& a, const View<const T, 1>& row) {
  for (index_t l = 0; l < order_; ++l) {
    a_[l] = a(l);
    row_[l] = row(l);
  }
  if (!scale_row<T>(order_, a_.data(), row_.data(), scales_.data(), bounds_.data(), next_.data())) {
    for (index_t l = 0; l < order_; ++l) {
      const bool fits = next_[l] >= R(least) && next_[l] <= R(most);
      if (!fits && !(bounds_[l] == 0 && row(l) == T{})) rescale(l, a(l), row(l));
    }
  }
  std::swap(bounds_, next_);
  rotate_in<T>(order_, stride_, a_.data(), r_.data(), row_.data());
}

/// A new exponent for column l of [R diag(a); row], with what `append` goes on with.
template <Scalar T>
void SquareRoot<T>::rescale(index_t l, const T& a, const T& entry) {
  R largest = 0;
  for (index_t i = 0; i <= l; ++i) largest = std::max(largest, size1(r_[i * stride_ + l]));
  const index_t of_column = exponent_of(largest), of_a = exponent_of(a);
  const bool empty = largest == 0 || a == T{};
  const index_t before = exponents_[l];
  const index_t after =
      std::max(empty ? no_exponent : before + of_column + of_a, exponent_of(entry));
  for (index_t i = 0; i <= l; ++i) {
    T& v = r_[i * stride_ + l];
    v = empty ? T{} : times_power(v, before + of_a - after);
  }
  a_[l] = empty ? T{} : times_power(a, -of_a);
  row_[l] = times_power(entry, -after);
  exponents_[l] = after <= no_exponent ? 0 : after;
  scales_[l] = times_power(R{1}, -exponents_[l]);
  next_[l] =
      (empty ? R{0} : times_power(largest, before + of_a - after) * size1(a_[l])) + size1(row_[l]);
}

template <Scalar T>
void SquareRoot<T>::append(const View<const T, 2>& a, const View<const T, 2>& rows) {
  const index_t number = rows.extent(0), order = a.extent(1), all = number + rows_;
  SquareRoot next(std::min(all, order), order);
  // [rows; F a], column-major, each column with its exponent; diag(2^e) a first.
  Array<T, 2> work({order, all}, uninitialized), scaled({order, order_}, uninitialized);
  for (index_t l = 0; l < order; ++l) {
    index_t e = no_exponent;
    for (index_t i = 0; i < number; ++i) e = std::max(e, exponent_of(rows(i, l)));
    for (index_t m = 0; m < order_; ++m) e = std::max(e, exponent(m) + exponent_of(a(m, l)));
    if (e <= no_exponent / 2) e = 0;
    next.exponents_[l] = e;
    for (index_t i = 0; i < number; ++i) work(l, i) = times_power(rows(i, l), -e);
    for (index_t m = 0; m < order_; ++m) scaled(l, m) = times_power(a(m, l), exponent(m) - e);
  }
  if (rows_ > 0 && order > 0) {
    if (order_ > 0) {
      dense::gemm<T>(Op::none, Op::transpose, T{1}, scaled, factor(), T{0},
                     work.view().slice(1, number, all));
    } else {
      for (index_t l = 0; l < order; ++l) {
        for (index_t i = number; i < all; ++i) work(l, i) = T{};
      }
    }
  }
  dense::qr_factor<T>(work.view().transposed());
  for (index_t l = 0; l < order; ++l) {
    R largest = 0;
    const index_t end = std::min(l + 1, next.rows_);
    for (index_t i = 0; i < end; ++i) largest = std::max(largest, size1(work(l, i)));
    if (largest == 0) continue;
    const index_t e = exponent_of(largest);
    next.exponents_[l] += e;
    next.bounds_[l] = 2;
    for (index_t i = 0; i < end; ++i) next.r_[i * next.stride_ + l] = times_power(work(l, i), -e);
  }
  *this = std::move(next);
}

template <Scalar T>
void multiply(const SquareRoot<T>& o, const SquareRoot<T>& c, Scaled<T>& x) {
  if (x.x.extent(0) != o.rows() || x.x.extent(1) != c.rows()) {
    x.x = Array<T, 2>({o.rows(), c.rows()}, uninitialized);
  }
  const index_t order = o.order();
  index_t largest = no_exponent;
  for (index_t l = 0; l < order; ++l) largest = std::max(largest, o.exponent(l) + c.exponent(l));
  x.exponent = largest <= no_exponent / 2 ? 0 : largest;
  std::fill(x.x.begin(), x.x.end(), T{});
  // Both factors are upper trapezoidal: x_ij sums over l >= max(i, j).
  const View<const T, 2> fo = o.factor(), fc = c.factor();
  thread_local std::vector<T> column;
  column.resize(c.rows());
  for (index_t l = 0; l < order; ++l) {
    const index_t e = o.exponent(l) + c.exponent(l) - x.exponent;
    const index_t end = std::min(l + 1, c.rows());
    const real_t<T> weight = times_power(real_t<T>{1}, e);
    if (weight == 0) continue;
    for (index_t j = 0; j < end; ++j) column[j] = fc(j, l) * weight;
    for (index_t i = 0; i < std::min(l + 1, o.rows()); ++i) {
      const T v = fo(i, l);
      T* row = x.x.data() + i * c.rows();
#pragma omp simd
      for (index_t j = 0; j < end; ++j) row[j] += product(v, column[j]);
    }
  }
}

template <Scalar T>
ScaledRows<T>::ScaledRows(const View<const T, 2>& m, const std::vector<index_t>& before,
                          const SquareRoot<T>& f)
    : x({m.extent(0), f.rows()}), exponents(m.extent(0)) {
  const index_t order = f.order();
  Array<T, 2> scaled({m.extent(0), order}, uninitialized);
  for (index_t i = 0; i < m.extent(0); ++i) {
    const index_t own = before.empty() ? 0 : before[i];
    index_t e = no_exponent;
    for (index_t l = 0; l < order; ++l) e = std::max(e, exponent_of(m(i, l)) + f.exponent(l));
    exponents[i] = std::max(own + e, no_exponent);
    for (index_t l = 0; l < order; ++l) scaled(i, l) = times_power(m(i, l), f.exponent(l) - e);
  }
  if (!x.empty() && order > 0) times_factor(scaled, f, x);
}

template <Scalar T>
Scaled<T> ScaledRows<T>::common() const {
  Scaled<T> all{x, 0};
  index_t largest = no_exponent;
  for (const index_t e : exponents) largest = std::max(largest, e);
  if (largest <= no_exponent / 2) return all;
  all.exponent = largest;
  for (index_t i = 0; i < x.extent(0); ++i) {
    for (index_t j = 0; j < x.extent(1); ++j)
      all.x(i, j) = times_power(x(i, j), exponents[i] - largest);
  }
  return all;
}

#define STRUCTMAT_INSTANTIATE(T)                                                     \
  template class SquareRoot<T>;                                                      \
  template void multiply<T>(const SquareRoot<T>&, const SquareRoot<T>&, Scaled<T>&); \
  template struct ScaledRows<T>;
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
