/// \file
/// What operations on factors ask of their operands on the device.
#pragma once

#include <string>

#include "core/strided.cuh"
#include "core/workspace.cuh"
#include "quasiseparable/lane_columns.cuh"
#include "structmat/quasiseparable/ldl.hpp"
#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable::device {

/// p, q, a, d over the batch of m or `batch`; the upper triangle is not looked at.
template <Scalar T, transition::Uniform K>
QuasiseparableView<T, K, space::cuda> checked_lower(const QuasiseparableView<T, K, space::cuda>& m,
                                                    const char* operation, index_t batch = 1) {
  recurrence::Shape shape(operation, batch, m.size());
  const index_t r = m.order().lower;
  shape.require("d", m.d, 0);
  shape.require("p", m.p, r);
  shape.require("q", m.q, r);
  shape.require("a", m.a, r);
  const index_t all = shape.batch();
  return {m.p.broadcast(0, all), m.q.broadcast(0, all), m.a.broadcast(0, all),
          m.d.broadcast(0, all)};
}

inline void require_order(const char* operation, index_t order) {
  if (order > most_states) {
    throw Unsupported(std::string(operation) + ": order " + std::to_string(order) + ", at most " +
                      std::to_string(most_states) + " on a device");
  }
}

/// a as (batch, n, r, r): element (b, i, k, l) for dense transitions; (b, i, k, any) = a_k otherwise.
template <class K, class T>
gpu::Strided<gpu::device_scalar_t<const T>, 4> transitions(
    const View<const T, K::rank, space::cuda>& a) {
  const auto strides = gpu::strided(a);
  gpu::Strided<gpu::device_scalar_t<const T>, 4> all{strides.data, {}};
  for (int d = 0; d < K::rank; ++d) all.stride[d] = strides.stride[d];
  return all;
}

/// visit.operator()<R>() with the layout of lane_columns.cuh for an order.
template <class Visit>
void with_layout(index_t order, const Visit& visit) {
  if (order == 0 || order > 8) {
    visit.template operator()<0>();
  } else if (order > 4) {
    visit.template operator()<8>();
  } else {
    visit.template operator()<4>();
  }
}

/// A grid of groups, each with `elements` of T in shared memory.
template <class T, int R>
gpu::Grid grid_of_groups(index_t work, index_t elements, int processors) {
  return {gpu::persistent_blocks(work, Group<R>::in_block, processors), Group<R>::block,
          static_cast<std::size_t>(elements * Group<R>::in_block) * sizeof(T)};
}

}  // namespace structmat::quasiseparable::device
