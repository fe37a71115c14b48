#include "exact/modular.hpp"

#include <fflas-ffpack/ffpack/ffpack.h>
#include <givaro/modular-balanced.h>
#include <givaro/modular.h>

#undef index_t  // FFLAS-FFPACK makes it a macro

namespace structmat::exact::detail {
namespace {

template <class Ring>
Modular::Pivots eliminate_over(const Ring& ring, index_t rows, index_t cols,
                               std::vector<double>& x) {
  const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(cols);
  std::vector<std::size_t> p(m), q(n), row(m), column(n);
  // U keeps its pivots, L has ones on the diagonal.
  const std::size_t rank =
      FFPACK::PLUQ(ring, FFLAS::FflasNonUnit, m, n, x.data(), n, p.data(), q.data());
  FFPACK::LAPACKPerm2MathPerm(row.data(), p.data(), m);
  FFPACK::LAPACKPerm2MathPerm(column.data(), q.data(), n);
  if (rank > 0 && rank < m) {
    FFLAS::ftrsm(ring, FFLAS::FflasRight, FFLAS::FflasLower, FFLAS::FflasNoTrans, FFLAS::FflasUnit,
                 m - rank, rank, ring.one, x.data(), n, x.data() + rank * n, n);
  }
  Modular::Pivots result{{row.begin(), row.begin() + static_cast<std::ptrdiff_t>(rank)},
                         {column.begin(), column.begin() + static_cast<std::ptrdiff_t>(rank)},
                         std::vector<double>(m * rank)};
  for (std::size_t i = 0; i < m; ++i) {
    double* const to = result.basis.data() + row[i] * rank;
    if (i < rank) {
      to[i] = 1;
    } else {
      std::copy_n(x.data() + i * n, rank, to);
    }
  }
  return result;
}

}  // namespace

Modular::Pivots Modular::eliminate(index_t m, index_t n, std::vector<double>& x) const {
  // There are no centred residues modulo 2; 0 and 1 serve.
  return p_ == 2 ? eliminate_over(Givaro::Modular<double>(2), m, n, x)
                 : eliminate_over(Givaro::ModularBalanced<double>(p_), m, n, x);
}

}  // namespace structmat::exact::detail
