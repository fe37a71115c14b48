// Entries of semiseparable matrices, written on a device.
#include "structmat/semiseparable/entry.hpp"
#include "support/to_dense_on_device.hpp"

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

TEMPLATE_PRODUCT_TEST_CASE("semiseparable generators to dense on a device",
                           "[semiseparable_to_dense]", (Case),
                           ((float, transition::Scalar), (double, transition::Diagonal),
                            (std::complex<float>, transition::Dense), (double, transition::Dense),
                            (float, transition::Block),
                            (std::complex<double>, transition::Block))) {
  for (const index_t n : {0, 1, 2, 31, 32, 33, 64, quick() ? 150 : 1000}) {
    for (const index_t r : {0, 3, 11}) {
      if (n > 100 && r != 3) continue;
      check_to_dense(TestType::make(n, r, n < 100 ? 2 : 1, unsigned(n + r)), r);
    }
  }
  check_to_dense_calls(TestType::make(70, 4, 2, 1));
}

TEMPLATE_TEST_CASE("semiseparable to dense: the first transition is not read",
                   "[semiseparable_to_dense]", transition::Scalar, transition::Diagonal,
                   transition::Dense) {
  const auto clean = random_semiseparable<double, TestType>(100, 2, 1, 6);
  auto m = clean;
  std::fill_n(m.a.data(), m.a.size() / 100, NAN);
  CHECK(same_bits(dense_on_device(m), dense_on_device(clean)));
}
