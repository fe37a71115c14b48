#include "structmat/exact/quasiseparable.hpp"

#include <catch2/catch.hpp>

#include "exact/support.hpp"

using namespace structmat;
using namespace structmat::exact;
using namespace structmat::exact::test;

namespace {

/// Calls work(field, engine, n, largest) over F_3 (many accidents), a large F_p and Q.
template <class Work>
void over_fields(const Work& work) {
  for (const index_t n : {0, 1, 2, 3, 7, 12}) {
    for (const index_t largest : {0, 1, 3}) {
      Engine engine(static_cast<std::uint64_t>(100 * n + largest));
      for (int trial = 0; trial < 5; ++trial) {
        work(PrimeField(3), engine, n, largest);
        work(PrimeField(), engine, n, largest);
      }
      work(RationalField(), engine, n, largest);
    }
  }
}

template <Field F>
void check_minimal(const exact::Quasiseparable<F>& m, const Matrix<F>& dense) {
  CHECK(to_dense(m) == dense);
  CHECK(states(m.lower) == naive_ranks(dense));
  CHECK(states(m.upper_transposed) == naive_ranks(dense.transposed()));
}

template <Field F>
Matrix<F> cyclic_shift(const F& field, index_t n) {
  Matrix<F> m(field, n, n);
  for (index_t i = 0; i < n; ++i) m(i, (i + n - 1) % n) = field.from_integer(1);
  return m;
}

}  // namespace

TEST_CASE("generators of a dense matrix have the ranks of its blocks as states") {
  over_fields([](const auto& field, Engine& engine, index_t n, index_t largest) {
    const auto m = random_quasiseparable(field, n, {largest, 1}, engine);
    const auto dense = to_dense(m);
    check_minimal(from_dense(dense), dense);
    check_minimal(minimal(m), dense);
    const auto full = decltype(dense)::random(field, n, n, engine);
    check_minimal(from_dense(full), full);
  });
}

TEST_CASE("sums and products: entries, and orders that add up") {
  over_fields([](const auto& field, Engine& engine, index_t n, index_t largest) {
    const auto x = random_quasiseparable(field, n, {largest, 2}, engine);
    const auto y = random_quasiseparable(field, n, {1, largest}, engine);
    const auto dx = to_dense(x), dy = to_dense(y);
    CHECK(to_dense(transpose(x)) == dx.transposed());
    const auto sum = add(x, y), product = multiply(x, y);
    CHECK(to_dense(sum) == dx + dy);
    CHECK(to_dense(product) == dx * dy);
    for (const auto& result : {sum, product}) {
      CHECK(result.order().lower <= x.order().lower + y.order().lower);
      CHECK(result.order().upper <= x.order().upper + y.order().upper);
      check_minimal(minimal(result), to_dense(result));
    }
  });
}

TEST_CASE("the inverse keeps the rank of each block") {
  int regular = 0, singular = 0;
  over_fields([&](const auto& field, Engine& engine, index_t n, index_t largest) {
    const auto m = random_quasiseparable(field, n, {largest, 2}, engine);
    const auto expected = inverse(to_dense(m));
    const auto result = inverse(m);
    REQUIRE(result.has_value() == expected.has_value());
    ++(result ? regular : singular);
    if (!result) return;
    check_minimal(*result, *expected);
    const auto reduced = minimal(m);
    CHECK(states(result->lower) == states(reduced.lower));
    CHECK(states(result->upper_transposed) == states(reduced.upper_transposed));
  });
  CHECK(regular > 20);
  CHECK(singular > 20);
}

TEMPLATE_TEST_CASE("the inverse needs no leading minors", "", PrimeField, RationalField) {
  const TestType field{};
  for (const index_t n : {2, 3, 5, 8}) {
    const auto shift = cyclic_shift(field, n);
    const auto result = inverse(from_dense(shift));
    REQUIRE(result);
    check_minimal(*result, shift.transposed());
    Matrix<TestType> nilpotent = shift;
    nilpotent(0, n - 1) = field.from_integer(0);
    CHECK_FALSE(inverse(from_dense(nilpotent)));
    Matrix<TestType> reversal(field, n, n);
    for (index_t i = 0; i < n; ++i) reversal(i, n - 1 - i) = field.from_integer(1);
    check_minimal(*inverse(from_dense(reversal)), reversal);
  }
  const auto tridiagonal = Matrix<TestType>::from_integers(
      field, {{2, -1, 0, 0}, {-1, 2, -1, 0}, {0, -1, 2, -1}, {0, 0, -1, 2}});
  const auto result = inverse(from_dense(tridiagonal));
  REQUIRE(result);
  CHECK(result->order() == Order{1, 1});
  Matrix<TestType> five(field, 4, 4);
  for (index_t i = 0; i < 4; ++i) five(i, i) = field.from_integer(5);
  CHECK(five * to_dense(*result) ==
        Matrix<TestType>::from_integers(field,
                                        {{4, 3, 2, 1}, {3, 6, 4, 2}, {2, 4, 6, 3}, {1, 2, 3, 4}}));
}

TEST_CASE("sizes of long matrices are no hindrance") {
  const PrimeField field;
  Engine engine(5);
  const auto m = minimal(random_quasiseparable(field, 2000, {3, 2}, engine));
  const auto result = inverse(m);
  REQUIRE(result);
  const auto identity = minimal(multiply(m, *result));
  CHECK(identity.order() == Order{0, 0});
  for (const auto& x : identity.diagonal) REQUIRE(x == 1);
}

TEST_CASE("generators that do not fit together are refused") {
  const PrimeField field(7);
  Engine engine(1);
  auto m = random_quasiseparable(field, 4, {2, 2}, engine);
  const auto other = random_quasiseparable(field, 3, {2, 2}, engine);
  CHECK_THROWS_AS(add(m, other), ShapeError);
  CHECK_THROWS_AS(multiply(m, other), ShapeError);
  CHECK_THROWS_AS(from_dense(Matrix<PrimeField>(field, 2, 3)), ShapeError);
  m.lower.p[2] = Matrix<PrimeField>(field, 1, 5);
  CHECK_THROWS_AS(to_dense(m), ShapeError);
  CHECK_THROWS_AS(inverse(m), ShapeError);
  m.lower.p.pop_back();
  CHECK_THROWS_AS(minimal(m), ShapeError);
}
