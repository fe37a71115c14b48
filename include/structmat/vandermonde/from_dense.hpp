/// \file
/// Vandermonde matrices from dense ones.
#pragma once

#include "structmat/vandermonde/vandermonde.hpp"
#include "structmat/verify/entrywise.hpp"

namespace structmat::vandermonde {

/// The Vandermonde matrix whose nodes are column 1 of A (zeros where there is none); `holds` says
/// whether A is that matrix.
///
/// a: (m, n) in, any strides. Cost: O(m n). Exact. Throws as verify::vandermonde.
template <Scalar T>
verify::Nearest<Vandermonde<T>> from_dense(View<const T, 2> a,
                                           const verify::EntrywiseOptions& options = {});
template <Scalar T>
verify::Nearest<Vandermonde<T>> from_dense(const Array<T, 2>& a,
                                           const verify::EntrywiseOptions& options = {}) {
  return from_dense(a.view(), options);
}

}  // namespace structmat::vandermonde
