/// \file
/// Textbook dense arithmetic in double or complex double: the oracle of structured results.
#pragma once

#include <cmath>

#include "structmat/core/array.hpp"

namespace structmat::test {

template <Scalar T>
using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;

/// One batch entry of to_dense() in double precision.
template <class M>
Array<Wide<typename M::value_type>, 2> wide_dense(const M& m, index_t batch = 0) {
  using W = Wide<typename M::value_type>;
  const auto dense = m.to_dense();
  Array<W, 2> a({m.rows(), m.cols()});
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t j = 0; j < m.cols(); ++j) a(i, j) = W(dense(batch, i, j));
  }
  return a;
}

/// a(i, j) for i, j.
template <class T, class Entry>
Array<T, 2> entrywise(const Array<T, 2>& a, const Entry& entry) {
  Array<T, 2> m(a.extents());
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t j = 0; j < a.extent(1); ++j) m(i, j) = entry(i, j);
  }
  return m;
}

template <class T>
Array<T, 2> dense_product(const Array<T, 2>& a, const Array<T, 2>& b) {
  Array<T, 2> c({a.extent(0), b.extent(1)});
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t k = 0; k < a.extent(1); ++k) {
      for (index_t j = 0; j < b.extent(1); ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

template <class T>
double norm_of(const Array<T, 2>& a) {
  double sum = 0;
  for (const T& v : a) sum += std::norm(v);
  return std::sqrt(sum);
}

/// ||a - b||_F
template <class T>
double distance(const Array<T, 2>& a, const Array<T, 2>& b) {
  double sum = 0;
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t j = 0; j < a.extent(1); ++j) sum += std::norm(a(i, j) - b(i, j));
  }
  return std::sqrt(sum);
}

}  // namespace structmat::test
