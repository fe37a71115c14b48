#include "structmat/semiseparable/entry.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_PRODUCT_TEST_CASE("semiseparable entries are those of the definition", "", (std::tuple),
                           ((float, transition::Scalar), (double, transition::Diagonal),
                            (double, transition::Dense),
                            (std::complex<double>, transition::Dense))) {
  using T = std::tuple_element_t<0, TestType>;
  using K = std::tuple_element_t<1, TestType>;
  for (const index_t n : {1, 2, 3, 15}) {
    for (const index_t r : {0, 1, 4, 20}) {
      const auto m = random_semiseparable<T, K>(n, r, 2, unsigned(n));
      const Array<T, 3> dense = m.to_dense();
      for (index_t b = 0; b < 2; ++b) {
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < n; ++j) {
            // c_i^T A_i ... A_{j+1} b_j, multiplied from the right.
            std::vector<T> v(r);
            for (index_t l = 0; l < r; ++l) v[l] = m.b(b, j, l);
            for (index_t k = j + 1; k <= i; ++k) {
              std::vector<T> next(r, T{});
              for (index_t l = 0; l < r; ++l) {
                if constexpr (K::rank == 2) next[l] = m.a(b, k) * v[l];
                if constexpr (K::rank == 3) next[l] = m.a(b, k, l) * v[l];
                if constexpr (K::rank == 4) {
                  for (index_t c = 0; c < r; ++c) next[l] += m.a(b, k, l, c) * v[c];
                }
              }
              v = next;
            }
            T expected{};
            for (index_t l = 0; l < r && i >= j; ++l) expected += m.c(b, i, l) * v[l];
            const double margin = 4.0 * double(n + r) * double(epsilon<T>) * 20;
            CHECK(std::abs(m.entry(i, j, b) - expected) <= margin);
            CHECK(std::abs(dense(b, i, j) - expected) <= margin);
          }
        }
      }
    }
  }
}

TEST_CASE("a semiseparable index outside the matrix is refused") {
  const auto m = random_semiseparable<double, transition::Diagonal>(4, 1, 2, 1);
  CHECK_THROWS_AS(m.entry(4, 0), ShapeError);
  CHECK_THROWS_AS(m.entry(0, 0, -1), ShapeError);
}
