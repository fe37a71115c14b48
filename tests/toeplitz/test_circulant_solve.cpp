#include "structmat/toeplitz/circulant_solve.hpp"

#include <catch2/catch.hpp>
#include <numbers>

#include "structmat/toeplitz/apply.hpp"
#include "support/battery.hpp"
#include "support/gradient.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

constexpr index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};

/// mu_k^j of the eigenvector k.
std::complex<double> eigenvector(index_t n, bool skew, index_t k, index_t j) {
  const double turns = static_cast<double>((2 * k + skew) * j % (2 * n));
  return std::polar(1.0, std::numbers::pi * turns / static_cast<double>(n));
}

template <Scalar T>
auto eigenvalues(const Circulant<T>& m) {
  return circulant::eigenvalues(m.view());
}
template <Scalar T>
auto eigenvalues(const SkewCirculant<T>& m) {
  return skew_circulant::eigenvalues(m.view());
}
template <Scalar T>
auto inverse(const Circulant<T>& m) {
  return circulant::inverse(m.view());
}
template <Scalar T>
auto inverse(const SkewCirculant<T>& m) {
  return skew_circulant::inverse(m.view());
}
template <Scalar T>
auto log_determinant(const Circulant<T>& m) {
  return circulant::log_determinant(m.view());
}
template <Scalar T>
auto log_determinant(const SkewCirculant<T>& m) {
  return skew_circulant::log_determinant(m.view());
}

/// Well conditioned: a diagonal of twice the sum of what stands beside it.
template <class M>
M dominant(M m) {
  for (index_t b = 0; b < m.batch(); ++b) {
    if (m.size() > 0) m.column(b, 0) += real_t<typename M::value_type>(2 * m.size());
  }
  return m;
}

template <class M>
void check_eigenvalues(const M& m, bool skew) {
  using T = typename M::value_type;
  const index_t n = m.size();
  const auto lambda = eigenvalues(m);
  REQUIRE(lambda.extents() == std::array<index_t, 2>{m.batch(), n});
  for (index_t b = 0; b < m.batch(); ++b) {
    double worst = 0, scale = 0;
    for (index_t k = 0; k < n; ++k) {
      std::complex<double> sum = 0;
      for (index_t j = 0; j < n; ++j) {
        const std::complex<double> c(m.column(b, j));
        sum += c * std::conj(eigenvector(n, skew, k, j));
        scale += std::norm(c);
      }
      worst = std::max(worst, std::abs(sum - std::complex<double>(lambda(b, k))));
    }
    // scale = n ||c||^2 = ||lambda||^2
    CHECK(worst <= 8 * std::log2(double(n) + 2) * double(epsilon<T>) * std::sqrt(scale));
  }
}

template <class M>
void check_solution(const M& m, index_t k, Random& random) {
  using T = typename M::value_type;
  const index_t n = m.size();
  for (const Op op : all_ops) {
    const auto b = random.array<T, 3>({m.batch(), n, k});
    auto x = poisoned<T, 3>({m.batch(), n, k}), again = x;
    const auto report = solve(exec::cpu{}, m.view(), op, b.view(), x.view());
    CHECK(report.status.ok());
    apply_op(exec::cpu{}, m, op, x, again);
    // Dominant matrices have a condition number of at most 3.
    CHECK(distance(again, b) <= 50 * std::log2(double(n) + 2) * double(epsilon<T>));
  }
}

template <class M>
void check_inverse(const M& m) {
  using T = typename M::value_type;
  const auto inv = inverse(m);
  CHECK(inv.status.ok());
  const auto a = m.to_dense(), b = inv.matrix.to_dense();
  const index_t n = m.size();
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      T sum{};
      for (index_t l = 0; l < n; ++l) sum += a(0, i, l) * b(0, l, j);
      worst = std::max(worst, double(std::abs(sum - T(real_t<T>(i == j)))));
    }
  }
  CHECK(worst <= 50 * std::log2(double(n) + 2) * double(epsilon<T>));
}

/// log|det| and the sign by elimination with partial pivoting.
template <Scalar T>
LogDeterminant<T> by_elimination(Array<T, 3> a) {
  const index_t n = a.extent(1);
  LogDeterminant<T> result;
  for (index_t p = 0; p < n; ++p) {
    index_t pivot = p;
    for (index_t i = p; i < n; ++i) {
      if (std::abs(a(0, i, p)) > std::abs(a(0, pivot, p))) pivot = i;
    }
    if (pivot != p) result.sign = -result.sign;
    for (index_t j = 0; j < n; ++j) std::swap(a(0, p, j), a(0, pivot, j));
    result.log_abs += std::log(std::abs(a(0, p, p)));
    result.sign *= a(0, p, p) / std::abs(a(0, p, p));
    for (index_t i = p + 1; i < n; ++i) {
      const T factor = a(0, i, p) / a(0, p, p);
      for (index_t j = p; j < n; ++j) a(0, i, j) -= factor * a(0, p, j);
    }
  }
  return result;
}

