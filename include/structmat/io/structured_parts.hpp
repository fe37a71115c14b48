/// \file
/// The parts of a structured matrix under the names of its files, for everything that treats all
/// families alike.
#pragma once

#include <algorithm>
#include <array>

#include "structmat/io/structured.hpp"

namespace structmat::io {

namespace detail {

/// visitor.array(name, array...), visitor.shape(rows..., columns...) and visitor.choice(key, names,
/// value...) for all parts of one matrix, or of several of one family at once.
template <class V, class T, class... M>
void visit_parts(std::type_identity<Toeplitz<T>>, V& visitor, M&... m) {
  visitor.array("lags", m.lags...);
  visitor.shape(m.row_count..., m.col_count...);
}
template <class V, class T, class... M>
void visit_parts(std::type_identity<Hankel<T>>, V& visitor, M&... m) {
  visitor.array("anti_diagonals", m.anti_diagonals...);
  visitor.shape(m.row_count..., m.col_count...);
}
template <class V, class T, class... M>
void visit_parts(std::type_identity<Circulant<T>>, V& visitor, M&... m) {
  visitor.array("column", m.column...);
}
template <class V, class T, class... M>
void visit_parts(std::type_identity<SkewCirculant<T>>, V& visitor, M&... m) {
  visitor.array("column", m.column...);
}

inline constexpr std::array<const char*, 2> coincidences{"error", "skip"};
inline constexpr std::array<const char*, 2> strides{"increasing", "decreasing"};

template <class V, class T, class... M>
void visit_parts(std::type_identity<Cauchy<T>>, V& visitor, M&... m) {
  visitor.array("s", m.s...);
  visitor.array("t", m.t...);
  visitor.choice("structmat.coincidence", coincidences, m.coincidence...);
}
template <class V, class T, class... M>
void visit_parts(std::type_identity<CauchyLike<T>>, V& visitor, M&... m) {
  visitor.array("s", m.s...);
  visitor.array("t", m.t...);
  visitor.array("g", m.g...);
  visitor.array("h", m.h...);
  visitor.choice("structmat.coincidence", coincidences, m.coincidence...);
}
// One of the two numbers follows from the nodes.
struct Follows {
  index_t value;
};
template <class V, class T, class... M>
void visit_parts(std::type_identity<Vandermonde<T>>, V& visitor, M&... m) {
  visitor.array("x", m.x...);
  visitor.shape(Follows{m.rows()}..., m.col_count...);
}
template <class V, class T, class... M>
void visit_parts(std::type_identity<LogVandermonde<T>>, V& visitor, M&... m) {
  visitor.array("a", m.a...);
  visitor.shape(m.row_count..., Follows{m.cols()}...);
}
template <class V, class T, class... M>
void visit_parts(std::type_identity<LowRank<T>>, V& visitor, M&... m) {
  visitor.array("u", m.u...);
  visitor.array("v", m.v...);
}
template <class V, class T, class... M>
void visit_parts(std::type_identity<Butterfly<T>>, V& visitor, M&... m) {
  visitor.array("factors", m.factors...);
  visitor.shape(m.row_count..., m.col_count...);
  visitor.choice("structmat.strides", strides, m.first...);
}
template <class V, class T, class... M>
void visit_parts(std::type_identity<Monarch<T>>, V& visitor, M&... m) {
  visitor.array("w1", m.w1...);
  visitor.array("w2", m.w2...);
}

/// The family of M with another scalar type.
template <class M, Scalar T>
struct Rebind;
template <template <class, class> class Family, class U, Scalar T>
struct Rebind<Family<U, space::host>, T> {
  using type = Family<T, space::host>;
};

/// Copies parts with conversion of scalars.
template <Scalar T>
struct Converter {
  template <Scalar U, int Rank>
  void array(const char*, const Array<U, Rank>& from, Array<T, Rank>& to) const {
    to = Array<T, Rank>(from.extents(), uninitialized);
    std::transform(from.begin(), from.end(), to.begin(), [](const U& x) { return T(x); });
  }
  void shape(index_t from_rows, index_t& rows, index_t from_columns, index_t& columns) const {
    rows = from_rows;
    columns = from_columns;
  }
  void shape(Follows, Follows, index_t from_columns, index_t& columns) const {
    columns = from_columns;
  }
  void shape(index_t from_rows, index_t& rows, Follows, Follows) const { rows = from_rows; }
  template <class Names, class E>
  void choice(const char*, const Names&, const E& from, E& to) const {
    to = from;
  }
};

}  // namespace detail

template <Scalar T, StructuredMatrix M>
auto with_scalar(const M& matrix) {
  typename detail::Rebind<M, T>::type result;
  detail::Converter<T> converter;
  detail::visit_parts(std::type_identity<M>{}, converter, matrix, result);
  return result;
}

}  // namespace structmat::io
