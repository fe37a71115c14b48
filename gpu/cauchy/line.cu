#include "cauchy/line.cuh"

#include <algorithm>
#include <cmath>

#include "cauchy/line_kernels.cuh"
#include "cauchy/line_rules.hpp"

namespace structmat::gpu::line {
namespace {

constexpr const char* operation = "cauchy::apply";
/// Proxies come in multiples of the lanes that one cell has.
constexpr index_t order_step = lanes;

/// Levels are walked in groups, from the leaves: [top, bottom].
struct Levels {
  int top, bottom;
};
/// How many groups; group 0 ends with the leaves.
int level_groups(int depth) {
  return (depth + sweep_levels) / sweep_levels;
}
Levels level_group(int depth, int number) {
  const int bottom = depth - number * sweep_levels;
  return {std::max(0, bottom - sweep_levels + 1), bottom};
}

template <class R, int P, bool Up>
void enqueue_sweep(Sweep<R> m, int processors, cudaStream_t stream) {
  const int count = level_groups(m.tree.depth);
  for (int i = 0; i < count; ++i) {
    const Levels levels = level_group(m.tree.depth, Up ? i : count - 1 - i);
    m.top = levels.top;
    m.bottom = levels.bottom;
    const index_t work = m.tree.trees * m.columns * (index_t{1} << m.top);
    launch(operation, sweep<R, P, Up>, persistent_blocks(work, 1, processors), sweep_threads,
           stream, m);
  }
}

template <bool Up, class R>
void enqueue_sweep(const Sweep<R>& m, int order, int processors, cudaStream_t stream) {
  if (order == 8) return enqueue_sweep<R, 8, Up>(m, processors, stream);
  if (order == 16) return enqueue_sweep<R, 16, Up>(m, processors, stream);
  if constexpr (sizeof(R) == 8) {
    if (order == 24) return enqueue_sweep<R, 24, Up>(m, processors, stream);
    enqueue_sweep<R, 32, Up>(m, processors, stream);
  }
}

template <int K, class R>
void enqueue_cross(const Crossing<R>& m, int processors, cudaStream_t stream) {
  constexpr index_t warps = across_threads / 32;
  const index_t work = m.lists.units_count * ((m.columns + K - 1) / K);
  if (work == 0) return;
  launch(operation, cross<R, K>, persistent_blocks(work, warps, processors), across_threads, stream,
         m);
}

}  // namespace

template <class R>
Line<R>::Line(const Strided<const R, 2>& s, const Strided<const R, 2>& t, index_t trees, index_t m,
              index_t n, double tolerance, Coincidence coincidence, cudaStream_t stream)
    : rows_(s, trees, m, "s", stream), cols_(t, trees, n, "t", stream) {
  namespace rules = structmat::cauchy::line_rules;
  const bool coincide = check_coincidence(rows_.view(), cols_.view(), coincidence, stream);
  if (trees == 0 || m == 0 || n == 0) return;
  const index_t order = rules::order_for<R>(tolerance, order_step);
  order_ = static_cast<int>(order);
  lists_ = make_lists(rows_.view(), cols_.view(), rules::opening_for<R>(tolerance, order), order_,
                      coincide, stream);
  Array<R, 1> points({order});
  Array<R, 2> from_moments({order, order}), from_values({order, order});
  for (index_t k = 0; k < order; ++k) {
    const double angle = M_PI * (static_cast<double>(k) + 0.5) / static_cast<double>(order);
    points(k) = static_cast<R>(1 + std::cos(angle));
    for (index_t l = 0; l < order; ++l) {
      const double value =
          std::cos(static_cast<double>(l) * angle) * (l == 0 ? 1 : 2) / static_cast<double>(order);
      from_moments(l, k) = from_values(k, l) = static_cast<R>(value);
    }
  }
  points_ = to_device(points);
  from_moments_ = to_device(from_moments);
  from_values_ = to_device(from_values);
}

template <class R>
PassMemory<R> Line<R>::take(Workspace& workspace, index_t columns) const {
  const TreeView<R> rows = rows_.view(), cols = cols_.view();
  const ListsView by_row = lists_.by_row.view(), by_col = lists_.by_col.view();
  const index_t all = rows.trees * columns, nodes = std::max(rows.n, cols.n),
                cells = std::max(rows.cells(), cols.cells());
  PassMemory<R> memory{};
  memory.charges = workspace.take<R>(all * nodes);
  memory.sums = workspace.take<R>(all * nodes);
  memory.proxies = workspace.take<R>(all * cells * order_);
  memory.coefficients = workspace.take<R>(all * cells * order_);
  memory.far = workspace.take<R>(
      std::max(by_row.units_count - by_row.near, by_col.units_count - by_col.near) * columns *
      order_);
  memory.near = workspace.take<R>(std::max(by_row.near, by_col.near) * columns * leaf_size);
  return memory;
}

template <class R>
void Line<R>::enqueue(bool exchanged, index_t columns, const PassMemory<R>& memory,
                      cudaStream_t stream) const {
  const int processors = multiprocessors(operation);
  const TreeView<R> to = targets(exchanged), from = sources(exchanged);
  const ListsView lists = (exchanged ? lists_.by_col : lists_.by_row).view();

  Sweep<R> up{};
  up.tree = from;
  up.points = points_.data();
  up.matrix = from_moments_.data();
  up.columns = columns;
  up.charges = memory.charges;
  up.proxies = memory.proxies;
  enqueue_sweep<true>(up, order_, processors, stream);

  const Crossing<R> across{to,         from,           lists,          points_.data(),
                           order_,     memory.charges, memory.proxies, memory.near,
                           memory.far, columns};
  if (columns == 1) {
    enqueue_cross<1>(across, processors, stream);
  } else if (columns == 2) {
    enqueue_cross<2>(across, processors, stream);
  } else {
    enqueue_cross<4>(across, processors, stream);
  }

  Sweep<R> down{};
  down.tree = to;
  down.points = points_.data();
  down.matrix = from_values_.data();
  down.columns = columns;
  down.first_unit = lists.first_unit;
  down.far = memory.far;
  down.near = memory.near;
  down.coefficients = memory.coefficients;
  down.sums = memory.sums;
  enqueue_sweep<false>(down, order_, processors, stream);
}

template class Line<float>;
template class Line<double>;

}  // namespace structmat::gpu::line
