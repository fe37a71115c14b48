#include "structmat/cauchy/cauchy.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/write_entries.hpp"
#include "structmat/core/shape.hpp"

namespace structmat {

namespace cauchy {

template <Scalar T, class Space>
CauchyView<T, Space> checked(CauchyView<T, Space> m, const char* operation, index_t batch) {
  detail::Shape shape(operation, batch);
  shape.require("s", m.s, {m.rows()});
  shape.require("t", m.t, {m.cols()});
  const index_t all = shape.batch();
  return {m.s.broadcast(0, all), m.t.broadcast(0, all), m.coincidence};
}

template <Scalar T, class Space>
CauchyLikeView<T, Space> checked(CauchyLikeView<T, Space> m, const char* operation, index_t batch) {
  detail::Shape shape(operation, batch);
  shape.require("s", m.s, {m.rows()});
  shape.require("t", m.t, {m.cols()});
  shape.require("g", m.g, {m.rows(), m.order()});
  shape.require("h", m.h, {m.cols(), m.order()});
  const index_t all = shape.batch();
  return {m.s.broadcast(0, all), m.t.broadcast(0, all), m.g.broadcast(0, all),
          m.h.broadcast(0, all), m.coincidence};
}

}  // namespace cauchy

namespace {

/// numerator / (s_i - t_j), or what the coincidence of the two says.
template <Scalar T, class V>
T quotient(const char* operation, const V& m, index_t b, index_t i, index_t j, const T& numerator) {
  const T difference = m.s(b, i) - m.t(b, j);
  if (difference != T{}) return numerator / difference;
  if (m.coincidence == Coincidence::skip) return T{};
  throw DomainError(std::string(operation) + ": s_" + std::to_string(i) + " equals t_" +
                    std::to_string(j) + " in batch entry " + std::to_string(b));
}

template <Scalar T>
T entry_of(const char* operation, const CauchyView<T>& m, index_t b, index_t i, index_t j) {
  return quotient(operation, m, b, i, j, T{1});
}

template <Scalar T>
T entry_of(const char* operation, const CauchyLikeView<T>& m, index_t b, index_t i, index_t j) {
  T sum{};
  for (index_t k = 0; k < m.order(); ++k) sum += product(m.g(b, i, k), m.h(b, j, k));
  return quotient(operation, m, b, i, j, sum);
}

template <class V>
auto checked_entry(const V& matrix, index_t i, index_t j, index_t batch) {
  const auto m = cauchy::checked(matrix, "cauchy::entry");
  detail::require_index("cauchy::entry", {m.batch(), m.rows(), m.cols()}, {batch, i, j});
  return entry_of("cauchy::entry", m, batch, i, j);
}

template <class V, class T>
void expand(const V& matrix, const View<T, 3>& dense) {
  const auto m = cauchy::checked(matrix, "cauchy::to_dense");
  detail::write_entries(
      "cauchy::to_dense", dense, {m.batch(), m.rows(), m.cols()},
      [&](index_t b, index_t i, index_t j) { return entry_of("cauchy::to_dense", m, b, i, j); });
}

}  // namespace

template <Scalar T>
T entry(const CauchyView<T>& m, index_t i, index_t j, index_t batch) {
  return checked_entry(m, i, j, batch);
}
template <Scalar T>
T entry(const CauchyLikeView<T>& m, index_t i, index_t j, index_t batch) {
  return checked_entry(m, i, j, batch);
}
template <Scalar T>
void to_dense(const CauchyView<T>& m, View<T, 3> dense) {
  expand(m, dense);
}
template <Scalar T>
void to_dense(const CauchyLikeView<T>& m, View<T, 3> dense) {
  expand(m, dense);
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                      \
  template STRUCTMAT_EXPORT V<T> cauchy::checked(V<T>, const char*, index_t);                 \
  template STRUCTMAT_EXPORT V<T, space::cuda> cauchy::checked(V<T, space::cuda>, const char*, \
                                                              index_t);                       \
  template STRUCTMAT_EXPORT T entry(const V<T>&, index_t, index_t, index_t);                  \
  template STRUCTMAT_EXPORT void to_dense(const V<T>&, View<T, 3>);
#define STRUCTMAT_INSTANTIATE(T)            \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
