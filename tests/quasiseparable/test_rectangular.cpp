// Rectangular quasiseparable operators against their definition.
#include "structmat/quasiseparable/rectangular.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"
#include "support/files.hpp"

using namespace structmat;
using test::message_of;
using test::Random;

namespace {

struct Positions {
  index_t size;
  std::vector<index_t> rows, columns;
};

/// Empty sets, interleaved ones, ties, one left of the other, repeated, not sorted, all.
const std::vector<Positions> cases{{0, {}, {}},
                                   {5, {}, {0, 3}},
                                   {5, {1, 2}, {}},
                                   {1, {0}, {0}},
                                   {7, {0, 2, 4, 6}, {1, 3, 5}},
                                   {7, {0, 1, 4, 6}, {0, 1, 2, 6}},
                                   {6, {0, 1, 2}, {3, 4, 5}},
                                   {6, {3, 4, 5}, {0, 1, 2}},
                                   {5, {1, 1, 4, 4}, {0, 1, 1, 1}},
                                   {5, {4, 0, 2}, {3, 3, 1, 2}},
                                   {3, {0, 1, 2}, {0, 1, 2}}};

template <Scalar T, transition::Uniform K>
void check_case(const Positions& at, Order order, index_t batch, index_t k) {
  const auto square = test::random_quasiseparable<T, K>(at.size, order, batch, 7);
  const RectangularQuasiseparable<T, K> r(square, at.rows, at.columns);
  const RectangularQuasiseparable<T, K> bound(test::absolute(square), at.rows, at.columns);
  const auto m = static_cast<index_t>(at.rows.size()), n = static_cast<index_t>(at.columns.size());
  REQUIRE(r.rows() == m);
  REQUIRE(r.cols() == n);

  const Array<T, 3> all = square.to_dense(), dense = r.to_dense(), most = bound.to_dense();
  REQUIRE(dense.extents() == std::array<index_t, 3>{batch, m, n});
  bool equal = true;
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < m; ++i) {
      for (index_t j = 0; j < n; ++j) {
        equal &= dense(b, i, j) == all(b, at.rows[i], at.columns[j]);
        equal &= std::abs(dense(b, i, j) - r.entry(i, j, b)) <=
                 test::tolerance<T>(at.size, 4) * std::abs(most(b, i, j));
      }
    }
  }
  CHECK(equal);

  Random random(3);
  for (const Op op : test::all_ops) {
    const index_t in = op == Op::none ? n : m, out = op == Op::none ? m : n;
    const auto x = random.array<T, 3>({1, in, k});
    Array<T, 3> y({batch, out, k});
    test::apply_op(exec::cpu{}, r, op, x.view(), y.view());
    double worst = 0;
    for (index_t b = 0; b < batch; ++b) {
      for (index_t i = 0; i < out; ++i) {
        for (index_t c = 0; c < k; ++c) {
          T sum{};
          double scale = std::numeric_limits<double>::min();
          for (index_t j = 0; j < in; ++j) {
            sum += test::op_entry(op, std::as_const(dense).view(), b, i, j) * x(0, j, c);
            scale += std::abs(test::op_entry(op, most.view(), b, i, j)) * std::abs(x(0, j, c));
          }
          worst = std::max(worst, double(std::abs(sum - y(b, i, c))) / scale);
        }
      }
    }
    CHECK(worst <= test::tolerance<T>(at.size + in, order.lower + order.upper + 1));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("entries and products are those of the square matrix", "", float, double,
                   std::complex<float>, std::complex<double>) {
  for (const Positions& at : cases) {
    check_case<TestType, transition::Scalar>(at, {2, 1}, 1, 1);
    check_case<TestType, transition::Diagonal>(at, {2, 3}, 2, 3);
    check_case<TestType, transition::Diagonal>(at, {0, 1}, 3, 2);
    check_case<TestType, transition::Dense>(at, {3, 2}, 1, 9);
  }
}

TEST_CASE("the adjoint is the adjoint") {
  using T = std::complex<double>;
  Random random(4);
  const RectangularQuasiseparable<T, transition::Diagonal> r(
      test::random_quasiseparable<T, transition::Diagonal>(40, {3, 2}, 1, 5), {0, 1, 5, 9, 20, 39},
      {2, 5, 6, 30});
  const auto x = random.array<T, 1>({4}), y = random.array<T, 1>({6});
  const Array<T, 1> rx = r * x;
  Array<T, 1> ry({4});
  r.apply_adjoint(y, ry);
  T left{}, right{};
  for (index_t i = 0; i < 6; ++i) left += std::conj(y(i)) * rx(i);
  for (index_t i = 0; i < 4; ++i) right += std::conj(ry(i)) * x(i);
  CHECK(std::abs(left - right) <= 1e-13 * std::abs(left));
}

TEST_CASE("covariances between two series") {
  using quasiseparable::cross_covariance;
  using quasiseparable::Kernel;
  const Kernel kernel = Kernel::matern32(1.5) + Kernel::sho(3, 4, 0.5);
  const std::vector<double> few{-1, 0.5, 2, 2, 7}, many{-3, -1, -0.7, 0.1, 1.9, 2, 8, 8, 1e6};
  const std::vector<double> left{-9, -8}, none;
  for (const auto& [s, t] :
       {std::pair(few, many), std::pair(many, few), std::pair(left, few), std::pair(few, left),
        std::pair(none, few), std::pair(few, none), std::pair(many, many), std::pair(none, none)}) {
    const auto r = cross_covariance(s, t, kernel);
    const Array<double, 3> dense = r.to_dense();
    REQUIRE(r.rows() == static_cast<index_t>(s.size()));
    REQUIRE(r.cols() == static_cast<index_t>(t.size()));
    for (index_t i = 0; i < r.rows(); ++i) {
      for (index_t j = 0; j < r.cols(); ++j) {
        CHECK(std::abs(dense(0, i, j) - evaluate(kernel, s[i] - t[j])) <= 1e-13);
      }
    }
  }
}

TEST_CASE("refusals") {
  using R = RectangularQuasiseparable<double, transition::Diagonal>;
  using quasiseparable::cross_covariance;
  const auto m = test::random_quasiseparable<double, transition::Diagonal>(3, {1, 1}, 1, 1);
  CHECK(message_of<DomainError>([&] {
          R(m, {0, 3}, {1});
        }) == "quasiseparable::rectangular: position 1 of the rows is 3, the matrix has size 3");
  CHECK_THROWS_AS(R(m, {0}, {-1}), DomainError);

  R r(m, {0, 1}, {2});
  std::vector<double> one(1), two(2), three(3);
  CHECK_THROWS_AS(r.apply(two, two), ShapeError);
  CHECK_THROWS_AS(r.apply(one, three), ShapeError);
  CHECK_THROWS_AS(r.apply_transpose(one, two), ShapeError);
  CHECK_THROWS_AS(r.entry(2, 0), ShapeError);
  CHECK_THROWS_AS(r.apply(View<double, 1>(two.data(), {1}), two), DomainError);
  r.column_positions = {3};
  CHECK_THROWS_AS(r.apply(one, two), DomainError);
  CHECK_THROWS_AS(r.entry(0, 0), DomainError);
  CHECK_THROWS_AS(r.to_dense(), DomainError);

  const auto kernel = quasiseparable::Kernel::matern32(1);
  const std::vector<double> good{0, 1}, bad{0, 2, 1};
  CHECK_THAT(message_of<DomainError>([&] { cross_covariance(good, bad, kernel); }),
             Catch::Contains("time 2 of the columns is 1"));
  const std::vector<double> nan{std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_AS(cross_covariance(nan, good, kernel), DomainError);
}
