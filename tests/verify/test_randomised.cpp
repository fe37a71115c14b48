#include "structmat/verify/randomised.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/any_operator.hpp"
#include "structmat/dense/dense.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"

#include "verify/gaussian.hpp"

using namespace structmat;
using namespace structmat::test;
using verify::Verdict;

namespace {

template <class T>
Array<T, 2> dense_of(const Array<T, 3>& batch) {
  return to_array(batch.view().select(0, 0));
}

template <class T>
Array<T, 2> random_matrix(index_t n, Order r, unsigned seed) {
  return dense_of(random_quasiseparable<T, transition::Diagonal>(n, r, 1, seed).to_dense());
}

/// So many that also float leaves room between rounding and the weakest singular value here.
constexpr index_t probes = 40;
constexpr double pi = 3.141592653589793;

/// A matrix of lower order 2 whose middle block has in addition the singular value `size`.
Array<double, 2> planted(index_t n, double size) {
  Array<double, 2> m({n, n});
  const index_t half = n / 2;
  for (index_t i = half; i < n; ++i) {
    for (index_t j = 0; j < half; ++j) {
      const double root = std::sqrt(2.0 / double(n));
      const auto wave = [&](double f, index_t at) {
        return std::sqrt(2.0) * root * std::cos(f * pi * (double(at) + 0.5) / double(half));
      };
      m(i, j) = wave(1, i - half) * wave(1, j) + 0.1 * wave(2, i - half) * wave(2, j) +
                size * wave(3, i - half) * wave(3, j);
    }
  }
  return m;
}

bool same(const verify::RandomisedReport& a, const verify::RandomisedReport& b) {
  const bool worst = a.worst.has_value() == b.worst.has_value() &&
                     (!a.worst || (a.worst->k == b.worst->k && a.worst->part == b.worst->part &&
                                   a.worst->compressed == b.worst->compressed &&
                                   a.worst->lower_bound == b.worst->lower_bound));
  return worst && a.verdict == b.verdict && a.detectable == b.detectable && a.drift == b.drift &&
         a.tolerance == b.tolerance && a.frobenius_norm == b.frobenius_norm;
}

}  // namespace

TEMPLATE_TEST_CASE("matrices of the order hold, of a larger one do not", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {20, 67, 300, 530}) {
    for (const Order r : {Order{0, 0}, Order{1, 2}, Order{4, 0}, Order{3, 3}}) {
      INFO("n " << n << ", orders " << r.lower << ", " << r.upper);
      const Array<T, 2> m = random_matrix<T>(n, r, unsigned(n));
      const auto report = verify::randomised(m, {.order = r, .oversampling = probes});
      CHECK(report.verdict == Verdict::holds);
      CHECK(report.detectable <= report.tolerance);
      CHECK(report.failure_probability == 1e-9);
      REQUIRE(report.worst);
      CHECK(verify::randomised(m, {.order = {r.lower + 2, r.upper + 1}, .oversampling = probes})
                .verdict == Verdict::holds);

      for (const bool lower : {true, false}) {
        Order less = r;
        index_t& part = lower ? less.lower : less.upper;
        if (part == 0) continue;
        --part;
        const auto violated = verify::randomised(m, {.order = less, .oversampling = probes});
        CHECK(violated.verdict == Verdict::violated);
        REQUIRE(violated.worst);
        CHECK(violated.worst->part == (lower ? verify::Part::lower : verify::Part::upper));

        // Anybody can check the bound: it lies below the singular value of the block, and near it.
        const index_t k = violated.worst->k;
        const auto block =
            lower ? m.view().slice(0, k, n).slice(1, 0, k) : m.view().slice(0, 0, k).slice(1, k, n);
        Array<real_t<T>, 1> values({std::min(k, n - k)});
        dense::singular_values<T>(block, values);
        const double sigma = double(values(part)) / violated.frobenius_norm;
        CHECK(violated.worst->lower_bound <= sigma * (1 + 100 * double(epsilon<T>)));
        CHECK(violated.worst->lower_bound >= sigma / 4 - 2 * double(n) * double(epsilon<T>));
        CHECK(violated.worst->lower_bound > violated.tolerance);
        CHECK(violated.detectable > violated.tolerance);
      }
    }
  }
}

