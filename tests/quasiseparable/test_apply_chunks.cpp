// Products in two phases over ranges of rows (exec::cpu::chunks), of both families.

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"

namespace {

using namespace structmat;
using namespace structmat::test;

/// Within the accuracy of products whatever the chunks, and the same bits from any number of threads.
template <class M>
void check_chunks(const M& m, index_t order) {
  using T = typename M::value_type;
  Random random(5);
  const Oracle<M> oracle(m);
  const index_t n = m.rows();
  for (const index_t k : {1, 3, 40}) {
    const auto x = random.array<T, 3>({m.batch(), n, k});
    for (const Op op : all_ops) {
      for (const int chunks : {2, 7}) {
        INFO("n " << n << ", k " << k << ", op " << int(op) << ", chunks " << chunks);
        auto one = poisoned<T, 3>(x.extents()), many = one;
        apply_op(exec::cpu{1, chunks}, m, op, x, one);
        CHECK(oracle.worst_error(op, x, one) <= tolerance<T>(n, order));
        apply_op(exec::cpu{3, chunks}, m, op, x, many);
        CHECK(same_bits(one, many));
      }
    }
  }
}

TEMPLATE_PRODUCT_TEST_CASE("products in chunks", "", Quasiseparable,
                           ((float, transition::Scalar), (double, transition::Diagonal),
                            (std::complex<double>, transition::Diagonal),
                            (std::complex<float>, transition::Scalar),
                            (double, transition::Dense))) {
  using T = typename TestType::value_type;
  using K = typename TestType::transition_type;
  for (const index_t n : {1, 7, 67}) {
    for (const Order order : {Order{3, 2}, Order{0, 2}, Order{0, 0}}) {
      check_chunks(random_quasiseparable<T, K>(n, order, 2, 3), 3);
    }
    check_chunks(random_semiseparable<T, K>(n, 3, 2, 3), 3);
  }
}

TEST_CASE("transitions that decay to nothing within a chunk") {
  const index_t n = 3000;
  auto m = random_semiseparable<double, transition::Diagonal>(n, 2, 1, 3);
  for (index_t i = 0; i < n; ++i) m.a(0, i, 0) = 0.3;
  Random random(1);
  const auto x = random.array<double, 1>({n});
  Array<double, 1> whole({n}), parts({n});
  apply(exec::cpu{1}, m, x, whole);
  apply(exec::cpu{2, 3}, m, x, parts);
  for (index_t i = 0; i < n; ++i) CHECK(std::abs(whole(i) - parts(i)) <= 1e-12);
}

TEST_CASE("less than one chunk is refused") {
  const auto m = random_quasiseparable<double, transition::Diagonal>(9, {1, 1}, 1, 3);
  const auto s = random_semiseparable<double, transition::Diagonal>(9, 1, 1, 3);
  const Array<double, 1> x({9});
  Array<double, 1> y({9});
  CHECK(message_from<DomainError>([&] {
          apply(exec::cpu{0, 0}, m, x, y);
        }) == "quasiseparable::apply: 0 chunks, it takes at least 1");
  CHECK(message_from<DomainError>([&] {
          apply(exec::cpu{0, -2}, s, x, y);
        }) == "semiseparable::apply: -2 chunks, it takes at least 1");
}

}  // namespace
