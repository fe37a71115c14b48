#include "verify/compressions.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "structmat/dense/blas.hpp"
#include "verify/compression_lanes.hpp"

namespace structmat::verify {
namespace {

/// Numbers of each lane between those of the other lanes.
template <Scalar T>
void put(real_t<T>* lanes, index_t lane, index_t element, const T& v) {
  constexpr index_t width = lane_count<T>;
  real_t<T>* at = lanes + element * lane_reals<T> + lane;
  at[0] = std::real(v);
  if constexpr (is_complex_v<T>) at[width] = std::imag(v);
}

/// lane_count segments, beginning with `first`, go through their rows together.
template <Scalar T>
void bound_segments(const Compressions<T>& c, index_t order, index_t first,
                    std::vector<double>& results) {
  using R = real_t<T>;
  constexpr index_t width = lane_count<T>, reals = lane_reals<T>;
  const index_t n = c.size(), s = c.probes();
  const index_t used = std::min(width, Compressions<T>::segments(n) - first);

  Array<R, 1> m({s * s * reals}), work({s * (order + 1) * reals}, uninitialized);
  Array<R, 1> rows({4 * s * reals}), squares({width});
  for (index_t lane = 0; lane < used; ++lane) {
    for (index_t j = 0; j < s; ++j) {
      for (index_t i = 0; i < s; ++i) put(m.data(), lane, j * s + i, c.starts(first + lane, i, j));
    }
  }
  R* const part[] = {rows.data(), rows.data() + s * reals, rows.data() + 2 * s * reals,
                     rows.data() + 3 * s * reals};
  for (index_t t = 0; t < Compressions<T>::segment; ++t) {
    for (index_t lane = 0; lane < used; ++lane) {
      const index_t row = (first + lane) * Compressions<T>::segment + t;
      if (row >= n) continue;  // rows of the last step again: its results are not asked for
      for (index_t j = 0; j < s; ++j) {
        put(part[0], lane, j, c.g2(row, j));
        put(part[1], lane, j, c.x1(row, j));
        put(part[2], lane, j, c.x2(row, j));
        put(part[3], lane, j, c.g1(row, j));
      }
    }
    advance_lanes<T>(s, {part[0], part[1], part[2], part[3]}, m.data());
    trailing_squares<T>(s, order, m.data(), work.data(), squares.data());
    for (index_t lane = 0; lane < used; ++lane) {
      const index_t k = (first + lane) * Compressions<T>::segment + t + 1;
      if (k < n) results[k] = std::sqrt(double(squares(lane)));
    }
  }
}

}  // namespace

template <Scalar T>
void fill_starts(Compressions<T>& c, index_t given) {
  const index_t n = c.size();
  for (index_t i = 1; i <= Compressions<T>::segments(n); ++i) {
    if (i % given == 0 && i < Compressions<T>::segments(n)) continue;
    const index_t begin = (i - 1) * Compressions<T>::segment,
                  end = std::min(n, begin + Compressions<T>::segment);
    const auto rows = [&](const View<const T, 2>& v) { return v.slice(0, begin, end); };
    copy(c.start(i - 1), c.start(i));
    dense::gemm<T>(Op::adjoint, Op::none, T{-1}, rows(c.g2), rows(c.x1), T{1}, c.start(i));
    dense::gemm<T>(Op::adjoint, Op::none, T{1}, rows(c.x2), rows(c.g1), T{1}, c.start(i));
  }
}

template <Scalar T>
Array<T, 2> compression(const Compressions<T>& c, index_t k) {
  const index_t s = c.probes(), i = k / Compressions<T>::segment;
  Array<T, 2> m = to_array(c.starts.view().select(0, i));
  for (index_t row = i * Compressions<T>::segment; row < k; ++row) {
    for (index_t a = 0; a < s; ++a) {
      const T left = conjugate(c.g2(row, a)), right = conjugate(c.x2(row, a));
      for (index_t b = 0; b < s; ++b) m(a, b) += right * c.g1(row, b) - left * c.x1(row, b);
    }
  }
  return m;
}

template <Scalar T>
std::vector<double> bounds(const Compressions<T>& c, index_t order, int threads) {
  std::vector<double> results(c.size());
  constexpr index_t width = lane_count<T>;
  const index_t groups = (Compressions<T>::segments(c.size()) + width - 1) / width;
  parallel_for(thread_count(threads), groups,
               [&](index_t g) { bound_segments(c, order, g * width, results); });
  return results;
}

#define STRUCTMAT_INSTANTIATE(T)                                        \
  template void fill_starts<T>(Compressions<T>&, index_t);              \
  template Array<T, 2> compression<T>(const Compressions<T>&, index_t); \
  template std::vector<double> bounds<T>(const Compressions<T>&, index_t, int);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
