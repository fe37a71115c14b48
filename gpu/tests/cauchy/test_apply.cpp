// Products with Cauchy and Cauchy-like matrices on the device, pair by pair.
#include "structmat/cauchy/apply.hpp"

#include <catch2/catch.hpp>

#include "cauchy/support.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// y = C x of one matrix, by `how`: directly or in a graph.
template <class M, class T = typename M::value_type, class How>
Array<T, 3> product(const M& m, const View<const T, 3, space::cuda>& x, Op op, const How& how) {
  const index_t batch = std::max(m.batch(), x.extent(0));
  Array<T, 3, space::cuda> y({batch, op == Op::none ? m.rows() : m.cols(), x.extent(2)});
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(m, x.extent(2), batch)});
  how([&](void* stream) { apply(exec::cuda{stream, workspace}, m, op, x, y.view()); });
  return to_host(y);
}
constexpr auto directly = [](const auto& call) { call(nullptr); };

template <Scalar T>
std::vector<T> product(const Cauchy<T>& c, const std::vector<T>& x) {
  Array<T, 3> in({1, c.cols(), 1});
  std::copy(x.begin(), x.end(), in.begin());
  const auto md = to_device(c);
  const auto xd = to_device(in);
  const auto y = product(md.view(), xd.view(), Op::none, directly);
  return {y.begin(), y.end()};
}

/// The largest error of y = C x in units of eps sum_j |x_j| / |s_i - t_j|, against long double.
template <Scalar T>
double error_on(const std::vector<T>& s, const std::vector<T>& t,
                Coincidence coincidence = Coincidence::error) {
  using Wide = std::conditional_t<is_complex_v<T>, std::complex<long double>, long double>;
  const Cauchy<T> c(s, t, coincidence);
  Random random(5);
  std::vector<T> x(t.size());
  for (T& v : x) v = random.scalar<T>();
  const auto y = product(c, x);
  double worst = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    Wide sum{};
    long double scale = 0;
    for (std::size_t j = 0; j < t.size(); ++j) {
      const Wide difference = Wide(s[i]) - Wide(t[j]);
      if (difference == Wide{}) continue;
      sum += Wide(x[j]) / difference;
      scale += std::abs(Wide(x[j])) / std::abs(difference);
    }
    const auto error = static_cast<double>(std::abs(sum - Wide(y[i])) / scale);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst / static_cast<double>(epsilon<T>);
}

}  // namespace

TEMPLATE_TEST_CASE("Cauchy products on a device match the entries", "[cauchy_apply]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  unsigned seed = 0;
  const index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};
  for (const index_t n : sizes) {
    const index_t m = sizes[(seed * 7 + 3) % 10];
    for (const index_t k : {1, 5}) {
      check_products(on_device(random_cauchy<T>(m, n, 1 + seed % 2, seed)), 2, k, random);
      check_products(on_device(random_cauchy_like<T>(m, n, (3 * seed) % 7, 1 + seed % 2, seed)), 8,
                     k, random);
      ++seed;
    }
  }
  // Columns in segments.
  check_products(on_device(random_cauchy<T>(5, 2100, 1, 9)), 2, 1, random);
  check_products(on_device(random_cauchy_like<T>(70, 1600, 2, 1, 9)), 8, 3, random);
  check_products(on_device(random_cauchy<T>(4, 3, 0, 9)), 2, 1, random);
}

TEMPLATE_TEST_CASE("Cauchy operators on a device are linear and take any stride", "[cauchy_apply]",
                   double, std::complex<float>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {1, 129}) {
    const auto c = on_device(random_cauchy<T>(n, n + 2, 2, unsigned(n)));
    const auto like = on_device(random_cauchy_like<T>(n + 1, n, 3, 2, unsigned(n)));
    check_linearity(c, 2, random);
    check_linearity(like, 5, random);
    for (const index_t k : {1, 3}) {
      check_strides(c, k, random);
      check_strides(like, k, random);
    }
  }
  check_errors(on_device(random_cauchy<T>(7, 5, 2, 3)), "cauchy");
  check_errors(on_device(random_cauchy_like<T>(7, 5, 2, 2, 3)), "cauchy");
}

