#include "structmat/toeplitz/hermitian_inverse.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/error.hpp"
#include "support/battery.hpp"
#include "support/memory.hpp"
#include "support/positive_toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;
using toeplitz::HermitianInverse;
using toeplitz::HermitianMethod;
using toeplitz::HermitianOptions;
using Kind = PivotStatus::Kind;

namespace {

/// Divide and conquer down to few steps, so that it is what runs at small n; and the others.
const std::vector<HermitianOptions> all_options = {
    {HermitianMethod::automatic},    {HermitianMethod::levinson},     {HermitianMethod::schur},
    {HermitianMethod::superfast, 1}, {HermitianMethod::superfast, 4}, {HermitianMethod::superfast}};

template <class T>
double norm_of_column(const Array<T, 2>& a, index_t c) {
  double sum = 0;
  for (index_t i = 0; i < a.extent(0); ++i) sum += std::norm(a(i, c));
  return std::sqrt(sum);
}

/// The status for a first column.
PivotStatus status_of(const std::vector<double>& column, const HermitianOptions& options) {
  return HermitianInverse<double>(View<const double, 1>(column), options).status();
}

}  // namespace

TEMPLATE_TEST_CASE("pivots, inverse and solutions are those of dense elimination", "", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 3, 5, 7, 16, 31, 64, 97, 130}) {
    for (const HermitianOptions& options : all_options) {
      const index_t batch = seed % 2 == 0 ? 1 : 3;
      const auto column = random_covariances<T>(n, batch, ++seed);
      const HermitianInverse<T> inverse(column.view(), options);
      INFO("n " << n << ", method " << int(options.method) << ", base " << options.base);
      REQUIRE(inverse.ok());
      REQUIRE(inverse.size() == n);
      REQUIRE(inverse.batch() == batch);
      const auto b = random.array<T, 3>({batch, n, 2});
      auto x = poisoned<T, 3>({batch, n, 2});
      apply(exec::cpu{}, inverse, b, x);
      const Array<T, 3> dense = inverse.to_dense();
      const auto diagonal = inverse.diagonal();
      for (index_t e = 0; e < batch; ++e) {
        const auto m = hermitian_dense<T>(std::as_const(column).view().select(0, e));
        const DenseCholesky<Wide<T>> oracle(m);
        const auto exact = oracle.inverse();
        // Relative errors of the inverse are up to a multiple of eps cond(T).
        const double eps = double(epsilon<T>), condition = norm_of(m) * norm_of(exact);
        const double tolerance = 8 * double(n + 1) * eps * (1 + condition);
        for (index_t k = 0; k < n; ++k) {
          const double d = oracle.d[std::size_t(k)];
          CHECK(std::abs(inverse.pivots()(e, k) - d) <= tolerance * d);
        }
        CHECK(std::abs(inverse.log_determinant(e).log_abs - oracle.log_determinant()) <=
              tolerance * double(n));
        CHECK(inverse.log_determinant(e).sign == T(1));
        Array<Wide<T>, 2> rhs({n, 2}), got({n, 2});
        double worst = 0, worst_diagonal = 0;
        for (index_t i = 0; i < n; ++i) {
          for (index_t c = 0; c < 2; ++c) {
            rhs(i, c) = Wide<T>(b(e, i, c));
            got(i, c) = Wide<T>(x(e, i, c));
          }
          for (index_t j = 0; j < n; ++j)
            worst = std::max(worst, std::abs(Wide<T>(dense(e, i, j)) - exact(i, j)));
          worst_diagonal =
              std::max(worst_diagonal, std::abs(double(diagonal(e, i)) - std::real(exact(i, i))));
        }
        CHECK(worst <= tolerance * norm_of(exact));
        CHECK(worst_diagonal <= tolerance * norm_of(exact));
        if (n > 0) {
          CHECK(inverse.entry(n / 2, n / 3, e) == entry(inverse.formula(), n / 2, n / 3, e));
          CHECK(std::abs(Wide<T>(inverse.entry(n / 2, n / 3, e)) - exact(n / 2, n / 3)) <=
                tolerance * norm_of(exact));
        }
        const auto solved = oracle.solve(rhs);
        CHECK(distance(got, solved) <= tolerance * norm_of(exact) * norm_of(rhs));
      }
    }
  }
}

