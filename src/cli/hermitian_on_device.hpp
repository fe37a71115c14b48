/// \file
/// Hermitian quasiseparable matrices on a device, by L D L^H: for solve and logdet.
#pragma once

#include "device.hpp"
#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::cli {

[[noreturn]] inline void refuse_factors() {
  throw Unsupported(
      "backend cuda: quasiseparable matrices are factored there as L D L^H, Hermitian ones with "
      "uniform transitions, g = conj(q), h = conj(p), b = a^H; others on the CPU");
}

/// Throws Unsupported unless the generators say that the matrix is Hermitian: g = conj(q),
/// h = conj(p), b = a^H, d real.
template <Scalar T, transition::Uniform K>
void require_hermitian(const Quasiseparable<T, K>& m) {
  const auto conjugates = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const T& a, const T& b) { return a == conjugate(b); });
  };
  // Transitions at both ends are never read.
  const View<const T, K::rank> a = m.a.view().slice(1, 1, m.size() - 1);
  View<const T, K::rank> b = m.b.view().slice(1, 1, m.size() - 1);
  if constexpr (K::rank == 4) b = b.transposed();
  const bool hermitian = conjugates(m.g, m.q) && conjugates(m.h, m.p) && conjugates(m.d, m.d) &&
                         conjugates(to_array(a), to_array(b));
  if (!hermitian) refuse_factors();
}

/// The factor in the memory of the device.
template <Scalar T, transition::Uniform K>
struct LdlOnDevice {
  Quasiseparable<T, K, space::cuda> matrix;
  Array<T, 3, space::cuda> w;
  Array<real_t<T>, 2, space::cuda> d;
  PivotStatus status{};

  quasiseparable::LdlView<T, K, space::cuda> view() const {
    return {matrix.p.view(), w.view(), matrix.a.view(), d.view()};
  }
};

template <Scalar T, transition::Uniform K>
LdlOnDevice<T, K> factor_on_device(const Quasiseparable<T, K>& m) {
  require_hermitian(m);
  LdlOnDevice<T, K> f{to_device(m), {}, {}};
  f.w = Array<T, 3, space::cuda>(m.p.extents());
  f.d = Array<real_t<T>, 2, space::cuda>(m.d.extents());
  Array<PivotStatus, 1, space::cuda> status({1});
  auto workspace = device_workspace(quasiseparable::factor_ldl_workspace_bytes(f.matrix.view()));
  quasiseparable::factor_ldl(exec::cuda{nullptr, workspace}, f.matrix.view(), {}, f.w.view(),
                             f.d.view(), status.view());
  f.status = to_host(status)(0);
  return f;
}

/// x := op(M)^-1 b.
template <Scalar T, transition::Uniform K>
PivotStatus solve_on_device(const Quasiseparable<T, K>& m, Op op, const Array<T, 2>& b,
                            Array<T, 2>& x) {
  const LdlOnDevice<T, K> f = factor_on_device(m);
  if (!f.status.usable()) return f.status;
  // M^T = conj(M).
  const auto conjugated = [&](Array<T, 2> a) {
    if (op == Op::transpose) std::transform(a.begin(), a.end(), a.begin(), conjugate<T>);
    return a;
  };
  const auto right = to_device(conjugated(b));
  Array<T, 2, space::cuda> solution(x.extents());
  auto workspace =
      device_workspace(quasiseparable::ldl_apply_workspace_bytes(f.view(), b.extent(1)));
  quasiseparable::ldl_apply(exec::cuda{nullptr, workspace}, f.view(),
                            quasiseparable::LdlPart::solve,
                            View<const T, 3, space::cuda>(as_batch(right.view())),
                            View<T, 3, space::cuda>(as_batch(solution.view())));
  x = conjugated(to_host(solution));
  return f.status;
}

/// Other generators: Throws Unsupported.
template <class M, Scalar T>
PivotStatus solve_on_device(const M&, Op, const Array<T, 2>&, Array<T, 2>&) {
  refuse_factors();
}

/// log |det M| and its sign. Throws DomainError where a pivot is not positive.
template <Scalar T, transition::Uniform K>
LogDeterminant<T> log_determinant_on_device(const Quasiseparable<T, K>& m) {
  const LdlOnDevice<T, K> f = factor_on_device(m);
  if (!f.status.usable()) throw DomainError("backend cuda: " + describe(f.status));
  Array<LogDeterminant<T>, 1, space::cuda> result({1});
  auto workspace = device_workspace(quasiseparable::log_determinant_workspace_bytes(f.view()));
  quasiseparable::log_determinant(exec::cuda{nullptr, workspace}, f.view(), result.view());
  return to_host(result)(0);
}
template <class M>
LogDeterminant<typename M::value_type> log_determinant_on_device(const M&) {
  refuse_factors();
}

}  // namespace structmat::cli
