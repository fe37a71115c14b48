// Cauchy sums on mapped roots of unity on the device against those of the CPU in double.
#include "structmat/cauchy/roots_of_unity.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

using W = std::complex<double>;

/// S4D's poles.
template <class T>
Array<T, 2> poles(index_t batch, index_t n, Random& random) {
  Array<T, 2> a({batch, n});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t j = 0; j < n; ++j)
      a(b, j) = T(W(-0.5 + 0.1 * random.real(), 3.14159265 * double(j)));
  }
  return a;
}

template <class To, class From, int Rank>
Array<To, Rank> converted(const Array<From, Rank>& from) {
  Array<To, Rank> to(from.extents());
  std::copy(from.begin(), from.end(), to.begin());
  return to;
}

}  // namespace

TEMPLATE_TEST_CASE("sums on mapped roots of unity on the device", "[cauchy_roots_of_unity]",
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  using R = real_t<T>;
  Random random(1);
  const index_t long_length = quick() ? 4096 + 128 * 33 : 16384;
  for (const auto& [length, n, k] : {std::tuple<index_t, index_t, index_t>{1, 3, 1},
                                     {300, 70, 2},
                                     {5, 0, 1},
                                     {long_length, quick() ? 19 : 64, 2},
                                     {4096, 70, 1}}) {
    const index_t batch = 2;
    const auto lambda = poles<T>(batch, n, random);
    Array<R, 1> dt({batch});
    dt(0) = R(0.001), dt(1) = R(0.1);
    const auto v = random.array<T, 3>({batch, n, k});
    const auto lambda_there = to_device(lambda);
    const auto dt_there = to_device(dt);
    const auto v_there = to_device(v);
    Array<T, 3, space::cuda> y({batch, length, k}, uninitialized);
    const cauchy::MappedRootsView<T, space::cuda> m{lambda_there.view(), dt_there.view(), length};
    replay([&](void* stream) {
      cauchy::sums_on_roots_of_unity<T>({stream, {}}, m, v_there.view(), y.view());
    });
    const auto got = to_host(y);
    const auto lambda_wide = converted<W>(lambda);
    const auto dt_wide = converted<double>(dt);
    const auto v_wide = converted<W>(v);
    Array<W, 3> expected({batch, length, k});
    cauchy::sums_on_roots_of_unity<W>(exec::cpu{}, {lambda_wide.view(), dt_wide.view(), length},
                                      v_wide.view(), expected.view());
    for (index_t b = 0; b < batch; ++b) {
      double worst = 0, largest = 0;
      for (index_t i = 0; i < length; ++i) {
        for (index_t c = 0; c < k; ++c) {
          const double error = std::abs(W(got(b, i, c)) - expected(b, i, c));
          worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
          largest = std::max(largest, std::abs(expected(b, i, c)));
        }
      }
      INFO("length " << length << ", poles " << n << ", step " << dt(b));
      // Double: eps over the smallest |i sin p - u cos p|, 2.5e-4 here.
      CHECK(worst <= (std::same_as<R, float> ? 1e-6 : 1e-11) * largest);
    }
    // An entry alone, with gaps and backwards.
    Array<T, 3, space::cuda> alone({1, length, 3});
    const View<T, 3, space::cuda> gaps(alone.data(), {1, length, 1}, {3 * length, 3, 1});
    const View<const T, 2, space::cuda> second = m.poles.slice(0, 1, 2);
    cauchy::sums_on_roots_of_unity<T>(
        exec::cuda{}, {second, m.dt.slice(0, 1, 2), length},
        View<const T, 3, space::cuda>(v_there.view()).slice(0, 1, 2).slice(2, k - 1, k),
        gaps.reversed(1));
    const auto strided = to_host(alone);
    index_t equal = 0;
    for (index_t i = 0; i < length; ++i) {
      equal += strided(0, length - 1 - i, 0) == got(1, i, k - 1);
      equal -= strided(0, i, 1) != T{};
    }
    CHECK(equal == length);
  }
}

TEMPLATE_TEST_CASE("cotangents of sums on mapped roots of unity on the device",
                   "[cauchy_roots_of_unity]", std::complex<float>, std::complex<double>) {
  using T = TestType;
  using R = real_t<T>;
  Random random(2);
  const index_t batch = 2, n = 11, k = 2, length = 300;
  for (const index_t bars : {1, 2}) {
    const auto lambda = poles<T>(batch, n, random);
    Array<R, 1> dt({1});
    dt(0) = R(0.05);
    const auto v = random.array<T, 3>({batch, n, k});
    const auto y_bar = random.array<T, 3>({batch, length, k});
    const auto lambda_bar = random.array<T, 2>({batch, n});
    const auto v_bar = random.array<T, 3>({bars, n, k});
    auto lambda_wide_bar = converted<W>(lambda_bar);
    auto v_wide_bar = converted<W>(v_bar);
    const auto lambda_wide = converted<W>(lambda);
    const auto dt_wide = converted<double>(dt);
    const auto v_wide = converted<W>(v);
    const auto y_wide = converted<W>(y_bar);
    cauchy::sums_on_roots_of_unity_vjp<W>(exec::cpu{}, {lambda_wide.view(), dt_wide.view(), length},
                                          v_wide.view(), y_wide.view(), lambda_wide_bar.view(),
                                          v_wide_bar.view());
    const auto lambda_there = to_device(lambda);
    const auto dt_there = to_device(dt);
    const auto v_there = to_device(v);
    const auto y_there = to_device(y_bar);
    auto lambda_got = to_device(lambda_bar);
    auto v_got = to_device(v_bar);
    cauchy::sums_on_roots_of_unity_vjp<T>(
        exec::cuda{}, {lambda_there.view(), dt_there.view(), length}, v_there.view(),
        y_there.view(), lambda_got.view(), v_got.view());
    const auto check = [&](const auto& got, const auto& expected) {
      double worst = 0, largest = 0;
      for (index_t i = 0; i < got.size(); ++i) {
        const double error = std::abs(W(got.data()[i]) - expected.data()[i]);
        worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
        largest = std::max(largest, std::abs(expected.data()[i]));
      }
      CHECK(worst <= (std::same_as<R, float> ? 1e-6 : 1e-11) * largest);
    };
    check(to_host(lambda_got), lambda_wide_bar);
    check(to_host(v_got), v_wide_bar);
  }
}

TEST_CASE("sums on mapped roots of unity on the device refuse what does not fit",
          "[cauchy_roots_of_unity]") {
  const Array<W, 2, space::cuda> lambda({1, 2});
  const Array<double, 1, space::cuda> dt({1});
  const Array<W, 3, space::cuda> v({1, 2, 1});
  Array<W, 3, space::cuda> y({1, 4, 1});
  CHECK_THROWS_AS(cauchy::sums_on_roots_of_unity<W>(exec::cuda{}, {lambda.view(), dt.view(), 5},
                                                    v.view(), y.view()),
                  ShapeError);
  CHECK_THROWS_AS(cauchy::sums_on_roots_of_unity<W>(exec::cuda{}, {lambda.view(), dt.view(), -1},
                                                    v.view(), y.view()),
                  DomainError);
  const View<W, 3, space::cuda> repeated(y.data(), {1, 4, 1}, {4, 0, 1});
  CHECK_THROWS_AS(cauchy::sums_on_roots_of_unity<W>(exec::cuda{}, {lambda.view(), dt.view(), 4},
                                                    v.view(), repeated),
                  Unsupported);
}
