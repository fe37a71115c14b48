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

namespace {

using quasiseparable::TruncationReport;

template <class T>
struct Fixed {
  Quasiseparable<T, transition::Dense> matrix;
  Array<TruncationReport, 1> reports;
};

/// In a workspace of exactly the size asked for, and results, filled with NaN.
template <class T>
struct FixedOnDevice {
  FixedOnDevice(const View<const T, 3, space::cuda>& m, Order order) {
    Quasiseparable<T, transition::Dense> nothing(m.extent(1), order, m.extent(0));
    for (auto* all : {&nothing.p, &nothing.q, &nothing.g, &nothing.h}) {
      std::fill(all->begin(), all->end(), T(std::nan("")));
    }
    result = to_device(nothing);
    reports = Array<TruncationReport, 1, space::cuda>({m.extent(0)});
    Array<std::byte, 1> junk({quasiseparable::from_dense_workspace_bytes<T>(m, order)});
    std::fill(junk.begin(), junk.end(), std::byte{0xff});
    workspace = to_device(junk);
  }
  void run(void* stream, const View<const T, 3, space::cuda>& m) {
    quasiseparable::from_dense<T>(exec::cuda{stream, workspace.view()}, m, result, reports.view());
  }
  Fixed<T> fetch() const { return {to_host(result), to_host(reports)}; }

  Quasiseparable<T, transition::Dense, space::cuda> result;
  Array<TruncationReport, 1, space::cuda> reports;
  Array<std::byte, 1, space::cuda> workspace;
};

template <class T>
Fixed<T> fixed(const View<const T, 3, space::cuda>& m, Order order) {
  FixedOnDevice<T> there(m, order);
  there.run(nullptr, m);
  return there.fetch();
}

/// ||M_b - Q_b||_F
template <class T>
double distance(const Array<T, 3>& m, const Quasiseparable<T, transition::Dense>& q, index_t b) {
  Array<T, 3> difference = q.to_dense();
  for (index_t i = 0; i < m.size(); ++i) difference.data()[i] -= m.data()[i];
  return dense::frobenius_norm<T>(std::as_const(difference).view().select(0, b));
}

}  // namespace

TEMPLATE_TEST_CASE("fixed orders for every index", "[quasiseparable_from_dense]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {1, 2, 15, 33, quick() ? 90 : 500}) {
    if (quick() && n > 40 && !std::same_as<T, std::complex<double>>) continue;
    for (const Order r : {Order{2, 5}, Order{0, 3}}) {
      const Array<T, 3> m =
          random_quasiseparable<T, transition::Diagonal>(n, r, 2, unsigned(n)).to_dense();
      const auto there = to_device(m);
      const auto result = fixed<T>(there.view(), {std::max<index_t>(r.lower, 1), 5});
      for (index_t b = 0; b < 2; ++b) {
        INFO("n " << n << ", orders " << r.lower << ", " << r.upper);
        const auto& report = result.reports(b);
        const double norm = dense::frobenius_norm<T>(std::as_const(m).view().select(0, b));
        CHECK(report.frobenius_norm == Approx(norm).epsilon(1e-5));
        CHECK(distance(m, result.matrix, b) <= report.truncation_error + report.rounding_bound);
        CHECK(report.truncation_error <= 50 * double(n) * double(epsilon<T>) * norm);
        CHECK(report.rounding_bound <= 100 * double(n + 8) * double(epsilon<T>) * norm);
      }
    }
  }
}

TEST_CASE("orders too small cut, and the error keeps to its bound", "[quasiseparable_from_dense]") {
  const index_t n = quick() ? 70 : 600;
  // Blocks of rows of 16, and, with a larger order, others.
  for (const Order order : {Order{3, 4}, Order{24, 0}}) {
    if (quick() && order.lower == 24) continue;
    Array<double, 3> m({1, n, n});
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        m(0, i, j) = 1 / (1 + 0.1 * std::abs(double(i - j)) + (i > j ? 0.3 : 0));
      }
    }
    const auto result = fixed<double>(to_device(m).view(), order);
    const auto& report = result.reports(0);
    const double error = distance(m, result.matrix, 0);
    const auto blocks = quasiseparable::from_dense(dense_of(m), {.tolerance = 0.0, .order = order});
    INFO("error " << error << " of at most " << report.truncation_error << ", by blocks "
                  << blocks.truncation_error);
    CHECK(error <= report.truncation_error + report.rounding_bound);
    CHECK(report.truncation_error <= 20 * error);
    // Entries of diagonal blocks are cut, too.
    CHECK(error >= 0.9 * blocks.truncation_error);
    CHECK(error <= 10 * blocks.truncation_error);
    // Transitions do not grow.
    double worst = 0;
    for (index_t k = 1; k + 1 < n; ++k) {
      for (index_t i = 0; i < order.lower; ++i) {
        double row = 0;
        for (index_t j = 0; j < order.lower; ++j) row += std::norm(result.matrix.a(0, k, i, j));
        worst = std::max(worst, row + std::norm(result.matrix.q(0, k, i)));
      }
    }
    CHECK(worst <= 1 + 1e-12);
  }
}

