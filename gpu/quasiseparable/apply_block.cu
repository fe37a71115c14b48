// y := op(M) x for block generators: a step of the recurrence is a block row.
#include "core/instantiate.hpp"
#include "recurrence/apply_steps.cuh"
#include "structmat/quasiseparable/apply.hpp"

namespace structmat {
namespace {

using gpu::recurrence::Step;
using gpu::recurrence::Triangles;

constexpr char operation[] = "quasiseparable::apply";

/// A BlockTriangleOnDevice. `transposed` sweeps upwards: P and Q change roles.
template <class T>
struct BlockSide {
  const T *p, *q, *a;
  index_t p_batch, q_batch, a_batch;
  const index_t* table;
  bool transposed;
};

template <class T>
struct BlockSteps {
  Triangles<T> m;  // operands, orders and directions; generators are here
  BlockSide<T> side[2];
  const T* d;
  index_t d_batch;
  const index_t* table;
  bool transposed;
  index_t blocks;

  __device__ Step<T> step(int which, index_t b, index_t t) const {
    const BlockSide<T>& s = side[which];
    const index_t i = s.transposed ? blocks - 1 - t : t;
    const index_t first = table[2 * i], rows = table[2 * i + 2] - first;
    const index_t front = s.table[4 * i], behind = s.table[4 * i + 4];
    const gpu::Strided<const T, 2> p{s.p + b * s.p_batch + s.table[4 * i + 1], {front, 1}};
    const gpu::Strided<const T, 2> q{s.q + b * s.q_batch + s.table[4 * i + 2], {behind, 1}};
    const T* const a = s.a + b * s.a_batch + s.table[4 * i + 3];
    if (s.transposed) return {i, behind, front, first, rows, q, p, {a, {1, front}}};
    return {i, front, behind, first, rows, p, q, {a, {front, 1}}};
  }

  __device__ T base(bool first, index_t b, const Step<T>& step, index_t r, index_t column) const {
    if (!first) return m.base(false, b, step.first_row + r, column);
    const T* const block = d + b * d_batch + table[2 * step.index + 1];
    T sum = T(0);
    for (index_t c = 0; c < step.rows; ++c) {
      sum = gpu::multiply_add(transposed ? block[c * step.rows + r] : block[r * step.rows + c],
                              m.input(b, step.first_row + c, column), sum);
    }
    return sum;
  }
};

template <class T>
BlockSide<T> side_of(const auto& triangle, bool transposed) {
  const auto stride = [](const auto& all) { return all.extent(0) == 1 ? 0 : all.extent(1); };
  return {gpu::device_pointer(triangle.p.data()),
          gpu::device_pointer(triangle.q.data()),
          gpu::device_pointer(triangle.a.data()),
          stride(triangle.p),
          stride(triangle.q),
          stride(triangle.a),
          triangle.table.data(),
          transposed};
}

/// op(M) on operands that are set later. The part below the blocks on the diagonal sweeps downward, of
/// the transpose it is the transposed upper part.
template <class T>
BlockSteps<gpu::device_scalar_t<T>> steps_of(
    const Quasiseparable<T, transition::Block, space::cuda>& m, Op op) {
  using D = gpu::device_scalar_t<T>;
  const bool plain = op == Op::none;
  const auto &below = plain ? m.lower : m.upper_transposed,
             &above = plain ? m.upper_transposed : m.lower;
  BlockSteps<D> steps{{},
                      {side_of<D>(below, false), side_of<D>(above, true)},
                      gpu::device_pointer(m.diagonal.data()),
                      m.batch() == 1 ? 0 : m.diagonal.extent(1),
                      m.table.data(),
                      !plain,
                      m.partition.blocks()};
  steps.m.part[0].states = below.order;
  steps.m.part[1].states = above.order;
  steps.m.part[1].upward = true;
  steps.m.n = m.size();
  steps.m.conjugate = is_complex_v<T> && op == Op::adjoint;
  return steps;
}

}  // namespace

template <Scalar T>
index_t apply_workspace_bytes(const Quasiseparable<T, transition::Block, space::cuda>& m,
                              index_t k) {
  if (k < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " right-hand sides");
  }
  auto steps = steps_of(m, Op::none);
  steps.m.columns = k;
  return gpu::counted(operation, [&](gpu::Workspace& w) {
    gpu::recurrence::take_step_summaries<gpu::device_scalar_t<T>>(w, steps, steps.blocks,
                                                                  m.batch());
  });
}

template <Scalar T>
void apply(const exec::cuda& e, const Quasiseparable<T, transition::Block, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  detail::check_operands(operation, m.batch(), m.size(), m.size(), x, y);
  auto steps = steps_of(m, op);
  if (!gpu::recurrence::set_operands<T>(operation, e, steps.m, x, y)) return;
  // Entries take turns only where all have the same matrix: its pointers stay.
  gpu::recurrence::apply_in_steps<gpu::device_scalar_t<T>>(
      operation, e, steps, steps.blocks, m.batch(),
      [&](const Triangles<gpu::device_scalar_t<T>>& some) {
        auto own = steps;
        own.m = some;
        return own;
      });
}

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                             \
      const Quasiseparable<T, transition::Block, space::cuda>&, index_t);              \
  template STRUCTMAT_EXPORT void apply(                                                \
      const exec::cuda&, const Quasiseparable<T, transition::Block, space::cuda>&, Op, \
      View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
