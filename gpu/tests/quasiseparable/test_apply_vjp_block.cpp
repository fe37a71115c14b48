// Cotangents of quasiseparable matrices of block generators on a device.
#include "structmat/quasiseparable/apply_vjp.hpp"

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/block_vjp_on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
auto arrays(Quasiseparable<T, transition::Block>& m) {
  return std::vector<Array<T, 2>*>{&m.lower.all_p(),
                                   &m.lower.all_q(),
                                   &m.lower.all_a(),
                                   &m.upper_transposed.all_p(),
                                   &m.upper_transposed.all_q(),
                                   &m.upper_transposed.all_a(),
                                   &m.diagonal.all()};
}

}  // namespace

TEMPLATE_TEST_CASE(
    "quasiseparable cotangents of block generators on a device are those of the host",
    "[quasiseparable_apply_vjp_block]", float, double, std::complex<float>, std::complex<double>) {
  const auto make = [](index_t n, const auto& r, index_t batch) {
    return random_block_quasiseparable<TestType>(n, r, batch, unsigned(n + 3 * batch));
  };
  const auto get = [](auto& m) { return arrays(m); };
  for (const index_t n : {0, 1, 4, 29, 160}) {
    for (const index_t k : {1, 3, 9}) {
      if (n > 100 && k == 3) continue;
      check_block_vjp(make(n, Order{4, 7}, 2), 2, 2, 2, k, get);
    }
  }
  const auto order = Order{3, 5};
  check_block_vjp(make(40, order, 1), 1, 3, 3, 2, get);  // a shared matrix
  check_block_vjp(make(40, order, 3), 3, 1, 1, 2, get);  // a shared x
  check_block_vjp(make(40, order, 1), 1, 3, 1, 2, get);
  check_block_vjp(make(40, order, 1), 3, 3, 3, 2, get);
  check_block_vjp(make(40, order, 2), 1, 2, 1, 0, get);
  check_block_vjp(make(40, Order{0, 3}, 1), 1, 1, 1, 2, get);
  // Too large for stages in shared memory.
  check_block_vjp(make(40, Order{200, 150}, 1), 1, 1, 1, 2, get);
  if (!quick()) check_block_vjp(make(20000, order, 1), 1, 2, 2, 3, get);
}

TEMPLATE_TEST_CASE("quasiseparable cotangents of block generators: the adjoint identities",
                   "[quasiseparable_apply_vjp_block]", double, std::complex<double>) {
  check_block_vjp_identities(random_block_quasiseparable<TestType>(90, Order{4, 7}, 1, 3),
                             [](auto& m) { return arrays(m); });
}

TEST_CASE("quasiseparable cotangents of block generators: strides, absent ones, a graph, refusals",
          "[quasiseparable_apply_vjp_block]") {
  check_block_vjp_calls(random_block_quasiseparable<double>(60, Order{4, 7}, 2, 4),
                        random_block_quasiseparable<double>(60, Order{4, 6}, 2, 4),
                        [](auto& m) { return arrays(m); });
}
