/// \file
/// Full convolutions of pairs of sequences, summed.
#pragma once

#include "structmat/core/view.hpp"

namespace structmat::toeplitz {

/// sum_l += sum over c, i + j = l of a_ic b_jc, or of its conjugate.
///
/// a: (m, k) in, b: (n, k) in, sum: m + n - 1 in/out; m, n > 0; any strides; no overlap. Short
/// sequences by sums, m n k products; others by 2 k + 1 transforms of the length max(m, n), normwise
/// accurate. Workspace: m + n numbers and six (complex: 12) max(m, n) for transforms. What is not finite
/// reaches the elements that depend on it.
template <Scalar T>
void add_full_convolution(const View<const T, 2>& a, const View<const T, 2>& b, bool conjugated,
                          const View<T, 1>& sum);

}  // namespace structmat::toeplitz
