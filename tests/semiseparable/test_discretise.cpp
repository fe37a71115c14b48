// Discretisations against closed forms, against each other and against finer steps.
#include "structmat/semiseparable/discretise.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "structmat/core/error.hpp"
#include "support/files.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::semiseparable;
using test::message_of;

namespace {

constexpr Discretisation all_rules[] = {Discretisation::zero_order_hold, Discretisation::bilinear,
                                        Discretisation::euler, Discretisation::exponential};

template <Scalar T, transition::Uniform K>
StateSpace<T, K> random_model(index_t steps, index_t r, index_t batch, unsigned seed) {
  test::Random random(seed);
  StateSpace<T, K> m(steps, r, batch);
  random.fill(m.a);
  random.fill(m.b);
  random.fill(m.c);
  random.fill(m.d);
  return m;
}

/// The discrete transition and gain of one state.
template <Scalar T>
std::pair<T, T> single(T a, real_t<T> dt, Discretisation rule) {
  StateSpace<T, transition::Scalar> m(1, 1);
  m.a(0, 0) = a;
  m.b(0, 0, 0) = 1;
  const auto d = discretise(m, dt, rule);
  return {d.a(0, 0), d.b(0, 0, 0)};
}

template <Scalar T, transition::Uniform K>
StateSpace<T, transition::Dense> embedded(const StateSpace<T, K>& m) {
  const index_t batch = m.b.extent(0), steps = m.b.extent(1), r = m.order();
  StateSpace<T, transition::Dense> dense(steps, r, batch);
  dense.b = m.b;
  dense.c = m.c;
  dense.d = m.d;
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < steps; ++i) {
      for (index_t l = 0; l < r; ++l) {
        if constexpr (K::rank == 2) dense.a(b, i, l, l) = m.a(b, i);
        if constexpr (K::rank == 3) dense.a(b, i, l, l) = m.a(b, i, l);
      }
    }
  }
  return dense;
}

template <class A>
double largest_difference(const A& x, const A& y) {
  REQUIRE(x.extents() == y.extents());
  double most = 0;
  for (index_t i = 0; i < x.size(); ++i) {
    most = std::max(most, double(std::abs(x.data()[i] - y.data()[i])));
  }
  return most;
}

}  // namespace

TEST_CASE("closed forms of one state") {
  const auto [a, b] = single(-0.7, 0.9, Discretisation::zero_order_hold);
  CHECK(a == Approx(std::exp(-0.63)).epsilon(1e-15));
  CHECK(b == Approx((1 - std::exp(-0.63)) / 0.7).epsilon(1e-15));
  CHECK(b == Approx(0.668).margin(5e-4));
  CHECK(single(-0.7, 0.9, Discretisation::exponential) == std::pair(std::exp(-0.7 * 0.9), 0.9));
  CHECK(single(-0.5, 1.0, Discretisation::euler) == std::pair(0.5, 1.0));
  CHECK(single(-1.0, 1.0, Discretisation::euler) == std::pair(0.0, 1.0));
  CHECK(single(-1.0, 1.0, Discretisation::bilinear).first == Approx(1.0 / 3));
  CHECK(single(-1.0, 1.0, Discretisation::bilinear).second == Approx(2.0 / 3));
  for (const Discretisation rule : all_rules) {
    CHECK(single(0.0, 0.3, rule) == std::pair(1.0, 0.3));
    CHECK(single(-2.0, 0.0, rule) == std::pair(1.0, 0.0));
    CHECK(single(std::complex<double>(0), 0.3, rule).second == 0.3);
  }
}

TEST_CASE("the held integral keeps its digits near zero") {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  for (const std::complex<double> direction :
       {std::complex<double>(-1), {1, 0}, {0, 1}, {-0.6, 0.8}, {1e-8, 1}}) {
    for (double size = 1e-300; size < 2; size *= 1e3) {
      // The power series of (e^z - 1) / z in long double.
      const std::complex<double> z = direction * size;
      const std::complex<long double> wide(z);
      std::complex<long double> sum = 1, term = 1;
      for (int k = 2; k < 40; ++k) sum += term *= wide / static_cast<long double>(k);
      const auto gain = single(z, 1.0, Discretisation::zero_order_hold).second;
      CHECK(std::abs(gain - std::complex<double>(sum)) <= 8 * eps * std::abs(gain));
      if (z.imag() == 0) {
        const double real = single(z.real(), 1.0, Discretisation::zero_order_hold).second;
        CHECK(std::abs(real - static_cast<double>(sum.real())) <= 8 * eps * real);
      }
    }
  }
  // A pure frequency turns by exactly dt: no growth over a million steps.
  const auto turn = single(std::complex<double>(0, 3), 0.1, Discretisation::zero_order_hold).first;
  CHECK(std::abs(std::abs(turn) - 1) <= 2 * eps);
}

