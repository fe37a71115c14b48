#include "structmat/verify/rank_profile.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "quasiseparable/triangle_sweep.hpp"
#include "structmat/dense/norm.hpp"
#include "verify/block_counter.hpp"
#include "verify/power_of_two.hpp"

namespace structmat::verify {
namespace {

using quasiseparable::TriangleSweep;

/// Ranks of the blocks M(k:n, 0:k+extra) of one triangle, of m or of its transpose.
template <Scalar T>
class Profile {
 public:
  using R = real_t<T>;

  Profile(View<const T, 2> m, const BlockCounter& counter)
      : m_(m),
        sweep_(m_),
        extra_(counter.extra),
        by_row_(counter.relative == Relative::block),
        counter_(counter) {}

  index_t state() const { return sweep_.state(); }

  /// Ranks for all k inside the block; false once the order asked for is exceeded.
  bool block(index_t begin, index_t size) {
    const index_t n = m_.extent(0);
    const Array<T, 2> p = sweep_.rows(begin, size);
    const auto d = m_.slice(0, begin, begin + size).slice(1, begin, begin + size);
    sweep_.advance(begin, size, counter_.template truncation<T>(size));
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
    fill(ranks, begin, first, size - 1, value);
    std::vector<index_t>& all = counter_.half.ranks;
    all.insert(all.end(), ranks.begin() + first, ranks.end());
    return !counter_.exceeded() || begin + size == n;
  }

  const Half& half() const { return counter_.half; }

 private:
  index_t count(index_t k, const View<T, 2>& block) {
    const index_t number = std::min(block.extent(0), block.extent(1));
    Array<R, 1> values({number});
    dense::singular_values<T>(block, values);
    return counter_.count(k, std::vector<double>(values.begin(), values.end()));
  }

  /// Ranks strictly between first and last.
  template <class Value>
  void fill(std::vector<index_t>& ranks, index_t begin, index_t first, index_t last,
            const Value& value) {
    if (last - first < 2 || counter_.settled(ranks, begin, first, last)) return;
    const index_t middle = first + (last - first) / 2;
    ranks[middle] = value(middle);
    fill(ranks, begin, first, middle, value);
    fill(ranks, begin, middle, last, value);
  }

  View<const T, 2> m_;
  TriangleSweep<T> sweep_;
  index_t extra_;
  bool by_row_;
  BlockCounter counter_;
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

/// m times the power of two that brings its largest entry between 1 and 2.
template <Scalar T>
Array<T, 2> at_scale_one(const View<const T, 2>& m) {
  Array<T, 2> scaled = to_array(m);
  index_t exponent = no_exponent;
  for (const T& v : scaled) exponent = std::max(exponent, exponent_of(v));
  for (T& v : scaled) v = times_power(v, -exponent);
  return scaled;
}

template <Scalar T>
Report check(const char* operation, View<const T, 2> m, index_t extra, bool with_lower,
             bool with_upper, const Options& options) {
  const double norm = dense::frobenius_norm(m);
  // Squares of singular values must stay in range, down to those that rounding makes. What a report says is
  // relative to the norm.
  const double safe = std::ldexp(1.0, std::numeric_limits<real_t<T>>::max_exponent / 4);
  if (norm > 0 && !(norm > 1 / safe && norm < safe)) {
    Report report = check<T>(operation, at_scale_one<T>(m), extra, with_lower, with_upper, options);
    report.frobenius_norm = norm;
    return report;
  }
  const index_t n = m.extent(0);
  const double tolerance = options.tolerance.value_or(double(n) * double(epsilon<T>));
  require_tolerance_and_order(operation, tolerance, options.order);
  Profile<T> lower(m, block_counter(Part::lower, n, extra, norm, tolerance, options)),
      upper(m.transposed(), block_counter(Part::upper, n, extra, norm, tolerance, options));
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
