#include "structmat/quasiseparable/from_toeplitz.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/index_sets.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::quasiseparable;

namespace {

/// The largest |M_ij - expected(i - j)| of the n x n matrix with constant generators m.
template <Scalar T, class K, class Lag>
double worst_entry(const Quasiseparable<T, K>& m, index_t n, const Lag& expected) {
  Array<T, 3> dense({1, n, n});
  to_dense(repeated(m.view(), n), dense.view());
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const double error = std::abs(dense(0, i, j) - expected(i - j));
      worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    }
  }
  return worst;
}

template <Scalar T, class Lag>
Array<T, 1> lags(index_t m, const Lag& lag) {
  Array<T, 1> c({m});
  for (index_t l = 0; l < m; ++l) c(l) = static_cast<T>(lag(double(l + 1)));
  return c;
}

/// Errors of a realisation by its definition, in double.
template <Scalar T>
std::pair<double, double> errors(const Realisation<T>& m, const Array<T, 1>& c) {
  using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
  const index_t r = m.order();
  std::vector<Wide> state(m.b.begin(), m.b.end()), next(r);
  double largest = 0, squares = 0;
  for (const T& lag : c) {
    Wide value{};
    for (index_t i = 0; i < r; ++i) {
      value += Wide(m.c(i)) * state[i];
      next[i] = 0;
      for (index_t j = 0; j < r; ++j) next[i] += Wide(m.a(i, j)) * state[j];
    }
    const double error = std::abs(value - Wide(lag));
    largest = std::max(largest, error);
    squares += error * error;
    std::swap(state, next);
  }
  return {largest, std::sqrt(squares)};
}

