// y := op(M) x for semiseparable M on a device: the battery of the CPU's tests; what chunked sweeps have
// of their own is tested with the quasiseparable product, which runs on the same kernels.
#include "structmat/semiseparable/apply.hpp"

#include <catch2/catch.hpp>

#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T, class K>
struct Case {
  using Value = T;
  using Transition = K;
  static auto make(index_t n, index_t r, index_t batch, unsigned seed) {
    return on_device(random_semiseparable<T, K>(n, r, batch, seed));
  }
};

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE(
    "semiseparable products on a device match the entries", "[semiseparable_apply]", (Case),
    ((float, transition::Scalar), (double, transition::Scalar), (double, transition::Diagonal),
     (std::complex<float>, transition::Diagonal), (double, transition::Dense),
     (std::complex<float>, transition::Dense))) {
  Random random(1);
  unsigned seed = 0;
  const std::vector<index_t> sizes = quick()
                                         ? std::vector<index_t>{0, 1, 2, 17, 67}
                                         : std::vector<index_t>{0, 1, 2, 3, 7, 16, 17, 129, 257};
  for (const index_t n : sizes) {
    for (const index_t r : {0, 1, 3, 8, 13}) {
      for (const index_t k : {1, 3, 9}) {
        if ((seed++ + unsigned(k)) % (n > 50 ? 5 : 3) != 0) continue;
        check_products(TestType::make(n, r, 1 + seed % 2, seed), r, k, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("semiseparable operators on a device are linear and take any stride",
                   "[semiseparable_apply]", (Case<double, transition::Scalar>),
                   (Case<float, transition::Diagonal>),
                   (Case<std::complex<double>, transition::Dense>)) {
  Random random(2);
  for (const index_t n : {7, 41}) {
    const auto m = TestType::make(n, 4, 2, unsigned(n));
    check_linearity(m, 4, random);
    for (const index_t k : {1, 3, 9}) check_strides(m, k, random);
  }
  check_errors(TestType::make(7, 4, 2, 3), "semiseparable");
}

TEMPLATE_TEST_CASE("long semiseparable products on a device match the host's",
                   "[semiseparable_apply]", (Case<double, transition::Diagonal>),
                   (Case<std::complex<float>, transition::Scalar>),
                   (Case<double, transition::Dense>)) {
  using T = typename TestType::Value;
  Random random(3);
  const index_t n = quick() ? 300 : 300001;
  const auto m = TestType::make(n, 4, 1, 4);
  for (const Op op : all_ops) {
    const auto x = random.array<T, 3>({1, n, 1});
    auto y = poisoned<T, 3>({1, n, 1}), expected = y, bound = y, size = x;
    for (T& v : size) v = std::abs(v);
    apply_op(exec::cpu{}, m, op, x, y);
    apply_op(exec::cpu{}, m.host(), op, x, expected);
    apply_op(exec::cpu{}, absolute(m.host()), op, size, bound);
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) {
      const double limit = 8 * 2000 * static_cast<double>(epsilon<T>) * std::abs(bound(0, i, 0));
      wrong += !(static_cast<double>(std::abs(y(0, i, 0) - expected(0, i, 0))) <= limit);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE(
    "semiseparable on a device: the first transition is not read, infinities stay where they "
    "belong",
    "[semiseparable_apply]") {
  const index_t n = 150, bad = 70;
  for (const Op op : all_ops) {
    auto m = random_semiseparable<double, transition::Dense>(n, 2, 1, 6);
    for (index_t l = 0; l < 2; ++l) m.a(0, 0, l, 0) = m.a(0, 0, l, 1) = NAN;
    Array<double, 1> x({n}), y({n});
    for (double& v : x) v = 1;
    apply_op(exec::cpu{}, on_device(m), op, x, y);
    for (const double v : y) CHECK(std::isfinite(v));
    x(bad) = INFINITY;
    apply_op(exec::cpu{}, on_device(m), op, x, y);
    for (index_t i = 0; i < n; ++i) {
      CHECK(std::isfinite(y(i)) == (op == Op::none ? i < bad : i > bad));
    }
  }
}
