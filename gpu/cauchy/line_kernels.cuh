/// \file
/// The three sweeps of sums on a line: up the tree of sources, across to that of targets, and down.
#pragma once

#include <limits>

#include "cauchy/line_lists.cuh"
#include "cauchy/reciprocal.cuh"

namespace structmat::gpu::line {

// ---- across

template <bool Wide, class R>
__device__ R reciprocal_of_difference(R d) {
  if constexpr (Wide) return cauchy::device::exact_reciprocal(d, true);
  return cauchy::device::fast_reciprocal(d);
}

/// A node or proxy with its charges, one vector of memory for one column.
template <class R, int K>
struct alignas(K == 1 ? 2 * sizeof(R) : sizeof(R)) Source {
  R at;
  R charge[K];
};

template <class R>
struct Crossing {
  TreeView<R> targets, sources;
  ListsView lists;
  const R* points;
  int order;
  const R *charges, *proxies;
  R *near, *far;
  index_t columns;
};

inline constexpr int across_threads = 128;

/// sums_uc += sum_j charge_jc / (target_u - at_j) for every step-th source.
template <bool Wide, int U, class R, int K>
__device__ void add_sources(const Source<R, K>* sources, int first, int count, int step,
                            const R* targets, R (*sums)[K]) {
#pragma unroll 4
  for (int j = first; j < count; j += step) {
    const Source<R, K> source = sources[j];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const R w = reciprocal_of_difference<Wide>(targets[u] - source.at);
#pragma unroll
      for (int c = 0; c < K; ++c) sums[u][c] = multiply_add(w, source.charge[c], sums[u][c]);
    }
  }
}

/// A warp's targets: nodes of a leaf, two for each lane, or proxies, one for each lane of a group;
/// groups then share the sources.
template <int U, class R, int K>
__device__ void sum_unit(const Crossing<R>& m, const Unit& unit, index_t number,
                         index_t first_column, Source<R, K>* staged) {
  constexpr unsigned all = 0xffffffffu;
  constexpr bool near = U == 2;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto target = m.targets.cell(unit.cell);
  const Interval<R> to = m.targets.intervals[unit.cell];
  const int group = near || m.order > 16 ? 32 : m.order, own = lane % group;
  R at[U], sums[U][K] = {};
#pragma unroll
  for (int u = 0; u < U; ++u) {
    at[u] = near ? m.targets.nodes[target.begin + min(lane + 32 * u, target.size() - 1)]
                 : to.half * m.points[min(own, m.order - 1)];
  }
  for (int k = 0; k < unit.count; ++k) {
    const Term term = m.lists.terms[unit.first + k];
    const bool proxies = term.proxies;
    const int count = term.count;
    const index_t column = proxies ? m.sources.all_cells() * m.order : m.sources.all_nodes();
    const R* const charges = (proxies ? m.proxies : m.charges) + first_column * column + term.first;
    const R* const nodes = m.sources.nodes + term.first;
    // Proxies lie at small distances from the low end of a cell: positions relative to one that takes
    // part keep the differences accurate.
    R origin = near ? R(0) : to.low, half = 0;
    if (proxies) {
      const Interval<R> from = m.sources.intervals[term.source];
      origin = from.low;
      half = from.half;
    }
    __syncwarp();
    for (int j = lane; j < count; j += 32) {
      Source<R, K> s;
      s.at = proxies ? half * m.points[j] : nodes[j] - origin;
#pragma unroll
      for (int c = 0; c < K; ++c) {
        s.charge[c] = first_column + c < m.columns ? charges[c * column + j] : R(0);
      }
      staged[j] = s;
    }
    __syncwarp();
    R targets[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      targets[u] = near ? at[u] - origin : at[u] + (to.low - origin);
    }
    if (term.wide) {
      add_sources<true, U>(staged, lane / group, count, 32 / group, targets, sums);
    } else {
      add_sources<false, U>(staged, lane / group, count, 32 / group, targets, sums);
    }
  }
  if constexpr (!near) {
    for (int other = group; other < 32; other *= 2) {
#pragma unroll
      for (int c = 0; c < K; ++c) sums[0][c] += shuffle_xor(all, sums[0][c], other);
    }
  }
  const int count = near ? target.size() : m.order, stride = near ? leaf_size : m.order;
  R* const out = near ? m.near + (number * m.columns + first_column) * stride
                      : m.far + ((number - m.lists.near) * m.columns + first_column) * stride;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const int i = lane + 32 * u;
#pragma unroll
    for (int c = 0; c < K; ++c) {
      if (i < count && first_column + c < m.columns) out[c * stride + i] = sums[u][c];
    }
  }
}