template <class M>
void check_determinant(const M& m) {
  const auto got = log_determinant(m);
  REQUIRE(got.status.usable());
  const auto expected = by_elimination(m.to_dense());
  CHECK(got.values[0].log_abs == Approx(expected.log_abs).margin(1e-9));
  CHECK(std::abs(got.values[0].sign - expected.sign) <= 1e-9);
}

}  // namespace

TEMPLATE_TEST_CASE("eigenvalues, solutions and inverses of any size", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : sizes) {
    const auto c = random_circulant<T>(n, 2, random);
    const auto s = random_skew_circulant<T>(n, 2, random);
    check_eigenvalues(c, false);
    check_eigenvalues(s, true);
    check_solution(dominant(c), 2, random);
    check_solution(dominant(s), 9, random);
    if (n > 129) continue;
    check_inverse(dominant(c));
    check_inverse(dominant(s));
  }
}

TEMPLATE_TEST_CASE("determinants", "", double, std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {1, 2, 3, 4, 5, 8, 31}) {
    for (int repetition = 0; repetition < 4; ++repetition) {
      check_determinant(random_circulant<T>(n, 1, random));
      check_determinant(random_skew_circulant<T>(n, 1, random));
    }
  }
  const auto none = circulant::log_determinant(Circulant<T>(0).view());
  CHECK(none.values[0].log_abs == 0);
  CHECK(none.values[0].sign == T(1));
}

TEST_CASE("singular and badly scaled matrices") {
  Array<double, 3> b({1, 2, 1}), x({1, 2, 1});
  b(0, 0, 0) = 1;
  x(0, 0, 0) = 7;
  const Circulant<double> ones(std::vector<double>{1, 1});
  const auto report = solve(exec::cpu{}, ones.view(), Op::none, std::as_const(b).view(), x.view());
  CHECK(report.status == PivotStatus{PivotStatus::Kind::zero, 0, 1, 0});
  CHECK(x(0, 0, 0) == 7);
  CHECK(circulant::inverse(ones.view()).status.kind == PivotStatus::Kind::zero);
  const auto det = circulant::log_determinant(ones.view());
  CHECK(det.values[0].log_abs == -INFINITY);
  CHECK(det.values[0].sign == 0);
  CHECK_THROWS_AS(ones.solve(std::vector<double>{1, 2}), DomainError);
  // Singular up to rounding, at the eigenvalues of three thirds of 1.
  const Circulant<double> thirds(std::vector<double>{1. / 3, 1. / 3, 1. / 3});
  CHECK(!circulant::inverse(thirds.view()).status.ok());

  // Small numbers are not small eigenvalues.
  for (const double scale : {1e-20, 1e-300, 1e300}) {
    const Circulant<double> tiny(std::vector<double>{2 * scale, scale, 0});
    const auto z = tiny.solve(std::vector<double>{1, 2, 3});
    CHECK(z(0) * scale == Approx(0).margin(1e-14));
    CHECK(z(1) * scale == Approx(1).epsilon(1e-14));
    CHECK(z(2) * scale == Approx(1).epsilon(1e-14));
    const auto value = circulant::log_determinant(tiny.view());
    // 9 scale^3
    CHECK(value.status.ok());
    CHECK(value.values[0].log_abs == Approx(std::log(9) + 3 * std::log(scale)).epsilon(1e-14));
  }
  using T = std::complex<double>;
  const Circulant<T> c(std::vector<T>{{1, 1}, {2, -1}, 3.0});
  const auto z = c.solve(std::vector<T>{1.0, 2.0, 3.0});
  CHECK(std::abs(z(0) - T(2. / 3, 2. / 3)) <= 1e-14);
  CHECK(std::abs(z(1) - T(2. / 3, -1. / 3)) <= 1e-14);
  CHECK(std::abs(z(2) - T(-1. / 3, -1. / 3)) <= 1e-14);

  const SkewCirculant<double> broken(std::vector<double>{1, NAN, 2});
  CHECK(skew_circulant::inverse(broken.view()).status.kind == PivotStatus::Kind::not_finite);
  CHECK(skew_circulant::inverse(broken.view()).status.index == 1);
}

