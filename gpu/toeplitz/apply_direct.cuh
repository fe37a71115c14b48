/// \file
/// Products with Toeplitz-like matrices by the sums of their definition.
#pragma once

#include "toeplitz/lags.cuh"

namespace structmat::toeplitz {

/// y := or += action(A) x for operands that have been checked; A without Hankel's reversal. x and y
/// have the batch of the product, of A a batch extent 1 is broadcast.
template <Scalar T>
void apply_direct(const char* operation, const exec::cuda& e, const DeviceMatrix<T>& m,
                  device::Action action, View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y,
                  bool add);

}  // namespace structmat::toeplitz
