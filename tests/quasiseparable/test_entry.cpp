#include "structmat/quasiseparable/entry.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// M_ij with all matrices written out: bypasses everything that the library does with generators.
template <class T, class K>
T definition(const Quasiseparable<T, K>& m, index_t b, index_t i, index_t j) {
  if (i == j) return m.d(b, i);
  const bool lower = i > j;
  const auto& out = lower ? m.p : m.g;
  const auto& in = lower ? m.q : m.h;
  const auto& a = lower ? m.a : m.b;
  const index_t r = out.extent(2), step = lower ? -1 : 1;
  std::vector<T> w(r);
  for (index_t l = 0; l < r; ++l) w[l] = out(b, i, l);
  for (index_t k = i + step; k != j; k += step) {
    std::vector<T> next(r, T{});
    for (index_t l = 0; l < r; ++l) {
      for (index_t c = 0; c < r; ++c) {
        T t{};
        if constexpr (K::rank == 2) t = l == c ? a(b, k) : T{};
        if constexpr (K::rank == 3) t = l == c ? a(b, k, l) : T{};
        if constexpr (K::rank == 4) t = a(b, k, l, c);
        next[c] += w[l] * t;
      }
    }
    w = next;
  }
  T sum{};
  for (index_t l = 0; l < r; ++l) sum += w[l] * in(b, j, l);
  return sum;
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("entries are those of the definition", "", (std::tuple),
                           ((float, transition::Scalar), (double, transition::Diagonal),
                            (double, transition::Dense), (std::complex<float>, transition::Dense),
                            (std::complex<double>, transition::Scalar),
                            (std::complex<double>, transition::Diagonal))) {
  using T = std::tuple_element_t<0, TestType>;
  using K = std::tuple_element_t<1, TestType>;
  for (const index_t n : {1, 2, 3, 17}) {
    for (const Order r : {Order{0, 0}, Order{1, 2}, Order{5, 3}, Order{20, 20}}) {
      const auto m = random_quasiseparable<T, K>(n, r, 2, unsigned(n));
      const Array<T, 3> dense = m.to_dense();
      for (index_t b = 0; b < 2; ++b) {
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < n; ++j) {
            const T expected = definition(m, b, i, j);
            // 20 terms of size at most sqrt(2) each.
            const double margin = 4.0 * double(n + 20) * double(epsilon<T>) * 20;
            CHECK(std::abs(m.entry(i, j, b) - expected) <= margin);
            CHECK(std::abs(dense(b, i, j) - expected) <= margin);
          }
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("block entries are those of the definition", "", double, std::complex<float>) {
  using T = TestType;
  for (const index_t n : {1, 2, 7, 40}) {
    const auto m = random_block_quasiseparable<T>(n, {3, 4}, 2, unsigned(n));
    const Array<T, 3> dense = m.to_dense();
    for (index_t b = 0; b < 2; ++b) {
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = 0; j < n; ++j) {
          const index_t bi = m.partition.find(i), bj = m.partition.find(j);
          const index_t row = i - m.partition.begin(bi), col = j - m.partition.begin(bj);
          T expected = bi == bj ? m.diagonal.block(b, bi)(row, col) : T{};
          if (bi != bj) {
            const auto& t = bi > bj ? m.lower : m.upper_transposed;
            const index_t from = std::max(bi, bj), to = std::min(bi, bj);
            const index_t out = bi > bj ? row : col, in = bi > bj ? col : row;
            std::vector<T> w(t.state(from));
            for (index_t l = 0; l < t.state(from); ++l) w[l] = t.p(b, from)(out, l);
            for (index_t k = from - 1; k > to; --k) {
              std::vector<T> next(t.state(k), T{});
              for (index_t l = 0; l < t.state(k + 1); ++l) {
                for (index_t c = 0; c < t.state(k); ++c) next[c] += w[l] * t.a(b, k)(l, c);
              }
              w = next;
            }
            for (index_t l = 0; l < t.state(to + 1); ++l) expected += w[l] * t.q(b, to)(in, l);
          }
          CHECK(std::abs(m.entry(i, j, b) - expected) <= 200 * double(epsilon<T>));
          CHECK(std::abs(dense(b, i, j) - expected) <= 200 * double(epsilon<T>));
        }
      }
    }
  }
}

TEST_CASE("an index outside the matrix is refused") {
  const auto m = random_quasiseparable<double, transition::Diagonal>(4, {1, 1}, 2, 1);
  CHECK(message_from<ShapeError>([&] { m.entry(4, 0); }) ==
        "quasiseparable::entry: index (0, 4, 0), the extents are (2, 4, 4)");
  CHECK_THROWS_AS(m.entry(0, -1), ShapeError);
  CHECK_THROWS_AS(m.entry(0, 0, 2), ShapeError);
  Array<double, 3> small({2, 4, 3});
  CHECK_THROWS_AS(to_dense(m.view(), small.view()), ShapeError);
}

TEST_CASE("entries read only the generators that the definition names") {
  const index_t n = 6;
  auto m = random_quasiseparable<double, transition::Dense>(n, {2, 2}, 1, 2);
  m.a(0, 3, 0, 0) = NAN;
  const Array<double, 3> dense = m.to_dense();
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) CHECK(std::isnan(dense(0, i, j)) == (i > 3 && j < 3));
  }
}

TEST_CASE("dense targets of any stride") {
  const auto m = random_quasiseparable<double, transition::Diagonal>(5, {2, 3}, 1, 3);
  const Array<double, 3> plain = m.to_dense();
  Array<double, 3> transposed({1, 5, 5});
  to_dense(m.view(), transposed.view().transposed());
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 5; ++j) CHECK(transposed(0, j, i) == plain(0, i, j));
  }
}
