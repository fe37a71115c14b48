// Entries of quasiseparable matrices, written on a device.
#include "structmat/quasiseparable/entry.hpp"
#include "support/to_dense_on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T, class K>
struct Case {
  using Value = T;
  static auto make(index_t n, Order r, index_t batch, unsigned seed) {
    if constexpr (std::same_as<K, transition::Block>) {
      return random_block_quasiseparable<T>(n, r, batch, seed);
    } else {
      return random_quasiseparable<T, K>(n, r, batch, seed);
    }
  }
};

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("quasiseparable generators to dense on a device",
                           "[quasiseparable_to_dense]", (Case),
                           ((float, transition::Scalar), (std::complex<double>, transition::Scalar),
                            (double, transition::Diagonal),
                            (std::complex<float>, transition::Diagonal), (float, transition::Dense),
                            (double, transition::Dense), (std::complex<float>, transition::Dense),
                            (float, transition::Block), (double, transition::Block),
                            (std::complex<float>, transition::Block),
                            (std::complex<double>, transition::Block))) {
  for (const index_t n : {0, 1, 2, 31, 32, 33, 67, quick() ? 150 : 1000}) {
    for (const Order r : {Order{0, 0}, {3, 0}, {0, 5}, {8, 13}}) {
      if (n > 30 && r.lower + r.upper < 5) continue;
      if (n > 100 && r.upper == 5) continue;
      check_to_dense(TestType::make(n, r, n < 40 ? 2 : 1, unsigned(n)), std::max(r.lower, r.upper));
    }
  }
  check_to_dense_calls(TestType::make(70, {4, 3}, 2, 1));
}

TEMPLATE_TEST_CASE("orders for which fewer columns fit", "[quasiseparable_to_dense]",
                   (Case<double, transition::Diagonal>), (Case<double, transition::Block>)) {
  check_to_dense(TestType::make(66, {500, 3}, 1, 2), 500);
}

TEST_CASE("orders whose states fit nowhere are refused", "[quasiseparable_to_dense]") {
  const Quasiseparable<double, transition::Diagonal> m(3, {3000, 1});
  CHECK_THROWS_AS(dense_on_device(m), Unsupported);
}

TEMPLATE_TEST_CASE("generators that no entry contains are not read, with NaN in their place",
                   "[quasiseparable_to_dense]", transition::Scalar, transition::Diagonal,
                   transition::Dense) {
  const index_t n = 100;
  const auto clean = random_quasiseparable<double, TestType>(n, {3, 4}, 1, 5);
  auto m = clean;
  const auto poison = [n](auto& a, index_t row) {
    const index_t width = a.size() / n;
    std::fill_n(a.data() + row * width, width, NAN);
  };
  poison(m.p, 0), poison(m.h, 0), poison(m.q, n - 1), poison(m.g, n - 1);
  for (const index_t row : {index_t{0}, n - 1}) poison(m.a, row), poison(m.b, row);
  CHECK(same_bits(dense_on_device(m), dense_on_device(clean)));

  // A NaN within reaches what depends on it.
  m = clean;
  const index_t at = 45;
  poison(m.a, at), poison(m.g, at);
  const auto dense = dense_on_device(m);
  index_t wrong = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      wrong += std::isnan(dense(0, i, j)) != ((i > at && at > j) || (i == at && j > at));
    }
  }
  CHECK(wrong == 0);
}
