// Compression of dense matrices on the device: the tests of the CPU, and sketches.
#include "structmat/quasiseparable/from_dense.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "structmat/core/device.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
Array<T, 2> dense_of(const Array<T, 3>& batch) {
  return to_array(batch.view().select(0, 0));
}

/// ||M - Q||_F
template <class T, class M>
double distance(const Array<T, 2>& m, const M& q) {
  Array<T, 2> difference = dense_of(q.to_dense());
  for (index_t i = 0; i < m.size(); ++i) difference.data()[i] -= m.data()[i];
  return dense::frobenius_norm<T>(difference.view());
}

template <class T>
auto compressed(const Array<T, 2>& m, const quasiseparable::FromDenseOptions& options = {}) {
  return quasiseparable::from_dense(exec::cuda{}, to_device(m), options);
}

/// Order r in both parts.
template <class T>
Array<T, 2> of_order(index_t n, Order r, unsigned seed) {
  return dense_of(random_quasiseparable<T, transition::Diagonal>(n, r, 1, seed).to_dense());
}

}  // namespace

TEMPLATE_TEST_CASE("compression on the device finds the order and loses nothing",
                   "[quasiseparable_from_dense]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, quick() ? 14 : 130}) {
    for (const Order r : {Order{0, 0}, Order{2, 5}}) {
      const Array<T, 2> m = of_order<T>(n, r, unsigned(n));
      const auto result = compressed(m);
      INFO("n " << n << ", orders " << r.lower << ", " << r.upper);
      CHECK(result.matrix.order().lower <= r.lower);
      CHECK(result.matrix.order().upper <= r.upper);
      CHECK(result.matrix.size() == n);
      CHECK(distance(m, result.matrix) <= result.truncation_error + result.rounding_bound);
      CHECK(result.truncation_error <= double(n) * double(epsilon<T>) * result.frobenius_norm);
      CHECK(result.rounding_bound <=
            100 * double(n + 8) * double(epsilon<T>) * result.frobenius_norm);
    }
  }
}

TEMPLATE_TEST_CASE("sketches find what factorisations find", "[quasiseparable_from_dense]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  // Blocks much larger than the order, and an order that a first sketch of 16 columns misses.
  const index_t n = quick() ? 120 : 700;
  for (const Order r : {Order{2, 5}, Order{0, 3}, Order{20, 1}}) {
    if (quick() && (r.lower == 0 || (r.lower > 10 && !std::same_as<T, double>))) continue;
    const index_t block = r.lower > 10 ? n / 2 : 40;
    const Array<T, 2> m = of_order<T>(n, r, 3);
    const auto result = compressed(m, {.block_size = block});
    const auto expected = quasiseparable::from_dense(m, {.block_size = block});
    INFO("orders " << r.lower << ", " << r.upper);
    CHECK(result.matrix.lower.states() == expected.matrix.lower.states());
    CHECK(result.matrix.upper_transposed.states() == expected.matrix.upper_transposed.states());
    CHECK(distance(m, result.matrix) <= result.truncation_error + result.rounding_bound);
    CHECK(result.frobenius_norm == Approx(expected.frobenius_norm));
    // Rows of [A, Q^T] are orthonormal.
    const auto& t = result.matrix.lower;
    for (index_t i = 0; i < result.matrix.partition.blocks(); ++i) {
      INFO("block " << i);
      for (index_t k = 0; k < t.state(i + 1); ++k) {
        for (index_t l = 0; l <= k; ++l) {
          T sum{};
          for (index_t j = 0; j < t.state(i); ++j)
            sum += conjugate(t.a(0, i)(l, j)) * t.a(0, i)(k, j);
          for (index_t j = 0; j < result.matrix.partition.size(i); ++j) {
            sum += conjugate(t.q(0, i)(j, l)) * t.q(0, i)(j, k);
          }
          CHECK(std::abs(sum - T(k == l ? 1 : 0)) < 100 * double(epsilon<T>));
        }
      }
    }
  }
}

TEST_CASE("the error on the device is the one that was asked for, and it is reported truly",
          "[quasiseparable_from_dense]") {
  // Singular values of the blocks fall steadily, so that every tolerance cuts.
  const index_t n = quick() ? 48 : 900, block = quick() ? 16 : 64;
  const auto m = matrix<double>(n, n, [](index_t i, index_t j) {
    return 1 / (1 + 0.1 * std::abs(double(i - j)) + (i > j ? 0.3 : 0));
  });
  const double norm = dense::frobenius_norm<double>(m.view());
  index_t previous = n;
  for (const double tolerance : {1e-10, 1e-6, 1e-3, 1e-1}) {
    const auto result = compressed(m, {.tolerance = tolerance, .block_size = block});
    const auto expected =
        quasiseparable::from_dense(m, {.tolerance = tolerance, .block_size = block});
    const double error = distance(m, result.matrix);
    CHECK(result.truncation_error <= tolerance * norm);
    CHECK(std::abs(error - result.truncation_error) <= result.rounding_bound);
    CHECK(result.frobenius_norm == Approx(norm));
    CHECK(result.matrix.order().lower < previous);
    CHECK(std::abs(result.matrix.order().lower - expected.matrix.order().lower) <= 1);
    previous = result.matrix.order().lower;
    if (tolerance != 1e-3) continue;
    const auto absolute =
        compressed(m, {.absolute_tolerance = tolerance * norm, .block_size = block});
    CHECK(same_bits(absolute.matrix.lower.all_p(), result.matrix.lower.all_p()));
  }
}

