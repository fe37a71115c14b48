#include "structmat/verify/completion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "verify/generator_checks.hpp"
#include "verify/half.hpp"
#include "verify/triangles.hpp"

namespace structmat::verify {
namespace {

constexpr auto operation = "verify::complete_diagonal";

/// Ranks of scaled blocks at one tolerance, and the margins over all of them.
template <Scalar T>
class Ranks {
 public:
  using R = real_t<T>;
  Ranks(double tolerance, const SumOfSquares& norm) : tolerance_(tolerance), norm_(norm) {}

  /// The blocks from now on are to be read times 2^exponent.
  void scale(index_t exponent) { exponent_ = exponent; }

  index_t rank(const View<const T, 2>& block) {
    Array<R, 1> values({std::min(block.extent(0), block.extent(1))});
    if (!values.empty()) dense::singular_values<T>(block, values);
    return count(values);
  }

  /// rank G and r G^+ c or, with `most`, r G^+ c for G of that rank at most, however small its
  /// singular values.
  std::pair<index_t, T> common(const View<const T, 2>& g, const View<const T, 2>& r,
                               const View<const T, 2>& c, std::optional<index_t> most = {}) {
    const index_t number = std::min(g.extent(0), g.extent(1)), n = g.extent(1);
    Array<R, 1> values({number});
    if (number == 0) return {0, T{}};
    Array<T, 2> vh({n, number});  // V^H in column-major order
    dense::svd_right<T>(g, values, vh.view().transposed());
    const double noise = double(epsilon<T>) * double(g.extent(0) + n) * double(values(0));
    const index_t above_noise =
        std::count_if(values.begin(), values.end(), [&](R v) { return double(v) > noise; });
    const index_t kept = most ? std::min(*most, above_noise) : count(values);
    T d{};
    for (index_t l = 0; l < kept; ++l) {
      // One term (r v) (u^H c) / sigma, with u = G v / sigma.
      T rv{}, uc{};
      for (index_t j = 0; j < n; ++j) rv += r(0, j) * conjugate(vh(j, l));
      for (index_t i = 0; i < g.extent(0); ++i) {
        T gv{};
        for (index_t j = 0; j < n; ++j) gv += g(i, j) * conjugate(vh(j, l));
        uc += conjugate(gv) * c(i, 0);
      }
      d += rv / values(l) * (uc / values(l));
    }
    return {kept, d};
  }

  /// Does the block [r, d; G, c] have rank `order` at most for d = r G^+ c?
  std::optional<T> settle(const View<const T, 2>& block, index_t order) {
    const index_t m = block.extent(0), n = block.extent(1);
    const T d =
        common(block.slice(0, 1, m).slice(1, 0, n - 1), block.slice(0, 0, 1).slice(1, 0, n - 1),
               block.slice(0, 1, m).slice(1, n - 1, n), order)
            .second;
    Array<T, 2> filled = to_array(block);
    filled(0, n - 1) = d;
    Array<R, 1> values({std::min(m, n)});
    dense::singular_values<T>(filled, values);
    if (order < values.size() && relative(values(order)) > tolerance_) return std::nullopt;
    return d;
  }

  double smallest_kept() const { return std::isfinite(kept_) ? kept_ : 0; }
  double largest_dropped() const { return dropped_; }

 private:
  index_t count(const Array<R, 1>& values) {
    index_t rank = 0;
    while (rank < values.size() && relative(values(rank)) > tolerance_) ++rank;
    if (rank > 0) kept_ = std::min(kept_, relative(values(rank - 1)));
    if (rank < values.size()) dropped_ = std::max(dropped_, relative(values(rank)));
    return rank;
  }

  double relative(R value) const {
    const double root = norm_.root();
    return root > 0 ? times_power(double(value) / root, exponent_ - norm_.exponent()) : 0;
  }

