// One launch for each factor, forward and in reverse; the vectors between the factors are kept. In
// reverse a few lanes of a warp share a pair: each takes some right-hand sides, and their sums are the
// cotangents of the pair's four numbers.
#include "structmat/butterfly/apply_vjp.hpp"

#include "butterfly/factors.cuh"
#include "core/instantiate.hpp"
#include "core/vjp_operands.hpp"
#include "core/workspace.cuh"

namespace structmat {
namespace {

using namespace butterfly;

constexpr char operation[] = "butterfly::apply_vjp";
constexpr unsigned threads = 256;

template <class T>
struct Problem {
  Factors<T> factors;
  gpu::Strided<T, 5> bar;  ///< data null: not wanted
  index_t size, batch, columns;
  bool summed;  ///< bar, over the batch
  bool conjugated_bar;
};

/// Vectors (batch, N, columns) with zeros behind the leading `rows`, conjugated where asked.
template <class T>
struct Load {
  gpu::Strided<const T, 3> x;
  T* to;
  index_t size, rows, batch, columns;
};

template <class T>
__global__ void load(const __grid_constant__ Load<T> p) {
  const index_t step = static_cast<index_t>(gridDim.x) * threads;
  for (index_t at = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
       at < p.batch * p.size * p.columns; at += step) {
    const index_t c = at % p.columns, i = at / p.columns % p.size, b = at / p.columns / p.size;
    p.to[at] = i < p.rows ? p.x(b, i, c) : T(0);
  }
}

template <class T>
__global__ void forward(const __grid_constant__ Problem<T> p, index_t f, const T* from, T* to) {
  const index_t pairs = p.size / 2, level = p.factors.level(f);
  const index_t far = (index_t{1} << level) * p.columns,
                step = static_cast<index_t>(gridDim.x) * threads;
  for (index_t unit = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
       unit < p.batch * pairs * p.columns; unit += step) {
    const index_t c = unit % p.columns, pair = unit / p.columns % pairs,
                  b = unit / p.columns / pairs;
    const index_t at = (b * p.size + first_of_pair(pair, level)) * p.columns + c;
    T u = from[at], v = from[at + far];
    apply_pair(p.factors, p.factors.at(b, f, pair), u, v);
    to[at] = u;
    to[at + far] = v;
  }
}

/// bar_f += g state^H pair by pair, then g := F^H g.
template <class T>
__global__ void __launch_bounds__(threads)
    reverse(const __grid_constant__ Problem<T> p, index_t f, const T* state, T* g, int lanes) {
  const index_t pairs = p.size / 2, level = p.factors.level(f);
  const index_t far = (index_t{1} << level) * p.columns;
  const index_t units = (p.summed ? 1 : p.batch) * pairs;
  const index_t groups = static_cast<index_t>(gridDim.x) * (threads / lanes);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const index_t own = static_cast<index_t>(blockIdx.x) * (threads / lanes) + threadIdx.x / lanes;
  const bool wanted = p.bar.data != nullptr;
  // All lanes of a warp take as many turns, so that they exchange their sums together.
  for (index_t turn = 0; turn * groups < units; ++turn) {
    const index_t unit = turn * groups + own;
    T sum[4] = {T(0), T(0), T(0), T(0)};
    const index_t pair = unit % pairs;
    const index_t first = p.summed ? 0 : unit / pairs, last = p.summed ? p.batch : first + 1;
    for (index_t b = first; b < last && unit < units; ++b) {
      const T* const entry = p.factors.at(b, f, pair);
      const T f00 = gpu::conjugate(p.factors.value(entry)),
              f01 = gpu::conjugate(p.factors.value(entry + p.factors.column)),
              f10 = gpu::conjugate(p.factors.value(entry + p.factors.row)),
              f11 = gpu::conjugate(p.factors.value(entry + p.factors.row + p.factors.column));
      for (index_t c = lane; c < p.columns; c += lanes) {
        const index_t at = (b * p.size + first_of_pair(pair, level)) * p.columns + c;
        const T gu = g[at], gv = g[at + far];
        if (wanted) {
          const T u = gpu::conjugate(state[at]), v = gpu::conjugate(state[at + far]);
          sum[0] = gpu::multiply_add(u, gu, sum[0]);
          sum[1] = gpu::multiply_add(v, gu, sum[1]);
          sum[2] = gpu::multiply_add(u, gv, sum[2]);
          sum[3] = gpu::multiply_add(v, gv, sum[3]);
        }
        g[at] = gpu::multiply_add(f10, gv, f00 * gu);
        g[at + far] = gpu::multiply_add(f11, gv, f01 * gu);
      }
    }
    if (!wanted) continue;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      for (int offset = lanes / 2; offset > 0; offset /= 2) {
        sum[e] += gpu::shuffle_xor(0xffffffffu, sum[e], offset);
      }
    }
    if (lane != 0 || unit >= units) continue;
    const index_t b = p.summed ? 0 : first;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      p.bar(b, f, pair, e / 2, e % 2) += gpu::conjugate_if(p.conjugated_bar, sum[e]);
    }
  }
}

