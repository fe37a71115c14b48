#include "structmat/cauchy/apply.hpp"

#include <catch2/catch.hpp>

#include "cauchy/support.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <Scalar T>
using Wider = std::conditional_t<is_complex_v<T>, std::complex<long double>, long double>;

/// The largest error of y = C x in units of eps sum_j |x_j| / |s_i - t_j|, against long double.
template <Scalar T>
double worst_error(const Cauchy<T>& c, const std::vector<T>& x, const std::vector<T>& y) {
  double worst = 0;
  for (index_t i = 0; i < c.rows(); ++i) {
    Wider<T> sum{};
    long double scale = 0;
    for (index_t j = 0; j < c.cols(); ++j) {
      const Wider<T> difference = Wider<T>(c.s(0, i)) - Wider<T>(c.t(0, j));
      if (difference == Wider<T>{}) continue;
      sum += Wider<T>(x[j]) / difference;
      scale += std::abs(Wider<T>(x[j])) / std::abs(difference);
    }
    const auto error = static_cast<double>(std::abs(sum - Wider<T>(y[i])) / scale);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst / static_cast<double>(epsilon<T>);
}

template <Scalar T>
std::vector<T> random_vector(index_t n, unsigned seed) {
  Random random(seed);
  std::vector<T> x(n);
  for (T& v : x) v = random.scalar<T>();
  return x;
}

template <Scalar T>
double error_on(const std::vector<T>& s, const std::vector<T>& t,
                Coincidence coincidence = Coincidence::error) {
  const Cauchy<T> c(s, t, coincidence);
  const auto x = random_vector<T>(c.cols(), 5);
  std::vector<T> y(c.rows(), T(NAN));
  c.apply(x, y);
  return worst_error(c, x, y);
}

}  // namespace

TEMPLATE_TEST_CASE("Cauchy products match the entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  unsigned seed = 0;
  const index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};
  for (const index_t n : sizes) {
    const index_t m = sizes[(seed * 7 + 3) % 10];
    for (const index_t k : {1, 3, 5}) {
      check_products(random_cauchy<T>(m, n, 1 + seed % 2, seed), 2, k, random);
      check_products(random_cauchy_like<T>(m, n, seed % 4, 1 + seed % 2, seed), 8, k, random);
      ++seed;
    }
    check_products(random_cauchy<T>(n, n, 1, seed), 2, 2, random);
  }
  check_products(random_cauchy<T>(5, 1100, 1, 9), 2, 1, random);
  check_products(random_cauchy<T>(4, 3, 0, 9), 2, 1, random);
}

TEMPLATE_TEST_CASE("Cauchy operators are linear, take any stride and number of threads", "", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {1, 7, 129}) {
    const auto c = random_cauchy<T>(n, n + 2, 2, unsigned(n));
    const auto like = random_cauchy_like<T>(n + 1, n, 3, 2, unsigned(n));
    check_linearity(c, 2, random);
    check_linearity(like, 5, random);
    for (const index_t k : {1, 3, 9}) {
      check_strides(c, k, random);
      check_strides(like, k, random);
    }
  }
  check_threads(random_cauchy<T>(301, 203, 1, 4), 2, random);
  check_threads(random_cauchy_like<T>(301, 203, 2, 3, 4), 5, random);
  check_errors(random_cauchy<T>(7, 5, 2, 3), "cauchy");
  check_errors(random_cauchy_like<T>(7, 5, 2, 2, 3), "cauchy");
}

TEST_CASE("a Cauchy product known in fractions") {
  const Cauchy<double> c(std::vector<double>{0, 1, 2}, std::vector<double>{0.5, 1.5, 2.5});
  const std::vector<double> x{1, 2, 3};
  const auto y = c * x;
  CHECK(y(0) == Approx(-68.0 / 15).epsilon(1e-15));
  CHECK(y(1) == Approx(-4).epsilon(1e-15));
  CHECK(y(2) == Approx(-4.0 / 3).epsilon(1e-15));
  const std::vector<double> z{-3.0 / 16, -3.0 / 8, -15.0 / 16};
  for (const double v : c* z) CHECK(v == Approx(1).epsilon(1e-15));
}

