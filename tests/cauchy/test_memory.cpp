// Products and gradients never hold an array of m x n.

#include <catch2/catch.hpp>

#include "cauchy/support.hpp"
#include "structmat/cauchy/apply_vjp.hpp"
#include "structmat/cauchy/plan.hpp"
#include "support/memory.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class Work>
void check_peak(double limit, const Work& work) {
  const bool measured = restart_peak_memory();
  const double before = peak_memory();
  work();
  if (measured && !memory_is_instrumented) CHECK(peak_memory() - before <= limit);
}

}  // namespace

TEST_CASE("Cauchy products take memory for the nodes only") {
  const index_t n = memory_is_instrumented ? 2000 : 12000;  // n x n: 1100 MiB
  const auto c = random_cauchy_like<double>(n, n, 1, 1, 1);
  Random random(1);
  const auto x = random.array<double, 3>({1, n, 1});
  Array<double, 3> y({1, n, 1});
  CauchyLike<double> bar(n, n, 1);
  check_peak(20, [&] {
    apply(exec::cpu{}, c, x, y);
    apply_vjp(exec::cpu{}, c.view(), Op::none, View<const double, 3>(x.view()),
              View<const double, 3>(y.view()), CauchyLikeCotangent<double>(bar), View<double, 3>());
  });
}

TEST_CASE("a plan on a line takes memory in proportion to the nodes") {
  const index_t n = 200000;
  const auto c = random_cauchy<double>(n, n, 1, 2);
  Random random(1);
  const auto x = random.array<double, 2>({n, 1});
  Array<double, 2> y({n, 1});
  check_peak(120, [&] {
    const CauchyPlan<double> plan(c.view(), {1e-12});
    CHECK(plan.method() == cauchy::Method::line);
    apply(exec::cpu{}, plan, x, y);
  });
}
