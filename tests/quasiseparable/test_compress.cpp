#include "structmat/quasiseparable/compress.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/block_algebra.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/from_kernel.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

namespace {

using namespace structmat;
using namespace structmat::test;
using quasiseparable::Blocks;
using quasiseparable::compress;

TEMPLATE_TEST_CASE("compression finds the order of a redundant sum", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 30, 61}) {
    INFO("n " << n);
    const auto x = quasiseparable::to_block(
        random_quasiseparable<T, transition::Diagonal>(n, {2, 3}, 2, 5), 6);
    const auto doubled = quasiseparable::add(x, x);
    const auto result = compress(doubled, {.tolerance = 100 * double(epsilon<T>)});
    CHECK(result.matrix.order().lower <= 2);
    CHECK(result.matrix.order().upper <= 3);
    for (index_t b = 0; b < 2; ++b) {
      const auto got = wide_dense(result.matrix, b), expected = wide_dense(doubled, b);
      CHECK(distance(got, expected) <= result.truncation_error + result.rounding_bound);
    }
  }
}

TEST_CASE("a slowly decaying matrix is cut off to the tolerance, and the error is true") {
  const index_t n = 120;
  // Blocks of 1 / (1 + |i - j|) have singular values that fall geometrically.
  const auto dense = matrix<double>(n, n, [](index_t i, index_t j) {
    return 1 / (1 + std::abs(double(i - j))) + (i > j ? 0.1 * double(i) / double(n) : 0.0);
  });
  const auto exact = quasiseparable::from_dense(dense, {.block_size = 8}).matrix;
  const double norm = norm_of(dense);
  index_t last = INT64_MAX;
  for (const double tolerance : {1e-10, 1e-6, 1e-3, 1e-1}) {
    const auto result = compress(exact, {.tolerance = tolerance});
    const auto got = wide_dense(result.matrix);
    const double error = distance(got, dense);
    INFO("tolerance " << tolerance << ", order " << result.matrix.order().lower);
    CHECK(result.frobenius_norm == Approx(norm).epsilon(1e-12));
    CHECK(result.truncation_error <= tolerance * norm);
    CHECK(error == Approx(result.truncation_error).epsilon(1e-4).margin(1e-12 * norm));
    CHECK(result.matrix.order().lower < last);
    last = result.matrix.order().lower;

    const auto again = compress(result.matrix, {.tolerance = tolerance / 1000});
    CHECK(again.matrix.order() == result.matrix.order());
    CHECK(distance(wide_dense(again.matrix), got) <= 1e-3 * tolerance * norm + 1e-12 * norm);

    const auto absolute = compress(exact, {.absolute_tolerance = tolerance * norm});
    CHECK(absolute.matrix.order() == result.matrix.order());
  }
  const auto fixed = compress(exact, {.tolerance = 0.0, .order = Order{3, 2}});
  CHECK(fixed.matrix.order() == Order{3, 2});
  CHECK(distance(wide_dense(fixed.matrix), dense) == Approx(fixed.truncation_error).epsilon(1e-6));
}