TEMPLATE_TEST_CASE("scalar, diagonal and dense models agree", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const Discretisation rule : all_rules) {
    for (const index_t r : {0, 1, 4}) {
      const auto diagonal = random_model<T, transition::Diagonal>(5, r, 2, 3);
      const auto scalar = random_model<T, transition::Scalar>(5, r, 2, 4);
      Array<real_t<T>, 2> dt({1, 5});
      for (index_t i = 0; i < 5; ++i) dt(0, i) = static_cast<real_t<T>>(0.4 * double(i));
      const auto check = [&](const auto& model) {
        const auto expected = embedded(discretise(model, std::as_const(dt).view(), rule));
        const auto got = discretise(embedded(model), std::as_const(dt).view(), rule);
        const double bound = 200 * double(epsilon<T>);
        CHECK(largest_difference(got.a, expected.a) <= bound);
        CHECK(largest_difference(got.b, expected.b) <= bound);
        CHECK(largest_difference(got.c, model.c) == 0);
        CHECK(largest_difference(got.d, model.d) == 0);
      };
      check(diagonal);
      check(scalar);
    }
  }
}

TEST_CASE("dense zero-order hold solves the differential equation") {
  using T = std::complex<double>;
  const index_t r = 4;
  auto m = random_model<T, transition::Dense>(1, r, 1, 8);
  for (index_t i = 0; i < r; ++i) m.a(0, 0, 2, i) = 0;  // singular: no formula with A^-1
  const double dt = 0.7;
  const auto once = discretise(m, dt, Discretisation::zero_order_hold);

  // s' = A s + B from s = 0 by classical Runge-Kutta steps.
  std::vector<T> s(r);
  const auto slope = [&](const std::vector<T>& at) {
    std::vector<T> v(r);
    for (index_t i = 0; i < r; ++i) {
      v[i] = m.b(0, 0, i);
      for (index_t j = 0; j < r; ++j) v[i] += m.a(0, 0, i, j) * at[j];
    }
    return v;
  };
  const int fine = 400;
  const double h = dt / fine;
  const auto moved = [&](const std::vector<T>& by, double step) {
    std::vector<T> v = s;
    for (index_t i = 0; i < r; ++i) v[i] += step * by[i];
    return v;
  };
  for (int step = 0; step < fine; ++step) {
    const auto k1 = slope(s), k2 = slope(moved(k1, h / 2)), k3 = slope(moved(k2, h / 2)),
               k4 = slope(moved(k3, h));
    for (index_t i = 0; i < r; ++i) s[i] += h / 6 * (k1[i] + 2. * k2[i] + 2. * k3[i] + k4[i]);
  }
  for (index_t i = 0; i < r; ++i) CHECK(std::abs(once.b(0, 0, i) - s[i]) <= 1e-11);

  // Two steps are one: A(u + v) = A(v) A(u), B(u + v) = A(v) B(u) + B(v).
  const auto u = discretise(m, 0.3, Discretisation::zero_order_hold);
  const auto v = discretise(m, 0.4, Discretisation::zero_order_hold);
  for (index_t i = 0; i < r; ++i) {
    T b = v.b(0, 0, i);
    for (index_t k = 0; k < r; ++k) b += v.a(0, 0, i, k) * u.b(0, 0, k);
    CHECK(std::abs(b - once.b(0, 0, i)) <= 1e-14);
    for (index_t j = 0; j < r; ++j) {
      T a{};
      for (index_t k = 0; k < r; ++k) a += v.a(0, 0, i, k) * u.a(0, 0, k, j);
      CHECK(std::abs(a - once.a(0, 0, i, j)) <= 1e-14);
    }
  }
}

TEST_CASE("the double integrator is exact, and the size of B plays no part") {
  for (const double size : {1.0, 1e-200, 1e200}) {
    StateSpace<double, transition::Dense> m(1, 2);
    m.a(0, 0, 0, 1) = 1;
    m.b(0, 0, 1) = size;
    const auto d = discretise(m, 3.0, Discretisation::zero_order_hold);
    CHECK(d.a(0, 0, 0, 1) == Approx(3).epsilon(1e-15));
    CHECK(d.b(0, 0, 0) / size == Approx(4.5).epsilon(1e-15));
    CHECK(d.b(0, 0, 1) / size == Approx(3).epsilon(1e-15));
  }
}

