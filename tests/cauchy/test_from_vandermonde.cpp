#include "structmat/cauchy/from_vandermonde.hpp"

#include <catch2/catch.hpp>

#include "structmat/cauchy/apply.hpp"
#include "structmat/displacement/convert.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_TEST_CASE("vandermonde matrices through cauchy-like ones", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  using C = std::complex<real_t<T>>;
  Random random(1);
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{0, 3}, {3, 0}, {1, 1}, {5, 8}, {8, 8}, {9, 7}}) {
    for (const C corner : {C(1), C(0, 1), C(-1)}) {
      INFO(m << " x " << n << ", corner " << corner);
      Vandermonde<T> v(m, n, 2);
      random.fill(v.x, 0.8);
      const auto c = cauchy::from_vandermonde(v, corner);
      CHECK(c.order() == 1);
      CHECK(c.batch() == 2);
      if (n == 0) continue;
      const auto x = random.array<C, 2>({n, 2});
      const auto transformed =
          displacement::to_eigenbasis(displacement::shift<C>(corner), View<const C, 2>(x.view()));
      for (index_t b = 0; b < 2; ++b) {
        for (index_t i = 0; i < m; ++i) {
          for (index_t k = 0; k < 2; ++k) {
            std::complex<double> expected{}, got{};
            double size = 0;
            for (index_t j = 0; j < n; ++j) {
              expected += std::complex<double>(v.entry(i, j, b)) * std::complex<double>(x(j, k));
              const auto term =
                  std::complex<double>(c.entry(i, j, b)) * std::complex<double>(transformed(j, k));
              got += term;
              // Rounding of a root or of x^n over the distance of the node from it.
              size += std::abs(term) * (1 + 1 / double(std::abs(c.s(b, i) - c.t(b, j))) +
                                        double(n) / double(std::abs(c.g(b, i, 0))));
            }
            CHECK(std::abs(got - expected) <= 16 * double(epsilon<T>) * (size + double(n)));
          }
        }
      }
    }
  }
}

TEST_CASE("nodes on roots, and corners without roots, are refused") {
  const std::vector<double> x{0.5, -1};
  const Vandermonde<double> v(View<const double, 1>(x), 4);
  CHECK(message_from<DomainError>([&] { cauchy::from_vandermonde(v); }) ==
        "cauchy::from_vandermonde: node 1 of batch entry 0 is a root of z^4 = corner up to "
        "rounding; take another corner");
  CHECK(cauchy::from_vandermonde(v, -1.0).rows() == 2);
  CHECK(message_from<DomainError>([&] { cauchy::from_vandermonde(v, 0.0); }) ==
        "cauchy::from_vandermonde: the corner is 0, which has no distinct roots");
}
