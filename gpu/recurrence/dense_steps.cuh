/// \file
/// Dense transitions as steps of one row.
#pragma once

#include "recurrence/steps_kernel.cuh"

namespace structmat::gpu::recurrence {

template <class T>
struct DenseSteps {
  Triangles<T> m;

  __device__ Step<T> step(int side, index_t b, index_t t) const {
    const Triangle<T>& triangle = m.part[side];
    const auto row = [&](const Strided<const T, 3>& v) {
      return Strided<const T, 2>{v.data + b * v.stride[0] + t * v.stride[1], {0, v.stride[2]}};
    };
    const auto& a = triangle.transition;
    return {t,
            triangle.states,
            triangle.states,
            m.row(side, t),
            1,
            row(triangle.out),
            row(triangle.in),
            {a.data + b * a.stride[0] + t * a.stride[1], {a.stride[2], a.stride[3]}},
            t == 0};
  }
  __device__ T base(bool first, index_t b, const Step<T>& step, index_t, index_t column) const {
    return m.base(first, b, step.first_row, column);
  }
};

}  // namespace structmat::gpu::recurrence