TEST_CASE("the same answers inside long sequences") {
  // [2, 1, 0, ...] of 5003 (a prime) and 4096: x with 2 x_i + x_{i-1} = b_i.
  for (const index_t n : {4096, 5003}) {
    Circulant<double> c(n);
    c.column(0, 0) = 2e-20;
    c.column(0, 1) = 1e-20;
    Random random(3);
    const auto b = random.array<double, 1>({n});
    const auto x = c.solve(b);
    double worst = 0;
    for (index_t i = 0; i < n; ++i)
      worst = std::max(worst, std::abs(1e-20 * (2 * x(i) + x((i + n - 1) % n)) - b(i)));
    CHECK(worst <= 1e-13);
    // All ones, up to the last bits of their sums.
    Circulant<double> ones(n);
    for (double& v : ones.column) v = 1;
    CHECK(!circulant::inverse(ones.view()).status.ok());
  }
}

TEMPLATE_TEST_CASE("gradients of solutions", "", double, std::complex<double>) {
  using T = TestType;
  Random random(4);
  const auto check = [&](auto m, index_t b_batch) {
    const index_t n = m.size(), k = 2, batch = m.batch() == 1 ? b_batch : m.batch();
    for (const Op op : all_ops) {
      auto b = random.array<T, 3>({b_batch, n, k});
      const auto x_bar = random.array<T, 3>({batch, n, k});
      Array<T, 3> x({batch, n, k});
      const auto loss = [&] {
        solve(exec::cpu{}, m.view(), op, std::as_const(b).view(), x.view());
        return inner(x_bar, x);
      };
      loss();
      Array<T, 2> column_bar(m.column.extents());
      Array<T, 3> b_bar(b.extents());
      const auto report = solve_vjp(exec::cpu{}, m.view(), op, std::as_const(x).view(),
                                    x_bar.view(), column_bar.view(), b_bar.view());
      CHECK(report.status.ok());
      check_gradient("column", m.column, column_bar, loss);
      check_gradient("b", b, b_bar, loss);
    }
  };
  for (const index_t n : {1, 2, 5, 8}) {
    check(dominant(random_circulant<T>(n, 1, random)), 1);
    check(dominant(random_skew_circulant<T>(n, 1, random)), 1);
  }
  check(dominant(random_circulant<T>(3, 3, random)), 1);
  check(dominant(random_skew_circulant<T>(3, 1, random)), 3);
}

TEST_CASE("determinants of one entry") {
  Random random(6);
  auto c = random_circulant<double>(7, 3, random);
  auto s = random_skew_circulant<std::complex<double>>(4, 2, random);
  const auto all = circulant::log_determinant(c.view());
  const auto skew = skew_circulant::log_determinant(s.view());
  CHECK(log_determinant(exec::cpu{}, c.view(), 2).log_abs == all.values[2].log_abs);
  CHECK(log_determinant(exec::cpu{}, s.view(), 1).sign == skew.values[1].sign);
  c.column(2, 3) = INFINITY;
  CHECK(message_from<DomainError>([&] { log_determinant(exec::cpu{}, c.view(), 2); }) ==
        "circulant::log_determinant: element 3 of batch entry 2 is not finite");
  CHECK(log_determinant(exec::cpu{}, c.view(), 1).log_abs == all.values[1].log_abs);
  CHECK_THROWS_AS(log_determinant(exec::cpu{}, c.view(), 3), ShapeError);
}

TEST_CASE("solutions: strides, threads, operands that do not fit") {
  Random random(5);
  const index_t n = 500, k = 20;
  const auto c = dominant(random_circulant<double>(n, 2, random));
  const auto b = random.array<double, 3>({2, n, k});
  Array<double, 3> one({2, n, k}), many = one;
  solve(exec::cpu{1}, c.view(), Op::none, b.view(), one.view());
  solve(exec::cpu{4}, c.view(), Op::none, b.view(), many.view());
  CHECK(same_bits(one, many));
  Array<double, 3> store({2, k, n});
  solve(exec::cpu{1}, c.view(), Op::none, b.view(), store.view().transposed().reversed(1));
  CHECK(same_bits(to_array(store.view().transposed().reversed(1)), one));
  CHECK(message_from<ShapeError>([&] {
          solve(exec::cpu{}, c.view(), Op::none, b.view().slice(1, 0, 3), one.view());
        }) == "circulant::solve: x has 3 rows, the operator has 500 columns");
  CHECK(message_from<ShapeError>([&] {
          solve_vjp(exec::cpu{}, c.view(), Op::none, std::as_const(one).view(), b.view(),
                    View<double, 2>{}, many.view().slice(1, 0, 3));
        }) == "circulant::solve_vjp: b_bar is 2 x 3 x 20, x_bar is 2 x 500 x 20");
}
