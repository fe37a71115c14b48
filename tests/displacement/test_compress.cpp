#include "structmat/displacement/compress.hpp"

#include <catch2/catch.hpp>

#include "displacement/support.hpp"
#include "structmat/displacement/algebra.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::displacement::test;
namespace ds = structmat::displacement;

TEMPLATE_TEST_CASE("compression keeps the displacement and finds the rank", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const auto& [m, n, rank, order] : {std::array<index_t, 4>{9, 9, 2, 5},
                                          {4, 12, 3, 8},
                                          {12, 4, 3, 8},
                                          {3, 3, 3, 7},
                                          {1, 5, 1, 3},
                                          {6, 6, 0, 2},
                                          {5, 5, 0, 0},
                                          {0, 4, 0, 3},
                                          {4, 0, 0, 3}}) {
    INFO(m << " x " << n << ", rank " << rank << ", order " << order);
    ds::Generators<T> x{ds::toeplitz<T>(), Array<T, 2>({m, order}), Array<T, 2>({n, order})};
    if (rank > 0) {
      x.g = dense_product(random.array<T, 2>({m, rank}), random.array<T, 2>({rank, order}));
      random.fill(x.h);
    }
    const auto c = ds::compress(x);
    CHECK(c.generators.order() == rank);
    CHECK(c.generators.displacement == x.displacement);
    const double bound = 100 * double(order + 1) * double(epsilon<T>) * c.reference;
    CHECK(distance(image(c.generators), image(x)) <= bound);
    CHECK(c.error <= bound);
    CHECK(std::is_sorted(c.singular_values.rbegin(), c.singular_values.rend()));
    for (index_t k = 0; k < rank; ++k) {  // balanced: ||g_k||^2 = ||h_k||^2 = sigma_k
      double g = 0, h = 0;
      for (index_t i = 0; i < m; ++i) g += std::norm(c.generators.g(i, k));
      for (index_t j = 0; j < n; ++j) h += std::norm(c.generators.h(j, k));
      CHECK(g == Approx(c.singular_values[k]).epsilon(1e-3));
      CHECK(h == Approx(c.singular_values[k]).epsilon(1e-3));
    }
  }
}

TEST_CASE("the error of a truncation is the one that is told") {
  using T = std::complex<double>;
  Random random(2);
  const auto x = random_generators(ds::hankel<T>(), 10, 8, 6, random);
  const auto all = ds::compress(x);
  REQUIRE(all.singular_values.size() == 6);
  for (const index_t order : {0, 2, 5, 9}) {
    const auto c = ds::compress(x, {.order = order});
    CHECK(c.generators.order() == std::min<index_t>(order, 6));
    double squares = 0;
    for (std::size_t k = order; k < 6; ++k) {
      squares += all.singular_values[k] * all.singular_values[k];
    }
    CHECK(c.error == Approx(std::sqrt(squares)).margin(1e-14));
    CHECK(distance(image(c.generators), image(x)) == Approx(c.error).margin(1e-12));
  }
  const double tolerance = (all.singular_values[2] + all.singular_values[3]) / 2 / all.reference;
  CHECK(ds::compress(x, {.tolerance = tolerance}).generators.order() == 3);
}

TEST_CASE("a difference of equal matrices has order 0") {
  Random random(3);
  const auto x = random_generators(ds::toeplitz<double>(), 20, 20, 3, random);
  const auto y = random_generators(ds::toeplitz<double>(), 20, 20, 2, random);
  CHECK(ds::compress(ds::subtract(x, x)).generators.order() == 0);
  CHECK(ds::compress(ds::subtract(ds::add(x, y), x)).generators.order() == 2);
}

TEMPLATE_TEST_CASE("dense matrices of small displacement rank", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(4);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 0}, {0, 2}, {1, 1}, {9, 9}, {5, 12}}) {
    const ds::Displacement<T> d{ds::Kind::sylvester, ds::shift<T>(1), ds::shift<T>(0)};
    const Toeplitz<T> t = random_toeplitz<T>(m, n, random);
    const auto dense = dense_of(t);
    const auto c = ds::from_dense(dense, d);
    CHECK(c.generators.order() == (m == 0 || n == 0 ? 0 : std::min<index_t>({2, m, n})));
    CHECK(relative_distance(dense_of(c.generators), dense) <= 1000 * double(epsilon<T>));
    CHECK(c.error <= 100 * double(epsilon<T>) * c.reference);
  }
  // A perturbation shows in the error of two terms, and in more terms otherwise.
  auto dense = dense_of(random_toeplitz<T>(9, 9, random));
  dense(4, 4) += T(1) / T(64);
  CHECK(ds::from_dense(dense, ds::toeplitz<T>()).generators.order() == 4);
  const auto cut = ds::from_dense(dense, ds::toeplitz<T>(), {.order = 2});
  CHECK(cut.generators.order() == 2);
  CHECK(cut.error > 1e-3);
  CHECK(cut.error < 0.03);
}

TEST_CASE("compression refuses options and numbers that make no sense") {
  Random random(5);
  auto x = random_generators(ds::toeplitz<double>(), 4, 4, 2, random);
  CHECK_THROWS_AS(ds::compress(x, {.tolerance = -1}), DomainError);
  CHECK_THROWS_AS(ds::compress(x, {.tolerance = NAN}), DomainError);
  CHECK(message_from<DomainError>([&] { ds::compress(x, {.order = -1}); }) ==
        "displacement::compress: the order is -1, it must not be negative");
  x.g(2, 1) = NAN;
  CHECK_THROWS_AS(ds::compress(x), DomainError);
  Array<double, 2> a({3, 3});
  a(1, 2) = INFINITY;
  CHECK_THROWS_AS(ds::from_dense(a, ds::toeplitz<double>()), DomainError);
}
