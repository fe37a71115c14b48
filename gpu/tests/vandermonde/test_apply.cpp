// Products with Vandermonde matrices and exponential sums on the device, by the battery that the CPU passes.
#include "structmat/vandermonde/apply.hpp"

#include <catch2/catch.hpp>

#include "structmat/vandermonde/exponential_sum.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"
#include "vandermonde/nodes.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_TEST_CASE("vandermonde products on the device", "[vandermonde_apply]", float, double,
                   std::complex<float>, std::complex<double>) {
  Random random(1);
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{0, 3}, {3, 0}, {1, 1}, {5, 70}, {130, 65}}) {
    check_products(on_device(random_vandermonde<TestType>(m, n, 2, 1)), 2, 2, random);
  }
  const auto v = on_device(random_vandermonde<TestType>(9, 6, 2, 2));
  check_linearity(v, 2, random);
  check_strides(v, 3, random);
  check_errors(v, "vandermonde");
}

TEMPLATE_TEST_CASE("coefficients in segments", "[vandermonde_apply]", double, std::complex<float>) {
  Random random(2);
  // Nodes close to the circle: 2500 powers stay in the range of float.
  auto v = random_vandermonde<TestType>(4, 2500, 2, 3);
  for (TestType& x : v.x) x /= std::abs(x) * real_t<TestType>(1.002 + 0.002 * random.real());
  check_products(on_device(v), 2, 1, random);
  CHECK(apply_workspace_bytes(to_device(v).view(), 3) > 0);
}

TEST_CASE("powers beyond the range", "[vandermonde_apply]") {
  // (1e300)^2 is infinite; what it multiplies is zero.
  const std::vector<double> nodes{1e300, -2, 0};
  const Vandermonde<double> v(View<const double, 1>(nodes), 3);
  const auto there = to_device(v);
  Array<double, 1> c({3});
  c(0) = 1, c(1) = 2;
  Array<double, 1, space::cuda> y({3}, uninitialized);
  apply(exec::cuda{}, there, to_device(c), y);
  CHECK(to_host(y)(0) == 2e300);
  CHECK(to_host(y)(1) == -3);
  CHECK(to_host(y)(2) == 1);
  Array<double, 1> f({3});
  f(1) = 1, f(2) = 5;
  apply_transpose(exec::cuda{}, there, to_device(f), y);
  CHECK(to_host(y)(0) == 6);
  CHECK(to_host(y)(1) == -2);
  CHECK(to_host(y)(2) == 4);

  // Coefficients in segments: z^512 and more are infinite where all else is zero, 2^-1000 2^1000 is not.
  const std::vector<double> large{4, 1e200};
  const Vandermonde<double> wide(View<const double, 1>(large), 1100);
  Array<double, 1> few({1100});
  few(0) = 3, few(600) = std::ldexp(1.0, -1000);
  Array<double, 1, space::cuda> z({2}, uninitialized);
  const auto device = to_device(wide);
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(device.view(), 1)});
  apply(exec::cuda{nullptr, workspace}, device, to_device(few), z);
  CHECK(to_host(z)(0) == std::ldexp(1.0, 200) + 3);
  CHECK(std::isinf(to_host(z)(1)));
  few(600) = 0;
  apply(exec::cuda{nullptr, workspace}, device, to_device(few), z);
  CHECK(to_host(z)(1) == 3);
}

TEMPLATE_TEST_CASE("exponential sums on the device", "[vandermonde_apply]", float, double,
                   std::complex<float>, std::complex<double>) {
  Random random(3);
  for (const auto& [lags, poles] :
       {std::pair<index_t, index_t>{0, 3}, {3, 0}, {1, 1}, {64, 8}, {400, 35}}) {
    check_products(on_device(random_exponentials<TestType>(lags, poles, 2, 4)), 32, 2, random);
  }
  const auto e = on_device(random_exponentials<TestType>(70, 9, 2, 5));
  check_linearity(e, 32, random);
  check_strides(e, 3, random);
  check_errors(e, "vandermonde");
}

namespace {

/// Decaying so little that all lags count.
template <Scalar T>
LogVandermonde<T> long_exponentials(index_t lags, index_t poles, index_t batch) {
  auto e = random_exponentials<T>(lags, poles, batch, 6);
  for (T& a : e.a) {
    if constexpr (is_complex_v<T>)
      a = T(a.real() / real_t<T>(lags), a.imag());
    else
      a /= T(lags);
  }
  return e;
}

}  // namespace

