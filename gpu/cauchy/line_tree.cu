#include "cauchy/line_tree.cuh"

#include <limits>
#include <string>

#include "cauchy/coincidence.cuh"
#include "structmat/core/scalar.hpp"

namespace structmat::gpu::line {
namespace {

constexpr const char* operation = "cauchy::plan";
constexpr int threads = 256;
/// As a number, "none" comes after all indices.
constexpr long long none = std::numeric_limits<long long>::max();

/// |s - t| is at least half a unit in the last place of the smaller one, unless one of them is zero:
/// differences of such nodes and their reciprocals are normal numbers.
template <class R>
inline constexpr R least_node = sizeof(R) == 8 ? R(0x1p-450) * R(0x1p-450) : R(0x1p-90);
template <class R>
inline constexpr R most_node = sizeof(R) == 8 ? R(0x1p500) * R(0x1p500) : R(0x1p120);

__device__ inline index_t first_thread() {
  return static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline index_t thread_count() {
  return static_cast<index_t>(gridDim.x) * blockDim.x;
}

template <class R>
struct Preparation {
  Strided<const R, 2> given;
  index_t trees, n;
  R* keys;
  index_t* numbers;
  long long* refused;  // the least number of a node that cannot be taken
};

template <class R>
__global__ void number_nodes(const __grid_constant__ Preparation<R> p) {
  for (index_t k = first_thread(); k < p.trees * p.n; k += thread_count()) {
    const index_t tree = k / p.n, i = k - tree * p.n;
    const R node = p.given(tree, i);
    if (!(fabs(node) <= std::numeric_limits<R>::max() / 4)) {
      atomicMin(p.refused, static_cast<long long>(k));
    }
    p.keys[k] = node + R(0);  // -0 becomes 0
    p.numbers[k] = i;
  }
}

struct Inversion {
  const index_t* order;
  index_t* rank;
  index_t trees, n;
};
__global__ void invert_order(const __grid_constant__ Inversion m) {
  for (index_t k = first_thread(); k < m.trees * m.n; k += thread_count()) {
    const index_t base = k / m.n * m.n;
    m.rank[base + m.order[k]] = k - base;
  }
}

template <class R>
struct Measurement {
  TreeView<R> tree;
  Interval<R>* intervals;
  std::uint8_t* wide;
};

template <class R>
__global__ void measure_cells(const __grid_constant__ Measurement<R> m) {
  const TreeView<R>& tree = m.tree;
  for (index_t id = first_thread(); id < tree.all_cells(); id += thread_count()) {
    const auto cell = tree.cell(id);
    const R* const nodes = tree.nodes;
    Interval<R> v{nodes[cell.begin], nodes[cell.end - 1], 0};
    v.half = (v.high - v.low) / 2;
    m.intervals[id] = v;
    if (!tree.is_leaf(cell)) continue;
    bool wide = false;
    for (index_t i = cell.begin; i < cell.end; ++i) {
      const R size = fabs(nodes[i]);
      wide |= size != 0 && !(size >= least_node<R> && size <= most_node<R>);
    }
    m.wide[cell.tree * (tree.first_leaf() + 1) + cell.local - tree.first_leaf()] = wide ? 1 : 0;
  }
}

/// The first of the nodes that is not less than a value.
template <class R>
__device__ index_t lower_bound(const R* nodes, index_t n, R value) {
  index_t begin = 0, end = n;
  while (begin < end) {
    const index_t middle = begin + (end - begin) / 2;
    if (nodes[middle] < value) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

template <class R>
struct Comparison {
  TreeView<R> s, t;
  long long* found;  // for each tree the least i, m j + i would be too large
};

template <class R>
__global__ void find_coincidences(const __grid_constant__ Comparison<R> p) {
  for (index_t k = first_thread(); k < p.s.all_nodes(); k += thread_count()) {
    const index_t tree = k / p.s.n;
    const R* const t = p.t.nodes + tree * p.t.n;
    const index_t at = lower_bound(t, p.t.n, p.s.nodes[k]);
    if (at < p.t.n && t[at] == p.s.nodes[k]) {
      atomicMin(p.found + tree, static_cast<long long>(p.s.order[k]));
    }
  }
}

template <class R>
struct Partner {
  TreeView<R> s, t;
  index_t tree, i;
  index_t* j;
};

/// The least j with t_j = s_i; one thread. The sort is stable: the first of equal nodes has the least
/// number.
template <class R>
__global__ void find_partner(const __grid_constant__ Partner<R> p) {
  const index_t s = p.tree * p.s.n, t = p.tree * p.t.n;
  for (index_t k = first_thread(); k < p.s.n; k += thread_count()) {
    if (p.s.order[s + k] != p.i) continue;
    *p.j = p.t.order[t + lower_bound(p.t.nodes + t, p.t.n, p.s.nodes[s + k])];
  }
}

Array<long long, 1> fetched(const Array<long long, 1, space::cuda>& a, cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), operation);
  return to_host(a);
}

Array<long long, 1, space::cuda> nothing_found(index_t count) {
  Array<long long, 1> values({count}, uninitialized);
  for (long long& v : values) v = none;
  return to_device(values);
}

}  // namespace

template <class R>
Trees<R>::Trees(const Strided<const R, 2>& nodes, index_t trees, index_t n, const char* name,
                cudaStream_t stream)
    : shape_{trees, n, 0} {
  if (trees == 0 || n == 0) return;
  const int processors = multiprocessors(operation);
  Array<R, 2, space::cuda> keys({trees, n}, uninitialized);
  Array<index_t, 2, space::cuda> numbers({trees, n}, uninitialized);
  auto refused = nothing_found(1);
  launch(operation, number_nodes<R>, persistent_blocks(trees * n, threads, processors), threads,
         stream, {nodes, trees, n, keys.data(), numbers.data(), refused.data()});
  nodes_ = Array<R, 2, space::cuda>({trees, n}, uninitialized);
  order_ = Array<index_t, 2, space::cuda>({trees, n}, uninitialized);
  const long long first = fetched(refused, stream)(0);
  if (first != none) {
    throw DomainError(std::string(operation) + ": " + name + "_" + std::to_string(first % n) +
                      " is not finite, or so large that differences of nodes are not");
  }
  Scratch scratch;
  for (index_t b = 0; b < trees; ++b) {
    sort_by_key(operation, keys.data() + b * n, nodes_.data() + b * n, numbers.data() + b * n,
                order_.data() + b * n, n, scratch, stream);
  }

  rank_ = Array<index_t, 2, space::cuda>({trees, n}, uninitialized);
  launch(operation, invert_order, persistent_blocks(trees * n, threads, processors), threads,
         stream, {order_.data(), rank_.data(), trees, n});

  while ((n >> shape_.depth) >= leaf_size) ++shape_.depth;
  const index_t cells = shape_.cells();
  intervals_ = Array<Interval<R>, 2, space::cuda>({trees, cells}, uninitialized);
  wide_ = Array<std::uint8_t, 2, space::cuda>({trees, index_t{1} << shape_.depth}, uninitialized);
  launch(operation, measure_cells<R>, persistent_blocks(trees * cells, threads, processors),
         threads, stream, {view(), intervals_.data(), wide_.data()});
  check(cudaStreamSynchronize(stream), operation);
}

template <class R>
bool check_coincidence(const TreeView<R>& s, const TreeView<R>& t, Coincidence coincidence,
                       cudaStream_t stream) {
  if (s.trees == 0 || s.n == 0 || t.n == 0) return false;
  const int processors = multiprocessors(operation);
  auto found = nothing_found(s.trees);
  launch(operation, find_coincidences<R>, persistent_blocks(s.all_nodes(), threads, processors),
         threads, stream, {s, t, found.data()});
  const auto least = fetched(found, stream);
  const auto* const first =
      std::find_if(least.begin(), least.end(), [](long long i) { return i != none; });
  if (first == least.end()) return false;
  if (coincidence == Coincidence::skip) return true;
  const index_t tree = first - least.begin(), i = *first;
  Array<index_t, 1, space::cuda> j({1});
  launch(operation, find_partner<R>, persistent_blocks(s.n, threads, processors), threads, stream,
         {s, t, tree, i, j.data()});
  check(cudaStreamSynchronize(stream), operation);
  throw_coincidence(operation, i, to_host(j)(0), tree);
}

#define STRUCTMAT_INSTANTIATE(R)                                                          \
  template class Trees<R>;                                                                \
  template bool check_coincidence<R>(const TreeView<R>&, const TreeView<R>&, Coincidence, \
                                     cudaStream_t);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::gpu::line
