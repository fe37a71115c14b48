#include "structmat/nn/selective_scan.hpp"

#include "absent.hpp"

namespace structmat::nn {

using Cuda = space::cuda;

template <Storage T, class S>
index_t apply_workspace_bytes(const SelectiveScanView<T, S, Cuda>&,
                              const SelectiveScanInput<T, S, Cuda>&) {
  absent("nn::selective_scan::apply_workspace_bytes");
}

template <Storage T, class S>
void apply(const exec::cuda&, const SelectiveScanView<T, S, Cuda>&,
           const SelectiveScanInput<T, S, Cuda>&, const SelectiveScanOutput<T, S, Cuda>&) {
  absent("nn::selective_scan::apply");
}

template <Storage T, class S>
index_t apply_vjp_workspace_bytes(const SelectiveScanView<T, S, Cuda>&,
                                  const SelectiveScanInput<T, S, Cuda>&) {
  absent("nn::selective_scan::apply_vjp_workspace_bytes");
}

template <Storage T, class S>
void apply_vjp(const exec::cuda&, const SelectiveScanView<T, S, Cuda>&,
               const SelectiveScanInput<T, S, Cuda>&, View<const T, 3, Cuda>,
               View<const S, 3, Cuda>, const SelectiveScanCotangent<T, S, Cuda>&) {
  absent("nn::selective_scan::apply_vjp");
}

#define STRUCTMAT_INSTANTIATE(T, S)                                                          \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T, S>(                             \
      const SelectiveScanView<T, S, Cuda>&, const SelectiveScanInput<T, S, Cuda>&);          \
  template STRUCTMAT_EXPORT void apply<T, S>(                                                \
      const exec::cuda&, const SelectiveScanView<T, S, Cuda>&,                               \
      const SelectiveScanInput<T, S, Cuda>&, const SelectiveScanOutput<T, S, Cuda>&);        \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes<T, S>(                         \
      const SelectiveScanView<T, S, Cuda>&, const SelectiveScanInput<T, S, Cuda>&);          \
  template STRUCTMAT_EXPORT void apply_vjp<T, S>(                                            \
      const exec::cuda&, const SelectiveScanView<T, S, Cuda>&,                               \
      const SelectiveScanInput<T, S, Cuda>&, View<const T, 3, Cuda>, View<const S, 3, Cuda>, \
      const SelectiveScanCotangent<T, S, Cuda>&);
STRUCTMAT_INSTANTIATE(float, float)
STRUCTMAT_INSTANTIATE(float, std::complex<float>)
STRUCTMAT_INSTANTIATE(bf16, float)
STRUCTMAT_INSTANTIATE(bf16, std::complex<float>)

}  // namespace structmat::nn
