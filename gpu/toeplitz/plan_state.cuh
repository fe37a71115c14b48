/// \file
/// What a Toeplitz plan on a device holds.
#pragma once

#include <optional>

#include "structmat/toeplitz/plan.hpp"
#include "toeplitz/lags.cuh"
#include "toeplitz/twisted.cuh"

namespace structmat::toeplitz {

template <Scalar T>
struct DevicePlanState {
  using C = gpu::Complex<real_t<T>>;

  DevicePlanState(const exec::cuda& e, const DeviceMatrix<T>& m, const PlanOptions& options);

  /// The matrix without Hankel's reversal.
  DeviceMatrix<T> matrix() const { return {lags.view(), rows, cols, 0, hankel}; }
  index_t batch() const { return lags.extent(0); }

  index_t rows, cols;
  bool hankel;
  Array<T, 2, space::cuda> lags;
  std::optional<Twisted<T>> twisted;  ///< none for sums
  Array<C, 1, space::cuda> symbol;    ///< (batch, sheets, L), scaled
  Array<int, 1, space::cuda>
      exponents;  ///< (batch): lags are 2^exponent times what is in the symbol
};

/// y := or += action(A) x with the matrices first, ... of a plan (all alike if it has one), Hankel's
/// reversal apart.
template <Scalar T>
void apply_plan(const char* operation, const exec::cuda& e, const DevicePlanState<T>& plan,
                device::Action action, View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y,
                bool add, index_t first = 0);

/// Bytes that apply_plan takes.
template <Scalar T>
index_t apply_plan_bytes(const char* operation, const DevicePlanState<T>& plan, index_t k,
                         index_t batch = 1);

}  // namespace structmat::toeplitz
