#include "structmat/toeplitz/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "core/vjp_operands.hpp"
#include "toeplitz/apply_direct.cuh"
#include "toeplitz/plan_state.cuh"

namespace structmat {
namespace toeplitz {
namespace device {
namespace {

constexpr int threads = 128;

/// bar(e, p) += sum of u_i conj(v_j) over the columns of entry e and the places (i, j) where number p
/// stands: i - j = p - (cols - 1); circulant: i - j = p and, with the sign `wrap`, p - n.
template <class T>
struct CorrelateProblem {
  Input<T> u, v;
  gpu::Strided<T, 2> bar;
  index_t entries, count, k, numbers;
  int wrap;
  bool conjugated;
};

template <class T>
__global__ void __launch_bounds__(threads)
    correlate_sums(const __grid_constant__ CorrelateProblem<T> m) {
  __shared__ T us[2 * threads];
  __shared__ T vs[threads];
  const index_t rows = m.u.rows, cols = m.v.rows;
  const int thread = static_cast<int>(threadIdx.x);
  const index_t tiles = (m.numbers + threads - 1) / threads;
  for (index_t unit = blockIdx.x; unit < m.entries * tiles; unit += gridDim.x) {
    const index_t entry = unit / tiles, p0 = (unit - entry * tiles) * threads;
    T sum(0);
    for (int image = 0; image < (m.wrap == 0 ? 1 : 2); ++image) {
      const index_t lag0 = p0 - (m.wrap == 0 ? cols - 1 : image * m.numbers), lag = lag0 + thread;
      T part(0);
      for (index_t c = 0; c < m.count; ++c) {
        const Column column = column_of(entry * m.count + c, m.k);
        for (index_t j0 = 0; j0 < cols; j0 += threads) {
          __syncthreads();
          vs[thread] = m.v(column, j0 + thread);
          // Row lag0 + j0 + i of u lies at i.
          for (int i = thread; i < 2 * threads; i += threads) {
            const index_t row = lag0 + j0 + i;
            us[i] = row >= 0 ? m.u(column, row) : T(0);
          }
          __syncthreads();
          const index_t end = min(min(cols, rows - lag) - j0, index_t{threads});
          for (index_t j = max(-lag - j0, index_t{0}); j < end; ++j)
            part = gpu::multiply_add(us[thread + j], gpu::conjugate(vs[j]), part);
        }
      }
      if (image == 1 && m.wrap < 0)
        sum -= part;
      else
        sum += part;
    }
    if (p0 + thread < m.numbers) m.bar(entry, p0 + thread) += gpu::conjugate_if(m.conjugated, sum);
  }
}

}  // namespace
}  // namespace device

namespace {

/// What the cotangents of one call are computed from, after all checks: batches broadcast, Hankel's
/// reversal done.
template <Scalar T>
struct Cotangents {
  index_t batch, k;
  View<const T, 3, space::cuda> x, y_bar;
  View<T, 2, space::cuda> m_bar;
  View<T, 3, space::cuda> x_bar;
};

template <Scalar T>
Cotangents<T> checked_cotangents(const char* operation, const exec::cuda& e, index_t own_batch,
                                 index_t rows, index_t cols, index_t numbers, bool hankel, Op op,
                                 const View<const T, 3, space::cuda>& x,
                                 const View<const T, 3, space::cuda>& y_bar,
                                 const View<T, 2, space::cuda>& m_bar,
                                 View<T, 3, space::cuda> x_bar) {
  const bool direct = op == Op::none;
  if (x_bar.data()) {
    gpu::require_writable(operation, x_bar, "x_bar");
    gpu::require_apart(operation, e.workspace, x_bar, "x_bar");
  }
  const index_t batch = structmat::detail::check_vjp_operands(
      operation, own_batch, direct ? rows : cols, direct ? cols : rows, x, y_bar, x_bar);
  if (m_bar.data()) {
    gpu::require_writable(operation, m_bar, "the cotangent of the matrix");
    gpu::require_apart(operation, e.workspace, m_bar, "the cotangent of the matrix");
    const View<const T, 2, space::cuda> bar(m_bar);
    if (overlaps(bar, x) || overlaps(bar, y_bar) ||
        (x_bar.data() && overlaps(bar, View<const T, 3, space::cuda>(x_bar)))) {
      throw DomainError(std::string(operation) +
                        ": the cotangent of the matrix overlaps x, y_bar or x_bar in memory");
    }
  }
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y_bar, "y_bar");
  Cotangents<T> o{
      batch,
      x.extent(2),
      x.broadcast(0, batch),
      y_bar,
      structmat::detail::checked_cotangent(operation, "the matrix", m_bar, batch, {numbers}),
      x_bar};
  if (!hankel) return o;
  // H = T J, H^T = J T^T.
  if (direct) {
    o.x = o.x.reversed(1);
    if (o.x_bar.data()) o.x_bar = o.x_bar.reversed(1);
  } else {
    o.y_bar = o.y_bar.reversed(1);
  }
  return o;
}

/// x_bar += op(A)^H y_bar by multiply(first batch entry, action, y_bar, x_bar).
template <Scalar T, class Multiply>
void add_operand_cotangent(const Cotangents<T>& o, Op op, const Multiply& multiply) {
  if (!o.x_bar.data() || o.x_bar.empty()) return;
  const device::Action adjoint{op == Op::none, op == Op::transpose};
  if (o.batch == 1 || o.x_bar.stride(0) != 0) return multiply(0, adjoint, o.y_bar, o.x_bar);
  for (index_t b = 0; b < o.batch; ++b)
    multiply(b, adjoint, o.y_bar.slice(0, b, b + 1), o.x_bar.slice(0, b, b + 1));
}

/// c_bar_{i-j} += u_i conj(v_j), or the conjugate: what the three operations have in common.
template <Scalar T>
struct Correlation {
  using D = gpu::device_scalar_t<T>;
  device::Input<D> u, v;
  index_t entries, count;
  bool conjugated;

