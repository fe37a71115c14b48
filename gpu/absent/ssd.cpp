#include "structmat/nn/ssd.hpp"

#include "absent.hpp"

namespace structmat::nn {

using Cuda = space::cuda;

template <Storage T>
index_t apply_workspace_bytes(const SsdView<T, Cuda>&, const SsdInput<T, Cuda>&) {
  absent("nn::ssd::apply_workspace_bytes");
}

template <Storage T>
void apply(const exec::cuda&, const SsdView<T, Cuda>&, const SsdInput<T, Cuda>&,
           const SsdOutput<T, Cuda>&) {
  absent("nn::ssd::apply");
}

template <Storage T>
index_t apply_vjp_workspace_bytes(const SsdView<T, Cuda>&, const SsdInput<T, Cuda>&) {
  absent("nn::ssd::apply_vjp_workspace_bytes");
}

template <Storage T>
void apply_vjp(const exec::cuda&, const SsdView<T, Cuda>&, const SsdInput<T, Cuda>&,
               View<const T, 4, Cuda>, View<const compute_t<T>, 4, Cuda>,
               const SsdCotangent<T, Cuda>&) {
  absent("nn::ssd::apply_vjp");
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T>(const SsdView<T, Cuda>&,           \
                                                             const SsdInput<T, Cuda>&);         \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cuda&, const SsdView<T, Cuda>&,           \
                                          const SsdInput<T, Cuda>&, const SsdOutput<T, Cuda>&); \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes<T>(const SsdView<T, Cuda>&,       \
                                                                 const SsdInput<T, Cuda>&);     \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                                  \
      const exec::cuda&, const SsdView<T, Cuda>&, const SsdInput<T, Cuda>&,                     \
      View<const T, 4, Cuda>, View<const compute_t<T>, 4, Cuda>, const SsdCotangent<T, Cuda>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
