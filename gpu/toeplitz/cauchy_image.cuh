/// \file
/// Small Toeplitz matrices between Fourier matrices, on the device: generators of the Cauchy-like image and
/// the transforms of right-hand sides and solutions, as sums of n terms (structmat/toeplitz/
/// to_cauchy_like.hpp has the formulas).
///
///   T x = b    <=>  C (F D x) = F b
///   T^T x = b  <=>  C^T (conj(F) x) = conj(F) D^-1 b
/// with D = diag(root(2k)), root(m) = exp(i pi m / 2n).
#pragma once

#include "core/shared.cuh"
#include "core/strided.cuh"

namespace structmat::toeplitz::device {

/// A vector and the n-th roots of unity fit into the shared memory of a block.
constexpr index_t most_rows = 3072;

/// y_i = root(out i) / sqrt(n) sum_l exp(+-2 pi i i l / n) root(in l) x_l
struct Transform {
  index_t in = 0, out = 0;
  bool minus = false;
};
/// From a right-hand side of op(T) to one of op(C); from the solution back. op: none or transpose.
inline Transform to_image(bool transposed) {
  return transposed ? Transform{-2, 0, true} : Transform{0, 0, false};
}
inline Transform from_image(bool transposed) {
  return transposed ? Transform{0, 0, false} : Transform{0, -2, true};
}

template <class R>
__device__ gpu::Complex<R> root(index_t m, index_t n) {
  double sine, cosine;
  sincospi(static_cast<double>(m % (4 * n)) / (2.0 * static_cast<double>(n)), &sine, &cosine);
  return {static_cast<R>(cosine), static_cast<R>(sine)};
}

/// A block's vector and roots of unity.
template <class R>
struct Sums {
  using C = gpu::Complex<R>;
  C *vector, *roots;
  int n;

  static std::size_t bytes(index_t n) { return 2 * n * sizeof(C); }
  __device__ explicit Sums(index_t count)
      : vector(gpu::dynamic_shared<C>()), roots(vector + count), n(static_cast<int>(count)) {
    for (int m = threadIdx.x; m < n; m += blockDim.x) roots[m] = root<R>(4 * index_t{m}, n);
  }
  /// sum_l exp(+-2 pi i i l / n) vector_l / sqrt(n)
  __device__ C at(int i, bool minus) const {
    C sum = 0;
    for (int l = 0, turn = 0; l < n; ++l) {
      sum = gpu::multiply_add(gpu::conjugate_if(minus, roots[turn]), vector[l], sum);
      turn += i;
      if (turn >= n) turn -= n;
    }
    return (1 / sqrt(static_cast<R>(n))) * sum;
  }
};

/// Complex numbers as elements of type T; of real T the real part.
template <class T, class R>
__device__ T element(gpu::Complex<R> value) {
  if constexpr (gpu::is_complex<T>)
    return value;
  else
    return value.re;
}

/// y := the transforms of the columns of x, both (batch, n, columns).
template <class In, class Out>
struct TransformProblem {
  index_t batch, n, columns;
  Transform transform;
  bool conjugate_in, conjugate_out;
  gpu::Strided<const In, 3> x;
  gpu::Strided<Out, 3> y;
};

template <class In, class Out>
__global__ void __launch_bounds__(256)
    transform_columns(const __grid_constant__ TransformProblem<In, Out> p) {
  using R = gpu::real_of_t<In>;
  using C = gpu::Complex<R>;
  const Sums<R> sums(p.n);
  const Transform& t = p.transform;
  for (index_t unit = blockIdx.x; unit < p.batch * p.columns; unit += gridDim.x) {
    const index_t b = unit / p.columns, c = unit - b * p.columns;
    __syncthreads();
    for (int l = threadIdx.x; l < sums.n; l += blockDim.x) {
      const C value = C(gpu::conjugate_if(p.conjugate_in, In(p.x(b, l, c))));
      sums.vector[l] = root<R>(t.in * l, p.n) * value;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < sums.n; i += blockDim.x) {
      const C value = root<R>(t.out * i, p.n) * sums.at(i, t.minus);
      p.y(b, i, c) = element<Out>(gpu::conjugate_if(p.conjugate_out, value));
    }
  }
}

/// Generators of the images; g, h: (batch, n, 2). lags: (batch, 2n - 1).
template <class In, class R = gpu::real_of_t<In>>
struct GeneratorProblem {
  index_t batch, n;
  gpu::Strided<const In, 2> lags;
  gpu::Strided<gpu::Complex<R>, 3> g, h;
  gpu::Strided<gpu::Complex<R>, 2> s, t;  // nodes, where data is not null
};

template <class In, class R>
__global__ void __launch_bounds__(256)
    write_generators(const __grid_constant__ GeneratorProblem<In, R> p) {
  using C = gpu::Complex<R>;
  const Sums<R> sums(p.n);
  const int n = sums.n;
  for (index_t b = blockIdx.x; b < p.batch; b += gridDim.x) {
    const auto lag = [&](int l) { return C(In(p.lags(b, l + n - 1))); };
    const R unit = 1 / sqrt(static_cast<R>(n));
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      sums.vector[i] = i == 0 ? lag(0) : lag(i) + lag(i - n);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      p.g(b, i, 0) = unit;
      p.g(b, i, 1) = sums.at(i, false);
      if (p.s.data != nullptr) p.s(b, i) = root<R>(4 * index_t{i}, n);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      const C value = j == n - 1 ? lag(0) : lag(n - 1 - j) - lag(-1 - j);
      sums.vector[j] = root<R>(-2 * index_t{j}, n) * value;
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      p.h(b, j, 0) = sums.at(j, true);
      p.h(b, j, 1) = -(unit * root<R>(4 * index_t{j} + 2, n));
      if (p.t.data != nullptr) p.t(b, j) = root<R>(4 * index_t{j} + 2, n);
    }
  }
}

template <class In, class R>
void enqueue_generators(const char* operation, const GeneratorProblem<In, R>& problem,
                        int processors, cudaStream_t stream) {
  if (problem.batch == 0 || problem.n == 0) return;
  gpu::launch(operation, write_generators<In, R>,
              gpu::Grid{gpu::persistent_blocks(problem.batch, 1, processors), 256,
                        Sums<R>::bytes(problem.n)},
              stream, problem);
}
template <class In, class Out>
void enqueue_transform(const char* operation, const TransformProblem<In, Out>& problem,
                       int processors, cudaStream_t stream) {
  if (problem.batch == 0 || problem.n == 0 || problem.columns == 0) return;
  gpu::launch(operation, transform_columns<In, Out>,
              gpu::Grid{gpu::persistent_blocks(problem.batch * problem.columns, 1, processors), 256,
                        Sums<gpu::real_of_t<In>>::bytes(problem.n)},
              stream, problem);
}

/// Throws ShapeError for a matrix that is not square, Unsupported for one that is too large.
inline void require_small_square(const char* operation, index_t rows, index_t cols) {
  if (rows != cols) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(rows) + " x " +
                     std::to_string(cols) + ", it must be square");
  }
  if (rows > most_rows) {
    throw Unsupported(std::string(operation) + ": the matrix has " + std::to_string(rows) +
                      " rows; on a device at most " + std::to_string(most_rows));
  }
}

}  // namespace structmat::toeplitz::device