TEMPLATE_TEST_CASE("nodes of every size count on a device", "[cauchy_apply]", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(4);
  for (const double spread : {10.0, 100.0, 200.0}) {
    std::vector<T> s(70), t(300);
    for (auto* nodes : {&s, &t}) {
      for (T& v : *nodes) v = random.scalar<T>() * std::pow(10.0, spread * random.real());
    }
    INFO("magnitudes 1e-" << spread << " to 1e" << spread);
    CHECK(error_on(s, t) <= 40);
    t[3] = T(1e20);
    t[200] = T(1e300);
    s[40] = T(1e-300);
    CHECK(error_on(s, t) <= 40);
  }
}

TEMPLATE_TEST_CASE("single precision nodes of every size count on a device", "[cauchy_apply]",
                   float, std::complex<float>) {
  using T = TestType;
  Random random(4);
  for (const float spread : {5.0F, 17.0F}) {
    std::vector<T> s(70), t(300);
    for (auto* nodes : {&s, &t}) {
      for (T& v : *nodes) v = random.scalar<T>() * std::pow(10.0F, spread * float(random.real()));
    }
    CHECK(error_on(s, t) <= 40);
    t[3] = T(1e30F);
    s[40] = T(1e-30F);
    CHECK(error_on(s, t) <= 40);
  }
}

