/// \file
/// Well conditioned Cauchy matrices.
#pragma once

#include "cauchy/support.hpp"

namespace structmat::test {

/// Nodes that interlace, with some noise.
template <class M>
M with_interlacing_nodes(M m, Random& random) {
  using T = typename M::value_type;
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < m.rows(); ++i) {
      m.s(b, i) = T(real_t<T>(i)) + T(real_t<T>(0.1)) * random.scalar<T>();
      m.t(b, i) = T(real_t<T>(i) + real_t<T>(0.5)) + T(real_t<T>(0.1)) * random.scalar<T>();
    }
  }
  return m;
}

}  // namespace structmat::test
