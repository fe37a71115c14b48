/// \file
/// apply_vjp on the device against its twin on the host.
#pragma once

#include <vector>

#include "support/battery.hpp"
#include "support/on_device.hpp"

namespace structmat::test {

/// All cotangents of y = op(M) x for the three op. m: the matrix; bar: what its cotangents start from,
/// of the shape of m, with batch 1 for a sum; inputs: batch of x; x_bars: that of x_bar. Cotangent:
/// the family's type, made of an owning matrix in either space; arrays(m): pointers to its arrays.
/// Both spaces add the same terms in other orders: they differ by `tolerance` times the magnitudes
/// max |x| max |y_bar| max |parameters|, about 1 for random data.
template <template <class, class> class Cotangent, class M, class Arrays>
void check_vjp_on_device(const M& m, const M& bar, index_t inputs, index_t x_bars, index_t k,
                         double tolerance, Random& random, const Arrays& arrays) {
  using T = typename M::value_type;
  const index_t batch = m.batch() == 1 ? inputs : m.batch();
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? m.cols() : m.rows();
    const index_t out = op == Op::none ? m.rows() : m.cols();
    INFO("op " << int(op) << ", " << m.rows() << " x " << m.cols() << ", batch " << m.batch()
               << " and " << inputs << ", bars " << bar.batch() << " and " << x_bars << ", k "
               << k);
    const auto x = random.array<T, 3>({inputs, in, k}), y_bar = random.array<T, 3>({batch, out, k});
    M m_bar = bar;
    auto x_bar = random.array<T, 3>({x_bars, in, k});
    auto device_m_bar = to_device(m_bar);
    auto device_x_bar = to_device(x_bar);
    apply_vjp(exec::cpu{}, m.view(), op, std::as_const(x).view(), y_bar.view(),
              Cotangent<T, space::host>(m_bar), x_bar.view());

    const auto device = to_device(m);
    const auto device_x = to_device(x), device_y_bar = to_device(y_bar);
    Array<std::byte, 1> junk({apply_vjp_workspace_bytes(device.view(), k, batch)});
    std::fill(junk.begin(), junk.end(), std::byte{0xff});
    auto workspace = to_device(junk);
    apply_vjp(exec::cuda{nullptr, workspace}, device.view(), op, device_x.view(),
              device_y_bar.view(), Cotangent<T, space::cuda>(device_m_bar), device_x_bar.view());

    const auto difference = [](const T* a, const T* b, index_t size) {
      double worst = 0;
      for (index_t i = 0; i < size; ++i) {
        const double error = std::abs(a[i] - b[i]);
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
      }
      return worst;
    };
    M got = to_host(device_m_bar);
    const auto expected_arrays = arrays(m_bar), got_arrays = arrays(got);
    for (std::size_t a = 0; a < got_arrays.size(); ++a) {
      INFO("array " << a);
      CHECK(difference(expected_arrays[a].first, got_arrays[a].first, got_arrays[a].second) <=
            tolerance);
    }
    const auto got_x_bar = to_host(device_x_bar);
    CHECK(difference(x_bar.data(), got_x_bar.data(), x_bar.size()) <= tolerance);
  }
}

/// What `arrays` returns, of one array.
template <class A>
std::pair<const typename A::value_type*, index_t> elements(const A& a) {
  return {a.data(), a.size()};
}

}  // namespace structmat::test
