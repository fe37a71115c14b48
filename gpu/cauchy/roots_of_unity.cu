// Cauchy sums on mapped roots of unity, directly: with p = pi k / L,
//   y_k = sum_n v_n (dt / 2) exp(i p) / (i sin p - u_n cos p).
// The differences are formed in double: in float their cancellation would be the whole error.
//
// Forward a thread has a node, and the block's tile of poles is in shared memory; in reverse mode a thread has
// every 256th node, and sums for eight poles, which the block adds up in order.
#include "cauchy/roots_of_unity.cuh"

#include "cauchy/mapped_roots.hpp"
#include "core/reduce.cuh"
#include "core/workspace.cuh"

namespace structmat {
namespace gpu {
namespace {

constexpr int threads = 256, pole_tile = 64, poles_each = 8;

/// exp(i p)
struct Node {
  double c, s;

  __device__ Node(index_t k, index_t length) {
    sincospi(static_cast<double>(k) / static_cast<double>(length), &s, &c);
  }
};

/// 1 / (i sin p - u cos p)
template <class T>
__device__ T inverse_gap(const Node& node, Complex<double> u) {
  using R = real_of_t<T>;
  return reciprocal(T(R(-u.re * node.c), R(fma(-u.im, node.c, node.s))));
}

template <class T>
__global__ void __launch_bounds__(threads) direct(const __grid_constant__ RootSumsProblem<T> m) {
  using R = real_of_t<T>;
  __shared__ Complex<double> u[pole_tile];
  __shared__ T v[pole_tile];
  const int own = static_cast<int>(threadIdx.x);
  const index_t tiles = (m.length + threads - 1) / threads, work = m.batch * m.columns * tiles;
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t k = unit % tiles * threads + own, entry = unit / tiles;
    const index_t column = entry % m.columns, b = entry / m.columns;
    const Node node(k, m.length);
    T sum(0);
    for (index_t first = 0; first < m.count; first += pole_tile) {
      const int count = static_cast<int>(m.count - first < pole_tile ? m.count - first : pole_tile);
      __syncthreads();
      if (own < count) {
        u[own] = m.half_step(b, first + own);
        v[own] = m.v(b, first + own, column);
      }
      __syncthreads();
      for (int n = 0; n < count; ++n) sum = multiply_add(v[n], inverse_gap<T>(node, u[n]), sum);
    }
    if (k < m.length) m.y(b, k, column) = m.dt(b) / 2 * (T(R(node.c), R(node.s)) * sum);
  }
}

template <class T>
struct Reverse {
  RootSumsProblem<T> m;  // y is absent
  Strided<const T, 3> y_bar;
  Strided<T, 2> poles_bar;
  Strided<T, 3> v_bar;
  index_t groups;  ///< the batch, or 1 where a cotangent is shared: then a block takes all entries
};

template <class T>
__global__ void __launch_bounds__(threads) reverse(const __grid_constant__ Reverse<T> r) {
  using R = real_of_t<T>;
  __shared__ T scratch[32];
  const RootSumsProblem<T>& m = r.m;
  const int own = static_cast<int>(threadIdx.x);
  const index_t tiles = (m.count + poles_each - 1) / poles_each;
  for (index_t unit = blockIdx.x; unit < r.groups * tiles; unit += gridDim.x) {
    const index_t first = unit % tiles * poles_each, group = unit / tiles;
    for (index_t entry = 0; entry < m.batch / r.groups * m.columns; ++entry) {
      const index_t column = entry % m.columns, b = r.groups == 1 ? entry / m.columns : group;
      Complex<double> u[poles_each];
      T sum[poles_each] = {}, slope[poles_each] = {};
#pragma unroll
      for (int n = 0; n < poles_each; ++n)
        u[n] = m.half_step(b, first + n < m.count ? first + n : first);
      for (index_t k = own; k < m.length; k += threads) {
        const Node node(k, m.length);
        const T w = T(R(node.c), R(-node.s)) * r.y_bar(b, k, column);
        const R c = R(node.c);
#pragma unroll
        for (int n = 0; n < poles_each; ++n) {
          const T gap = conjugate(inverse_gap<T>(node, u[n]));
          const T term = gap * w;
          sum[n] += term;
          slope[n] = multiply_add(gap, c * term, slope[n]);
        }
      }
      const R half = m.dt(b) / 2;
#pragma unroll
      for (int n = 0; n < poles_each; ++n) {
        const T all = half * block_sum(sum[n], scratch);
        __syncthreads();
        const T slopes = half * half * block_sum(slope[n], scratch);
        __syncthreads();
        if (own != 0 || first + n >= m.count) continue;
        if (r.v_bar.data != nullptr) r.v_bar(b, first + n, column) += all;
        if (r.poles_bar.data != nullptr) {
          r.poles_bar(b, first + n) += conjugate(m.v(b, first + n, column)) * slopes;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gpu

namespace cauchy {

template <ComplexScalar T>
void sums_on_roots_of_unity(const exec::cuda& e, const MappedRootsView<T, space::cuda>& matrix,
                            View<const T, 3, space::cuda> v, View<T, 3, space::cuda> y) {
  constexpr auto operation = "cauchy::sums_on_roots_of_unity";
  using D = gpu::device_scalar_t<T>;
  const RootSums<T, space::cuda> o(operation, matrix, v, y);
  gpu::require_writable(operation, y, "y");
  const int processors = gpu::multiprocessors(operation);
  if (y.empty()) return;
  const gpu::RootSumsProblem<D> problem{gpu::strided(o.m.poles),
                                        gpu::strided(o.m.dt),
                                        gpu::strided(o.v),
                                        gpu::strided(y),
                                        o.batch,
                                        y.extent(2),
                                        o.m.poles.extent(1),
                                        o.m.length};
  if constexpr (std::same_as<real_t<T>, float>) {
    constexpr index_t many_nodes = 4096;
    if (o.m.length >= many_nodes && o.m.length % 128 == 0) {
      return gpu::root_sums_split(operation, processors, gpu::stream_of(e), problem);
    }
  }
  const index_t work = o.batch * problem.columns * ((o.m.length + gpu::threads - 1) / gpu::threads);
  gpu::launch(operation, gpu::direct<D>, gpu::persistent_blocks(work, 1, processors), gpu::threads,
              gpu::stream_of(e), problem);
}

template <ComplexScalar T>
void sums_on_roots_of_unity_vjp(const exec::cuda& e, const MappedRootsView<T, space::cuda>& matrix,
                                View<const T, 3, space::cuda> v,
                                View<const T, 3, space::cuda> y_bar,
                                View<T, 2, space::cuda> poles_bar, View<T, 3, space::cuda> v_bar) {
  constexpr auto operation = "cauchy::sums_on_roots_of_unity_vjp";
  using D = gpu::device_scalar_t<T>;
  const auto o = checked_vjp(operation, matrix, v, y_bar, poles_bar, v_bar);
  gpu::require_writable(operation, poles_bar, "poles_bar");
  gpu::require_writable(operation, v_bar, "v_bar");
  const int processors = gpu::multiprocessors(operation);
  const index_t n = o.m.poles.extent(1), columns = v.extent(2);
  if (o.batch * n * columns == 0) return;
  const auto shared = [&](const auto& bar) {
    return bar.data() != nullptr && bar.extent(0) != o.batch;
  };
  const gpu::Reverse<D> problem{{gpu::strided(o.m.poles),
                                 gpu::strided(o.m.dt),
                                 gpu::strided(o.v),
                                 {},
                                 o.batch,
                                 columns,
                                 n,
                                 o.m.length},
                                gpu::strided(y_bar),
                                gpu::strided(poles_bar),
                                gpu::strided(v_bar),
                                shared(poles_bar) || shared(v_bar) ? 1 : o.batch};
  const index_t work = problem.groups * ((n + gpu::poles_each - 1) / gpu::poles_each);
  gpu::launch(operation, gpu::reverse<D>, gpu::persistent_blocks(work, 1, processors), gpu::threads,
              gpu::stream_of(e), problem);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT void sums_on_roots_of_unity(                                        \
      const exec::cuda&, const MappedRootsView<T, space::cuda>&, View<const T, 3, space::cuda>, \
      View<T, 3, space::cuda>);                                                                 \
  template STRUCTMAT_EXPORT void sums_on_roots_of_unity_vjp(                                    \
      const exec::cuda&, const MappedRootsView<T, space::cuda>&, View<const T, 3, space::cuda>, \
      View<const T, 3, space::cuda>, View<T, 2, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)
#undef STRUCTMAT_INSTANTIATE

}  // namespace cauchy
}  // namespace structmat
