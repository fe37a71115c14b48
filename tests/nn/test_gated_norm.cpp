#include "structmat/nn/gated_norm.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/core/error.hpp"
#include "support/gradient.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::nn;
using structmat::test::Random;

namespace {

double silu_of(double v) {
  return v / (1 + std::exp(-v));
}

Array<double, 2> by_definition(const Array<double, 2>& x, const Array<double, 2>& z,
                               const Array<double, 1>& w, const GatedNormOptions& o) {
  const index_t g = o.group == 0 ? x.extent(1) : o.group;
  Array<double, 2> y(x.extents());
  for (index_t i = 0; i < x.extent(0); ++i) {
    for (index_t c = 0; c < x.extent(1); ++c) {
      const auto u = [&](index_t k) {
        return o.gate == Gate::before ? x(i, k) * silu_of(z(i, k)) : x(i, k);
      };
      double squares = 0;
      for (index_t k = c / g * g; k < c / g * g + g; ++k) squares += u(k) * u(k);
      y(i, c) = w(c) * u(c) / std::sqrt(squares / double(g) + o.epsilon);
      if (o.gate == Gate::after) y(i, c) *= silu_of(z(i, c));
    }
  }
  return y;
}

}  // namespace

TEST_CASE("gated norms by their definition, and cotangents by differences", "[nn][gated_norm]") {
  GatedNormOptions o;
  o.gate = GENERATE(Gate::after, Gate::before);
  o.group = GENERATE(0, 1, 4);
  o.epsilon = 1e-2;
  const index_t rows = GENERATE(0, 1, 3, 70);
  Random random(1);
  auto x = random.array<double, 2>({rows, 12}), z = random.array<double, 2>({rows, 12});
  auto w = random.array<double, 1>({12});
  Array<double, 2> y(x.extents());
  const auto run = [&] {
    gated_norm(exec::cpu{}, View<const double, 2>(x), View<const double, 2>(z),
               View<const double, 1>(w), o, y.view());
  };
  run();
  const auto expected = by_definition(x, z, w, o);
  for (index_t i = 0; i < y.size(); ++i) {
    REQUIRE(y.data()[i] == Approx(expected.data()[i]).epsilon(1e-13).margin(1e-15));
  }
  if (rows > 3) return;
  const auto y_bar = random.array<double, 2>(std::array<index_t, 2>{rows, 12});
  const auto loss = [&] {
    run();
    return test::inner(y_bar, y);
  };
  Array<double, 2> x_bar(x.extents()), z_bar(z.extents());
  Array<double, 1> w_bar(w.extents());
  gated_norm_vjp(exec::cpu{}, View<const double, 2>(x), View<const double, 2>(z),
                 View<const double, 1>(w), o, View<const double, 2>(y_bar), x_bar.view(),
                 z_bar.view(), w_bar.view());
  test::check_gradient("x", x, x_bar, loss, 1e-7);
  test::check_gradient("z", z, z_bar, loss, 1e-7);
  test::check_gradient("w", w, w_bar, loss, 1e-7);
}

TEST_CASE("gated norms in place, without gate and weights, in bf16, on many threads",
          "[nn][gated_norm]") {
  Random random(2);
  auto x = random.array<double, 2>({300, 40});
  const auto kept = x;
  Array<double, 2> y(x.extents());
  gated_norm(exec::cpu{1}, View<const double, 2>(x), {}, {}, {}, y.view());
  gated_norm(exec::cpu{3}, View<const double, 2>(x), {}, {}, {}, x.view());
  CHECK(std::equal(x.begin(), x.end(), y.begin()));
  for (index_t i = 0; i < 300; ++i) {
    double squares = 0;
    for (index_t c = 0; c < 40; ++c) squares += y(i, c) * y(i, c);
    REQUIRE(squares / 40 == Approx(1).epsilon(1e-3));
  }
  Array<double, 1> one({40}), many({40});
  const View<const double, 2> k(kept), bar(y);
  gated_norm_vjp(exec::cpu{1}, k, {}, {}, {}, bar, {}, {}, one.view());
  gated_norm_vjp(exec::cpu{3}, k, {}, {}, {}, bar, {}, {}, many.view());
  CHECK(std::equal(one.begin(), one.end(), many.begin()));

  Array<bf16, 2> small({2, 8}), result({2, 8});
  for (index_t i = 0; i < 16; ++i) small.data()[i] = bf16(float(i) - 7.5f);
  gated_norm(exec::cpu{}, View<const bf16, 2>(small), {}, {}, {}, result.view());
  double squares = 0;
  for (index_t c = 0; c < 8; ++c) squares += float(result(0, c)) * float(result(0, c));
  CHECK(squares / 8 == Approx(1).epsilon(0.01));
}

TEST_CASE("gated norms of what is not finite, and refusals", "[nn][gated_norm]") {
  Array<double, 2> x({2, 4}), z({2, 4}), y({2, 4});
  std::fill(x.begin(), x.end(), 1.0);
  x(1, 2) = NAN;
  z(0, 0) = -INFINITY;
  const View<const double, 2> xv(x), zv(z);
  gated_norm(exec::cpu{}, xv, zv, {}, {}, y.view());
  CHECK(y(0, 0) == 0);
  CHECK(std::isfinite(y(0, 3)));
  CHECK(std::isnan(y(1, 0)));
  GatedNormOptions o;
  o.group = 3;
  CHECK_THROWS_WITH(gated_norm(exec::cpu{}, xv, zv, {}, o, y.view()),
                    "nn::gated_norm: groups of 3 channels do not divide 4");
  CHECK_THROWS_WITH(gated_norm(exec::cpu{}, xv, zv.slice(1, 0, 3), {}, {}, y.view()),
                    "nn::gated_norm: z is 2 x 3, x is 2 x 4");
  o.group = 0, o.epsilon = -1;
  CHECK_THROWS_AS(gated_norm(exec::cpu{}, xv, zv, {}, o, y.view()), DomainError);
  const View<double, 2> shifted(x.data() + 1, {1, 4}, {4, 1});
  CHECK_THROWS_AS(gated_norm(exec::cpu{}, xv.slice(0, 0, 1), {}, {}, {}, shifted), DomainError);
}
