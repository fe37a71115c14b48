#include "structmat/nn/conv1d.hpp"

#include "absent.hpp"

namespace structmat::nn {

using Cuda = space::cuda;

template <Storage T>
index_t apply_workspace_bytes(const Conv1dView<T, Cuda>&, const Conv1dInput<T, Cuda>&) {
  absent("nn::conv1d::apply_workspace_bytes");
}

template <Storage T>
void apply(const exec::cuda&, const Conv1dView<T, Cuda>&, const Conv1dInput<T, Cuda>&,
           const Conv1dOutput<T, Cuda>&) {
  absent("nn::conv1d::apply");
}

template <Storage T>
index_t apply_vjp_workspace_bytes(const Conv1dView<T, Cuda>&, const Conv1dInput<T, Cuda>&) {
  absent("nn::conv1d::apply_vjp_workspace_bytes");
}

template <Storage T>
void apply_vjp(const exec::cuda&, const Conv1dView<T, Cuda>&, const Conv1dInput<T, Cuda>&,
               View<const T, 3, Cuda>, View<const compute_t<T>, 3, Cuda>,
               const Conv1dCotangent<T, Cuda>&) {
  absent("nn::conv1d::apply_vjp");
}

#define STRUCTMAT_INSTANTIATE(T)                                                               \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T>(const Conv1dView<T, Cuda>&,       \
                                                             const Conv1dInput<T, Cuda>&);     \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cuda&, const Conv1dView<T, Cuda>&,       \
                                          const Conv1dInput<T, Cuda>&,                         \
                                          const Conv1dOutput<T, Cuda>&);                       \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes<T>(const Conv1dView<T, Cuda>&,   \
                                                                 const Conv1dInput<T, Cuda>&); \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                                 \
      const exec::cuda&, const Conv1dView<T, Cuda>&, const Conv1dInput<T, Cuda>&,              \
      View<const T, 3, Cuda>, View<const compute_t<T>, 3, Cuda>, const Conv1dCotangent<T, Cuda>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