/// scale * M_k by its definition; of the upper part, that of A^H.
template <class T>
Array<T, 2> compression_by_definition(const Array<T, 2>& a, const Array<T, 2>& g1,
                                      const Array<T, 2>& g2, index_t k, bool lower,
                                      real_t<T> scale) {
  const index_t n = a.extent(0), s = g1.extent(1);
  Array<T, 2> half({n, s}), m({s, s});
  for (index_t i = k; i < n; ++i) {
    for (index_t j = 0; j < k; ++j) {
      const T v = (lower ? a(i, j) : conjugate(a(j, i))) * scale;
      for (index_t l = 0; l < s; ++l) half(i, l) += v * g1(j, l);
    }
  }
  dense::gemm<T>(Op::adjoint, Op::none, T{1}, g2, half, T{0}, m);
  return m;
}

TEMPLATE_TEST_CASE("the recurrence gives the compressions of the definition", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const index_t n = 203, r = 3, s = r + 1 + 5;
  const Array<T, 2> m = random_matrix<T>(n, {r, r}, 11);
  const auto scale = real_t<T>(1 / dense::frobenius_norm<T>(m.view()));
  std::mt19937_64 engine(4);
  const Array<T, 2> g1 = verify::gaussian<T>(n, s, engine), g2 = verify::gaussian<T>(n, s, engine);
  const double error = 4 * double(s) * double(epsilon<T>);  // also added to `compressed`
  for (const bool lower : {true, false}) {
    // Order 0 in one part: the largest ||M_k||_F of all k, found by a tolerance that lets all pass.
    double largest = 0;
    for (index_t k = 1; k < n; ++k) {
      const auto mk =
          compression_by_definition<T>(m, to_array(g1.view().slice(1, 0, 6)),
                                       to_array(g2.view().slice(1, 0, 6)), k, lower, scale);
      largest = std::max(largest, dense::frobenius_norm<T>(mk.view()));
    }
    const Order zero = lower ? Order{0, r} : Order{r, 0};
    auto report =
        verify::randomised(m, {.order = zero, .tolerance = 1e9, .oversampling = 5, .seed = 4});
    CHECK(report.verdict == Verdict::holds);
    REQUIRE(report.worst);
    CHECK(report.worst->part == (lower ? verify::Part::lower : verify::Part::upper));
    CHECK(std::abs(report.worst->compressed - largest) <= 4 * error);

    // Order r - 1: the singular value number r of the block that is named.
    const Order less = lower ? Order{r - 1, r} : Order{r, r - 1};
    report = verify::randomised(m, {.order = less, .oversampling = 5, .seed = 4});
    REQUIRE(report.worst);
    const auto mk = compression_by_definition<T>(m, to_array(g1.view().slice(1, 0, s - 1)),
                                                 to_array(g2.view().slice(1, 0, s - 1)),
                                                 report.worst->k, lower, scale);
    Array<real_t<T>, 1> values({s - 1});
    dense::singular_values<T>(mk, values);
    if (report.verdict == Verdict::violated) {
      CHECK(std::abs(report.worst->compressed - double(values(r - 1))) <= 4 * error);
    }
  }
}