  double tolerance_;
  SumOfSquares norm_;
  index_t exponent_ = 0;
  double kept_ = std::numeric_limits<double>::infinity(), dropped_ = 0;
};

void require_options(const CompletionOptions& options) {
  std::optional<Order> order;
  if (options.order) order = Order{*options.order, 0};
  require_tolerance_and_order(operation, options.tolerance.value_or(0), order);
}

/// Fills in what the ranks of all blocks leave to be decided.
template <Scalar T>
void decide(Completion<T>& result, const CompletionOptions& options) {
  for (const auto& entry : result.entries) {
    result.representable_order += entry.rank_left - entry.rank_common;
    result.minimal_order =
        std::max(result.minimal_order,
                 entry.freedom == Freedom::forced ? *options.order : entry.least_rank());
  }
  result.order = options.order.value_or(result.minimal_order);
  for (index_t k = 0; k < index_t(result.entries.size()); ++k) {
    auto& entry = result.entries[k];
    const index_t rank = entry.rank_common;
    if (entry.freedom == Freedom::forced) continue;
    if (entry.least_rank() > result.order && !result.blocking) result.blocking = k;
    if (entry.rank_left == rank && entry.rank_below == rank) {
      entry.freedom = rank == result.order ? Freedom::forced : Freedom::unique;
    } else {
      entry.value = T{};
    }
  }
  result.completable = !result.blocking;
}

/// norm: of what the walk does not see of the triangle.
template <class Triangle>
auto complete(const Triangle& triangle, index_t n, SumOfSquares norm,
              const CompletionOptions& options) {
  using T = typename Triangle::value_type;
  Walk<Triangle> walk(triangle);
  norm.add(walk.squares());
  Completion<T> result;
  result.tolerance = options.tolerance.value_or(double(n) * double(epsilon<T>));
  result.frobenius_norm = times_power(norm.root(), norm.exponent());
  result.entries.resize(n);

  Ranks<T> ranks(result.tolerance, norm);
  const auto corner = [&](index_t k, const View<const T, 2>& x, index_t exponent) {
    const auto below = x.slice(0, 1, x.extent(0));
    const index_t left = x.extent(1) - 1;
    DiagonalEntry<T>& entry = result.entries[k];
    ranks.scale(exponent);
    const auto [rank, value] =
        ranks.common(below.slice(1, 0, left), x.slice(0, 0, 1).slice(1, 0, left),
                     below.slice(1, left, left + 1));
    entry.rank_left = k > 0 ? result.entries[k - 1].rank_below : 0;
    entry.rank_below = ranks.rank(below);
    entry.rank_common = rank;
    entry.value = times_power(value, exponent);
    if (options.order && entry.least_rank() > *options.order) {
      // A singular value of G may lie below the threshold while those of its neighbours are above.
      if (const auto settled = ranks.settle(x, *options.order)) {
        entry.freedom = Freedom::forced;
        entry.value = times_power(*settled, exponent);
      }
    }
  };
  Scaled<T> x;
  for (index_t w = 0; w < walk.windows(); ++w) {
    walk.window(
        w, [&](index_t t, const Roots<T>& roots) { walk.triangle().corners(t, roots, x, corner); });
  }
  // The last one has nothing below it.
  if (n > 1) result.entries[n - 1].rank_left = result.entries[n - 2].rank_below;
  decide(result, options);
  result.smallest_kept = ranks.smallest_kept();
  result.largest_dropped = ranks.largest_dropped();
  return result;
}

}  // namespace

template <Scalar T, class K>
Completion<T> complete_diagonal(const Quasiseparable<T, K>& m, const CompletionOptions& options) {
  require_options(options);
  if constexpr (std::same_as<K, transition::Block>) {
    require_fit(operation, m.partition, m.lower, m.diagonal);
    require_finite(operation, "lower", m.lower);
    require_finite(operation, "diagonal", m.diagonal.all());
    const BlockSteps<T> steps{m.partition, m.lower, m.diagonal, false, 1, true};
    return complete(steps, m.size(), squares_inside(m.partition, m.diagonal, 0), options);
  } else {
    const auto all = quasiseparable::checked(m.view(), operation);
    require_one(operation, all.batch());
    return complete(strictly_lower(operation, all), m.size(), {}, options);
  }
}

template <Scalar T>
Completion<T> complete_diagonal(View<const T, 2> m, const CompletionOptions& options) {
  require_options(options);
  const index_t n = m.extent(0);
  dense::require_square(operation, m);
  dense::require_finite(operation, m);
  Array<T, 2> triangle({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < i; ++j) triangle(i, j) = m(i, j);
  }
  const double tolerance = options.tolerance.value_or(double(n) * double(epsilon<T>));
  constexpr double share = 8;
  return complete_diagonal(
      quasiseparable::from_dense(triangle, {.tolerance = tolerance / share}).matrix, options);
}

#define STRUCTMAT_INSTANTIATE_KIND(T, K)                                       \
  template STRUCTMAT_EXPORT Completion<T> complete_diagonal<T, transition::K>( \
      const Quasiseparable<T, transition::K>&, const CompletionOptions&);
#define STRUCTMAT_INSTANTIATE(T)                                                          \
  template STRUCTMAT_EXPORT Completion<T> complete_diagonal<T>(View<const T, 2>,          \
                                                               const CompletionOptions&); \
  STRUCTMAT_INSTANTIATE_KIND(T, Block)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE_KIND)

}  // namespace structmat::verify
