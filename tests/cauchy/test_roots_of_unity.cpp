#include "structmat/cauchy/roots_of_unity.hpp"

#include <catch2/catch.hpp>
#include <numbers>

#include "support/battery.hpp"
#include "support/gradient.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

using C = std::complex<double>;

template <class T>
Array<T, 2> poles(index_t batch, index_t n, Random& random) {
  Array<T, 2> a({batch, n});
  for (T& v : a) {
    v = T(C(-0.5 + 0.3 * random.real(), 20 * random.real()));
  }
  return a;
}

}  // namespace

TEMPLATE_TEST_CASE("sums on mapped roots of unity", "[cauchy_roots_of_unity]", std::complex<float>,
                   C) {
  using T = TestType;
  using R = real_t<T>;
  Random random(1);
  for (const index_t length : {0, 1, 2, 7, 64}) {
    for (const index_t n : {0, 1, 5}) {
      const index_t batch = 2, k = 2;
      const auto lambda = poles<T>(batch, n, random);
      const std::vector<R> dt{R(0.1), R(0.02)};
      const auto v = random.array<T, 3>({batch, n, k});
      auto y = poisoned<T, 3>({batch, length, k});
      cauchy::sums_on_roots_of_unity<T>(exec::cpu{}, {lambda.view(), View<const R, 1>(dt), length},
                                        v.view(), y.view());
      for (index_t b = 0; b < batch; ++b) {
        for (index_t i = 0; i < length; ++i) {
          const C w = std::polar(1.0, -2 * std::numbers::pi * double(i) / double(length));
          for (index_t c = 0; c < k; ++c) {
            C expected{};
            double size = 0;
            for (index_t j = 0; j < n; ++j) {
              const C u = C(lambda(b, j)) * double(dt[b]) / 2.0;
              const C zeta = (1.0 + u) / (1.0 - u);
              const C term = C(v(b, j, c)) * double(dt[b]) / (1.0 - u) / (1.0 - zeta * w);
              expected += term;
              size += std::abs(term);
              if (2 * i == length) continue;
              // As it stands in the name.
              const C z = 2.0 / double(dt[b]) * (1.0 - w) / (1.0 + w);
              const C direct = 2.0 / (1.0 + w) * C(v(b, j, c)) / (z - C(lambda(b, j)));
              CHECK(std::abs(direct - term) <= 1e-10 * std::abs(term));
            }
            CHECK(std::abs(C(y(b, i, c)) - expected) <=
                  (4 * double(epsilon<R>) + 1e-13) * double(n + 8) * size);
          }
        }
      }
    }
  }
}

TEST_CASE("cotangents of sums on mapped roots of unity", "[cauchy_roots_of_unity]") {
  Random random(2);
  const index_t batch = 2, n = 3, k = 2, length = 6;
  auto lambda = poles<C>(batch, n, random);
  auto v = random.array<C, 3>({batch, n, k});
  Array<double, 1> dt({batch});
  dt(0) = 1, dt(1) = 1.5;
  for (C& v0 : lambda) v0.imag(0.1 * v0.imag());
  const auto y_bar = random.array<C, 3>({batch, length, k});
  Array<C, 2> lambda_bar(lambda.extents());
  Array<C, 3> v_bar(v.extents());
  const auto matrix = [&] { return cauchy::MappedRootsView<C>{lambda.view(), dt.view(), length}; };
  cauchy::sums_on_roots_of_unity_vjp<C>(exec::cpu{}, matrix(), v.view(), y_bar.view(),
                                        lambda_bar.view(), v_bar.view());
  const auto loss = [&] {
    Array<C, 3> y(y_bar.extents());
    cauchy::sums_on_roots_of_unity<C>(exec::cpu{}, matrix(), v.view(), y.view());
    return inner(y_bar, y);
  };
  check_gradient("poles", lambda, lambda_bar, loss, 1e-7);
  check_gradient("v", v, v_bar, loss, 1e-7);
  Array<double, 1> dt_bar({batch});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t j = 0; j < n; ++j) {
      dt_bar(b) += std::real(std::conj(lambda(b, j)) * lambda_bar(b, j)) / dt(b);
      for (index_t c = 0; c < k; ++c)
        dt_bar(b) += std::real(std::conj(v(b, j, c)) * v_bar(b, j, c)) / dt(b);
    }
  }
  check_gradient("dt", dt, dt_bar, loss, 1e-7);
}

TEST_CASE("sums on mapped roots of unity refuse what makes no sense", "[cauchy_roots_of_unity]") {
  Array<C, 2> lambda({1, 2});
  lambda(0, 0) = -1;
  const std::vector<double> dt{2}, none{0};
  const Array<C, 3> v({1, 2, 1});
  Array<C, 3> y({1, 4, 1});
  const auto run = [&](const std::vector<double>& step, index_t length) {
    cauchy::sums_on_roots_of_unity<C>({}, {lambda.view(), View<const double, 1>(step), length},
                                      v.view(), y.view());
  };
  CHECK(message_from<DomainError>([&] { run(dt, 4); }) ==
        "cauchy::sums_on_roots_of_unity: pole 1 of batch entry 0 is node 0");
  lambda(0, 1) = -2;
  CHECK_THROWS_AS(run(none, 4), DomainError);
  CHECK_THROWS_AS(run(dt, -1), DomainError);
  CHECK_THROWS_AS(run(dt, 5), ShapeError);
}
