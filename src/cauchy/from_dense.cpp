#include "structmat/cauchy/from_dense.hpp"

#include "core/instantiate.hpp"

namespace structmat::cauchy {

template <Scalar T>
verify::Nearest<Cauchy<T>> from_dense(View<const T, 2> a, const verify::EntrywiseOptions& options) {
  const auto found = verify::cauchy(a, options);
  const auto& deviation = static_cast<const verify::Deviation&>(found);
  if (a.empty()) return {deviation, Cauchy<T>(a.extent(0), a.extent(1))};
  return {deviation, Cauchy<T>(View<const T, 1>(found.s), View<const T, 1>(found.t))};
}

#define STRUCTMAT_INSTANTIATE(T)                                      \
  template STRUCTMAT_EXPORT verify::Nearest<Cauchy<T>> from_dense<T>( \
      View<const T, 2>, const verify::EntrywiseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