TEST_CASE("a fixed order on the device", "[quasiseparable_from_dense]") {
  const index_t n = 70;
  const auto m = of_order<double>(n, {6, 6}, 4);
  for (const index_t block : {12, 35}) {
    if (quick() && block == 12) continue;
    const auto result = compressed(m, {.order = Order{3, 8}, .block_size = block});
    CHECK(result.matrix.order() == Order{3, 6});
    const double error = distance(m, result.matrix);
    CHECK(error > 1e-3);
    CHECK(std::abs(error - result.truncation_error) <= result.rounding_bound);
    const auto none = compressed(m, {.order = Order{0, 0}, .block_size = block});
    CHECK(none.matrix.order() == Order{0, 0});
    CHECK(std::abs(distance(m, none.matrix) - none.truncation_error) <= none.rounding_bound);
  }
}

TEST_CASE("known orders on the device", "[quasiseparable_from_dense]") {
  const index_t n = quick() ? 70 : 400;
  SECTION("inverse of tridiag(-1, 2, -1): (1, 1)") {
    const auto m = matrix<double>(n, n, [&](index_t i, index_t j) {
      return double(std::min(i, j) + 1) * double(n - std::max(i, j)) / double(n + 1);
    });
    CHECK(compressed(m).matrix.order() == Order{1, 1});
  }
  SECTION("shift: (1, 0), exactly") {
    Array<double, 2> m({n, n});
    for (index_t i = 1; i < n; ++i) m(i, i - 1) = 1;
    const auto result = compressed(m);
    CHECK(result.matrix.order() == Order{1, 0});
    CHECK(distance(m, result.matrix) < 1e-14);
  }
  SECTION("zero: (0, 0)") {
    const auto result = compressed(Array<double, 2>({n, n}));
    CHECK(result.matrix.order() == Order{0, 0});
    CHECK(result.truncation_error == 0);
  }
  SECTION("no rows") {
    CHECK(compressed(Array<double, 2>({0, 0})).matrix.size() == 0);
  }
}

TEST_CASE("any strides, any scale, the same bits again", "[quasiseparable_from_dense]") {
  const index_t n = quick() ? 50 : 180;
  const auto m = of_order<double>(n, {2, 4}, 6);
  const auto there = to_device(m);
  const quasiseparable::FromDenseOptions options{.block_size = n / 2};
  const auto result = quasiseparable::from_dense(exec::cuda{}, there, options);
  const auto again = quasiseparable::from_dense(exec::cuda{}, there, options);
  CHECK(same_bits(result.matrix.lower.all_p(), again.matrix.lower.all_p()));
  CHECK(same_bits(result.matrix.lower.all_q(), again.matrix.lower.all_q()));
  CHECK(same_bits(result.matrix.upper_transposed.all_a(), again.matrix.upper_transposed.all_a()));

  // M^T, and M with its rows and columns in reverse order: lower and upper part change places.
  for (const auto& view : {there.view().transposed(), there.view().reversed(0).reversed(1)}) {
    const auto exchanged = quasiseparable::from_dense<double>(exec::cuda{}, view, options);
    CHECK(exchanged.matrix.order() == Order{4, 2});
  }
  const auto transposed =
      quasiseparable::from_dense<double>(exec::cuda{}, there.view().transposed(), options);
  CHECK(distance(to_array(m.view().transposed()), transposed.matrix) <=
        transposed.truncation_error + transposed.rounding_bound);

  // So much that squares leave the range, and no entry does.
  for (const int exponent : {-600, 600}) {
    if (quick() && exponent > 0) continue;
    Array<double, 2> scaled = m;
    for (double& v : scaled) v = std::ldexp(v, exponent);
    const auto of_scaled = compressed(scaled, options);
    Array<double, 2> p = of_scaled.matrix.lower.all_p();
    for (double& v : p) v = std::ldexp(v, -exponent);
    CHECK(same_bits(p, result.matrix.lower.all_p()));
    CHECK(std::ldexp(of_scaled.frobenius_norm, -exponent) == Approx(result.frobenius_norm));
  }
}

TEST_CASE("what from_dense on the device refuses", "[quasiseparable_from_dense]") {
  Array<double, 2> m({40, 40});
  CHECK_THROWS_AS(compressed(Array<double, 2>({3, 4})), ShapeError);
  CHECK_THROWS_AS(compressed(m, {.tolerance = -1.0}), DomainError);
  CHECK_THROWS_AS(compressed(m, {.order = Order{-1, 0}}), DomainError);
  CHECK_THROWS_AS(compressed(m, {.block_size = 0}), DomainError);
  m(7, 33) = std::nan("");
  m(9, 1) = std::numeric_limits<double>::infinity();
  for (const bool by_columns : {false, true}) {
    // The transpose of a transposed copy.
    const auto there = by_columns ? to_device(to_array(m.view().transposed())) : to_device(m);
    try {
      quasiseparable::from_dense<double>(exec::cuda{},
                                         by_columns ? there.view().transposed() : there.view());
      FAIL("NaN was accepted");
    } catch (const DomainError& e) {
      CHECK(std::string(e.what()).find("entry (7, 33) is nan") != std::string::npos);
    }
  }
}
