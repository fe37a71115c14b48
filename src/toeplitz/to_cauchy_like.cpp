#include "structmat/toeplitz/to_cauchy_like.hpp"

#include <string>

#include "core/instantiate.hpp"
#include "toeplitz/cauchy_image.hpp"
#include "toeplitz/square.hpp"

namespace structmat::toeplitz {

template <Scalar T>
CauchyLike<std::complex<real_t<T>>> to_cauchy_like(const ToeplitzView<T>& m) {
  require_square("toeplitz::to_cauchy_like", m);
  checked(m, "toeplitz::to_cauchy_like");
  const index_t n = m.rows();
  CauchyLike<std::complex<real_t<T>>> c(n, n, 2, m.batch());
  const CauchyImage<real_t<T>> image(n);
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < n; ++i) {
      c.s(b, i) = image.root(4 * i);
      c.t(b, i) = image.root(4 * i + 2);
    }
    if (n > 0) {
      image.generators(m.lags.select(0, b), 0, c.g.view().select(0, b), c.h.view().select(0, b));
    }
  }
  return c;
}

#define STRUCTMAT_INSTANTIATE(T)                                                   \
  template STRUCTMAT_EXPORT CauchyLike<std::complex<real_t<T>>> to_cauchy_like<T>( \
      const ToeplitzView<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
