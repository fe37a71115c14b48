#include <algorithm>

#include "core/simd.hpp"
#include "exact/modular.hpp"
#include "exact/modular_reduce.hpp"

namespace structmat::exact::detail {
namespace {

/// Columns that are eliminated one by one.
constexpr index_t few = 8;

/// Rows [begin, m) of x: f, the entry in the given column, becomes f update[column]; f update[j] is
/// added to the entries in the other columns j.
STRUCTMAT_CLONES void eliminate_column(index_t begin, index_t m, index_t n, double* x, index_t ldx,
                                       index_t column, const double* update, double p) {
  for (index_t i = begin; i < m; ++i) {
    double* const row = x + i * ldx;
    const double f = row[column];
    if (f == 0) continue;
    row[column] = 0;
    for (index_t j = 0; j < n; ++j) row[j] = reduced_residue(row[j] + f * update[j], p);
  }
}

/// to: (m, n) := columns of x: (m, n) from column `first` of a matrix with ldt columns.
void copy_columns(index_t m, index_t n, const double* x, double* to, index_t ldt) {
  for (index_t i = 0; i < m; ++i) std::copy_n(x + i * n, n, to + i * ldt);
}

}  // namespace

Modular::Pivots Modular::eliminate_few(index_t m, index_t n, double* x, index_t ldx) const {
  Pivots found;
  double update[few];
  for (index_t c = 0; c < n; ++c) {
    index_t t = 0;
    while (t < m && x[t * ldx + c] == 0) ++t;
    if (t == m) continue;
    const double* const row = x + t * ldx;
    const auto pivot = static_cast<std::uint32_t>(row[c] < 0 ? row[c] + p_ : row[c]);
    const double inverse = centred(field_.invert(pivot));
    for (index_t j = 0; j < n; ++j) {
      update[j] = j == c ? inverse : reduced_residue(-row[j] * inverse, p_);
    }
    eliminate_column(t, m, n, x, ldx, c, update, p_);
    found.rows.push_back(t);
    found.columns.push_back(c);
  }
  const index_t rank = found.rank();
  found.basis.resize(static_cast<std::size_t>(m * rank));
  for (index_t i = 0; i < m; ++i) {
    for (index_t l = 0; l < rank; ++l) {
      found.basis[i * rank + l] = x[i * ldx + found.columns[l]];
    }
  }
  return found;
}

Modular::Pivots Modular::eliminate(index_t m, index_t n, double* x, index_t ldx) {
  if (n <= few) return eliminate_few(m, n, x, ldx);
  const index_t half = n / 2;
  const auto gathered = [](const std::vector<index_t>& rows, const double* from, index_t cols,
                           index_t ld) {
    std::vector<double> result;
    for (const index_t i : rows) result.insert(result.end(), from + i * ld, from + i * ld + cols);
    return result;
  };
  Pivots left = eliminate(m, half, x, ldx);
  const auto at_left = gathered(left.rows, x + half, n - half, ldx);
  subtract_product(m, n - half, left.rank(), left.basis.data(), left.rank(), at_left.data(),
                   n - half, x + half, ldx);
  const Pivots right = eliminate(m, n - half, x + half, ldx);
  if (right.rank() == 0) return left;
  const auto at_right = gathered(right.rows, left.basis.data(), left.rank(), left.rank());
  subtract_product(m, left.rank(), right.rank(), right.basis.data(), right.rank(), at_right.data(),
                   left.rank(), left.basis.data(), left.rank());

  const index_t rank = left.rank() + right.rank();
  Pivots both{std::move(left.rows), std::move(left.columns),
              std::vector<double>(static_cast<std::size_t>(m * rank))};
  const index_t first = rank - right.rank();
  copy_columns(m, first, left.basis.data(), both.basis.data(), rank);
  copy_columns(m, right.rank(), right.basis.data(), both.basis.data() + first, rank);
  both.rows.insert(both.rows.end(), right.rows.begin(), right.rows.end());
  for (const index_t c : right.columns) both.columns.push_back(half + c);
  return both;
}

}  // namespace structmat::exact::detail
