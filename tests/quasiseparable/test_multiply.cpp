#include "structmat/quasiseparable/multiply.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"
#include "support/gradient.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

using transition::Dense;

/// Largest |X Y - C| over the entries, in units of |X| |Y|.
template <Scalar T, class K>
double product_error(const Quasiseparable<T, K>& x, const Quasiseparable<T, K>& y,
                     const Quasiseparable<T, Dense>& c) {
  const Array<T, 3> dx = x.to_dense(), dy = y.to_dense(), dc = c.to_dense();
  const Array<T, 3> ax = absolute(x).to_dense(), ay = absolute(y).to_dense();
  const index_t n = x.size();
  double worst = 0;
  for (index_t b = 0; b < c.batch(); ++b) {
    const index_t bx = x.batch() == 1 ? 0 : b, by = y.batch() == 1 ? 0 : b;
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        std::complex<double> sum{};
        double scale = 0;
        for (index_t k = 0; k < n; ++k) {
          sum += std::complex<double>(dx(bx, i, k)) * std::complex<double>(dy(by, k, j));
          scale += std::abs(ax(bx, i, k)) * std::abs(ay(by, k, j));
        }
        const double error = std::abs(sum - std::complex<double>(dc(b, i, j)));
        if (error == 0) continue;
        worst = std::isfinite(error / scale) ? std::max(worst, error / scale) : INFINITY;
      }
    }
  }
  return worst;
}

/// NaN wherever the matrix does not depend on the generator.
template <Scalar T, class K>
Quasiseparable<T, K> with_unread(Quasiseparable<T, K> m) {
  const index_t n = m.size();
  if (n == 0) return m;
  const auto poison = [&](auto& a, index_t i) {
    const auto view = a.view().slice(1, i, i + 1);
    auto nan = to_array(view);
    for (T& v : nan) v = T(NAN);
    copy(nan.view(), view);
  };
  for (const index_t end : {index_t{0}, n - 1}) {
    poison(m.a, end);
    poison(m.b, end);
  }
  poison(m.p, 0);
  poison(m.q, n - 1);
  poison(m.g, n - 1);
  poison(m.h, 0);
  return m;
}

template <Scalar T, class K>
void check_product(index_t n, Order rx, Order ry, index_t bx, index_t by) {
  INFO("n " << n << ", orders " << rx.lower << " " << rx.upper << ", " << ry.lower << " "
            << ry.upper << ", batch " << bx << ", " << by);
  const auto x = random_quasiseparable<T, K>(n, rx, bx, 3);
  const auto y = random_quasiseparable<T, K>(n, ry, by, 4);
  const auto c = quasiseparable::multiply(exec::cpu{}, x, y);
  CHECK(c.order() == Order{rx.lower + ry.lower, rx.upper + ry.upper});
  CHECK(product_error(x, y, c) <= 2 * tolerance<T>(n, rx.lower + ry.upper + 4));
  const auto unread = quasiseparable::multiply(exec::cpu{2}, with_unread(x), with_unread(y));
  CHECK(distance(c, unread) == 0);
}

template <Scalar T>
void check_kinds(index_t n, Order rx, Order ry, index_t bx, index_t by) {
  check_product<T, transition::Scalar>(n, rx, ry, bx, by);
  check_product<T, transition::Diagonal>(n, rx, ry, bx, by);
  check_product<T, transition::Dense>(n, rx, ry, bx, by);
}

template <Scalar T, class K>
void check_vjp(index_t n, Order rx, Order ry, index_t bx, index_t by) {
  INFO("n " << n << ", orders " << rx.lower << " " << rx.upper << ", " << ry.lower << " "
            << ry.upper << ", batch " << bx << ", " << by);
  auto x = random_quasiseparable<T, K>(n, rx, bx, 3);
  auto y = random_quasiseparable<T, K>(n, ry, by, 4);
  const index_t batch = bx == 1 ? by : bx;
  const auto c_bar =
      random_quasiseparable<T, Dense>(n, {rx.lower + ry.lower, rx.upper + ry.upper}, batch, 9);
  Quasiseparable<T, K> x_bar(n, rx, bx), y_bar(n, ry, by);
  quasiseparable::multiply_vjp(exec::cpu{}, with_unread(x).view(), with_unread(y).view(),
                               c_bar.view(), QuasiseparableCotangent<T, K>(x_bar),
                               QuasiseparableCotangent<T, K>(y_bar));
  // Every number of C counts, also those that the matrix does not depend on: they are 0.
  const auto loss = [&] {
    const auto c = quasiseparable::multiply(exec::cpu{1}, x, y);
    return inner(c_bar.p, c.p) + inner(c_bar.q, c.q) + inner(c_bar.a, c.a) + inner(c_bar.d, c.d) +
           inner(c_bar.g, c.g) + inner(c_bar.h, c.h) + inner(c_bar.b, c.b);
  };
  check_generators("x", x, x_bar, loss);
  check_generators("y", y, y_bar, loss);
}

}  // namespace

