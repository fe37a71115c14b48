#include "structmat/cauchy/solve.hpp"

#include <catch2/catch.hpp>

#include "cauchy/interlacing.hpp"
#include "structmat/cauchy/inverse.hpp"
#include "support/solve.hpp"

using namespace structmat;
using namespace structmat::test;
using cauchy::Storage;

namespace {

template <class T>
double rounding(index_t n) {
  return 8 * (double(n) + 8) * double(epsilon<T>);
}

/// Solutions of the one-call solver. Random nodes make some matrices singular to working precision:
/// residuals are small all the same.
template <class M>
void check_solve(const M& m, double tolerance, Random& random) {
  check_solutions(m, tolerance, random, [&](Op op, auto b, auto x) {
    const auto report = solve(exec::cpu{}, m.view(), op, b, x);
    CHECK(report.status.usable());
    CHECK(report.backward_error <= tolerance);
  });
}

/// Columns 1, ..., n of Hilbert's matrix 1 / (i + j + 1).
Cauchy<double> hilbert(index_t n) {
  Cauchy<double> c(n, n);
  for (index_t i = 0; i < n; ++i) {
    c.s(0, i) = double(i);
    c.t(0, i) = -double(i) - 1;
  }
  return c;
}

}  // namespace

TEMPLATE_TEST_CASE("Cauchy-like systems of every size and displacement rank", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 3, 7, 31, 33, 65}) {
    for (const index_t r : {1, 2, 3, 5}) {
      if (r > n) continue;
      const auto m = random_cauchy_like<T>(n, n, r, 1 + n % 2, unsigned(10 * n + r));
      check_solve(m, rounding<T>(n), random);
    }
  }
}

TEMPLATE_TEST_CASE("compact and stored factors give the same solutions", "", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {1, 40, 130}) {
    const auto m = random_cauchy_like<T>(n, n, 2, 2, unsigned(n));
    const auto c = random_cauchy<T>(n == 130 ? 40 : n, n == 130 ? 40 : n, 2, unsigned(n));
    for (const Storage storage : {Storage::compact, Storage::full}) {
      const auto f = cauchy::factor_lu(m, {storage});
      REQUIRE(f.status().usable());
      const double tolerance = f.growth() * rounding<T>(n);
      check_solutions(m, tolerance, random, [&](Op op, View<const T, 3> b, View<T, 3> x) {
        solve(exec::cpu{}, f, op, b, x);
      });
      auto x = random.array<T, 3>({2, n, 2});
      const auto b = x;
      solve(exec::cpu{}, f, x, x);
      CHECK(backward_error(m, Op::none, b, x) <= tolerance);

      const auto of_cauchy = cauchy::factor_lu(c, {storage});
      check_solutions(c, rounding<T>(c.rows()), random,
                      [&](Op op, View<const T, 3> right, View<T, 3> y) {
                        solve(exec::cpu{}, of_cauchy, op, right, y);
                      });
    }
  }
}

TEMPLATE_TEST_CASE("Cauchy systems", "", float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {0, 1, 2, 3, 7, 20, 33}) {
    check_solve(random_cauchy<T>(n, n, 1 + n % 2, unsigned(n)), rounding<T>(n), random);
  }
}

TEST_CASE("a Cauchy system with known numbers") {
  Cauchy<double> c(3, 3);
  for (index_t i = 0; i < 3; ++i) c.s(0, i) = double(i), c.t(0, i) = double(i) + 0.5;
  const Array<double, 1> x = c.solve(std::vector<double>{1, 1, 1});
  const double expected[] = {-3. / 16, -3. / 8, -15. / 16};
  const Array<double, 1> y = c.solve(std::vector<double>{-68. / 15, -4, -4. / 3});
  for (index_t i = 0; i < 3; ++i) {
    CHECK(x(i) == Approx(expected[i]).epsilon(1e-14));
    CHECK(y(i) == Approx(double(i + 1)).epsilon(1e-14));
  }
  for (const auto& d :
       {log_determinant(exec::cpu{}, c.view()), cauchy::log_determinant(cauchy::factor_lu(c))}) {
    CHECK(d.sign * std::exp(d.log_abs) == Approx(-2048. / 135).epsilon(1e-14));
  }
}

