#include "structmat/vandermonde/solve.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/solve.hpp"
#include "support/gradient.hpp"
#include "vandermonde/nodes.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// ||b - op(V) x|| / (||V|| ||x|| + ||b||) of one column.
template <Scalar T>
double backward_error(const Vandermonde<T>& v, Op op, const Array<T, 3>& x, const Array<T, 3>& b) {
  const auto dense = v.to_dense();
  double residual = 0, norm = 0, x_norm = 0, b_norm = 0;
  for (index_t i = 0; i < v.rows(); ++i) {
    std::complex<double> sum(b(0, i, 0));
    for (index_t j = 0; j < v.rows(); ++j) {
      const T entry = op_entry(op, std::as_const(dense).view(), 0, i, j);
      sum -= std::complex<double>(entry) * std::complex<double>(x(0, j, 0));
      norm += std::norm(std::complex<double>(entry));
    }
    residual += std::norm(sum);
    x_norm += std::norm(std::complex<double>(x(0, i, 0)));
    b_norm += std::norm(std::complex<double>(b(0, i, 0)));
  }
  return std::sqrt(residual) / (std::sqrt(norm * x_norm) + std::sqrt(b_norm));
}

Vandermonde<double> equispaced(index_t n) {
  Vandermonde<double> v(n, n);
  for (index_t i = 0; i < n; ++i) v.x(0, i) = double(i) / double(n - 1);
  return v;
}

/// The coefficients of the polynomial with these values at i / (n - 1), in long double.
std::vector<long double> exact_interpolation(index_t n, const std::vector<double>& values) {
  std::vector<long double> c(values.begin(), values.end()), x(n);
  for (index_t i = 0; i < n; ++i) x[i] = static_cast<long double>(double(i) / double(n - 1));
  for (index_t k = 0; k + 1 < n; ++k) {
    for (index_t i = n - 1; i > k; --i) c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - k - 1]);
  }
  for (index_t k = n - 2; k >= 0; --k) {
    for (index_t i = k; i + 1 < n; ++i) c[i] -= x[k] * c[i + 1];
  }
  return c;
}

}  // namespace

TEMPLATE_TEST_CASE("both systems are solved, plain and adjoint", "", double, std::complex<float>,
                   std::complex<double>) {
  Random random(1);
  for (const index_t n : {0, 1, 2, 3, 7, 10}) {
    auto v = random_vandermonde<TestType>(n, n, 1, unsigned(n) + 3);
    for (const Op op : all_ops) {
      const auto b = random.array<TestType, 3>({1, n, 1});
      auto x = poisoned<TestType, 3>({1, n, 1});
      CHECK(solve<TestType>(exec::cpu{}, v.view(), op, b.view(), x.view()).status.ok());
      if (n > 0) CHECK(backward_error(v, op, x, b) <= 100 * double(epsilon<TestType>));
    }
  }
}

TEST_CASE("roots of unity are the best nodes there are") {
  using C = std::complex<double>;
  const index_t n = 256;
  Random random(2);
  Vandermonde<C> v(n, n);
  for (index_t i = 0; i < n; ++i) v.x(0, i) = std::polar(1.0, 2 * std::numbers::pi * double(i) / n);
  const auto truth = random.array<C, 3>({1, n, 1});
  const auto f = v * truth;
  auto x = poisoned<C, 3>({1, n, 1});
  const auto report = solve<C>(exec::cpu{}, v.view(), Op::none, f.view(), x.view());
  CHECK(report.order == vandermonde::NodeOrder::leja);
  CHECK(distance(x, truth) <= 1e-12);
  // In the given order divided differences overflow the digits.
  solve<C>(exec::cpu{}, v.view(), Op::none, f.view(), x.view(), {vandermonde::NodeOrder::given});
  CHECK_FALSE(distance(x, truth) <= 1e3);
}

