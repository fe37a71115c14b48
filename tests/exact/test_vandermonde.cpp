#include "structmat/exact/vandermonde.hpp"

#include <catch2/catch.hpp>

using namespace structmat;
using namespace structmat::exact;

TEST_CASE("interpolation over F_p undoes evaluation") {
  const PrimeField field(7681);
  Engine engine(1);
  for (const std::size_t n : {0U, 1U, 2U, 17U, 300U}) {
    std::vector<PrimeField::Element> x, c;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(static_cast<PrimeField::Element>(7 * i + 3));
      c.push_back(field.random(engine));
    }
    const auto y = evaluate(field, x, c);
    for (std::size_t i = 0; i < n; i += 7) {
      PrimeField::Element value = 0;
      for (std::size_t j = n; j-- > 0;) value = field.add(field.multiply(value, x[i]), c[j]);
      CHECK(y[i] == value);
    }
    CHECK(interpolate(field, x, y) == c);
  }
  // More points than coefficients, and none.
  CHECK(evaluate(field, {0, 1, 2}, {5}) == std::vector<PrimeField::Element>{5, 5, 5});
  CHECK(evaluate(field, {0, 1}, {}) == std::vector<PrimeField::Element>{0, 0});
  CHECK(evaluate(field, {}, {1, 2}).empty());
}

TEST_CASE("coefficients that are not integers") {
  const RationalField q;
  const auto c = interpolate(q, {Rational(1), Rational(2), Rational(3)},
                             {Rational(1), Rational(-4), Rational(4)});
  CHECK(c == std::vector<Rational>{Rational(19), Rational(-49, 2), Rational(13, 2)});
  CHECK(interpolate(PrimeField(7), {1, 2, 3}, {1, 3, 4}) ==
        std::vector<PrimeField::Element>{5, 0, 3});
  // Rational nodes and values: x^2 / 3 - 1/2 at 1/2, -2/3, 5.
  const std::vector<Rational> nodes{Rational(1, 2), Rational(-2, 3), Rational(5)};
  std::vector<Rational> values;
  for (const Rational& x : nodes) values.push_back(x * x / Rational(3) - Rational(1, 2));
  CHECK(interpolate(q, nodes, values) ==
        std::vector<Rational>{Rational(-1, 2), Rational(0), Rational(1, 3)});
}

TEST_CASE("nodes in geometric progression, all values but the last zero") {
  const PrimeField field(101);
  std::vector<PrimeField::Element> x{1}, y;
  while (x.size() < 12) x.push_back(field.multiply(x.back(), 2));
  y.assign(11, 0);
  y.push_back(1);
  CHECK(evaluate(field, x, interpolate(field, x, y)) == y);
}

TEST_CASE("interpolation refuses equal nodes and foreign elements") {
  const PrimeField field(7);
  const auto message = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  CHECK(message([&] {
          interpolate(field, {1, 2, 1}, {0, 0, 0});
        }) == "exact::interpolate: nodes 0 and 2 are equal");
  CHECK(message([&] {
          interpolate(field, {1, 9}, {0, 0});
        }) == "exact::interpolate: 9 is no element of GF(7)");
  CHECK(message([&] {
          interpolate(field, {1, 2}, {0});
        }) == "exact::interpolate: there are 2 nodes and 1 values");
  CHECK(
      message([&] {
        interpolate(RationalField{}, {Rational(1, 2), Rational(2, 4)}, {Rational(1), Rational(2)});
      }) == "exact::interpolate: nodes 0 and 1 are equal");
}
