#include "structmat/displacement/plan.hpp"

#include <catch2/catch.hpp>

#include "displacement/support.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::displacement::test;
namespace ds = structmat::displacement;

TEMPLATE_TEST_CASE("what is reconstructed has the displacement that was given", "", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(1);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 0},
                             {0, 3},
                             {1, 1},
                             {1, 4},
                             {5, 1},
                             {2, 2},
                             {6, 6},
                             {7, 7},
                             {5, 8},
                             {12, 7}}) {
    for (const auto& d : determining<T>(m, n, random)) {
      for (const index_t r : {0, 1, 3}) {
        INFO(name(d) << ", " << m << " x " << n << ", order " << r);
        const auto x = random_generators(d, m, n, r, random);
        const ds::Plan<T> plan(x);
        const auto dense = dense_of(plan);
        const auto both = ds::terms<T>(d, dense);
        const double size = norm_of(both.first) + norm_of(both.second);
        CHECK(distance(ds::displace(d, dense), image(x)) <=
              100 * double(m + n) * double(epsilon<T>) * (size + norm_of(image(x))));
        double largest = 0;
        for (index_t i = 0; i < m; ++i) {
          for (index_t j = 0; j < n; ++j) {
            largest = std::max(largest, double(std::abs(plan.entry(i, j) - dense(i, j))));
          }
        }
        CHECK(largest <= 400 * double(m + n) * double(epsilon<T>) * norm_of(dense));
      }
    }
  }
}

