// Planned Cauchy products on a device: the battery with the entries of the host as oracle, known sums,
// nodes that are hard on trees, coincidences, refusals.
#include "structmat/cauchy/plan.hpp"

#include <catch2/catch.hpp>

#include "cauchy/support.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;
using cauchy::Method;

namespace {

enum class Shape { real_line, horizontal, vertical };

template <Scalar T>
Cauchy<T> nodes_on(Shape shape, index_t m, index_t n, index_t batch, unsigned seed) {
  auto c = random_cauchy<T>(m, n, batch, seed);
  if constexpr (is_complex_v<T>) {
    for (auto* nodes : {&c.s, &c.t}) {
      for (T& v : *nodes) {
        if (shape == Shape::horizontal) v = T(v.real(), real_t<T>(0.25));
        if (shape == Shape::vertical) v = T(real_t<T>(-0.5), v.imag());
      }
    }
  }
  return c;
}

template <Scalar T>
std::vector<Shape> shapes() {
  if constexpr (is_complex_v<T>) return {Shape::horizontal, Shape::vertical};
  return {Shape::real_line};
}

/// The plan of a matrix on the host, for a device.
template <Scalar T>
CauchyPlan<T, space::cuda> device_plan(const Cauchy<T>& c, const cauchy::PlanOptions& options) {
  const auto s = to_device(c.s), t = to_device(c.t);
  return CauchyPlan<T, space::cuda>({s.view(), t.view(), c.coincidence}, options);
}
template <Scalar T>
CauchyPlan<T, space::cuda> device_plan(const CauchyLike<T>& c, const cauchy::PlanOptions& options) {
  const auto s = to_device(c.s), t = to_device(c.t);
  const auto g = to_device(c.g), h = to_device(c.h);
  return CauchyPlan<T, space::cuda>({s.view(), t.view(), g.view(), h.view(), c.coincidence},
                                    options);
}

}  // namespace

TEMPLATE_TEST_CASE("planned Cauchy products match the entries on a device", "[cauchy_plan]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-11;
  const Accuracy accuracy{tolerance + 40 * epsilon<T>};
  Random random(1);
  unsigned seed = 0;
  for (const Shape shape : shapes<T>()) {
    const index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};
    for (const index_t n : sizes) {
      const index_t m = sizes[(seed * 7 + 3) % 10], k = 1 + seed % 3;
      const auto c = nodes_on<T>(shape, m, n, 1 + seed % 2, seed);
      const auto plan = device_plan(c, {tolerance, Method::line});
      CHECK(plan.method() == Method::line);
      check_products(on_device(c, plan), accuracy, k, random);
      ++seed;
    }
    const auto c = nodes_on<T>(shape, 131, 150, 2, 5);
    const auto plan = on_device(c, device_plan(c, {tolerance, Method::line}));
    check_strides(plan, 3, random);
    check_errors(plan, "cauchy");
    check_linearity(plan, accuracy, random);
  }
}
