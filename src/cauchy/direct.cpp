#include "cauchy/direct.hpp"

#include <vector>

#include "cauchy/direct_kernel.hpp"
#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "structmat/core/array.hpp"

namespace structmat::cauchy {
namespace {

/// Sources that are taken together: they stay in the first-level cache, and partial sums of so many
/// keep the rounding of long sums small.
constexpr index_t source_block = 512;

template <Scalar T>
void put_lane(const T& value, real_t<T>* vector, index_t lane) {
  vector[lane] = std::real(value);
  if constexpr (is_complex_v<T>) vector[lanes<T> + lane] = std::imag(value);
}

template <Scalar T>
T get_lane(const real_t<T>* vector, index_t lane) {
  if constexpr (is_complex_v<T>) {
    return {vector[lane], vector[lanes<T> + lane]};
  } else {
    return vector[lane];
  }
}

/// Nodes and factors of all sources, and the charges of a group of columns.
template <Scalar T>
struct Sources {
  explicit Sources(const DirectSums<T>& sums)
      : nodes({sums.t.extent(0)}, uninitialized), factors(sums.b.extents(), uninitialized) {
    copy(sums.t, nodes.view());
    copy(sums.b, factors.view());
    for (index_t begin = 0; begin < nodes.extent(0); begin += source_block) {
      const index_t end = std::min(begin + source_block, nodes.extent(0));
      reach.push_back(sums.coincide ? Reach::wide : reach_of(nodes.data() + begin, 1, end - begin));
    }
  }
  Array<T, 1> nodes;
  Array<T, 2> factors;
  std::vector<Reach> reach;  // of each block
};

/// The columns of one group, one after the other, with zeros for those that are not there.
template <Scalar T>
Array<T, 2> packed(const DirectSums<T>& sums, const View<const T, 2>& x, index_t width) {
  Array<T, 2> charges({width, x.extent(0)});
  for (index_t c = 0; c < x.extent(1); ++c) {
    for (index_t j = 0; j < x.extent(0); ++j) {
      charges(c, j) = sums.conjugate_x ? conjugate(x(j, c)) : x(j, c);
    }
  }
  return charges;
}

/// A few targets and a group of columns.
template <Scalar T>
void add_tile(const DirectSums<T>& sums, const Sources<T>& sources, const Array<T, 2>& charges,
              index_t first, const View<T, 2>& y) {
  const index_t m = sums.s.extent(0), n = sums.t.extent(0), r = sums.b.extent(1);
  const index_t width = charges.extent(0), count = std::min(kernel_targets<T>, m - first);
  const bool factors = sums.factors;
  alignas(64) real_t<T> targets[kernel_vectors * lane_reals<T>];
  alignas(64) real_t<T> result[kernel_vectors * 4 * lane_reals<T>] = {};
  Array<real_t<T>, 1> target_factors({kernel_vectors * r * lane_reals<T>}, uninitialized);
  // Lanes that are left over repeat the last target.
  for (index_t lane = 0; lane < kernel_targets<T>; ++lane) {
    const index_t i = first + std::min(lane, count - 1), u = lane / lanes<T>, at = lane % lanes<T>;
    put_lane<T>(sums.s(i), targets + u * lane_reals<T>, at);
    for (index_t l = 0; l < r; ++l) {
      put_lane<T>(sums.a(i, l), target_factors.data() + (u * r + l) * lane_reals<T>, at);
    }
  }
  const Reach reach = reach_of(&sums.s(first), sums.s.stride(0), count);
  for (index_t begin = 0; begin < n; begin += source_block) {
    const bool narrow =
        reach == Reach::narrow && sources.reach[begin / source_block] == Reach::narrow;
    KernelRun<T> run;
    run.targets = targets;
    run.factors = target_factors.data();
    run.sources = sources.nodes.data() + begin;
    run.source_factors = sources.factors.data() + (factors ? begin * r : 0);
    run.charges = charges.data() + begin;
    run.charge_step = n;
    run.order = r;
    run.count = std::min(source_block, n - begin);
    run.sums = result;
    run.sum_step = kernel_vectors * lane_reals<T>;
    kernel_for<T>(narrow ? Reach::narrow : Reach::wide, kernel_vectors, width, factors,
                  sums.power)(run);
  }
  for (index_t lane = 0; lane < count; ++lane) {
    const real_t<T>* vectors = result + lane / lanes<T> * lane_reals<T>;
    for (index_t c = 0; c < y.extent(1); ++c) {
      T value = get_lane<T>(vectors + c * kernel_vectors * lane_reals<T>, lane % lanes<T>);
      if (sums.conjugate_y) value = conjugate(value);
      if (sums.sign < 0) value = -value;
      T& at = y(first + lane, c);
      at = sums.add ? at + value : value;
    }
  }
}

}  // namespace

template <Scalar T>
void add_direct(int threads, const DirectSums<T>& sums, const View<const T, 2>& x,
                const View<T, 2>& y) {
  const index_t m = sums.s.extent(0), n = sums.t.extent(0), k = x.extent(1);
  if (m == 0 || k == 0) return;
  const Sources<T> sources(sums);
  const int team = team_for(threads, m * n * (sums.b.extent(1) + std::min<index_t>(k, 4)));
  for (index_t begin = 0; begin < k; begin += 4) {
    const index_t end = std::min(begin + 4, k), columns = end - begin;
    const index_t width = columns == 1 || (columns == 2 && !sums.factors) ? columns : 4;
    const auto charges = packed(sums, x.slice(1, begin, end), width);
    const View<T, 2> out = y.slice(1, begin, end);
    parallel_for(team, (m + kernel_targets<T> - 1) / kernel_targets<T>, [&](index_t tile) {
      add_tile(sums, sources, charges, tile * kernel_targets<T>, out);
    });
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                  \
  template void add_direct<T>(int, const DirectSums<T>&, const View<const T, 2>&, \
                              const View<T, 2>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