/// Exponentials with moduli between 0.5 and 1 whose bases keep a distance.
struct Terms {
  std::vector<std::complex<double>> bases, weights;
  explicit Terms(int count) {
    for (int k = 0; k < count; ++k) {
      bases.push_back(std::polar(0.95 - 0.07 * k, 0.9 * k));
      weights.push_back(std::polar(1.0 + 0.2 * k, 0.3 * k));
    }
  }
  std::complex<double> operator()(double l) const {
    std::complex<double> sum;
    for (std::size_t k = 0; k < bases.size(); ++k) sum += weights[k] * std::pow(bases[k], l);
    return sum;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("sums of exponentials", "", double, std::complex<float>) {
  using T = TestType;
  Random random(1);
  for (const index_t r : {0, 1, 4}) {
    Exponentials<T> lower, upper;
    for (index_t k = 0; k < r; ++k) {
      lower.weights.push_back(random.scalar<T>());
      lower.bases.push_back(random.scalar<T>() * real_t<T>(0.7));
    }
    upper.weights.push_back(random.scalar<T>());
    upper.bases.push_back(random.scalar<T>() * real_t<T>(0.7));
    const T diagonal = random.scalar<T>();
    const auto m = from_exponentials(lower, diagonal, upper);
    CHECK(m.order() == Order{r, 1});
    for (const index_t n : {0, 1, 2, 30}) {
      CHECK(worst_entry(m, n, [&](index_t lag) {
              if (lag == 0) return diagonal;
              T sum{};
              const auto& side = lag > 0 ? lower : upper;
              for (std::size_t k = 0; k < side.bases.size(); ++k) {
                T power{1};
                for (index_t l = 0; l < std::abs(lag); ++l) power *= side.bases[k];
                sum += side.weights[k] * power;
              }
              return sum;
            }) <= 100 * double(epsilon<T>));
    }
  }
  CHECK(message_from<ShapeError>([] {
          from_exponentials<double>({{1, 2}, {1}}, 0, {});
        }) == "quasiseparable::from_exponentials: there are 2 weights and 1 bases");
}

TEMPLATE_TEST_CASE("rational symbols are power series", "", float, std::complex<double>) {
  using T = TestType;
  Random random(2);
  const auto random_vector = [&](index_t size) {
    std::vector<T> v(size);
    for (T& x : v) x = random.scalar<T>() * real_t<T>(0.3);
    return v;
  };
  const index_t n = 20;
  for (const auto& [top, bottom] :
       {std::pair<index_t, index_t>{1, 1}, {0, 2}, {3, 1}, {2, 4}, {4, 4}}) {
    Rational<T> f{random_vector(top), random_vector(bottom)},
        g{random_vector(bottom), random_vector(top + 1)};
    f.denominator[0] = g.denominator[0] = T(2);
    const auto m = from_rational_symbol(f, g);
    CHECK(m.order() == Order{std::max(top, bottom) - (top < bottom ? 1
                                                      : top == 0   ? 0
                                                                   : 1),
                             std::max(bottom, top + 1) - 1});
    // sum_k denominator_k series_{l-k} = numerator_l
    const auto series = [&](const Rational<T>& symbol) {
      std::vector<T> c(n);
      for (index_t l = 0; l < n; ++l) {
        if (l < index_t(symbol.numerator.size())) c[l] = symbol.numerator[l];
        for (index_t k = 1; k <= l && k < index_t(symbol.denominator.size()); ++k) {
          c[l] -= symbol.denominator[k] * c[l - k];
        }
        c[l] /= symbol.denominator[0];
      }
      return c;
    };
    const auto below = series(f), above = series(g);
    CHECK(worst_entry(m, n, [&](index_t lag) {
            return lag > 0 ? below[lag] : lag < 0 ? above[-lag] : below[0] + above[0];
          }) <= 100 * double(epsilon<T>));
  }
  CHECK_THROWS_AS(from_rational_symbol<double>({{1}, {0, 1}}, {}), DomainError);
  CHECK_THROWS_AS(from_rational_symbol<double>({}, {{1}, {}}), DomainError);
}

TEST_CASE("the order of exponential sums is recovered, by the direct and the randomised path") {
  for (int count = 0; count <= 6; ++count) {
    const Terms terms(count);
    for (const index_t direct : {1000, 0}) {
      INFO(count << " terms, direct up to " << direct);
      const auto c = lags<std::complex<double>>(301, terms);
      const auto m = realise<std::complex<double>>(c, {.direct = direct});
      CHECK(m.order() == count);
      CHECK(m.within_tolerance);
      CHECK_FALSE(m.stabilised);
      if (count > 0) CHECK(m.spectral_radius == Approx(0.95).epsilon(1e-10));

      // Real parts: each complex base comes with its conjugate.
      const auto real_lags = lags<double>(300, [&](double l) { return std::real(terms(l)); });
      const auto real = realise<double>(real_lags, {.direct = direct});
      CHECK(real.order() == std::max(0, 2 * count - 1));
      CHECK(real.within_tolerance);
      const auto single = lags<float>(300, [&](double l) { return std::real(terms(l)); });
      const auto coarse = realise<float>(single, {.tolerance = 1e-4, .direct = direct});
      CHECK(coarse.order() <= std::max(0, 2 * count - 1));
      CHECK(coarse.within_tolerance);
    }
  }
}

TEST_CASE("the tolerance is met, and the errors reported are true") {
  const auto power = [](double l) { return 1 / ((1 + l) * (1 + l)); };
  index_t before = 0;
  for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-9}) {
    for (const index_t m : {50, 2000}) {
      const auto c = lags<double>(m, power);
      const auto found = realise<double>(c, {.tolerance = tolerance});
      INFO("m " << m << ", tolerance " << tolerance << ", order " << found.order());
      CHECK(found.within_tolerance);
      CHECK(found.max_lag == 0.25);
      CHECK(found.max_error <= tolerance * found.max_lag);
      const auto [largest, norm] = errors(found, c);
      CHECK(largest == Approx(found.max_error).margin(1e-14));
      CHECK(norm == Approx(found.l2_error).margin(1e-13));
      CHECK(found.order() <= 20);
      if (m == 2000) {
        CHECK(found.order() > before);
        before = found.order();
      }
      CHECK(found.spectral_radius < 1);
    }
  }
}

TEST_CASE("a kernel of 100000 lags becomes a small state") {
  const index_t n = 100001;
  const auto c = lags<double>(n - 1, [](double l) { return 1 / ((1 + l) * (1 + l)); });
  const auto result =
      from_toeplitz<double>(c, 1.0, c.view().slice(0, 0, 1000), {.tolerance = 1e-6});
  CHECK(result.lower.within_tolerance);
  CHECK(result.lower.order() <= 16);
  CHECK(result.upper.within_tolerance);
  CHECK(result.upper.order() <= 12);
  CHECK(result.matrix.order() == Order{result.lower.order(), result.upper.order()});

  const auto m = repeated(result.matrix.view(), n);
  for (const auto& [i, j] : {std::pair<index_t, index_t>{5, 5}, {5, 4}, {2000, 500}, {500, 1400}}) {
    const double lag = double(std::abs(i - j));
    CHECK(std::abs(entry(m, i, j) - 1 / ((1 + lag) * (1 + lag))) <= 2.5e-7);
  }
  // The first column of the product with e_0.
  Array<double, 3> e({1, n, 1}), y({1, n, 1});
  e(0, 0, 0) = 1;
  apply(exec::cpu{}, m, Op::none, View<const double, 3>(e), y.view());
  double worst = 0;
  for (index_t l = 1; l < n; ++l) worst = std::max(worst, std::abs(y(0, l, 0) - c(l - 1)));
  CHECK(worst == Approx(result.lower.max_error).epsilon(1e-3));
}

