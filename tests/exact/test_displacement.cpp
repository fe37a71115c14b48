#include "structmat/exact/displacement.hpp"

#include <catch2/catch.hpp>

using namespace structmat;
using namespace structmat::exact;

namespace {

constexpr auto sylvester = Displacement::sylvester;

/// M_ij = entry(i, j)
template <Field F, class Entry>
Matrix<F> matrix(const F& field, index_t rows, index_t cols, const Entry& entry) {
  Matrix<F> m(field, rows, cols);
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) m(i, j) = entry(i, j);
  }
  return m;
}

template <Field F>
Matrix<F> toeplitz(const F& field, index_t rows, index_t cols, Engine& engine) {
  const auto lags = Matrix<F>::random(field, 1, rows + cols - 1, engine);
  return matrix(field, rows, cols, [&](index_t i, index_t j) { return lags(0, i - j + cols - 1); });
}

}  // namespace

TEMPLATE_TEST_CASE("displacement ranks of the families", "", PrimeField, RationalField) {
  const TestType field{};
  const auto integer = [&](std::int64_t i) { return field.from_integer(i); };
  for (const auto& [rows, cols] : {std::pair<index_t, index_t>{6, 6}, {5, 8}, {8, 5}}) {
    Engine engine(static_cast<std::uint64_t>(rows));
    const auto left = down_shift(field, rows, integer(1));
    const auto right = down_shift(field, cols, integer(-1));
    const auto t = toeplitz(field, rows, cols, engine);
    CHECK(displacement_rank(sylvester, left, t, right) == 2);
    const auto z0 = down_shift(field, rows, integer(0));
    const auto z0t = down_shift(field, cols, integer(0)).transposed();
    CHECK(displacement_rank(Displacement::stein, z0, t, z0t) == 2);

    const auto h = matrix(field, rows, cols, [&](index_t i, index_t j) {
      return integer((i + j) * (i + j) * (i + j) + 3 * ((i + j) % 4));
    });
    CHECK(displacement_rank(sylvester, left, h, right.transposed()) == 2);

    std::vector<typename TestType::Element> x, y;
    for (index_t i = 0; i < rows; ++i) x.push_back(integer(2 * i + 1));
    for (index_t j = 0; j < cols; ++j) y.push_back(integer(2 * j));
    const auto v = matrix(field, rows, cols, [&](index_t i, index_t j) {
      auto power = integer(1);
      for (index_t l = 0; l < j; ++l) power = field.multiply(power, x[i]);
      return power;
    });
    const auto d = diagonal_matrix(field, x);
    for (const std::int64_t f : {0, 1, -1, 5}) {
      CHECK(displacement_rank(sylvester, d, v, down_shift(field, cols, integer(f))) == 1);
    }
    CHECK(displacement_rank(Displacement::stein, d, v, z0t) == 1);

    const auto c = matrix(field, rows, cols, [&](index_t i, index_t j) {
      return field.invert(field.subtract(x[i], y[j]));
    });
    CHECK(displaced(sylvester, d, c, diagonal_matrix(field, y)) ==
          matrix(field, rows, cols, [&](index_t, index_t) { return integer(1); }));
  }
}

TEMPLATE_TEST_CASE("displacement ranks of sums, products, inverses", "", PrimeField,
                   RationalField) {
  const TestType field{};
  constexpr index_t n = 7;
  Engine engine(11);
  const auto plus = down_shift(field, n, field.from_integer(1));
  const auto minus = down_shift(field, n, field.from_integer(-1));
  const auto t1 = toeplitz(field, n, n, engine), t2 = toeplitz(field, n, n, engine);
  CHECK(displacement_rank(sylvester, plus, t1 * t2, minus) == 4);
  CHECK(displacement_rank(sylvester, plus, t1 + t2, minus) == 2);
  const auto inverted = inverse(t1);
  REQUIRE(inverted);
  CHECK(displacement_rank(sylvester, minus, *inverted, plus) == 2);
  CHECK(displacement_rank(sylvester, plus, *inverted, minus) == 2);

  // In general only the exchanged operators keep the rank of transpose and inverse.
  const auto image =
      Matrix<TestType>::random(field, n, 3, engine) * Matrix<TestType>::random(field, 3, n, engine);
  // Solve Z_1 M - M D = image column by column: (Z_1 - d_j) m_j = image_j.
  std::vector<typename TestType::Element> d;
  for (index_t j = 0; j < n; ++j) d.push_back(field.from_integer(j + 2));
  Matrix<TestType> m(field, n, n);
  for (index_t j = 0; j < n; ++j) {
    Matrix<TestType> shifted = plus;
    for (index_t i = 0; i < n; ++i) shifted(i, i) = field.subtract(shifted(i, i), d[j]);
    m.set_block(0, j, *inverse(shifted) * image.block(0, n, j, j + 1));
  }
  const auto right = diagonal_matrix(field, d);
  CHECK(displaced(sylvester, plus, m, right) == image);
  REQUIRE(inverse(m));
  CHECK(displacement_rank(sylvester, right, *inverse(m), plus) == 3);
  CHECK(displacement_rank(sylvester, right, m.transposed(), plus.transposed()) == 3);
  CHECK(displacement_rank(sylvester, plus, *inverse(m), right) > 3);
}

TEST_CASE("displacement: small sizes and shapes that do not fit") {
  const PrimeField field(7);
  CHECK(down_shift(field, 1, 5)(0, 0) == 5);
  const Matrix<PrimeField> empty(field, 0, 0);
  CHECK(displacement_rank(sylvester, down_shift(field, 0, 1), empty, empty) == 0);
  const Matrix<PrimeField> m(field, 2, 3);
  CHECK_THROWS_AS(displaced(sylvester, down_shift(field, 3, 1), m, down_shift(field, 3, 1)),
                  ShapeError);
  CHECK_THROWS_AS(
      displaced(Displacement::stein, down_shift(field, 2, 1), m, down_shift(field, 2, 1)),
      ShapeError);
}