TEST_CASE("bilinear and Euler steps from their definition") {
  const index_t r = 3;
  const auto m = random_model<double, transition::Dense>(1, r, 1, 5);
  const double dt = 0.8;
  const auto tustin = discretise(m, dt, Discretisation::bilinear);
  const auto euler = discretise(m, dt, Discretisation::euler);
  for (index_t i = 0; i < r; ++i) {
    double b = 0;
    for (index_t k = 0; k < r; ++k) {
      b += ((i == k) - dt / 2 * m.a(0, 0, i, k)) * tustin.b(0, 0, k);
    }
    CHECK(b == Approx(dt * m.b(0, 0, i)).epsilon(1e-13));
    CHECK(euler.b(0, 0, i) == dt * m.b(0, 0, i));
    for (index_t j = 0; j < r; ++j) {
      double a = 0;
      for (index_t k = 0; k < r; ++k) {
        a += ((i == k) - dt / 2 * m.a(0, 0, i, k)) * tustin.a(0, 0, k, j);
      }
      CHECK(a == Approx((i == j) + dt / 2 * m.a(0, 0, i, j)).margin(1e-13));
      CHECK(euler.a(0, 0, i, j) == Approx((i == j) + dt * m.a(0, 0, i, j)).epsilon(1e-15));
    }
  }
}

TEST_CASE("extents 1 are broadcast, others must agree") {
  const auto m = random_model<double, transition::Diagonal>(1, 2, 1, 6);
  Array<double, 2> dt({3, 4});
  for (index_t i = 0; i < 12; ++i) dt.data()[i] = 0.1 * double(i);
  const auto all = discretise(m, std::as_const(dt).view(), Discretisation::bilinear);
  CHECK(all.b.extents() == std::array<index_t, 3>{3, 4, 2});
  const auto one = discretise(m, dt(2, 1), Discretisation::bilinear);
  CHECK(one.b.extents() == std::array<index_t, 3>{1, 1, 2});
  CHECK(all.a(2, 1, 1) == one.a(0, 0, 1));
  CHECK(all.b(2, 1, 0) == one.b(0, 0, 0));
  CHECK(all.c(2, 1, 0) == m.c(0, 0, 0));

  StateSpaceView<double, transition::Diagonal> plain = m.view();
  plain.d = {};
  const auto without = discretise(plain, std::as_const(dt).view(), Discretisation::euler);
  for (const double d : without.d) CHECK(d == 0);
  CHECK(discretise(m, View<const double, 2>(nullptr, {1, 0}), Discretisation::euler).b.empty());
  CHECK(discretise(m, View<const double, 2>(nullptr, {0, 1}), Discretisation::euler).b.empty());

  const auto longer = random_model<double, transition::Diagonal>(3, 2, 1, 6);
  CHECK(message_of<ShapeError>([&] {
          discretise(longer, std::as_const(dt).view(), Discretisation::euler);
        }) == "semiseparable::discretise: a has 3 steps, expected 1 or 4");
  auto broken = longer;
  broken.b = Array<double, 3>({1, 3, 1});
  CHECK_THROWS_AS(discretise(broken, 0.1, Discretisation::euler), ShapeError);
}

TEST_CASE("refusals name the step") {
  const auto m = random_model<double, transition::Diagonal>(1, 2, 1, 6);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, infinity, std::nan("")}) {
    const std::vector<double> dt{0.1, bad};
    CHECK_THAT(
        message_of<DomainError>([&] {
          discretise(m.view(), View<const double, 2>(dt.data(), {1, 2}), Discretisation::euler);
        }),
        Catch::Contains("step 1 of batch entry 0 is"));
  }
  StateSpace<double, transition::Dense> singular(2, 2);
  singular.a(0, 1, 0, 0) = 2;
  CHECK(message_of<DomainError>([&] { discretise(singular, 1.0, Discretisation::bilinear); }) ==
        "semiseparable::discretise: I - dt/2 A is singular in batch entry 0 at step 1");
  CHECK_THROWS_AS(single(2.0, 1.0, Discretisation::bilinear), DomainError);
  singular.a(0, 1, 0, 0) = infinity;
  CHECK_THROWS_AS(discretise(singular, 1.0, Discretisation::zero_order_hold), DomainError);
}
