#include "structmat/exact/quasiseparable_algebra.hpp"

#include <catch2/catch.hpp>

#include "exact/support.hpp"

using namespace structmat;
using namespace structmat::exact;
using namespace structmat::exact::test;

namespace {

/// Random matrices X and Y of orders up to (largest, 2) and (1, largest), their dense forms, and a
/// source of more, over F_3 (many accidents), a large F_p and Q.
template <Field F>
struct Instance {
  F field;
  Engine& engine;
  index_t n;
  exact::Quasiseparable<F> x, y;
  Matrix<F> dx, dy;

  Instance(const F& over, Engine& source, index_t size, index_t largest)
      : field(over),
        engine(source),
        n(size),
        x(random_quasiseparable(over, size, {largest, 2}, source)),
        y(random_quasiseparable(over, size, {1, largest}, source)),
        dx(to_dense(x)),
        dy(to_dense(y)) {}

  Matrix<F> random(index_t rows, index_t cols) {
    return Matrix<F>::random(field, rows, cols, engine);
  }
  std::vector<typename F::Element> elements() {
    std::vector<typename F::Element> values;
    for (index_t i = 0; i < n; ++i) values.push_back(field.random(engine));
    return values;
  }
  Matrix<F> diagonal(const std::vector<typename F::Element>& values) const {
    Matrix<F> d(field, n, n);
    for (index_t i = 0; i < n; ++i) d(i, i) = values[i];
    return d;
  }
};

template <class Work>
void over_fields(const Work& work) {
  for (const index_t n : {0, 1, 2, 3, 7, 12}) {
    for (const index_t largest : {0, 1, 3}) {
      Engine engine(static_cast<std::uint64_t>(100 * n + largest));
      for (int trial = 0; trial < 3; ++trial) {
        work(Instance<PrimeField>(PrimeField(3), engine, n, largest));
        work(Instance<PrimeField>(PrimeField(), engine, n, largest));
      }
      work(Instance<RationalField>({}, engine, n, largest));
    }
  }
}

bool within(const Order& order, index_t lower, index_t upper) {
  return order.lower <= lower && order.upper <= upper;
}

}  // namespace

TEST_CASE("differences and scaling, with their orders") {
  over_fields([](auto c) {
    const auto difference = subtract(c.x, c.y);
    CHECK(to_dense(difference) == c.dx - c.dy);
    CHECK(within(difference.order(), c.x.order().lower + c.y.order().lower,
                 c.x.order().upper + c.y.order().upper));
    CHECK(minimal(subtract(c.x, c.x)).order() == Order{0, 0});
    CHECK(to_dense(add(subtract(c.x, c.y), c.y)) == c.dx);

    const auto alpha = c.field.random(c.engine);
    auto all = c.elements();
    for (auto& value : all) value = alpha;
    CHECK(to_dense(scale(alpha, c.x)) == c.diagonal(all) * c.dx);
    CHECK(scale(alpha, c.x).order() == c.x.order());

    const auto left = c.elements(), right = c.elements();
    const auto scaled = scale_diagonally(left, c.x, right);
    CHECK(to_dense(scaled) == c.diagonal(left) * c.dx * c.diagonal(right));
    CHECK(scaled.order() == c.x.order());
  });
}

TEST_CASE("entry-by-entry products: orders multiply") {
  over_fields([](auto c) {
    const auto product = hadamard(c.x, c.y);
    CHECK(to_dense(product) == hadamard(c.dx, c.dy));
    CHECK(within(product.order(), c.x.order().lower * c.y.order().lower,
                 c.x.order().upper * c.y.order().upper));
    CHECK(to_dense(minimal(product)) == hadamard(c.dx, c.dy));
    CHECK(to_dense(transpose(product)) == hadamard(c.dx.transposed(), c.dy.transposed()));
  });
}

TEST_CASE("principal submatrices: orders do not grow") {
  over_fields([](auto c) {
    std::vector<index_t> kept, every;
    for (index_t i = 0; i < c.n; ++i) {
      every.push_back(i);
      if (std::uniform_int_distribution<int>(0, 1)(c.engine) > 0) kept.push_back(i);
    }
    for (const auto& set : {kept, every, std::vector<index_t>{}}) {
      const auto size = index_t(set.size());
      decltype(c.dx) expected(c.field, size, size);
      for (index_t i = 0; i < size; ++i) {
        for (index_t j = 0; j < size; ++j) expected(i, j) = c.dx(set[i], set[j]);
      }
      const auto part = principal_submatrix(c.x, set);
      CHECK(to_dense(part) == expected);
      CHECK(within(part.order(), c.x.order().lower, c.x.order().upper));
      CHECK(to_dense(minimal(part)) == expected);
    }
  });
}