TEMPLATE_TEST_CASE("many lags", "[vandermonde_apply]", float, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  using W = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
  Random random(4);
  const index_t lags = quick() ? 33000 : 500000, poles = 35, batch = 2;
  const auto e = long_exponentials<T>(lags, poles, 1);
  const auto device = to_device(e);
  LogVandermonde<W> exact(lags, poles);
  for (index_t k = 0; k < poles; ++k) exact.a(0, k) = W(e.a(0, k));
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? poles : lags, out = op == Op::none ? lags : poles;
    const auto x = random.array<T, 3>({batch, in, 1});
    Array<W, 3> x_exact(x.extents()), y_exact({batch, out, 1});
    std::copy(x.begin(), x.end(), x_exact.begin());
    apply_op(exec::cpu{}, exact, op, x_exact, y_exact);
    // The workspace of one entry: two take turns in it.
    Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(device.view(), 1)});
    Array<T, 3, space::cuda> y({batch, out, 1}, uninitialized);
    const auto there = to_device(x);
    apply_op(exec::cuda{nullptr, workspace}, device, op, there, y);
    const auto got = to_host(y);
    double worst = 0;
    for (index_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(W(got.data()[i]) - y_exact.data()[i]));
    CHECK(worst <= 8 * double(epsilon<T>) * double(in));
    apply_op(exec::cuda{nullptr, workspace}, device, op, there, y);
    CHECK(same_bits(to_host(y), got));
    // Each entry alone.
    Array<T, 3, space::cuda> alone({1, out, 1}, uninitialized);
    apply(exec::cuda{nullptr, workspace}, device.view(), op,
          View<const T, 3, space::cuda>(there.view()).slice(0, 1, 2), alone.view());
    CHECK(std::equal(got.begin() + out, got.end(), to_host(alone).begin(),
                     [](T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }));
  }
}

TEST_CASE("phases after a million lags", "[vandermonde_apply]") {
  // The float next to 2.7182818 and that next to pi; cos and the modulus from 106-bit arithmetic.
  using C = std::complex<float>;
  const index_t lags = quick() ? 65536 : 1000001;
  LogVandermonde<C> e(lags, 2);
  e.a(0, 0) = C(0, 2.7182818f);
  e.a(0, 1) = C(-1e-3f, 3.14159265f);
  Array<C, 1> c({2});
  for (const index_t pole : {0, 1}) {
    c(pole) = 1, c(1 - pole) = 0;
    Array<C, 1, space::cuda> y({lags}, uninitialized);
    apply(exec::cuda{}, to_device(e), to_device(c), y);
    const auto got = to_host(y);
    double worst = 0;
    // exp(-1e-3 l) stays in the range of float up to there.
    const index_t checked = pole == 0 ? lags : 65536;
    for (index_t l = 0; l < checked; l += pole == 0 ? 997 : 13) {
      const std::complex<double> exact(exact_exponential(l, std::complex<double>(e.a(0, pole))));
      worst = std::max(worst, std::abs(std::complex<double>(got(l)) - exact) / std::abs(exact));
    }
    CHECK(worst <= 6e-7);
    if (pole == 0 && lags > 1000000) CHECK(std::abs(got(1000000).real() - .98919093) <= 3e-7);
    if (pole == 1) {
      const std::complex<double> exact(exact_exponential(65535, std::complex<double>(e.a(0, 1))));
      CHECK(std::abs(std::complex<double>(got(65535)) - exact) <= 1e-6 * std::abs(exact));
    }
  }
}

