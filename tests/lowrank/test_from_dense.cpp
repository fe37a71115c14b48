#include "structmat/lowrank/from_dense.hpp"

#include <catch2/catch.hpp>

#include "structmat/lowrank/apply.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <Scalar T>
double distance(const Array<T, 2>& a, const LowRank<T>& b) {
  const auto dense = b.to_dense();
  double sum = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    sum += std::norm(std::complex<double>(a.data()[i] - dense.data()[i]));
  }
  return std::sqrt(sum);
}

}  // namespace

TEMPLATE_TEST_CASE("a matrix of low rank is found", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const auto& [m, n, r] :
       {std::array<index_t, 3>{8, 8, 3}, {20, 7, 2}, {5, 19, 4}, {6, 6, 6}}) {
    LowRank<T> given(m, n, r);
    random.fill(given.u);
    random.fill(given.v);
    const auto dense = given.to_dense();
    const auto a = to_array(dense.view().select(0, 0));
    const auto found = lowrank::from_dense(a);
    CHECK(found.matrix.order() == r);
    CHECK(distance(a, found.matrix) <= found.truncation_error + found.rounding_bound);
  }
}

TEST_CASE("the nearest matrix of an order") {
  // Orthogonal columns (1, 1), (1, -1) times 4 and 3: singular values 4 sqrt 2, 3 sqrt 2.
  Array<double, 2> a({2, 2});
  a(0, 0) = a(1, 0) = 4;
  a(0, 1) = 3;
  a(1, 1) = -3;
  const auto one = lowrank::from_dense(a, {.order = 1});
  CHECK(one.matrix.order() == 1);
  CHECK(one.truncation_error == Approx(3 * std::sqrt(2.0)));
  CHECK(one.matrix.entry(1, 0) == Approx(4));
  CHECK(std::abs(one.matrix.entry(1, 1)) < 1e-14);
  CHECK(one.frobenius_norm == Approx(std::sqrt(50.0)));
  CHECK(lowrank::from_dense(a, {.order = 0}).truncation_error == Approx(std::sqrt(50.0)));
  CHECK(lowrank::from_dense(a, {.tolerance = 0.7}).matrix.order() == 1);
  CHECK(lowrank::from_dense(a, {.tolerance = 0.5}).matrix.order() == 2);
}

TEST_CASE("empty and zero matrices have order 0, bad input is refused") {
  for (const auto& [m, n] : {std::array<index_t, 2>{0, 0}, {0, 3}, {4, 0}, {2, 3}}) {
    const auto found = lowrank::from_dense(Array<double, 2>({m, n}));
    CHECK(found.matrix.order() == 0);
    CHECK(found.matrix.rows() == m);
    CHECK(found.matrix.cols() == n);
  }
  Array<double, 2> a({2, 2});
  CHECK_THROWS_AS(lowrank::from_dense(a, {.tolerance = -1}), DomainError);
  CHECK_THROWS_AS(lowrank::from_dense(a, {.order = -1}), DomainError);
  a(1, 0) = NAN;
  CHECK_THROWS_AS(lowrank::from_dense(a), DomainError);
}
