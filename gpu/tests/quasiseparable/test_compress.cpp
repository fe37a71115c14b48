// Compression of generators on the device against dense matrices and the CPU, and block form there.
#include "structmat/quasiseparable/compress.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/block_algebra.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/to_block.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using namespace structmat::test;
using quasiseparable::CompressOptions;
using quasiseparable::TruncationReport;
using Form = CompressOptions::Form;

namespace {

template <class T>
using Blocks = Quasiseparable<T, transition::Block>;

Array<std::byte, 1, space::cuda> junk(index_t bytes) {
  Array<std::byte, 1> all({bytes});
  std::fill(all.begin(), all.end(), std::byte{0xff});
  return to_device(all);
}

template <class T>
struct OnHost {
  Blocks<T> matrix;
  Array<TruncationReport, 1> reports;
};

/// A fixed order, in a workspace of exactly the size asked for, filled with NaN.
template <class T>
OnHost<T> cut(const Blocks<T>& m, Order order, Form form = Form::input_normal) {
  const auto there = to_device(m);
  auto result = quasiseparable::block_zeros_on_device(there, order);
  Array<TruncationReport, 1, space::cuda> reports({m.batch()});
  auto workspace = junk(quasiseparable::compress_workspace_bytes(there, order));
  quasiseparable::compress(exec::cuda{nullptr, workspace.view()}, there, form, result,
                           reports.view());
  return {to_host(result), to_host(reports)};
}

template <class T>
quasiseparable::FromDense<T> compressed(const Blocks<T>& m, const CompressOptions& options = {}) {
  auto found = quasiseparable::compress(exec::cuda{}, to_device(m), options);
  return {to_host(found.matrix), found.truncation_error, found.rounding_bound,
          found.frobenius_norm};
}

template <class T, class K = transition::Diagonal>
Blocks<T> blocks_of(index_t n, Order r, index_t batch, index_t size, unsigned seed = 5) {
  return quasiseparable::to_block(random_quasiseparable<T, K>(n, r, batch, seed), size);
}

/// Singular values of its blocks fall steadily.
Blocks<double> decaying(index_t n, index_t size) {
  const auto dense = matrix<double>(n, n, [&](index_t i, index_t j) {
    return 1 / (1 + std::abs(double(i - j))) + (i > j ? 0.1 * double(i) / double(n) : 0.0);
  });
  return quasiseparable::from_dense(dense, {.block_size = size}).matrix;
}

}  // namespace

TEMPLATE_TEST_CASE("block form on the device is that of the CPU", "[quasiseparable_compress]",
                   float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  const auto check = [&]<class K>(K) {
    for (const index_t n : {0, 1, 2, 17, 40}) {
      for (const index_t size : {0, 5}) {
        const auto m = random_quasiseparable<T, K>(n, {3, 2}, 2, 7);
        const auto there = to_device(m);
        const auto found = to_host(quasiseparable::to_block(exec::cuda{}, there.view(), size));
        const auto expected = quasiseparable::to_block(m, size);
        CHECK(found.partition == expected.partition);
        CHECK(found.lower.states() == expected.lower.states());
        CHECK(found.upper_transposed.states() == expected.upper_transposed.states());
        double error = 0;
        for (index_t b = 0; b < m.batch(); ++b) {
          error = std::max(error, distance(wide_dense(found, b), wide_dense(m, b)));
        }
        CHECK(error <= 100 * double(epsilon<T>) * (1 + norm_of(wide_dense(m, 0))));
      }
    }
  };
  check(transition::Scalar{});
  check(transition::Diagonal{});
  check(transition::Dense{});
}

TEMPLATE_TEST_CASE("compression on the device finds the order of a redundant sum",
                   "[quasiseparable_compress]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  // One block, one chunk of blocks, many chunks.
  for (const index_t n : {0, 1, 2, 30, quick() ? 130 : 300}) {
    if (quick() && n > 100 && !std::same_as<T, std::complex<double>>) continue;
    INFO("n " << n);
    // Blocks of 2 rows make several chunks, which are scanned.
    const auto x = blocks_of<T>(n, {2, 3}, 2, n > 100 ? 2 : 6);
    const auto doubled = quasiseparable::add(x, x);
    const auto result = compressed(doubled, {.tolerance = 100 * double(epsilon<T>)});
    CHECK(result.matrix.order().lower <= 2);
    CHECK(result.matrix.order().upper <= 3);
    const auto fixed = cut(doubled, {3, 3});
    for (index_t b = 0; b < 2; ++b) {
      const auto expected = wide_dense(doubled, b);
      CHECK(distance(wide_dense(result.matrix, b), expected) <=
            result.truncation_error + result.rounding_bound);
      CHECK(distance(wide_dense(fixed.matrix, b), expected) <=
            fixed.reports(b).truncation_error + fixed.reports(b).rounding_bound);
      // The norm is summed over n rows in the precision of T.
      CHECK(fixed.reports(b).frobenius_norm ==
            Approx(norm_of(expected)).epsilon(1e-5 + 2 * double(n) * double(epsilon<T>)));
      CHECK(fixed.reports(b).truncation_error + fixed.reports(b).rounding_bound <=
            double(n + 8) * 1000 * double(epsilon<T>) * norm_of(expected));
    }
  }
}

