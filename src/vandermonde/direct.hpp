/// \file
/// Products with powers of nodes, one column at a time: Horner's rule, and running powers.
#pragma once

#include "structmat/core/scalar.hpp"

namespace structmat::vandermonde {

/// y_i := sum_j c_j x_i^j for i < m, j < n, by Horner's rule. All arrays contiguous; y overlaps
/// nothing.
template <Scalar T>
void evaluate(const T* x, index_t m, const T* c, index_t n, T* y);

/// c_j := sum_i x_i^j f_i for i < m, j < n. All arrays contiguous; c overlaps nothing.
template <Scalar T>
void power_sums(const T* x, index_t m, const T* f, index_t n, T* c);

}  // namespace structmat::vandermonde
