#include "structmat/vandermonde/nonuniform_fft.hpp"

#include <catch2/catch.hpp>

#include "structmat/fft/plan.hpp"
#include "vandermonde/nodes.hpp"

namespace structmat {

/// All entries have modulus 1.
template <ComplexScalar T>
Vandermonde<T> absolute(const NonuniformFft<T>& f) {
  Vandermonde<T> ones(f.rows(), f.cols());
  for (T& x : ones.x) x = 1;
  return ones;
}

}  // namespace structmat

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
NonuniformFft<T> random_transform(index_t points, index_t modes, double tolerance, unsigned seed,
                                  index_t first_mode = 0) {
  Random random(seed);
  std::vector<real_t<T>> angles(points);
  for (auto& a : angles) a = real_t<T>(4 * random.real());
  return NonuniformFft<T>(angles, modes, {tolerance, first_mode});
}

/// ||y - F x||_2 / ||F x||_2 for some rows, in long double.
template <class Angles>
double sampled_error(const Angles& angles, const Array<std::complex<double>, 1>& c,
                     const Array<std::complex<double>, 1>& y, index_t step) {
  long double error = 0, size = 0;
  for (index_t p = 0; p < y.extent(0); p += step) {
    std::complex<long double> sum = 0;
    for (index_t j = 0; j < c.extent(0); ++j) {
      const long double phase = reduced_product(j, angles[p]);
      sum += std::complex<long double>(c(j)) *
             std::complex<long double>(std::cos(phase), std::sin(phase));
    }
    error += std::norm(sum - std::complex<long double>(y(p)));
    size += std::norm(sum);
  }
  return std::sqrt(double(error / size));
}

}  // namespace

TEMPLATE_TEST_CASE("nonuniform transforms pass the battery", "", std::complex<float>,
                   std::complex<double>) {
  Random random(1);
  const bool single = std::same_as<TestType, std::complex<float>>;
  const double tolerance = single ? 1e-6 : 1e-14;
  unsigned seed = 0;
  for (const index_t modes : {0, 1, 2, 3, 7, 16, 127, 128}) {
    for (const index_t points : {0, 1, 2, 7, 129}) {
      const auto f = random_transform<TestType>(points, modes, tolerance, ++seed, -modes / 2);
      check_products(f, {20 * tolerance, true}, 1 + seed % 2, random);
    }
  }
  const auto f = random_transform<TestType>(50, 40, tolerance, 3);
  check_linearity(f, {20 * tolerance, true}, random);
  check_strides(f, 2, random);
  check_threads(random_transform<TestType>(20000, 300, tolerance, 4), 2, random);
}

TEST_CASE("the tolerance is met") {
  using C = std::complex<double>;
  const index_t n = 400, m = 300;
  Random random(2);
  const auto c = random.array<C, 1>({n});
  const auto weights = random.array<C, 1>({m});
  for (const double tolerance : {1e-3, 1e-5, 1e-8, 1e-10, 1e-12, 1e-13}) {
    for (const bool clustered : {false, true}) {
      std::vector<double> angles(m);
      for (double& a : angles) a = clustered ? 1 + 1e-6 * random.real() : 3.14 * random.real();
      const NonuniformFft<C> f(angles, n, {tolerance});
      const auto y = f * c;
      INFO("tolerance " << tolerance << (clustered ? ", clustered" : ""));
      CHECK(sampled_error(angles, c, y, 1) <= 2 * tolerance);
      // The sums over points are those of the conjugate transpose.
      Array<C, 1> sums({n});
      f.apply_adjoint(weights, sums);
      const auto dense = f.to_dense();
      double error = 0, size = 0;
      for (index_t j = 0; j < n; ++j) {
        C exact = 0;
        for (index_t p = 0; p < m; ++p) exact += std::conj(dense(0, p, j)) * weights(p);
        error += std::norm(exact - sums(j));
        size += std::norm(exact);
      }
      CHECK(std::sqrt(error / size) <= 2 * tolerance + 1e-13);
    }
  }
}

TEST_CASE("long transforms do not lose digits") {
  using C = std::complex<double>;
  const index_t n = 200'003;
  Random random(3);
  const auto c = random.array<C, 1>({n});
  std::vector<double> angles(64);
  for (double& a : angles) a = 3.14159 * random.real();
  angles[0] = 0;
  angles[1] = std::numbers::pi;
  angles[2] = 1000.5;
  angles[3] = -1e-12;
  const NonuniformFft<C> f(angles, n, {1e-13});
  CHECK(sampled_error(angles, c, f * c, 4) <= 3e-13);
}

TEST_CASE("points of the regular grid give the discrete Fourier transform") {
  using C = std::complex<double>;
  const index_t n = 60;
  std::vector<double> angles(n);
  for (index_t p = 0; p < n; ++p) angles[p] = -2 * std::numbers::pi * double(p) / double(n);
  const NonuniformFft<C> f(angles, n, {1e-14});
  Random random(4);
  const auto c = random.array<C, 2>({1, n});
  Array<C, 2> exact({1, n});
  fft::Plan<C>(n).forward(c, exact);
  const auto y = f * to_array(c.view().select(0, 0));
  for (index_t p = 0; p < n; ++p) CHECK(std::abs(y(p) - exact(0, p)) <= 2e-12);
}

TEST_CASE("nonuniform transforms refuse what they cannot do") {
  using C = std::complex<double>;
  const std::vector<double> angles{1, NAN};
  CHECK(message_from<DomainError>([&] { NonuniformFft<C> f(angles, 3); }) ==
        "vandermonde::NonuniformFft: angle 1 is nan, it must be finite");
  const std::vector<double> good{1, 2};
  CHECK_THROWS_AS(NonuniformFft<C>(good, -1), ShapeError);
  CHECK_THROWS_AS(NonuniformFft<C>(good, 3, {0.0}), DomainError);
  const NonuniformFft<C> f(good, 3);
  Array<C, 1> y({2});
  CHECK(message_from<ShapeError>([&] { apply(exec::cpu{}, f, std::vector<C>(2), y); }) ==
        "vandermonde::apply: x has 2 rows, the operator has 3 columns");
  CHECK(f.entry(1, 2) == C(std::polar(1.0, 4.0)));
}