TEST_CASE("the bound of the least singular value holds and is not loose") {
  // m = 1 and square matrices have known distributions; between them, by experiment.
  CHECK(verify::least_singular_value<double>(1, 2, 1e-4) == Approx(std::sqrt(2e-4)).epsilon(1e-10));
  CHECK(verify::least_singular_value<std::complex<double>>(5, 5, 1e-4) ==
        Approx(std::sqrt(1e-4 / 5)).epsilon(1e-10));
  std::mt19937_64 engine(1);
  const auto share = [&]<class T>(index_t m, index_t s, double probability, const T&) {
    const double epsilon_m = verify::least_singular_value<T>(m, s, probability);
    index_t below = 0;
    constexpr index_t trials = 2000;
    for (index_t i = 0; i < trials; ++i) {
      Array<double, 1> values({m});
      dense::singular_values<T>(verify::gaussian<T>(m, s, engine), values);
      below += values(m - 1) <= epsilon_m;
    }
    return double(below) / double(trials);
  };
  for (const double probability : {0.02, 0.1}) {
    for (const auto& [m, s] : {std::pair<index_t, index_t>{1, 4}, {3, 5}, {4, 10}}) {
      INFO("probability " << probability << ", " << m << " x " << s);
      const double three_sigma = 3 * std::sqrt(probability / 2000);
      CHECK(share(m, s, probability, 0.0) <= probability + three_sigma);
      CHECK(share(m, s, probability, std::complex<double>{}) <= probability + three_sigma);
      CHECK(share(m, s, probability, 0.0) > probability / 20);
    }
  }
}

TEST_CASE("every position of an excess is seen") {
  // Order (1, 0) and one more entry: the blocks that contain it have rank 2.
  const index_t n = 150;
  for (const index_t row : {2, 3, 70, 127, 128, 129, 148, 149}) {
    for (const index_t column : {index_t{0}, row / 2, row - 2}) {
      Array<double, 2> m({n, n});
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = 0; j < i; ++j) m(i, j) = 1 + 0.01 * double(i);
      }
      CHECK(verify::randomised(m, {.order = {1, 0}}).verdict == Verdict::holds);
      m(row, column) += 1;
      const auto report = verify::randomised(m, {.order = {1, 0}});
      INFO("row " << row << ", column " << column);
      // In a block of one row or one column the entry changes no rank.
      CHECK((report.verdict == Verdict::violated) == (verify::quasiseparable(m).order.lower > 1));
      if (report.verdict == Verdict::violated) {
        CHECK(report.worst->k <= row);
        CHECK(report.worst->k > column);
      }
    }
  }
}

TEST_CASE("a planted singular value above or below the tolerance") {
  const index_t n = 400;
  const double tolerance = 1e-6;
  const auto verdict = [&](double size) {
    return verify::randomised(planted(n, size), {.order = {2, 0}, .tolerance = tolerance});
  };
  CHECK(verdict(0).verdict == Verdict::holds);
  CHECK(verdict(1e-12).verdict == Verdict::holds);
  CHECK(verdict(3e-6).verdict == Verdict::violated);
  CHECK(verdict(1e-3).verdict == Verdict::violated);
  // Between what is detected for certain and the tolerance there is no answer, and no wrong one.
  const auto between = verdict(5e-7);
  CHECK(between.verdict == Verdict::undecided);
  REQUIRE(between.worst);
  CHECK(between.worst->lower_bound <= tolerance);
  CHECK(between.detectable > tolerance);
  // More probes narrow the gap.
  const auto sharper = verify::randomised(
      planted(n, 2e-8), {.order = {2, 0}, .tolerance = tolerance, .oversampling = 40});
  CHECK(sharper.verdict == Verdict::holds);
  CHECK(sharper.detectable < tolerance);
  // What would have been seen with that probability was there to be seen.
  for (const double size : {1e-9, 1e-8, 1e-7, 1e-6, 1e-5}) {
    const auto report = verdict(size);
    const double norm = report.frobenius_norm;
    CHECK(report.detectable * norm >= size * (1 - 1e-12));
  }
}

TEST_CASE("the sizes at which nothing can exceed an order") {
  for (const index_t n : {0, 1, 2, 3, 5}) {
    Random random(unsigned(n) + 1);
    const auto m = random.array<double, 2>({n, n});
    for (const Order r : {Order{n / 2, n / 2}, Order{n, n}, Order{n + 100, 0}}) {
      const auto report = verify::randomised(m, {.order = {r.lower, std::max(r.upper, n / 2)}});
      INFO("n " << n << ", order " << r.lower);
      CHECK(report.verdict == Verdict::holds);
      CHECK(report.failure_probability == 0);
      CHECK(report.detectable == 0);
      CHECK_FALSE(report.worst);
    }
    if (n < 2) continue;
    const auto report = verify::randomised(m, {.order = {0, n}});
    CHECK(report.verdict == Verdict::violated);
    CHECK(report.worst->part == verify::Part::lower);
    CHECK(verify::randomised(Array<double, 2>({n, n}), {}).verdict == Verdict::holds);
  }
}