TEMPLATE_TEST_CASE("battery: plans of every displacement", "", double, std::complex<float>) {
  using T = TestType;
  Random random(2);
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{1, 1}, {8, 8}, {11, 11}, {6, 9}, {13, 4}}) {
    for (const auto& d : determining<T>(m, n, random)) {
      INFO(name(d) << ", " << m << " x " << n);
      const ds::Plan<T> plan(
          {random_generators(d, m, n, 3, random), random_generators(d, m, n, 2, random)});
      check_products(plan, normwise<T>(m + n, 100), 3, random);
      if (m == 8 || m == 6) {
        check_linearity(plan, normwise<T>(m + n, 100), random);
        check_strides(plan, 2, random);
        check_threads(plan, 3, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("battery: toeplitz-like matrices of every size", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {0, 1, 2, 3, 16, 31, 60, 127}) {
    for (const index_t r : {0, 1, 2, 5}) {
      INFO("n " << n << ", order " << r);
      const auto d = ds::toeplitz<T>();
      std::vector<ds::Generators<T>> batch;
      for (int b = 0; b < (n == 16 ? 3 : 1); ++b) {
        batch.push_back(random_generators(d, n, n, r, random));
      }
      check_products(ds::Plan<T>(batch), normwise<T>(n, 30), 2, random);
    }
  }
  check_products(ds::Plan<T>(std::vector<ds::Generators<T>>{}), normwise<T>(1), 2, random);
}

TEST_CASE("illegal operands and batches are refused") {
  using T = std::complex<double>;
  Random random(4);
  const auto x = random_generators(ds::toeplitz<T>(), 5, 5, 2, random);
  check_errors(ds::Plan<T>({x, x}), "displacement");
  CHECK(message_from<ShapeError>([&] {
          ds::Plan<T>({x, random_generators(ds::toeplitz<T>(), 4, 4, 2, random)});
        }) == "displacement::Plan: the first matrix is 5 x 5, another one is 4 x 4");
  ds::Generators<T> uneven = x;
  uneven.h = Array<T, 2>({5, 3});
  CHECK(message_from<ShapeError>([&] { ds::Plan<T>{uneven}; }) ==
        "displacement::Plan: g has 2 columns, h has 3");
  CHECK(message_from<ShapeError>([&] {
          ds::Plan<T>(random_generators(ds::cauchy<T>({1, 2}, {3}), 2, 2, 1, random));
        }) == "displacement::Plan: the diagonal on the right has 1 numbers, h has 2 rows");
  CHECK_THROWS_AS(ds::Plan<T>(x).entry(5, 0), ShapeError);
}

TEMPLATE_TEST_CASE("operators that lose part of the matrix are refused", "", float,
                   std::complex<double>) {
  using T = TestType;
  Random random(5);
  const auto refused = [&](ds::Displacement<T> d, index_t m, index_t n) {
    const auto x = random_generators(std::move(d), m, n, 1, random);
    return message_from<DomainError>([&] { ds::Plan<T>{x}; });
  };
  using ds::Kind;
  const std::string shifts = "displacement::Plan: some m-th root of the left corner";
  CHECK(refused({Kind::sylvester, ds::shift<T>(1), ds::shift<T>(1)}, 6, 6).rfind(shifts) == 0);
  CHECK(refused({Kind::sylvester, ds::shift<T>(0), ds::shift<T>(0)}, 6, 4).rfind(shifts) == 0);
  // Twelfth roots of 1 hold the sixth roots of -1.
  CHECK(refused(ds::toeplitz<T>(), 12, 6).rfind(shifts) == 0);
  CHECK(refused(ds::hankel<T>(), 12, 6).rfind(shifts) == 0);
  CHECK(refused({Kind::stein, ds::shift<T>(1), ds::shift_transposed<T>(1)}, 6, 6).rfind(shifts) ==
        0);
  CHECK(refused(ds::vandermonde<T>({T(3), T(-1)}, 1), 2, 4)
            .rfind("displacement::Plan: node 1 is a root of z^4") == 0);
  CHECK(refused(ds::vandermonde<T>({T(2), T(0)}), 2, 4)
            .rfind("displacement::Plan: node 1 is a root of z^4") == 0);
  CHECK(
      refused(ds::cauchy<T>({1, 2, 3}, {7, 3}), 3, 2).rfind("displacement::Plan: s_2 equals t_1") ==
      0);
  CHECK(refused({Kind::stein, ds::diagonal<T>({0, 1}), ds::diagonal<T>({2, 0})}, 2, 2)
            .rfind("displacement::to_sylvester: both diagonals have a zero") == 0);
}

TEST_CASE("long toeplitz-like matrices: columns by products, entries one by one") {
  // A prime: products in twice the length. A matrix of n^2 numbers would not fit into memory.
  const index_t n = 200003;
  Random random(7);
  const ds::Plan<double> plan(random_generators(ds::toeplitz<double>(), n, n, 2, random));
  const index_t column = 123456;
  Array<double, 2> unit({n, 1});
  unit(column, 0) = 1;
  const auto y = plan * unit;
  double norm = 0;
  for (const double v : y) norm = std::hypot(norm, v);
  for (const index_t i : {index_t(0), index_t(7), column - 1, column, column + 1, n - 1}) {
    CHECK(std::abs(y(i, 0) - plan.entry(i, column)) <= 100 * epsilon<double> * norm);
  }
}

TEST_CASE("cauchy-like matrices with a tolerance") {
  Random random(6);
  const index_t m = 1500, n = 1700;
  const auto x = random_generators(
      ds::cauchy<double>(random_nodes<double>(m, random), random_nodes<double>(n, random)), m, n, 2,
      random);
  const auto v = random.array<double, 2>({n, 1});
  const auto exact = ds::Plan<double>(x) * v, fast = ds::Plan<double>(x, {.tolerance = 1e-9}) * v;
  for (index_t i = 0; i < m; ++i) {
    double scale = 0;
    for (index_t j = 0; j < n; ++j) {
      double weight = 0;
      for (index_t l = 0; l < 2; ++l) weight += std::abs(x.g(i, l)) * std::abs(x.h(j, l));
      scale += weight * std::abs(v(j, 0)) /
               std::abs(x.displacement.left.x[i] - x.displacement.right.x[j]);
    }
    if (!(std::abs(exact(i, 0) - fast(i, 0)) <= 1e-8 * scale)) FAIL_CHECK("row " << i);
  }
}

TEST_CASE("large nodes and long rows neither overflow nor underflow") {
  // 1 / (x^n - f) V(x) Z_f(J h): rows decay from the right for large nodes.
  const index_t n = 4000;
  const std::vector<double> nodes{1e3, -50, 0.5, 1e-3};
  ds::Generators<double> x{ds::vandermonde<double>(nodes, 1), Array<double, 2>({4, 1}),
                           Array<double, 2>({n, 1})};
  for (double& v : x.g) v = 1;
  for (double& v : x.h) v = 1;
  const ds::Plan<double> plan(x);
  Array<double, 2> ones({n, 1});
  for (double& v : ones) v = 1;
  const auto y = plan * ones;
  for (index_t i = 0; i < 4; ++i) {
    // h = ones is an eigenvector of Z_1, so X 1 = n / (x - 1).
    CHECK(y(i, 0) == Approx(double(n) / (nodes[i] - 1)).epsilon(1e-12));
    CHECK(plan.entry(i, n / 2) == Approx(1 / (nodes[i] - 1)).epsilon(1e-12));
    CHECK(plan.to_dense()(0, i, 7) == Approx(1 / (nodes[i] - 1)).epsilon(1e-12));
  }
}