TEMPLATE_TEST_CASE("the inverse is an operator like others", "", double, std::complex<float>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {1, 2, 16, 127}) {
    const HermitianInverse<T> m(random_covariances<T>(n, 2, 5).view());
    const Array<T, 3> dense = m.to_dense();
    for (const Op op : all_ops) {
      const auto x = random.array<T, 3>({2, n, 3});
      auto y = poisoned<T, 3>({2, n, 3});
      apply_op(exec::cpu{}, m, op, x, y);
      for (index_t b = 0; b < 2; ++b) {
        // The vectors of the formula are what errors are measured by.
        double sum = 0;
        for (index_t i = 0; i < n; ++i) sum += std::abs(m.first_column()(b, i));
        const double scale = sum * sum / std::abs(m.first_column()(b, 0)),
                     tolerance = 16 * double(epsilon<T>) * std::log2(double(n) + 2) * scale;
        for (index_t c = 0; c < 3; ++c) {
          double error = 0, size = 0;
          for (index_t i = 0; i < n; ++i) {
            Wide<T> exact{};
            for (index_t j = 0; j < n; ++j)
              exact += Wide<T>(op_entry<T>(op, dense.view(), b, i, j)) * Wide<T>(x(b, j, c));
            error += std::norm(exact - Wide<T>(y(b, i, c)));
            size += std::norm(Wide<T>(x(b, i, c)));
          }
          CHECK(std::sqrt(error) <= tolerance * std::sqrt(size));
        }
      }
    }
    check_strides(m, 3, random);
    check_threads(m, 5, random);
    if (n > 1) check_errors(m, "toeplitz");
  }
}

TEST_CASE("log-determinants of the squared exponential kernel", "[known]") {
  const index_t n = 1024;
  const double lengths[] = {2, 5, 10}, exact[] = {-4772.74206675, -10041.909511, -11948.1803812};
  for (int k = 0; k < 3; ++k) {
    std::vector<double> column(n);
    for (index_t l = 0; l < n; ++l) {
      const double t = double(l) / lengths[k];
      column[std::size_t(l)] = std::exp(-0.5 * t * t);
    }
    column[0] += 1e-6;
    for (const HermitianOptions& options : all_options) {
      const HermitianInverse<double> inverse(View<const double, 1>(column), options);
      REQUIRE(inverse.ok());
      // Condition up to 2.5e7: pivots are known to about 1e-9 each, and their errors add up.
      CHECK(std::abs(inverse.log_determinant().log_abs - exact[k]) < 2e-6);
    }
  }
}

TEST_CASE("what is not positive definite is reported with its place") {
  for (const HermitianOptions& options : all_options) {
    INFO("method " << int(options.method) << ", base " << options.base);
    CHECK(status_of({0}, options) == PivotStatus{Kind::not_positive, 0, 0, 0});
    CHECK(status_of({-2, 1, 0}, options) == PivotStatus{Kind::not_positive, 0, 0, -2});
    CHECK(status_of({1, 1}, options) == PivotStatus{Kind::not_positive, 0, 1, 0});
    CHECK(status_of({1, -1, 1, -1}, options) == PivotStatus{Kind::not_positive, 0, 1, 0});
    CHECK(status_of({2, 4, 0}, options) == PivotStatus{Kind::not_positive, 0, 1, -6});
    CHECK(status_of({1, 0, 0, 1e300}, options).index == 3);
    CHECK(status_of({1e-300, 0, 1e300}, options) ==
          PivotStatus{Kind::not_positive, 0, 2, -INFINITY});
    const PivotStatus nan = status_of({1, 0, NAN, 5}, options);
    CHECK(nan.kind == Kind::not_finite);
    CHECK(nan.index == 2);
    CHECK(status_of({1, 0.5, -INFINITY}, options) == PivotStatus{Kind::not_finite, 0, 2, INFINITY});
    CHECK(status_of({INFINITY, 0.5}, options) == PivotStatus{Kind::not_finite, 0, 0, INFINITY});
    CHECK(status_of({NAN}, options).kind == Kind::not_finite);
    // What comes first counts.
    CHECK(status_of({1, 0.9, -0.9, NAN}, options).kind == Kind::not_positive);
    CHECK(status_of({1, 0.9, -0.9, NAN}, options).index == 2);
  }
}