TEST_CASE("input-normal generators have orthonormal rows, balanced ones equal Gramians") {
  const auto m = quasiseparable::to_block(
      random_quasiseparable<std::complex<double>, transition::Dense>(40, {3, 2}, 1, 5), 5);
  const auto normal = compress(m).matrix;
  const auto balanced =
      compress(m, {.form = quasiseparable::CompressOptions::Form::balanced}).matrix;
  CHECK(distance(wide_dense(balanced), wide_dense(m)) <= 1e-12 * norm_of(wide_dense(m)));
  for (const auto* t : {&normal.lower, &normal.upper_transposed}) {
    for (index_t k = 0; k + 1 < normal.partition.blocks(); ++k) {
      const auto a = t->a(0, k);
      const auto q = t->q(0, k);
      for (index_t i = 0; i < a.extent(0); ++i) {
        for (index_t j = 0; j < a.extent(0); ++j) {
          std::complex<double> s{};
          for (index_t l = 0; l < a.extent(1); ++l) s += a(i, l) * std::conj(a(j, l));
          for (index_t l = 0; l < q.extent(0); ++l) s += q(l, i) * std::conj(q(l, j));
          CHECK(std::abs(s - (i == j ? 1.0 : 0.0)) < 1e-12);
        }
      }
    }
  }
  // Gramians of the columns in front of k and of the rows from k on, by their recurrences.
  const auto& t = balanced.lower;
  const index_t blocks = balanced.partition.blocks();
  using Dense = Array<std::complex<double>, 2>;
  std::vector<Dense> columns(blocks + 1, Dense({0, 0})), rows = columns;
  const auto gramian = [](const Dense& before, const auto& a, const auto& in) {
    Dense g({a.extent(0), a.extent(0)});
    for (index_t i = 0; i < g.extent(0); ++i) {
      for (index_t j = 0; j < g.extent(0); ++j) {
        for (index_t k = 0; k < a.extent(1); ++k) {
          for (index_t l = 0; l < a.extent(1); ++l) {
            g(i, j) += a(i, k) * before(k, l) * std::conj(a(j, l));
          }
        }
        for (index_t k = 0; k < in.extent(0); ++k) g(i, j) += in(k, i) * std::conj(in(k, j));
      }
    }
    return g;
  };
  for (index_t k = 0; k < blocks; ++k) columns[k + 1] = gramian(columns[k], t.a(0, k), t.q(0, k));
  for (index_t k = blocks; k-- > 0;) {
    rows[k] = gramian(rows[k + 1], t.a(0, k).transposed(), t.p(0, k));
  }
  for (index_t k = 1; k < blocks; ++k) {
    for (index_t i = 0; i < t.state(k); ++i) {
      for (index_t j = 0; j < t.state(k); ++j) {
        if (i != j) {
          CHECK(std::abs(columns[k](i, j)) < 1e-11);
          CHECK(std::abs(rows[k](i, j)) < 1e-11);
        }
      }
      CHECK(columns[k](i, i).real() == Approx(rows[k](i, i).real()).epsilon(1e-8));
    }
  }
}

TEST_CASE("the norm comes from the generators alone") {
  const auto m = random_quasiseparable<std::complex<float>, transition::Diagonal>(50, {3, 2}, 2, 5);
  for (const index_t b : {0, 1}) {
    CHECK(quasiseparable::frobenius_norm(m, b) == Approx(norm_of(wide_dense(m, b))).epsilon(1e-5));
  }
}

TEST_CASE("a long product is compressed without an n x n matrix") {
  const index_t n = 100000;
  std::vector<double> times(n);
  for (index_t i = 0; i < n; ++i) times[i] = double(i) * 0.1;
  const auto m = quasiseparable::to_block(
      quasiseparable::from_kernel(times, quasiseparable::Kernel::matern32(1), 0.1));
  const auto square = quasiseparable::multiply(m, m);
  CHECK(square.order() == Order{4, 4});
  const auto result = compress(square, {.tolerance = 1e-10});
  CHECK(result.truncation_error <= 1e-10 * result.frobenius_norm);
  Random random(1);
  const auto x = random.array<double, 1>({n});
  const auto expected = m * (m * x), got = result.matrix * x;
  double error = 0, scale = 0;
  for (index_t i = 0; i < n; ++i) {
    error = std::hypot(error, got(i) - expected(i));
    scale = std::hypot(scale, expected(i));
  }
  CHECK(error <= 1e-9 * scale);
}

TEST_CASE("compress refuses what has no answer") {
  auto m = random_quasiseparable<double, transition::Diagonal>(20, {2, 2}, 1, 3);
  CHECK(message_from<DomainError>([&] { (void)compress(m, {.tolerance = -1.0}); }) ==
        "quasiseparable::compress: the tolerance is -1.000000, it must be at least 0");
  m.q(0, 9, 1) = NAN;
  CHECK(message_from<DomainError>([&] { (void)compress(m); }) ==
        "quasiseparable::compress: the generators of rows 8 to 15 of batch entry 0 are not finite, "
        "only finite input has an answer");
  auto huge = random_quasiseparable<double, transition::Diagonal>(20, {1, 1}, 1, 3);
  for (double& v : huge.a) v = 1e200;
  CHECK_THROWS_AS((void)compress(huge), DomainError);
}

}  // namespace
