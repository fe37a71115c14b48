/// \file
/// The three kinds of matrices of src/displacement/core.hpp on a device: a number of them, of one shape
/// and order.
#pragma once

#include <memory>
#include <vector>

#include "core/strided.cuh"
#include "core/workspace.cuh"
#include "structmat/core/array.hpp"
#include "structmat/core/op.hpp"
#include "structmat/displacement/generators.hpp"

namespace structmat::displacement {

/// Const use is safe from several threads, with a workspace for each call in progress.
template <Scalar T>
class DeviceCore {
 public:
  virtual ~DeviceCore() = default;

  /// y := op(X) x for operands that have been checked. x: (1 or count, n, k), y: (count, m, k) or
  /// exchanged, y not empty. e.workspace: apply_bytes(k).
  virtual void apply(const char* operation, const exec::cuda& e, Op op,
                     View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) const = 0;
  virtual index_t apply_bytes(const char* operation, index_t k) const = 0;

  /// dense := X, not empty. e.workspace: to_dense_bytes().
  virtual void to_dense(const char* operation, const exec::cuda& e,
                        View<T, 3, space::cuda> dense) const = 0;
  virtual index_t to_dense_bytes(const char* operation) const = 0;
};

template <Scalar T>
using DeviceCorePointer = std::unique_ptr<const DeviceCore<T>>;

/// Z_e X - X Z_f, of each of `all`; corners may differ.
template <Scalar T>
DeviceCorePointer<T> make_device_toeplitz_like(const exec::cuda& e,
                                               const std::vector<Generators<T>>& all);
/// D_x X - X Z_f; one matrix.
template <Scalar T>
DeviceCorePointer<T> make_device_vandermonde_like(const exec::cuda& e, const Generators<T>& x);
/// D_s X - X D_t, of each of `all`; tolerance: see PlanOptions.
template <Scalar T>
DeviceCorePointer<T> make_device_cauchy_like(const exec::cuda& e,
                                             const std::vector<Generators<T>>& all,
                                             double tolerance);

/// g or h of several matrices, (count, n, r), on the device.
template <Scalar T>
Array<T, 3, space::cuda> stacked(const std::vector<Generators<T>>& all,
                                 Array<T, 2> Generators<T>::*part) {
  const auto& first = all.front().*part;
  Array<T, 3> host({static_cast<index_t>(all.size()), first.extent(0), first.extent(1)},
                   uninitialized);
  for (index_t b = 0; b < host.extent(0); ++b)
    copy((all[static_cast<std::size_t>(b)].*part).view(), host.view().select(0, b));
  return to_device(host);
}

/// A part of a workspace, for an operation within this one.
inline exec::cuda within(const exec::cuda& e, std::byte* memory, index_t bytes) {
  return {e.stream, {memory, {bytes}}};
}

}  // namespace structmat::displacement
