#include "structmat/toeplitz/embedding.hpp"

#include <catch2/catch.hpp>

#include "structmat/toeplitz/apply.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_TEST_CASE("toeplitz matrices are corners of circulant ones", "", float,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 0},
                             {0, 3},
                             {1, 1},
                             {1, 5},
                             {4, 1},
                             {4, 4},
                             {3, 9},
                             {8, 5}}) {
    Toeplitz<T> t(m, n, 2);
    random.fill(t.lags);
    const index_t least = m > 0 && n > 0 ? m + n - 1 : 0;
    for (const index_t size : {index_t(0), least, least + 6}) {
      const auto c = circulant::from_toeplitz(t.view(), size);
      CHECK(c.batch() == 2);
      CHECK(c.size() >= least);
      if (size > 0) CHECK(c.size() == size);
      for (index_t i = 0; i < m; ++i) {
        for (index_t j = 0; j < n; ++j) CHECK(c.entry(i, j, 1) == t.entry(i, j, 1));
      }
      CHECK(same_bits(toeplitz::from_circulant(c.view(), m, n).lags, t.lags));
    }
  }
  CHECK(message_from<ShapeError>([] {
          circulant::from_toeplitz(Toeplitz<double>(3, 3).view(), 4);
        }) == "circulant::from_toeplitz: size 4 for 5 diagonals");
}

TEMPLATE_TEST_CASE("circulant and skew-circulant matrices as toeplitz ones", "", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(2);
  for (const index_t n : {0, 1, 2, 7}) {
    Circulant<T> c(n, 2);
    SkewCirculant<T> s(n, 2);
    random.fill(c.column);
    random.fill(s.column);
    CHECK(same_bits(toeplitz::from_circulant(c.view()).to_dense(), c.to_dense()));
    CHECK(same_bits(toeplitz::from_skew_circulant(s.view()).to_dense(), s.to_dense()));
  }
  CHECK(message_from<ShapeError>([] {
          toeplitz::from_circulant(Circulant<double>(3).view(), 2, 4);
        }) == "toeplitz::from_circulant: the leading part is 2 x 4, the matrix has size 3");
}
