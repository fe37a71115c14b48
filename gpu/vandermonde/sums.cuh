/// \file
/// The two sums that products with Vandermonde matrices and exponential sums consist of, over the
/// terms z_k(l) of r geometric sequences with L terms each, in two levels:
///   z(l1 R + l2) = z(l1 R) z(l2).
/// Tables stand in shared memory, results are written once.
#pragma once

#include "core/strided.cuh"
#include "vandermonde/geometric.cuh"

namespace structmat::gpu {

/// The sequences of a batch of matrices.
template <class T>
struct Sequences {
  Strided<const T, 2> nodes;
  index_t lags, count;
  Terms terms;
  bool conjugated;

  __device__ Geometric<T> operator()(index_t b, index_t k) const {
    return {conjugate_if(conjugated, nodes(b, k)), terms};
  }
};

/// y_l = factor sum_k z_k(l) x_k, or its real part where Out is real and T is not.
template <class T, class Out>
struct OverPoles {
  Sequences<T> z;
  Strided<const T, 3> x;
  Strided<Out, 3> y;
  index_t batch, columns;
  real_of_t<T> factor;
};

/// y_k = factor sum_l w(l) z_k(l) x_l with w(l) = l or 1.
template <class T, class X>
struct OverLags {
  Sequences<T> z;
  Strided<const X, 3> x;
  Strided<T, 3> y;
  index_t batch, columns;
  real_of_t<T> factor;
  bool weighted, conjugated;  ///< by l; x
};

template <class T, class Out>
void sum_over_poles(const char* operation, int processors, cudaStream_t stream,
                    const OverPoles<T, Out>& problem);

/// The same on tensor cores, for exponentials, with |error| as if in float; infinite sums are NaN there.
template <class Out>
void sum_over_poles_split(const char* operation, int processors, cudaStream_t stream,
                          const OverPoles<Complex<float>, Out>& problem);

/// Numbers of partial sums that one batch entry with one column needs; 0 where rows are not divided.
index_t partial_sums(index_t lags, index_t count);

/// `partial`: partial_sums(...) for each batch entry and column.
template <class T, class X>
void sum_over_lags(const char* operation, int processors, cudaStream_t stream,
                   const OverLags<T, X>& problem, T* partial);

}  // namespace structmat::gpu
