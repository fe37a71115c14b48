/// \file
/// Multiplication by functions of circulant and skew-circulant matrices, y := V diag(d) V^-1 x, through
/// transforms of the very length n by cuFFT.
#pragma once

#include "core/workspace.cuh"
#include "structmat/core/array.hpp"
#include "toeplitz/twisted.cuh"

namespace structmat::toeplitz {

namespace device {

template <class T>
struct CyclicProblem {
  using R = gpu::real_of_t<T>;
  Input<T> x;
  Output<T> y;
  Complex<R>* z;        ///< (columns, n)
  TwistTable<R> twist;  ///< exp(i pi j / n) of skew-circulant matrices, or null
  const Complex<R>* diagonal;
  index_t diagonal_batch;
  index_t n, begin, columns, k;
  bool adjoint;
};

/// z := x without the twist.
template <class T>
__global__ void __launch_bounds__(256) load_cyclic(const __grid_constant__ CyclicProblem<T> m) {
  using R = gpu::real_of_t<T>;
  for (index_t at = index_t{blockIdx.x} * blockDim.x + threadIdx.x; at < m.columns * m.n;
       at += index_t{gridDim.x} * blockDim.x) {
    const index_t unit = at / m.n, j = at - unit * m.n;
    const Complex<R> v(m.x(column_of(m.begin + unit, m.k), j));
    m.z[at] = m.twist.fine == nullptr ? v : gpu::conjugate(m.twist(j, 0)) * v;
  }
}

template <class T>
__global__ void __launch_bounds__(256) multiply_cyclic(const __grid_constant__ CyclicProblem<T> m) {
  for (index_t at = index_t{blockIdx.x} * blockDim.x + threadIdx.x; at < m.columns * m.n;
       at += index_t{gridDim.x} * blockDim.x) {
    const index_t unit = at / m.n, j = at - unit * m.n;
    const index_t batch = column_of(m.begin + unit, m.k).batch;
    m.z[at] *= gpu::conjugate_if(m.adjoint, m.diagonal[batch * m.diagonal_batch + j]);
  }
}

template <class T>
__global__ void __launch_bounds__(256) store_cyclic(const __grid_constant__ CyclicProblem<T> m) {
  using R = gpu::real_of_t<T>;
  for (index_t at = index_t{blockIdx.x} * blockDim.x + threadIdx.x; at < m.columns * m.n;
       at += index_t{gridDim.x} * blockDim.x) {
    const index_t unit = at / m.n, j = at - unit * m.n;
    const Column column = column_of(m.begin + unit, m.k);
    const Complex<R> v = m.twist.fine == nullptr ? m.z[at] : m.twist(j, 0) * m.z[at];
    T value;
    if constexpr (gpu::is_complex<T>)
      value = v;
    else
      value = v.re;
    m.y.write(column, j, value, m.y.scale(column), false);
  }
}

}  // namespace device

/// Transforms of length n for `at_once` columns at a time. Const use is safe from several threads.
template <Scalar T>
class Cyclic {
 public:
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;
  using C = gpu::Complex<R>;

  /// Allocates and synchronises.
  Cyclic(const char* operation, index_t n, bool skew, index_t at_once)
      : processors_(gpu::multiprocessors(operation)),
        n_(n),
        at_once_(at_once),
        transform_(operation, n, at_once, {1, n}, {1, n}) {
    if (!skew) return;
    constexpr index_t fine_count = device::TwistTable<R>::fine_count;
    std::vector<C> fine, coarse;
    for (index_t j = 0; j < fine_count; ++j) fine.push_back(gpu::root_of_unity<R>(-j, 2 * n));
    for (index_t j = 0; j < n; j += fine_count) coarse.push_back(gpu::root_of_unity<R>(-j, 2 * n));
    fine_ = uploaded(fine);
    coarse_ = uploaded(coarse);
  }

  index_t size() const { return n_; }

  struct Spectra {
    C* z;
    void* library;
  };
  auto layout() const {
    return [this](gpu::Workspace& w) {
      Spectra s{};
      s.z = w.take<C>(at_once_ * n_);
      s.library = w.take<std::byte>(transform_.workspace_bytes());
      return s;
    };
  }

  /// The eigenvalues times a factor that `x` has, (columns, n), on the host.
  std::vector<std::complex<R>> eigenvalues(const char* operation, cudaStream_t stream,
                                           const device::Input<D>& x, index_t columns) const {
    Array<std::byte, 1, space::cuda> memory({gpu::counted(operation, layout())}, uninitialized);
    const Spectra s = gpu::cut(operation, memory.view(), layout());
    std::vector<std::complex<R>> values(static_cast<std::size_t>(columns * n_));
    for (index_t begin = 0; begin < columns; begin += at_once_) {
      const index_t now = std::min(at_once_, columns - begin);
      auto m = problem(x, {}, s, begin, now, 1);
      gpu::launch(operation, device::load_cyclic<D>, grid(now), stream, m);
      transform_.forward(operation, stream, s.library, s.z, s.z);
      gpu::check(cudaStreamSynchronize(stream), operation);
      structmat::detail::copy_device_to_host(values.data() + begin * n_, s.z,
                                             static_cast<std::size_t>(now * n_) * sizeof(C));
    }
    return values;
  }

  /// y := V diag(d) V^-1 x, with conj(d) for the adjoint. diagonal: (batch, n), with the factor 1 / n.
  void apply(const char* operation, cudaStream_t stream, const C* diagonal, index_t diagonal_batch,
             bool adjoint, const device::Input<D>& x, const device::Output<D>& y, index_t columns,
             index_t k, const Spectra& s) const {
    for (index_t begin = 0; begin < columns; begin += at_once_) {
      const index_t now = std::min(at_once_, columns - begin);
      auto m = problem(x, y, s, begin, now, k);
      m.diagonal = diagonal;
      m.diagonal_batch = diagonal_batch;
      m.adjoint = adjoint;
      gpu::launch(operation, device::load_cyclic<D>, grid(now), stream, m);
      // Columns behind the last one are transformed as well, whatever they hold.
      transform_.forward(operation, stream, s.library, s.z, s.z);
      gpu::launch(operation, device::multiply_cyclic<D>, grid(now), stream, m);
      transform_.backward(operation, stream, s.library, s.z, s.z);
      gpu::launch(operation, device::store_cyclic<D>, grid(now), stream, m);
    }
  }

 private:
  device::CyclicProblem<D> problem(const device::Input<D>& x, const device::Output<D>& y,
                                   const Spectra& s, index_t begin, index_t columns,
                                   index_t k) const {
    return {x, y, s.z, {fine_.data(), coarse_.data()}, nullptr, 0, n_, begin, columns, k, false};
  }
  gpu::Grid grid(index_t columns) const {
    constexpr index_t threads = 256;
    return {gpu::persistent_blocks(columns * n_, threads, processors_), threads};
  }

  int processors_;
  index_t n_, at_once_;
  gpu::Dft<C, C> transform_;
  Array<C, 1, space::cuda> fine_, coarse_;
};

}  // namespace structmat::toeplitz