TEST_CASE("one set of nodes serves a batch of generators") {
  Random random(3);
  auto like = random_cauchy_like<std::complex<double>>(6, 5, 2, 3, 7);
  auto view = like.view();
  view.s = view.s.slice(0, 0, 1);
  view.t = view.t.slice(0, 0, 1);
  view.h = view.h.slice(0, 1, 2);
  const auto x = random.array<std::complex<double>, 3>({3, 5, 2});
  Array<std::complex<double>, 3> y({3, 6, 2}), expected({3, 6, 2});
  apply(exec::cpu{}, view, x, y);
  for (index_t b = 1; b < 3; ++b) {
    copy(like.s.view().select(0, 0), like.s.view().select(0, b));
    copy(like.t.view().select(0, 0), like.t.view().select(0, b));
  }
  for (const index_t b : {0, 2}) copy(like.h.view().select(0, 1), like.h.view().select(0, b));
  apply(exec::cpu{}, like, x, expected);
  CHECK(same_bits(y, expected));
}

TEMPLATE_TEST_CASE("nodes of every size count", "", double, std::complex<double>) {
  using T = TestType;
  Random random(4);
  // One magnitude in each block would be as good as none: they are mixed, up to 1e-200..1e200.
  for (const double spread : {10.0, 60.0, 100.0, 200.0}) {
    std::vector<T> s(70), t(1300);
    for (auto* nodes : {&s, &t}) {
      for (T& v : *nodes) v = random.scalar<T>() * std::pow(10.0, spread * random.real());
    }
    INFO("magnitudes 1e-" << spread << " to 1e" << spread);
    CHECK(error_on(s, t) <= 40);
    t[3] = T(1e20);
    t[900] = T(1e300);
    s[40] = T(1e-300);
    CHECK(error_on(s, t) <= 40);
  }
}

TEMPLATE_TEST_CASE("nodes that nearly coincide are not dropped", "", double, std::complex<double>) {
  using T = TestType;
  const index_t n = 97;
  for (const double gap : {1e-15, 1e-12, 1e-8, 1e-4, 1e-1}) {
    std::vector<T> s(n), t(n);
    for (index_t i = 0; i < n; ++i) {
      if constexpr (is_complex_v<T>) {
        s[i] = std::polar(1.0, 2 * M_PI * double(i) / double(n));
        t[i] = s[i] * (1 + gap);
      } else {
        s[i] = 2 + std::cos(M_PI * (double(i) + 0.5) / double(n));
        t[i] = s[i] + gap;
      }
    }
    CHECK(error_on(s, t) <= 60);
  }
}

TEMPLATE_TEST_CASE("coinciding nodes are an error, named, or skipped", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {2, 20, 90}) {
    const auto x = random_vector<T>(n, 1);
    auto c = random_cauchy<T>(n + 40, n, 2, unsigned(n));
    c.s(1, n + 1) = c.t(1, 1) = T(0);
    c.s(1, n + 1) = -c.s(1, n + 1);
    const Array<T, 3> in({2, n, 1});
    auto y = poisoned<T, 3>({2, n + 40, 1});
    const std::string pair = "s_" + std::to_string(n + 1) + " equals t_1 in batch entry 1";
    CHECK(message_from<DomainError>([&] { apply(exec::cpu{}, c, in, y); }) ==
          "cauchy::apply: " + pair);
    for (const T& v : y) CHECK(std::isnan(std::real(v)));

    c.coincidence = Coincidence::skip;
    Random random(8);
    check_products(c, 2, 2, random);
  }
}

TEST_CASE("non-finite data reaches what depends on it, and nothing else") {
  auto c = random_cauchy<double>(40, 30, 1, 6);
  const std::vector<double> x(30, 1.0);
  const auto clean = c * x;
  c.s(0, 11) = NAN;
  c.s(0, 12) = INFINITY;
  auto y = c * x;
  CHECK(std::isnan(y(11)));
  CHECK(y(12) == 0);
  for (index_t i = 0; i < 40; ++i) {
    if (i != 11 && i != 12) CHECK(y(i) == Approx(clean(i)).epsilon(1e-11));
  }
  c = random_cauchy<double>(40, 30, 1, 6);
  c.t(0, 7) = -INFINITY;
  auto without = x;
  without[7] = 0;
  y = c * x;
  const auto expected = random_cauchy<double>(40, 30, 1, 6) * without;
  for (index_t i = 0; i < 40; ++i) CHECK(y(i) == Approx(expected(i)).epsilon(1e-11));
  c.t(0, 8) = NAN;
  for (const double v : c* x) CHECK(std::isnan(v));

  auto like = random_cauchy_like<std::complex<double>>(20, 10, 2, 1, 6);
  like.g(0, 3, 1) = NAN;
  like.s(0, 5) = {INFINITY, 1};
  const Array<std::complex<double>, 1> z({10});
  const auto w = like * std::vector<std::complex<double>>(10, 1.0);
  for (index_t i = 0; i < 20; ++i) CHECK(std::isfinite(std::abs(w(i))) == (i != 3));
  CHECK(w(5) == 0.0);
}
