#include "structmat/exact/matrix.hpp"

#include <catch2/catch.hpp>

using namespace structmat;
using namespace structmat::exact;

TEMPLATE_TEST_CASE("elimination over a field", "", PrimeField, RationalField) {
  const TestType field{};
  Engine engine(1);
  for (const index_t n : {0, 1, 2, 5, 9}) {
    const auto a = Matrix<TestType>::random(field, n, n, engine);
    const auto b = inverse(a);
    if (!b) continue;
    CHECK(a * *b == Matrix<TestType>::identity(field, n));
  }
  const auto c = Matrix<TestType>::random(field, 6, 2, engine);
  const auto r = Matrix<TestType>::random(field, 2, 7, engine);
  const auto e = echelon(c * r);
  CHECK(e.rank() == 2);
  CHECK(e.transform * (c * r) == stacked(e.reduced, Matrix<TestType>(field, 4, 7)));
  CHECK_FALSE(inverse(Matrix<TestType>::from_integers(field, {{1, 2}, {2, 4}})));
}

TEST_CASE("a determinant of -5 is 0 modulo 5") {
  const std::vector<std::vector<std::int64_t>> block{{1, 2}, {3, 1}};
  CHECK(echelon(Matrix<RationalField>::from_integers({}, block)).rank() == 2);
  CHECK(echelon(Matrix<PrimeField>::from_integers(PrimeField(5), block)).rank() == 1);
  CHECK(echelon(Matrix<PrimeField>::from_integers(PrimeField(7), block)).rank() == 2);
}

TEST_CASE("shapes that do not fit are refused") {
  const PrimeField field(7);
  const Matrix<PrimeField> a(field, 2, 3);
  CHECK_THROWS_AS(a * a, ShapeError);
  CHECK_THROWS_AS(a + a.transposed(), ShapeError);
  CHECK_THROWS_AS(inverse(a), ShapeError);
  CHECK_THROWS_AS(a.block(0, 3, 0, 1), ShapeError);
  CHECK_THROWS_AS(Matrix<PrimeField>(field, -1, 2), ShapeError);
}
