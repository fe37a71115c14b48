// Generators of fixed orders for every index of a dense matrix.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "structmat/core/device.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using namespace structmat::test;

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

TEMPLATE_TEST_CASE("fixed orders for every index", "[quasiseparable_from_dense_fixed]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {1, 2, 15, 33, 500}) {
    if (quick() && (n == 500 || (n < 33 && !std::same_as<T, std::complex<double>>))) continue;
    for (const Order r : {Order{2, 5}, Order{0, 3}}) {
      if (quick() && r.lower == 0 && !std::same_as<T, double>) continue;
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

TEST_CASE("orders too small cut, and the error keeps to its bound",
          "[quasiseparable_from_dense_fixed]") {
  const index_t n = quick() ? 40 : 600;
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
    const auto blocks = quasiseparable::from_dense(to_array(m.view().select(0, 0)),
                                                   {.tolerance = 0.0, .order = order});
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
          "[quasiseparable_from_dense_fixed]") {
  const index_t n = quick() ? 18 : 300;
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

TEST_CASE("fixed orders refuse or report", "[quasiseparable_from_dense_fixed]") {
  const index_t n = 18;
  Array<double, 3> m =
      random_quasiseparable<double, transition::Diagonal>(n, {1, 1}, 2, 3).to_dense();
  m(1, 12, 3) = std::nan("");
  const auto result = fixed<double>(to_device(m).view(), {1, 1});
  CHECK(std::isfinite(result.reports(0).truncation_error));
  CHECK(std::isnan(result.reports(1).truncation_error));
  CHECK(std::isnan(result.reports(1).frobenius_norm));
  CHECK(std::isfinite(result.matrix.to_dense()(0, n - 1, 0)));
  CHECK(std::isnan(result.matrix.to_dense()(1, n - 1, 0)));

  const auto there = to_device(m);
  FixedOnDevice<double> memory(there.view(), {1, 1});
  CHECK_THROWS_AS(memory.run(nullptr, there.view().slice(1, 0, 10)), ShapeError);
  CHECK_THROWS_AS(memory.run(nullptr, there.view().slice(0, 0, 1)), ShapeError);
  CHECK_THROWS_AS(fixed<double>(there.view(), {129, 1}), Unsupported);
  memory.workspace = Array<std::byte, 1, space::cuda>({memory.workspace.size() - 1});
  CHECK_THROWS_AS(memory.run(nullptr, there.view()), DomainError);
}
