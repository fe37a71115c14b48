/// \file
/// Displacement rank of a dense matrix, with margins.
#pragma once

#include "structmat/displacement/operator.hpp"
#include "structmat/verify/low_rank.hpp"

namespace structmat::verify {

/// Rank of A X - X B or X - A X B; with options.order, the verdict.
///
/// x: (m, n) in, any strides, finite; d: as in displacement::displace. Singular values count
/// relative to options.reference; unset, that is ||A X||_F + ||X B||_F (Stein: ||X||_F + ||A X
/// B||_F), since rounding of X is of that size in the difference. Cost: O(m n r) for rank r;
/// workspace: three m x n matrices. Accuracy, options and report: as low_rank. Throws ShapeError,
/// DomainError.
template <Scalar T>
RankReport displacement_rank(View<const T, 2> x, const displacement::Displacement<T>& d,
                             const RankOptions& options = {});

template <Scalar T>
RankReport displacement_rank(const Array<T, 2>& x, const displacement::Displacement<T>& d,
                             const RankOptions& options = {}) {
  return displacement_rank(x.view(), d, options);
}

}  // namespace structmat::verify
