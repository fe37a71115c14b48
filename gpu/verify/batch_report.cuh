/// \file
/// From the singular values of a step to what was found of each triangle.
#pragma once

#include "verify/batch_sweep.cuh"

namespace structmat::verify::batch {

/// A warp for each unit takes the values of the step into its report.
template <class T>
__global__ void __launch_bounds__(32)
    count_values(const __grid_constant__ Sweep<T> p, const __grid_constant__ Step step) {
  const int lane = static_cast<int>(threadIdx.x), columns = p.columns();
  for (index_t unit = blockIdx.x; unit < p.units(); unit += gridDim.x) {
    if (!p.takes(unit, step.number)) continue;
    const int asked = p.asked[unit % 2];
    const double norm = p.inspected[unit / 2].norm;
    const int state = p.state[step.number % 2][unit];
    // Lane t has the block of k = begin + t.
    const index_t k = step.begin + lane, own_columns = k + p.extra;
    const bool real = lane < step.size && own_columns > 0;
    const index_t shorter = p.n - k < own_columns ? p.n - k : own_columns;
    const int used = state + lane + p.extra;
    const int number = real ? static_cast<int>(shorter < used ? shorter : used) : 0;
    const real_of_t<T>* const sigma =
        p.sigma + (unit * step.size + (lane < step.size ? lane : 0)) * columns;
    const auto relative = [&](int l) {
      return l < number && norm > 0 ? static_cast<double>(sigma[l]) / norm : 0.0;
    };
    int rank = 0;
    while (rank < number && relative(rank) > p.tolerance) ++rank;
    if (real) p.profile[unit * p.n + k - 1 + p.extra] = rank;

    Found found = p.found[unit];
    const double kept = rank > 0 ? relative(rank - 1) : static_cast<double>(INFINITY);
    found.smallest_kept = min(found.smallest_kept, -gpu::warp_max(-kept));
    found.largest_dropped = max(found.largest_dropped, gpu::warp_max(relative(rank)));
    const double beyond = asked >= 0 ? relative(asked) : 0;
    int worst = -1;
    for (int t = 0; t < step.size; ++t) {
      const int rank_t = __shfl_sync(0xffffffffu, rank, t);
      const double beyond_t = __shfl_sync(0xffffffffu, beyond, t);
      const long long shorter_t = __shfl_sync(0xffffffffu, static_cast<long long>(shorter), t);
      if (!__shfl_sync(0xffffffffu, static_cast<int>(real), t)) continue;
      const bool worse = found.worst < 0 ||
                         (asked >= 0 ? beyond_t > found.excess
                                     : rank_t > found.order || (rank_t == found.order &&
                                                                shorter_t > found.worst_shorter));
      if (worse) worst = t, found.worst = step.begin + t, found.worst_shorter = shorter_t;
      found.excess = max(found.excess, beyond_t);
      found.order = max(found.order, rank_t);
    }
    if (worst >= 0) {
      found.worst_number = __shfl_sync(0xffffffffu, number, worst);
      for (int l = lane; l < found.worst_number; l += 32) {
        const double value = static_cast<double>(p.sigma[(unit * step.size + worst) * columns + l]);
        p.worst_values[unit * columns + l] = norm > 0 ? value / norm : 0;
      }
    }
    found.entries = static_cast<int>(step.begin) + step.size - 1 + p.extra;
    __syncwarp();
    if (lane == 0) {
      p.found[unit] = found;
      if (p.stops && asked >= 0 && found.order > asked) {
        atomicMin(&p.stopped[unit / 2], step.number);
      }
    }
  }
}

}  // namespace structmat::verify::batch
