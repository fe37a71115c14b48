#include "vandermonde/direct.hpp"

#include <algorithm>

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "structmat/core/array.hpp"

namespace structmat::vandermonde {

namespace {

/// Lanes that fill one vector of 64 bytes (two, where numbers are complex).
template <Scalar T>
constexpr int width = 64 / sizeof(real_t<T>);

template <Scalar T>
STRUCTMAT_INLINE void set_lane(real_t<T>* lanes, int lane, const T& v) {
  if constexpr (is_complex_v<T>) {
    lanes[lane] = v.real();
    lanes[width<T> + lane] = v.imag();
  } else {
    lanes[lane] = v;
  }
}
template <Scalar T>
STRUCTMAT_INLINE T get_lane(const real_t<T>* lanes, int lane) {
  if constexpr (is_complex_v<T>) {
    return {lanes[lane], lanes[width<T> + lane]};
  } else {
    return lanes[lane];
  }
}

/// V vectors of nodes from lane order; as many values.
template <Scalar T, int V>
STRUCTMAT_INLINE void horner(const real_t<T>* x, const T* c, index_t n, real_t<T>* y) {
  using L = simd::Lanes<T, width<T>>;
  L node[V], sum[V];
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v) {
    node[v] = L::load(x + v * L::reals);
    sum[v] = L::fill(c[n - 1]);
  }
  for (index_t j = n - 2; j >= 0; --j) {
    const L add = L::fill(c[j]);
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[v] = plus_product(add, sum[v], node[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v) sum[v].store(y + v * L::reals);
}

/// rows[j] += the sum of V vectors of v x^j, which are left at v x^count.
template <Scalar T, int V>
STRUCTMAT_INLINE void running(const real_t<T>* x, real_t<T>* values, index_t count,
                              real_t<T>* rows) {
  using L = simd::Lanes<T, width<T>>;
  L node[V], value[V];
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v) {
    node[v] = L::load(x + v * L::reals);
    value[v] = L::load(values + v * L::reals);
  }
  for (index_t j = 0; j < count; ++j) {
    L sum = L::load(rows + j * L::reals);
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum = add(sum, value[v]);
    sum.store(rows + j * L::reals);
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) value[v] = plus_product(L::zero(), value[v], node[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v) value[v].store(values + v * L::reals);
}

/// Independent sums that hide the latency of a multiplication.
template <Scalar T>
constexpr int tile = is_complex_v<T> ? 4 : 8;

/// `vectors` vectors of nodes in lane order.
template <Scalar T>
STRUCTMAT_CLONES void evaluate_lanes(const real_t<T>* x, index_t vectors, const T* c, index_t n,
                                     real_t<T>* y) {
  constexpr int step = simd::Lanes<T, width<T>>::reals;
  index_t v = 0;
  for (; v + tile<T> <= vectors; v += tile<T>) horner<T, tile<T>>(x + v * step, c, n, y + v * step);
  for (; v < vectors; ++v) horner<T, 1>(x + v * step, c, n, y + v * step);
}

template <Scalar T>
STRUCTMAT_CLONES void sum_lanes_of_powers(const real_t<T>* x, real_t<T>* values, index_t vectors,
                                          index_t count, real_t<T>* rows, T* c) {
  using L = simd::Lanes<T, width<T>>;
  std::fill_n(rows, count * L::reals, real_t<T>{});
  index_t v = 0;
  for (; v + 4 <= vectors; v += 4) {
    running<T, 4>(x + v * L::reals, values + v * L::reals, count, rows);
  }
  for (; v < vectors; ++v) running<T, 1>(x + v * L::reals, values + v * L::reals, count, rows);
  for (index_t j = 0; j < count; ++j) c[j] = sum_lanes(L::load(rows + j * L::reals));
}

/// Values in lane order; a last vector is filled up with zeros.
template <Scalar T>
Array<real_t<T>, 1> to_lanes(const T* from, index_t count) {
  constexpr index_t w = width<T>;
  constexpr int step = simd::Lanes<T, width<T>>::reals;
  Array<real_t<T>, 1> lanes({(count + w - 1) / w * step});
  for (index_t i = 0; i < count; ++i) {
    set_lane<T>(lanes.data() + i / w * step, static_cast<int>(i % w), from[i]);
  }
  return lanes;
}

}  // namespace

template <Scalar T>
void evaluate(const T* x, index_t m, const T* c, index_t n, T* y) {
  if (n == 0) {
    std::fill_n(y, m, T{});
    return;
  }
  if (m == 0) return;
  constexpr int w = width<T>;
  constexpr int step = simd::Lanes<T, w>::reals;
  const auto nodes = to_lanes(x, m);
  Array<real_t<T>, 1> values(nodes.extents(), uninitialized);
  evaluate_lanes<T>(nodes.data(), nodes.size() / step, c, n, values.data());
  for (index_t i = 0; i < m; ++i) {
    y[i] = get_lane<T>(values.data() + i / w * step, static_cast<int>(i % w));
  }
}

template <Scalar T>
void power_sums(const T* x, index_t m, const T* f, index_t n, T* c) {
  // The sums of so many powers stay in the first-level cache while nodes stream by.
  constexpr index_t block = 128;
  constexpr int step = simd::Lanes<T, width<T>>::reals;
  const auto nodes = to_lanes(x, m);
  auto values = to_lanes(f, m);
  Array<real_t<T>, 1> rows({block * step}, uninitialized);
  for (index_t j = 0; j < n; j += block) {
    sum_lanes_of_powers<T>(nodes.data(), values.data(), nodes.size() / step, std::min(block, n - j),
                           rows.data(), c + j);
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define STRUCTMAT_INSTANTIATE(T)                                       \
  template void evaluate<T>(const T*, index_t, const T*, index_t, T*); \
  template void power_sums<T>(const T*, index_t, const T*, index_t, T*);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace structmat::vandermonde