TEST_CASE("cuts of every boundary for itself keep to the tolerance, and the error to its bound",
          "[quasiseparable_compress]") {
  const index_t n = quick() ? 64 : 400;
  const auto exact = decaying(n, quick() ? 16 : 8);
  const auto dense = wide_dense(exact);
  const double norm = norm_of(dense);
  index_t last = INT64_MAX;
  for (const double tolerance : {1e-10, 1e-6, 1e-3, 1e-1}) {
    const auto result = compressed(exact, {.tolerance = tolerance});
    const auto on_host = quasiseparable::compress(exact, {.tolerance = tolerance});
    const double error = distance(wide_dense(result.matrix), dense);
    INFO("tolerance " << tolerance << ", order " << result.matrix.order().lower << ", error "
                      << error << " of " << result.truncation_error);
    CHECK(result.frobenius_norm == Approx(norm).epsilon(1e-12));
    CHECK(result.truncation_error <= tolerance * norm);
    CHECK(error <= result.truncation_error + result.rounding_bound);
    // Not far from it, and no block of the result is nearer than it can be.
    CHECK(error >= 0.2 * result.truncation_error);
    CHECK(result.matrix.order().lower >= on_host.matrix.order().lower);
    CHECK(result.matrix.order().lower <= on_host.matrix.order().lower + 1);
    CHECK(result.matrix.order().lower < last);
    last = result.matrix.order().lower;
    const auto absolute = compressed(exact, {.absolute_tolerance = tolerance * norm});
    CHECK(absolute.matrix.order() == result.matrix.order());
  }
  const auto fixed = cut(exact, {3, 2});
  CHECK(fixed.matrix.order() == Order{3, 2});
  const double error = distance(wide_dense(fixed.matrix), dense);
  CHECK(error <= fixed.reports(0).truncation_error + fixed.reports(0).rounding_bound);
  const auto on_host = quasiseparable::compress(exact, {.tolerance = 0.0, .order = Order{3, 2}});
  CHECK(error <= 1.5 * on_host.truncation_error);
  const auto same = compressed(exact, {.tolerance = 0.0, .order = Order{3, 2}});
  CHECK(distance(wide_dense(same.matrix), wide_dense(fixed.matrix)) <= 1e-12 * norm);
}

TEST_CASE("input-normal and balanced generators on the device", "[quasiseparable_compress]") {
  using T = std::complex<double>;
  const auto m = blocks_of<T, transition::Dense>(quick() ? 90 : 300, {3, 2}, 1, 5);
  const auto expected = wide_dense(m);
  const auto normal = compressed(m).matrix;
  const auto balanced = compressed(m, {.form = Form::balanced}).matrix;
  CHECK(distance(wide_dense(normal), expected) <= 1e-12 * norm_of(expected));
  CHECK(distance(wide_dense(balanced), expected) <= 1e-12 * norm_of(expected));
  const auto on_host = quasiseparable::compress(m, {.form = Form::balanced}).matrix;
  double worst = 0;
  for (const auto* t : {&normal.lower, &normal.upper_transposed}) {
    for (index_t k = 0; k + 1 < normal.partition.blocks(); ++k) {
      const auto a = t->a(0, k);
      const auto q = t->q(0, k);
      for (index_t i = 0; i < a.extent(0); ++i) {
        for (index_t j = 0; j < a.extent(0); ++j) {
          T s{};
          for (index_t l = 0; l < a.extent(1); ++l) s += a(i, l) * std::conj(a(j, l));
          for (index_t l = 0; l < q.extent(0); ++l) s += q(l, i) * std::conj(q(l, j));
          worst = std::max(worst, std::abs(s - (i == j ? 1.0 : 0.0)));
        }
      }
    }
  }
  CHECK(worst < 1e-12);
  // Balanced generators are determined but for phases: columns of P have the same norms.
  double difference = 0;
  for (index_t k = 1; k < m.partition.blocks(); ++k) {
    const auto p = balanced.lower.p(0, k), q = on_host.lower.p(0, k);
    REQUIRE(p.extent(1) == q.extent(1));
    for (index_t l = 0; l < p.extent(1); ++l) {
      double own = 0, other = 0;
      for (index_t i = 0; i < p.extent(0); ++i)
        own += std::norm(p(i, l)), other += std::norm(q(i, l));
      difference = std::max(difference, std::abs(std::sqrt(own) - std::sqrt(other)));
    }
  }
  CHECK(difference < 1e-10);
}