TEST_CASE("alternating right-hand sides: errors independent of the condition number") {
  // Equispaced in [0, 1], condition number 1e16: elimination with pivoting loses all but two digits.
  const index_t n = 20;
  const auto v = equispaced(n);
  std::vector<double> f(n);
  for (index_t i = 0; i < n; ++i) f[i] = i % 2 == 0 ? 1 + 0.1 * double(i) : -1 - 0.05 * double(i);
  const auto exact = exact_interpolation(n, f);
  const auto a = v.solve(f);
  double worst = 0, worst_dense = 0;
  Array<double, 2> dense({n, 1});
  for (index_t i = 0; i < n; ++i) dense(i, 0) = f[i];
  const auto entries = v.to_dense();
  dense::solve<double>(entries.view().select(0, 0), dense.view());
  for (index_t j = 0; j < n; ++j) {
    const double size = std::abs(double(exact[j]));
    if (j > 0) worst = std::max(worst, std::abs(a(j) - double(exact[j])) / size);
    if (j > 0) worst_dense = std::max(worst_dense, std::abs(dense(j, 0) - double(exact[j])) / size);
  }
  CHECK(a(0) == f[0]);
  CHECK(worst <= 1e-14);
  CHECK(worst_dense >= 1e-6);
  // Negative nodes are the same problem with signs.
  auto mirrored = v;
  for (double& x : mirrored.x) x = -x;
  const auto b = mirrored.solve(f);
  for (index_t j = 0; j < n; ++j) CHECK(b(j) == (j % 2 == 0 ? a(j) : -a(j)));
}

TEST_CASE("known interpolations") {
  const Vandermonde<double> v(std::vector<double>{1, 2, 3}, 3);
  const auto a = v.solve(std::vector<double>{1, -4, 4});
  CHECK(a(0) == Approx(19).epsilon(1e-14));
  CHECK(a(1) == Approx(-24.5).epsilon(1e-14));
  CHECK(a(2) == Approx(6.5).epsilon(1e-14));
  const Vandermonde<double> one(std::vector<double>{7}, 1);
  CHECK(one.solve(std::vector<double>{5.0})(0) == 5);
}

TEST_CASE("equal nodes and what is not finite are reported") {
  using Kind = PivotStatus::Kind;
  const Vandermonde<double> repeated(std::vector<double>{1, 1, 2}, 3);
  Array<double, 3> x({1, 3, 1});
  for (double& v : x) v = 7;
  const Array<double, 3> b({1, 3, 1});
  auto report = solve<double>(exec::cpu{}, repeated.view(), Op::none, b.view(), x.view());
  CHECK((report.status.kind == Kind::zero && report.status.index == 1));
  for (const double v : x) CHECK(v == 7);
  CHECK_THROWS_AS(repeated.solve(b), DomainError);
  // Positive and negative zero are one node.
  const Vandermonde<double> zeros(std::vector<double>{0.0, 5, -0.0}, 3);
  report = solve<double>(exec::cpu{}, zeros.view(), Op::transpose, b.view(), x.view());
  CHECK((report.status.kind == Kind::zero && report.status.index == 2));
  const Vandermonde<double> bad(std::vector<double>{1, NAN, 2}, 3);
  report = solve<double>(exec::cpu{}, bad.view(), Op::none, b.view(), x.view());
  CHECK((report.status.kind == Kind::not_finite && report.status.index == 1));
  auto infinite = b;
  infinite(0, 2, 0) = INFINITY;
  const Vandermonde<double> good(std::vector<double>{1, 3, 2}, 3);
  report = solve<double>(exec::cpu{}, good.view(), Op::none, infinite.view(), x.view());
  CHECK((report.status.kind == Kind::not_finite && report.status.index == 2));
  for (const double v : x) CHECK(v == 7);
  CHECK(message_from<ShapeError>([&] { (void)Vandermonde<double>(3, 4).solve(b); }) ==
        "vandermonde::solve: the matrix is 3 x 4, it must be square");
}

