#include "cauchy/line_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "structmat/core/error.hpp"

namespace structmat::cauchy {
namespace {

template <RealScalar R>
struct Numbered {
  R node;
  index_t number;
};

/// Unsigned integers in the order of the numbers.
template <RealScalar R>
auto key_of(R node) {
  using Key = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;
  const Key bits = std::bit_cast<Key>(node + R{0});  // -0 becomes 0
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

/// Stable sort by digits of 11 bits; digits that all numbers share are passed over.
template <RealScalar R>
void sort_ascending(std::vector<Numbered<R>>& numbers) {
  constexpr int digit = 11, passes = (8 * sizeof(R) + digit - 1) / digit;
  constexpr index_t buckets = index_t{1} << digit;
  std::vector<index_t> counts(passes * buckets);
  for (const auto& v : numbers) {
    const auto key = key_of(v.node);
    for (int p = 0; p < passes; ++p) ++counts[p * buckets + ((key >> (p * digit)) & (buckets - 1))];
  }
  std::vector<Numbered<R>> other(numbers.size());
  for (int p = 0; p < passes; ++p) {
    index_t* starts = counts.data() + p * buckets;
    if (std::find(starts, starts + buckets, static_cast<index_t>(numbers.size())) !=
        starts + buckets) {
      continue;
    }
    index_t sum = 0;
    for (index_t b = 0; b < buckets; ++b) sum += std::exchange(starts[b], sum);
    for (const auto& v : numbers) {
      other[starts[(key_of(v.node) >> (p * digit)) & (buckets - 1)]++] = v;
    }
    numbers.swap(other);
  }
}

}  // namespace

template <RealScalar R>
LineTree<R>::LineTree(const View<const R, 1>& given, const char* name, index_t leaf)
    : nodes({(given.extent(0) + 2 * kernel_targets<R>)}, uninitialized) {
  const index_t n = given.extent(0);
  std::vector<Numbered<R>> numbers(n);
  for (index_t i = 0; i < n; ++i) {
    if (!(std::abs(given(i)) <= std::numeric_limits<R>::max() / 4)) {
      throw DomainError("cauchy::plan: " + std::string(name) + "_" + std::to_string(i) +
                        " is not finite, or so large that differences of nodes are not");
    }
    numbers[i] = {given(i), i};
  }
  constexpr index_t few = 256;
  if (n <= few) {
    std::stable_sort(numbers.begin(), numbers.end(),
                     [](const auto& a, const auto& b) { return a.node < b.node; });
  } else {
    sort_ascending(numbers);
  }
  order.resize(n);
  for (index_t i = 0; i < n; ++i) {
    nodes(i) = numbers[i].node;
    order[i] = numbers[i].number;
  }
  for (index_t i = n; i < nodes.extent(0); ++i) nodes(i) = n > 0 ? nodes(n - 1) : R{0};

  while ((n >> depth) >= leaf) ++depth;
  cells.resize((index_t{2} << depth) - 1);
  for (int level = 0; level <= depth; ++level) {
    const index_t count = index_t{1} << level;
    for (index_t c = 0; c < count; ++c) {
      Cell& cell = cells[count - 1 + c];
      cell.begin = n * c >> level;
      cell.end = n * (c + 1) >> level;
      if (cell.size() == 0) continue;
      cell.low = nodes(cell.begin);
      cell.high = nodes(cell.end - 1);
      cell.half = (cell.high - cell.low) / 2;
    }
  }
  for (index_t c = first_leaf(); c < static_cast<index_t>(cells.size()); ++c) {
    reach.push_back(reach_of(nodes.data() + cells[c].begin, 1, cells[c].size()));
  }
}

template <RealScalar R>
bool find_coincidence(const LineTree<R>& s, const LineTree<R>& t, index_t& i, index_t& j) {
  const auto run_end = [](const LineTree<R>& tree, index_t begin) {
    index_t end = begin + 1;
    while (end < tree.size() && tree.nodes(end) == tree.nodes(begin)) ++end;
    return end;
  };
  bool found = false;
  for (index_t a = 0, b = 0; a < s.size() && b < t.size();) {
    if (s.nodes(a) < t.nodes(b)) {
      ++a;
    } else if (t.nodes(b) < s.nodes(a)) {
      ++b;
    } else {
      // The sort is stable: the first of equal nodes has the least number.
      if (!found || s.order[a] < i) {
        i = s.order[a];
        j = t.order[b];
      }
      found = true;
      a = run_end(s, a);
      b = run_end(t, b);
    }
  }
  return found;
}

#define STRUCTMAT_INSTANTIATE(R) \
  template struct LineTree<R>;   \
  template bool find_coincidence<R>(const LineTree<R>&, const LineTree<R>&, index_t&, index_t&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)

}  // namespace structmat::cauchy
