/// \file
/// Quasiseparable matrices on a device and on the host: what the tests of their products share.
#pragma once

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

namespace structmat::test {

template <class T, class K>
struct Case {
  using Value = T;
  using Transition = K;
  static auto make(index_t n, Order r, index_t batch, unsigned seed) {
    if constexpr (std::same_as<K, transition::Block>) {
      return on_device(random_block_quasiseparable<T>(n, r, batch, seed));
    } else {
      return on_device(random_quasiseparable<T, K>(n, r, batch, seed));
    }
  }
};

/// op(M) x of the CPU twin, in double for float and in the type itself otherwise.
template <class M, class T>
Array<T, 3> on_host(const M& m, Op op, const Array<T, 3>& x) {
  auto y = poisoned<T, 3>({std::max(m.batch(), x.extent(0)), x.extent(1), x.extent(2)});
  apply_op(exec::cpu{}, m, op, x, y);
  return y;
}
template <class M, class T>
Array<T, 3> product(const M& m, Op op, const Array<T, 3>& x) {
  return on_host(m, op, x);
}

/// |y - expected| <= factor eps |M| |x|, both recurrences having that bound; with n cut where
/// transitions that contract leave nothing, and sums of denormal numbers exact to the last one.
template <class M, class T>
void check_against_host(const M& m, Op op, const Array<T, 3>& x, index_t memory = 2000) {
  const auto y = product(m, op, x), expected = on_host(m.host(), op, x);
  auto size = x;
  for (T& v : size) v = std::abs(v);
  const auto bound = on_host(absolute(m.host()), op, size);
  const Order r = m.host().order();
  const double terms = static_cast<double>(std::min(m.rows(), memory) + r.lower + r.upper);
  index_t wrong = 0;
  for (index_t i = 0; i < y.size(); ++i) {
    const double limit = 8 * terms *
                         (static_cast<double>(epsilon<T>) * std::abs(bound.data()[i]) +
                          static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()));
    // Written so that NaN is wrong.
    wrong += !(static_cast<double>(std::abs(y.data()[i] - expected.data()[i])) <= limit);
  }
  CHECK(wrong == 0);
}

/// One matrix, a batch of right-hand sides: alone or together, in a larger workspace or in a CUDA graph,
/// the same bits.
template <class M>
void check_batches(const M& m, index_t k) {
  using T = typename M::value_type;
  Random random(8);
  const index_t n = m.rows();
  const auto x = random.array<T, 3>({3, n, k});
  const auto y = product(m, Op::none, x);
  CHECK(same_bits(y, product(m, Op::none, x)));
  for (index_t b = 0; b < 3; ++b) {
    const auto own = to_array(x.view().slice(0, b, b + 1));
    CHECK(same_bits(product(m, Op::none, own), to_array(y.view().slice(0, b, b + 1))));
  }
  // A workspace for more entries than the matrix has takes more at a time.
  const auto x_there = to_device(x);
  for (const index_t times : {1, 2, 5}) {
    auto y_there = to_device(poisoned<T, 3>(y.extents()));
    Array<std::byte, 1, space::cuda> workspace(
        {times * apply_workspace_bytes(m.device().view(), k)}, uninitialized);
    apply(exec::cuda{nullptr, workspace}, m.device().view(), Op::none, x_there.view(),
          y_there.view());
    CHECK(same_bits(to_host(y_there), y));
  }
  // The whole product in a CUDA graph.
  auto y_there = to_device(poisoned<T, 3>(y.extents()));
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(m.device().view(), k)},
                                             uninitialized);
  replay([&](void* stream) {
    apply(exec::cuda{stream, workspace}, m.device().view(), Op::none, x_there.view(),
          y_there.view());
  });
  CHECK(same_bits(to_host(y_there), y));
}

}  // namespace structmat::test
