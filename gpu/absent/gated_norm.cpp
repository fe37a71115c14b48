#include "structmat/nn/gated_norm.hpp"

#include "absent.hpp"

namespace structmat::nn {

using Cuda = space::cuda;

template <Storage T>
index_t gated_norm_workspace_bytes(View<const T, 2, Cuda>, const GatedNormOptions&) {
  absent("nn::gated_norm_workspace_bytes");
}

template <Storage T>
void gated_norm(const exec::cuda&, View<const T, 2, Cuda>, View<const T, 2, Cuda>,
                View<const compute_t<T>, 1, Cuda>, const GatedNormOptions&, View<T, 2, Cuda>) {
  absent("nn::gated_norm");
}

template <Storage T>
index_t gated_norm_vjp_workspace_bytes(View<const T, 2, Cuda>, const GatedNormOptions&) {
  absent("nn::gated_norm_vjp_workspace_bytes");
}

template <Storage T>
void gated_norm_vjp(const exec::cuda&, View<const T, 2, Cuda>, View<const T, 2, Cuda>,
                    View<const compute_t<T>, 1, Cuda>, const GatedNormOptions&,
                    View<const T, 2, Cuda>, View<T, 2, Cuda>, View<T, 2, Cuda>,
                    View<compute_t<T>, 1, Cuda>) {
  absent("nn::gated_norm_vjp");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT void gated_norm<T>(                                                 \
      const exec::cuda&, View<const T, 2, Cuda>, View<const T, 2, Cuda>,                        \
      View<const compute_t<T>, 1, Cuda>, const GatedNormOptions&, View<T, 2, Cuda>);            \
  template STRUCTMAT_EXPORT index_t gated_norm_workspace_bytes<T>(View<const T, 2, Cuda>,       \
                                                                  const GatedNormOptions&);     \
  template STRUCTMAT_EXPORT index_t gated_norm_vjp_workspace_bytes<T>(View<const T, 2, Cuda>,   \
                                                                      const GatedNormOptions&); \
  template STRUCTMAT_EXPORT void gated_norm_vjp<T>(                                             \
      const exec::cuda&, View<const T, 2, Cuda>, View<const T, 2, Cuda>,                        \
      View<const compute_t<T>, 1, Cuda>, const GatedNormOptions&, View<const T, 2, Cuda>,       \
      View<T, 2, Cuda>, View<T, 2, Cuda>, View<compute_t<T>, 1, Cuda>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
