/// \file
/// Toeplitz, Hankel and circulant matrices from dense ones.
#pragma once

#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/hankel.hpp"
#include "structmat/toeplitz/toeplitz.hpp"
#include "structmat/verify/entrywise.hpp"

namespace structmat {

namespace toeplitz {

/// The Toeplitz matrix with the first column and the first row of A; `holds` says whether A is that matrix.
///
/// a: (m, n) in, any strides. Cost: O(m n). Exact. Throws as verify::toeplitz.
template <Scalar T>
verify::Nearest<Toeplitz<T>> from_dense(View<const T, 2> a,
                                        const verify::EntrywiseOptions& options = {});
template <Scalar T>
verify::Nearest<Toeplitz<T>> from_dense(const Array<T, 2>& a,
                                        const verify::EntrywiseOptions& options = {}) {
  return from_dense(a.view(), options);
}

}  // namespace toeplitz

namespace hankel {

/// The Hankel matrix with the first column and the last row of A. All else as toeplitz::from_dense.
template <Scalar T>
verify::Nearest<Hankel<T>> from_dense(View<const T, 2> a,
                                      const verify::EntrywiseOptions& options = {});
template <Scalar T>
verify::Nearest<Hankel<T>> from_dense(const Array<T, 2>& a,
                                      const verify::EntrywiseOptions& options = {}) {
  return from_dense(a.view(), options);
}

}  // namespace hankel

namespace circulant {

/// The circulant matrix with the first column of A, (n, n). All else as toeplitz::from_dense.
template <Scalar T>
verify::Nearest<Circulant<T>> from_dense(View<const T, 2> a,
                                         const verify::EntrywiseOptions& options = {});
template <Scalar T>
verify::Nearest<Circulant<T>> from_dense(const Array<T, 2>& a,
                                         const verify::EntrywiseOptions& options = {}) {
  return from_dense(a.view(), options);
}

}  // namespace circulant

}  // namespace structmat
