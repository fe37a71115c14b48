#include "structmat/verify/generator_profile.hpp"

#include <memory>

#include "core/instantiate.hpp"
#include "structmat/dense/lapack.hpp"
#include "verify/block_ranks.hpp"
#include "verify/generator_checks.hpp"
#include "verify/half.hpp"

namespace structmat::verify {
namespace {

/// Blocks of the last window that lie before entry `entries` of n.
template <class Triangle>
index_t entries_of(const Walk<Triangle>& walk) {
  return walk.entries_before(walk.windows());
}

/// upper may be null.
template <class Triangle>
Report check(const char* operation, index_t n, index_t extra, const Triangle& lower_triangle,
             const Triangle* upper_triangle, SumOfSquares norm, double tolerance,
             const Options& options) {
  using T = typename Triangle::value_type;
  require_tolerance_and_order(operation, tolerance, options.order);
  struct Side {
    Walk<Triangle> walk;
    std::optional<BlockRanks<T>> ranks{};
    index_t done = 0;
  };
  std::vector<Side> sides;
  sides.push_back({Walk<Triangle>(lower_triangle)});
  if (upper_triangle) sides.push_back({Walk<Triangle>(*upper_triangle)});
  for (const Side& side : sides) norm.add(side.walk.squares());
  for (Side& side : sides) {
    const bool is_lower = &side == sides.data();
    std::optional<index_t> asked;
    if (options.order) asked = is_lower ? options.order->lower : options.order->upper;
    side.ranks.emplace(is_lower ? Part::lower : Part::upper, n, entries_of(side.walk), extra, norm,
                       tolerance, options.relative, asked, options.blocks);
  }

  const bool may_stop = options.order && options.stop_at_violation;
  const index_t windows = sides[0].walk.windows();
  Scaled<T> x;
  bool stopped = false;
  for (index_t w = 0; w < windows && !stopped; ++w) {
    for (Side& side : sides) {
      side.walk.window(w, [&](index_t t, const Roots<T>& roots) {
        side.walk.triangle().blocks(
            t, roots, x, [&](index_t entry, const View<const T, 2>& block, index_t exponent) {
              side.ranks->put(entry, block, exponent);
            });
      });
      // Without an early stop, lanes go on filling up across windows.
      if (may_stop || w + 1 == windows) side.ranks->flush();
      side.done = side.walk.entries_before(w + 1);
      stopped = stopped || (may_stop && side.ranks->exceeded() && w + 1 < windows);
    }
    if (options.progress) options.progress(double(w + 1) / double(windows));
  }

  const Half lower = sides[0].ranks->finish(sides[0].done);
  Half upper;
  upper.part = Part::upper;
  if (upper_triangle) upper = sides[1].ranks->finish(sides[1].done);
  Report report = whole(lower, upper, options);
  report.size = n;
  report.complete = !stopped;
  report.tolerance = tolerance;
  report.frobenius_norm = times_power(norm.root(), norm.exponent());
  return report;
}

template <class T>
double tolerance_of(const Options& options, index_t n) {
  return options.tolerance.value_or(double(n) * double(epsilon<T>));
}

template <class Triangle>
auto values_of(const Triangle& triangle) {
  using T = typename Triangle::value_type;
  Walk<Triangle> walk(triangle);
  Array<real_t<T>, 2> all({entries_of(walk), triangle.largest_block()});
  Array<real_t<T>, 1> values;
  Scaled<T> x;
  for (index_t w = 0; w < walk.windows(); ++w) {
    walk.window(w, [&](index_t t, const Roots<T>& roots) {
      triangle.blocks(t, roots, x,
                      [&](index_t entry, const View<const T, 2>& block, index_t exponent) {
                        const index_t number = std::min(block.extent(0), block.extent(1));
                        values = Array<real_t<T>, 1>({number});
                        dense::singular_values<T>(block, values);
                        for (index_t l = 0; l < number; ++l) {
                          all(entry, l) = times_power(values(l), exponent);
                        }
                      });
    });
  }
  return all;
}

/// Both triangles of block generators, checked.
template <Scalar T>
struct BlockSides {
  BlockSteps<T> lower, upper;