TEMPLATE_TEST_CASE("the first bad leading minor", "", double, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (unsigned seed = 0; seed < 30; ++seed) {
    const index_t n = 60;
    Array<T, 2> column({1, n});
    column(0, 0) = 1;
    for (index_t l = 1; l < n; ++l)
      column(0, l) = random.scalar<T>() * (0.4 + 0.5 * double(seed) / 30);
    const DenseCholesky<Wide<T>> oracle(
        hermitian_dense<T>(std::as_const(column).view().select(0, 0)));
    const index_t bad = index_t(oracle.d.size()) - 1;
    REQUIRE(oracle.d.back() < -1e-6);
    for (const HermitianOptions& options : all_options) {
      const HermitianInverse<T> inverse(column.view(), options);
      CHECK(inverse.status().kind == Kind::not_positive);
      CHECK(inverse.status().index == bad);
      CHECK(std::abs(inverse.status().pivot - oracle.d.back()) < 1e-9 * std::abs(oracle.d.back()));
      for (index_t k = 0; k < n; ++k) CHECK(std::isnan(inverse.pivots()(0, k)) == (k >= bad));
      CHECK_THROWS_AS(inverse.log_determinant(), DomainError);
      CHECK_THROWS_AS(inverse.diagonal(), DomainError);
      CHECK_THROWS_AS(inverse * column.view().select(0, 0), DomainError);
    }
  }
}

TEST_CASE("a bad entry of a batch leaves the others alone") {
  auto column = random_covariances<double>(40, 3, 8);
  column(1, 7) = NAN;
  const HermitianInverse<double> inverse(column.view());
  CHECK(inverse.status().kind == Kind::not_finite);
  CHECK(inverse.status().batch == 1);
  CHECK(inverse.status().index == 7);
  CHECK(inverse.status(0).ok());
  const HermitianInverse<double> alone(std::as_const(column).view().select(0, 2));
  CHECK(inverse.log_determinant(2).log_abs == alone.log_determinant().log_abs);
  CHECK_THROWS_AS(inverse.status(3), ShapeError);
}

TEST_CASE("input that is refused") {
  std::vector<std::complex<double>> column{{1, 0.5}, 0.1};
  CHECK(message_from<DomainError>([&] {
          HermitianInverse<std::complex<double>>(View<const std::complex<double>, 1>(column));
        }).find("c_0 of batch entry 0 has the imaginary part") != std::string::npos);
  CHECK_THROWS_AS(HermitianInverse<double>(View<const double, 1>(std::vector<double>{1}),
                                           {HermitianMethod::superfast, -1}),
                  DomainError);
  CHECK_THROWS_AS(toeplitz::hermitian_inverse(Toeplitz<double>(3, 4).view()), ShapeError);
}

TEST_CASE("from a Toeplitz matrix; scales far from 1; strided columns") {
  auto column = random_covariances<double>(50, 1, 4);
  const HermitianInverse<double> inverse(column.view());
  CHECK(same_bits(
      toeplitz::hermitian_inverse(toeplitz::hermitian(std::as_const(column).view()).view())
          .to_dense(),
      inverse.to_dense()));
  CHECK(toeplitz::hermitian_inverse(Toeplitz<double>(0, 0).view()).ok());
  const Array<double, 2> reversed = to_array(column.view().reversed(1));
  CHECK(same_bits(HermitianInverse<double>(reversed.view().reversed(1)).to_dense(),
                  inverse.to_dense()));
  for (const double scale : {0x1p-900, 0x1p900}) {
    auto scaled = column;
    for (double& v : scaled) v *= scale;
    const HermitianInverse<double> m(scaled.view());
    REQUIRE(m.ok());
    CHECK(m.log_determinant().log_abs ==
          Approx(inverse.log_determinant().log_abs + 50 * std::log(scale)).epsilon(1e-13));
    CHECK(m.entry(3, 4) * scale == Approx(inverse.entry(3, 4)).epsilon(1e-13));
  }
}

TEST_CASE("lengths around the sizes of nodes") {
  for (const index_t base : {3, 8}) {
    for (index_t n = 1; n < 140; ++n) {
      const auto column = random_covariances<double>(n, 1, unsigned(n));
      const HermitianInverse<double> fast(column.view(), {HermitianMethod::superfast, base}),
          slow(column.view(), {HermitianMethod::levinson});
      REQUIRE(fast.ok());
      double error = 0, size = 0;
      for (index_t i = 0; i < n; ++i) {
        error = std::max(error, std::abs(fast.first_column()(0, i) - slow.first_column()(0, i)));
        size = std::max(size, std::abs(slow.first_column()(0, i)));
      }
      CHECK(error <= 1e-12 * size);
    }
  }
}
