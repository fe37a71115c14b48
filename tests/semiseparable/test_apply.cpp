#include "structmat/semiseparable/apply.hpp"

#include <catch2/catch.hpp>

#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T, class K>
struct Case {
  static auto make(index_t n, index_t r, index_t batch, unsigned seed) {
    if constexpr (std::same_as<K, transition::Block>) {
      return random_block_semiseparable<T>(n, r, batch, seed);
    } else {
      return random_semiseparable<T, K>(n, r, batch, seed);
    }
  }
};

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("semiseparable products match the entries", "", (Case),
                           ((float, transition::Scalar), (double, transition::Scalar),
                            (std::complex<double>, transition::Scalar),
                            (float, transition::Diagonal), (double, transition::Diagonal),
                            (std::complex<float>, transition::Diagonal),
                            (double, transition::Dense), (std::complex<float>, transition::Dense),
                            (double, transition::Block),
                            (std::complex<float>, transition::Block))) {
  Random random(1);
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 3, 7, 16, 127, 128, 129, 257}) {
    for (const index_t r : {0, 1, 3, 8, 21}) {
      for (const index_t k : {1, 3, 8, 17}) {
        if (n != 16 && k != 1 && k != 3) continue;
        check_products(TestType::make(n, r, 1 + seed % 2, seed), r, k, random);
        ++seed;
      }
    }
  }
}

TEMPLATE_TEST_CASE("semiseparable operators are linear, take any stride and number of threads", "",
                   (Case<double, transition::Scalar>), (Case<double, transition::Diagonal>),
                   (Case<std::complex<double>, transition::Dense>),
                   (Case<double, transition::Block>)) {
  Random random(2);
  for (const index_t n : {1, 7, 129}) {
    const auto m = TestType::make(n, 4, 2, unsigned(n));
    check_linearity(m, 4, random);
    for (const index_t k : {1, 3, 9}) check_strides(m, k, random);
  }
  check_errors(TestType::make(7, 4, 2, 3), "semiseparable");
}

TEST_CASE("the number of threads does not change a bit of a semiseparable product") {
  Random random(3);
  for (const index_t k : {1, 33}) {
    check_threads(random_semiseparable<double, transition::Diagonal>(6000, 7, 1, 5), k, random);
    check_threads(random_semiseparable<float, transition::Scalar>(3000, 7, 3, 5), k, random);
  }
}

TEST_CASE("the first transition is never read, and what is above the diagonal stays out") {
  const index_t n = 150, bad = 70;
  for (const Op op : all_ops) {
    auto m = random_semiseparable<double, transition::Dense>(n, 2, 1, 6);
    for (index_t l = 0; l < 2; ++l) m.a(0, 0, l, 0) = m.a(0, 0, l, 1) = NAN;
    Array<double, 1> x({n}), y({n});
    for (double& v : x) v = 1;
    apply_op(exec::cpu{}, m, op, x, y);
    for (const double v : y) CHECK(std::isfinite(v));
    // An infinite operand reaches the rows at and below it, those at and above it in the transpose.
    x(bad) = INFINITY;
    apply_op(exec::cpu{}, m, op, x, y);
    for (index_t i = 0; i < n; ++i) {
      CHECK(std::isfinite(y(i)) == (op == Op::none ? i < bad : i > bad));
    }
  }
}

TEST_CASE("inside a diagonal block nothing above the diagonal enters") {
  Semiseparable<double, transition::Block> m;
  m.partition.offsets = {0, 4};
  m.lower = BlockTriangle<double>(m.partition, {0, 0});
  m.diagonal = BlockDiagonal<double>(m.partition);
  for (double& v : m.diagonal.all()) v = 1;
  Array<double, 1> x({4}), y({4});
  x(2) = NAN;
  apply(exec::cpu{}, m, x, y);
  CHECK((y(0) == 0 && y(1) == 0 && std::isnan(y(2)) && std::isnan(y(3))));
  apply_transpose(exec::cpu{}, m, x, y);
  CHECK((std::isnan(y(0)) && std::isnan(y(1)) && std::isnan(y(2)) && y(3) == 0));
}
