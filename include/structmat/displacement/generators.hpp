/// \file
/// A matrix given by its displacement: operators and generators of small rank.
///
///   Sylvester  A X - X B = G H^T      Stein  X - A X B = G H^T   (plain transposes)
///
/// | part         | what                                             |
/// |--------------|--------------------------------------------------|
/// | displacement | A, B and which of the two                        |
/// | g, h         | (m, r), (n, r)                                   |
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

}  // namespace structmat::displacement
