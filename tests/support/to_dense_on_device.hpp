/// \file
/// Entries written on a device against those of the host.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

namespace structmat::test {

/// to_dense on the device, in a workspace of exactly the size asked for, filled with NaN.
template <class M>
auto dense_on_device(const M& m) {
  using T = typename M::value_type;
  const auto there = to_device(m);
  auto dense = to_device(poisoned<T, 3>({m.batch(), m.rows(), m.cols()}));
  Array<std::byte, 1> junk({to_dense_workspace_bytes(there.view())});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  auto workspace = to_device(junk);
  to_dense(exec::cuda{nullptr, workspace}, there.view(), dense.view());
  return to_host(dense);
}

/// |got - expected| <= factor (n + r) eps |M|, with |M| of absolute generators; r: the order.
template <class M>
void check_to_dense(const M& m, index_t r) {
  using T = typename M::value_type;
  INFO("n " << m.rows() << ", order " << r << ", batch " << m.batch());
  const auto got = dense_on_device(m), expected = m.to_dense(), bound = absolute(m).to_dense();
  index_t wrong = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    // Denormal numbers are exact to the last one. Written so that NaN is wrong.
    const double limit = tolerance<T>(m.rows(), r) * std::abs(bound.data()[i]) +
                         4 * static_cast<double>(m.rows() + r) *
                             static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min());
    wrong += !(static_cast<double>(std::abs(got.data()[i] - expected.data()[i])) <= limit);
  }
  CHECK(wrong == 0);
  CHECK(same_bits(got, dense_on_device(m)));
}

/// Into a matrix by columns with gaps, behind a guard; in a CUDA graph; what is refused. m: of batch 2 and
/// a size that needs a workspace where its kind of transitions does.
template <class M>
void check_to_dense_calls(const M& m) {
  using T = typename M::value_type;
  const index_t n = m.rows();
  const auto expected = dense_on_device(m);
  const auto there = to_device(m);
  const index_t bytes = to_dense_workspace_bytes(there.view());
  Array<std::byte, 1, space::cuda> workspace({bytes + 256}, uninitialized);

  const T untouched = T(7);
  Array<T, 3> store({2, n, 3 * n + 1});
  for (T& v : store) v = untouched;
  const View<T, 3> gappy(store.data() + 1, {2, n, n}, {n * (3 * n + 1), 3, 3 * n + 1});
  Mirror memory;
  memory.cover(store.view());
  memory.send();
  to_dense(exec::cuda{nullptr, workspace}, there.view(), memory(gappy.reversed(1)));
  memory.fetch();
  CHECK(same_bits(to_array(gappy.reversed(1)), expected));
  CHECK(std::count(store.begin(), store.end(), untouched) == store.size() - 2 * n * n);

  auto dense = to_device(poisoned<T, 3>({2, n, n}));
  replay([&](void* stream) {
    to_dense(exec::cuda{stream, workspace}, there.view(), dense.view());
  });
  CHECK(same_bits(to_host(dense), expected));

  const auto poison = poisoned<T, 3>({2, n, n});
  dense = to_device(poison);
  const auto run = [&](auto space, const View<T, 3, space::cuda>& to) {
    to_dense(exec::cuda{nullptr, space}, there.view(), to);
  };
  const auto ws = workspace.view();
  CHECK_THROWS_AS(run(ws, dense.view().slice(1, 0, n - 1)), ShapeError);
  CHECK_THROWS_AS(run(ws, View<T, 3, space::cuda>(dense.data(), {2, n, n}, {n * n, 0, 1})),
                  Unsupported);
  if (bytes > 0) {
    CHECK_THROWS_AS(run(ws.slice(0, 0, bytes - 1), dense.view()), DomainError);
    CHECK_THROWS_AS(run(ws.slice(0, 8, bytes + 8), dense.view()), Unsupported);
  }
  CHECK(same_bits(to_host(dense), poison));
}

}  // namespace structmat::test
