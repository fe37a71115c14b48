#include "structmat/toeplitz/solve.hpp"

#include <catch2/catch.hpp>

#include "structmat/toeplitz/to_cauchy_like.hpp"
#include "support/dense.hpp"
#include "support/positive_toeplitz.hpp"
#include "support/solve.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;
using toeplitz::SolveMethod;

namespace {

constexpr SolveMethod both_methods[] = {SolveMethod::lu, SolveMethod::dense};

/// Refined solutions reach a few eps: the residual itself has an error of c log2(n) eps.
template <class T>
double refined(index_t n) {
  return 4 * std::log2(double(n) + 2) * double(epsilon<T>);
}

template <class M>
auto solver(const M& m, SolveMethod method) {
  return [&m, method](Op op, auto b, auto x) {
    const auto report = solve(exec::cpu{}, m.view(), op, b, x, {.method = method});
    CHECK(report.method == method);
    CHECK(report.status.ok());
    CHECK(report.backward_error <= refined<typename M::value_type>(m.rows()));
  };
}

Toeplitz<double> from(const std::vector<double>& column, const std::vector<double>& row) {
  return Toeplitz<double>(View<const double, 1>(column), View<const double, 1>(row));
}

}  // namespace

TEMPLATE_TEST_CASE("Toeplitz systems of every size", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 3, 4, 5, 7, 16, 31, 33, 64, 97}) {
    const auto m = random_toeplitz<T>(n, n, 1 + n % 2, random);
    for (const SolveMethod method : both_methods) {
      check_solutions(m, refined<T>(n), random, solver(m, method));
    }
  }
}

TEMPLATE_TEST_CASE("Hankel systems", "", double, std::complex<float>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {0, 1, 2, 5, 40}) {
    const auto m = random_hankel<T>(n, n, 2, random);
    for (const SolveMethod method : both_methods) {
      check_solutions(m, refined<T>(n), random, solver(m, method));
    }
  }
}

TEMPLATE_TEST_CASE("factors for later systems, compact and stored", "", double,
                   std::complex<float>) {
  using T = TestType;
  using cauchy::Storage;
  Random random(3);
  for (const index_t n : {1, 2, 30, 130}) {
    const auto m = random_toeplitz<T>(n, n, 3, random);
    for (const Storage storage : {Storage::compact, Storage::full}) {
      const auto f = toeplitz::factor_lu(m, {.storage = storage});
      REQUIRE(f.status().ok());
      CHECK(f.growth() < 1e3);
      const double tolerance = f.growth() * double(n + 8) * double(epsilon<T>);
      check_solutions(m, tolerance, random, [&](Op op, View<const T, 3> b, View<T, 3> x) {
        solve(exec::cpu{}, f, op, b, x);
      });
      // In place.
      auto x = random.array<T, 3>({3, n, 2});
      const auto b = x;
      solve(exec::cpu{}, f, x, x);
      CHECK(backward_error(m, Op::none, b, x) <= tolerance);
    }
  }
}

TEST_CASE("singular leading minors stop nobody") {
  const auto check = [](const Toeplitz<double>& m, const std::vector<double>& b,
                        const std::vector<double>& expected, double tolerance = 2e-15) {
    for (const SolveMethod method : both_methods) {
      std::vector<double> x(b.size(), NAN);
      const auto report = solve(exec::cpu{}, m, b, x, {.method = method});
      CHECK(report.status.ok());
      CHECK(report.backward_error <= 1e-15);
      double scale = 0, error = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        scale = std::max(scale, std::abs(expected[i]));
        error = std::max(error, std::abs(x[i] - expected[i]));
      }
      CHECK(error <= tolerance * scale);
    }
  };
  check(from({0, 1}, {0, 1}), {3, 5}, {5, 3});
  check(from({1, 1, 2}, {1, 1, 2}), {1, 2, 3}, {1, 2, -1});
  check(from({0, 1, 2}, {0, 3, 1}), {1, 2, 3}, {26. / 19, 5. / 19, 4. / 19});
  check(from({1, 2, 3}, {1, 0.5, 4}), {1, 2, 3}, {1, 0, 0}, 1e-14);
  // Nearly singular ones: conditions 3.7 and 8.6.
  for (const std::vector<double>& c : {std::vector<double>{1e-8, 1, 2}, {1, 1 - 1e-12, 0.25}}) {
    check(from(c, c), {c[0] + c[1] + c[2], c[0] + 2 * c[1], c[0] + c[1] + c[2]}, {1, 1, 1}, 3e-15);
  }
}

TEST_CASE("determinants of integer matrices") {
  const auto determinant = [](const auto& m) {
    const auto d = log_determinant(exec::cpu{}, m.view());
    return d.sign * std::exp(d.log_abs);
  };
  CHECK(determinant(from({1, 2, 3}, {1, 0.5, 4})) == Approx(3.75).epsilon(1e-14));
  CHECK(determinant(from({0, 1}, {0, 1})) == Approx(-1).epsilon(1e-14));
  CHECK(determinant(from({1, 1, 2}, {1, 1, 2})) == Approx(-1).epsilon(1e-14));
  CHECK(determinant(from({0, 1, 2}, {0, 3, 1})) == Approx(19).epsilon(1e-14));
  CHECK(determinant(from({-7}, {-7})) == Approx(-7).epsilon(1e-14));
  CHECK(determinant(Toeplitz<double>(0, 0)) == 1);
}

