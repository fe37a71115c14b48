/// \file
/// A matrix given by its displacement: operators and generators of small rank.
///
///   Sylvester  A X - X B = G H^T      Stein  X - A X B = G H^T   (plain transposes)
///
/// | part         | what                                             |
/// |--------------|--------------------------------------------------|
/// | displacement | A, B and which of the two                        |
/// | g, h         | (m, r), (n, r)                                   |
///
/// They determine X when the displacement operator is invertible: when no eigenvalue of A is one of B
/// (Stein: no product of an eigenvalue of A and one of B is 1). Eigenvalues of Z_f and Z_f^T of size
/// n are the n-th roots of f. Where that fails, what the operator loses is not in the generators, and
/// operations that need X say so with a DomainError.
#pragma once

#include "structmat/displacement/operator.hpp"

namespace structmat::displacement {

template <Scalar T>
struct Generators {
  using value_type = T;

  Displacement<T> displacement{};
  Array<T, 2> g{}, h{};

  index_t rows() const { return g.extent(0); }
  index_t cols() const { return h.extent(0); }
  /// The number of columns of the generators: an upper bound of the displacement rank.
  index_t order() const { return g.extent(1); }
};

/// Throws ShapeError, on behalf of `operation`, when g and h have different numbers of columns or a
/// diagonal does not fit.
template <Scalar T>
void require_valid(const char* operation, const Generators<T>& x);

}  // namespace structmat::displacement
