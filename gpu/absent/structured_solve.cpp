// Elimination of small Cauchy-like and Toeplitz matrices.
#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/cauchy/solve.hpp"
#include "structmat/toeplitz/solve.hpp"
#include "structmat/toeplitz/to_cauchy_like.hpp"

namespace structmat {

#define STRUCTMAT_ABSENT_VIEW(V)                                                             \
  template <Scalar T>                                                                        \
  index_t solve_workspace_bytes(const V<T, space::cuda>&, index_t, index_t) {                \
    absent("solve_workspace_bytes");                                                         \
  }                                                                                          \
  template <Scalar T>                                                                        \
  void solve(const exec::cuda&, const V<T, space::cuda>&, Op, View<const T, 3, space::cuda>, \
             View<T, 3, space::cuda>, View<PivotStatus, 1, space::cuda>) {                   \
    absent("solve");                                                                         \
  }
STRUCTMAT_ABSENT_VIEW(CauchyView)
STRUCTMAT_ABSENT_VIEW(CauchyLikeView)
STRUCTMAT_ABSENT_VIEW(ToeplitzView)

namespace cauchy {

template <Scalar T>
void factor_lu(const exec::cuda&, const CauchyLikeView<T, space::cuda>&, Lu<T, space::cuda>&) {
  absent("cauchy::factor_lu");
}
template <Scalar T>
void factor_lu(const exec::cuda&, const CauchyView<T, space::cuda>&, Lu<T, space::cuda>&) {
  absent("cauchy::factor_lu");
}
template <Scalar T>
index_t factor_lu_workspace_bytes(const CauchyLikeView<T, space::cuda>&) {
  absent("cauchy::factor_lu_workspace_bytes");
}
template <Scalar T>
index_t factor_lu_workspace_bytes(const CauchyView<T, space::cuda>&) {
  absent("cauchy::factor_lu_workspace_bytes");
}
template <Scalar T>
index_t solve_workspace_bytes(const Lu<T, space::cuda>&, index_t, index_t) {
  absent("cauchy::solve_workspace_bytes");
}
template <Scalar T>
void solve(const exec::cuda&, const Lu<T, space::cuda>&, Op, View<const T, 3, space::cuda>,
           View<T, 3, space::cuda>) {
  absent("cauchy::solve");
}

}  // namespace cauchy

namespace toeplitz {

template <Scalar T>
void to_cauchy_like(const exec::cuda&, const ToeplitzView<T, space::cuda>&,
                    CauchyLike<std::complex<real_t<T>>, space::cuda>&) {
  absent("toeplitz::to_cauchy_like");
}

}  // namespace toeplitz

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                       \
  template STRUCTMAT_EXPORT index_t solve_workspace_bytes(const V<T, space::cuda>&, index_t,   \
                                                          index_t);                            \
  template STRUCTMAT_EXPORT void solve(const exec::cuda&, const V<T, space::cuda>&, Op,        \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>, \
                                       View<PivotStatus, 1, space::cuda>);
#define STRUCTMAT_INSTANTIATE_LU(V, T)                                                          \
  template STRUCTMAT_EXPORT void cauchy::factor_lu(const exec::cuda&, const V<T, space::cuda>&, \
                                                   cauchy::Lu<T, space::cuda>&);                \
  template STRUCTMAT_EXPORT index_t cauchy::factor_lu_workspace_bytes(const V<T, space::cuda>&);
#define STRUCTMAT_INSTANTIATE(T)                                                               \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, T)                                                    \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, T)                                                \
  STRUCTMAT_INSTANTIATE_VIEW(ToeplitzView, T)                                                  \
  STRUCTMAT_INSTANTIATE_LU(CauchyView, T)                                                      \
  STRUCTMAT_INSTANTIATE_LU(CauchyLikeView, T)                                                  \
  template STRUCTMAT_EXPORT index_t cauchy::solve_workspace_bytes(                             \
      const cauchy::Lu<T, space::cuda>&, index_t, index_t);                                    \
  template STRUCTMAT_EXPORT void cauchy::solve(                                                \
      const exec::cuda&, const cauchy::Lu<T, space::cuda>&, Op, View<const T, 3, space::cuda>, \
      View<T, 3, space::cuda>);                                                                \
  template STRUCTMAT_EXPORT void toeplitz::to_cauchy_like<T>(                                  \
      const exec::cuda&, const ToeplitzView<T, space::cuda>&,                                  \
      CauchyLike<std::complex<real_t<T>>, space::cuda>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
