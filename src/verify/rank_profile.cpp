#include "structmat/verify/rank_profile.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "quasiseparable/triangle_sweep.hpp"
#include "structmat/dense/norm.hpp"
#include "verify/half.hpp"

namespace structmat::verify {
namespace {

using quasiseparable::TriangleSweep;
using quasiseparable::Truncation;

/// Ranks of the blocks M(k:n, 0:k+extra) of one triangle, of m or of its transpose.
template <Scalar T>
class Profile {
 public:
  using R = real_t<T>;

  Profile(View<const T, 2> m, Part part, index_t extra, double norm, double tolerance,
          Relative relative, std::optional<index_t> asked, std::vector<index_t> wanted)
      : m_(m),
        sweep_(m),
        extra_(extra),
        norm_(norm),
        tolerance_(tolerance),
        by_row_(relative == Relative::block),
        asked_(asked),
        wanted_(std::move(wanted)) {
    half_.part = part;
    std::sort(wanted_.begin(), wanted_.end());
  }

  index_t state() const { return sweep_.state(); }

  /// Ranks for all k inside the block; false once the order asked for is exceeded.
  bool block(index_t begin, index_t size) {
    const index_t n = m_.extent(0);
    const Array<T, 2> p = sweep_.rows(begin, size);
    const auto d = m_.slice(0, begin, begin + size).slice(1, begin, begin + size);
    sweep_.advance(begin, size, truncation(size));
    const Array<T, 2> f = sweep_.tail_factor(by_row_);

    // H_k, k = begin + t, has the singular values of [P(t:, :) D(t:, :t); F(:, :r+t)].
    const index_t r = p.extent(1);
    const auto value = [&](index_t t) {
      const index_t top = size - t, columns = r + t + extra_;
      Array<T, 2> h({columns, top + f.extent(0)}, uninitialized);  // column-major when transposed
      const View<T, 2> block = h.view().transposed();
      copy(p.view().slice(0, t, size), block.slice(0, 0, top).slice(1, 0, r));
      copy(d.slice(0, t, size).slice(1, 0, t + extra_),
           block.slice(0, 0, top).slice(1, r, columns));
      copy(f.view().slice(1, 0, columns), block.slice(0, top, block.extent(0)));
      return count(begin + t, block);
    };
    const index_t first = extra_ == 0 && begin == 0 ? 1 : 0;  // H_0 of the strict triangle is empty
    if (first >= size) return true;
    std::vector<index_t> ranks(size);
    ranks[first] = value(first);
    if (size - 1 > first) ranks[size - 1] = value(size - 1);
    const auto is_wanted = [&](index_t from, index_t to) {
      const auto next = std::lower_bound(wanted_.begin(), wanted_.end(), begin + from);
      return next != wanted_.end() && *next < begin + to;
    };
    fill(ranks, first, size - 1, value, is_wanted);
    half_.ranks.insert(half_.ranks.end(), ranks.begin() + first, ranks.end());
    return !(asked_ && half_.order > *asked_) || begin + size == n;
  }

  const Half& half() const { return half_; }

 private:
  // Everything above an eighth of the threshold is carried, so that the total error moves no
  // singular value by more than that; but nothing below rounding, which would fill the state with
  // noise.
  Truncation truncation(index_t size) const {
    const double share = std::sqrt(0.5 * double(size) / double(m_.extent(0)));
    const double floor = 2 * double(epsilon<T>) * std::sqrt(double(by_row_ ? m_.extent(0) : 1));
    const double relative = std::max(tolerance_ / 8 * share, floor);
    return {relative * (by_row_ ? 1 : norm_), INT64_MAX, by_row_};
  }

  index_t count(index_t k, const View<T, 2>& block) {
    const index_t number = std::min(block.extent(0), block.extent(1));
    Array<R, 1> values({number});
    dense::singular_values<T>(block, values);
    const double reference = by_row_ && number > 0 ? double(values(0)) : norm_;
    index_t rank = 0;
    while (rank<number&& double(values(rank))> tolerance_ * reference) ++rank;
    const auto relative = [&](index_t l) {
      return l < number && reference > 0 ? double(values(l)) / reference : 0.0;
    };
    if (rank > 0) half_.smallest_kept = std::min(half_.smallest_kept, relative(rank - 1));
    half_.largest_dropped = std::max(half_.largest_dropped, relative(rank));
    const index_t n = m_.extent(0), columns = k + extra_, shorter = std::min(n - k, columns);
    const double beyond = asked_ ? relative(*asked_) : 0;
    const auto examined = [&] {
      Block b = half_.place(n, k, columns);
      for (index_t l = 0; l < number; ++l) b.singular_values.push_back(relative(l));
      return b;
    };
    if (half_.is_worse(asked_, beyond, rank, shorter)) {
      half_.worst_shorter = shorter;
      half_.worst = examined();
    }
    if (std::binary_search(wanted_.begin(), wanted_.end(), k)) half_.blocks.push_back(examined());
    half_.excess = std::max(half_.excess, beyond);
    half_.order = std::max(half_.order, rank);
    return rank;
  }

