#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/butterfly/butterfly.hpp"
#include "structmat/butterfly/monarch.hpp"
#include "structmat/cauchy/cauchy.hpp"
#include "structmat/lowrank/low_rank.hpp"
#include "structmat/toeplitz/circulant.hpp"
#include "structmat/toeplitz/hankel.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat {

#define STRUCTMAT_ABSENT_FAMILY(V, family)                                                  \
  template <Scalar T>                                                                       \
  void to_dense(const exec::cuda&, const V<T, space::cuda>&, View<T, 3, space::cuda>) {     \
    absent(family "::to_dense");                                                            \
  }                                                                                         \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const V<float, space::cuda>&,  \
                                          View<float, 3, space::cuda>);                     \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const V<double, space::cuda>&, \
                                          View<double, 3, space::cuda>);                    \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&,                                \
                                          const V<std::complex<float>, space::cuda>&,       \
                                          View<std::complex<float>, 3, space::cuda>);       \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&,                                \
                                          const V<std::complex<double>, space::cuda>&,      \
                                          View<std::complex<double>, 3, space::cuda>);
STRUCTMAT_ABSENT_FAMILY(ToeplitzView, "toeplitz")
STRUCTMAT_ABSENT_FAMILY(HankelView, "hankel")
STRUCTMAT_ABSENT_FAMILY(CirculantView, "circulant")
STRUCTMAT_ABSENT_FAMILY(SkewCirculantView, "skew_circulant")
STRUCTMAT_ABSENT_FAMILY(CauchyView, "cauchy")
STRUCTMAT_ABSENT_FAMILY(CauchyLikeView, "cauchy")
STRUCTMAT_ABSENT_FAMILY(VandermondeView, "vandermonde")
STRUCTMAT_ABSENT_FAMILY(LogVandermondeView, "vandermonde")
STRUCTMAT_ABSENT_FAMILY(LowRankView, "lowrank")
STRUCTMAT_ABSENT_FAMILY(ButterflyView, "butterfly")
STRUCTMAT_ABSENT_FAMILY(MonarchView, "monarch")

template <Scalar T>
index_t to_dense_workspace_bytes(const ButterflyView<T, space::cuda>&) {
  absent("butterfly::to_dense_workspace_bytes");
}
#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(const ButterflyView<T, space::cuda>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
