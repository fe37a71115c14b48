#include "structmat/exact/field.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace structmat;
using namespace structmat::exact;

TEST_CASE("rationals are read exactly") {
  CHECK(Rational::parse("3") == Rational(3));
  CHECK(Rational::parse("-6/8") == Rational(-3, 4));
  CHECK(Rational::parse("0.125") == Rational(1, 8));
  CHECK(Rational::parse("-.5") == Rational(-1, 2));
  CHECK(Rational::parse("12.5e-1") == Rational(5, 4));
  CHECK(Rational::parse("+1E3") == Rational(1000));
  CHECK(Rational::parse("0.1") + Rational::parse("0.2") == Rational::parse("0.3"));
  CHECK(Rational::parse("123456789012345678901234567890").text() ==
        "123456789012345678901234567890");
  for (const char* text : {"", "-", "1/", "/2", "1/0", "1.2.3", "1e", "e5", "1/2/3", "1 2", "nan",
                           "inf", "0x10", "1e999999999"}) {
    CHECK_THROWS_AS(Rational::parse(text), DomainError);
  }
}

TEST_CASE("doubles are fractions") {
  CHECK(Rational::from_double(0.1).text() == "3602879701896397/36028797018963968");
  CHECK(Rational::from_double(-0.0).is_zero());
  for (const double x : {1.0, -3.25, 1e300, 5e-324, 1e-310, 0x1.fffffffffffffp1023}) {
    CHECK(Rational::from_double(x).to_double() == x);
  }
  CHECK_THROWS_AS(Rational::from_double(std::numeric_limits<double>::quiet_NaN()), DomainError);
  CHECK_THROWS_AS(Rational::from_double(std::numeric_limits<double>::infinity()), DomainError);
}

TEST_CASE("arithmetic of fractions") {
  Rational a(1, 3), b(-5, 6);
  CHECK(a + b == Rational(-1, 2));
  CHECK(a - b == Rational(7, 6));
  CHECK(a * b == Rational(-5, 18));
  CHECK(a / b == Rational(-2, 5));
  CHECK(-a == Rational(-1, 3));
  CHECK_THROWS_AS(a / Rational(), DomainError);
  CHECK_THROWS_AS(Rational(1, 0), DomainError);
  CHECK(Rational(-5, 6).modulo(7) == 5);  // 6 * 5 = 30 = 2 = -5
  CHECK_THROWS_AS(Rational(1, 14).modulo(7), DomainError);
  // Copies and moves of numbers that do not fit into a word.
  const Rational large = Rational::parse("1e40");
  Rational copy = large, moved = std::move(copy);
  copy = moved;
  CHECK(copy == large);
  CHECK(moved == large);
  moved = std::move(copy);
  CHECK(moved / large == Rational(1));
}

TEST_CASE("F_p is a field") {
  for (const std::uint32_t p : {2u, 3u, 5u, 101u, PrimeField::largest}) {
    const PrimeField field(p);
    Engine engine(p);
    for (int trial = 0; trial < 50; ++trial) {
      const auto x = field.random(engine), y = field.random(engine);
      REQUIRE(x < p);
      CHECK(field.add(field.subtract(x, y), y) == x);
      if (y != 0) CHECK(field.multiply(field.multiply(x, y), field.invert(y)) == x);
    }
    CHECK(field.add(field.from_integer(-1), field.from_integer(1)) == 0);
    CHECK_THROWS_AS(field.invert(0), DomainError);
  }
  for (const std::uint32_t p : {0u, 1u, 4u, 67108864u, 4294967291u}) {
    CHECK_THROWS_AS(PrimeField(p), DomainError);
  }
}