  /// Ranks strictly between first and last. Removing a row and adding a column changes a rank by
  /// one at most, so ends that differ by their distance settle what lies between: worth it where
  /// blocks are large.
  template <class Value, class IsWanted>
  void fill(std::vector<index_t>& ranks, index_t first, index_t last, const Value& value,
            const IsWanted& is_wanted) {
    constexpr index_t large = 64;
    if (last - first < 2) return;
    const index_t change = ranks[last] - ranks[first];
    if (std::abs(change) == last - first && std::min(ranks[first], ranks[last]) >= large &&
        !is_wanted(first + 1, last)) {
      for (index_t t = first + 1; t < last; ++t) {
        ranks[t] = ranks[first] + (change > 0 ? t - first : first - t);
      }
      return;
    }
    const index_t middle = first + (last - first) / 2;
    ranks[middle] = value(middle);
    fill(ranks, first, middle, value, is_wanted);
    fill(ranks, middle, last, value, is_wanted);
  }

  View<const T, 2> m_;
  TriangleSweep<T> sweep_;
  index_t extra_;
  double norm_, tolerance_;
  bool by_row_;
  std::optional<index_t> asked_;
  std::vector<index_t> wanted_;

  Half half_;
};

template <Scalar T>
bool is_lower_triangular(const View<const T, 2>& m) {
  for (index_t i = 0; i < m.extent(0); ++i) {
    for (index_t j = i + 1; j < m.extent(1); ++j) {
      if (m(i, j) != T{}) return false;
    }
  }
  return true;
}

template <Scalar T>
Report check(const char* operation, View<const T, 2> m, index_t extra, bool with_lower,
             bool with_upper, const Options& options) {
  const index_t n = m.extent(0);
  const double tolerance = options.tolerance.value_or(double(n) * double(epsilon<T>));
  require_tolerance_and_order(operation, tolerance, options.order);
  const double norm = dense::frobenius_norm(m);
  const auto asked = [&](index_t Order::*part) {
    return options.order ? std::optional<index_t>((*options.order).*part) : std::nullopt;
  };
  Profile<T> lower(m, Part::lower, extra, norm, tolerance, options.relative, asked(&Order::lower),
                   options.blocks);
  Profile<T> upper(m.transposed(), Part::upper, extra, norm, tolerance, options.relative,
                   asked(&Order::upper), options.blocks);
  const bool may_stop = options.order && options.stop_at_violation;
  index_t begin = 0;
  while (begin < n) {
    // Blocks of more rows would make the matrices that stand for H_k larger than need be.
    constexpr index_t most = 32;
    const index_t size = std::min(
        most, quasiseparable::next_block(std::max(lower.state(), upper.state()), n - begin));
    const bool lower_fits = !with_lower || lower.block(begin, size);
    const bool upper_fits = !with_upper || upper.block(begin, size);
    begin += size;
    if (options.progress) options.progress(double(begin) / double(n));
    if (may_stop && !(lower_fits && upper_fits)) break;
  }

  Report report = whole(lower.half(), upper.half(), options);
  report.size = n;
  report.complete = begin == n;
  report.tolerance = tolerance;
  report.frobenius_norm = norm;
  return report;
}

}  // namespace

template <Scalar T>
Report quasiseparable(View<const T, 2> m, const Options& options) {
  constexpr auto operation = "verify::quasiseparable";
  dense::require_square(operation, m);
  dense::require_finite(operation, m);
  Report report = check(operation, m, 0, true, true, options);
  report.property = "quasiseparable";
  return report;
}

template <Scalar T>
Report semiseparable(View<const T, 2> m, const Options& options) {
  constexpr auto operation = "verify::semiseparable";
  dense::require_square(operation, m);
  dense::require_finite(operation, m);
  const bool lower = is_lower_triangular<T>(m);
  const bool upper = !lower && is_lower_triangular<T>(m.transposed());
  Report report = check(operation, m, 1, !upper, !lower, options);
  report.property = "semiseparable";
  return report;
}

#define STRUCTMAT_INSTANTIATE(T)                                                        \
  template STRUCTMAT_EXPORT Report quasiseparable<T>(View<const T, 2>, const Options&); \
  template STRUCTMAT_EXPORT Report semiseparable<T>(View<const T, 2>, const Options&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
