#include <catch2/catch.hpp>

#include "structmat/butterfly/apply.hpp"
#include "structmat/butterfly/apply_vjp.hpp"
#include "structmat/butterfly/fourier.hpp"
#include "structmat/fft/plan.hpp"
#include "support/apply_vjp.hpp"
#include "support/butterfly.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// The dense matrix of one factor, from the definition.
Array<double, 2> dense_factor(const Butterfly<double>& m, index_t f, index_t s) {
  const index_t n = m.size();
  Array<double, 2> a({n, n});
  for (index_t i = 0; i < n; ++i) {
    if (i / s % 2 == 1) continue;
    const index_t p = i / (2 * s) * s + i % s;
    a(i, i) = m.factors(0, f, p, 0, 0);
    a(i, i + s) = m.factors(0, f, p, 0, 1);
    a(i + s, i) = m.factors(0, f, p, 1, 0);
    a(i + s, i + s) = m.factors(0, f, p, 1, 1);
  }
  return a;
}

Array<double, 2> product_of(const Array<double, 2>& a, const Array<double, 2>& b) {
  Array<double, 2> c({a.extent(0), b.extent(1)});
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t l = 0; l < a.extent(1); ++l) {
      for (index_t j = 0; j < b.extent(1); ++j) c(i, j) += a(i, l) * b(l, j);
    }
  }
  return c;
}

}  // namespace

TEST_CASE("a butterfly is the product of its factors") {
  Random random(1);
  for (const Strides first : {Strides::increasing, Strides::decreasing}) {
    const auto m = random_butterfly<double>(8, 8, 2, first, 1, random);
    const bool up = first == Strides::increasing;
    const index_t strides[] = {up ? 1 : 4, 2, up ? 4 : 1, up ? 4 : 1, 2, up ? 1 : 4};
    Array<double, 2> expected({8, 8});
    for (index_t i = 0; i < 8; ++i) expected(i, i) = 1;
    for (index_t f = 0; f < 6; ++f) {
      expected = product_of(dense_factor(m, f, strides[f]), expected);
    }
    for (index_t i = 0; i < 8; ++i) {
      for (index_t j = 0; j < 8; ++j) CHECK(m.entry(i, j) == Approx(expected(i, j)).margin(1e-14));
    }
  }
}

TEST_CASE("the DFT is a butterfly after bit reversal") {
  using T = std::complex<double>;
  Random random(2);
  for (const index_t levels : {0, 1, 2, 5, 9}) {
    const index_t n = index_t{1} << levels;
    const auto b = butterfly::fourier<T>(levels);
    const auto x = random.array<T, 2>({1, n});
    Array<T, 1> permuted({n});
    for (index_t i = 0; i < n; ++i) permuted(i) = x(0, butterfly::bit_reversed(i, levels));
    const auto y = b * permuted;
    Array<T, 2> expected({1, n});
    fft::Plan<T>(n).forward(x.view(), expected.view());
    double error = 0;
    for (index_t i = 0; i < n; ++i) error = std::max(error, std::abs(y(i) - expected(0, i)));
    CHECK(error <= 4 * double(levels + 1) * epsilon<T> * double(n));
  }
  const auto f = butterfly::fourier<T>(3).to_dense();
  for (index_t i = 0; i < 8; ++i) {
    for (index_t j = 0; j < 8; ++j) {
      const double angle = -2 * std::acos(-1.0) * double(i * butterfly::bit_reversed(j, 3)) / 8;
      CHECK(std::abs(f(0, i, j) - std::polar(1.0, angle)) < 1e-14);
    }
  }
  CHECK_THROWS_AS(butterfly::fourier<T>(-1), ShapeError);
}

TEST_CASE("the Hadamard matrix is exact") {
  const auto h = butterfly::hadamard<float>(5).to_dense();
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned j = 0; j < 32; ++j) {
      CHECK(h(0, i, j) == (__builtin_popcount(i & j) % 2 == 0 ? 1.0F : -1.0F));
    }
  }
}

TEST_CASE("a circulant matrix is a K-matrix of width 1 after bit reversal") {
  using T = std::complex<double>;
  Random random(3);
  const index_t levels = 4, n = 16;
  const auto f = butterfly::fourier<T>(levels);
  const auto c = random.array<T, 1>({n});
  // F = B P is symmetric: F = P B^T. So F^-1 D F = conj(B) P D P B^T / n: decreasing, then
  // increasing strides.
  Butterfly<T> k(n, n, 2, Strides::decreasing);
  const auto spectrum = f * [&] {
    Array<T, 1> p({n});
    for (index_t i = 0; i < n; ++i) p(i) = c(butterfly::bit_reversed(i, levels));
    return p;
  }();
  for (index_t l = 0; l < levels; ++l) {
    for (index_t p = 0; p < n / 2; ++p) {
      for (index_t i = 0; i < 2; ++i) {
        for (index_t j = 0; j < 2; ++j) {
          k.factors(0, levels - 1 - l, p, i, j) = f.factors(0, l, p, j, i);
          k.factors(0, levels + l, p, i, j) = std::conj(f.factors(0, l, p, i, j));
        }
      }
    }
  }
  for (index_t p = 0; p < n / 2; ++p) {  // stride 1: the pair (2 p, 2 p + 1)
    for (index_t i = 0; i < 2; ++i) {
      const T d = spectrum(butterfly::bit_reversed(2 * p + i, levels)) / double(n);
      for (index_t j = 0; j < 2; ++j) k.factors(0, levels - 1, p, i, j) *= d;
    }
  }
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      CHECK(std::abs(k.entry(i, j) - c((i - j + n) % n)) <= 1e-14 * double(n));
    }
  }
}