TEST_CASE("borders: orders grow by k at most, and Schur complements by nothing") {
  int inverted = 0;
  over_fields([&](auto c) {
    for (const index_t k : {0, 1, 2}) {
      const auto columns = c.random(c.n, k), rows = c.random(k, c.n), corner = c.random(k, k);
      const auto all = bordered(c.x, columns, rows, corner);
      auto expected = decltype(columns)(c.field, c.n + k, c.n + k);
      expected.set_block(0, 0, c.dx);
      expected.set_block(0, c.n, columns);
      expected.set_block(c.n, 0, rows);
      expected.set_block(c.n, c.n, corner);
      CHECK(to_dense(all) == expected);
      CHECK(within(all.order(), c.x.order().lower + k, c.x.order().upper + k));

      std::vector<index_t> first;
      for (index_t i = 0; i < c.n; ++i) first.push_back(i);
      CHECK(to_dense(principal_submatrix(all, first)) == c.dx);

      // The inverse of the bordered matrix, cut back to the size of M, inverts M - C D^-1 R.
      const auto inverse_all = inverse(all);
      const auto inverse_corner = inverse(corner);
      if (!inverse_all || !inverse_corner) continue;
      ++inverted;
      const auto schur = c.dx - columns * *inverse_corner * rows;
      CHECK(to_dense(principal_submatrix(*inverse_all, first)) * schur ==
            decltype(schur)::identity(c.field, c.n));
    }
  });
  CHECK(inverted > 50);
}

TEST_CASE("identities that combine the operations") {
  over_fields([](auto c) {
    const auto &x = c.x, &y = c.y;
    // (X + Y)(X - Y) = X X - X Y + Y X - Y Y
    const auto left = multiply(add(x, y), subtract(x, y));
    const auto right =
        subtract(add(subtract(multiply(x, x), multiply(x, y)), multiply(y, x)), multiply(y, y));
    CHECK(to_dense(left) == to_dense(right));
    CHECK(minimal(subtract(left, right)).order() == Order{0, 0});
    CHECK(to_dense(transpose(multiply(x, y))) == to_dense(multiply(transpose(y), transpose(x))));

    // Diagonal scaling is multiplication with diagonal matrices.
    const auto factors = c.elements();
    const auto d = from_dense(c.diagonal(factors));
    CHECK(to_dense(scale_diagonally(factors, x, factors)) == to_dense(multiply(multiply(d, x), d)));

    // (D X D')^-1 = D'^-1 X^-1 D^-1, and hadamard distributes over sums.
    CHECK(to_dense(hadamard(x, add(x, y))) == to_dense(add(hadamard(x, x), hadamard(x, y))));
    auto units = factors;
    for (auto& u : units) {
      if (c.field.weight(u) == 0) u = c.field.from_integer(1);
    }
    auto inverse_units = units;
    for (auto& u : inverse_units) u = c.field.invert(u);
    const auto inverse_x = inverse(x), inverse_scaled = inverse(scale_diagonally(units, x, units));
    REQUIRE(inverse_x.has_value() == inverse_scaled.has_value());
    if (inverse_x) {
      CHECK(to_dense(*inverse_scaled) ==
            to_dense(scale_diagonally(inverse_units, *inverse_x, inverse_units)));
      CHECK(inverse_x->order() == minimal(x).order());
    }
  });
}

TEST_CASE("operands that do not fit are refused") {
  const PrimeField field(7);
  Engine engine(1);
  const auto m = random_quasiseparable(field, 4, {2, 2}, engine);
  const auto other = random_quasiseparable(field, 3, {2, 2}, engine);
  CHECK_THROWS_AS(subtract(m, other), ShapeError);
  CHECK_THROWS_AS(hadamard(m, other), ShapeError);
  CHECK_THROWS_AS(scale_diagonally({1, 2, 3}, m, {1, 2, 3, 4}), ShapeError);
  CHECK_THROWS_AS(principal_submatrix(m, {2, 2}), DomainError);
  CHECK_THROWS_AS(principal_submatrix(m, {0, 4}), DomainError);
  CHECK_THROWS_AS(principal_submatrix(m, {-1}), DomainError);
  const Matrix<PrimeField> two(field, 2, 2), wide(field, 2, 4), tall(field, 4, 2);
  CHECK_THROWS_AS(bordered(m, wide, wide, two), ShapeError);
  CHECK_THROWS_AS(bordered(m, tall, wide, wide), ShapeError);
}
