#include <catch2/catch.hpp>

#include "structmat/butterfly/apply.hpp"
#include "structmat/butterfly/apply_vjp.hpp"
#include "structmat/butterfly/from_dense.hpp"
#include "support/apply_vjp.hpp"
#include "support/butterfly.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// The steps of the definition, one array after the other.
std::vector<double> textbook(const Monarch<double>& m, const std::vector<double>& x) {
  const index_t k = m.w1.extent(1), q = m.w1.extent(2), p = m.w1.extent(3);
  const index_t l = m.w2.extent(1), s = m.w2.extent(2), r = m.w2.extent(3);
  std::vector<double> t(k * q), y(l * s);
  for (index_t kappa = 0; kappa < k; ++kappa) {
    for (index_t eta = 0; eta < q; ++eta) {
      for (index_t pi = 0; pi < p; ++pi) {
        t[kappa * q + eta] += m.w1(0, kappa, eta, pi) * x[kappa * p + pi];
      }
    }
  }
  for (index_t lambda = 0; lambda < l; ++lambda) {
    for (index_t sigma = 0; sigma < s; ++sigma) {
      for (index_t rho = 0; rho < r; ++rho) {
        y[sigma * l + lambda] += m.w2(0, lambda, sigma, rho) * t[rho * l + lambda];
      }
    }
  }
  return y;
}

}  // namespace

TEST_CASE("entries of a Monarch matrix are those of its definition") {
  Random random(1);
  for (const MonarchShape& shape : monarch_shapes) {
    const auto m = random_monarch<double>(shape, 1, random);
    for (index_t j = 0; j < m.cols(); ++j) {
      std::vector<double> x(m.cols());
      x[j] = 1;
      const auto y = textbook(m, x);
      for (index_t i = 0; i < m.rows(); ++i) CHECK(m.entry(i, j) == Approx(y[i]).margin(1e-14));
    }
  }
}

TEMPLATE_TEST_CASE("Monarch products match the entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  Random random(2);
  index_t batch = 1;
  for (const MonarchShape& shape : monarch_shapes) {
    for (const index_t k : {0, 1, 4}) {
      check_products(random_monarch<TestType>(shape, batch, random), componentwise<TestType>(22, 2),
                     k, random);
      batch = batch % 3 + 1;
    }
  }
}

TEMPLATE_TEST_CASE("Monarch matrices are linear and take any stride", "", double,
                   std::complex<float>) {
  Random random(3);
  const auto m = random_monarch<TestType>(monarch_shapes[2], 2, random);
  check_linearity(m, componentwise<TestType>(10, 2), random);
  for (const index_t k : {1, 3}) {
    check_strides(m, k, random);
    check_threads(m, k, random);
  }
  check_errors(m, "monarch");
  CHECK(message_from<ShapeError>([] {
          entry(Monarch<double>({2, 3, 1}, {2, 1, 2}).view(), 0, 0);
        }) == "monarch::entry: w1 gives 6 numbers, w2 takes 4");
}

TEMPLATE_TEST_CASE("gradients of Monarch products", "", double, std::complex<double>) {
  using T = TestType;
  Random random(4);
  const auto each = [](auto& m, auto& bar, const auto& f) {
    f("w1", m.w1, bar.w1);
    f("w2", m.w2, bar.w2);
  };
  check_apply_vjp<MonarchCotangent<T>>(random_monarch<T>(monarch_shapes[2], 1, random), 1, 1, 5,
                                       each);
  check_apply_vjp<MonarchCotangent<T>>(random_monarch<T>({{2, 2, 2}, {2, 2, 2}}, 2, random), 1, 3,
                                       6, each);
  check_apply_vjp<MonarchCotangent<T>>(random_monarch<T>({{3, 4, 2}, {2, 1, 6}}, 1, random), 2, 2,
                                       7, each);
}

TEMPLATE_TEST_CASE("a Monarch matrix is its own projection", "", float, double,
                   std::complex<double>) {
  Random random(5);
  for (const index_t order : {1, 2}) {
    const index_t k = 3, l = 4;
    const auto m = random_monarch<TestType>({{k, l * order, 5}, {l, 3, k * order}}, 1, random);
    const auto dense = m.to_dense();
    const auto found = monarch::from_dense(dense.view().select(0, 0),
                                           {.column_blocks = k, .row_blocks = l, .order = order});
    CHECK(found.truncation_error <= 100 * double(epsilon<TestType>) * found.frobenius_norm);
    double error = 0;
    for (index_t i = 0; i < m.rows(); ++i) {
      for (index_t j = 0; j < m.cols(); ++j) {
        error = std::max(error, double(std::abs(m.entry(i, j) - found.matrix.entry(i, j))));
      }
    }
    CHECK(error <= 100 * double(epsilon<TestType>) * found.frobenius_norm);
  }
}

TEST_CASE("the projection is the nearest one") {
  Random random(6);
  const auto a = random.array<double, 2>({6, 6});
  const monarch::FromDenseOptions options{.column_blocks = 2, .row_blocks = 3};
  auto found = monarch::from_dense(a, options);
  const auto distance = [&] {
    double sum = 0;
    for (index_t i = 0; i < 6; ++i) {
      for (index_t j = 0; j < 6; ++j) sum += std::pow(a(i, j) - found.matrix.entry(i, j), 2);
    }
    return std::sqrt(sum);
  };
  CHECK(found.truncation_error > 0.1);
  CHECK(found.truncation_error == Approx(distance()));
  // Stationary: no small change of a block brings it nearer.
  for (auto* w : {&found.matrix.w1, &found.matrix.w2}) {
    for (double& v : *w) {
      const double kept = v;
      for (const double step : {1e-4, -1e-4}) {
        v = kept + step;
        CHECK(distance() >= found.truncation_error);
      }
      v = kept;
    }
  }
  CHECK_THROWS_AS(monarch::from_dense(a, {.column_blocks = 4}), ShapeError);
  CHECK_THROWS_AS(monarch::from_dense(a, {.row_blocks = 0}), DomainError);
  CHECK_THROWS_AS(monarch::from_dense(a, {.order = -1}), DomainError);
}

TEST_CASE("a batch of no blocks") {
  const Monarch<double> m({2, 2, 2}, {2, 2, 2}, 0);
  const Array<double, 3> none({0, 4, 2}), one({1, 4, 2});
  Array<double, 3> y({0, 4, 2});
  for (const Op op : all_ops) {
    apply_op(exec::cpu{}, m, op, none, y);
    apply_op(exec::cpu{}, m, op, one, y);
    CHECK_THROWS_AS(apply_op(exec::cpu{}, m, op, one, Array<double, 3>({1, 4, 2})), ShapeError);
  }
}