  Correlation(const Cotangents<T>& o, Op op)
      : u(input(op == Op::none ? o.y_bar : o.x)),
        v(input(op == Op::none ? o.x : o.y_bar)),
        entries(o.m_bar.stride(0) == 0 || o.batch == 0 ? 1 : o.batch),
        count(o.batch / entries * o.k),
        conjugated(op == Op::transpose) {}

  static device::Input<D> input(const View<const T, 3, space::cuda>& x) {
    return {gpu::strided(x), x.extent(1), false};
  }
};

template <Scalar T>
void correlate_directly(const char* operation, const exec::cuda& e, const Cotangents<T>& o, Op op,
                        int wrap) {
  using D = gpu::device_scalar_t<T>;
  if (!o.m_bar.data() || o.m_bar.empty() || o.batch * o.k == 0) return;
  const Correlation<T> c(o, op);
  const index_t numbers = o.m_bar.extent(1);
  const device::CorrelateProblem<D> m{c.u,     c.v,  gpu::strided(o.m_bar), c.entries, c.count, o.k,
                                      numbers, wrap, c.conjugated};
  const index_t tiles = (numbers + device::threads - 1) / device::threads;
  const int processors = gpu::multiprocessors(operation);
  gpu::launch(operation, device::correlate_sums<D>,
              gpu::Grid{gpu::persistent_blocks(c.entries * tiles, 1, processors), device::threads},
              gpu::stream_of(e), m);
}

template <Scalar T>
void vjp_by_sums(const char* operation, const exec::cuda& e, const DeviceMatrix<T>& m, Op op,
                 const View<const T, 3, space::cuda>& x, const View<const T, 3, space::cuda>& y_bar,
                 const View<T, 2, space::cuda>& m_bar, const View<T, 3, space::cuda>& x_bar) {
  const auto o = checked_cotangents<T>(operation, e, m.batch(), m.rows, m.cols, m.numbers.extent(1),
                                       m.hankel, op, x, y_bar, m_bar, x_bar);
  add_operand_cotangent(o, op,
                        [&](index_t b, device::Action action, const auto& from, const auto& to) {
                          DeviceMatrix<T> own = m;
                          if (m.batch() > 1) own.numbers = m.numbers.slice(0, b, b + to.extent(0));
                          apply_direct<T>(operation, e, own, action, from, to, true);
                        });
  correlate_directly(operation, e, o, op, m.wrap);
}

}  // namespace
}  // namespace toeplitz