/// A warp sums a unit for K columns.
template <class R, int K>
__global__ void __launch_bounds__(across_threads) cross(const __grid_constant__ Crossing<R> m) {
  constexpr int warps = across_threads / 32;
  __shared__ Source<R, K> staged[warps][leaf_size];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const index_t groups = (m.columns + K - 1) / K, work = m.lists.units_count * groups;
  for (index_t w = static_cast<index_t>(blockIdx.x) * warps + warp; w < work;
       w += static_cast<index_t>(gridDim.x) * warps) {
    const index_t number = w / groups, first_column = (w - number * groups) * K;
    const Unit unit = m.lists.units[number];
    if (number < m.lists.near) {
      sum_unit<2>(m, unit, number, first_column, staged[warp]);
    } else {
      sum_unit<1>(m, unit, number, first_column, staged[warp]);
    }
  }
}

// ---- up and down: eight lanes for a cell, one column; a block for the levels of a subtree

inline constexpr int sweep_threads = 256, lanes = 8, groups = sweep_threads / lanes;
/// Levels that a block walks over: as many as give each group one cell at the bottom.
inline constexpr int sweep_levels = 6;
static_assert(groups == 1 << (sweep_levels - 1));
/// Points of a cell that each lane has: nodes of a leaf, or proxies of both children.
inline constexpr int points_of_lane = leaf_size / lanes;

struct Group {
  int number, lane;
  unsigned mask;  // its lanes in the warp

  __device__ Group()
      : number(static_cast<int>(threadIdx.x) / lanes),
        lane(static_cast<int>(threadIdx.x) % lanes),
        mask(0xffu << (static_cast<int>(threadIdx.x) % 32 / lanes * lanes)) {}
};

template <class R>
__device__ R inverse(R half) {
  return half >= 4 * std::numeric_limits<R>::min() ? 1 / half : R(0);
}

template <class R>
struct Sweep {
  TreeView<R> tree;
  const R *points, *matrix;
  index_t columns;
  int top, bottom;   // levels
  const R* charges;  // up
  R* proxies;
  const std::uint64_t* first_unit;  // down
  const R *far, *near;
  R *coefficients, *sums;
};

/// values_m, m = lane P / 8 + i, in place i: the sums over the lanes of the group.
template <int P, class R>
__device__ void sum_over_group(const Group& group, R (&values)[P]) {
#pragma unroll
  for (int step = lanes / 2, half = P / 2; step > 0; step /= 2, half /= 2) {
    const bool upper = (group.lane & step) != 0;
#pragma unroll
    for (int i = 0; i < P / 2; ++i) {
      if (i >= half) break;
      const R given = upper ? values[i] : values[i + half];
      const R kept = upper ? values[i + half] : values[i];
      values[i] = kept + __shfl_xor_sync(group.mask, given, step);
    }
  }
}

/// sums_m += T_m(u) charge
template <int P, class R>
__device__ void add_moments(R u, R charge, R (&sums)[P]) {
  R previous = 1, current = u;
  const R twice = 2 * u;
  sums[0] += charge;
#pragma unroll
  for (int m = 1; m < P; ++m) {
    sums[m] = multiply_add(charge, current, sums[m]);
    const R next = multiply_add(twice, current, -previous);
    previous = current;
    current = next;
  }
}

/// sum_m coefficients_m T_m(u)
template <int P, class R>
__device__ R interpolant(R u, const R (&coefficients)[P]) {
  R previous = 1, current = u, value = coefficients[0];
  const R twice = 2 * u;
#pragma unroll
  for (int m = 1; m < P; ++m) {
    value = multiply_add(coefficients[m], current, value);
    const R next = multiply_add(twice, current, -previous);
    previous = current;
    current = next;
  }
  return value;
}

template <class R, int P>
struct SweepTables {
  R points[P], matrix[P * P];
  R cells[2][groups][P];  // proxies or coefficients of two levels
};

