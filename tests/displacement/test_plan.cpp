#include "structmat/displacement/plan.hpp"

#include <catch2/catch.hpp>

#include "displacement/support.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::displacement::test;
namespace ds = structmat::displacement;

namespace {

/// Operators of every kind that determine m x n matrices well.
template <Scalar T>
std::vector<ds::Displacement<T>> determining(index_t m, index_t n, Random& random) {
  using ds::Kind;
  std::vector<ds::Displacement<T>> all;
  const auto small = [&] { return ds::diagonal(random_nodes<T>(m, random)); };
  const auto right = [&] { return ds::diagonal(random_nodes<T>(n, random, 4)); };
  for (const auto kind : {Kind::sylvester, Kind::stein}) {
    const bool stein = kind == Kind::stein;
    // In the Stein form, shift and transposed shift go together.
    const auto down = ds::shift<T>(1), up = ds::shift_transposed<T>(1);
    all.push_back({kind, down, stein ? ds::shift_transposed<T>(0) : ds::shift<T>(0)});
    all.push_back({kind, down, stein ? ds::shift<T>(0) : ds::shift_transposed<T>(0)});
    all.push_back({kind, ds::shift<T>(0), stein ? up : down});
    all.push_back({kind, ds::shift_transposed<T>(0), up});
    all.push_back({kind, up, ds::shift<T>(T(8))});
    if (m == n) {
      all.push_back({kind, down, ds::shift<T>(-1)});
      all.push_back({kind, down, ds::shift_transposed<T>(-1)});
      all.push_back({kind, ds::shift_transposed<T>(-1), down});
    }
    all.push_back({kind, ds::diagonal(random_nodes<T>(m, random, stein ? 0 : 4)), down});
    all.push_back({kind, up, ds::diagonal(random_nodes<T>(n, random, stein ? 0 : 4))});
    all.push_back({kind, small(), right()});
  }
  all.push_back({Kind::stein, ds::shift<T>(0), ds::shift_transposed<T>(0)});
  all.push_back({Kind::stein, ds::shift_transposed<T>(0), ds::shift_transposed<T>(0)});
  auto with_zero = random_nodes<T>(m, random);
  if (m > 0) with_zero[0] = T{};
  all.push_back({Kind::stein, ds::diagonal(with_zero), ds::shift<T>(0)});
  all.push_back({Kind::stein, ds::diagonal(with_zero), ds::shift_transposed<T>(0)});
  auto zero_right = random_nodes<T>(n, random);
  if (n > 0) zero_right[0] = T{};
  all.push_back({Kind::stein, ds::shift<T>(0), ds::diagonal(zero_right)});
  return all;
}

template <Scalar T>
std::string name(const ds::Displacement<T>& d) {
  const auto text = [](const ds::Operator<T>& a) {
    return a.kind == ds::OperatorKind::diagonal
               ? std::string("diagonal")
               : std::string(a.kind == ds::OperatorKind::shift ? "Z_" : "Z^T_") +
                     std::to_string(std::real(a.corner));
  };
  return (d.kind == ds::Kind::stein ? "stein " : "sylvester ") + text(d.left) + ", " +
         text(d.right);
}

}  // namespace

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
