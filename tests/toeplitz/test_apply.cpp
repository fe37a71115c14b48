#include "structmat/toeplitz/apply.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

constexpr index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};

/// Sums at these sizes: 1 x 3, m >> n, n >> m and the like.
constexpr std::array<index_t, 2> shapes[] = {{1, 3},   {3, 1},   {1, 1},    {0, 4},  {4, 0},
                                             {2, 200}, {200, 2}, {129, 70}, {17, 40}};

}  // namespace

TEMPLATE_TEST_CASE("products match the entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : sizes) {
    if (n > 129 && !std::same_as<T, double>) continue;
    check_products(random_toeplitz<T>(n, n, 1 + (n < 20), random), 0, 5, random);
    check_products(random_toeplitz<T>(n, n, 1, random), 0, 1, random);
    check_products(random_hankel<T>(n, n, 1 + (n < 20), random), 0, 1, random);
    check_products(random_circulant<T>(n, 1, random), 0, 2, random);
    check_products(random_skew_circulant<T>(n, 1, random), 0, 2, random);
  }
  for (const auto& [m, n] : shapes) {
    for (const index_t k : {1, 4, 17}) {
      if (m * n > 1000 && k > 4) continue;
      check_products(random_toeplitz<T>(m, n, 3, random), 0, k, random);
      check_products(random_hankel<T>(m, n, 1, random), 0, k, random);
    }
  }
}

TEMPLATE_TEST_CASE("operators are linear, take any stride and any number of threads", "", float,
                   std::complex<double>) {
  using T = TestType;
  Random random(2);
  const auto check = [&](const auto& m) {
    check_linearity(m, 0, random);
    for (const index_t k : {1, 9}) check_strides(m, k, random);
    check_threads(m, 5, random);
  };
  for (const index_t n : {1, 7, 129}) {
    check(random_toeplitz<T>(n, n + 5, 2, random));
    check(random_hankel<T>(n + 5, n, 2, random));
    check(random_circulant<T>(n, 2, random));
    check(random_skew_circulant<T>(n, 2, random));
  }
  check_threads(random_toeplitz<T>(700, 300, 1, random), 33, random);
  check_errors(random_toeplitz<T>(7, 5, 2, random), "toeplitz");
  check_errors(random_hankel<T>(5, 7, 2, random), "hankel");
  check_errors(random_circulant<T>(7, 2, random), "circulant");
  check_errors(random_skew_circulant<T>(7, 2, random), "skew_circulant");
}

TEST_CASE("above the crossover") {
  using T = std::complex<float>;
  Random random(3);
  check_products(random_toeplitz<double>(720, 709, 1, random), normwise<double>(720), 2, random);
  check_products(random_hankel<double>(709, 720, 1, random), normwise<double>(720), 2, random);
  check_products(random_circulant<T>(709, 1, random), normwise<T>(709), 2, random);
  check_products(random_skew_circulant<T>(709, 1, random), normwise<T>(709), 2, random);
}

TEST_CASE("empty batches and empty right-hand sides") {
  const Toeplitz<double> none(5, 4, 0), m(5, 4);
  Array<double, 3> x({0, 4, 2}), y({0, 5, 2});
  apply(exec::cpu{}, none, x, y);
  apply(exec::cpu{}, m, x, y);
  Array<double, 2> x0({4, 0}), y0({5, 0});
  apply(exec::cpu{}, m, x0, y0);
  CHECK(y0.empty());
  // A matrix without columns gives zeros.
  const Toeplitz<double> tall(3, 0);
  const auto zeros = tall * std::vector<double>{};
  for (const double v : zeros) CHECK(v == 0);
}