/// result_k := sum_l matrix_lk vector_l, with k = lane + 8 i in place i.
template <int P, class R>
__device__ void multiply(const Group& group, const R* matrix, const R* vector,
                         R (&result)[P / lanes]) {
#pragma unroll
  for (int i = 0; i < P / lanes; ++i) result[i] = 0;
#pragma unroll 4
  for (int l = 0; l < P; ++l) {
#pragma unroll
    for (int i = 0; i < P / lanes; ++i) {
      result[i] = multiply_add(matrix[l * P + group.lane + i * lanes], vector[l], result[i]);
    }
  }
}

/// The proxies of a cell's charges, from those of the children, which are in shared memory or, in the
/// first level of a launch, in global memory (below = null).
template <class R, int P>
__device__ void ascend_cell(const Sweep<R>& m, const Group& group, index_t column, index_t id,
                            const SweepTables<R, P>& tables, const R* below, R* own_proxies) {
  const auto cell = m.tree.cell(id);
  R* const proxies = m.proxies + column * m.tree.all_cells() * P;
  const Interval<R> own = m.tree.intervals[id];
  const bool leaf = m.tree.is_leaf(cell);
  const R inverse_half = inverse(own.half);
  // All loads come first: they wait together.
  R u[points_of_lane] = {}, charge[points_of_lane] = {};
  if (leaf) {
    const R* const nodes = m.tree.nodes + cell.begin;
    const R* const charges = m.charges + column * m.tree.all_nodes() + cell.begin;
#pragma unroll
    for (int i = 0; i < points_of_lane; ++i) {
      const int j = group.lane + i * lanes;
      if (j < cell.size()) {
        u[i] = (nodes[j] - own.low) * inverse_half - 1;
        charge[i] = charges[j];
      }
    }
  } else {
    const index_t child = id + cell.local + 1;
    static_assert(2 * P / lanes <= points_of_lane);
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const Interval<R> from = m.tree.intervals[child + which];
      const R scale = from.half * inverse_half, origin = (from.low - own.low) * inverse_half - 1;
#pragma unroll
      for (int i = 0; i < P / lanes; ++i) {
        const int k = group.lane + i * lanes, at = which * (P / lanes) + i;
        u[at] = multiply_add(scale, tables.points[k], origin);
        charge[at] = below != nullptr ? below[which * P + k] : proxies[(child + which) * P + k];
      }
    }
  }
  R sums[P] = {};
#pragma unroll
  for (int i = 0; i < points_of_lane; ++i) {
    if (i * lanes < (leaf ? cell.size() : 2 * P)) add_moments(u[i], charge[i], sums);
  }
  sum_over_group(group, sums);
  // The place of the proxies serves the exchange of moments before.
#pragma unroll
  for (int i = 0; i < P / lanes; ++i) own_proxies[group.lane * (P / lanes) + i] = sums[i];
  __syncwarp(group.mask);
  R result[P / lanes];
  multiply<P>(group, tables.matrix, own_proxies, result);
  __syncwarp(group.mask);
#pragma unroll
  for (int i = 0; i < P / lanes; ++i) {
    const int k = group.lane + i * lanes;
    own_proxies[k] = proxies[id * P + k] = result[i];
  }
}

