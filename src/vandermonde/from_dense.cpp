#include "structmat/vandermonde/from_dense.hpp"

#include "core/instantiate.hpp"

namespace structmat::vandermonde {

template <Scalar T>
verify::Nearest<Vandermonde<T>> from_dense(View<const T, 2> a,
                                           const verify::EntrywiseOptions& options) {
  const auto found = verify::vandermonde(a, options);
  Vandermonde<T> v(a.extent(0), a.extent(1));
  std::copy(found.nodes.begin(), found.nodes.end(), v.x.begin());
  return {static_cast<const verify::Deviation&>(found), std::move(v)};
}

#define STRUCTMAT_INSTANTIATE(T)                                           \
  template STRUCTMAT_EXPORT verify::Nearest<Vandermonde<T>> from_dense<T>( \
      View<const T, 2>, const verify::EntrywiseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::vandermonde
