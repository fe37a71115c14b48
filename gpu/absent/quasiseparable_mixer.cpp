#include "structmat/nn/quasiseparable_mixer.hpp"

#include "absent.hpp"

namespace structmat::nn {

using Cuda = space::cuda;

template <Storage T>
index_t apply_workspace_bytes(const QuasiseparableMixerView<T, Cuda>&, View<const T, 4, Cuda>) {
  absent("nn::quasiseparable_mixer::apply_workspace_bytes");
}

template <Storage T>
void apply(const exec::cuda&, const QuasiseparableMixerView<T, Cuda>&, View<const T, 4, Cuda>,
           View<T, 4, Cuda>) {
  absent("nn::quasiseparable_mixer::apply");
}

#define STRUCTMAT_INSTANTIATE(T)                                                   \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T>(                      \
      const QuasiseparableMixerView<T, Cuda>&, View<const T, 4, Cuda>);            \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cuda&,                       \
                                          const QuasiseparableMixerView<T, Cuda>&, \
                                          View<const T, 4, Cuda>, View<T, 4, Cuda>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