TEMPLATE_TEST_CASE("determinants of every size modulo 4", "", double, std::complex<double>) {
  using T = TestType;
  Random random(4);
  for (const index_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 40}) {
    const auto t = random_toeplitz<T>(n, n, 2, random);
    const auto h = random_hankel<T>(n, n, 2, random);
    const auto f = toeplitz::factor_lu(t);
    for (index_t b = 0; b < 2; ++b) {
      const auto expected = textbook_determinant(t.to_dense(), b);
      CHECK(determinant_error(log_determinant(f, b), expected) <= 1e-12);
      CHECK(determinant_error(log_determinant(exec::cpu{}, t.view(), b), expected) <= 1e-12);
      CHECK(determinant_error(log_determinant(exec::cpu{}, h.view(), b),
                              textbook_determinant(h.to_dense(), b)) <= 1e-12);
    }
  }
}

TEST_CASE("determinants beyond the range of double, and matrices near its ends") {
  const index_t n = 500;
  for (const double scale : {1e-300, 1., 1e300}) {
    Toeplitz<double> m(n, n);
    m.lags(0, n - 1) = 3 * scale;
    m.lags(0, n) = scale;
    const auto d = log_determinant(exec::cpu{}, m.view());
    CHECK(d.sign == 1);
    CHECK(d.log_abs == Approx(double(n) * (std::log(3.) + std::log(scale))).epsilon(1e-13));
    std::vector<double> b(n, scale), x(n);
    const auto report = solve(exec::cpu{}, m, b, x, {.method = SolveMethod::lu});
    CHECK(report.status.ok());
    CHECK(x.front() == Approx(1. / 3));
    CHECK(x.back() == Approx(0.25));
  }
}

TEST_CASE("breakdown is reported and leaves x alone") {
  using Kind = PivotStatus::Kind;
  const std::vector<double> b{1, 2, 3};
  const auto report = [&](const Toeplitz<double>& m, SolveMethod method, bool written) {
    std::vector<double> x(3, 7);
    const auto r = solve(exec::cpu{}, m, b, x, {.method = method});
    CHECK((x == std::vector<double>(3, 7)) == !written);
    return r.status;
  };
  for (const SolveMethod method : both_methods) {
    CHECK(report(Toeplitz<double>(3, 3), method, false).kind == Kind::zero);
    Toeplitz<double> bad(3, 3);
    bad.lags(0, 4) = NAN;
    CHECK(report(bad, method, false).kind == Kind::not_finite);
    CHECK(report(bad, method, false).index == 4);
  }
  // Rank one, with and without rounding.
  const auto ones = report(from({1, 1, 1}, {1, 1, 1}), SolveMethod::dense, false);
  CHECK(ones.kind == Kind::zero);
  CHECK(ones.index == 1);
  Toeplitz<double> geometric(64, 64);
  for (index_t l = -63; l < 64; ++l) geometric.lags(0, l + 63) = std::pow(1.01, double(l));
  for (const SolveMethod method : both_methods) {
    std::vector<double> x(64);
    const auto r = solve(exec::cpu{}, geometric, std::vector<double>(64, 1), x, {.method = method});
    CHECK(!r.status.ok());
    CHECK(log_determinant(exec::cpu{}, geometric.view()).log_abs < -1000);
  }
  CHECK_THROWS_AS(geometric.solve(std::vector<double>(64, 1)), DomainError);
}

TEST_CASE("a batch reports the entry that broke down") {
  Toeplitz<double> m(5, 5, 3);
  for (index_t b = 0; b < 3; ++b) m.lags(b, 4) = b == 1 ? 0 : 1;
  Array<double, 3> rhs({1, 5, 1}), x({3, 5, 1});
  for (const SolveMethod method : both_methods) {
    const auto r = solve(exec::cpu{}, m, rhs, x, {.method = method});
    CHECK(r.status.kind == PivotStatus::Kind::zero);
    CHECK(r.status.batch == 1);
  }
}

TEST_CASE("the default takes what is faster and says so") {
  Random random(5);
  for (const index_t n : {20, 600}) {
    const auto m = random_toeplitz<double>(n, n, 1, random);
    std::vector<double> b(std::size_t(n), 1), x(b.size());
    const auto r = solve(exec::cpu{}, m, b, x);
    CHECK(r.method == toeplitz::solve_method<double>(n));
    CHECK(r.method == (n == 20 ? SolveMethod::dense : SolveMethod::lu));
    CHECK(m.solve(b).extent(0) == n);
  }
}