TEST_CASE("fixed orders: any strides and scale, capture, the same bits again",
          "[quasiseparable_from_dense]") {
  const index_t n = quick() ? 40 : 300;
  const Order order{2, 3};
  const auto m = random_quasiseparable<double, transition::Diagonal>(n, order, 2, 3).to_dense();
  const auto there = to_device(m);
  const auto first = fixed<double>(there.view(), order);
  FixedOnDevice<double> memory(there.view(), order);
  replay([&](void* stream) { memory.run(stream, there.view()); });
  const auto second = memory.fetch();
  CHECK(same_bits(first.matrix.a, second.matrix.a));
  CHECK(same_bits(first.matrix.g, second.matrix.g));
  CHECK(first.reports(1).truncation_error == second.reports(1).truncation_error);

  // Entry 1 alone, and its transpose.
  const auto alone = fixed<double>(there.view().slice(0, 1, 2), order);
  CHECK(std::equal(alone.matrix.p.begin(), alone.matrix.p.end(),
                   first.matrix.p.data() + first.matrix.p.size() / 2));
  const auto transposed = fixed<double>(there.view().transposed(), {3, 2});
  CHECK(distance(to_array(m.view().transposed()), transposed.matrix, 1) <=
        1e-12 * transposed.reports(1).frobenius_norm);

  Array<double, 3> scaled = m;
  for (double& v : scaled) v = std::ldexp(v, -600);
  const auto small = fixed<double>(to_device(scaled).view(), order);
  Array<double, 3> p = small.matrix.p;
  for (double& v : p) v = std::ldexp(v, 600);
  CHECK(same_bits(p, first.matrix.p));
  CHECK(std::ldexp(small.reports(0).frobenius_norm, 600) ==
        Approx(first.reports(0).frobenius_norm));

  CHECK(fixed<double>(to_device(Array<double, 3>({2, 0, 0})).view(), order)
            .reports(1)
            .frobenius_norm == 0);
  const auto zero = fixed<double>(to_device(Array<double, 3>({1, 20, 20})).view(), order);
  CHECK(zero.reports(0).truncation_error == 0);
  CHECK(distance(Array<double, 3>({1, 20, 20}), zero.matrix, 0) == 0);
}

TEST_CASE("fixed orders refuse or report", "[quasiseparable_from_dense]") {
  const index_t n = 30;
  Array<double, 3> m =
      random_quasiseparable<double, transition::Diagonal>(n, {1, 1}, 2, 3).to_dense();
  m(1, 20, 3) = std::nan("");
  const auto result = fixed<double>(to_device(m).view(), {1, 1});
  CHECK(std::isfinite(result.reports(0).truncation_error));
  CHECK(std::isnan(result.reports(1).truncation_error));
  CHECK(std::isnan(result.reports(1).frobenius_norm));
  CHECK(std::isfinite(result.matrix.to_dense()(0, n - 1, 0)));
  CHECK(std::isnan(result.matrix.to_dense()(1, n - 1, 0)));

  const auto there = to_device(m);
  FixedOnDevice<double> memory(there.view(), {1, 1});
  CHECK_THROWS_AS(memory.run(nullptr, there.view().slice(1, 0, 20)), ShapeError);
  CHECK_THROWS_AS(memory.run(nullptr, there.view().slice(0, 0, 1)), ShapeError);
  CHECK_THROWS_AS(fixed<double>(there.view(), {129, 1}), Unsupported);
  memory.workspace = Array<std::byte, 1, space::cuda>({memory.workspace.size() - 1});
  CHECK_THROWS_AS(memory.run(nullptr, there.view()), DomainError);
}
