#include "structmat/quasiseparable/ldl.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/quasiseparable/apply.hpp"
#include "support/battery.hpp"
#include "support/hermitian.hpp"

using namespace structmat;
using namespace structmat::test;
using Kind = PivotStatus::Kind;
namespace qs = structmat::quasiseparable;

namespace {

/// Dense L of a factor.
template <class T, class K>
Array<T, 3> dense_lower(const qs::Ldl<T, K>& f) {
  Quasiseparable<T, K> l(f.size(), {f.order(), 0}, f.batch());
  l.p = f.p;
  l.q = f.w;
  l.a = f.a;
  for (T& v : l.d) v = 1;
  return l.to_dense();
}

template <class T>
double distance(T a, std::complex<double> b) {
  return std::abs(std::complex<double>(a) - b);
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE(
    "the factor is that of the dense matrix", "", (Case),
    ((float, transition::Scalar), (double, transition::Scalar),
     (std::complex<float>, transition::Scalar), (std::complex<double>, transition::Scalar),
     (float, transition::Diagonal), (double, transition::Diagonal),
     (std::complex<float>, transition::Diagonal), (std::complex<double>, transition::Diagonal),
     (float, transition::Dense), (double, transition::Dense),
     (std::complex<float>, transition::Dense), (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 3, 7, 67}) {
    for (const index_t r : {0, 1, 2, 3, 4, 5, 8, 11, 19}) {
      if (n == 67 && r == 19 && K::rank == 2) continue;
      for (const bool definite : {true, false}) {
        const index_t batch = 1 + seed % 2;
        const auto m = random_hermitian<T, K>(n, r, batch, ++seed, definite);
        const auto f = qs::factor_ldl(m, {.definite = definite});
        INFO("n " << n << ", r " << r << ", definite " << definite);
        REQUIRE(f.ok());
        const auto dense = m.to_dense(), lower = dense_lower(f);
        for (index_t b = 0; b < batch; ++b) {
          const DenseLdl oracle(View<const T, 2>(dense.view().select(0, b)));
          // Diagonally dominant: growth is at most 2.
          const double tolerance = 8.0 * double(n + r) * double(epsilon<T>);
          double log_abs = 0, sign = 1;
          for (index_t i = 0; i < n; ++i) {
            const double d = oracle.d[std::size_t(i)];
            log_abs += std::log(std::abs(d));
            sign *= d < 0 ? -1 : 1;
            CHECK(std::abs(f.d(b, i) - d) <= tolerance * std::abs(std::real(m.d(b, i))));
            for (index_t j = 0; j < i; ++j) {
              if (distance(lower(b, i, j), oracle.l(i, j)) > tolerance) {
                CHECK(lower(b, i, j) == T(oracle.l(i, j).real()));
              }
            }
          }
          const auto determinant = qs::log_determinant(f, b);
          CHECK(std::abs(determinant.log_abs - log_abs) <= tolerance * double(n + 1));
          CHECK(determinant.sign == T(real_t<T>(sign)));
        }
      }
    }
  }
}

TEMPLATE_PRODUCT_TEST_CASE("solves and products with the factor", "", (Case),
                           ((float, transition::Scalar), (std::complex<double>, transition::Scalar),
                            (double, transition::Diagonal),
                            (std::complex<float>, transition::Diagonal),
                            (double, transition::Dense),
                            (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(3);
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 7, 131}) {
    for (const index_t r : {0, 1, 3, 8, 11}) {
      for (const index_t k : {1, 2, 3, 5, 8, 19}) {
        if (n != 7 && k != 1 && k != 5) continue;
        const index_t batch = 1 + seed % 2;
        const auto m = random_hermitian<T, K>(n, r, batch, ++seed);
        const auto f = qs::factor_ldl(m);
        REQUIRE(f.ok());
        INFO("n " << n << ", r " << r << ", k " << k << ", batch " << batch);
        const auto x = random.array<T, 3>({batch, n, k});
        const double tolerance = 16.0 * double(n + r) * double(epsilon<T>);
        const exec::cpu e;

        auto y = poisoned<T, 3>({batch, n, k}), z = y;
        qs::solve(e, f, x, y);
        CHECK(difference(m * y, x) <= tolerance);

        // L^{-1} undoes L, L^{-H} undoes L^H; L d L^H is M.
        const auto lower = dense_lower(f);
        qs::solve_lower(e, f, x, y);
        qs::solve_lower_adjoint(e, f, x, z);
        Array<T, 3> lx({batch, n, k}), lhx({batch, n, k}), l_root_x({batch, n, k}),
            root_lhx({batch, n, k});
        for (index_t b = 0; b < batch; ++b) {
          for (index_t i = 0; i < n; ++i) {
            for (index_t j = 0; j <= i; ++j) {
              const real_t<T> root_i = std::sqrt(f.d(b, i)), root_j = std::sqrt(f.d(b, j));
              for (index_t c = 0; c < k; ++c) {
                lx(b, i, c) += lower(b, i, j) * y(b, j, c);
                lhx(b, j, c) += conjugate(lower(b, i, j)) * z(b, i, c);
                l_root_x(b, i, c) += lower(b, i, j) * root_j * x(b, j, c);
                root_lhx(b, j, c) += root_j * conjugate(lower(b, i, j)) * x(b, i, c);
              }
              CHECK(root_i > 0);
            }
          }
        }
        CHECK(difference(lx, x) <= tolerance);
        CHECK(difference(lhx, x) <= tolerance);
        qs::apply_lower(e, f, x, y);
        CHECK(difference(y, l_root_x) <= tolerance);
        qs::apply_lower_adjoint(e, f, x, z);
        CHECK(difference(z, root_lhx) <= tolerance);
        qs::apply_lower(e, f, z, z);  // in place
        CHECK(difference(z, m * x) <= tolerance);
      }
    }
  }
}

TEMPLATE_TEST_CASE("strides, broadcasting and threads change nothing", "",
                   (Case<double, transition::Diagonal>), (Case<double, transition::Scalar>),
                   (Case<std::complex<double>, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  constexpr index_t n = 150, r = 8, batch = 3;
  Random random(7);
  const auto m = random_hermitian<T, K>(n, r, batch, 5);
  const auto f = qs::factor_ldl(m);

  SECTION("generators with gaps and in reverse order of states and batch") {
    Array<T, 3> p_store({batch, n, 2 * r}), q_store({n, batch, r}), w_store({batch, n, 2 * r});
    Array<real_t<T>, 2> d_store({n, batch});
    const View<T, 3> p =
        View<T, 3>(p_store.data(), {batch, n, r}, {n * 2 * r, 2 * r, 2}).reversed(2);
    const View<T, 3> q(q_store.data(), {batch, n, r}, {r, batch * r, 1});
    const View<T, 3> w =
        View<T, 3>(w_store.data(), {batch, n, r}, {n * 2 * r, 2 * r, 2}).reversed(1);
    const View<real_t<T>, 2> d(d_store.data(), {batch, n}, {1, batch});
    copy(m.p.view(), View<T, 3>(p));
    copy(m.q.view(), View<T, 3>(q));
    QuasiseparableView<T, K> v = m.view();
    v.p = p;
    v.q = q;
    v.g = v.h = {};  // never looked at
    v.b = {};
    CHECK(qs::factor_ldl(exec::cpu{2}, v, {}, w, d).ok());
    CHECK(same_bits(to_array(w), f.w));
    CHECK(same_bits(to_array(d), f.d));
  }
  SECTION("one matrix for three right-hand sides of a batch, and one x for three matrices") {
    for (const index_t k : {1, 9}) {
      const auto x = random.array<T, 3>({batch, n, k});
      auto y = poisoned<T, 3>({batch, n, k}), one = poisoned<T, 3>({1, n, k});
      const auto first = qs::factor_ldl(random_hermitian<T, K>(n, r, 1, 9));
      qs::solve(exec::cpu{}, first, x, y);
      for (index_t b = 0; b < batch; ++b) {
        qs::solve(exec::cpu{}, first, x.view().slice(0, b, b + 1), one);
        CHECK(same_bits(one, to_array(y.view().slice(0, b, b + 1))));
      }
      qs::solve(exec::cpu{}, f, x.view().slice(0, 0, 1), y);
      qs::solve(exec::cpu{},
                qs::LdlView<T, K>{f.p.view().slice(0, 2, 3), f.w.view().slice(0, 2, 3),
                                  f.a.view().slice(0, 2, 3), f.d.view().slice(0, 2, 3)},
                x.view().slice(0, 0, 1), one);
      CHECK(same_bits(one, to_array(y.view().slice(0, 2, 3))));
    }
  }
  SECTION("right-hand sides with gaps, any number of threads") {
    for (const index_t k : {1, 2, 21}) {
      const auto x = random.array<T, 3>({batch, n, k});
      auto y = poisoned<T, 3>({batch, n, k});
      qs::solve(exec::cpu{1}, f, x, y);
      Array<T, 3> store({batch, 2 * n, 2 * k});
      const View<T, 3> ys =
          View<T, 3>(store.data(), {batch, n, k}, {4 * n * k, 4 * k, 2}).reversed(1).reversed(2);
      copy(x.view(), ys);
      qs::solve(exec::cpu{7}, f, ys, ys);
      CHECK(same_bits(to_array(ys), y));
    }
  }
}

TEST_CASE("the first bad pivot is reported, the first one included") {
  using M = Quasiseparable<double, transition::Diagonal>;
  const auto status = [](std::vector<double> d, bool definite = true) {
    M m(index_t(d.size()), {1, 1});
    for (index_t i = 0; i < m.size(); ++i) m.d(0, i) = d[std::size_t(i)];
    return qs::factor_ldl(m, {.definite = definite}).status;
  };
  CHECK(status({0}) == PivotStatus{Kind::not_positive, 0, 0, 0});
  CHECK(status({-1}) == PivotStatus{Kind::not_positive, 0, 0, -1});
  CHECK(status({-1, 2}) == PivotStatus{Kind::not_positive, 0, 0, -1});
  CHECK(status({2, -1, 3}) == PivotStatus{Kind::not_positive, 0, 1, -1});
  CHECK(status({-1, 2}, false).ok());
  CHECK(status({1, 0, 2}, false) == PivotStatus{Kind::zero, 0, 1, 0});
  for (const double bad : {double(NAN), double(INFINITY), -double(INFINITY)}) {
    for (const index_t at : {0, 1, 2}) {
      std::vector<double> d{1, 2, 3};
      d[std::size_t(at)] = bad;
      for (const bool definite : {true, false}) {
        const PivotStatus s = status(d, definite);
        CHECK(s.kind == Kind::not_finite);
        CHECK(s.index == at);
      }
    }
  }
}

TEMPLATE_TEST_CASE("numbers that are not finite are reported at their row", "",
                   (Case<double, transition::Diagonal>), (Case<float, transition::Scalar>),
                   (Case<std::complex<double>, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  constexpr index_t n = 100;
  for (const real_t<T> bad : {real_t<T>(NAN), real_t<T>(INFINITY)}) {
    for (const index_t at : {1, 2, 63, 64, 98}) {
      for (const int which : {0, 1, 2, 3}) {
        auto m = random_hermitian<T, K>(n, 3, 2, 11);
        const T value = is_complex_v<T> ? T(1) * bad : T(bad);
        if (which == 0) m.p(1, at, 1) = value;
        if (which == 1) m.q(1, at, 1) = value;
        if (which == 2) m.a.data()[(n + at) * (m.a.size() / (2 * n))] = value;
        if (which == 3) m.d(1, at) = value;
        const PivotStatus s = qs::factor_ldl(m).status;
        INFO("generator " << which << ", row " << at);
        CHECK(s.kind == Kind::not_finite);
        CHECK(s.batch == 1);
        CHECK(s.index == at);
      }
    }
    // These are nowhere in the matrix.
    auto m = random_hermitian<T, K>(n, 3, 1, 11);
    const auto clean = qs::factor_ldl(m);
    m.p(0, 0, 0) = m.q(0, n - 1, 0) = m.a.data()[0] = m.a.data()[m.a.size() - 1] = T(bad);
    const auto f = qs::factor_ldl(m);
    CHECK(f.ok());
    CHECK(same_bits(f.w, clean.w));
    CHECK(same_bits(f.d, clean.d));
    Array<T, 2> x({n, 1}), y({n, 1});
    x(0, 0) = 1;
    qs::solve(exec::cpu{}, f, x, y);
    for (const T& v : y) CHECK(std::isfinite(std::abs(v)));
  }
}

TEST_CASE("rows before a bad pivot hold the leading factor, those behind it are left alone") {
  auto m = random_hermitian<double, transition::Diagonal>(100, 3, 1, 2);
  const auto whole = qs::factor_ldl(m);
  m.d(0, 70) = -1;
  auto w = poisoned<double, 3>({1, 100, 3});
  auto d = poisoned<double, 2>({1, 100});
  const PivotStatus s = qs::factor_ldl(exec::cpu{}, m.view(), {}, w.view(), d.view());
  CHECK(s.kind == Kind::not_positive);
  CHECK(s.index == 70);
  CHECK(s.pivot == d(0, 70));
  for (index_t i = 0; i < 70; ++i) {
    CHECK(d(0, i) == whole.d(0, i));
    for (index_t l = 0; l < 3; ++l) CHECK(w(0, i, l) == whole.w(0, i, l));
  }
  for (index_t i = 71; i < 100; ++i) {
    CHECK(std::isnan(d(0, i)));
    for (index_t l = 0; l < 3; ++l) CHECK(std::isnan(w(0, i, l)));
  }
}

TEST_CASE("what is refused") {
  using C = std::complex<double>;
  auto m = random_hermitian<C, transition::Diagonal>(4, 2, 1, 1);
  const auto f = qs::factor_ldl(m);
  m.d(0, 2) = C(5, 0.5);
  CHECK(message_from<DomainError>([&] { qs::factor_ldl(m); }) ==
        "quasiseparable::factor_ldl: diagonal entry 2 of batch entry 0 has the imaginary part "
        "0.500000, a Hermitian matrix has a real diagonal");
  m.d(0, 2) = 5;
  Array<C, 3> w({1, 4, 2}), x({1, 5, 1}), y({1, 4, 3});
  Array<double, 2> d({1, 3});
  CHECK(message_from<ShapeError>([&] {
          qs::factor_ldl(exec::cpu{}, m.view(), {}, w.view(), d.view());
        }) == "quasiseparable::factor_ldl: the result has extent 3 in dimension 1, expected 4");
  Array<double, 2> pivots({1, 4});
  CHECK(message_from<DomainError>([&] {
          qs::factor_ldl(exec::cpu{}, m.view(), {}, m.q.view(), pivots.view());
        }) == "quasiseparable::factor_ldl: w and q overlap in memory");
  CHECK(message_from<ShapeError>([&] { qs::solve(exec::cpu{}, f, x, y); }) ==
        "quasiseparable::solve: x has 5 rows, the operator has 4 columns");
  const View<C, 3> low = y.view().slice(2, 0, 1), high = y.view().slice(2, 1, 2);
  CHECK(message_from<DomainError>([&] { qs::solve_lower(exec::cpu{}, f, low, high); }) ==
        "quasiseparable::solve_lower: x and y overlap in memory");
  CHECK(message_from<ShapeError>([&] { (void)qs::log_determinant(f, 1); }) ==
        "quasiseparable::log_determinant: batch entry 1, the factor has 1");
}

TEST_CASE("long gaps and long sequences neither over- nor underflow") {
  const auto exponential = [](const std::vector<double>& t) {
    Quasiseparable<double, transition::Scalar> m(index_t(t.size()), {1, 1});
    for (index_t i = 0; i < m.size(); ++i) {
      m.d(0, i) = m.q(0, i, 0) = 1;
      m.p(0, i, 0) = m.a(0, i) =
          i == 0 ? 0 : std::exp(-(t[std::size_t(i)] - t[std::size_t(i - 1)]));
    }
    return m;
  };
  CHECK(qs::log_determinant(qs::factor_ldl(exponential({0, 1, 1000, 1001}))).log_abs ==
        Approx(-0.290826915737718).epsilon(1e-14));
  std::vector<double> t(1000);
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = double(i);
  CHECK(qs::log_determinant(qs::factor_ldl(exponential(t))).log_abs ==
        Approx(-145.268044410990).epsilon(1e-14));
  t[500] = 499 + 1e6;
  for (std::size_t i = 501; i < t.size(); ++i) t[i] = t[i - 1] + 1;
  CHECK(qs::factor_ldl(exponential(t)).ok());

  // An autoregression of order 1, K_ij = a^|i-j|: det = (1 - a^2)^(n-1).
  constexpr index_t n = 100000;
  for (const double a : {0.5, -0.999, 1e-3}) {
    Quasiseparable<double, transition::Diagonal> m(n, {1, 0});
    for (index_t i = 0; i < n; ++i) {
      m.p(0, i, 0) = m.a(0, i, 0) = a;
      m.q(0, i, 0) = m.d(0, i) = 1;
    }
    const auto f = qs::factor_ldl(m);
    REQUIRE(f.ok());
    CHECK(qs::log_determinant(f).log_abs ==
          Approx(double(n - 1) * std::log1p(-a * a)).epsilon(1e-10));
  }
}
