#include "structmat/quasiseparable/inverse_of_tridiagonal.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_banded.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::quasiseparable;
using Kind = PivotStatus::Kind;

namespace {

template <Scalar T>
struct Tridiagonal {
  Array<T, 2> sub, d, super;
  Tridiagonal(index_t n, index_t batch = 1)
      : sub({batch, std::max<index_t>(n - 1, 0)}), d({batch, n}), super(sub) {}
  T entry(index_t b, index_t i, index_t j) const {
    return i == j ? d(b, i) : i == j + 1 ? sub(b, j) : j == i + 1 ? super(b, i) : T{};
  }
  InverseOfTridiagonal<T> inverse() const { return inverse_of_tridiagonal<T>(sub, d, super); }
};

/// The largest entry of T Z - I, in units of eps (|T| |Z| |T| |Z|)_ij.
template <Scalar T>
double worst_residual(const Tridiagonal<T>& t, const Quasiseparable<T, transition::Scalar>& m) {
  const auto z = m.to_dense();
  const index_t n = m.size();
  double worst = 0;
  for (index_t b = 0; b < m.batch(); ++b) {
    Array<double, 2> condition({n, n});
    const auto row = [&](index_t i, const auto& add) {
      for (index_t k = std::max<index_t>(0, i - 1); k < std::min(n, i + 2); ++k) add(k);
    };
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        row(i, [&](index_t k) {
          condition(i, j) += double(std::abs(t.entry(b, i, k))) * double(std::abs(z(b, k, j)));
        });
      }
    }
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        std::complex<double> sum(i == j ? -1 : 0);
        row(i, [&](index_t k) {
          sum += std::complex<double>(t.entry(b, i, k)) * std::complex<double>(z(b, k, j));
        });
        double bound = 0;
        for (index_t k = 0; k < n; ++k) bound += condition(i, k) * condition(k, j);
        const double error = std::abs(sum) / std::max(bound, 1e-300);
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
      }
    }
  }
  return worst / double(epsilon<T>);
}

}  // namespace

TEMPLATE_TEST_CASE("the inverse of random tridiagonal matrices", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 3, 7, 40}) {
    for (int trial = 0; trial < 10; ++trial) {
      Tridiagonal<T> t(n, 2);
      for (auto* part : {&t.sub, &t.d, &t.super}) random.fill(*part);
      const auto result = t.inverse();
      REQUIRE(result.status.ok());
      CHECK(result.matrix.order() == Order{1, 1});
      CHECK(worst_residual(t, result.matrix) <= 8 * double(n + 1));
    }
  }
}

TEST_CASE("known inverse: tridiag(-1, 2, -1)") {
  Tridiagonal<double> t(4);
  for (double& x : t.d) x = 2;
  for (auto* off : {&t.sub, &t.super}) {
    for (double& x : *off) x = -1;
  }
  for (const auto& result : {t.inverse(), inverse_of_positive_tridiagonal<double>(t.d, t.sub)}) {
    REQUIRE(result.status.ok());
    for (index_t i = 0; i < 4; ++i) {
      for (index_t j = 0; j < 4; ++j) {
        const double expected = double((std::min(i, j) + 1) * (4 - std::max(i, j))) / 5;
        CHECK(result.matrix.entry(i, j) == Approx(expected).epsilon(1e-15));
      }
    }
  }
}

TEST_CASE("minors that vanish, and reducible matrices") {
  Random random(2);
  for (const index_t n : {2, 4, 8, 30}) {
    // Diagonal 0: every odd leading and trailing minor is 0.
    Tridiagonal<double> hollow(n);
    random.fill(hollow.sub);
    random.fill(hollow.super);
    const auto result = hollow.inverse();
    REQUIRE(result.status.ok());
    CHECK(worst_residual(hollow, result.matrix) <= 8 * double(n));

    // Off-diagonal entries that are 0, alone and in pairs.
    Tridiagonal<double> reducible(n);
    for (auto* part : {&reducible.sub, &reducible.d, &reducible.super}) random.fill(*part);
    for (index_t i = 0; i + 1 < n; i += 3) reducible.sub(0, i) = 0;
    for (index_t i = 0; i + 1 < n; i += 4) reducible.super(0, i) = 0;
    const auto other = reducible.inverse();
    REQUIRE(other.status.ok());
    CHECK(worst_residual(reducible, other.matrix) <= 8 * double(n));
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        // A path from i to j that crosses a 0 contributes nothing.
        bool cut = false;
        for (index_t k = j; k < i; ++k) cut |= reducible.sub(0, k) == 0;
        for (index_t k = i; k < j; ++k) cut |= reducible.super(0, k) == 0;
        if (cut) CHECK(other.matrix.entry(i, j) == 0);
      }
    }
  }
}