TEST_CASE("sums on tensor cores keep their figures", "[vandermonde_apply]") {
  // Growing, decaying fast and slowly, with weights of different sizes; several groups of poles. Errors in units
  // of the sum of absolute terms.
  using C = std::complex<float>;
  using W = std::complex<double>;
  struct Case {
    index_t lags, poles;
    float slowest, fastest;  // Re a
    float smallest_weight;   // as a power of 2
  };
  Random random(9);
  for (const Case& k : {Case{5000, 150, -1e-3f, -1e-2f, 0}, Case{4999, 7, 4e-3f, 0, 0},
                        Case{4096, 20, -.9f, -1.1f, 0}, Case{4500, 33, 0, -3, -8},
                        Case{4097, 65, -.05f, -.3f, -4}}) {
    LogVandermonde<C> e(k.lags, k.poles);
    LogVandermonde<W> exact(k.lags, k.poles);
    LogVandermonde<double> sizes(k.lags, k.poles);
    Array<C, 1> c({k.poles});
    Array<W, 1> c_exact({k.poles}), expected({k.lags});
    Array<double, 1> c_size({k.poles}), scale({k.lags});
    for (index_t n = 0; n < k.poles; ++n) {
      const float part = k.poles > 1 ? float(n) / float(k.poles - 1) : 0;
      const C a(k.slowest + part * (k.fastest - k.slowest), float(3 * random.real()));
      c(n) = random.scalar<C>() * std::exp2(k.smallest_weight * part);
      e.a(0, n) = a;
      exact.a(0, n) = W(a);
      sizes.a(0, n) = a.real();
      c_exact(n) = W(c(n));
      c_size(n) = std::abs(c_exact(n));
    }
    apply(exec::cpu{}, exact, c_exact, expected);
    apply(exec::cpu{}, sizes, c_size, scale);
    Array<C, 1, space::cuda> y({k.lags}, uninitialized);
    Array<float, 1, space::cuda> parts({k.lags}, uninitialized);
    const auto there = to_device(e);
    const auto weights = to_device(c);
    apply(exec::cuda{}, there, weights, y);
    real_exponential_sum(exec::cuda{}, there, weights, parts);
    const auto got = to_host(y);
    const auto real = to_host(parts);
    double worst = 0;
    for (index_t l = 0; l < k.lags; ++l) {
      // What is left above 2^-80.
      if (scale(l) < 1e-24) continue;
      const double error = std::abs(W(got(l)) - expected(l)) +
                           std::abs(double(real(l)) - 2 * expected(l).real()) / 2;
      worst = error <= worst * scale(l) ? worst : std::isnan(error) ? INFINITY : error / scale(l);
    }
    INFO(k.lags << " lags, " << k.poles << " poles");
    CHECK(worst <= 1e-6);
  }
}

TEST_CASE("sums on tensor cores leave the range where the sums do", "[vandermonde_apply]") {
  using C = std::complex<float>;
  const index_t lags = 5000;
  LogVandermonde<C> e(lags, 2);
  Array<C, 1> c({2});
  Array<float, 1, space::cuda> y({lags}, uninitialized);
  c(0) = c(1) = .5f;
  // exp(88.7) is the end of the range.
  e.a(0, 0) = 1, e.a(0, 1) = -1;
  real_exponential_sum(exec::cuda{}, to_device(e), to_device(c), y);
  auto got = to_host(y);
  for (index_t l = 0; l < 88; ++l) {
    const double exact = std::exp(double(l)) + std::exp(-double(l));
    CHECK(std::abs(double(got(l)) - exact) <= 1e-6 * exact);
  }
  for (index_t l = 89; l < lags; ++l) CHECK_FALSE(std::isfinite(got(l)));
  // What is no number.
  for (const C bad : {C(NAN, 0), C(0, INFINITY), C(-INFINITY, 0)}) {
    e.a(0, 0) = -1e-3f;
    e.a(0, 1) = bad;
    real_exponential_sum(exec::cuda{}, to_device(e), to_device(c), y);
    got = to_host(y);
    for (index_t l = 1; l < lags; ++l) CHECK(std::isnan(got(l)) == !std::isinf(bad.real()));
  }
}

TEST_CASE("what is no number reaches what depends on it", "[vandermonde_apply]") {
  using C = std::complex<float>;
  for (const C bad : {C(NAN, 0), C(0, NAN), C(0, INFINITY)}) {
    auto e = random_exponentials<C>(100, 5, 2, 7);
    e.a(1, 3) = bad;
    Random random(8);
    const auto x = random.array<C, 3>({2, 5, 1});
    Array<C, 3, space::cuda> y({2, 100, 1}, uninitialized);
    apply(exec::cuda{}, to_device(e), to_device(x), y);
    const auto got = to_host(y);
    for (index_t l = 0; l < 100; ++l) {
      CHECK(std::isfinite(std::abs(got(0, l, 0))));
      CHECK(std::isnan(std::abs(got(1, l, 0))) == (l > 0));
    }
  }
}

TEST_CASE("the workspace is checked", "[vandermonde_apply]") {
  const auto e = to_device(long_exponentials<double>(20000, 3, 1));
  const index_t bytes = apply_workspace_bytes(e.view(), 2);
  CHECK(bytes >= index_t(2 * 2 * 3 * sizeof(double)));
  const Array<double, 3, space::cuda> x({1, 20000, 2});
  Array<double, 3, space::cuda> y({1, 3, 2});
  Array<std::byte, 1, space::cuda> small({bytes - 1});
  CHECK_THROWS_AS(apply_transpose(exec::cuda{nullptr, small}, e, x, y), DomainError);
  CHECK_THROWS_AS(apply_workspace_bytes(e.view(), -1), ShapeError);
  const View<double, 3, space::cuda> repeated(y.data(), {1, 3, 2}, {6, 0, 1});
  Array<std::byte, 1, space::cuda> enough({bytes});
  CHECK_THROWS_AS(apply_transpose(exec::cuda{nullptr, enough}, e, x, repeated), Unsupported);
}