/// The interpolant of what is far from a cell, and in a leaf the sums themselves. The coefficients of
/// the parent are in shared memory or, in the first level of a launch, in global memory (above = null).
template <class R, int P>
__device__ void descend_cell(const Sweep<R>& m, const Group& group, index_t column, index_t id,
                             const SweepTables<R, P>& tables, const R* above, R* own_coefficients) {
  const auto cell = m.tree.cell(id);
  const bool leaf = m.tree.is_leaf(cell);
  const index_t all_cells = m.tree.all_cells();
  R* const all_coefficients = m.coefficients + column * all_cells * P;
  const Interval<R> own = m.tree.intervals[id];
  // In front of the first far unit, near ones are counted.
  const std::uint64_t* const units = m.first_unit + all_cells;
  const auto before = static_cast<index_t>(units[0]);
  R of_parent[P] = {};
  R scale = 0, origin = -1;
  if (cell.local > 0) {
    const index_t parent = id - cell.local + (cell.local - 1) / 2;
    const Interval<R> to = m.tree.intervals[parent];
    const R inverse_half = inverse(to.half);
    scale = own.half * inverse_half;
    origin = (own.low - to.low) * inverse_half - 1;
#pragma unroll
    for (int l = 0; l < P; ++l) {
      of_parent[l] = above != nullptr ? above[l] : all_coefficients[parent * P + l];
    }
  }
  R values[P / lanes] = {};
  const auto first = static_cast<index_t>(units[id]) - before,
             last = static_cast<index_t>(units[id + 1]) - before;
  for (index_t unit = first; unit < last; ++unit) {
#pragma unroll
    for (int i = 0; i < P / lanes; ++i) {
      values[i] += m.far[(unit * m.columns + column) * P + group.lane + i * lanes];
    }
  }
  R at[points_of_lane] = {}, near[points_of_lane] = {};
  if (leaf) {
    const auto first_near = static_cast<index_t>(m.first_unit[id]),
               last_near = static_cast<index_t>(m.first_unit[id + 1]);
    const R inverse_half = inverse(own.half);
#pragma unroll
    for (int i = 0; i < points_of_lane; ++i) {
      const int j = group.lane + i * lanes;
      if (j < cell.size()) {
        at[i] = (m.tree.nodes[cell.begin + j] - own.low) * inverse_half - 1;
      }
    }
    for (index_t unit = first_near; unit < last_near; ++unit) {
      const R* const sums = m.near + (unit * m.columns + column) * leaf_size;
#pragma unroll
      for (int i = 0; i < points_of_lane; ++i) {
        const int j = group.lane + i * lanes;
        if (j < cell.size()) near[i] += sums[j];
      }
    }
  }
  // The place of the coefficients serves the exchange of values before.
#pragma unroll
  for (int i = 0; i < P / lanes; ++i) {
    const int k = group.lane + i * lanes;
    own_coefficients[k] =
        values[i] + interpolant(multiply_add(scale, tables.points[k], origin), of_parent);
  }
  __syncwarp(group.mask);
  multiply<P>(group, tables.matrix, own_coefficients, values);
  __syncwarp(group.mask);
#pragma unroll
  for (int i = 0; i < P / lanes; ++i) own_coefficients[group.lane + i * lanes] = values[i];
  if (!leaf) {
#pragma unroll
    for (int i = 0; i < P / lanes; ++i) {
      all_coefficients[id * P + group.lane + i * lanes] = values[i];
    }
    return;
  }
  __syncwarp(group.mask);
  R coefficients[P];
#pragma unroll
  for (int l = 0; l < P; ++l) coefficients[l] = own_coefficients[l];
  R* const sums = m.sums + column * m.tree.all_nodes() + cell.begin;
#pragma unroll
  for (int i = 0; i < points_of_lane; ++i) {
    const int j = group.lane + i * lanes;
    if (j < cell.size()) sums[j] = near[i] + interpolant(at[i], coefficients);
  }
}

/// A block walks over the levels between top and bottom of a subtree.
template <class R, int P, bool Up>
__global__ void __launch_bounds__(sweep_threads) sweep(const __grid_constant__ Sweep<R> m) {
  __shared__ SweepTables<R, P> tables;
  for (int i = static_cast<int>(threadIdx.x); i < P * P; i += sweep_threads) {
    tables.matrix[i] = m.matrix[i];
    if (i < P) tables.points[i] = m.points[i];
  }
  __syncthreads();
  const Group group;
  const index_t roots = index_t{1} << m.top, work = m.tree.trees * m.columns * roots;
  const int levels = m.bottom - m.top + 1;
  for (index_t w = blockIdx.x; w < work; w += gridDim.x) {
    const index_t part = w >> m.top, root = w - part * roots;
    const index_t column = part / m.tree.trees, tree = part - column * m.tree.trees;
    for (int l = 0; l < levels; ++l) {
      const int level = Up ? m.bottom - l : m.top + l, count = 1 << (level - m.top);
      const index_t id =
          tree * m.tree.cells() + (index_t{1} << level) - 1 + root * count + group.number;
      R(&own)[groups][P] = tables.cells[l % 2];
      R(&last)[groups][P] = tables.cells[(l + 1) % 2];
      if (group.number < count) {
        if constexpr (Up) {
          ascend_cell<R, P>(m, group, column, id, tables, l > 0 ? last[2 * group.number] : nullptr,
                            own[group.number]);
        } else {
          descend_cell<R, P>(m, group, column, id, tables, l > 0 ? last[group.number / 2] : nullptr,
                             own[group.number]);
        }
      }
      __syncthreads();
    }
  }
}

}  // namespace structmat::gpu::line
