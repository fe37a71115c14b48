#include "structmat/vandermonde/apply.hpp"

#include <catch2/catch.hpp>

#include "vandermonde/nodes.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

constexpr index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};

std::complex<long double> exact_power(std::complex<long double> x, index_t j) {
  std::complex<long double> result = 1;
  for (; j > 0; j /= 2, x *= x) {
    if (j % 2 == 1) result *= x;
  }
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("Vandermonde products match the entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  Random random(1);
  unsigned seed = 0;
  for (const index_t m : sizes) {
    for (const index_t n : sizes) {
      if (m + n > 300 || (m > 16 && n > 16 && m != n)) continue;
      check_products(random_vandermonde<TestType>(m, n, 1 + seed % 2, seed), m + n, 1 + seed % 3,
                     random);
      ++seed;
    }
  }
  const auto v = random_vandermonde<TestType>(37, 50, 2, 7);
  check_linearity(v, 100, random);
  check_strides(v, 3, random);
  check_errors(v, "vandermonde");
}

TEMPLATE_TEST_CASE("exponential sums match the entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  Random random(2);
  unsigned seed = 0;
  for (const index_t lags : sizes) {
    for (const index_t poles : {0, 1, 3, 8, 17, 64}) {
      check_products(random_exponentials<TestType>(lags, poles, 1 + seed % 2, seed), 20,
                     1 + seed % 3, random);
      ++seed;
    }
  }
  const auto e = random_exponentials<TestType>(150, 21, 2, 7);
  check_linearity(e, 20, random);
  check_strides(e, 3, random);
  check_errors(e, "vandermonde");
}

TEST_CASE("the number of threads does not change a bit of a Vandermonde product") {
  Random random(3);
  check_threads(random_vandermonde<double>(9000, 70, 1, 1), 1, random);
  check_threads(random_vandermonde<std::complex<float>>(300, 90, 2, 2), 3, random);
  check_threads(random_exponentials<std::complex<double>>(20000, 33, 1, 3), 2, random);
  check_threads(random_exponentials<float>(2000, 33, 3, 3), 1, random);
}

TEST_CASE("entries of high powers") {
  // 10^19 is beyond 64-bit integers; a double holds it.
  const Vandermonde<double> tens(std::vector<double>{10.0}, 20);
  CHECK(tens.entry(0, 19) == 1e19);
  CHECK(tens.to_dense()(0, 0, 19) == 1e19);
  const Vandermonde<double> two(std::vector<double>{1.0, 2.0}, 2);
  const auto y = two * std::vector<double>{3.0, 4.0};
  CHECK((y(0) == 7 && y(1) == 11));

  const std::complex<double> x(0.6, 0.8 + 1e-9);
  const Vandermonde<std::complex<double>> far(std::vector{x}, 100'001);
  const auto exact = exact_power(x, 100'000);
  const auto got = std::complex<long double>(far.entry(0, 100'000));
  // The long double power has an error of its own.
  CHECK(std::abs(got - exact) <= 1e-14L * std::abs(exact));
  CHECK(far.to_dense()(0, 0, 100'000) == far.entry(0, 100'000));
  CHECK_THROWS_AS(two.entry(2, 0), ShapeError);
}

TEST_CASE("powers at the ends of the range") {
  const std::vector<double> nodes{0.0, 1e200, 1e-200, -1.0, 1e-5};
  const Vandermonde<double> v(nodes, 70);
  CHECK(v.entry(0, 0) == 1);
  CHECK(v.entry(0, 5) == 0);
  CHECK(v.entry(1, 2) == INFINITY);
  CHECK(v.entry(2, 2) == 0);
  // A power that overflows does not matter where its coefficient is zero.
  Array<double, 1> c({70});
  c(0) = 2;
  c(1) = 3;
  const auto y = v * c;
  CHECK(y(0) == 2);
  CHECK(y(1) == Approx(3e200).epsilon(1e-15));
  CHECK(y(2) == 2);
  CHECK(y(3) == -1);
  CHECK(y(4) == Approx(2.00003).epsilon(1e-15));
  // Transposed: a node with weight zero.
  Array<double, 1> w({70});
  v.apply_transpose(std::vector<double>{1.0, 0.0, 1.0, 0.0, 0.0}, w);
  CHECK(w(0) == 2);
  CHECK(w(1) == 1e-200);
  for (index_t j = 2; j < 70; ++j) CHECK(w(j) == 0);
  // Not finite: only the row of that node.
  const Vandermonde<double> bad(std::vector<double>{NAN, 0.5, INFINITY}, 3);
  const auto z = bad * std::vector<double>{1.0, 1.0, 1.0};
  CHECK((std::isnan(z(0)) && z(1) == 1.75 && z(2) == INFINITY));
}

TEST_CASE("exponential sums of a million lags keep full accuracy") {
  using C = std::complex<double>;
  const index_t lags = 1'000'003;
  const std::vector<C> a{C(-1e-6, 3.1), C(-1e-7, -2.7182818), C(0, 1e-5), C(-0.5, 0.3)};
  const std::vector<C> c{C(1, 2), C(-0.5, 0.25), C(0.125, -1), C(3, 3)};
  const LogVandermonde<C> e(lags, a);
  const auto y = e * c;
  for (const index_t l :
       {index_t{0}, index_t{1}, index_t{777}, index_t{65'536}, index_t{999'983}, lags - 1}) {
    std::complex<long double> sum = 0;
    long double scale = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const auto term = exact_exponential(l, a[k]);
      CHECK(std::abs(std::complex<long double>(e.entry(l, index_t(k))) - term) <=
            1e-15L * std::abs(term));
      sum += term * std::complex<long double>(c[k]);
      scale += std::abs(term) * std::abs(std::complex<long double>(c[k]));
    }
    CHECK(std::abs(std::complex<long double>(y(l)) - sum) <= 20 * 2.2e-16L * scale);
  }
  // Nodes in float: everything but the sums in double.
  const LogVandermonde<std::complex<float>> single(lags, std::vector{std::complex<float>(a[0])});
  const auto z = single * std::vector{std::complex<float>(1)};
  const C exact(exact_exponential(lags - 1, C(std::complex<float>(a[0]))));
  CHECK(std::abs(C(z(lags - 1)) - exact) <= 4 * 6e-8 * std::abs(exact));
}

TEST_CASE("decaying and growing exponentials at the ends of the range") {
  const index_t lags = 5000;
  const LogVandermonde<double> e(lags, std::vector<double>{-1.0, 0.5, -1e4, 0.0});
  const auto y = e * std::vector<double>{1.0, 0.0, 1.0, 2.0};
  CHECK(y(0) == 4);
  CHECK(y(1) == Approx(2 + std::exp(-1.0)).epsilon(1e-15));
  for (index_t l = 50; l < 1400; ++l) CHECK(y(l) == 2);
  // exp(0.5 l) overflows from l = 1420 on.
  const LogVandermonde<double> growing(lags, std::vector<double>{0.5});
  const auto z = growing * std::vector<double>{1.0};
  CHECK(z(1419) == Approx(std::exp(709.5)).epsilon(1e-15));
  for (index_t l = 1420; l < lags; ++l) CHECK(z(l) == INFINITY);
  Array<double, 1> sum({4});
  Array<double, 1> ones({lags});
  for (double& v : ones) v = 1;
  e.apply_transpose(ones, sum);
  CHECK(sum(0) == Approx(1 / (1 - std::exp(-1.0))).epsilon(1e-15));
  CHECK(sum(1) == INFINITY);
  CHECK(sum(2) == 1);
  CHECK(sum(3) == lags);
}

TEST_CASE("matrices that do not fit are refused") {
  auto v = random_vandermonde<double>(3, 4, 2, 1);
  v.col_count = -1;
  CHECK(message_from<ShapeError>([&] { (void)v.to_dense(); }).find("negative") !=
        std::string::npos);
  CHECK_THROWS_AS(Vandermonde<double>(-1, 3), ShapeError);
  const LogVandermonde<double> e(-2, std::vector<double>{1.0});
  Array<double, 1> y({2});
  CHECK_THROWS_AS(apply(exec::cpu{}, e, std::vector<double>{1.0}, y), ShapeError);
}