TEST_CASE("the inverse of Hilbert's matrix, entry by entry") {
  const auto inverse = cauchy::inverse(hilbert(3)).to_dense();
  const double expected[3][3] = {{9, -36, 30}, {-36, 192, -180}, {30, -180, 180}};
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j)
      CHECK(inverse(0, i, j) == Approx(expected[i][j]).epsilon(1e-14));
  }
  CHECK(log_determinant(exec::cpu{}, hilbert(3).view()).log_abs ==
        Approx(-std::log(2160.)).epsilon(1e-14));

  // Of order 12 (condition 1e16), by binomials.
  const index_t n = 12;
  const auto large = cauchy::inverse(hilbert(n)).to_dense();
  const auto binomial = [](index_t m, index_t k) {
    long double value = 1;
    for (index_t i = 1; i <= k; ++i) value = value * (long double)(m - k + i) / (long double)(i);
    return value;
  };
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const long double exact = ((i + j) % 2 == 0 ? 1.0L : -1.0L) * (long double)(i + j + 1) *
                                binomial(n + i, n - j - 1) * binomial(n + j, n - i - 1) *
                                binomial(i + j, i) * binomial(i + j, i);
      worst = std::max(worst, double(std::abs(large(0, i, j) / exact - 1)));
    }
  }
  CHECK(worst <= 4 * double(n) * epsilon<double>);
}

TEST_CASE("ill-conditioned Cauchy systems keep digits") {
  // Condition 1.7e16: a solver that is only backward stable has no digit of x = H^-1 e_0. Factors are
  // accurate entry by entry, and what substitution loses stays far below that.
  const index_t n = 12;
  const auto inverse = cauchy::inverse(hilbert(n)).to_dense();
  std::vector<double> b(n, 0), x(n);
  b[0] = 1;
  const auto report = solve(exec::cpu{}, hilbert(n), b, x);
  CHECK(report.status.ok());
  CHECK(report.backward_error <= 1e-15);
  for (index_t i = 0; i < n; ++i) {
    CHECK(std::abs(x[std::size_t(i)] / inverse(0, i, 0) - 1) <= 1e-8);
  }
  const auto by_factors = cauchy::log_determinant(cauchy::factor_lu(hilbert(100)));
  const auto by_products = log_determinant(exec::cpu{}, hilbert(100).view());
  CHECK(by_factors.sign == by_products.sign);
  CHECK(by_factors.log_abs == Approx(by_products.log_abs).epsilon(1e-14));
}

TEMPLATE_TEST_CASE("inverses are operators", "", double, std::complex<double>) {
  using T = TestType;
  Random random(4);
  const auto check = [&](const auto& m, const CauchyLike<T>& inverse, double condition) {
    const auto x = random.array<T, 3>({2, m.rows(), 2});
    const Array<T, 3> again = inverse * (m * x);
    double error = 0, size = 0;
    for (index_t i = 0; i < x.size(); ++i) {
      error = std::max(error, double(std::abs(again.data()[i] - x.data()[i])));
      size = std::max(size, double(std::abs(x.data()[i])));
    }
    CHECK(error <= condition * rounding<T>(m.rows()) * size);
  };
  for (const index_t n : {1, 2, 5, 9}) {
    const auto c = with_interlacing_nodes(Cauchy<T>(n, n, 2), random);
    check(c, cauchy::inverse(c), 1e6);
    const auto like =
        with_interlacing_nodes(random_cauchy_like<T>(n, n, 2, 2, unsigned(n + 60)), random);
    CHECK(cauchy::inverse(like).order() == 2);
    check(like, cauchy::inverse(like), 1e4);
  }
}

TEMPLATE_TEST_CASE("determinants of Cauchy and Cauchy-like matrices", "", double,
                   std::complex<double>) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 4, 5, 8}) {
    const auto c = random_cauchy<T>(n, n, 2, unsigned(n + 70));
    const auto like = random_cauchy_like<T>(n, n, 2, 2, unsigned(n + 80));
    for (index_t b = 0; b < 2; ++b) {
      const auto expected = textbook_determinant(c.to_dense(), b);
      CHECK(determinant_error(log_determinant(exec::cpu{}, c.view(), b), expected) <= 1e-10);
      CHECK(determinant_error(cauchy::log_determinant(cauchy::factor_lu(c), b), expected) <= 1e-10);
      CHECK(determinant_error(log_determinant(exec::cpu{}, like.view(), b),
                              textbook_determinant(like.to_dense(), b)) <= 1e-11);
    }
  }
  CHECK(log_determinant(exec::cpu{}, Cauchy<T>(0, 0).view()).sign == T{1});
}