TEST_CASE("states on any scale, transitions that grow", "[quasiseparable_compress]") {
  // M_ij = u_i v_j, with all of the growth in the transitions, or in P and Q.
  const index_t n = 60;
  for (const double growth : {1.0, 1e-8, 1e8}) {
    auto m = random_quasiseparable<double, transition::Diagonal>(n, {2, 2}, 1, 9);
    const auto reference = wide_dense(quasiseparable::to_block(m, 3));
    const double norm = norm_of(reference);
    for (index_t i = 0; i < n; ++i) {
      for (index_t l = 0; l < 2; ++l) {
        // Powers of two: the matrix is the same to the last bit but for products.
        const double factor = std::exp2(std::rint(std::log2(growth)) * double(i % 5 + 3 * l));
        const double next = std::exp2(std::rint(std::log2(growth)) * double((i + 1) % 5 + 3 * l));
        m.p(0, i, l) /= factor;
        m.q(0, i, l) *= next;
        m.a(0, i, l) *= next / factor;
      }
    }
    const auto x = quasiseparable::to_block(m, 3);
    const auto result = cut(quasiseparable::add(x, x), {2, 2});
    auto twice = reference;
    for (auto& v : twice) v *= 2;
    INFO("growth " << growth);
    CHECK(distance(wide_dense(result.matrix), twice) <= 1e-13 * norm);
    CHECK(result.reports(0).truncation_error <= 1e-13 * norm);
  }
  // Far from 1 as a whole.
  for (const int exponent : {-500, 450}) {
    auto m = blocks_of<double>(50, {2, 3}, 1, 6);
    const auto expected = cut(quasiseparable::add(m, m), {2, 3});
    for (Array<double, 2>* all : {&m.lower.all_p(), &m.upper_transposed.all_q()}) {
      for (double& v : *all) v = std::ldexp(v, exponent);
    }
    for (double& v : m.diagonal.all()) v = std::ldexp(v, exponent);
    auto result = cut(quasiseparable::add(m, m), {2, 3});
    CHECK(std::ldexp(result.reports(0).frobenius_norm, -exponent) ==
          Approx(expected.reports(0).frobenius_norm));
    const auto back = [&](Blocks<double>& of) {
      for (Array<double, 2>* all :
           {&of.lower.all_p(), &of.upper_transposed.all_p(), &of.diagonal.all()}) {
        for (double& v : *all) v = std::ldexp(v, -exponent);
      }
    };
    back(result.matrix);
    CHECK(distance(wide_dense(result.matrix), wide_dense(expected.matrix)) <= 1e-13);
  }
}

TEST_CASE("large states and large blocks", "[quasiseparable_compress]") {
  // More states than a warp's, more rows than are taken at a time.
  const index_t n = quick() ? 130 : 600;
  const auto x = blocks_of<double>(n, {11, 3}, 1, quick() ? 60 : 290);
  const auto result = cut(quasiseparable::add(x, x), {11, 3});
  auto twice = wide_dense(x);
  for (auto& v : twice) v *= 2;
  CHECK(distance(wide_dense(result.matrix), twice) <= 1e-12 * norm_of(twice));
  CHECK(result.reports(0).truncation_error <= 1e-12 * norm_of(twice));
}