TEMPLATE_TEST_CASE("nodes that nearly coincide are not dropped on a device", "[cauchy_apply]",
                   double, std::complex<double>) {
  using T = TestType;
  const index_t n = 97;
  for (const double gap : {1e-15, 1e-8, 1e-1}) {
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

TEMPLATE_TEST_CASE("coinciding nodes are skipped, or leave no number, on a device",
                   "[cauchy_apply]", float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  const index_t n = 20;
  auto c = random_cauchy<T>(n + 40, n, 2, unsigned(n));
  c.s(1, n + 1) = c.t(1, 1) = T(0);
  c.s(1, n + 1) = -c.s(1, n + 1);
  const auto md = to_device(c);
  const auto xd = to_device(Random(3).array<T, 3>({2, n, 1}));
  const auto y = product(md.view(), View<const T, 3, space::cuda>(xd.view()), Op::none, directly);
  for (index_t b = 0; b < 2; ++b) {
    for (index_t i = 0; i < n + 40; ++i)
      CHECK(std::isfinite(std::abs(y(b, i, 0))) == (b != 1 || i != n + 1));
  }
  c.coincidence = Coincidence::skip;
  Random random(8);
  check_products(on_device(c), 2, 2, random);
}

TEST_CASE("non-finite data on a device reaches what depends on it, and nothing else",
          "[cauchy_apply]") {
  auto c = random_cauchy<double>(40, 30, 1, 6);
  const std::vector<double> x(30, 1.0);
  const auto clean = product(c, x);
  c.s(0, 11) = NAN;
  c.s(0, 12) = INFINITY;
  auto y = product(c, x);
  CHECK(std::isnan(y[11]));
  CHECK(y[12] == 0);
  for (std::size_t i = 0; i < 40; ++i) {
    if (i != 11 && i != 12) CHECK(y[i] == Approx(clean[i]).epsilon(1e-11));
  }
  c = random_cauchy<double>(40, 30, 1, 6);
  c.t(0, 7) = -INFINITY;
  auto without = x;
  without[7] = 0;
  y = product(c, x);
  const auto expected = product(random_cauchy<double>(40, 30, 1, 6), without);
  for (std::size_t i = 0; i < 40; ++i) CHECK(y[i] == Approx(expected[i]).epsilon(1e-11));
  c.t(0, 8) = NAN;
  for (const double v : product(c, x)) CHECK(std::isnan(v));

  auto like = random_cauchy_like<std::complex<double>>(20, 10, 2, 1, 6);
  like.g(0, 3, 1) = NAN;
  like.s(0, 5) = {INFINITY, 1};
  const auto md = to_device(like);
  Array<std::complex<double>, 3> ones({1, 10, 1});
  for (auto& v : ones) v = 1;
  const auto xd = to_device(ones);
  const auto w = product(md.view(), xd.view(), Op::none, directly);
  for (index_t i = 0; i < 20; ++i) CHECK(std::isfinite(std::abs(w(0, i, 0))) == (i != 3));
  CHECK(w(0, 5, 0) == 0.0);
}

TEST_CASE("roots of unity and Hilbert rows on a device", "[cauchy_apply]") {
  using C = std::complex<double>;
  // sum 1 / (x - w) over the n-th roots of unity is n x^(n-1) / (x^n - 1).
  const auto roots = [](index_t n, double x) {
    Cauchy<C> c(1, n);
    c.s(0, 0) = x;
    for (index_t j = 0; j < n; ++j) c.t(0, j) = std::polar(1.0, 2 * M_PI * double(j) / double(n));
    return product(c, std::vector<C>(std::size_t(n), C(1)))[0].real();
  };
  CHECK(roots(64, 2) == Approx(32).epsilon(1e-13));
  const index_t n = quick() ? 20'000 : 1'000'000;
  if (!quick()) {
    CHECK(roots(n, 1.001) == Approx(999000.9990009991).epsilon(1e-9));
    CHECK(roots(n, 1 + 1e-6) == Approx(1581975.5853062).epsilon(1e-8));
  }
  // Rows 0 and n - 1 of Hilbert's matrix: harmonic numbers.
  Cauchy<double> hilbert(2, n);
  hilbert.s(0, 1) = double(n - 1);
  for (index_t j = 0; j < n; ++j) hilbert.t(0, j) = -double(j) - 1;
  const auto y = product(hilbert, std::vector<double>(std::size_t(n), 1.0));
  const auto harmonic = [](index_t m) {
    long double sum = 0;
    for (index_t j = m; j > 0; --j) sum += 1.0L / (long double)(j);
    return sum;
  };
  CHECK(y[0] == Approx(double(harmonic(n))).epsilon(1e-14));
  CHECK(y[1] == Approx(double(harmonic(2 * n - 1) - harmonic(n - 1))).epsilon(1e-14));
}

TEST_CASE("a Cauchy product does not depend on its batch, repeats and can be captured",
          "[cauchy_apply]") {
  Random random(3);
  const auto m = random_cauchy_like<float>(70, 1300, 3, 3, 11);
  const auto x = random.array<float, 3>({3, 1300, 2});
  const auto all = to_device(m);
  const auto xd = to_device(x);
  const View<const float, 3, space::cuda> in = xd.view();
  const auto together = product(all.view(), in, Op::none, directly);
  for (index_t b = 0; b < 3; ++b) {
    auto one = all.view();
    for (auto* nodes : {&one.s, &one.t}) *nodes = nodes->slice(0, b, b + 1);
    for (auto* generator : {&one.g, &one.h}) *generator = generator->slice(0, b, b + 1);
    const auto alone = product(one, in.slice(0, b, b + 1), Op::none, directly);
    CHECK(std::equal(alone.begin(), alone.end(), together.data() + b * 140));
  }
  CHECK(
      same_bits(product(all.view(), in, Op::none, [](const auto& run) { replay(run); }), together));
}

TEST_CASE("a workspace for Cauchy products that is too small", "[cauchy_apply]") {
  const auto m = to_device(random_cauchy<double>(7, 2000, 1, 2));
  Array<double, 3, space::cuda> x({1, 2000, 1}), y({1, 7, 1});
  Array<std::byte, 1, space::cuda> workspace({100});
  CHECK(message_from<DomainError>([&] {
          apply(exec::cuda{nullptr, workspace}, m, x, y);
        }) == "cauchy::apply: the workspace has 100 bytes, 256 are needed");
  CHECK_THROWS_AS(apply_workspace_bytes(m.view(), -1), ShapeError);
  const View<double, 3, space::cuda> flat(y.data(), {1, 7, 1}, {0, 0, 0});
  CHECK_THROWS_AS(apply(exec::cuda{}, m, x, flat), Unsupported);
}
