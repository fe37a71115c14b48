#include "structmat/vandermonde/exponential_sum.hpp"

#include <catch2/catch.hpp>

#include "vandermonde/nodes.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_TEST_CASE("real sums of exponentials are twice the real part", "", std::complex<float>,
                   std::complex<double>) {
  Random random(1);
  for (const index_t lags : {0, 1, 5, 64, 400}) {
    for (const index_t poles : {0, 1, 7, 33}) {
      const auto e = random_exponentials<TestType>(lags, poles, 2, unsigned(lags + poles));
      const auto c = random.array<TestType, 3>({2, poles, 2});
      const auto whole = e * c;
      auto real = poisoned<real_t<TestType>, 3>({2, lags, 2});
      real_exponential_sum(exec::cpu{}, e, c, real);
      const Oracle<LogVandermonde<TestType>> oracle(e);
      for (index_t b = 0; b < 2; ++b) {
        for (index_t l = 0; l < lags; ++l) {
          double scale = 0;
          for (index_t k = 0; k < poles; ++k) {
            scale += std::abs(oracle.bound(b, l, k)) * std::abs(c(b, k, 1));
          }
          const double expected = 2 * std::real(whole(b, l, 1));
          CHECK(std::abs(real(b, l, 1) - expected) <= tolerance<TestType>(poles, 20) * scale);
        }
      }
    }
  }
}

TEST_CASE("real sums refuse operands that do not fit") {
  using C = std::complex<double>;
  const LogVandermonde<C> e(5, 3);
  Array<double, 1> y({5}), shorter({4});
  CHECK(message_from<ShapeError>([&] {
          real_exponential_sum(exec::cpu{}, e, std::vector<C>(2), y);
        }) == "vandermonde::real_exponential_sum: x has 2 rows, the operator has 3 columns");
  CHECK_THROWS_AS(real_exponential_sum(exec::cpu{}, e, std::vector<C>(3), shorter), ShapeError);
  std::vector<C> both(3);
  const View<double, 1> inside(reinterpret_cast<double*>(both.data()) + 1, {5});
  CHECK_THROWS_AS(real_exponential_sum(exec::cpu{}, e, both, inside), DomainError);
}