TEST_CASE("any strides") {
  const index_t n = 300;
  const auto m = random_matrix<std::complex<double>>(n, {3, 2}, 5);
  using T = std::complex<double>;
  Array<T, 2> store({2 * n, 3 * n});
  const View<T, 2> spaced(store.data(), {n, n}, {2 * 3 * n, 3});
  copy(m.view(), spaced);
  Array<T, 2> turned({n, n});
  copy(m.view().transposed(), turned.view());
  const View<const T, 2> column_major = View<const T, 2>(turned.view()).transposed();
  const View<const T, 2> reversed = View<const T, 2>(spaced).reversed(0).reversed(1);
  for (const auto& [view, order] :
       {std::pair{View<const T, 2>(spaced), Order{3, 2}}, std::pair{column_major, Order{3, 2}},
        std::pair{reversed, Order{2, 3}}}) {
    CHECK(verify::randomised(view, {.order = order}).verdict == Verdict::holds);
    const auto lower = verify::randomised(view, {.order = {order.lower - 1, order.upper}});
    CHECK(lower.verdict == Verdict::violated);
    CHECK(lower.worst->part == verify::Part::lower);
    const auto upper = verify::randomised(view, {.order = {order.lower, order.upper - 1}});
    CHECK(upper.verdict == Verdict::violated);
    CHECK(upper.worst->part == verify::Part::upper);
  }
}

TEMPLATE_TEST_CASE("operators: the sum of both orders", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const index_t n : {30, 301}) {
    const auto q = random_quasiseparable<T, transition::Diagonal>(n, {2, 1}, 1, unsigned(n));
    const auto holds = verify::randomised(q, {.order = {2, 1}, .oversampling = probes});
    CHECK(holds.claim == verify::OrderClaim::sum);
    CHECK(holds.verdict == Verdict::holds);
    CHECK(holds.drift < double(n + 10 * holds.probes) * double(epsilon<T>));
    // Only the sum counts, and the norm is an estimate of the norm.
    CHECK(verify::randomised(q, {.order = {0, 3}, .oversampling = probes}).verdict ==
          Verdict::holds);
    const double norm = dense::frobenius_norm<T>(dense_of(q.to_dense()).view());
    CHECK(std::abs(holds.frobenius_norm - norm) < 0.8 * norm);
    const auto violated = verify::randomised(q, {.order = {1, 1}, .oversampling = probes});
    CHECK(violated.verdict == Verdict::violated);
    REQUIRE(violated.worst);
    CHECK_FALSE(violated.worst->part);
    CHECK(violated.worst->lower_bound > violated.tolerance);

    const auto s = random_semiseparable<T, transition::Diagonal>(n, 3, 1, unsigned(n));
    CHECK(verify::randomised(s, {.order = {3, 0}, .oversampling = probes}).verdict ==
          Verdict::holds);
    CHECK(verify::randomised(s, {.order = {2, 0}, .oversampling = probes}).verdict ==
          Verdict::violated);

    // Orders add under + and in products.
    const AnyOperator<T> a = q, b = s;
    CHECK(verify::randomised(a + b, {.order = {5, 1}, .oversampling = probes}).verdict ==
          Verdict::holds);
    // In float the weakest of six singular values is lost in rounding: no verdict then.
    const auto less = verify::randomised(a + b, {.order = {4, 1}, .oversampling = probes});
    CHECK(less.verdict != Verdict::holds);
    CHECK((sizeof(real_t<T>) == 4 || less.verdict == Verdict::violated));
    CHECK(verify::randomised(a * b, {.order = {5, 1}, .oversampling = probes}).verdict ==
          Verdict::holds);
    CHECK(verify::randomised(transposed(a), {.order = {1, 2}, .oversampling = probes}).verdict ==
          Verdict::holds);
  }
}