TEST_CASE("small products of known value") {
  const std::vector<double> one{1, 0};
  // 1 beside 1e20: sums keep it.
  Toeplitz<double> t(std::vector<double>{1, 1e20}, std::vector<double>{1, 0});
  auto y = t * one;
  CHECK(y(0) == 1);
  CHECK(y(1) == 1e20);
  t = Toeplitz<double>(std::vector<double>{1, 1e17, 0}, std::vector<double>{1, 0, 0});
  y = t * std::vector<double>{1, 2, 3};
  CHECK(y(0) == 1);
  CHECK(y(1) == 1e17 + 2);
  CHECK(y(2) == 2e17 + 3);
  // One row.
  t = Toeplitz<double>(std::vector<double>{2}, std::vector<double>{2, 5, 7});
  y = t * std::vector<double>{1, 10, 100};
  CHECK(y(0) == 752);
  // The corner belongs to both.
  CHECK(
      message_from<DomainError>([] {
        Toeplitz<double>(std::vector<double>{1, 2}, std::vector<double>{3, 4});
      }) ==
      "toeplitz: column and row of batch entry 0 begin with different numbers: c_0 is one element "
      "of the matrix");
}

TEST_CASE("complex entries: no conjugation on the way, transpose is not adjoint") {
  using T = std::complex<double>;
  const T i(0, 1);
  const Toeplitz<T> t(std::vector<T>{1, i}, std::vector<T>{1, 2.0 * i});
  CHECK(t.entry(0, 1) == 2.0 * i);
  CHECK(t.entry(1, 0) == i);
  Array<T, 1> y({2});
  apply_transpose(exec::cpu{}, t, std::vector<T>{1, i}, y);
  CHECK(y(0) == T(0));     // 1 + i * i
  CHECK(y(1) == 3.0 * i);  // 2 i + i
  apply_adjoint(exec::cpu{}, t, std::vector<T>{1, i}, y);
  CHECK(y(0) == T(2));
  CHECK(y(1) == -2.0 * i + i);
}

TEST_CASE("Hankel matrices from a column and a last row") {
  const Hankel<double> h(std::vector<double>{1, 2, 3}, std::vector<double>{3, 4});
  const auto dense = h.to_dense();
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 2; ++j) {
      CHECK(dense(0, i, j) == double(1 + i + j));
      CHECK(h.entry(i, j) == double(1 + i + j));
    }
  }
  CHECK_THROWS_AS(Hankel<double>(std::vector<double>{1, 2}, std::vector<double>{3}), DomainError);
  CHECK_THROWS_AS(Hankel<double>(std::vector<double>{1, 2}, std::vector<double>{}), ShapeError);
}

TEST_CASE("circulant and skew-circulant entries") {
  const Circulant<double> c(std::vector<double>{1, 2, 3});
  const SkewCirculant<double> s(std::vector<double>{1, 2, 3});
  const double expected[3][3] = {{1, 3, 2}, {2, 1, 3}, {3, 2, 1}};
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j) {
      CHECK(c.entry(i, j) == expected[i][j]);
      CHECK(s.entry(i, j) == (i >= j ? expected[i][j] : -expected[i][j]));
    }
  }
  CHECK_THROWS_AS(c.entry(3, 0), ShapeError);
}

TEST_CASE(
    "what is not finite reaches the rows that depend on it, and lags that do not fit are refused") {
  const index_t n = 40, bad = 25;
  Random random(4);
  auto t = random_toeplitz<double>(n, n, 1, random);
  const auto x = random.array<double, 1>({n});
  t.lags(0, n - 1 + bad) = INFINITY;  // c_25: rows 25 and below
  const auto y = t * x;
  for (index_t i = 0; i < n; ++i) CHECK(std::isfinite(y(i)) == (i < bad));

  ToeplitzView<double> wrong = t.view();
  wrong.row_count = n + 1;
  Array<double, 1> out({n + 1});
  CHECK(message_from<ShapeError>([&] { apply(exec::cpu{}, wrong, x, out); }) ==
        "toeplitz::apply: lags has extent 79 in dimension 1, expected 80");
}

TEST_CASE("lags broadcast over the batch, with extent 1 and with stride 0") {
  Random random(5);
  const auto t = random_toeplitz<double>(9, 6, 1, random);
  const auto x = random.array<double, 3>({3, 6, 2});
  auto one = poisoned<double, 3>({3, 9, 2}), zero = one;
  apply(exec::cpu{}, t, x, one);
  const ToeplitzView<double> view{t.view().lags.broadcast(0, 3), 9, 6};
  apply(exec::cpu{}, view, x, zero);
  CHECK(same_bits(one, zero));
  CHECK(Oracle(t).worst_error(Op::none, x, one) <= tolerance<double>(9, 0));
}
