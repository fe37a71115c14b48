/// \file
/// Double precision behind the concept of a field, so that each lemma is written once.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "structmat/core/array.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/exact/completion.hpp"
#include "structmat/exact/matrix.hpp"
#include "structmat/verify/completion.hpp"

namespace structmat::exact {

/// Numbers below `negligible` count as zero: instances have entries about 1, so that rounding stays
/// well below and what a theorem forbids stays well above. A singular value near that border decides
/// nothing: copies of one field count those that they meet.
class FloatingField {
 public:
  using Element = double;
  static constexpr bool is_exact = false;
  static constexpr double negligible = 1e-9, border = 100;

  Element add(Element x, Element y) const { return x + y; }
  Element subtract(Element x, Element y) const { return x - y; }
  Element multiply(Element x, Element y) const { return x * y; }
  Element invert(Element x) const { return 1 / x; }
  Element from_integer(std::int64_t i) const { return static_cast<double>(i); }
  Element random(Engine& engine) const {
    return std::uniform_real_distribution<double>(-1, 1)(engine);
  }
  double weight(Element x) const { return std::abs(x) > negligible ? std::abs(x) : 0; }
  std::string text(Element x) const { return std::to_string(x); }
  std::string name() const { return "double"; }

  void meet(double relative) const {
    if (relative > negligible / border && relative < negligible * border) ++*doubtful_;
  }
  /// How many singular values near the border were met so far.
  index_t doubtful() const { return *doubtful_; }

 private:
  std::shared_ptr<index_t> doubtful_ = std::make_shared<index_t>(0);
};

/// Singular values above negligible times `reference` (a norm of the matrix that `a` belongs to).
inline index_t rank(const Matrix<FloatingField>& a, double reference) {
  const index_t number = std::min(a.rows(), a.cols());
  Array<double, 1> values({number});
  const View<const double, 2> view(a.elements().data(), {a.rows(), a.cols()});
  if (number > 0) dense::singular_values<double>(view, values);
  for (const double v : values) a.field().meet(v / reference);
  return std::count_if(values.begin(), values.end(),
                       [&](double v) { return v > FloatingField::negligible * reference; });
}

inline double norm(const Matrix<FloatingField>& a) {
  return dense::frobenius_norm(View<const double, 2>(a.elements().data(), {a.rows(), a.cols()}));
}

/// The same for a block of a matrix with entries about 1: what completion asks for.
inline index_t rank(const Matrix<FloatingField>& a) {
  return rank(a, std::max(1.0, norm(a)));
}

/// The completion of the numerical library in the words of the exact one.
inline Completion<FloatingField> complete_diagonal(const Matrix<FloatingField>& m, index_t order) {
  const View<const double, 2> view(m.elements().data(), {m.rows(), m.cols()});
  const auto found =
      verify::complete_diagonal(view, {.order = order, .tolerance = FloatingField::negligible});
  m.field().meet(found.smallest_kept);
  m.field().meet(found.largest_dropped);
  Completion<FloatingField> result;
  result.completable = found.completable;
  result.blocking = found.blocking;
  result.minimal_order = found.minimal_order;
  result.entries = found.entries;
  return result;
}

inline index_t representable_order(const Matrix<FloatingField>& m) {
  const View<const double, 2> view(m.elements().data(), {m.rows(), m.cols()});
  return verify::complete_diagonal(view, {.tolerance = FloatingField::negligible})
      .representable_order;
}

}  // namespace structmat::exact
