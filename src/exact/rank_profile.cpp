#include "structmat/exact/rank_profile.hpp"

#include "exact/reversed_triangle.hpp"

namespace structmat::exact {
namespace {

/// Goes over one triangle in panels of columns.
class Sweep {
 public:
  Sweep(const Matrix<PrimeField>& m, Part part, Blocks blocks)
      : triangle_(m, part, blocks),
        extra_(triangle_.extra()),
        modular_(m.field()),
        changes_(static_cast<std::size_t>(m.rows() + 1)) {}

  std::vector<index_t> ranks() {
    const index_t n = triangle_.size();
    for (index_t begin = 0; begin < n; begin += panel) {
      const index_t end = std::min(begin + panel, n);
      residual(begin, end);
      if (!rows_.empty()) carry(begin, end);
      drop(n - end);
    }
    std::vector<index_t> result;
    for (index_t k = 0, rank = 0; k < n; ++k) {
      rank += changes_[k];
      if (k + extra_ > 0) result.push_back(rank);
    }
    return result;
  }

 private:
  // Wide enough for BLAS; a chunk of the panel's rows stays in the cache.
  static constexpr index_t panel = 128, chunk = 256;

  /// What the carried columns do not explain of the panel: its nonzero rows.
  void residual(index_t begin, index_t end) {
    const index_t height = triangle_.size() - begin, width = end - begin, state = pivots();
    std::vector<double> at_pivots(static_cast<std::size_t>(state * width));
    for (index_t l = 0; l < state; ++l) {
      triangle_.load(pivot_rows_[l], pivot_rows_[l] + 1, begin, end, at_pivots.data() + l * width);
    }
    rows_.clear();
    residual_.clear();
    std::vector<double> piece(static_cast<std::size_t>(chunk * width));
    for (index_t t0 = 0; t0 < height; t0 += chunk) {
      const index_t t1 = std::min(t0 + chunk, height);
      triangle_.load(t0, t1, begin, end, piece.data());
      modular_.subtract_product(t1 - t0, width, state, carried_.data() + t0 * state, state,
                                at_pivots.data(), width, piece.data(), width);
      for (index_t t = t0; t < t1; ++t) {
        const double* const row = piece.data() + (t - t0) * width;
        if (std::all_of(row, row + width, [](double x) { return x == 0; })) continue;
        rows_.push_back(t);
        residual_.insert(residual_.end(), row, row + width);
      }
    }
  }

  /// Counts the pivots of the residual and adds to the carried columns those that go on.
  void carry(index_t begin, index_t end) {
    const index_t n = triangle_.size(), height = n - begin, state = pivots();
    const auto found = modular_.eliminate(static_cast<index_t>(rows_.size()), end - begin,
                                          residual_.data(), end - begin);
    const index_t rank = found.rank();
    std::vector<index_t> kept;
    for (index_t l = 0; l < rank; ++l) {
      const index_t t = rows_[found.rows[l]], i = n - 1 - t, j = begin + found.columns[l];
      if (i + extra_ > j) {  // else it is a pivot of what lies above the diagonal
        ++changes_[j + 1 - extra_];
        --changes_[i + 1];
      }
      if (i >= end) kept.push_back(l);
    }
    const auto added = static_cast<index_t>(kept.size()), wider = state + added;
    if (added == 0) return;

    std::vector<double> basis(static_cast<std::size_t>(height * added));
    for (std::size_t s = 0; s < rows_.size(); ++s) {
      for (index_t l = 0; l < added; ++l) {
        basis[rows_[s] * added + l] = found.basis[s * rank + kept[l]];
      }
    }
    std::vector<double> at_pivots;
    for (const index_t l : kept) {
      const index_t t = rows_[found.rows[l]];
      pivot_rows_.push_back(t);
      at_pivots.insert(at_pivots.end(), carried_.begin() + t * state,
                       carried_.begin() + (t + 1) * state);
    }
    modular_.subtract_product(height, state, added, basis.data(), added, at_pivots.data(), state,
                              carried_.data(), state);
    std::vector<double> joined(static_cast<std::size_t>(height * wider));
    for (index_t t = 0; t < height; ++t) {
      std::copy_n(carried_.begin() + t * state, state, joined.begin() + t * wider);
      std::copy_n(basis.begin() + t * added, added, joined.begin() + t * wider + state);
    }
    carried_ = std::move(joined);
  }

  /// Forgets the rows from `height` on and the pivots in them, whose columns end there.
  void drop(index_t height) {
    const index_t state = pivots();
    std::vector<index_t> kept;
    for (index_t l = 0; l < state; ++l) {
      if (pivot_rows_[l] < height) kept.push_back(l);
    }
    const auto fewer = static_cast<index_t>(kept.size());
    if (fewer < state) {
      for (index_t t = 0; t < height; ++t) {
        for (index_t l = 0; l < fewer; ++l) {
          carried_[t * fewer + l] = carried_[t * state + kept[l]];
        }
      }
      for (index_t l = 0; l < fewer; ++l) pivot_rows_[l] = pivot_rows_[kept[l]];
      pivot_rows_.resize(static_cast<std::size_t>(fewer));
    }
    carried_.resize(static_cast<std::size_t>(height * fewer));
  }

  index_t pivots() const { return static_cast<index_t>(pivot_rows_.size()); }

  detail::ReversedTriangle triangle_;
  index_t extra_;
  detail::Modular modular_;
  std::vector<index_t> changes_;     // of the rank from block k - 1 to block k
  std::vector<index_t> pivot_rows_;  // carried column l is 1 here, where all others are 0,
  std::vector<double> carried_;      // (rows left, pivots); it is 0 after its pivot
  std::vector<index_t> rows_;        // of the residual
  std::vector<double> residual_;
};

}  // namespace

std::vector<index_t> rank_profile(const Matrix<PrimeField>& m, Part part, Blocks blocks) {
  detail::require_square("exact::rank_profile", m);
  return Sweep(m, part, blocks).ranks();
}

RankProfile rank_profile(const Matrix<PrimeField>& m, Blocks blocks) {
  RankProfile result{
      rank_profile(m, Part::lower, blocks), rank_profile(m, Part::upper, blocks), {}};
  for (const index_t r : result.lower) result.order.lower = std::max(result.order.lower, r);
  for (const index_t r : result.upper) result.order.upper = std::max(result.order.upper, r);
  return result;
}

}  // namespace structmat::exact
