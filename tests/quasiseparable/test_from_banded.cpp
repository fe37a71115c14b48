#include "structmat/quasiseparable/from_banded.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using quasiseparable::from_banded;

namespace {

/// Band storage whose unused corners are NaN.
template <Scalar T>
Array<T, 3> random_band(index_t n, Order width, index_t batch, Random& random) {
  auto band = random.array<T, 3>({batch, width.lower + width.upper + 1, n});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t k = 0; k < band.extent(1); ++k) {
      for (index_t j = 0; j < n; ++j) {
        const index_t i = j + k - width.upper;
        if (i < 0 || i >= n) band(b, k, j) = T(NAN);
      }
    }
  }
  return band;
}

template <Scalar T>
T band_entry(const View<const T, 3>& band, Order width, index_t b, index_t i, index_t j) {
  const bool inside = i - j <= width.lower && j - i <= width.upper;
  return inside ? band(b, width.upper + i - j, j) : T{};
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("a band is what its storage says, exactly", "", (std::tuple),
                           ((double, transition::Dense), (float, transition::Block),
                            (double, transition::Block), (std::complex<double>, transition::Dense),
                            (std::complex<float>, transition::Block))) {
  using T = std::tuple_element_t<0, TestType>;
  using K = std::tuple_element_t<1, TestType>;
  Random random(1);
  for (const index_t n : {0, 1, 2, 3, 7, 16, 41}) {
    for (const Order width : {Order{0, 0}, Order{1, 0}, Order{0, 2}, Order{1, 1}, Order{3, 2},
                              Order{9, 5}, Order{4, 50}}) {
      for (const index_t batch : {0, 1, 3}) {
        const auto band = random_band<T>(n, width, batch, random);
        const auto m = from_banded<T, K>(band, width);
        CHECK(m.size() == n);
        CHECK(m.batch() == batch);
        CHECK(m.order().lower <= width.lower);
        CHECK(m.order().upper <= width.upper);
        const auto dense = m.to_dense();
        index_t wrong = 0;
        for (index_t b = 0; b < batch; ++b) {
          for (index_t i = 0; i < n; ++i) {
            for (index_t j = 0; j < n; ++j) {
              wrong += dense(b, i, j) != band_entry<T>(band, width, b, i, j);
            }
          }
        }
        INFO("n " << n << ", bandwidth " << width.lower << ", " << width.upper);
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("a long band: products in both forms") {
  const index_t n = 100000;
  const Order width{2, 3};
  Random random(2);
  const auto band = random_band<double>(n, width, 1, random);
  const auto x = random.array<double, 1>({n});
  const auto dense = from_banded<double>(band, width) * x;
  const auto block = from_banded<double, transition::Block>(band, width) * x;
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    double expected = 0;
    for (index_t j = std::max<index_t>(0, i - 2); j < std::min(n, i + 4); ++j) {
      expected += band_entry<double>(band, width, 0, i, j) * x(j);
    }
    worst = std::max({worst, std::abs(expected - dense(i)), std::abs(expected - block(i))});
  }
  CHECK(worst <= 20 * epsilon<double>);
}

TEST_CASE("the wrong number of diagonals is refused") {
  const Array<double, 3> band({1, 4, 5});
  CHECK(message_from<ShapeError>([&] {
          from_banded<double>(band, {1, 1});
        }) == "quasiseparable::from_banded: there are 4 diagonals, the bandwidth is (1, 1)");
  CHECK_THROWS_AS(from_banded<double>(band, {4, -1}), ShapeError);
}

TEMPLATE_TEST_CASE("tridiagonal", "", float, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {0, 1, 2, 5, 30}) {
    const index_t off = std::max<index_t>(n - 1, 0);
    const auto sub = random.array<T, 2>({1, off}), super = random.array<T, 2>({3, off});
    const auto d = random.array<T, 2>({3, n});
    // Super-diagonal read backwards in memory.
    const auto m = quasiseparable::from_tridiagonal<T>(sub, d, super.view().reversed(1));
    CHECK(m.order() == Order{1, 1});
    const auto dense = m.to_dense();
    index_t wrong = 0;
    for (index_t b = 0; b < 3; ++b) {
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = 0; j < n; ++j) {
          const T expected = i == j       ? d(b, i)
                             : i == j + 1 ? sub(0, j)
                             : j == i + 1 ? super(b, n - 2 - i)
                                          : T{};
          wrong += dense(b, i, j) != expected;
        }
      }
    }
    CHECK(wrong == 0);
  }
  CHECK(message_from<ShapeError>([] {
          quasiseparable::from_tridiagonal<double>(
              Array<double, 2>({1, 3}), Array<double, 2>({1, 3}), Array<double, 2>({1, 2}));
        }) == "quasiseparable::from_tridiagonal: sub has extent 3 in dimension 1, expected 2");
}
