/// \file
/// The lags of Toeplitz-like matrices on a device: one description of all four families.
#pragma once

#include "core/strided.cuh"
#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/hankel.hpp"
#include "toeplitz/operand.cuh"

namespace structmat::toeplitz {

namespace device {

/// Lags of an m x n matrix, or of its adjoint.
template <class T>
struct Lags {
  gpu::Strided<const T, 2> data;  ///< (batch, m + n - 1), or (batch, n): a column
  index_t cols;
  int wrap;  ///< 0: lags; 1: circulant column; -1: skew-circulant
  bool adjoint;

  __device__ T operator()(index_t batch, index_t lag) const {
    const index_t l = adjoint ? -lag : lag;
    T value;
    if (wrap == 0)
      value = data(batch, l + cols - 1);
    else
      value = l >= 0 ? data(batch, l) : gpu::real_of_t<T>(wrap) * data(batch, l + cols);
    return gpu::conjugate_if(adjoint, value);
  }
};

}  // namespace device

/// A matrix of any of the four families as a Toeplitz one: H = T J.
template <Scalar T>
struct DeviceMatrix {
  View<const T, 2, space::cuda> numbers;
  index_t rows, cols;
  int wrap = 0;
  bool hankel = false;

  index_t batch() const { return numbers.extent(0); }
  device::Lags<gpu::device_scalar_t<T>> lags(bool adjoint) const {
    return {gpu::strided(numbers), cols, wrap, adjoint};
  }
};

template <Scalar T>
DeviceMatrix<T> device_matrix(const ToeplitzView<T, space::cuda>& m, const char* operation,
                              index_t batch = 1) {
  const auto t = checked(m, operation, batch);
  return {t.lags, t.rows(), t.cols()};
}
template <Scalar T>
DeviceMatrix<T> device_matrix(const HankelView<T, space::cuda>& m, const char* operation,
                              index_t batch = 1) {
  const auto h = hankel::checked(m, operation, batch);
  return {h.anti_diagonals, h.rows(), h.cols(), 0, true};
}
template <Scalar T>
DeviceMatrix<T> device_matrix(const CirculantView<T, space::cuda>& m, const char* operation,
                              index_t batch = 1) {
  const auto c = circulant::checked(m, operation, batch);
  return {c.column, c.size(), c.size(), 1};
}
template <Scalar T>
DeviceMatrix<T> device_matrix(const SkewCirculantView<T, space::cuda>& m, const char* operation,
                              index_t batch = 1) {
  const auto c = skew_circulant::checked(m, operation, batch);
  return {c.column, c.size(), c.size(), -1};
}

/// op(A), as kernels take it.
inline device::Action action_of(Op op) {
  return {op != Op::none, op == Op::transpose};
}

}  // namespace structmat::toeplitz