TEST_CASE("eigenvalues outside of the unit disc are brought back, on request") {
  const auto growing = lags<double>(60, [](double l) { return std::pow(1.05, l); });
  const auto kept = realise<double>(growing, {.stabilise = false});
  CHECK(kept.order() == 1);
  CHECK(kept.within_tolerance);
  CHECK(kept.spectral_radius == Approx(1.05));
  CHECK_FALSE(kept.stabilised);
  const auto bent = realise<double>(growing);
  CHECK(bent.stabilised);
  CHECK(bent.spectral_radius == Approx(1.05));
  CHECK(std::abs(bent.a(0, 0)) <= 1);
  CHECK_FALSE(bent.within_tolerance);
  CHECK(bent.max_error == Approx(errors(bent, growing).first));

  // A modulus just above 1 is divided out without leaving the tolerance.
  const auto nearly =
      lags<double>(60, [](double l) { return std::pow(1 + 1e-9, l) * std::cos(l); });
  const auto scaled = realise<double>(nearly, {.tolerance = 1e-6});
  CHECK(scaled.order() == 2);
  CHECK(scaled.stabilised);
  CHECK(scaled.within_tolerance);
  CHECK(scaled.max_error > 1e-9);

  // Finite support: nilpotent states.
  const auto finite = lags<double>(40, [](double l) { return l <= 3 ? l : 0.0; });
  const auto delay = realise<double>(finite);
  CHECK(delay.order() == 3);
  CHECK(delay.within_tolerance);
  CHECK(delay.spectral_radius < 1e-3);
}

TEST_CASE("few lags, zeros, scales, order limits, strides") {
  for (const index_t m : {0, 1, 2, 3}) {
    CHECK(realise<double>(Array<double, 1>({m})).order() == 0);
    CHECK(realise<double>(Array<double, 1>({m})).within_tolerance);
    const auto c = lags<double>(m, [](double l) { return std::pow(0.5, l); });
    const auto found = realise<double>(c);
    CHECK(found.order() == (m > 0 ? 1 : 0));
    CHECK(found.within_tolerance);
  }
  for (const double scale : {1e-200, 1e200}) {
    const auto found = realise<double>(
        lags<double>(400, [&](double l) { return scale * (std::pow(0.9, l) + std::cos(l)); }));
    CHECK(found.order() == 3);
    CHECK(found.within_tolerance);
    CHECK(found.l2_error > 0);
    CHECK(found.l2_error <= 1e-11 * scale);
  }
  const auto c = lags<double>(500, [](double l) { return 1 / l; });
  const auto limited = realise<double>(c, {.order = 3});
  CHECK(limited.order() == 3);
  CHECK_FALSE(limited.within_tolerance);
  CHECK(errors(limited, c).first == Approx(limited.max_error));
  CHECK(realise<double>(c, {.order = 0}).order() == 0);

  Array<double, 1> spread({1000});
  for (index_t l = 0; l < 500; ++l) spread(2 * (499 - l)) = c(l);
  const View<const double, 1> backwards(spread.data() + 998, {500}, {-2});
  const auto same = realise<double>(backwards, {.tolerance = 1e-6}),
             plain = realise<double>(c, {.tolerance = 1e-6});
  CHECK(same_bits(same.a, plain.a));
}

TEST_CASE("data that make no sense are refused") {
  auto c = lags<double>(10, [](double l) { return l; });
  CHECK_THROWS_AS(realise<double>(c, {.tolerance = -1}), DomainError);
  CHECK_THROWS_AS(realise<double>(c, {.tolerance = NAN}), DomainError);
  CHECK_THROWS_AS(realise<double>(c, {.order = -1}), DomainError);
  c(4) = NAN;
  CHECK(message_from<DomainError>([&] { realise<double>(c); }) ==
        "quasiseparable::realise: lag 5 is not finite");
  const auto m = random_quasiseparable<double, transition::Dense>(2, {1, 1}, 1, 1);
  CHECK_THROWS_AS(repeated(m.view(), 5), ShapeError);
}
