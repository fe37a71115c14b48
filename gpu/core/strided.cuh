/// \file
/// Views as kernels take them: a pointer and strides.
#pragma once

#include "core/complex.cuh"
#include "structmat/core/view.hpp"

namespace structmat::gpu {

/// Elements (i_0, ..., i_{Rank-1}) of a view, any strides.
template <class T, int Rank>
struct Strided {
  T* data = nullptr;
  index_t stride[Rank] = {};

  template <class... I>
  __host__ __device__ T& operator()(I... i) const {
    static_assert(sizeof...(I) == Rank);
    const index_t at[] = {static_cast<index_t>(i)...};
    index_t offset = 0;
#pragma unroll
    for (int d = 0; d < Rank; ++d) offset += at[d] * stride[d];
    return data[offset];
  }
};

/// The view's elements; a dimension of extent 1 is broadcast (stride 0).
template <class T, int Rank>
Strided<device_scalar_t<T>, Rank> strided(const View<T, Rank, space::cuda>& view) {
  Strided<device_scalar_t<T>, Rank> s{device_pointer(view.data()), {}};
  for (int d = 0; d < Rank; ++d) s.stride[d] = view.extent(d) == 1 ? 0 : view.stride(d);
  return s;
}

}  // namespace structmat::gpu
