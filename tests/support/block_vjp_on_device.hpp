/// \file
/// apply_vjp of block generators on the device against its twin on the host. `arrays(m)`: pointers to the
/// arrays of generators of a matrix on the host.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

namespace structmat::test {

inline Array<std::byte, 1, space::cuda> workspace_of_nan(index_t bytes) {
  Array<std::byte, 1> junk({bytes});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  return to_device(junk);
}

/// The first entry of every array of generators, or copies of them.
template <class M, class Arrays>
M with_batch(const M& m, index_t batch, const Arrays& arrays) {
  M other = m;
  for (auto* a : arrays(other)) {
    auto resized = std::decay_t<decltype(*a)>({batch, a->extent(1)});
    for (index_t b = 0; b < batch && a->extent(0) > 0; ++b) {
      copy(View<const typename M::value_type, 1>(a->view().select(0, 0)),
           resized.view().select(0, b));
    }
    *a = std::move(resized);
  }
  return other;
}

template <class T>
double largest_difference(const T* a, const T* b, index_t size) {
  double worst = 0;
  for (index_t i = 0; i < size; ++i) {
    const double error = static_cast<double>(std::abs(a[i] - b[i]));
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst;
}

/// All cotangents for the three op, which are added to what is there. bars, inputs, x_bars: batches of the
/// cotangent of m, of x and of x_bar. Generators are random of size 1 and contract.
template <class M, class Arrays>
void check_block_vjp(const M& m, index_t bars, index_t inputs, index_t x_bars, index_t k,
                     const Arrays& arrays) {
  using T = typename M::value_type;
  Random random(7);
  const index_t n = m.rows(), batch = m.batch() == 1 ? inputs : m.batch();
  for (const Op op : all_ops) {
    INFO("op " << int(op) << ", n " << n << ", batch " << m.batch() << " and " << inputs
               << ", bars " << bars << " and " << x_bars << ", k " << k);
    const auto x = random.array<T, 3>({inputs, n, k}), y_bar = random.array<T, 3>({batch, n, k});
    M m_bar = with_batch(m, bars, arrays);
    auto x_bar = random.array<T, 3>({x_bars, n, k});
    auto device_m_bar = to_device(m_bar);
    auto device_x_bar = to_device(x_bar);
    apply_vjp(exec::cpu{}, m, op, x.view(), y_bar.view(), &m_bar, x_bar.view());

    const auto device = to_device(m);
    const auto device_x = to_device(x), device_y_bar = to_device(y_bar);
    const auto workspace = workspace_of_nan(apply_vjp_workspace_bytes(device, k, batch));
    apply_vjp(
        exec::cuda{nullptr, View<std::byte, 1, space::cuda>(
                                const_cast<std::byte*>(workspace.data()), workspace.extents())},
        device, op, device_x.view(), device_y_bar.view(), &device_m_bar, device_x_bar.view());
    // States are at most 10 times the order, and sums run over k, the batch and at most 13 states.
    const double allowed = 2000 * static_cast<double>(std::max<index_t>(k, 1) * batch) *
                           static_cast<double>(epsilon<T>);
    M got = to_host(device_m_bar);
    const auto expected_arrays = arrays(m_bar), got_arrays = arrays(got);
    for (std::size_t a = 0; a < got_arrays.size(); ++a) {
      INFO("array " << a);
      REQUIRE(got_arrays[a]->extents() == expected_arrays[a]->extents());
      CHECK(largest_difference(expected_arrays[a]->data(), got_arrays[a]->data(),
                               got_arrays[a]->size()) <= allowed);
    }
    const auto got_x_bar = to_host(device_x_bar);
    CHECK(largest_difference(x_bar.data(), got_x_bar.data(), x_bar.size()) <= allowed);
  }
}

/// Independent of the twin: y = M x is linear in x, and homogeneous of degree 2, 2 and 1 in (P, Q), ...:
/// for the cotangents of P, Q of a triangle, <P_bar, P> = <Q_bar, Q> and the sum over both triangles and D
/// is <y_bar, y>, which is <x_bar, x>, too.
template <class M, class Arrays>
void check_block_vjp_identities(const M& m, const Arrays& arrays) {
  using T = typename M::value_type;
  Random random(9);
  const index_t n = m.rows(), k = 3;
  const auto inner = [](const T* a, const T* b, index_t size) {
    double sum = 0;
    for (index_t i = 0; i < size; ++i) sum += std::real(conjugate(a[i]) * b[i]);
    return sum;
  };
  const auto device = to_device(m);
  const auto workspace_bytes = apply_vjp_workspace_bytes(device, k, 1);
  for (const Op op : all_ops) {
    const auto x = random.array<T, 3>({1, n, k}), y_bar = random.array<T, 3>({1, n, k});
    M bar = m;
    for (auto* a : arrays(bar)) std::fill(a->begin(), a->end(), T{});
    auto m_bar = to_device(bar);
    auto x_bar = to_device(Array<T, 3>({1, n, k}));
    const auto device_x = to_device(x), device_y_bar = to_device(y_bar);
    auto workspace = workspace_of_nan(workspace_bytes);
    apply_vjp(exec::cuda{nullptr, workspace}, device, op, device_x.view(), device_y_bar.view(),
              &m_bar, x_bar.view());
    auto y = poisoned<T, 3>({1, n, k});
    apply_op(exec::cpu{}, m, op, x, y);
    const double expected = inner(y_bar.data(), y.data(), y.size());
    const auto got_x_bar = to_host(x_bar);
    CHECK(inner(got_x_bar.data(), x.data(), x.size()) == Approx(expected).epsilon(1e-11));
    M got = to_host(m_bar), own = m;
    const auto bars = arrays(got), generators = arrays(own);
    // P, Q, A of each triangle, then D.
    double sum = 0;
    for (std::size_t a = 0; a < bars.size(); ++a) {
      const double product = inner(bars[a]->data(), generators[a]->data(), bars[a]->size());
      if (a % 3 == 1) {
        CHECK(product ==
              Approx(inner(bars[a - 1]->data(), generators[a - 1]->data(), bars[a - 1]->size()))
                  .epsilon(1e-11)
                  .margin(1e-11));
      }
      if (a % 3 == 0) sum += product;
    }
    CHECK(sum == Approx(expected).epsilon(1e-11));
  }
}

/// m and `other` (of other states): of batch 2 and n rows.
template <class M, class Arrays>
void check_block_vjp_calls(const M& m, const M& other, const Arrays& arrays) {
  using T = typename M::value_type;
  const index_t n = m.rows(), k = 3;
  Random random(5);
  const auto x = random.array<T, 3>({2, n, k}), y_bar = random.array<T, 3>({2, n, k});
  const auto device = to_device(m), unlike = to_device(other);
  const auto device_x = to_device(x), device_y_bar = to_device(y_bar);
  const index_t bytes = apply_vjp_workspace_bytes(device, k, 2);
  REQUIRE(bytes > 0);
  auto workspace = workspace_of_nan(bytes);
  const exec::cuda e{nullptr, workspace};
  const auto same_generators = [&](const auto& a, const auto& b) {
    M left = to_host(a), right = to_host(b);
    const auto of_left = arrays(left), of_right = arrays(right);
    bool same = true;
    for (std::size_t i = 0; i < of_left.size(); ++i) same &= same_bits(*of_left[i], *of_right[i]);
    return same;
  };
  const auto run = [&](auto& bar, auto& x_bar) {
    apply_vjp(e, device, Op::transpose, device_x.view(), device_y_bar.view(), &bar, x_bar.view());
  };
  auto expected = to_device(m);
  auto x_expected = to_device(x);
  run(expected, x_expected);

  // The same bits again, without the other cotangents, and in a CUDA graph, which adds twice.
  auto bar = to_device(m);
  apply_vjp(e, device, Op::transpose, device_x.view(), device_y_bar.view(), &bar,
            View<T, 3, space::cuda>{});
  CHECK(same_generators(bar, expected));
  auto x_bar = to_device(x);
  apply_vjp(e, device, Op::transpose, device_x.view(), device_y_bar.view(),
            static_cast<decltype(&bar)>(nullptr), x_bar.view());
  CHECK(same_bits(to_host(x_bar), to_host(x_expected)));
  run(expected, x_expected);
  bar = to_device(m), x_bar = to_device(x);
  replay([&](void* stream) {
    apply_vjp(exec::cuda{stream, workspace}, device, Op::transpose, device_x.view(),
              device_y_bar.view(), &bar, x_bar.view());
  });
  CHECK(same_generators(bar, expected));
  CHECK(same_bits(to_host(x_bar), to_host(x_expected)));

  // Reversed, and with gaps.
  Array<T, 3> store({2, n, 2 * k});
  const View<T, 3> gappy(store.data(), {2, n, k}, {2 * n * k, 2 * k, 2});
  copy(x.view(), gappy.reversed(1));
  Mirror memory;
  memory.cover(store.view());
  memory.send();
  for (int twice = 0; twice < 2; ++twice) {
    apply_vjp(e, device, Op::transpose, device_x.view(), device_y_bar.view(),
              static_cast<decltype(&bar)>(nullptr), memory(gappy.reversed(1)));
  }
  memory.fetch();
  CHECK(same_bits(to_array(gappy.reversed(1)), to_host(x_expected)));

  auto wrong = to_device(other), kept = to_device(m);
  CHECK_THROWS_AS(run(wrong, x_bar), ShapeError);
  const auto refused = [&](const View<std::byte, 1, space::cuda>& space,
                           const View<T, 3, space::cuda>& to) {
    apply_vjp(exec::cuda{nullptr, space}, device, Op::none, device_x.view(), device_y_bar.view(),
              &kept, to);
  };
  const auto ws = workspace.view();
  CHECK_THROWS_AS(refused(ws.slice(0, 0, bytes - 1), x_bar.view()), DomainError);
  CHECK_THROWS_AS(refused(ws, x_bar.view().slice(1, 0, n - 1)), ShapeError);
  CHECK_THROWS_AS(refused(ws, View<T, 3, space::cuda>(x_bar.data(), {2, n, k}, {n * k, 0, 1})),
                  Unsupported);
  CHECK(same_generators(kept, device));
  CHECK_THROWS_AS(apply_vjp_workspace_bytes(device, -1, 1), ShapeError);
}

}  // namespace structmat::test
