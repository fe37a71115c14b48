#include "structmat/verify/classify.hpp"

#include <algorithm>
#include <string>

#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/verify/displacement_rank.hpp"
#include "structmat/verify/entrywise.hpp"
#include "structmat/verify/rank_profile.hpp"
#include "verify/half.hpp"

namespace structmat::verify {
namespace {

using Parameters = std::vector<std::pair<std::string, index_t>>;

/// Collects what one matrix is.
template <Scalar T>
class Classifier {
 public:
  Classifier(View<const T, 2> a, double tolerance)
      : a_(a), m_(a.extent(0)), n_(a.extent(1)), tolerance_(tolerance) {}

  std::vector<Finding> run() {
    if (dense::frobenius_norm(a_) == 0) {
      add_entrywise("zero", Deviation{}, 0);
      return std::move(findings_);
    }
    entrywise();
    if (m_ == n_) square();
    ranks();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& x, const Finding& y) { return x.storage < y.storage; });
    return std::move(findings_);
  }

 private:
  void add(Finding finding) {
    finding.dense = m_ * n_;
    if (finding.storage < finding.dense) findings_.push_back(std::move(finding));
  }

  void add_entrywise(const char* name, const Deviation& d, index_t storage,
                     const Parameters& parameters = {}) {
    if (!d.holds) return;
    add({.name = name, .parameters = parameters, .deviation = d.largest, .storage = storage});
  }

  /// Entries with i - j <= lower and j - i <= upper.
  index_t band_entries(index_t lower, index_t upper) const {
    index_t count = 0;
    for (index_t i = 0; i < m_; ++i) {
      const index_t first = std::max<index_t>(0, i - lower), last = std::min(n_ - 1, i + upper);
      count += std::max<index_t>(0, last - first + 1);
    }
    return count;
  }

  void entrywise() {
    const EntrywiseOptions options{tolerance_};
    const BandFound band = banded(a_, options);
    if (band.lower == 0 && band.upper == 0) {
      add_entrywise("diagonal", band, std::min(m_, n_));
    } else {
      if (band.lower == 0) add_entrywise("upper triangular", band, band_entries(0, n_));
      if (band.upper == 0) add_entrywise("lower triangular", band, band_entries(m_, 0));
      // A band that fills the triangle is the triangle.
      const bool fills =
          (band.lower == 0 && band.upper == n_ - 1) || (band.upper == 0 && band.lower == m_ - 1);
      if (!fills) {
        add_entrywise("banded", band, band_entries(band.lower, band.upper),
                      {{"lower", band.lower}, {"upper", band.upper}});
      }
    }
    lower_triangular_ = band.upper == 0;
    upper_triangular_ = band.lower == 0;
    add_entrywise("toeplitz", toeplitz(a_, options), m_ + n_ - 1);
    add_entrywise("hankel", hankel(a_, options), m_ + n_ - 1);
    add_entrywise("vandermonde", vandermonde(a_, options), m_);
    add_entrywise("transposed vandermonde", vandermonde(a_.transposed(), options), n_);
    add_entrywise("cauchy", cauchy(a_, options), m_ + n_);
    if (m_ != n_) return;
    add_entrywise("circulant", circulant(a_, options), n_);
    add_entrywise("symmetric", symmetric(a_, options), n_ * (n_ + 1) / 2);
    if (is_complex_v<T>) add_entrywise("hermitian", hermitian(a_, options), n_ * (n_ + 1) / 2);
  }

  void square() {
    // Beyond these orders the generators need more than n^2 numbers.
    const index_t most = n_ / 4;
    const Options options{.order = Order{most, most}, .tolerance = tolerance_};
    const Report q = quasiseparable(a_, options);
    if (q.complete && q.holds) {
      const index_t l = q.order.lower, u = q.order.upper, b = std::max({l, u, index_t{1}});
      add({.name = "quasiseparable",
           .parameters = {{"lower", l}, {"upper", u}},
           .smallest_kept = q.smallest_kept,
           .largest_dropped = q.largest_dropped,
           .storage = n_ * (2 * l + 2 * u + b) + n_ * (l * l + u * u) / b});
    }
    if (lower_triangular_ == upper_triangular_) return;
    // What the tolerance lets pass for zero does so here, too.
    Array<T, 2> half = to_array(a_);
    for (index_t i = 0; i < n_; ++i) {
      for (index_t j = 0; j < n_; ++j) {
        if (lower_triangular_ ? j > i : j < i) half(i, j) = T{};
      }
    }
    const Report s = semiseparable(half, options);
    if (!s.complete || !s.holds) return;
    const index_t r = std::max(s.order.lower, s.order.upper);
    add({.name = "semiseparable",
         .parameters = {{"order", r}},
         .smallest_kept = s.smallest_kept,
         .largest_dropped = s.largest_dropped,
         .storage = 3 * n_ * r + n_ * (r + 1) / 2});
  }

  void add_rank(const char* name, const RankReport& r) {
    if (!r.complete || !r.holds) return;
    add({.name = name,
         .parameters = {{"rank", r.rank}},
         .smallest_kept = r.smallest_kept,
         .largest_dropped = r.largest_dropped,
         .storage = r.rank * (m_ + n_)});
  }

  void ranks() {
    const RankOptions options{.order = m_ * n_ / (m_ + n_), .tolerance = tolerance_};
    add_rank("low rank", low_rank(a_, options));
    add_rank("toeplitz-like", displacement_rank(a_, displacement::toeplitz<T>(), options));
    add_rank("hankel-like", displacement_rank(a_, displacement::hankel<T>(), options));
  }

  View<const T, 2> a_;
  index_t m_, n_;
  double tolerance_;
  bool lower_triangular_ = false, upper_triangular_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

template <Scalar T>
std::vector<Finding> classify(View<const T, 2> a, const ClassifyOptions& options) {
  constexpr auto operation = "verify::classify";
  dense::require_finite(operation, a);
  const double tolerance =
      options.tolerance.value_or(double(std::max(a.extent(0), a.extent(1))) * double(epsilon<T>));
  require_tolerance(operation, tolerance);
  if (a.empty()) return {};
  return Classifier<T>(a, tolerance).run();
}

#define STRUCTMAT_INSTANTIATE(T)                                               \
  template STRUCTMAT_EXPORT std::vector<Finding> classify<T>(View<const T, 2>, \
                                                             const ClassifyOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