TEST_CASE("repeated nodes: singular Cauchy matrices, and regular Cauchy-like ones") {
  auto c = random_cauchy<double>(5, 5, 1, 5);
  std::vector<double> b(5, 1), x(5, 7);
  for (auto* nodes : {&c.s, &c.t}) {
    const double kept = (*nodes)(0, 3);
    (*nodes)(0, 3) = (*nodes)(0, 1);
    const auto report = solve(exec::cpu{}, c, b, x);
    CHECK(report.status.kind == PivotStatus::Kind::zero);
    CHECK(report.status.index == 4);
    CHECK(x == std::vector<double>(5, 7));
    CHECK(log_determinant(exec::cpu{}, c.view()).sign == 0);
    CHECK(cauchy::log_determinant(cauchy::factor_lu(c)).sign == 0);
    CHECK_THROWS_AS(cauchy::inverse(c), DomainError);
    CHECK_THROWS_AS(c.solve(b), DomainError);
    (*nodes)(0, 3) = kept;
  }
  auto like = random_cauchy_like<double>(6, 6, 2, 1, 6);
  like.s(0, 4) = like.s(0, 2);
  Random random(6);
  check_solve(like, rounding<double>(6), random);
  like.s(0, 5) = like.s(0, 2);  // three equal ones with two generators
  std::vector<double> right(6, 1), y(6);
  CHECK(!solve(exec::cpu{}, like, right, y).status.ok());
}

TEST_CASE("what is not a system to be solved") {
  auto c = random_cauchy<double>(4, 4, 1, 7);
  auto like = random_cauchy_like<double>(4, 4, 2, 1, 8);
  std::vector<double> b(4, 1), x(4, 7);
  like.h(0, 2, 1) = INFINITY;
  const auto report = solve(exec::cpu{}, like, b, x);
  CHECK(report.status.kind == PivotStatus::Kind::not_finite);
  CHECK(report.status.index == 2);
  CHECK(x == std::vector<double>(4, 7));
  CHECK_THROWS_AS(log_determinant(exec::cpu{}, like.view()), DomainError);
  CHECK_THROWS_AS(cauchy::inverse(like), DomainError);

  c.coincidence = Coincidence::skip;
  c.t(0, 2) = c.s(0, 1);
  const std::string coincide = "s_1 equals t_2 in batch entry 0";
  CHECK(message_from<DomainError>([&] { solve(exec::cpu{}, c, b, x); }) ==
        "cauchy::factor_lu: " + coincide);
  CHECK(message_from<DomainError>([&] { cauchy::inverse(c); }) == "cauchy::inverse: " + coincide);
  c.t(0, 2) = NAN;
  CHECK(solve(exec::cpu{}, c, b, x).status.kind == PivotStatus::Kind::not_finite);
  CHECK_THROWS_AS(cauchy::inverse(c), DomainError);

  const Cauchy<double> wide(3, 4);
  CHECK_THROWS_AS(solve(exec::cpu{}, wide, x, b), ShapeError);
  CHECK_THROWS_AS(cauchy::inverse(wide), ShapeError);
  CHECK_THROWS_AS(log_determinant(exec::cpu{}, wide.view()), ShapeError);
  CHECK_THROWS_AS(log_determinant(exec::cpu{}, hilbert(2).view(), 1), ShapeError);
  CHECK_THROWS_AS(cauchy::log_determinant(cauchy::factor_lu(hilbert(2)), 1), ShapeError);
}

TEST_CASE("generators near the ends of the range") {
  for (const double size : {1e-200, 1e200}) {
    auto m = random_cauchy_like<double>(40, 40, 2, 1, 9);
    std::vector<double> b(40, 1), x(40), y(40);
    REQUIRE(solve(exec::cpu{}, m, b, x).status.ok());
    for (index_t i = 0; i < 40; ++i) {
      m.g(0, i, 0) *= size;
      m.h(0, i, 0) /= size;
    }
    REQUIRE(solve(exec::cpu{}, m, b, y).status.ok());
    for (std::size_t i = 0; i < 40; ++i) CHECK(y[i] == Approx(x[i]).epsilon(1e-9));
  }
}

TEST_CASE("products of many nodes stay in range") {
  // Two sets far apart: Schur complements of 1e-400 and less.
  Cauchy<double> c(150, 150);
  for (index_t i = 0; i < 150; ++i) {
    c.s(0, i) = std::cos(double(i));
    c.t(0, i) = 40 + std::sin(double(i));
  }
  const auto by_factors = cauchy::log_determinant(cauchy::factor_lu(c));
  const auto by_products = log_determinant(exec::cpu{}, c.view());
  CHECK(by_products.log_abs < -20000);
  CHECK(by_factors.sign == by_products.sign);
  CHECK(by_factors.log_abs == Approx(by_products.log_abs).epsilon(1e-12));
}