template <Scalar T>
void apply_vjp(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar) {
  constexpr auto operation = "toeplitz::apply_vjp";
  toeplitz::vjp_by_sums<T>(operation, e, toeplitz::device_matrix(m, operation), op, x, y_bar, m_bar,
                           x_bar);
}
template <Scalar T>
void apply_vjp(const exec::cuda& e, const HankelView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar) {
  constexpr auto operation = "hankel::apply_vjp";
  toeplitz::vjp_by_sums<T>(operation, e, toeplitz::device_matrix(m, operation), op, x, y_bar, m_bar,
                           x_bar);
}
template <Scalar T>
void apply_vjp(const exec::cuda& e, const CirculantView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar) {
  constexpr auto operation = "circulant::apply_vjp";
  toeplitz::vjp_by_sums<T>(operation, e, toeplitz::device_matrix(m, operation), op, x, y_bar, m_bar,
                           x_bar);
}
template <Scalar T>
void apply_vjp(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar) {
  constexpr auto operation = "skew_circulant::apply_vjp";
  toeplitz::vjp_by_sums<T>(operation, e, toeplitz::device_matrix(m, operation), op, x, y_bar, m_bar,
                           x_bar);
}

template <Scalar T>
index_t apply_vjp_workspace_bytes(const ToeplitzPlan<T, space::cuda>& plan, index_t k,
                                  index_t batch) {
  constexpr auto operation = "toeplitz::apply_vjp_workspace_bytes";
  const index_t product = toeplitz::apply_plan_bytes(operation, plan.state(), k, batch);
  const auto& twisted = plan.state().twisted;
  if (!twisted || k == 0) return product;
  const index_t entries = plan.batch() == 1 ? batch : plan.batch();
  if (entries == 0) return product;
  // A cotangent for each entry, or one for all.
  return max(product, max(gpu::counted(operation, twisted->correlate_layout(entries, k)),
                          gpu::counted(operation, twisted->correlate_layout(1, entries * k))));
}

template <Scalar T>
void apply_vjp(const exec::cuda& e, const ToeplitzPlan<T, space::cuda>& plan, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               View<T, 2, space::cuda> m_bar, View<T, 3, space::cuda> x_bar) {
  constexpr auto operation = "toeplitz::apply_vjp";
  const auto& state = plan.state();
  const auto o = toeplitz::checked_cotangents<T>(operation, e, plan.batch(), plan.rows(),
                                                 plan.cols(), state.lags.extent(1),
                                                 plan.is_hankel(), op, x, y_bar, m_bar, x_bar);
  const bool correlate = o.m_bar.data() && !o.m_bar.empty() && o.batch * o.k > 0;
  const toeplitz::Correlation<T> c(o, op);
  if (correlate && state.twisted) {
    // Before anything is written.
    gpu::cut(operation, e.workspace, state.twisted->correlate_layout(c.entries, c.count));
  }
  toeplitz::add_operand_cotangent(
      o, op, [&](index_t b, toeplitz::device::Action action, const auto& from, const auto& to) {
        toeplitz::apply_plan<T>(operation, e, state, action, from, to, true, b);
      });
  if (!state.twisted) return toeplitz::correlate_directly(operation, e, o, op, 0);
  if (!correlate) return;
  const auto spectra =
      gpu::cut(operation, e.workspace, state.twisted->correlate_layout(c.entries, c.count));
  state.twisted->correlate(operation, gpu::stream_of(e), c.u, c.v, c.entries, c.count, o.k,
                           gpu::strided(o.m_bar), state.rows, state.cols, c.conjugated,
                           state.twisted->pieces(c.entries, c.count), spectra);
}

#define STRUCTMAT_INSTANTIATE_FAMILY(T, M)                                            \
  template STRUCTMAT_EXPORT void apply_vjp(                                           \
      const exec::cuda&, const M<T, space::cuda>&, Op, View<const T, 3, space::cuda>, \
      View<const T, 3, space::cuda>, View<T, 2, space::cuda>, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  STRUCTMAT_INSTANTIATE_FAMILY(T, ToeplitzView)                                                    \
  STRUCTMAT_INSTANTIATE_FAMILY(T, HankelView)                                                      \
  STRUCTMAT_INSTANTIATE_FAMILY(T, CirculantView)                                                   \
  STRUCTMAT_INSTANTIATE_FAMILY(T, SkewCirculantView)                                               \
  STRUCTMAT_INSTANTIATE_FAMILY(T, ToeplitzPlan)                                                    \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const ToeplitzPlan<T, space::cuda>&, \
                                                              index_t, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
