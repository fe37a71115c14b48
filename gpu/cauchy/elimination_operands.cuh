/// \file
/// Cauchy matrices as elimination takes them, and checks of the operands of systems.
#pragma once

#include "cauchy/elimination.cuh"
#include "structmat/cauchy/cauchy.hpp"
#include "structmat/core/operand.hpp"

namespace structmat::cauchy::device {

/// m is checked, with its batch broadcast.
template <class V, class D = gpu::device_scalar_t<typename V::value_type>>
EliminationInput<D> elimination_input(const V& m) {
  EliminationInput<D> input;
  input.batch = m.batch();
  input.n = m.rows();
  input.s = gpu::strided(m.s);
  input.t = gpu::strided(m.t);
  input.weights = Weights::products;
  if constexpr (requires { m.g; }) {
    input.weights = Weights::nodes;
    input.order = m.order();
    input.g = gpu::strided(m.g);
    input.h = gpu::strided(m.h);
  }
  return input;
}

template <class V>
void require_square(const char* operation, const V& m) {
  if (m.rows() == m.cols() && m.rows() < (index_t{1} << 30)) return;
  throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.rows()) + " x " +
                   std::to_string(m.cols()) + ", it must be square and of less than 2^30 rows");
}

/// Checks b and x of `own` systems n x n and returns their batch.
template <class T>
index_t check_systems(const char* operation, index_t own, index_t n,
                      const View<const T, 3, space::cuda>& b, const View<T, 3, space::cuda>& x,
                      bool in_place) {
  const bool same =
      in_place && b.data() == x.data() && b.extents() == x.extents() && b.strides() == x.strides();
  const index_t batch = detail::check_operands(
      operation, own, n, n, same ? View<const T, 3, space::cuda>(nullptr, b.extents()) : b, x);
  gpu::require_writable(operation, x, "x");
  return batch;
}

inline void require_status(const char* operation, index_t batch,
                           const View<PivotStatus, 1, space::cuda>& status) {
  if (status.extent(0) == batch && (batch <= 1 || status.stride(0) == 1)) return;
  throw ShapeError(std::string(operation) + ": status has " + std::to_string(status.extent(0)) +
                   " elements of stride " + std::to_string(status.stride(0)) + ", there are " +
                   std::to_string(batch) + " matrices, next to each other");
}

/// Matrices whose factors are kept at a time.
template <class D>
index_t chunk_of(index_t batch, index_t n) {
  constexpr index_t most_bytes = index_t{1} << 30;
  const index_t bytes = gpu::counted("cauchy::solve", factors_layout<D>(1, n));
  return std::clamp<index_t>(most_bytes / std::max<index_t>(bytes, 1), 1,
                             std::max<index_t>(batch, 1));
}

}  // namespace structmat::cauchy::device
