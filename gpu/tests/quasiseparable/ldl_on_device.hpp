/// \file
/// Hermitian matrices and factors of tests on the device, with workspaces of exactly the size asked for,
/// filled with NaN.
#pragma once

#include "structmat/quasiseparable/log_likelihood.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/hermitian.hpp"

namespace structmat::test {

namespace qs = structmat::quasiseparable;

inline Array<std::byte, 1, space::cuda> junk(index_t bytes) {
  Array<std::byte, 1> all({bytes});
  std::fill(all.begin(), all.end(), std::byte{0xff});
  return to_device(all);
}

/// The lower triangle; the upper one is empty.
template <Scalar T, class K>
struct HermitianOnDevice {
  explicit HermitianOnDevice(const Quasiseparable<T, K>& m)
      : p(to_device(m.p)), q(to_device(m.q)), a(to_device(m.a)), d(to_device(m.d)) {}

  QuasiseparableView<T, K, space::cuda> view() const {
    QuasiseparableView<T, K, space::cuda> v;
    v.p = p.view();
    v.q = q.view();
    v.a = a.view();
    v.d = d.view();
    return v;
  }

  Array<T, 3, space::cuda> p, q;
  Array<T, K::rank, space::cuda> a;
  Array<T, 2, space::cuda> d;
};

/// What the device makes of a matrix, on the host again.
template <Scalar T>
struct FactorFromDevice {
  Array<T, 3> w;
  Array<real_t<T>, 2> d;
  Array<PivotStatus, 1> status;

  bool ok() const {
    return std::all_of(status.begin(), status.end(), [](const auto& s) { return s.ok(); });
  }
};

template <Scalar T, class K>
FactorFromDevice<T> factor_on_device(const Quasiseparable<T, K>& m,
                                     const qs::LdlOptions& options = {}) {
  const HermitianOnDevice<T, K> there(m);
  auto w = to_device(poisoned<T, 3>({m.batch(), m.size(), m.order().lower}));
  auto d = to_device(poisoned<real_t<T>, 2>({m.batch(), m.size()}));
  auto status = to_device(Array<PivotStatus, 1>({m.batch()}));
  auto workspace = junk(qs::factor_ldl_workspace_bytes(there.view(), options));
  qs::factor_ldl(exec::cuda{nullptr, workspace.view()}, there.view(), options, w.view(), d.view(),
                 status.view());
  return {to_host(w), to_host(d), to_host(status)};
}

/// A factor of the CPU's on the device.
template <Scalar T, class K>
struct LdlOnDevice {
  explicit LdlOnDevice(const qs::Ldl<T, K>& f)
      : p(to_device(f.p)), w(to_device(f.w)), a(to_device(f.a)), d(to_device(f.d)) {}

  qs::LdlView<T, K, space::cuda> view() const { return {p.view(), w.view(), a.view(), d.view()}; }

  Array<T, 3, space::cuda> p, w;
  Array<T, K::rank, space::cuda> a;
  Array<real_t<T>, 2, space::cuda> d;
};

template <Scalar T, class K>
Array<T, 3> apply_on_device(const qs::Ldl<T, K>& f, qs::LdlPart part, const Array<T, 3>& x) {
  const LdlOnDevice<T, K> there(f);
  const index_t batch = std::max(f.batch(), x.extent(0));
  const auto from = to_device(x);
  auto to = to_device(poisoned<T, 3>({batch, x.extent(1), x.extent(2)}));
  auto workspace = junk(qs::ldl_apply_workspace_bytes(there.view(), x.extent(2), batch));
  qs::ldl_apply<T, K>(exec::cuda{nullptr, workspace.view()}, there.view(), part, from.view(),
                      to.view());
  return to_host(to);
}

}  // namespace structmat::test
