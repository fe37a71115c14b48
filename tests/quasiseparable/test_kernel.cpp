// Covariance functions against their textbook formulas, and expressions of them as text.
#include "structmat/quasiseparable/kernel.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "support/files.hpp"

using namespace structmat;
using namespace structmat::quasiseparable;
using test::message_of;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Celerite's formulas in long double, with Q = 1/2 as the limit.
double oscillator(double w0, double q, double lag) {
  const long double x = static_cast<long double>(w0) * std::abs(lag), b = 0.5L / q;
  const long double m = b * b - 1, root = std::sqrt(std::abs(m)), decay = std::exp(-b * x);
  if (m == 0) return static_cast<double>(decay * (1 + x));
  if (m < 0)
    return static_cast<double>(decay * (std::cos(root * x) + b / root * std::sin(root * x)));
  const long double slow = std::exp((root - b) * x), fast = std::exp(-(root + b) * x);
  return static_cast<double>((slow + fast) / 2 + b / root * (slow - fast) / 2);
}

double exponentiated_sine(double period, double scale, double lag) {
  const double sine = std::sin(std::numbers::pi * lag / period);
  return std::exp(-2 * sine * sine / (scale * scale));
}

}  // namespace

TEST_CASE("Matern kernels are their formulas") {
  for (const double scale : {0.25, 1.0, 40.0}) {
    for (const double lag : {0.0, 1e-9, 0.3, 1.0, 17.0}) {
      const long double r = static_cast<long double>(lag) / scale;
      const auto close = [&](const Kernel& k, long double exact, long double s) {
        const double got = evaluate(k, lag), e = static_cast<double>(2.5L * exact);
        CHECK(std::abs(got - e) <= 4 * (1 + static_cast<double>(s)) * eps * e);
        CHECK(evaluate(k, -lag) == got);
        CHECK(evaluate(k, 1e300) == 0);
        CHECK(evaluate(k, 0) == 2.5);
      };
      close(Kernel::exponential(scale, 2.5), std::exp(-r), r);
      const long double s3 = r * std::sqrt(3.0L), s5 = r * std::sqrt(5.0L);
      close(Kernel::matern32(scale, 2.5), (1 + s3) * std::exp(-s3), s3);
      close(Kernel::matern52(scale, 2.5), (1 + s5 + 5 * r * r / 3) * std::exp(-s5), s5);
    }
  }
}

TEST_CASE("the oscillator in all regimes of damping") {
  for (const double w0 : {0.1, 3.0}) {
    for (const double q : {1e-6, 0.1, 0.49, 0.4999999, 0.5, 0.5000001, 0.51, 2.0, 300.0}) {
      for (const double lag : {0.0, 1e-7, 0.4, 5.0, 60.0}) {
        INFO("w0 " << w0 << " Q " << q << " lag " << lag);
        const double x = w0 * lag;
        CHECK(std::abs(evaluate(Kernel::sho(w0, q, 2), lag) - 2 * oscillator(w0, q, lag)) <=
              16 * (1 + x) * (1 + x) * eps);
      }
    }
  }
  for (const double lag : {0.2, 2.0, 9.0}) {
    const double w0 = 0.7, critical = evaluate(Kernel::sho(w0, 0.5), lag);
    CHECK(critical == Approx((1 + w0 * lag) * std::exp(-w0 * lag)).epsilon(1e-15));
    CHECK(critical == Approx(evaluate(Kernel::matern32(std::sqrt(3.0) / w0), lag)).epsilon(1e-14));
    // Smooth: second differences across Q = 1/2 are of second order.
    const double h = 1e-4;
    const double bend = evaluate(Kernel::sho(w0, 0.5 + h), lag) - 2 * critical +
                        evaluate(Kernel::sho(w0, 0.5 - h), lag);
    CHECK(std::abs(bend) <= 20 * h * h);
  }
  for (const double q : {1e-300, 0.1, 0.5, 10.0}) {
    CHECK(std::isfinite(evaluate(Kernel::sho(1e200, q), 1e200)));
  }
}

TEST_CASE("periodic kernels and what their series leaves out") {
  for (const double scale : {0.3, 1.0, 4.0}) {
    for (const index_t harmonics : {1, 4, 40}) {
      const double left_out = periodic_truncation(scale, harmonics);
      CHECK(left_out >= 0);
      const Kernel k = Kernel::periodic(1.5, scale, 2, harmonics);
      for (const double lag : {0.0, 0.1, 0.75, 1.3, 1500.25}) {
        INFO("scale " << scale << " harmonics " << harmonics << " lag " << lag);
        CHECK(std::abs(evaluate(k, lag) - 2 * exponentiated_sine(1.5, scale, lag)) <=
              2 * left_out + 1e-11);
      }
      CHECK(std::abs(evaluate(k, 0) - 2 * (1 - left_out)) <= 1e-14);
    }
  }
  CHECK(periodic_truncation(0.3, 4) > 0.01);
  // By the power series of I_j(1).
  CHECK(periodic_truncation(1, 8) == Approx(4.272338988409632e-09).epsilon(1e-13));
  CHECK(evaluate(Kernel::cosine(3, 2), 1) == Approx(2 * std::cos(2 * std::numbers::pi / 3)));
  CHECK(evaluate(Kernel::cosine(3, 2), 3e12) == 2);
}

