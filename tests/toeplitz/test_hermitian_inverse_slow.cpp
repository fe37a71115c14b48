#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/fft/plan.hpp"
#include "structmat/toeplitz/hermitian_inverse.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::test;

TEST_CASE("a hundred thousand rows within linear memory") {
  const index_t n = 100000;
  const bool measured = restart_peak_memory();
  std::vector<double> column(n), b(n), x(n), y(n);
  Random random(1);
  for (index_t l = 0; l < n; ++l) {
    column[std::size_t(l)] = std::exp(-1e-3 * double(l)) * std::cos(0.3 * double(l));
    b[std::size_t(l)] = random.real();
  }
  column[0] += 0.1;
  const toeplitz::HermitianInverse<double> inverse{View<const double, 1>(column)};
  REQUIRE(inverse.ok());
  CHECK(inverse.method() == toeplitz::HermitianMethod::superfast);
  inverse.apply(b, x);
  // Some rows of T x by the definition.
  double worst = 0, scale = 0;
  for (index_t i = 0; i < n; i += 997) {
    double sum = 0, absolute = 0;
    for (index_t j = 0; j < n; ++j) {
      const double term = column[std::size_t(std::abs(i - j))] * x[std::size_t(j)];
      sum += term;
      absolute += std::abs(term);
    }
    worst = std::max(worst, std::abs(sum - b[std::size_t(i)]));
    scale = std::max(scale, absolute);
  }
  CHECK(worst <= 1e-13 * scale * 10);
  if (measured && !memory_is_instrumented) CHECK(peak_memory() < 200);
}
