/// \file
/// Values of polynomials at many nodes.
#pragma once

#include "core/strided.cuh"

namespace structmat::gpu {

/// y_i = sum_j c_j z_i^j, with c_j = x_j, or the coefficients of the derivative, (j + 1) x_{j+1}.
template <class T>
struct Polynomials {
  Strided<const T, 2> nodes;
  Strided<const T, 3> x;
  Strided<T, 3> y;
  index_t batch, columns, count, degree_bound;  ///< nodes; coefficients c_j
  bool conjugated_nodes, conjugated_x, derivative;
};

/// Numbers of workspace for one batch entry with one column; 0 where coefficients are not divided.
index_t partial_values(index_t count, index_t degree_bound);

/// `partial`: partial_values(...) for each batch entry and column.
template <class T>
void evaluate(const char* operation, int processors, cudaStream_t stream,
              const Polynomials<T>& problem, T* partial);

}  // namespace structmat::gpu