TEST_CASE("sums and products are those of values") {
  const Kernel a = Kernel::matern32(2, 0.5), b = Kernel::sho(3, 10, 0.2), c = Kernel::cosine(1.7);
  const Kernel all = (a + b) * c + a * a;
  CHECK(all.order() == 12);
  for (const double lag : {0.0, 0.4, 3.0}) {
    const double va = evaluate(a, lag), vb = evaluate(b, lag), vc = evaluate(c, lag);
    CHECK(evaluate(all, lag) == Approx((va + vb) * vc + va * va).epsilon(1e-15));
  }
  CHECK(parameters(all) == std::vector<double>{2, 0.5, 3, 10, 0.2, 1.7, 1, 2, 0.5, 2, 0.5});
  CHECK(parameter_names(b * c) == std::vector<std::string>{"sho.w0", "sho.Q", "sho.variance",
                                                           "cosine.period", "cosine.variance"});
  std::vector<double> values = parameters(all);
  for (double& v : values) v *= 1.5;
  CHECK(parameters(with_parameters(all, values)) == values);
  CHECK(to_string(with_parameters(all, parameters(all))) == to_string(all));
  CHECK_THROWS_AS(with_parameters(b, std::vector<double>{1, 2}), ShapeError);
  CHECK_THROWS_AS(with_parameters(a, std::vector<double>{1, -2}), DomainError);
}

TEST_CASE("kernels as text") {
  CHECK(parameters(parse_kernel("matern52:variance=2.5,scale=1e-3")) ==
        std::vector<double>{1e-3, 2.5});
  CHECK(parse_kernel("matern32:scale=1,variance=1").kind() == Kernel::Kind::matern32);
  CHECK(parameters(parse_kernel("exponential")) == std::vector<double>{1, 1});
  CHECK(parse_kernel("matern12:scale=3").kind() == Kernel::Kind::exponential);
  CHECK(parameters(parse_kernel("sho:w0=2")) == std::vector<double>{2, 0.5, 1});
  CHECK(parse_kernel("periodic:harmonics=7").harmonics() == 7);

  const Kernel k = parse_kernel(
      "matern32:scale=2e+1,variance=0.5 + (sho:w0=3,Q=10 + cosine)*exponential:scale=20*periodic");
  CHECK(
      to_string(k) ==
      "matern32:scale=20,variance=0.5 + (sho:w0=3,Q=10,variance=1 + cosine:period=1,variance=1) * "
      "exponential:scale=20,variance=1 * periodic:period=1,scale=1,variance=1,harmonics=4");
  for (const Kernel& shape :
       {k, Kernel::cosine(1) * (Kernel::cosine(2) * Kernel::cosine(3)),
        Kernel::cosine(1) + (Kernel::cosine(0.1) + Kernel::cosine(3) * Kernel::cosine(4))}) {
    CHECK(to_string(parse_kernel(to_string(shape))) == to_string(shape));
  }

  const auto refused = [](const std::string& text) {
    return message_of<DomainError>([&] { parse_kernel(text); });
  };
  CHECK(refused("rbf:scale=1") ==
        "quasiseparable::parse_kernel: \"rbf:scale=1\": the kernel \"rbf\" is unknown; known are "
        "exponential, matern12, matern32, matern52, sho, cosine, periodic");
  CHECK_THAT(refused(""), Catch::Contains("the kernel \"\" is unknown"));
  CHECK_THAT(refused("matern32 +"), Catch::Contains("the kernel \"\" is unknown"));
  CHECK_THAT(refused("(matern32"), Catch::Contains("not closed"));
  CHECK_THAT(refused("matern32)"), Catch::Contains("\")\" is left over"));
  CHECK_THAT(refused(std::string(1000, '(')), Catch::Contains("nested too deeply"));
  std::string many = "matern32";
  for (int i = 0; i < 1000; ++i) many += "+matern32";
  CHECK_THAT(refused(many), Catch::Contains("more than 1000 terms"));
  CHECK_THAT(refused("matern32:length=1"),
             Catch::Contains("\"length=1\" is unknown") && Catch::Contains("scale=NUMBER"));
  CHECK_THAT(refused("matern32:scale"), Catch::Contains("\"scale\" is unknown"));
  CHECK_THAT(refused("matern32:"), Catch::Contains("\"\" is unknown"));
  CHECK_THAT(refused("matern32:scale=1,"), Catch::Contains("\"\" is unknown"));
  CHECK_THAT(refused("matern32:scale=1,scale=1"), Catch::Contains("given twice"));
  CHECK_THAT(refused("matern32:harmonics=1"), Catch::Contains("is unknown"));
  CHECK_THAT(refused("periodic:harmonics=1.5"), Catch::Contains("must be an integer"));
  CHECK_THAT(refused("periodic:scale=1e-5"), Catch::Contains("at least"));
  for (const char* value : {"", "0", "-1", "nan", "inf", "1x", "1e999"}) {
    CHECK_THAT(refused("matern32:scale=" + std::string(value)),
               Catch::Contains("must be a positive number"));
  }
}

TEST_CASE("terms refuse what they cannot be") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_of<DomainError>([] { Kernel::matern32(0); }) ==
        "quasiseparable::Kernel: the scale of matern32 is 0, it must be positive and finite");
  CHECK_THROWS_AS(Kernel::matern32(1, nan), DomainError);
  CHECK_THROWS_AS(Kernel::sho(1, -1), DomainError);
  CHECK_THROWS_AS(Kernel::periodic(1, 1, 1, 0), DomainError);
  CHECK_THROWS_AS(Kernel::periodic(1, 1e-9), DomainError);
  CHECK_THROWS_AS(evaluate(Kernel::cosine(1), nan), DomainError);
  CHECK_THROWS_AS(periodic_truncation(0, 3), DomainError);
  CHECK_THROWS_AS(periodic_truncation(1, 0), DomainError);
  const Kernel wide = Kernel::periodic(1, 1, 1, 60);
  CHECK((wide + wide).order() == 242);
  CHECK_THROWS_AS(wide * wide, DomainError);  // 14,641
}
