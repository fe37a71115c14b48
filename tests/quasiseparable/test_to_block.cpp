#include "structmat/quasiseparable/to_block.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

namespace {

using namespace structmat;
using namespace structmat::test;

/// Entry by entry within eps of what absolute generators give.
template <class X, class M>
void check_same(const X& block, const M& m, double factor) {
  using T = typename M::value_type;
  const auto got = block.to_dense(), expected = m.to_dense(), bound = absolute(m).to_dense();
  REQUIRE(got.extents() == expected.extents());
  for (index_t b = 0; b < got.extent(0); ++b) {
    for (index_t i = 0; i < m.rows(); ++i) {
      for (index_t j = 0; j < m.cols(); ++j) {
        INFO("entry " << b << ", " << i << ", " << j);
        CHECK(std::abs(got(b, i, j) - expected(b, i, j)) <=
              factor * double(epsilon<T>) * std::abs(bound(b, i, j)));
      }
    }
  }
}

TEMPLATE_PRODUCT_TEST_CASE("uniform generators in blocks are the same matrix", "", Quasiseparable,
                           ((float, transition::Scalar), (double, transition::Diagonal),
                            (std::complex<float>, transition::Diagonal),
                            (std::complex<double>, transition::Dense),
                            (double, transition::Dense))) {
  using T = typename TestType::value_type;
  using K = typename TestType::transition_type;
  for (const index_t n : {0, 1, 2, 7, 16, 33}) {
    for (const Order order : {Order{2, 1}, Order{0, 3}, Order{4, 0}}) {
      const auto m = random_quasiseparable<T, K>(n, order, 2, 5);
      for (const index_t size : {0, 1, 3, 64}) {
        INFO("n " << n << ", blocks of " << size);
        const auto block = quasiseparable::to_block(m, size);
        CHECK(block.order().lower <= order.lower);
        CHECK(block.order().upper <= order.upper);
        check_same(block, m, 40);
      }
    }
  }
}

TEST_CASE("transitions at the ends are not read") {
  auto m = random_quasiseparable<double, transition::Dense>(9, {2, 2}, 1, 3);
  const auto clean = m.to_dense();
  for (index_t l = 0; l < 2; ++l) {
    m.p(0, 0, l) = m.q(0, 8, l) = m.g(0, 8, l) = m.h(0, 0, l) = NAN;
    for (index_t k = 0; k < 2; ++k) {
      m.a(0, 0, l, k) = m.b(0, 0, l, k) = m.a(0, 8, l, k) = m.b(0, 8, l, k) = NAN;
    }
  }
  const auto got = quasiseparable::to_block(m, 4).to_dense();
  for (index_t i = 0; i < clean.size(); ++i) {
    CHECK(got.data()[i] == Approx(clean.data()[i]).margin(1e-14));
  }
}

TEMPLATE_TEST_CASE("another partition is the same matrix", "", float, double,
                   std::complex<double>) {
  using T = TestType;
  for (const index_t n : {1, 2, 13, 40}) {
    const auto m = random_block_quasiseparable<T>(n, {3, 2}, 2, 8);
    for (const index_t size : {1, 2, 5, 7, 40}) {
      INFO("n " << n << ", blocks of " << size);
      Partition partition;
      while (partition.rows() < n)
        partition.offsets.push_back(std::min(n, partition.rows() + size));
      const auto moved = quasiseparable::with_partition(m, partition);
      CHECK(moved.partition == partition);
      check_same(moved, m, 40);
    }
  }
}

TEST_CASE("to_block and with_partition refuse what does not fit") {
  const auto m = random_quasiseparable<double, transition::Diagonal>(5, {2, 2}, 1, 3);
  CHECK(message_from<DomainError>([&] { (void)quasiseparable::to_block(m, -1); }) ==
        "quasiseparable::to_block: block_size is -1, it must be at least 0");
  CHECK(message_from<ShapeError>([&] {
          (void)quasiseparable::with_partition(quasiseparable::to_block(m), Partition{{0, 4}});
        }) == "quasiseparable::with_partition: the partition has 4 rows, the matrix 5");
}

}  // namespace
