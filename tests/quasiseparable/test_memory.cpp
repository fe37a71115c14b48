// Solvers and products work in memory of a small factor of the generators.

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/block_algebra.hpp"
#include "structmat/quasiseparable/compress.hpp"
#include "structmat/quasiseparable/solve.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace {

using namespace structmat;
using namespace structmat::test;

template <class Work>
void check_peak(double limit, const Work& work) {
  const bool measured = restart_peak_memory();
  work();
  if (measured && !memory_is_instrumented) CHECK(peak_memory() <= limit);
}

TEST_CASE("n = 100000 at order 8 stays below 1 GB") {
  const index_t n = 100000;
  const auto m = random_quasiseparable<double, transition::Diagonal>(n, {8, 8}, 1, 3);
  Random random(1);
  const auto b = random.array<double, 1>({n});
  Array<double, 1> x({n});
  check_peak(1024, [&] { CHECK(solve(exec::cpu{}, m, b, x).status.ok()); });
  check_peak(1024, [&] {
    const auto f = quasiseparable::factor_qr(m);
    CHECK(std::isfinite(log_determinant(f).log_abs));
    CHECK(quasiseparable::inverse(f).order() == Order{8, 8});
  });
  check_peak(1024, [&] {
    const auto blocks = quasiseparable::to_block(m);
    CHECK(quasiseparable::compress(quasiseparable::multiply(blocks, blocks)).matrix.order() ==
          Order{16, 16});
  });
}

}  // namespace
