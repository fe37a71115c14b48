#include "structmat/exact/convert.hpp"

namespace structmat::exact {

Matrix<PrimeField> reduced(const Matrix<RationalField>& m, const PrimeField& field) {
  Matrix<PrimeField> image(field, m.rows(), m.cols());
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t j = 0; j < m.cols(); ++j) image(i, j) = m(i, j).modulo(field.prime());
  }
  return image;
}

Array<double, 2> to_double(const Matrix<RationalField>& m) {
  Array<double, 2> result({m.rows(), m.cols()}, uninitialized);
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t j = 0; j < m.cols(); ++j) result(i, j) = m(i, j).to_double();
  }
  return result;
}

Matrix<RationalField> from_double(View<const double, 2> m) {
  Matrix<RationalField> result({}, m.extent(0), m.extent(1));
  for (index_t i = 0; i < result.rows(); ++i) {
    for (index_t j = 0; j < result.cols(); ++j) result(i, j) = Rational::from_double(m(i, j));
  }
  return result;
}

}  // namespace structmat::exact