TEST_CASE("compression repeats, does not depend on the batch, and can be captured",
          "[quasiseparable_compress]") {
  const Order order{2, 2};
  const index_t n = quick() ? 80 : 300;
  const auto m = blocks_of<double>(n, {4, 3}, 3, 4);
  const auto first = cut(m, order), second = cut(m, order);
  CHECK(same_bits(first.matrix.lower.all_p(), second.matrix.lower.all_p()));
  CHECK(same_bits(first.matrix.lower.all_a(), second.matrix.lower.all_a()));
  CHECK(same_bits(first.matrix.upper_transposed.all_q(), second.matrix.upper_transposed.all_q()));

  const auto one = to_device(m);
  auto result = quasiseparable::block_zeros_on_device(one, order);
  Array<TruncationReport, 1, space::cuda> reports({3});
  auto workspace = junk(quasiseparable::compress_workspace_bytes(one, order));
  replay([&](void* stream) {
    quasiseparable::compress(exec::cuda{stream, workspace.view()}, one, Form::input_normal, result,
                             reports.view());
  });
  CHECK(same_bits(to_host(result).lower.all_p(), first.matrix.lower.all_p()));
  CHECK(to_host(reports)(2).truncation_error == first.reports(2).truncation_error);

  // Entry 1 alone.
  Blocks<double> alone = blocks_of<double>(n, {4, 3}, 1, 4);
  const auto take = [](Array<double, 2>& to, const Array<double, 2>& from) {
    std::copy_n(from.data() + from.extent(1), from.extent(1), to.data());
  };
  for (const auto& [to, from] : {std::pair{&alone.lower, &m.lower},
                                 std::pair{&alone.upper_transposed, &m.upper_transposed}}) {
    take(to->all_p(), from->all_p()), take(to->all_q(), from->all_q());
    take(to->all_a(), from->all_a());
  }
  take(alone.diagonal.all(), m.diagonal.all());
  const auto single = cut(alone, order);
  CHECK(std::equal(single.matrix.lower.all_p().begin(), single.matrix.lower.all_p().end(),
                   first.matrix.lower.all_p().data() + first.matrix.lower.all_p().extent(1)));
  CHECK(single.reports(0).truncation_error == first.reports(1).truncation_error);
}

TEST_CASE("what is not finite stays in its entry, and is reported", "[quasiseparable_compress]") {
  for (const int where : {0, 1, 2, 3}) {
    auto m = blocks_of<double>(100, {2, 2}, 2, 4);
    Array<double, 2>& all = where == 0   ? m.lower.all_p()
                            : where == 1 ? m.lower.all_a()
                            : where == 2 ? m.upper_transposed.all_q()
                                         : m.diagonal.all();
    all(1, 40) = where == 1 ? std::numeric_limits<double>::infinity() : std::nan("");
    const auto result = cut(m, {1, 1});
    INFO("where " << where);
    CHECK(std::isnan(result.reports(1).truncation_error));
    CHECK(std::isfinite(result.reports(0).truncation_error));
    CHECK(std::isfinite(norm_of(wide_dense(result.matrix, 0))));
    CHECK(std::isnan(norm_of(wide_dense(result.matrix, 1))));
    CHECK_THROWS_AS(compressed(m), DomainError);
  }
  auto huge = blocks_of<double>(20, {1, 1}, 1, 4);
  for (double& v : huge.lower.all_a()) v = 1e200;
  CHECK_THROWS_AS(compressed(huge), DomainError);
}

TEST_CASE("what compress on the device refuses", "[quasiseparable_compress]") {
  const auto m = blocks_of<double>(20, {2, 2}, 1, 4), other = blocks_of<double>(20, {2, 2}, 1, 5);
  const auto there = to_device(m);
  CHECK_THROWS_AS(compressed(m, {.tolerance = -1.0}), DomainError);
  CHECK_THROWS_AS(compressed(m, {.order = Order{0, -1}}), DomainError);
  Array<TruncationReport, 1, space::cuda> reports({1}), two({2});
  auto result = quasiseparable::block_zeros_on_device(there, {1, 1});
  auto workspace = junk(quasiseparable::compress_workspace_bytes(there, {1, 1}));
  const exec::cuda e{nullptr, workspace.view()};
  CHECK_THROWS_AS(quasiseparable::compress(e, there, Form::input_normal, result, two.view()),
                  ShapeError);
  auto elsewhere = to_device(other);
  CHECK_THROWS_AS(quasiseparable::compress(e, there, Form::input_normal, elsewhere, reports.view()),
                  ShapeError);
  CHECK_THROWS_AS(
      quasiseparable::compress(exec::cuda{}, there, Form::input_normal, result, reports.view()),
      DomainError);
  CHECK_THROWS_AS(
      quasiseparable::to_block(
          exec::cuda{},
          to_device(random_quasiseparable<double, transition::Diagonal>(20, {3, 2}, 1, 3)).view(),
          result),
      ShapeError);
}