TEST_CASE("determinants") {
  const Vandermonde<double> v(std::vector<double>{1, 2, 3, 4, 5}, 5);
  CHECK(log_determinant(exec::cpu{}, v).log_abs == Approx(std::log(288.0)).epsilon(1e-14));
  CHECK(log_determinant(exec::cpu{}, v).sign == 1);
  const Vandermonde<double> swapped(std::vector<double>{2, 1, 3, 4, 5}, 5);
  CHECK(log_determinant(exec::cpu{}, swapped).sign == -1);
  const Vandermonde<double> repeated(std::vector<double>{1, 1, 2}, 3);
  CHECK(log_determinant(exec::cpu{}, repeated).sign == 0);
  CHECK(log_determinant(exec::cpu{}, repeated).log_abs == -INFINITY);
  CHECK(log_determinant(exec::cpu{}, Vandermonde<double>(0, 0)).log_abs == 0);
  // |det| of the n x n Fourier matrix is n^(n/2).
  using C = std::complex<double>;
  const index_t n = 300;
  Vandermonde<C> fourier(n, n);
  for (index_t i = 0; i < n; ++i) {
    fourier.x(0, i) = std::polar(1.0, 2 * std::numbers::pi * double(i) / n);
  }
  const auto det = log_determinant(exec::cpu{}, fourier);
  CHECK(det.log_abs == Approx(n / 2.0 * std::log(n)).epsilon(1e-13));
  CHECK(std::abs(det.sign) == Approx(1));
  const Vandermonde<C> pair(std::vector<C>{C(0, 0), C(0, 2)}, 2);
  CHECK(std::abs(log_determinant(exec::cpu{}, pair).sign - C(0, 1)) <= 1e-15);
  // Differences far outside the range of their product.
  const Vandermonde<double> wide(std::vector<double>{1e300, -1e300, 1e-300, 0}, 4);
  CHECK(log_determinant(exec::cpu{}, wide).log_abs ==
        Approx(std::log(2.0) + 5 * 300 * std::log(10.0) - 300 * std::log(10.0)).epsilon(1e-14));
}

TEST_CASE("batches, shared matrices and many columns") {
  Random random(4);
  const auto v = random_vandermonde<double>(6, 6, 3, 11);
  const auto b = random.array<double, 3>({3, 6, 4});
  auto x = poisoned<double, 3>({3, 6, 4}), one = poisoned<double, 3>({1, 6, 1});
  for (const Op op : all_ops) {
    solve<double>(exec::cpu{3}, v.view(), op, b.view(), x.view());
    const VandermondeView<double> last{std::as_const(v.x).view().slice(0, 2, 3), 6};
    solve<double>(exec::cpu{1}, last, op, b.view().slice(0, 2, 3).slice(2, 3, 4), one.view());
    for (index_t i = 0; i < 6; ++i) CHECK(one(0, i, 0) == x(2, i, 3));
    auto shared = poisoned<double, 3>({3, 6, 4});
    solve<double>(exec::cpu{}, last, op, b.view(), shared.view());
    for (index_t i = 0; i < 6; ++i) CHECK(shared(2, i, 1) == x(2, i, 1));
  }
}

TEMPLATE_TEST_CASE("cotangents of solutions", "", double, std::complex<double>) {
  Random random(5);
  auto v = random_vandermonde<TestType>(5, 5, 1, 21);
  for (const Op op : all_ops) {
    auto b = random.array<TestType, 3>({1, 5, 2});
    const auto x_bar = random.array<TestType, 3>({1, 5, 2});
    auto x = poisoned<TestType, 3>({1, 5, 2}), b_bar = x;
    solve<TestType>(exec::cpu{}, v.view(), op, std::as_const(b).view(), x.view());
    // op(V)^-H x_bar
    auto turned = x_bar;
    if (op == Op::transpose) {
      for (auto& t : turned) t = conjugate(t);
      solve<TestType>(exec::cpu{}, v.view(), Op::none, std::as_const(turned).view(), b_bar.view());
      for (auto& t : b_bar) t = conjugate(t);
    } else {
      solve<TestType>(exec::cpu{}, v.view(), op == Op::none ? Op::adjoint : Op::none, x_bar.view(),
                      b_bar.view());
    }
    Array<TestType, 2> node_bar({1, 5});
    solve_vjp<TestType>(exec::cpu{}, v.view(), op, std::as_const(x).view(),
                        std::as_const(b_bar).view(), node_bar.view());
    const auto loss = [&] {
      Array<TestType, 3> moved({1, 5, 2});
      solve<TestType>(exec::cpu{}, v.view(), op, std::as_const(b).view(), moved.view());
      return inner(x_bar, moved);
    };
    check_gradient("b", b, b_bar, loss, 1e-5);
    check_gradient("nodes", v.x, node_bar, loss, 1e-5);
  }
}