TEMPLATE_TEST_CASE("products against dense ones", "", float, double, std::complex<float>,
                   std::complex<double>) {
  for (const index_t n : {0, 1, 2, 3, 5, 13}) check_kinds<TestType>(n, {2, 1}, {1, 3}, 1, 1);
  check_kinds<TestType>(7, {0, 2}, {3, 0}, 1, 1);
  check_kinds<TestType>(7, {2, 0}, {0, 1}, 1, 1);
  check_kinds<TestType>(7, {0, 0}, {2, 1}, 1, 1);
  check_kinds<TestType>(3, {5, 4}, {4, 5}, 1, 1);
  check_kinds<TestType>(5, {2, 1}, {1, 2}, 3, 3);
  check_kinds<TestType>(5, {2, 1}, {1, 2}, 3, 1);
  check_kinds<TestType>(5, {2, 1}, {1, 2}, 1, 3);
  check_kinds<TestType>(5, {2, 1}, {1, 2}, 0, 1);
}

TEMPLATE_TEST_CASE("cotangents of factors against central differences", "", double,
                   std::complex<double>) {
  const auto kinds = [](index_t n, Order rx, Order ry, index_t bx, index_t by) {
    check_vjp<TestType, transition::Scalar>(n, rx, ry, bx, by);
    check_vjp<TestType, transition::Diagonal>(n, rx, ry, bx, by);
    check_vjp<TestType, transition::Dense>(n, rx, ry, bx, by);
  };
  for (const index_t n : {0, 1, 2, 3, 5}) kinds(n, {2, 1}, {1, 3}, 1, 1);
  kinds(9, {1, 2}, {2, 1}, 1, 1);
  kinds(5, {0, 2}, {2, 0}, 1, 1);
  kinds(5, {2, 0}, {0, 1}, 1, 1);
  kinds(3, {1, 2}, {2, 1}, 2, 2);
  kinds(3, {1, 2}, {2, 1}, 1, 2);
  kinds(3, {1, 2}, {2, 1}, 2, 1);
}

TEST_CASE("a long product, through its action on a vector") {
  const index_t n = 20000;
  const auto x = random_quasiseparable<double, transition::Diagonal>(n, {3, 2}, 1, 3);
  const auto y = random_quasiseparable<double, transition::Diagonal>(n, {2, 4}, 1, 4);
  const auto c = quasiseparable::multiply(exec::cpu{}, x, y);
  const std::vector<double> ones(n, 1.0);
  const auto direct = x * (y * ones), product = c * ones;
  CHECK(distance(direct, product) <= 1e-11);
}

TEST_CASE("absent cotangents, and those that do not fit") {
  using K = transition::Diagonal;
  using Cotangent = QuasiseparableCotangent<double, K>;
  const auto x = random_quasiseparable<double, K>(5, {2, 1}, 1, 3);
  const auto y = random_quasiseparable<double, K>(5, {1, 2}, 1, 4);
  const auto c_bar = random_quasiseparable<double, Dense>(5, {3, 3}, 1, 9);
  Quasiseparable<double, K> all(5, {2, 1}), y_all(5, {1, 2}), some(5, {2, 1});
  const auto run = [&](const auto& c, const Cotangent& xb, const Cotangent& yb) {
    quasiseparable::multiply_vjp(exec::cpu{}, x.view(), y.view(), c.view(), xb, yb);
  };
  run(c_bar, Cotangent(all), Cotangent(y_all));
  Cotangent only_a;
  only_a.a = some.a;
  run(c_bar, only_a, {});
  CHECK(same_bits(some.a, all.a));
  CHECK(some.p(0, 2, 0) == 0);
  CHECK_THROWS_AS(run(random_quasiseparable<double, Dense>(5, {3, 2}, 1, 9), only_a, {}),
                  ShapeError);
  CHECK_THROWS_AS(run(random_quasiseparable<double, Dense>(5, {3, 3}, 2, 9), only_a, {}),
                  ShapeError);
  CHECK(message_from<ShapeError>([&] { run(c_bar, Cotangent(y_all), {}); }) ==
        "quasiseparable::multiply_vjp: the cotangent of p has extent 1 in dimension 2, expected 2");
  const auto small = random_quasiseparable<double, K>(4, {1, 1}, 1, 1);
  CHECK(message_from<ShapeError>([&] { quasiseparable::multiply(exec::cpu{}, x, small); }) ==
        "quasiseparable::multiply: X has size 5, Y has size 4");
}
