/// \file
/// Matrices on the device: products of every family behind one type.
#pragma once

#include <functional>
#include <memory>

#include "structmat/core/device.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/block_on_device.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structured.hpp"

namespace structmat::cli {

/// Throws NotAvailable where this program or this machine cannot run on a device.
void require_device();

inline Array<std::byte, 1, space::cuda> device_workspace(index_t bytes) {
  return Array<std::byte, 1, space::cuda>({bytes}, uninitialized);
}

/// A matrix on the device, and what multiplies by it. Several products share one workspace.
template <Scalar T>
class DeviceProduct {
 public:
  /// `m` owns memory on the device, or is a plan.
  template <class M>
  explicit DeviceProduct(M m) {
    const auto kept = std::make_shared<const M>(std::move(m));
    workspace_bytes_ = [kept](index_t k) { return apply_workspace_bytes(kept->view(), k); };
    apply_ = [kept](const exec::cuda& e, Op op, View<const T, 3, space::cuda> x,
                    View<T, 3, space::cuda> y) { apply(e, kept->view(), op, x, y); };
  }
  /// A dense matrix.
  explicit DeviceProduct(Array<T, 2, space::cuda> a) {
    const auto kept = std::make_shared<const Array<T, 2, space::cuda>>(std::move(a));
    workspace_bytes_ = [](index_t) { return dense::gemm_workspace_bytes<T>(); };
    apply_ = [kept](const exec::cuda& e, Op op, View<const T, 3, space::cuda> x,
                    View<T, 3, space::cuda> y) {
      dense::gemm(e, op, Op::none, T{1}, kept->view(), x.select(0, 0), T{0}, y.select(0, 0));
    };
  }

  /// Makes the workspace for k right-hand sides.
  void prepare(index_t k) { workspace_ = device_workspace(workspace_bytes_(k)); }
  /// y := op(A) x, enqueued. x, y: of batch 1.
  void operator()(Op op, const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y) {
    apply_(exec::cuda{nullptr, workspace_.view()}, op, x, y);
  }

 private:
  std::function<index_t(index_t)> workspace_bytes_;
  std::function<void(const exec::cuda&, Op, View<const T, 3, space::cuda>, View<T, 3, space::cuda>)>
      apply_;
  Array<std::byte, 1, space::cuda> workspace_;
};

/// Quasiseparable or semiseparable generators. Throws Unsupported for those without a product on a
/// device.
template <class M>
DeviceProduct<typename M::value_type> on_device(const M& m) {
  using T = typename M::value_type;
  if constexpr (requires { to_device(m); }) {
    return DeviceProduct<T>(to_device(m));
  } else {
    throw Unsupported(std::string("backend cuda: ") + M::transition_type::name +
                      " generators of this family have no product on the device");
  }
}
template <Scalar T>
DeviceProduct<T> on_device(const Array<T, 2>& dense) {
  return DeviceProduct<T>(to_device(dense));
}

/// Any other family, as a plan where there is one; T holds every scalar of m.
template <Scalar T>
DeviceProduct<T> on_device(const io::AnyStructured& m);

/// All entries, formed on the device. Throws UsageError when they would not fit into this machine's
/// memory, Unsupported for matrices that only the CPU expands.
template <class M>
Array<typename M::value_type, 2> expand_on_device(const M& m) {
  using T = typename M::value_type;
  require_memory(double(m.rows()) * double(m.cols()) * sizeof(T), "the matrix in dense form");
  Array<T, 2, space::cuda> dense({m.rows(), m.cols()}, uninitialized);
  const auto refuse = [] {
    throw Unsupported("backend cuda: these generators are expanded on the CPU");
  };
  if constexpr (requires { to_device(m); }) {
    const auto there = to_device(m);
    const View<T, 3, space::cuda> entries = as_batch(dense.view());
    if constexpr (requires { to_dense(exec::cuda{}, there.view(), entries); }) {
      const auto bytes = [&] {
        if constexpr (requires { to_dense_workspace_bytes(there.view()); }) {
          return to_dense_workspace_bytes(there.view());
        } else {
          return index_t{0};
        }
      };
      auto workspace = device_workspace(bytes());
      to_dense(exec::cuda{nullptr, workspace}, there.view(), entries);
    } else {
      refuse();
    }
  } else {
    refuse();
  }
  return to_host(dense);
}
io::DenseMatrix expand_on_device(const io::AnyGenerators& generators);
io::DenseMatrix expand_on_device(const io::AnyStructured& matrix);

/// y := op(A) x with operands on the host.
template <Scalar T>
void multiply(DeviceProduct<T> product, Op op, const Array<T, 2>& x, Array<T, 2>& y) {
  const auto columns = to_device(x);
  Array<T, 2, space::cuda> result(y.extents());
  product.prepare(x.extent(1));
  product(op, View<const T, 3, space::cuda>(as_batch(columns.view())),
          View<T, 3, space::cuda>(as_batch(result.view())));
  y = to_host(result);
}

}  // namespace structmat::cli
