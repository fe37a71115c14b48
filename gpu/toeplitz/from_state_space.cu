// Convolution kernels of state-space models on the device.
#include "structmat/toeplitz/from_state_space.hpp"

#include "core/reduce.cuh"
#include "core/workspace.cuh"
#include "fft/dft.cuh"
#include "structmat/cauchy/roots_of_unity.hpp"
#include "structmat/core/shape.hpp"
#include "vandermonde/geometric.cuh"
#include "vandermonde/sums.cuh"

namespace structmat::toeplitz {
namespace {

using gpu::Complex;
using gpu::Strided;
using Wide = Complex<double>;

constexpr unsigned threads = 256;

template <class R>
View<const R, 2, space::cuda> as_columns(const View<const R, 1, space::cuda>& steps) {
  return {steps.data(), {steps.extent(0), 1}, {steps.stride(0), 1}};
}

// ---- diagonal models

constexpr char s4d[] = "toeplitz::s4d_kernel";

template <class R>
struct Discretisation {
  Strided<const Complex<R>, 2> a, w;
  Strided<const R, 1> dt;
  Complex<R>*exponents, *weights;  // (batch, count)
  index_t batch, count;
};

/// (e^z - 1) / z without cancellation: e^{z/2} sinh(z/2) / (z/2).
__device__ Wide relative_exponential(Wide z) {
  if (z == Wide(0)) return 1;
  const Wide half = 0.5 * z;
  double s, c;
  sincos(half.im, &s, &c);
  const Wide hyperbolic(sinh(half.re) * c, cosh(half.re) * s);
  return exp(half.re) * (Wide(c, s) * hyperbolic) * gpu::reciprocal(half);
}

template <class R>
__global__ void __launch_bounds__(threads) discretise(const __grid_constant__ Discretisation<R> m) {
  for (index_t unit = blockIdx.x * index_t{blockDim.x} + threadIdx.x; unit < m.batch * m.count;
       unit += index_t{gridDim.x} * blockDim.x) {
    const index_t b = unit / m.count, n = unit % m.count;
    const R dt = m.dt(b);
    const Complex<R> z = dt * m.a(b, n);
    m.exponents[unit] = z;
    m.weights[unit] = gpu::narrowed<Complex<R>>(
        double(dt) * (gpu::widened(m.w(b, n)) * relative_exponential(gpu::widened(z))));
  }
}

template <class R>
struct Discretised {
  Complex<R>*exponents, *weights;
};
template <class R>
Discretised<R> take(gpu::Workspace& w, index_t count) {
  return {w.take<Complex<R>>(count), w.take<Complex<R>>(count)};
}

template <class T>
index_t checked_batch(const DiagonalModel<T, space::cuda>& m) {
  detail::Shape shape(s4d, 1);
  const index_t r = m.a.extent(1);
  shape.require("dt", as_columns(m.dt), {1});
  shape.require("a", m.a, {r});
  shape.require("w", m.w, {r});
  return shape.batch();
}

// ---- diagonal plus rank 1

constexpr char s4[] = "toeplitz::s4_kernel";

template <class R>
struct Weights {
  Strided<const Complex<R>, 2> p, q, b, c;
  Complex<R>* weights;  // (batch, count, 4)
  index_t batch, count;
};
template <class R>
__global__ void __launch_bounds__(threads) weigh(const __grid_constant__ Weights<R> m) {
  for (index_t unit = blockIdx.x * index_t{blockDim.x} + threadIdx.x; unit < m.batch * m.count;
       unit += index_t{gridDim.x} * blockDim.x) {
    const index_t e = unit / m.count, n = unit % m.count;
    const Complex<R> p = m.p(e, n), q = gpu::conjugate(m.q(e, n)), b = m.b(e, n), c = m.c(e, n);
    Complex<R>* const w = m.weights + 4 * unit;
    w[0] = c * b, w[1] = c * p, w[2] = q * b, w[3] = q * p;
  }
}

/// values := S_cb - S_cp S_qb / (2 / (1 + w) + S_qp) with S = 2 R / (1 + w); 2 / (1 + w) = exp(i p) / cos p.
template <class R>
struct Symbols {
  const Complex<R>* sums;  // (4, batch, length)
  Complex<R>* values;      // (batch, length)
  index_t batch, length;
};
template <class R>
__global__ void __launch_bounds__(threads) combine(const __grid_constant__ Symbols<R> m) {
  const index_t size = m.batch * m.length;
  for (index_t unit = blockIdx.x * index_t{blockDim.x} + threadIdx.x; unit < size;
       unit += index_t{gridDim.x} * blockDim.x) {
    double s, c;
    sincospi(static_cast<double>(unit % m.length) / static_cast<double>(m.length), &s, &c);
    const R cosine = R(c);
    const Complex<R> cb = m.sums[unit], cp = m.sums[size + unit], qb = m.sums[2 * size + unit],
                     qp = m.sums[3 * size + unit];
    const Complex<R> denominator = Complex<R>(cosine, R(s)) + cosine * qp;
    m.values[unit] = cb - cosine * (cp * qb) * gpu::reciprocal(denominator);
  }
}

template <class R>
struct Scaling {
  const Complex<R>* from;
  Strided<Complex<R>, 2> to;
  index_t batch, length;
};
template <class R>
__global__ void __launch_bounds__(threads) scale(const __grid_constant__ Scaling<R> m) {
  const R factor = R(1) / R(m.length);
  for (index_t unit = blockIdx.x * index_t{blockDim.x} + threadIdx.x; unit < m.batch * m.length;
       unit += index_t{gridDim.x} * blockDim.x) {
    m.to(unit / m.length, unit % m.length) = factor * m.from[unit];
  }
}

template <class D>
struct Buffers {
  D *weights, *sums, *values;
  void* transform;
};

}  // namespace

template <ComplexScalar T>
struct S4Plan<T>::State {
  using D = gpu::device_scalar_t<T>;
  gpu::Dft<D, D> transform;
};

namespace {

template <class T, class D = gpu::device_scalar_t<T>>
Buffers<D> take(gpu::Workspace& w, const S4Plan<T>& plan, index_t r) {
  const index_t size = plan.batch() * plan.length();
  return {w.take<D>(4 * plan.batch() * r), w.take<D>(4 * size), w.take<D>(size),
          w.take<std::byte>(plan.state().transform.workspace_bytes())};
}

}  // namespace

template <ComplexScalar T>
index_t s4d_kernel_workspace_bytes(const DiagonalModel<T, space::cuda>& m) {
  const index_t count = checked_batch(m) * m.a.extent(1);
  return gpu::counted(s4d, [&](gpu::Workspace& w) { return take<real_t<T>>(w, count); });
}

template <ComplexScalar T>
void s4d_kernel(const exec::cuda& e, const DiagonalModel<T, space::cuda>& m,
                View<real_t<T>, 2, space::cuda> kernel) {
  using R = real_t<T>;
  const index_t batch = checked_batch(m), count = m.a.extent(1), length = kernel.extent(1);
  detail::require_extents<R, 2, space::cuda>(s4d, kernel, {batch, length});
  gpu::require_writable(s4d, kernel, "the kernel");
  for (const auto* part : {&m.a, &m.w}) {
    if (overlaps(*part, kernel)) {
      throw DomainError(std::string(s4d) + ": the kernel overlaps the model in memory");
    }
  }
  gpu::require_apart(s4d, e.workspace, kernel, "the kernel");
  const auto buffers =
      gpu::cut(s4d, e.workspace, [&](gpu::Workspace& w) { return take<R>(w, batch * count); });
  const int processors = gpu::multiprocessors(s4d);
  if (kernel.empty()) return;
  const cudaStream_t stream = gpu::stream_of(e);
  if (count > 0) {
    const Discretisation<R> model{gpu::strided(m.a),
                                  gpu::strided(m.w),
                                  gpu::strided(m.dt),
                                  buffers.exponents,
                                  buffers.weights,
                                  batch,
                                  count};
    gpu::launch(s4d, discretise<R>, gpu::persistent_blocks(batch * count, threads, processors),
                threads, stream, model);
  }
  const gpu::OverPoles<Complex<R>, R> sums{
      {{buffers.exponents, {count, 1}}, length, count, gpu::Terms::exponentials, false},
      {buffers.weights, {count, 1, 0}},
      {kernel.data(), {kernel.stride(0), kernel.stride(1), 0}},
      batch,
      1,
      2};
  gpu::sum_over_poles(s4d, processors, stream, sums);
}

template <ComplexScalar T>
S4Plan<T>::S4Plan(index_t batch, index_t length) : batch_(batch), length_(length) {
  if (batch < 0 || length < 0) {
    throw ShapeError(std::string(s4) + ": a plan for batch " + std::to_string(batch) +
                     " and length " + std::to_string(length));
  }
  const gpu::DftLayout layout{1, length};
  auto state = std::make_shared<State>();
  state->transform =
      gpu::Dft<typename State::D, typename State::D>(s4, length, batch, layout, layout);
  state_ = std::move(state);
}

template <ComplexScalar T>
index_t s4_kernel_workspace_bytes(const S4Plan<T>& plan, index_t r) {
  if (r < 0) throw ShapeError(std::string(s4) + ": " + std::to_string(r) + " poles");
  return gpu::counted(s4, [&](gpu::Workspace& w) { return take<T>(w, plan, r); });
}

template <ComplexScalar T>
void s4_kernel(const exec::cuda& e, const S4Plan<T>& plan,
               const DiagonalPlusRankOneModel<T, space::cuda>& m, View<T, 2, space::cuda> kernel) {
  using R = real_t<T>;
  using D = Complex<R>;
  const index_t batch = plan.batch(), length = plan.length(), r = m.lambda.extent(1);
  detail::Shape shape(s4, batch);
  shape.require("dt", as_columns(m.dt), {1});
  shape.require("lambda", m.lambda, {r});
  shape.require("p", m.p, {r});
  shape.require("q", m.q, {r});
  shape.require("b", m.b, {r});
  shape.require("c", m.c, {r});
  if (shape.batch() != batch) {
    throw ShapeError(std::string(s4) + ": the model has batch " + std::to_string(shape.batch()) +
                     ", the plan " + std::to_string(batch));
  }
  detail::require_extents<T, 2, space::cuda>(s4, kernel, {batch, length});
  gpu::require_writable(s4, kernel, "the kernel");
  gpu::require_apart(s4, e.workspace, kernel, "the kernel");
  const Buffers<D> buffers =
      gpu::cut(s4, e.workspace, [&](gpu::Workspace& w) { return take<T>(w, plan, r); });
  const int processors = gpu::multiprocessors(s4);
  if (kernel.empty()) return;
  const cudaStream_t stream = gpu::stream_of(e);
  const auto blocks = [&](index_t work) {
    return gpu::persistent_blocks(work, threads, processors);
  };
  if (r > 0) {
    const Weights<R> weights{gpu::strided(m.p),
                             gpu::strided(m.q),
                             gpu::strided(m.b),
                             gpu::strided(m.c),
                             buffers.weights,
                             batch,
                             r};
    gpu::launch(s4, weigh<R>, blocks(batch * r), threads, stream, weights);
  }
  const auto host_scalars = [](D* data) { return reinterpret_cast<T*>(data); };
  cauchy::sums_on_roots_of_unity<T>(
      {e.stream, {}}, {m.lambda.broadcast(0, batch), m.dt.broadcast(0, batch), length},
      View<const T, 3, space::cuda>(host_scalars(buffers.weights), {batch, r, 4}),
      View<T, 3, space::cuda>(host_scalars(buffers.sums), {batch, length, 4},
                              {length, 1, batch * length}));
  const Symbols<R> symbols{buffers.sums, buffers.values, batch, length};
  gpu::launch(s4, combine<R>, blocks(batch * length), threads, stream, symbols);
  plan.state().transform.backward(s4, stream, buffers.transform, buffers.values, buffers.sums);
  const Scaling<R> scaling{buffers.sums, gpu::strided(kernel), batch, length};
  gpu::launch(s4, scale<R>, blocks(batch * length), threads, stream, scaling);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT index_t s4d_kernel_workspace_bytes(                                  \
      const DiagonalModel<T, space::cuda>&);                                                     \
  template STRUCTMAT_EXPORT void s4d_kernel(                                                     \
      const exec::cuda&, const DiagonalModel<T, space::cuda>&, View<real_t<T>, 2, space::cuda>); \
  template class STRUCTMAT_EXPORT S4Plan<T>;                                                     \
  template STRUCTMAT_EXPORT index_t s4_kernel_workspace_bytes(const S4Plan<T>&, index_t);        \
  template STRUCTMAT_EXPORT void s4_kernel(const exec::cuda&, const S4Plan<T>&,                  \
                                           const DiagonalPlusRankOneModel<T, space::cuda>&,      \
                                           View<T, 2, space::cuda>);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::toeplitz
