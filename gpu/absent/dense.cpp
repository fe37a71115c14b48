#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/solve.hpp"

namespace structmat::dense {

template <Scalar T>
index_t gemm_workspace_bytes() {
  absent("dense::gemm_workspace_bytes");
}
template <Scalar T>
void gemm(const exec::cuda&, Op, Op, T, View<const T, 2, space::cuda>,
          View<const T, 2, space::cuda>, T, View<T, 2, space::cuda>) {
  absent("dense::gemm");
}
template <Scalar T>
index_t solve_workspace_bytes(View<const T, 2, space::cuda>, index_t) {
  absent("dense::solve_workspace_bytes");
}
template <Scalar T>
void solve(const exec::cuda&, View<const T, 2, space::cuda>, View<T, 2, space::cuda>,
           View<int, 1, space::cuda>) {
  absent("dense::solve");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t gemm_workspace_bytes<T>();                                    \
  template STRUCTMAT_EXPORT void gemm<T>(                                                         \
      const exec::cuda&, Op, Op, T, View<const T, 2, space::cuda>, View<const T, 2, space::cuda>, \
      T, View<T, 2, space::cuda>);                                                                \
  template STRUCTMAT_EXPORT index_t solve_workspace_bytes<T>(View<const T, 2, space::cuda>,       \
                                                             index_t);                            \
  template STRUCTMAT_EXPORT void solve<T>(const exec::cuda&, View<const T, 2, space::cuda>,       \
                                          View<T, 2, space::cuda>, View<int, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
