#include "structmat/verify/low_rank.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
Array<T, 2> product(const Array<T, 2>& u, const Array<T, 2>& v) {
  Array<T, 2> a({u.extent(0), v.extent(1)});
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t j = 0; j < a.extent(1); ++j) {
      for (index_t l = 0; l < u.extent(1); ++l) a(i, j) += u(i, l) * v(l, j);
    }
  }
  return a;
}

/// Compares the report with one singular value decomposition.
template <class T>
void check_against_svd(const View<const T, 2>& a, const verify::RankReport& report) {
  const index_t smaller = std::min(a.extent(0), a.extent(1));
  Array<real_t<T>, 1> values({smaller});
  if (smaller > 0) dense::singular_values<T>(a, values);
  const double norm = dense::frobenius_norm(a);
  index_t rank = 0;
  while (rank<smaller&& double(values(rank))> report.tolerance * norm) ++rank;
  const double larger = double(std::max(a.extent(0), a.extent(1)));
  const double noise = larger * double(epsilon<T>) + report.tolerance / 8;
  CHECK(report.rank == rank);
  CHECK(report.reference == norm);
  if (rank > 0) CHECK(std::abs(report.smallest_kept - double(values(rank - 1)) / norm) <= noise);
  if (rank < smaller && norm > 0) {
    CHECK(report.largest_dropped <= double(values(rank)) / norm + noise);
    CHECK(report.largest_dropped <= report.tolerance);
  }
  REQUIRE(report.singular_values.size() >= std::size_t(rank));
  for (index_t l = 0; l < rank; ++l) {
    CHECK(std::abs(report.singular_values[l] - double(values(l)) / norm) <= noise);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("rank and margins are those of one singular value decomposition", "", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  const double tolerance = 300 * double(epsilon<T>);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 0},
                             {0, 5},
                             {5, 0},
                             {1, 1},
                             {1, 7},
                             {7, 1},
                             {2, 2},
                             {40, 90},
                             {90, 40},
                             {101, 101},
                             {300, 17}}) {
    for (const index_t r : {0, 1, 3, 10, 200}) {
      INFO(m << " x " << n << ", rank " << r);
      const auto a = product<T>(random.array<T, 2>({m, r}), random.array<T, 2>({r, n}));
      const auto report = verify::low_rank(a, {.tolerance = tolerance});
      CHECK(report.property == "low rank");
      CHECK(report.complete);
      CHECK(report.holds);
      check_against_svd<T>(a.view(), report);
      CHECK(report.rank == std::min({m, n, r}));
    }
  }
}

TEST_CASE("any strides give the rank of the matrix they show") {
  Random random(2);
  const auto a =
      product<double>(random.array<double, 2>({60, 4}), random.array<double, 2>({4, 50}));
  Array<double, 2> store({120, 150});
  const View<double, 2> spaced(store.data(), {60, 50}, {300, 3});
  copy(a.view(), spaced);
  const View<const double, 2> turned = View<const double, 2>(spaced).reversed(0).reversed(1);
  for (const View<const double, 2>& view : {turned, turned.transposed()}) {
    const auto report = verify::low_rank<double>(view);
    CHECK(report.rank == 4);
    CHECK(report.smallest_kept > 1e-3);
    CHECK(report.largest_dropped < 1e-14);
  }
}

TEST_CASE("one entry more is one rank more, if it is above the tolerance") {
  Random random(3);
  auto a = product<double>(random.array<double, 2>({80, 3}), random.array<double, 2>({3, 70}));
  const double norm = dense::frobenius_norm<double>(a.view());
  CHECK(verify::low_rank(a, {.order = 3}).holds);
  a(50, 20) += 1e-6 * norm;
  const auto broken = verify::low_rank(a, {.order = 3, .stop_at_violation = false});
  CHECK_FALSE(broken.holds);
  CHECK(broken.rank == 4);
  CHECK(broken.smallest_kept == Approx(1e-6).epsilon(0.1));
  const auto tolerant = verify::low_rank(a, {.order = 3, .tolerance = 1e-5});
  CHECK(tolerant.holds);
  CHECK(tolerant.largest_dropped == Approx(1e-6).epsilon(0.1));
}

TEST_CASE("small singular values are seen beside large ones") {
  // Diagonal 1, 1e-3, ... in random bases of columns, through a matrix with many more rows.
  Random random(4);
  const index_t m = 500, n = 60, r = 5;
  Array<double, 2> u({m, r}), v({r, n});
  for (index_t l = 0; l < r; ++l) {
    for (index_t i = 0; i < m; ++i) u(i, l) = std::pow(1e-3, double(l)) * random.real();
    for (index_t j = 0; j < n; ++j) v(l, j) = random.real();
  }
  const auto a = product(u, v);
  const auto report = verify::low_rank(a);
  CHECK(report.rank == 5);
  check_against_svd<double>(a.view(), report);
  CHECK(report.smallest_kept < 1e-11);
  CHECK(verify::low_rank(a, {.tolerance = 1e-7}).rank == 3);
}

TEST_CASE("an order asked for stops the sweep") {
  Random random(5);
  const auto a = random.array<double, 2>({400, 400});
  const auto early = verify::low_rank(a, {.order = 10});
  CHECK_FALSE(early.holds);
  CHECK_FALSE(early.complete);
  CHECK(early.rank > 10);
  CHECK(early.rank < 400);
  const auto full = verify::low_rank(a, {.order = 10, .stop_at_violation = false});
  CHECK_FALSE(full.holds);
  CHECK(full.rank == 400);
  CHECK(verify::low_rank(a, {.order = 400}).holds);
}

TEST_CASE("what low_rank refuses") {
  Array<double, 2> a({3, 4});
  const auto message = [&](const verify::RankOptions& options) {
    return message_from<DomainError>([&] { verify::low_rank(a, options); });
  };
  CHECK(message({.order = -1}) ==
        "verify::low_rank: the order asked for is -1, it must not be negative");
  CHECK(message({.tolerance = -1.0}) ==
        "verify::low_rank: the tolerance is -1.000000, it must be at least 0");
  CHECK_THROWS_AS(verify::low_rank(a, {.reference = NAN}), DomainError);
  a(2, 3) = INFINITY;
  CHECK(message({}) == "verify::low_rank: entry (2, 3) is inf, only finite input has an answer");
}
