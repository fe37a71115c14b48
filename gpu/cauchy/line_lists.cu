// The pairs are divided round by round: a round decides about each pair of the last one, counts what
// comes of them, and writes it to where a scan of the counts says. So lists have one order.

#include "cauchy/line_lists.cuh"

#include <limits>
#include <string>

#include "cauchy/line_rules.hpp"

namespace structmat::gpu::line {
namespace {

namespace rules = structmat::cauchy::line_rules;

constexpr const char* operation = "cauchy::plan";
constexpr int threads = 256;
/// Terms that one warp sums: few enough that a cell with many does not keep the others waiting.
constexpr index_t terms_per_unit = 16;

__device__ inline index_t first_thread() {
  return static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline index_t thread_count() {
  return static_cast<index_t>(gridDim.x) * blockDim.x;
}

struct Pair {
  std::int32_t row, col;  // counted through all trees
};
struct TakenPair {
  std::int32_t row, col;
  bool row_proxies, col_proxies, wide;
};

/// Two counts in one number, so that one scan serves both.
constexpr int count_bits = 32;

template <class R>
struct Round {
  TreeView<R> rows, cols;
  double opening;
  int order;
  bool coincide;
  const Pair* pairs;
  index_t count;
  std::uint64_t* counts;        // (count + 1): taken, and from bit 32 on divided, in two each
  const std::uint64_t* places;  // their sums in front
  Pair* next;
  TakenPair* taken;
};

template <class R>
__device__ rules::Decision decision(const Round<R>& m, Pair pair) {
  return rules::decide(m.rows.intervals[pair.row], m.rows.is_leaf(m.rows.cell(pair.row)),
                       m.cols.intervals[pair.col], m.cols.is_leaf(m.cols.cell(pair.col)),
                       m.opening);
}

template <class R>
__global__ void count_pairs(const __grid_constant__ Round<R> m) {
  for (index_t k = first_thread(); k <= m.count; k += thread_count()) {
    std::uint64_t count = 0;
    if (k < m.count) {
      const auto step = decision(m, m.pairs[k]).step;
      if (step == rules::Step::taken) count = 1;
      if (step == rules::Step::divide_row || step == rules::Step::divide_col) {
        count = std::uint64_t{2} << count_bits;
      }
    }
    m.counts[k] = count;
  }
}

/// Differences of nodes in such cells and their reciprocals are normal numbers.
template <class R>
inline constexpr R least_difference = sizeof(R) == 8 ? R(0x1p-500) * R(0x1p-500) : R(0x1p-120);
template <class R>
inline constexpr R most_difference = 1 / least_difference<R>;

template <class R>
__device__ bool is_wide(const Round<R>& m, Pair pair) {
  const Interval<R>&a = m.rows.intervals[pair.row], &b = m.cols.intervals[pair.col];
  const R least = rules::gap(a, b);
  if (least > 0) {
    const R most = max(a.high - b.low, b.high - a.low);
    return !(least >= least_difference<R> && most <= most_difference<R>);
  }
  // Cells that are not apart are leaves, or one of them is a single node.
  const auto wide = [](const TreeView<R>& tree, index_t id) {
    const auto cell = tree.cell(id);
    return !tree.is_leaf(cell) ||
           tree.wide[cell.tree * (tree.first_leaf() + 1) + cell.local - tree.first_leaf()] != 0;
  };
  return m.coincide || wide(m.rows, pair.row) || wide(m.cols, pair.col);
}

template <class R>
__device__ std::int32_t child(const TreeView<R>& tree, std::int32_t id, int which) {
  const index_t base = id / tree.cells() * tree.cells();
  return static_cast<std::int32_t>(base + 2 * (id - base) + 1 + which);
}

template <class R>
__global__ void divide_pairs(const __grid_constant__ Round<R> m) {
  for (index_t k = first_thread(); k < m.count; k += thread_count()) {
    const Pair pair = m.pairs[k];
    const rules::Decision d = decision(m, pair);
    const std::uint64_t place = m.places[k];
    if (d.step == rules::Step::taken) {
      const auto worth = [&](const TreeView<R>& tree, index_t id) {
        const auto cell = tree.cell(id);
        return !tree.is_leaf(cell) || cell.size() > m.order;
      };
      m.taken[place & 0xffffffffu] = {pair.row, pair.col, d.row_apart && worth(m.rows, pair.row),
                                      d.col_apart && worth(m.cols, pair.col), is_wide(m, pair)};
    } else if (d.step != rules::Step::none) {
      Pair* const next = m.next + (place >> count_bits);
      for (int i = 0; i < 2; ++i) {
        next[i] = d.step == rules::Step::divide_row ? Pair{child(m.rows, pair.row, i), pair.col}
                                                    : Pair{pair.row, child(m.cols, pair.col, i)};
      }
    }
  }
}

struct Start {
  Pair* pairs;
  index_t trees, row_cells, col_cells;
};
__global__ void start_pairs(const __grid_constant__ Start s) {
  for (index_t b = first_thread(); b < s.trees; b += thread_count()) {
    s.pairs[b] = {static_cast<std::int32_t>(b * s.row_cells),
                  static_cast<std::int32_t>(b * s.col_cells)};
  }
}

/// Device memory for elements that keeps what it holds when it grows.
template <class T>
class Growing {
 public:
  T* grow(index_t used, index_t size, cudaStream_t stream) {
    if (size > memory_.size()) {
      Array<T, 1, space::cuda> larger({std::max(size, 2 * memory_.size())}, uninitialized);
      if (used > 0) {
        check(cudaMemcpyAsync(larger.data(), memory_.data(), used * sizeof(T),
                              cudaMemcpyDeviceToDevice, stream),
              operation);
        check(cudaStreamSynchronize(stream), operation);
      }
      memory_ = std::move(larger);
    }
    return memory_.data();
  }
  T* data() { return memory_.data(); }
  void swap(Growing& other) { std::swap(memory_, other.memory_); }

 private:
  Array<T, 1, space::cuda> memory_;
};

std::uint64_t fetched(const std::uint64_t* at, cudaStream_t stream) {
  std::uint64_t value = 0;
  check(cudaMemcpyAsync(&value, at, sizeof value, cudaMemcpyDeviceToHost, stream), operation);
  check(cudaStreamSynchronize(stream), operation);
  return value;
}

void require_small(index_t count, const char* what) {
  if (count <= std::numeric_limits<std::int32_t>::max()) return;
  throw Unsupported(std::string(operation) + ": " + std::to_string(count) + " " + what +
                    ", at most 2147483647 are possible");
}

template <class R>
index_t divide(Round<R> round, Growing<TakenPair>& taken, Scratch& scratch, int processors,
               cudaStream_t stream) {
  Growing<Pair> pairs, next;
  Growing<std::uint64_t> counts, places;
  index_t done = 0;
  round.count = round.rows.trees;
  launch(operation, start_pairs, persistent_blocks(round.count, threads, processors), threads,
         stream,
         {pairs.grow(0, round.count, stream), round.count, round.rows.cells(), round.cols.cells()});
  while (round.count > 0) {
    round.pairs = pairs.data();
    round.counts = counts.grow(0, round.count + 1, stream);
    std::uint64_t* const sums = places.grow(0, round.count + 1, stream);
    round.places = sums;
    const unsigned blocks = persistent_blocks(round.count + 1, threads, processors);
    launch(operation, count_pairs<R>, blocks, threads, stream, round);
    exclusive_sum(operation, round.counts, sums, round.count + 1, scratch, stream);
    const std::uint64_t totals = fetched(sums + round.count, stream);
    const auto taken_now = static_cast<index_t>(totals & 0xffffffffu),
               divided = static_cast<index_t>(totals >> count_bits);
    require_small(done + taken_now, "pairs of cells");
    require_small(divided, "pairs of cells");
    round.taken = taken.grow(done, done + taken_now, stream) + done;
    round.next = next.grow(0, divided, stream);
    launch(operation, divide_pairs<R>, blocks, threads, stream, round);
    pairs.swap(next);
    done += taken_now;
    round.count = divided;
  }
  check(cudaStreamSynchronize(stream), operation);
  return done;
}

struct Grouping {
  const TakenPair* pairs;
  index_t count, cells;  // of targets, in all trees
  Shape sources;
  int order;
  bool by_row;
  std::uint64_t* keys;
  index_t* numbers;
  Term* terms;
  index_t* first_term;                   // (2 cells + 1)
  std::uint64_t *units_of, *first_unit;  // (2 cells + 1)
  Unit* units;
};

__global__ void key_pairs(const __grid_constant__ Grouping g) {
  for (index_t k = first_thread(); k < g.count; k += thread_count()) {
    const TakenPair pair = g.pairs[k];
    const bool far = g.by_row ? pair.row_proxies : pair.col_proxies;
    g.keys[k] = static_cast<std::uint64_t>((g.by_row ? pair.row : pair.col) + (far ? g.cells : 0));
    g.numbers[k] = k;
  }
}

/// With keys and numbers sorted.
__global__ void write_terms(const __grid_constant__ Grouping g) {
  for (index_t k = first_thread(); k < g.count; k += thread_count()) {
    const TakenPair pair = g.pairs[g.numbers[k]];
    const bool proxies = g.by_row ? pair.col_proxies : pair.row_proxies;
    const std::int32_t source = g.by_row ? pair.col : pair.row;
    const auto cell = g.sources.cell(source);
    g.terms[k] = {proxies ? index_t{source} * g.order : cell.begin, source,
                  static_cast<std::int16_t>(proxies ? g.order : cell.size()), proxies, pair.wide};
  }
}

__global__ void find_first_terms(const __grid_constant__ Grouping g) {
  for (index_t c = first_thread(); c <= 2 * g.cells; c += thread_count()) {
    index_t begin = 0, end = g.count;
    while (begin < end) {
      const index_t middle = begin + (end - begin) / 2;
      if (static_cast<index_t>(g.keys[middle]) < c) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    g.first_term[c] = begin;
  }
}

__global__ void count_units(const __grid_constant__ Grouping g) {
  for (index_t c = first_thread(); c <= 2 * g.cells; c += thread_count()) {
    const index_t terms = c < 2 * g.cells ? g.first_term[c + 1] - g.first_term[c] : 0;
    g.units_of[c] = static_cast<std::uint64_t>((terms + terms_per_unit - 1) / terms_per_unit);
  }
}

__global__ void write_units(const __grid_constant__ Grouping g) {
  for (index_t c = first_thread(); c < 2 * g.cells; c += thread_count()) {
    const index_t end = g.first_term[c + 1];
    Unit* unit = g.units + g.first_unit[c];
    for (index_t first = g.first_term[c]; first < end; first += terms_per_unit) {
      const index_t count = end - first < terms_per_unit ? end - first : terms_per_unit;
      *unit++ = {static_cast<std::int32_t>(c < g.cells ? c : c - g.cells),
                 static_cast<std::int32_t>(count), first};
    }
  }
}

Lists group(Grouping g, Scratch& scratch, int processors, cudaStream_t stream) {
  using Numbers = Array<std::uint64_t, 1, space::cuda>;
  const index_t slots = 2 * g.cells + 1;
  Numbers keys({g.count}, uninitialized), sorted({g.count}, uninitialized);
  Array<index_t, 1, space::cuda> numbers({g.count}, uninitialized),
      sorted_numbers({g.count}, uninitialized), first_term({slots}, uninitialized);
  Numbers units_of({slots}, uninitialized), first_unit({slots}, uninitialized);
  Array<Term, 1, space::cuda> terms({g.count}, uninitialized);
  const unsigned per_pair = persistent_blocks(std::max<index_t>(g.count, 1), threads, processors),
                 per_slot = persistent_blocks(slots, threads, processors);
  g.keys = keys.data();
  g.numbers = numbers.data();
  launch(operation, key_pairs, per_pair, threads, stream, g);
  sort_by_key(operation, keys.data(), sorted.data(), numbers.data(), sorted_numbers.data(), g.count,
              scratch, stream);
  g.keys = sorted.data();
  g.numbers = sorted_numbers.data();
  g.terms = terms.data();
  g.first_term = first_term.data();
  g.units_of = units_of.data();
  g.first_unit = first_unit.data();
  launch(operation, write_terms, per_pair, threads, stream, g);
  launch(operation, find_first_terms, per_slot, threads, stream, g);
  launch(operation, count_units, per_slot, threads, stream, g);
  exclusive_sum(operation, units_of.data(), first_unit.data(), slots, scratch, stream);
  const auto near = static_cast<index_t>(fetched(first_unit.data() + g.cells, stream));
  const auto count = static_cast<index_t>(fetched(first_unit.data() + 2 * g.cells, stream));
  Array<Unit, 1, space::cuda> units({count}, uninitialized);
  g.units = units.data();
  launch(operation, write_units, per_slot, threads, stream, g);
  check(cudaStreamSynchronize(stream), operation);
  return {std::move(terms), std::move(units), std::move(first_unit), near};
}

}  // namespace

template <class R>
BothLists make_lists(const TreeView<R>& rows, const TreeView<R>& cols, double opening, int order,
                     bool coincide, cudaStream_t stream) {
  const int processors = multiprocessors(operation);
  const index_t row_cells = rows.all_cells(), col_cells = cols.all_cells();
  require_small(row_cells, "cells of rows");
  require_small(col_cells, "cells of columns");
  Scratch scratch;
  Growing<TakenPair> taken;
  Round<R> round{};
  round.rows = rows;
  round.cols = cols;
  round.opening = opening;
  round.order = order;
  round.coincide = coincide;
  Grouping grouping{};
  grouping.count = divide(round, taken, scratch, processors, stream);
  grouping.pairs = taken.data();
  grouping.order = order;
  const auto grouped = [&](bool by_row) {
    grouping.by_row = by_row;
    grouping.cells = by_row ? row_cells : col_cells;
    grouping.sources = by_row ? static_cast<const Shape&>(cols) : rows;
    return group(grouping, scratch, processors, stream);
  };
  BothLists lists;
  lists.by_row = grouped(true);
  lists.by_col = grouped(false);
  return lists;
}

#define STRUCTMAT_INSTANTIATE(R)                                                              \
  template BothLists make_lists<R>(const TreeView<R>&, const TreeView<R>&, double, int, bool, \
                                   cudaStream_t);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::gpu::line