TEST_CASE("singular matrices and data that are not finite are reported, with a place") {
  Tridiagonal<double> t(3);
  CHECK(t.inverse().status == PivotStatus{Kind::zero, 0, 1, 0});
  CHECK(t.inverse().matrix.size() == 0);
  for (double& x : t.d) x = 1;
  t.sub(0, 1) = t.super(0, 1) = 1;  // rows 1 and 2 are equal
  CHECK(t.inverse().status.kind == Kind::zero);
  CHECK(inverse_of_positive_tridiagonal<double>(t.d, t.sub).status ==
        PivotStatus{Kind::not_positive, 0, 2, 0});
  t.super(0, 1) = NAN;
  CHECK(t.inverse().status.kind == Kind::not_finite);
  CHECK(t.inverse().status.index == 1);

  Array<double, 2> d({2, 3}), sub({1, 2});
  for (double& x : d) x = 1;
  d(1, 0) = -2;
  CHECK(inverse_of_positive_tridiagonal<double>(d, sub).status ==
        PivotStatus{Kind::not_positive, 1, 0, -2});
  d(1, 0) = NAN;
  CHECK(inverse_of_positive_tridiagonal<double>(d, sub).status.kind == Kind::not_finite);
  CHECK_THROWS_AS(inverse_of_tridiagonal<double>(sub, d, d), ShapeError);
}

TEMPLATE_TEST_CASE("the positive definite case is Hermitian to the last bit", "", float,
                   std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {0, 1, 2, 3, 25}) {
    Tridiagonal<T> t(n, 3);
    random.fill(t.sub);
    for (T& x : t.d) x = T(2.5);
    for (index_t b = 0; b < 3; ++b) {
      for (index_t i = 0; i + 1 < n; ++i) t.super(b, i) = conjugate(t.sub(b, i));
    }
    const auto result = inverse_of_positive_tridiagonal<T>(t.d, t.sub);
    REQUIRE(result.status.ok());
    CHECK(worst_residual(t, result.matrix) <= 8 * double(n + 1));
    const auto& m = result.matrix;
    index_t differing = 0;
    for (index_t i = 0; i < m.p.size(); ++i) {
      differing += m.h.data()[i] != conjugate(m.p.data()[i]);
      differing += m.g.data()[i] != conjugate(m.q.data()[i]);
      differing += m.b.data()[i] != conjugate(m.a.data()[i]);
      differing += std::imag(m.d.data()[i]) != 0;
    }
    CHECK(differing == 0);
  }
}

TEST_CASE("long matrices neither over- nor underflow, of any scale") {
  const index_t n = 100000;
  for (const double scale : {1.0, 1e-200, 1e200}) {
    Tridiagonal<double> t(n);
    Random random(4);
    for (auto* part : {&t.sub, &t.super}) random.fill(*part, scale);
    for (index_t i = 0; i < n; ++i) t.d(0, i) = (2.5 + random.real()) * scale;  // minors grow
    t.sub(0, 500) = 0;
    const auto result = t.inverse();
    REQUIRE(result.status.ok());
    auto x = random.array<double, 1>({n});
    for (double& v : x) v *= scale;
    const auto y = result.matrix * x;
    const auto back = from_tridiagonal<double>(t.sub, t.d, t.super) * y;
    double worst = 0;
    for (index_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(back(i) - x(i)) / scale);
    CHECK(worst <= 1e-12);
  }
  // AR(1): the inverse of its precision has entries rho^|i - j| / (1 - rho^2).
  Array<double, 2> d({1, n}), sub({1, n - 1});
  const double rho = std::exp(-1);
  for (double& x : d) x = 1 + rho * rho;
  d(0, 0) = d(0, n - 1) = 1;
  for (double& x : sub) x = -rho;
  const auto covariance = inverse_of_positive_tridiagonal<double>(d, sub);
  REQUIRE(covariance.status.ok());
  for (const index_t i : {0, 1, 777, 50000, 99999}) {
    for (const index_t lag : {0, 1, 5, 30}) {
      if (i < lag) continue;
      const double expected = std::pow(rho, double(lag)) / (1 - rho * rho);
      CHECK(covariance.matrix.entry(i, i - lag) == Approx(expected).epsilon(1e-13));
      CHECK(covariance.matrix.entry(i - lag, i) == Approx(expected).epsilon(1e-13));
    }
  }
}