template <class T>
struct Store {
  const T* g;
  gpu::Strided<T, 3> x_bar;
  index_t size, rows, batch, columns;
  bool summed;
};

/// x_bar += the leading rows, over the batch in its order where all share one.
template <class T>
__global__ void add_leading(const __grid_constant__ Store<T> p) {
  const index_t step = static_cast<index_t>(gridDim.x) * threads;
  const index_t outputs = p.summed ? 1 : p.batch;
  for (index_t unit = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
       unit < outputs * p.rows * p.columns; unit += step) {
    const index_t c = unit % p.columns, i = unit / p.columns % p.rows,
                  b = unit / p.columns / p.rows;
    T sum = T(0);
    for (index_t e = b; e < (p.summed ? p.batch : b + 1); ++e) {
      sum += p.g[(e * p.size + i) * p.columns + c];
    }
    p.x_bar(b, i, c) += sum;
  }
}

template <class T>
struct Buffers {
  T *states, *g;
};

template <class T>
auto layout(index_t size, index_t batch, index_t columns, index_t factors) {
  return [=](gpu::Workspace& workspace) {
    T* const states = workspace.take<T>((factors + 1) * batch * size * columns);
    return Buffers<T>{states, workspace.take<T>(batch * size * columns)};
  };
}

}  // namespace

template <Scalar T>
index_t apply_vjp_workspace_bytes(const ButterflyView<T, space::cuda>& matrix, index_t k,
                                  index_t batch) {
  const auto m = checked(matrix, operation, batch);
  return gpu::counted(operation, layout<T>(m.size(), m.batch(), k, m.factors.extent(1)));
}

// The adjoint is the transpose with conjugated factors: their cotangents are conjugated, too.
template <Scalar T>
void apply_vjp(const exec::cuda& e, const ButterflyView<T, space::cuda>& matrix, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const ButterflyCotangent<T, space::cuda>& matrix_bar,
               View<T, 3, space::cuda> x_bar) {
  using D = gpu::device_scalar_t<T>;
  checked(matrix, operation);
  const auto given = op == Op::none ? matrix : matrix.transposed();
  const index_t batch = detail::check_vjp_operands(operation, given.batch(), given.rows(),
                                                   given.cols(), x, y_bar, x_bar);
  const auto m = checked(given, operation, batch);
  auto bar = detail::checked_cotangent(operation, "factors", matrix_bar.factors, batch,
                                       {matrix.factors.extent(1), matrix.factors.extent(2), 2, 2});
  if (bar.data() && op != Op::none) bar = bar.reversed(1).transposed();
  const index_t size = m.size(), columns = x.extent(2), count = m.factors.extent(1);
  const auto buffers = gpu::cut(operation, e.workspace, layout<D>(size, batch, columns, count));
  const int processors = gpu::multiprocessors(operation);
  const index_t all = batch * size * columns;
  if (all == 0) return;

  const cudaStream_t stream = gpu::stream_of(e);
  const auto enqueue = [&](index_t work, auto kernel, const auto&... arguments) {
    if (work == 0) return;
    gpu::launch(operation, kernel, gpu::persistent_blocks(work, threads, processors), threads,
                stream, arguments...);
  };
  const Problem<D> problem{factors(m, op == Op::adjoint),
                           gpu::strided(bar),
                           size,
                           batch,
                           columns,
                           bar.data() != nullptr && bar.stride(0) == 0,
                           op == Op::adjoint};
  enqueue(all, load<D>,
          Load<D>{gpu::strided(x), buffers.states, size, x.extent(1), batch, columns});
  for (index_t f = 0; bar.data() != nullptr && f + 1 < count; ++f) {
    enqueue(all / 2, forward<D>, problem, f, buffers.states + f * all,
            buffers.states + (f + 1) * all);
  }
  enqueue(all, load<D>,
          Load<D>{gpu::strided(y_bar), buffers.g, size, y_bar.extent(1), batch, columns});
  int lanes = 1;
  while (lanes < 32 && lanes < columns) lanes *= 2;
  for (index_t f = count - 1; f >= 0; --f) {
    enqueue((problem.summed ? 1 : batch) * size / 2 * lanes, reverse<D>, problem, f,
            buffers.states + f * all, buffers.g, lanes);
  }
  if (!x_bar.data()) return;
  const bool summed = x_bar.stride(0) == 0;
  enqueue((summed ? 1 : batch) * x_bar.extent(1) * columns, add_leading<D>,
          Store<D>{buffers.g, gpu::strided(x_bar), size, x_bar.extent(1), batch, columns, summed});
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(                                    \
      const ButterflyView<T, space::cuda>&, index_t, index_t);                                    \
  template STRUCTMAT_EXPORT void apply_vjp(                                                       \
      const exec::cuda&, const ButterflyView<T, space::cuda>&, Op, View<const T, 3, space::cuda>, \
      View<const T, 3, space::cuda>, const ButterflyCotangent<T, space::cuda>&,                   \
      View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
