#include "structmat/toeplitz/gohberg_semencul.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/error.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using toeplitz::GohbergSemencul;

namespace {

/// The inverse of a general matrix by elimination with pivoting: rows of [a | I] are combined.
template <class T>
Array<T, 2> gauss_jordan(Array<T, 2> a) {
  const index_t n = a.extent(0);
  Array<T, 2> x({n, n});
  for (index_t i = 0; i < n; ++i) x(i, i) = T(1);
  for (index_t k = 0; k < n; ++k) {
    index_t best = k;
    for (index_t i = k + 1; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    }
    for (index_t j = 0; j < n; ++j) {
      std::swap(a(k, j), a(best, j));
      std::swap(x(k, j), x(best, j));
    }
    for (index_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const T factor = a(i, k) / a(k, k);
      for (index_t j = 0; j < n; ++j) {
        a(i, j) -= factor * a(k, j);
        x(i, j) -= factor * x(k, j);
      }
    }
    const T pivot = a(k, k);
    for (index_t j = 0; j < n; ++j) {
      a(k, j) /= pivot;
      x(k, j) /= pivot;
    }
  }
  return x;
}

/// (inverse, operator of two of its columns) for general diagonally heavy Toeplitz matrices.
template <class T>
struct Problem {
  Problem(index_t n, index_t batch, unsigned seed) : inverse({batch, n, n}) {
    Random random(seed);
    Array<T, 2> first({batch, n}), last({batch, n});
    for (index_t b = 0; b < batch; ++b) {
      auto lags = random.array<T, 1>({2 * n + 1});
      lags(n) += T(double(n) / 2 + 1);
      const auto a = matrix<T>(n, n, [&](index_t i, index_t j) { return lags(n + i - j); });
      const Array<T, 2> x = gauss_jordan(a);
      for (index_t i = 0; i < n; ++i) {
        first(b, i) = x(i, 0);
        last(b, i) = x(i, n - 1);
        for (index_t j = 0; j < n; ++j) inverse(b, i, j) = x(i, j);
      }
    }
    formula = GohbergSemencul<T>(first.view(), last.view());
  }
  Array<T, 3> inverse;
  GohbergSemencul<T> formula;
};

}  // namespace

TEMPLATE_TEST_CASE("two columns give the inverse", "", double, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {1, 2, 3, 7, 16, 61}) {
    const Problem<T> p(n, 2, unsigned(n));
    const Array<T, 3> dense = p.formula.to_dense();
    const Array<T, 2> diagonal = p.formula.diagonal();
    double worst = 0, scale = 0;
    for (index_t i = 0; i < dense.size(); ++i) {
      worst = std::max(worst, std::abs(dense.data()[i] - p.inverse.data()[i]));
      scale = std::max(scale, std::abs(p.inverse.data()[i]));
    }
    const double tolerance = 1e-13 * scale;
    CHECK(worst <= tolerance);
    for (index_t b = 0; b < 2; ++b) {
      for (index_t i = 0; i < n; ++i) {
        CHECK(std::abs(diagonal(b, i) - p.inverse(b, i, i)) <= tolerance);
        const index_t j = (3 * i + 1) % n;
        CHECK(std::abs(p.formula.entry(i, j, b) - p.inverse(b, i, j)) <= tolerance);
      }
    }
    for (const Op op : all_ops) {
      const auto x = random.array<T, 3>({2, n, 2});
      auto y = poisoned<T, 3>({2, n, 2});
      apply_op(exec::cpu{}, p.formula, op, x, y);
      for (index_t b = 0; b < 2; ++b) {
        for (index_t i = 0; i < n; ++i) {
          for (index_t c = 0; c < 2; ++c) {
            T exact{};
            for (index_t j = 0; j < n; ++j)
              exact += op_entry<T>(op, p.inverse.view(), b, i, j) * x(b, j, c);
            CHECK(std::abs(exact - y(b, i, c)) <= 8 * double(n) * tolerance);
          }
        }
      }
    }
    check_strides(p.formula, 2, random);
    check_threads(p.formula, 5, random);
    if (n > 1) check_errors(p.formula, "toeplitz");
  }
}

TEST_CASE("no rows, no batch, and what is refused") {
  const Array<double, 2> none({1, 0}), row({1, 3}), two({2, 3});
  const GohbergSemencul<double> empty(none.view(), none.view());
  CHECK(empty.size() == 0);
  std::vector<double> x, y;
  empty.apply(x, y);
  CHECK(GohbergSemencul<double>(View<const double, 2>(nullptr, {0, 3}),
                                View<const double, 2>(nullptr, {0, 3}))
            .batch() == 0);
  CHECK_THROWS_AS(GohbergSemencul<double>(two.view(), row.view()), ShapeError);
  // x_0 = 0: the exchange of two elements is its own inverse, and its columns do not tell.
  const std::vector<double> first{0, 1}, last{1, 0};
  CHECK_THROWS_AS(
      GohbergSemencul<double>(View<const double, 1>(first), View<const double, 1>(last)),
      DomainError);
}
