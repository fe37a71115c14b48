/// \file
/// Quasiseparable matrices for benchmarks, and what errors are measured with.
#pragma once

#include <algorithm>
#include <cmath>

#include "bench/measure.hpp"
#include "structmat/core/device.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::bench {

/// Entries and transitions that neither decay at once nor grow.
template <class T, class K>
Quasiseparable<T, K, space::cuda> random_matrix(index_t n, index_t r, index_t batch,
                                                unsigned seed) {
  Quasiseparable<T, K, space::cuda> m;
  m.p = random<T, 3>({batch, n, r}, seed), m.q = random<T, 3>({batch, n, r}, seed + 1);
  m.g = random<T, 3>({batch, n, r}, seed + 2), m.h = random<T, 3>({batch, n, r}, seed + 3);
  m.d = random<T, 2>({batch, n}, seed + 4);
  const auto transitions = [&](unsigned own) {
    auto flat = random<T, 1>({batch * n * (K::rank == 4 ? r * r : K::rank == 3 ? r : 1)}, own);
    Array<T, K::rank, space::cuda> a(transition::extents<K>(batch, n, r), uninitialized);
    // Dense: norms about 0.8, as (-1/2, 1/2) would grow from order 12 on.
    auto there = to_host(flat);
    const T scale = K::rank == 4 ? T(2 / std::sqrt(static_cast<double>(r))) : T(1.9);
    for (T& v : there) v *= scale;
    structmat::detail::copy_host_to_device(a.data(), there.data(), there.size() * sizeof(T));
    return a;
  };
  m.a = transitions(seed + 5), m.b = transitions(seed + 6);
  return m;
}

/// A copy on the host, in double.
template <class T, int Rank>
Array<double, Rank> in_double(const Array<T, Rank, space::cuda>& array) {
  const auto here = to_host(array);
  Array<double, Rank> wide(here.extents(), uninitialized);
  std::copy(here.begin(), here.end(), wide.begin());
  return wide;
}
template <class T, class K>
Quasiseparable<double, K> in_double(const Quasiseparable<T, K, space::cuda>& m) {
  Quasiseparable<double, K> wide;
  wide.p = in_double(m.p), wide.q = in_double(m.q), wide.a = in_double(m.a);
  wide.d = in_double(m.d);
  wide.g = in_double(m.g), wide.h = in_double(m.h), wide.b = in_double(m.b);
  return wide;
}

/// The largest error, relative to the largest number.
template <class A>
double largest_error(const A& got, const A& expected) {
  double worst = 0, largest = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(got.data()[i] - expected.data()[i]);
    if (!(error <= worst)) worst = error;  // NaN stays
    largest = std::max(largest, std::fabs(expected.data()[i]));
  }
  return worst / largest;
}

}  // namespace structmat::bench