  BlockSides(const char* operation, const Quasiseparable<T, transition::Block>& m)
      : lower{m.partition, m.lower, m.diagonal, false, 0, false},
        upper{m.partition, m.upper_transposed, m.diagonal, true, 0, false} {
    require_fit(operation, m.partition, m.lower, m.diagonal);
    require_fit(operation, m.partition, m.upper_transposed, m.diagonal);
    require_finite(operation, "lower", m.lower);
    require_finite(operation, "upper_transposed", m.upper_transposed);
    require_finite(operation, "diagonal", m.diagonal.all());
  }
};

template <Scalar T>
BlockSteps<T> block_triangle(const char* operation, const Semiseparable<T, transition::Block>& m) {
  require_fit(operation, m.partition, m.lower, m.diagonal);
  require_finite(operation, "lower", m.lower);
  for (index_t i = 0; i < m.partition.blocks(); ++i) {
    for (index_t row = 0; row < m.partition.size(i); ++row) {
      require_finite<T, 1>(operation, "diagonal block", m.diagonal.block(0, i).select(0, row), 0,
                           row + 1, std::to_string(i) + ", " + std::to_string(row));
    }
  }
  return {m.partition, m.lower, m.diagonal, false, 1, false};
}

template <Scalar T, transition::Uniform K>
QuasiseparableView<T, K> one(const char* operation, const QuasiseparableView<T, K>& m) {
  const auto all = quasiseparable::checked(m, operation);
  require_one(operation, all.batch());
  return all;
}
template <Scalar T, transition::Uniform K>
SemiseparableView<T, K> one(const char* operation, const SemiseparableView<T, K>& m) {
  const auto all = semiseparable::checked(m, operation);
  require_one(operation, all.batch());
  return all;
}

constexpr auto quasiseparable_name = "verify::quasiseparable";
constexpr auto semiseparable_name = "verify::semiseparable";
constexpr auto values_name = "verify::singular_values";

}  // namespace

template <Scalar T, transition::Uniform K>
Report quasiseparable(const QuasiseparableView<T, K>& matrix, const Options& options) {
  const auto m = one(quasiseparable_name, matrix);
  const auto lower = strictly_lower(quasiseparable_name, m),
             upper = strictly_upper(quasiseparable_name, m);
  require_finite<T, 1>(quasiseparable_name, "d", m.d.select(0, 0), 0, m.size());
  SumOfSquares diagonal;
  for (index_t i = 0; i < m.size(); ++i) diagonal.add(m.d(0, i));
  Report report = check(quasiseparable_name, m.size(), 0, lower, &upper, diagonal,
                        tolerance_of<T>(options, m.size()), options);
  report.property = "quasiseparable";
  return report;
}

template <Scalar T>
Report quasiseparable(const Quasiseparable<T, transition::Block>& m, const Options& options) {
  const BlockSides<T> sides(quasiseparable_name, m);
  SumOfSquares diagonal;
  for (const T& v : m.diagonal.all()) diagonal.add(v);
  Report report = check(quasiseparable_name, m.size(), 0, sides.lower, &sides.upper, diagonal,
                        tolerance_of<T>(options, m.size()), options);
  report.property = "quasiseparable";
  return report;
}

template <Scalar T, transition::Uniform K>
Report semiseparable(const SemiseparableView<T, K>& matrix, const Options& options) {
  const auto m = one(semiseparable_name, matrix);
  const auto lower = lower_triangle(semiseparable_name, m);
  Report report = check(semiseparable_name, m.size(), 1, lower, {}, {},
                        tolerance_of<T>(options, m.size()), options);
  report.property = "semiseparable";
  return report;
}

template <Scalar T>
Report semiseparable(const Semiseparable<T, transition::Block>& m, const Options& options) {
  const auto lower = block_triangle(semiseparable_name, m);
  Report report =
      check(semiseparable_name, m.size(), 1, lower, {}, squares_inside(m.partition, m.diagonal, 1),
            tolerance_of<T>(options, m.size()), options);
  report.property = "semiseparable";
  return report;
}

template <Scalar T, transition::Uniform K>
GeneratorValues<T> singular_values(const QuasiseparableView<T, K>& matrix) {
  const auto m = one(values_name, matrix);
  return {values_of(strictly_lower(values_name, m)), values_of(strictly_upper(values_name, m))};
}

template <Scalar T>
GeneratorValues<T> singular_values(const Quasiseparable<T, transition::Block>& m) {
  const BlockSides<T> sides(values_name, m);
  return {values_of(sides.lower), values_of(sides.upper)};
}

template <Scalar T, transition::Uniform K>
GeneratorValues<T> singular_values(const SemiseparableView<T, K>& matrix) {
  return {values_of(lower_triangle(values_name, one(values_name, matrix))), {}};
}

template <Scalar T>
GeneratorValues<T> singular_values(const Semiseparable<T, transition::Block>& m) {
  return {values_of(block_triangle(values_name, m)), {}};
}

#define STRUCTMAT_INSTANTIATE(T, K)                                               \
  template STRUCTMAT_EXPORT Report quasiseparable<T, transition::K>(              \
      const QuasiseparableView<T, transition::K>&, const Options&);               \
  template STRUCTMAT_EXPORT Report semiseparable<T, transition::K>(               \
      const SemiseparableView<T, transition::K>&, const Options&);                \
  template STRUCTMAT_EXPORT GeneratorValues<T> singular_values<T, transition::K>( \
      const QuasiseparableView<T, transition::K>&);                               \
  template STRUCTMAT_EXPORT GeneratorValues<T> singular_values<T, transition::K>( \
      const SemiseparableView<T, transition::K>&);
#define STRUCTMAT_INSTANTIATE_KINDS(T)                                                            \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE, T)                                                   \
  template STRUCTMAT_EXPORT Report quasiseparable<T>(const Quasiseparable<T, transition::Block>&, \
                                                     const Options&);                             \
  template STRUCTMAT_EXPORT Report semiseparable<T>(const Semiseparable<T, transition::Block>&,   \
                                                    const Options&);                              \
  template STRUCTMAT_EXPORT GeneratorValues<T> singular_values<T>(                                \
      const Quasiseparable<T, transition::Block>&);                                               \
  template STRUCTMAT_EXPORT GeneratorValues<T> singular_values<T>(                                \
      const Semiseparable<T, transition::Block>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_KINDS)

}  // namespace structmat::verify