TEMPLATE_TEST_CASE("positive definite matrices go by their own method", "", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(6);
  const index_t n = 200;
  const auto column = random_covariances<T>(n, 2, 1);
  const Toeplitz<T> m = toeplitz::hermitian<T>(column.view());
  const auto b = random.array<T, 3>({2, n, 3});
  for (const Op op : all_ops) {
    Array<T, 3> x({2, n, 3}), other({2, n, 3});
    const auto r = solve(exec::cpu{}, m.view(), op, b.view(), x.view());
    CHECK(r.method == SolveMethod::hermitian);
    CHECK(r.status.ok());
    CHECK(r.backward_error <= 8 * epsilon<double>);
    solve(exec::cpu{}, m.view(), op, b.view(), other.view(), {.method = SolveMethod::lu});
    double worst = 0, size = 0;
    for (index_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, std::abs(x.data()[i] - other.data()[i]));
      size = std::max(size, std::abs(x.data()[i]));
    }
    CHECK(worst <= 1e-10 * size);
  }
  const auto fast = log_determinant(exec::cpu{}, m.view(), 1);
  const auto general = toeplitz::log_determinant(toeplitz::factor_lu(exec::cpu{}, m.view()), 1);
  CHECK(fast.log_abs == Approx(general.log_abs).epsilon(1e-11));
  CHECK(fast.sign == T{1});

  // Indefinite with a positive diagonal: the recursion finds out, and elimination goes on.
  Toeplitz<T> indefinite = m;
  for (index_t entry = 0; entry < 2; ++entry) {
    for (const index_t l : {-1, 1}) indefinite.lags(entry, n - 1 + l) = T(100);
  }
  Array<T, 3> x({2, n, 3});
  const auto r = solve(exec::cpu{}, indefinite.view(), Op::none, b.view(), x.view());
  CHECK(r.method == SolveMethod::lu);
  CHECK(r.status.ok());
  CHECK(r.backward_error <= 1e-14);

  auto untouched = poisoned<T, 3>({2, n, 3});
  const auto refused = solve(exec::cpu{}, indefinite.view(), Op::none, b.view(), untouched.view(),
                             {.method = SolveMethod::hermitian});
  CHECK(refused.status.kind == PivotStatus::Kind::not_positive);
  CHECK(refused.status.index == 1);
  for (const T& v : untouched) CHECK(std::isnan(std::real(v)));
  indefinite.lags(1, 0) = T(3);
  CHECK_THROWS_AS(solve(exec::cpu{}, indefinite.view(), Op::none, b.view(), x.view(),
                        {.method = SolveMethod::hermitian}),
                  DomainError);
}

TEST_CASE("illegal operands of Toeplitz solvers") {
  const Toeplitz<double> wide(3, 4), square(3, 3);
  std::vector<double> b(3), x(3), longer(4);
  CHECK(message_from<ShapeError>([&] { solve(exec::cpu{}, wide, b, longer); }) ==
        "toeplitz::solve: the matrix is 3 x 4, it must be square (least squares are not offered)");
  CHECK(message_from<ShapeError>([&] {
          toeplitz::factor_lu(wide);
        }).find("factor_lu: the matrix") != std::string::npos);
  CHECK_THROWS_AS(toeplitz::to_cauchy_like(wide), ShapeError);
  CHECK_THROWS_AS(solve(exec::cpu{}, Hankel<double>(2, 3), b, x), ShapeError);
  CHECK(message_from<ShapeError>([&] { solve(exec::cpu{}, square, longer, x); }) ==
        "toeplitz::solve: x has 4 rows, the operator has 3 columns");
  CHECK_THROWS_AS(solve(exec::cpu{}, square, x, x), DomainError);
  CHECK_THROWS_AS(log_determinant(exec::cpu{}, square.view(), 1), ShapeError);
  const auto f = toeplitz::factor_lu(square);
  CHECK_THROWS_AS(solve(exec::cpu{}, f, b, x), DomainError);
  CHECK_THROWS_AS(toeplitz::log_determinant(f, -1), ShapeError);
  CHECK(toeplitz::log_determinant(f).sign == 0);
}

TEMPLATE_TEST_CASE("the Cauchy-like image is F T D^-1 F^H", "", double, std::complex<double>) {
  using T = TestType;
  using C = std::complex<double>;
  Random random(6);
  for (const index_t n : {1, 2, 3, 8, 13}) {
    const auto t = random_toeplitz<T>(n, n, 2, random);
    const auto image = toeplitz::to_cauchy_like(t);
    const auto dense = image.to_dense();
    const auto fourier = matrix<C>(n, n, [&](index_t i, index_t j) {
      return std::polar(1 / std::sqrt(double(n)), 2 * M_PI * double(i * j % n) / double(n));
    });
    const auto inverse = matrix<C>(n, n, [&](index_t i, index_t j) {  // D^-1 F^H
      return std::conj(fourier(i, j)) * std::polar(1.0, -M_PI * double(i) / double(n));
    });
    for (index_t b = 0; b < 2; ++b) {
      const auto given = t.to_dense();
      const auto expected = dense_product(
          fourier,
          dense_product(matrix<C>(n, n, [&](index_t i, index_t j) { return C(given(b, i, j)); }),
                        inverse));
      const auto got = matrix<C>(n, n, [&](index_t i, index_t j) { return dense(b, i, j); });
      CHECK(distance(got, expected) <= 8 * double(n) * epsilon<double> * norm_of(expected));
    }
  }
}
