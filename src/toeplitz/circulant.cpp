#include "structmat/toeplitz/circulant.hpp"

#include "core/instantiate.hpp"
#include "core/write_entries.hpp"
#include "structmat/core/shape.hpp"

namespace structmat {
namespace {

/// The entry i, j of a circulant matrix (sign 1) or a skew-circulant one (sign -1).
template <Scalar T>
T wrapped(const View<const T, 2>& column, index_t b, index_t lag, int sign) {
  if (lag >= 0) return column(b, lag);
  const T v = column(b, column.extent(1) + lag);
  return sign < 0 ? -v : v;
}

template <class M>
M checked_column(const M& m, const char* operation, index_t batch) {
  detail::Shape shape(operation, batch);
  shape.require("column", m.column, {m.size()});
  return {m.column.broadcast(0, shape.batch())};
}

template <Scalar T>
Toeplitz<T> by_lags(const View<const T, 2>& column, int sign) {
  const index_t n = column.extent(1);
  Toeplitz<T> t(n, n, column.extent(0));
  for (index_t b = 0; b < t.batch(); ++b) {
    for (index_t l = 0; l < t.lags.extent(1); ++l)
      t.lags(b, l) = wrapped(column, b, l + 1 - n, sign);
  }
  return t;
}

template <class M>
auto entry_of(const char* operation, const M& m, const std::array<index_t, 3>& at, int sign) {
  detail::require_index(operation, {m.batch(), m.rows(), m.cols()}, at);
  return wrapped(m.column, at[0], at[1] - at[2], sign);
}

template <class M, Scalar T>
void write_dense(const char* operation, const M& m, const View<T, 3>& dense, int sign) {
  detail::write_entries(
      operation, dense, {m.batch(), m.rows(), m.cols()},
      [&](index_t b, index_t i, index_t j) { return wrapped(m.column, b, i - j, sign); });
}

}  // namespace

namespace circulant {
template <Scalar T, class Space>
CirculantView<T, Space> checked(CirculantView<T, Space> m, const char* operation, index_t batch) {
  return checked_column(m, operation, batch);
}
}  // namespace circulant

namespace skew_circulant {
template <Scalar T, class Space>
SkewCirculantView<T, Space> checked(SkewCirculantView<T, Space> m, const char* operation,
                                    index_t batch) {
  return checked_column(m, operation, batch);
}
}  // namespace skew_circulant

namespace toeplitz {
template <Scalar T>
Toeplitz<T> from_circulant(const CirculantView<T>& m) {
  return by_lags(m.column, 1);
}
template <Scalar T>
Toeplitz<T> from_circulant(const SkewCirculantView<T>& m) {
  return by_lags(m.column, -1);
}
}  // namespace toeplitz

template <Scalar T>
T entry(const CirculantView<T>& m, index_t i, index_t j, index_t batch) {
  return entry_of("circulant::entry", m, {batch, i, j}, 1);
}
template <Scalar T>
T entry(const SkewCirculantView<T>& m, index_t i, index_t j, index_t batch) {
  return entry_of("skew_circulant::entry", m, {batch, i, j}, -1);
}

template <Scalar T>
void to_dense(const CirculantView<T>& m, View<T, 3> dense) {
  write_dense("circulant::to_dense", m, dense, 1);
}
template <Scalar T>
void to_dense(const SkewCirculantView<T>& m, View<T, 3> dense) {
  write_dense("skew_circulant::to_dense", m, dense, -1);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT CirculantView<T> circulant::checked(CirculantView<T>, const char*,  \
                                                                index_t);                       \
  template STRUCTMAT_EXPORT CirculantView<T, space::cuda> circulant::checked(                   \
      CirculantView<T, space::cuda>, const char*, index_t);                                     \
  template STRUCTMAT_EXPORT SkewCirculantView<T> skew_circulant::checked(SkewCirculantView<T>,  \
                                                                         const char*, index_t); \
  template STRUCTMAT_EXPORT SkewCirculantView<T, space::cuda> skew_circulant::checked(          \
      SkewCirculantView<T, space::cuda>, const char*, index_t);                                 \
  template STRUCTMAT_EXPORT Toeplitz<T> toeplitz::from_circulant(const CirculantView<T>&);      \
  template STRUCTMAT_EXPORT Toeplitz<T> toeplitz::from_circulant(const SkewCirculantView<T>&);  \
  template STRUCTMAT_EXPORT T entry(const CirculantView<T>&, index_t, index_t, index_t);        \
  template STRUCTMAT_EXPORT T entry(const SkewCirculantView<T>&, index_t, index_t, index_t);    \
  template STRUCTMAT_EXPORT void to_dense(const CirculantView<T>&, View<T, 3>);                 \
  template STRUCTMAT_EXPORT void to_dense(const SkewCirculantView<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