TEST_CASE("a diagonal operator has order 0, the lower bound of a violation is the block's") {
  const index_t n = 100;
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) m(i, i) = 1 + double(i);
  CHECK(verify::randomised(Dense<double>(m), {}).verdict == Verdict::holds);
  m(60, 20) = 3;
  m(20, 60) = 2;
  CHECK(verify::randomised(Dense<double>(m), {.order = {1, 1}}).verdict == Verdict::holds);
  const auto report = verify::randomised(Dense<double>(m), {.order = {1, 0}});
  CHECK(report.verdict == Verdict::violated);
  CHECK(report.worst->k > 20);
  CHECK(report.worst->k <= 60);
  // The second singular value of the commutator is 2, that of the upper block.
  CHECK(report.worst->lower_bound * report.frobenius_norm == Approx(2).epsilon(1e-10));
}

TEST_CASE("rounding that accumulates leaves the question open, not answered") {
  // A huge diagonal cancels only up to its rounding, which the drift shows.
  const index_t n = 500;
  auto m = random_matrix<float>(n, {1, 0}, 3);
  for (index_t i = 0; i < n; ++i) m(i, i) = 1e4F * (i % 2 == 0 ? 1.0F : -0.7F);
  const auto report = verify::randomised(Dense<float>(m), {.order = {1, 0}, .tolerance = 1e-7});
  CHECK(report.verdict == Verdict::undecided);
  CHECK(report.drift > 0);
}

TEST_CASE("the report depends on the seed and not on threads") {
  const index_t n = 1100;
  const auto m = random_matrix<double>(n, {3, 2}, 7);
  for (const Order r : {Order{3, 2}, Order{2, 2}}) {
    const auto once = verify::randomised(m, {.order = r, .exec = {1}});
    CHECK(same(once, verify::randomised(m, {.order = r, .exec = {2}})));
    CHECK(same(once, verify::randomised(m, {.order = r, .exec = {5}})));
    CHECK_FALSE(same(once, verify::randomised(m, {.order = r, .seed = 2})));
  }
}

TEST_CASE("progress of the randomised check rises to 1") {
  double last = 0;
  bool rising = true;
  verify::RandomisedOptions options{.order = {2, 2}};
  options.progress = [&](double done) {
    rising = rising && done >= last;
    last = done;
  };
  verify::randomised(random_matrix<double>(600, {2, 2}, 1), options);
  CHECK(rising);
  CHECK(last == 1);
}

TEST_CASE("what the randomised check refuses") {
  Array<double, 2> m({5, 5});
  const auto message = [&](const verify::RandomisedOptions& options) {
    return message_from<DomainError>([&] { verify::randomised(m, options); });
  };
  CHECK(message({.order = {0, -1}}) ==
        "verify::randomised: the order asked for is (0, -1), it must not be negative");
  CHECK(message({.oversampling = -2}) ==
        "verify::randomised: the oversampling is -2, it must be at least 0");
  CHECK_THROWS_AS(verify::randomised(m, {.tolerance = NAN}), DomainError);
  CHECK_THROWS_AS(verify::randomised(m, {.failure_probability = 0}), DomainError);
  CHECK_THROWS_AS(verify::randomised(m, {.relative = verify::Relative::block}), Unsupported);
  CHECK(message_from<ShapeError>([] {
          verify::randomised(Array<double, 2>({3, 4}), {});
        }) == "verify::randomised: the matrix is 3 x 4, it must be square");
  CHECK(message_from<ShapeError>([] {
          verify::randomised(Dense<double>(Array<double, 2>({3, 4})), {});
        }) == "verify::randomised: the operator is 3 x 4, it must be square");
  m(4, 0) = NAN;
  CHECK(message({}) == "verify::randomised: entry (4, 0) is nan, only finite input has an answer");
  CHECK_THROWS_AS(verify::randomised(Dense<double>(m), {}), DomainError);
  m(4, 0) = 1e308;
  CHECK_THROWS_AS(verify::randomised(m, {}), DomainError);
  CHECK(verify::randomised(Array<double, 2>({5, 5}), {}).verdict == Verdict::holds);
}
