#include "structmat/cauchy/from_vandermonde.hpp"

#include <string>

#include "cauchy/root_gap.hpp"
#include "core/instantiate.hpp"
#include "structmat/displacement/convert.hpp"
#include "structmat/displacement/from_structured.hpp"

namespace structmat::cauchy {

template <Scalar T>
CauchyLike<std::complex<real_t<T>>> from_vandermonde(
    const VandermondeView<T>& v, std::type_identity_t<std::complex<real_t<T>>> corner) {
  using C = std::complex<real_t<T>>;
  constexpr auto operation = "cauchy::from_vandermonde";
  const auto view = vandermonde::checked(v, operation);
  const index_t m = view.rows(), n = view.cols(), batch = view.batch();
  if (corner == C{}) {
    throw DomainError(std::string(operation) + ": the corner is 0, which has no distinct roots");
  }
  CauchyLike<C> c(m, n, 1, batch);
  Array<C, 2> nodes({batch, m}, uninitialized);
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < m; ++i) nodes(b, i) = C(view.x(b, i));
  }
  for (index_t b = 0; n > 0 && b < batch; ++b) {
    const auto x = displacement::diagonalise_right(
        displacement::from_vandermonde(VandermondeView<C>{nodes.view(), n}, corner, b));
    const CauchyLike<C> one = displacement::to_cauchy_like(x);
    copy(one.s.view().select(0, 0), c.s.view().select(0, b));
    copy(one.t.view().select(0, 0), c.t.view().select(0, b));
    copy(one.g.view().select(0, 0), c.g.view().select(0, b));
    copy(one.h.view().select(0, 0), c.h.view().select(0, b));
    for (index_t i = 0; i < m; ++i) {
      require_distinct(operation, c.g(b, i, 0), corner, n, i, b);
    }
  }
  return c;
}

template <Scalar T>
using ComplexCauchyLike = CauchyLike<displacement::complex_t<T>>;

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT ComplexCauchyLike<T> from_vandermonde<T>(const VandermondeView<T>&, \
                                                                     displacement::complex_t<T>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
