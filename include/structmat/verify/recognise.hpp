/// \file
/// A dense matrix as the family member that needs the least storage.
#pragma once

#include <string>
#include <variant>

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/displacement/generators.hpp"
#include "structmat/lowrank/low_rank.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/hankel.hpp"
#include "structmat/toeplitz/toeplitz.hpp"
#include "structmat/vandermonde/vandermonde.hpp"
#include "structmat/verify/classify.hpp"

namespace structmat::verify {

/// A matrix that stands for the dense one, or nothing.
template <Scalar T>
using Family =
    std::variant<std::monostate, Circulant<T>, Toeplitz<T>, Hankel<T>, Vandermonde<T>, Cauchy<T>,
                 LowRank<T>, Quasiseparable<T, transition::Block>, displacement::Generators<T>>;

template <Scalar T>
struct Recognised {
  Family<T> matrix;
  bool transposed = false;  ///< `matrix` is A^T: only for "transposed vandermonde"
  Finding finding{};        ///< the structure that was taken, as classify tells it
};

/// The first finding of classify that is a family with products of its own: circulant, Toeplitz, Hankel,
/// Vandermonde (also transposed), Cauchy, low rank, quasiseparable, Toeplitz-like, Hankel-like. Nothing,
/// with an empty name, where there is none: banded, triangular and symmetric matrices that are none of
/// these stay dense.
///
/// a, options: as in classify; the matrix is made with the same tolerance. Cost: that of classify and one
/// conversion. Accuracy: parameters are read off entries (entrywise.hpp) or come from truncated singular
/// value decompositions; `finding` has the deviation. Throws as classify.
template <Scalar T>
Recognised<T> recognise(View<const T, 2> a, const ClassifyOptions& options = {});
template <Scalar T>
Recognised<T> recognise(const Array<T, 2>& a, const ClassifyOptions& options = {}) {
  return recognise(a.view(), options);
}

}  // namespace structmat::verify
