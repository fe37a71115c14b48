#include "structmat/quasiseparable/log_likelihood.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/ldl_vjp.hpp"
#include "support/battery.hpp"
#include "support/gradient.hpp"
#include "support/hermitian.hpp"
#include "support/memory.hpp"

using namespace structmat;
using namespace structmat::test;
using Kind = PivotStatus::Kind;
namespace qs = structmat::quasiseparable;

namespace {

template <class T>
Array<T, 1> row(const Array<T, 2>& y, index_t b) {
  return to_array(y.view().select(0, b));
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE(
    "the log-likelihood is that of the dense matrix, its gradient that of differences", "", (Case),
    ((double, transition::Scalar), (std::complex<double>, transition::Scalar),
     (double, transition::Diagonal), (std::complex<double>, transition::Diagonal),
     (double, transition::Dense), (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  struct Size {
    index_t n, r, batch;
  };
  for (const auto& [n, r, batch] : {Size{0, 1, 1}, Size{1, 2, 1}, Size{2, 1, 2}, Size{5, 0, 1},
                                    Size{6, 3, 1}, Size{131, 8, 2}, Size{70, 11, 1}}) {
    INFO("n " << n << ", r " << r << ", batch " << batch);
    Random random(4);
    auto m = random_hermitian<T, K>(n, r, batch, 8);
    auto y = random.array<T, 2>({batch, n});
    Array<double, 1> value({batch}), again({batch}), value_bar({batch});
    for (index_t b = 0; b < batch; ++b) value_bar(b) = 0.5 + double(b);
    REQUIRE(qs::log_likelihood<T, K>(exec::cpu{}, m.view(), y.view(), value).ok());

    const auto dense = m.to_dense();
    for (index_t b = 0; b < batch; ++b) {
      const DenseLdl oracle(View<const T, 2>(dense.view().select(0, b)));
      double sum = double(n) * std::log(2 * std::numbers::pi);
      std::vector<std::complex<double>> z;
      for (index_t i = 0; i < n; ++i) {
        std::complex<double> zi = y(b, i);
        for (index_t j = 0; j < i; ++j) zi -= oracle.l(i, j) * z[std::size_t(j)];
        z.push_back(zi);
        sum += std::norm(zi) / oracle.d[std::size_t(i)] + std::log(oracle.d[std::size_t(i)]);
      }
      CHECK(std::abs(value(b) + sum / 2) <= 1e-13 * double(n + r) * (1 + std::abs(sum)));
    }

    Quasiseparable<T, K> gradient(n, {r, r}, batch);
    Array<T, 2> y_bar({batch, n});
    REQUIRE(qs::log_likelihood_vjp<T, K>(exec::cpu{}, m.view(), y.view(), again, value_bar.view(),
                                         QuasiseparableCotangent<T, K>(gradient), y_bar)
                .ok());
    CHECK(same_bits(again, value));
    const auto loss = [&] {
      Array<double, 1> moved({batch});
      qs::log_likelihood<T, K>(exec::cpu{}, m.view(), y.view(), moved);
      return inner(value_bar, moved);
    };
    check_slopes<T>("p", m.p, gradient.p, loss);
    check_slopes<T>("q", m.q, gradient.q, loss);
    check_slopes<T>("a", m.a, gradient.a, loss);
    check_slopes<T>("d", m.d, gradient.d, loss, true);
    check_slopes<T>("y", y, y_bar, loss);

    // The gradients of broadcast operands are sums over the batch.
    Quasiseparable<T, K> summed(n, {r, r}, 1);
    Array<T, 2> y_summed({1, n});
    qs::log_likelihood_vjp<T, K>(exec::cpu{}, m.view(), y.view(), again, value_bar.view(),
                                 QuasiseparableCotangent<T, K>(summed), y_summed);
    for (index_t i = 0; i < n; ++i) {
      T q{}, dy{};
      for (index_t b = 0; b < batch; ++b) {
        if (r > 0) q += gradient.q(b, i, 0);
        dy += y_bar(b, i);
      }
      if (r > 0) CHECK(std::abs(summed.q(0, i, 0) - q) <= 1e-14 * (1 + std::abs(q)));
      CHECK(std::abs(y_summed(0, i) - dy) <= 1e-14 * (1 + std::abs(dy)));
    }
  }
}

TEST_CASE("the gradient of the log-determinant is tr(M^{-1} dM)") {
  using T = std::complex<double>;
  using K = transition::Diagonal;
  constexpr index_t n = 9, r = 2;
  auto m = random_hermitian<T, K>(n, r, 1, 6);
  const auto f = qs::factor_ldl(m);
  Array<double, 2> d_bar({1, n});
  qs::log_determinant_vjp(f.view(), 0, 1.0, d_bar.view().select(0, 0));
  Quasiseparable<T, K> gradient(n, {r, r}, 1);
  qs::LdlCotangent<T, K> bar;
  bar.d = d_bar;
  qs::factor_ldl_vjp(exec::cpu{}, m.view(), f.view(), bar, QuasiseparableCotangent<T, K>(gradient));

  Array<T, 2> identity({n, n}), inverse({n, n});
  for (index_t i = 0; i < n; ++i) identity(i, i) = 1;
  qs::solve(exec::cpu{}, f, identity, inverse);
  // dM along a random change of the generators, by differences of the (multilinear) entries.
  Random random(3);
  auto change = random_hermitian<T, K>(n, r, 1, 16);
  const double h = 1e-6;
  const auto moved = [&](double step) {
    auto at = m;
    const auto move = [&](auto& to, const auto& by) {
      for (index_t i = 0; i < to.size(); ++i) to.data()[i] += step * by.data()[i];
    };
    move(at.p, change.p);
    move(at.q, change.q);
    move(at.a, change.a);
    move(at.d, change.d);
    make_hermitian(at);
    return at.to_dense();
  };
  const auto plus = moved(h), minus = moved(-h);
  std::complex<double> trace = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      trace += inverse(i, j) * (plus(0, j, i) - minus(0, j, i)) / (2 * h);
    }
  }
  const double got = inner(gradient.p, change.p) + inner(gradient.q, change.q) +
                     inner(gradient.a, change.a) + inner(gradient.d, change.d);
  CHECK(std::abs(got - trace.real()) <= 1e-8 * (1 + std::abs(got)));
  CHECK(std::abs(trace.imag()) <= 1e-8);
}

TEST_CASE("a matrix that is not positive definite has no likelihood and no gradient") {
  using K = transition::Diagonal;
  auto m = random_hermitian<double, K>(80, 2, 2, 1);
  m.d(1, 70) = -3;
  Random random(1);
  const auto y = random.array<double, 2>({1, 80});
  Array<double, 1> value({2}), value_bar({2});
  value_bar(0) = value_bar(1) = 1;
  Quasiseparable<double, K> gradient(80, {2, 2}, 2);
  const auto run = [&] {
    return qs::log_likelihood_vjp<double, K>(exec::cpu{}, m.view(), y.view(), value,
                                             value_bar.view(),
                                             QuasiseparableCotangent<double, K>(gradient), {});
  };
  PivotStatus status = run();
  CHECK(status.kind == Kind::not_positive);
  CHECK(status.batch == 1);
  CHECK(status.index == 70);
  CHECK(std::isfinite(value(0)));
  CHECK(value(1) == -INFINITY);
  CHECK(gradient.d(0, 3) != 0);
  for (index_t i = 0; i < 80; ++i) CHECK(gradient.d(1, i) == 0);
  m.d(1, 5) = NAN;
  CHECK(run().kind == Kind::not_finite);
  CHECK(std::isnan(value(1)));
  CHECK(
      qs::log_likelihood(random_hermitian<double, K>(80, 2, 1, 1), View<const double, 1>(row(y, 0)))
          .status.ok());
  CHECK(message_from<ShapeError>([&] {
          qs::log_likelihood<double, K>(exec::cpu{}, m.view(), y.view().slice(1, 0, 79), value);
        }) == "quasiseparable::log_likelihood: y has extent 79 in dimension 1, expected 80");
}

TEST_CASE("everything is linear in n: 100000 rows within 1 GB") {
  using K = transition::Diagonal;
  constexpr index_t n = 100000, r = 8;
  const bool measured = restart_peak_memory();
  Random random(2);
  Quasiseparable<double, K> m(n, {r, r});
  for (index_t i = 0; i < n; ++i) {
    // Sums of exponentials at irregular times.
    const double gap = 0.5 + 0.5 * random.real();
    m.d(0, i) = double(r) + 0.1;
    for (index_t l = 0; l < r; ++l) {
      m.p(0, i, l) = m.a(0, i, l) = std::exp(-gap * 0.01 * std::exp2(double(l)));
      m.q(0, i, l) = 1;
    }
  }
  make_hermitian(m);
  const auto y = random.array<double, 2>({1, n});
  const auto f = qs::factor_ldl(m);
  REQUIRE(f.ok());
  Array<double, 2> x({1, n});
  const View<double, 1> solution = x.view().select(0, 0);
  qs::solve(exec::cpu{}, f, y.view().select(0, 0), solution);
  Array<double, 1> product({n});
  apply(exec::cpu{}, m, View<const double, 1>(solution), product);
  // Backward stable: the residual is small beside |M| |x|, |M| <= sum of its first column.
  double norm = m.d(0, 0), size = 0, residual = 0;
  for (index_t l = 0; l < r; ++l) norm += 2 / (0.005 * std::exp2(double(l)));
  for (index_t i = 0; i < n; ++i) {
    size = std::max(size, std::abs(x(0, i)));
    residual = std::max(residual, std::abs(product(i) - y(0, i)));
  }
  CHECK(residual <= 1e3 * epsilon<double> * norm * size);

  Array<double, 1> value({1}), value_bar({1});
  value_bar(0) = 1;
  Quasiseparable<double, K> gradient(n, {r, 0}, 1);
  Array<double, 2> y_bar({1, n});
  qs::log_likelihood_vjp<double, K>(exec::cpu{}, m.view(), y.view(), value, value_bar.view(),
                                    QuasiseparableCotangent<double, K>(gradient), y_bar);
  double worst = 0;
  for (index_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(y_bar(0, i) + x(0, i)));
  CHECK(worst <= 1e-9 * size);

  if (measured && !memory_is_instrumented) CHECK(peak_memory() < 1024);
}