TEMPLATE_TEST_CASE("butterfly products match the entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  Random random(4);
  index_t batch = 1;
  Strides first = Strides::increasing;
  for (const auto& [m, n] : {std::array<index_t, 2>{0, 0},
                             {1, 1},
                             {0, 1},
                             {1, 2},
                             {2, 2},
                             {3, 7},
                             {16, 16},
                             {31, 5},
                             {64, 61}}) {
    for (const index_t stages : {0, 1, 2, 3}) {
      for (const index_t k : {1, 3, 13}) {
        const auto a = random_butterfly<TestType>(m, n, stages, first, batch, random);
        check_products(a, componentwise<TestType>(stages * 7, 2), k, random);
        batch = batch % 3 + 1;
        first = opposite(first);
      }
    }
  }
}

TEMPLATE_TEST_CASE("butterflies are linear, take any stride and any number of threads", "", double,
                   std::complex<float>) {
  Random random(5);
  const auto a = random_butterfly<TestType>(21, 30, 2, Strides::decreasing, 2, random);
  check_linearity(a, componentwise<TestType>(10, 2), random);
  for (const index_t k : {1, 7, 9}) {
    check_strides(a, k, random);
    check_threads(a, k, random);
  }
  const auto large = random_butterfly<TestType>(1000, 1024, 1, Strides::increasing, 3, random);
  const auto x = random.array<TestType, 3>({3, 1024, 9});
  Array<TestType, 3> one({3, 1000, 9}), many({3, 1000, 9});
  apply(exec::cpu{1}, large, x, one);
  apply(exec::cpu{3}, large, x, many);
  CHECK(same_bits(one, many));
  check_errors(a, "butterfly");
}

TEST_CASE("factors that do not fit are refused") {
  const Array<double, 5> factors({1, 3, 4, 2, 2});
  const auto refusal = [&](index_t m, index_t n, const View<const double, 5>& f) {
    return message_from<ShapeError>([&] {
      entry(ButterflyView<double>{f, m, n, Strides::increasing}, 0, 0);
    });
  };
  CHECK(refusal(9, 8, factors) ==
        "butterfly::entry: the matrix is 9 x 8, the factors are of size 8");
  CHECK(refusal(8, 8, factors.view().slice(1, 0, 2)) ==
        "butterfly::entry: there are 2 factors, a stage has 3");
  CHECK(refusal(6, 6, factors.view().slice(2, 0, 3)) ==
        "butterfly::entry: factors are of size 6, it must be a power of two");
}

TEMPLATE_TEST_CASE("gradients of butterfly products", "", double, std::complex<double>) {
  using T = TestType;
  Random random(6);
  const auto each = [](auto& m, auto& bar, const auto& f) { f("factors", m.factors, bar.factors); };
  const auto check = [&](index_t m, index_t n, index_t stages, index_t batch, index_t x_batch,
                         index_t k) {
    check_apply_vjp<ButterflyCotangent<T>>(
        random_butterfly<T>(m, n, stages, Strides::decreasing, batch, random), x_batch, k, 8, each);
  };
  check(4, 4, 1, 1, 1, 1);
  check(7, 5, 2, 1, 2, 2);
  check(3, 4, 3, 2, 1, 5);
  check(1, 1, 1, 1, 1, 2);
  check(2, 1, 1, 1, 1, 9);
}

TEST_CASE("gradients of a batch do not depend on threads, and may be absent") {
  Random random(7);
  const auto m = random_butterfly<double>(500, 512, 1, Strides::increasing, 3, random);
  const auto x = random.array<double, 3>({3, 512, 4}), y_bar = random.array<double, 3>({3, 500, 4});
  Butterfly<double> one(500, 512, 1, Strides::increasing, 3), many = one, alone = one;
  Array<double, 3> x_one(x.extents()), x_many(x.extents());
  apply_vjp(exec::cpu{1}, m.view(), Op::none, x.view(), y_bar.view(), ButterflyCotangent(one),
            x_one.view());
  apply_vjp(exec::cpu{3}, m.view(), Op::none, x.view(), y_bar.view(), ButterflyCotangent(many),
            x_many.view());
  apply_vjp(exec::cpu{1}, m.view(), Op::none, x.view(), y_bar.view(), ButterflyCotangent(alone),
            View<double, 3>{});
  CHECK(same_bits(one.factors, many.factors));
  CHECK(same_bits(one.factors, alone.factors));
  CHECK(same_bits(x_one, x_many));
}

TEST_CASE("a batch of no factors") {
  const Butterfly<double> m(4, 4, 1, Strides::increasing, 0);
  const Array<double, 3> none({0, 4, 2}), one({1, 4, 2});
  Array<double, 3> y({0, 4, 2});
  for (const Op op : all_ops) {
    apply_op(exec::cpu{}, m, op, none, y);
    apply_op(exec::cpu{}, m, op, one, y);
    CHECK_THROWS_AS(apply_op(exec::cpu{}, m, op, one, Array<double, 3>({1, 4, 2})), ShapeError);
  }
}
