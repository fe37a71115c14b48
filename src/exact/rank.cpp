#include "structmat/exact/rank.hpp"

#include <flint/fmpz_mat.h>

#include <memory>

#include "exact/modular.hpp"
#include "exact/rational_access.hpp"

namespace structmat::exact {
namespace {

/// An integer or a matrix of the back end, released with its scope.
struct Integer {
  fmpz_t value;
  Integer() { fmpz_init(value); }
  ~Integer() { fmpz_clear(value); }
  Integer(const Integer&) = delete;
  Integer& operator=(const Integer&) = delete;
};
struct IntegerMatrix {
  fmpz_mat_t value;
  IntegerMatrix(index_t rows, index_t cols) { fmpz_mat_init(value, rows, cols); }
  ~IntegerMatrix() { fmpz_mat_clear(value); }
  IntegerMatrix(const IntegerMatrix&) = delete;
  IntegerMatrix& operator=(const IntegerMatrix&) = delete;
};

}  // namespace

index_t rank(const Matrix<PrimeField>& m) {
  detail::Modular modular(m.field());
  std::vector<double> x;
  x.reserve(m.elements().size());
  for (const auto element : m.elements()) x.push_back(modular.centred(element));
  return modular.eliminate(m.rows(), m.cols(), x.data(), m.cols()).rank();
}

index_t rank(const Matrix<RationalField>& m) {
  IntegerMatrix integers(m.rows(), m.cols());
  Integer multiple;
  for (index_t i = 0; i < m.rows(); ++i) {
    const auto entry = [&](index_t j) { return RationalAccess::of(m(i, j)); };
    fmpz_one(multiple.value);
    for (index_t j = 0; j < m.cols(); ++j) {
      fmpz_lcm(multiple.value, multiple.value, fmpq_denref(entry(j)));
    }
    for (index_t j = 0; j < m.cols(); ++j) {
      fmpz* const to = fmpz_mat_entry(integers.value, i, j);
      fmpz_divexact(to, multiple.value, fmpq_denref(entry(j)));
      fmpz_mul(to, to, fmpq_numref(entry(j)));
    }
  }
  return fmpz_mat_rank(integers.value);
}

}  // namespace structmat::exact
