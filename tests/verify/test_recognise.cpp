#include "structmat/verify/recognise.hpp"

#include <catch2/catch.hpp>

#include "structmat/cauchy/from_dense.hpp"
#include "structmat/displacement/plan.hpp"
#include "structmat/lowrank/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/toeplitz/apply.hpp"
#include "structmat/toeplitz/from_dense.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "structmat/vandermonde/from_dense.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <Scalar T>
Array<T, 2> dense_of(const Array<T, 3>& a) {
  return to_array(a.view().select(0, 0));
}

/// The matrix that was recognised, entry by entry; empty for nothing.
template <Scalar T>
Array<T, 2> dense_of(const verify::Recognised<T>& r) {
  Array<T, 2> a = std::visit(
      [](const auto& m) -> Array<T, 2> {
        using M = std::remove_cvref_t<decltype(m)>;
        if constexpr (std::same_as<M, std::monostate>) {
          return Array<T, 2>({0, 0});
        } else if constexpr (std::same_as<M, displacement::Generators<T>>) {
          return dense_of(displacement::Plan<T>(m).to_dense());
        } else if constexpr (std::same_as<M, Cauchy<T>>) {
          return structmat::test::matrix<T>(m.rows(), m.cols(), [&](index_t i, index_t j) {
            return T{1} / (m.s(0, i) - m.t(0, j));
          });
        } else {
          return dense_of(m.to_dense());
        }
      },
      r.matrix);
  return r.transposed ? to_array(a.view().transposed()) : a;
}

template <Scalar T>
void check(const Array<T, 2>& a, const std::string& name) {
  INFO(name);
  const auto found = verify::recognise(a);
  CHECK(found.finding.name == name);
  const auto dense = dense_of(found);
  REQUIRE(dense.extents() == a.extents());
  CHECK(distance(dense, a) <= 2000 * double(epsilon<T>) * norm_of(a));
}

}  // namespace

TEMPLATE_TEST_CASE("dense matrices become members of their families", "", double,
                   std::complex<float>) {
  using T = TestType;
  using structmat::test::matrix;
  Random random(1);
  const index_t m = 20, n = 20;
  const auto c = random.array<T, 1>({64});
  const auto toeplitz = matrix<T>(m, n, [&](index_t i, index_t j) { return c(i - j + n); });
  const auto hankel = matrix<T>(m, n, [&](index_t i, index_t j) { return c(i + j); });
  check(matrix<T>(n, n, [&](index_t i, index_t j) { return c((i - j + n) % n); }), "circulant");
  check(toeplitz, "toeplitz");
  check(hankel, "hankel");
  const auto vandermonde = matrix<T>(m, 9, [&](index_t i, index_t j) {
    T power{1};
    for (index_t l = 0; l < j; ++l) power *= c(i);
    return power;
  });
  check(vandermonde, "vandermonde");
  check(to_array(vandermonde.view().transposed()), "transposed vandermonde");
  check(matrix<T>(m, n, [&](index_t i, index_t j) { return T{1} / (c(i) - c(j + m) - T(4)); }),
        "cauchy");
  check(dense_product(random.array<T, 2>({m, 2}), random.array<T, 2>({2, n})), "low rank");
  check(Array<T, 2>({m, n}), "zero");
  check(matrix<T>(n, n, [&](index_t i, index_t j) { return i == j ? c(i) : T{}; }),
        "quasiseparable");

  // Generic entries: nothing.
  const auto none = verify::recognise(random.array<T, 2>({7, 7}));
  CHECK(std::holds_alternative<std::monostate>(none.matrix));
  CHECK(none.finding.name.empty());
  CHECK(std::holds_alternative<std::monostate>(verify::recognise(Array<T, 2>({0, 3})).matrix));
}

TEST_CASE("products of structured matrices are recognised by their displacement") {
  using structmat::test::matrix;
  Random random(2);
  const index_t n = 24;
  const auto c = random.array<double, 1>({4 * n});
  const auto a = matrix<double>(n, n, [&](index_t i, index_t j) { return c(i - j + n); });
  const auto b = matrix<double>(n, n, [&](index_t i, index_t j) { return c(i - j + 3 * n); });
  check(dense_product(a, b), "toeplitz-like");
  check(to_array(dense_product(a, b).view().reversed(1)), "hankel-like");
}

TEST_CASE("from_dense of the families: parameters and deviation") {
  using structmat::test::matrix;
  auto a = matrix<double>(3, 4, [](index_t i, index_t j) { return double((i - j) * (i - j) + i); });
  const auto t = toeplitz::from_dense(a);
  CHECK_FALSE(t.holds);
  CHECK(t.matrix.entry(2, 1) == a(1, 0));
  CHECK(t.largest > 0.01);
  CHECK(t.largest == Approx(std::abs(a(t.row, t.col) - t.matrix.entry(t.row, t.col)) / norm_of(a)));
  const auto h = hankel::from_dense(a);
  CHECK_FALSE(h.holds);
  CHECK(h.matrix.entry(1, 1) == a(2, 0));
  CHECK_FALSE(vandermonde::from_dense(a).holds);
  CHECK_FALSE(cauchy::from_dense(a).holds);
  CHECK_THROWS_AS(circulant::from_dense(a), ShapeError);
  // A wide tolerance lets it pass.
  CHECK(toeplitz::from_dense(a, {.tolerance = 1.0}).holds);

  const Array<double, 2> empty({0, 3});
  CHECK(toeplitz::from_dense(empty).matrix.cols() == 3);
  CHECK(hankel::from_dense(empty).matrix.cols() == 3);
  CHECK(cauchy::from_dense(empty).matrix.cols() == 3);
  CHECK(vandermonde::from_dense(empty).matrix.cols() == 3);
  CHECK(circulant::from_dense(Array<double, 2>({0, 0})).matrix.size() == 0);

  a(1, 2) = NAN;
  CHECK_THROWS_AS(toeplitz::from_dense(a), DomainError);
  CHECK_THROWS_AS(verify::recognise(a), DomainError);
}
