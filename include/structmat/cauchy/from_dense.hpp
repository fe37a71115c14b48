/// \file
/// Cauchy matrices from dense ones.
#pragma once

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/verify/entrywise.hpp"

namespace structmat::cauchy {

/// The Cauchy matrix with t_0 = 0 and the first column and the first row of A; `holds` says whether A is
/// that matrix.
///
/// a: (m, n) in, any strides. Cost: O(m n). Accuracy: that of verify::cauchy. Throws as it.
template <Scalar T>
verify::Nearest<Cauchy<T>> from_dense(View<const T, 2> a,
                                      const verify::EntrywiseOptions& options = {});
template <Scalar T>
verify::Nearest<Cauchy<T>> from_dense(const Array<T, 2>& a,
                                      const verify::EntrywiseOptions& options = {}) {
  return from_dense(a.view(), options);
}

}  // namespace structmat::cauchy
