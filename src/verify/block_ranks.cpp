#include "verify/block_ranks.hpp"

#include "core/instantiate.hpp"
#include "structmat/dense/lapack.hpp"

namespace structmat::verify {

template <Scalar T>
BlockRanks<T>::BlockRanks(Part part, index_t n, index_t entries, index_t extra,
                          const SumOfSquares& norm, double tolerance, Relative relative,
                          std::optional<index_t> asked, std::vector<index_t> wanted)
    : n_(n),
      extra_(extra),
      norm_(norm.root()),
      norm_exponent_(norm.exponent()),
      tolerance_(tolerance),
      relative_to_(relative),
      asked_(asked),
      wanted_(std::move(wanted)) {
  half_.part = part;
  half_.ranks.resize(entries);
  std::sort(wanted_.begin(), wanted_.end());
}

template <Scalar T>
void BlockRanks<T>::put(index_t t, const View<const T, 2>& x, index_t exponent) {
  const View<const T, 2> tall = x.extent(0) < x.extent(1) ? x.transposed() : x;
  if (tall.extent(1) == 0) return record(t, 0, 0, tall, 0);
  std::unique_ptr<Pool>& pool = pools_[{tall.extent(0), tall.extent(1)}];
  if (!pool) pool = std::make_unique<Pool>(tall.extent(0), tall.extent(1));
  copy(tall, pool->x.view().select(0, pool->filled));
  pool->entry[pool->filled] = t;
  pool->exponent[pool->filled] = exponent;
  if (++pool->filled == Lane::lanes) count(*pool);
}

template <Scalar T>
void BlockRanks<T>::flush() {
  for (auto& [shape, pool] : pools_) {
    if (pool->filled > 0) count(*pool);
  }
}

/// value 2^exponent relative to the reference: the norm or, in the same units as value, the largest
/// value of the block.
template <Scalar T>
double BlockRanks<T>::relative(double value, index_t exponent, double reference) const {
  if (relative_to_ == Relative::block) return reference > 0 ? value / reference : 0;
  return norm_ > 0 ? times_power(value / norm_, exponent - norm_exponent_) : 0;
}

template <Scalar T>
void BlockRanks<T>::count(Pool& pool) {
  using R = real_t<T>;
  const Lane& lanes = pool.lanes;
  const int filled = pool.filled;
  index_t exponent[Lane::lanes] = {};
  for (int lane = 0; lane < filled; ++lane) {
    exponent[lane] =
        pool.exponent[lane] + pool.lanes.set(lane, View<const T, 2>(pool.x.view().select(0, lane)));
  }
  pool.lanes.reduce();
  const bool by_block = relative_to_ == Relative::block;
  const Reals largest = by_block ? lanes.value(Counts{}) : Reals{};

  // A relative threshold in the units of each lane. The entries there are about 1: what is far
  // above that may as well be 2^60.
  const auto thresholds = [&](double relative_value, bool above_rounding) {
    Reals all{};
    for (int lane = 0; lane < Lane::lanes; ++lane) {
      const double value =
          by_block ? relative_value * double(largest[lane])
                   : times_power(relative_value * norm_, norm_exponent_ - exponent[lane]);
      const double least = above_rounding ? double(lanes.floor(lane)) : 0;
      all[lane] = static_cast<R>(std::clamp(value, std::max(least, 1e-30), 0x1p60));
    }
    return all;
  };
  const Counts ranks = lanes.count(thresholds(tolerance_, false));

  // Values are only computed where they change a margin.
  const auto margin = [&](double bound, bool above_rounding, const auto& number,
                          const auto& better) {
    const Counts counts = lanes.count(thresholds(bound, above_rounding));
    Counts wanted{};
    bool any = false;
    for (int lane = 0; lane < filled; ++lane) {
      if (!better(counts[lane], lane)) continue;
      wanted[lane] = number(lane);
      any = true;
    }
    Reals found{};
    if (any) found = lanes.value(wanted);
    std::array<double, Lane::lanes> result{};
    for (int lane = 0; lane < filled; ++lane) {
      result[lane] = better(counts[lane], lane)
                         ? relative(double(found[lane]), exponent[lane], double(largest[lane]))
                         : -1;
    }
    return result;
  };
  const int columns = static_cast<int>(lanes.columns());
  const auto kept = margin(
      half_.smallest_kept, false, [&](int lane) { return ranks[lane] - 1; },
      [&](int count, int lane) { return ranks[lane] > 0 && count < ranks[lane]; });
  const auto dropped = margin(
      half_.largest_dropped, true, [&](int lane) { return ranks[lane]; },
      [&](int count, int lane) { return ranks[lane] < columns && count > ranks[lane]; });
  std::array<double, Lane::lanes> beyond{};
  if (asked_ && *asked_ < columns) {
    const int number = static_cast<int>(*asked_);
    beyond = margin(
        half_.excess, true, [&](int) { return number; },
        [&](int count, int) { return count > number; });
  }
  for (int lane = 0; lane < filled; ++lane) {
    if (kept[lane] >= 0) half_.smallest_kept = std::min(half_.smallest_kept, kept[lane]);
    half_.largest_dropped = std::max(half_.largest_dropped, dropped[lane]);
    record(pool.entry[lane], ranks[lane], beyond[lane],
           View<const T, 2>(pool.x.view().select(0, lane)), pool.exponent[lane]);
  }
  pool.filled = 0;
}

template <Scalar T>
void BlockRanks<T>::record(index_t t, index_t rank, double beyond, const View<const T, 2>& x,
                           index_t exponent) {
  const index_t k = t + 1 - extra_, shorter = std::min(n_ - k, t + 1);
  if (half_.is_worse(asked_, beyond, rank, shorter)) {
    half_.worst_shorter = shorter;
    half_.worst = half_.place(n_, k, t + 1);
    worst_ = {to_array(x), exponent};
  }
  if (std::binary_search(wanted_.begin(), wanted_.end(), k)) {
    half_.blocks.push_back(half_.place(n_, k, t + 1));
    add_values({to_array(x), exponent}, half_.blocks.back());
  }
  half_.excess = std::max(half_.excess, beyond);
  half_.order = std::max(half_.order, rank);
  half_.ranks[t] = rank;
}

template <Scalar T>
void BlockRanks<T>::add_values(const Scaled<T>& x, Block& block) const {
  Array<real_t<T>, 1> values({std::min(x.x.extent(0), x.x.extent(1))});
  if (values.empty()) return;
  dense::singular_values<T>(x.x, values);
  for (const real_t<T> v : values) {
    block.singular_values.push_back(relative(double(v), x.exponent, double(values(0))));
  }
}

template <Scalar T>
Half BlockRanks<T>::finish(index_t entries) {
  half_.ranks.resize(entries);
  if (half_.worst) add_values(worst_, *half_.worst);
  // Lanes fill in an order of their own.
  const auto place = [](const Block& b) {
    return b.part == Part::lower ? b.row_begin : b.col_begin;
  };
  std::sort(half_.blocks.begin(), half_.blocks.end(),
            [&](const Block& x, const Block& y) { return place(x) < place(y); });
  return half_;
}

#define STRUCTMAT_INSTANTIATE(T) template class BlockRanks<T>;
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
