// Dense transitions: each row multiplies the r x W states by an r x r matrix.

#include <algorithm>

#include "recurrence/sweep.hpp"

#include "core/instantiate.hpp"

namespace structmat::recurrence {
namespace {

using simd::Lanes;

/// next := a s + in x for W right-hand sides, four states at a time.
template <class T, int W>
STRUCTMAT_INLINE void advance(const View<const T, 2>& a, const T* in, const Lanes<T, W>& x,
                              const real_t<T>* s, real_t<T>* next) {
  using L = Lanes<T, W>;
  const index_t r = a.extent(0), row = a.stride(0), column = a.stride(1);
  index_t l = 0;
  for (; l + 4 <= r; l += 4) {
    const T* at = a.data() + l * row;
    L sum[4];
    for (int u = 0; u < 4; ++u) sum[u] = L::zero().plus(in[l + u], x);
    for (index_t m = 0; m < r; ++m, at += column) {
      const L sm = L::load(s + m * L::reals);
      for (int u = 0; u < 4; ++u) sum[u] = sum[u].plus(at[u * row], sm);
    }
    for (int u = 0; u < 4; ++u) sum[u].store(next + (l + u) * L::reals);
  }
  for (; l < r; ++l) {
    const T* at = a.data() + l * row;
    L sum = L::zero().plus(in[l], x);
    for (index_t m = 0; m < r; ++m, at += column) sum = sum.plus(*at, L::load(s + m * L::reals));
    sum.store(next + l * L::reals);
  }
}

/// One real right-hand side: the lanes run along the contiguous dimension of a.
template <RealScalar T>
STRUCTMAT_INLINE void advance_one(const View<const T, 2>& a, const T* in, T x, const T* s,
                                  T* next) {
  const index_t r = a.extent(0);
  if (a.stride(1) == 1) {
    for (index_t l = 0; l < r; ++l) {
      const T* row = a.data() + l * a.stride(0);
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (index_t m = 0; m < r; ++m) sum += row[m] * s[m];
      next[l] = in[l] * x + sum;
    }
  } else {
    for (index_t l = 0; l < r; ++l) next[l] = in[l] * x;
    for (index_t m = 0; m < r; ++m) {
      const T *column = a.data() + m * a.stride(1), sm = s[m];
#pragma omp simd
      for (index_t l = 0; l < r; ++l) next[l] += column[l * a.stride(0)] * sm;
    }
  }
}

template <class T, int W, Emit E>
STRUCTMAT_INLINE void run(const Recurrence<T, transition::Dense>& r, bool fresh, Rows<T> rows,
                          real_t<T>* state, real_t<T>* spare) {
  using L = Lanes<T, W>;
  const index_t order = r.order(), reals = order * L::reals;
  real_t<T>*s = state, *next = spare;

  const auto emit = [&](const T* out) STRUCTMAT_ALWAYS {
    if constexpr (W == 1 && RealScalar<T>) {
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (index_t l = 0; l < order; ++l) sum += out[l] * s[l];
      *rows.y += sum;
    } else {
      L sum = L::load(rows.y);
      for (index_t l = 0; l < order; ++l) sum = sum.plus(out[l], L::load(s + l * L::reals));
      sum.store(rows.y);
    }
  };

  for (index_t i = 0; i < r.size(); ++i) {
    const T *out = r.out.data() + i * r.out.stride(0), *in = r.in.data() + i * r.in.stride(0);
    const bool first = i == 0 && fresh;
    if (E == Emit::before && !first) emit(out);
    if (first) {
      const L x = L::load(rows.x);
      for (index_t l = 0; l < order; ++l) L::zero().plus(in[l], x).store(next + l * L::reals);
    } else if constexpr (W == 1 && RealScalar<T>) {
      advance_one(r.transition.select(0, i), in, *rows.x, s, next);
    } else {
      advance<T, W>(r.transition.select(0, i), in, L::load(rows.x), s, next);
    }
    std::swap(s, next);
    if constexpr (E == Emit::after) emit(out);
    rows.x += rows.x_step;
    rows.y += rows.y_step;
  }
  if (s != state) std::copy_n(s, reals, state);
}

template <class T, int W>
STRUCTMAT_CLONES void sweep_dense(const Recurrence<T, transition::Dense>& r, bool fresh,
                                  const Rows<T>& rows, real_t<T>* state, real_t<T>* spare) {
  if (r.emit == Emit::before) {
    run<T, W, Emit::before>(r, fresh, rows, state, spare);
  } else {
    run<T, W, Emit::after>(r, fresh, rows, state, spare);
  }
}

}  // namespace

template <Scalar T, transition::Uniform K, int W>
void sweep(const Recurrence<T, K>& r, bool fresh, const Rows<T>& rows, real_t<T>* state,
           real_t<T>* spare) {
  sweep_dense<T, W>(r, fresh, rows, state, spare);
}

#define STRUCTMAT_INSTANTIATE(T, W)                                                           \
  template void sweep<T, transition::Dense, W>(const Recurrence<T, transition::Dense>&, bool, \
                                               const Rows<T>&, real_t<T>*, real_t<T>*);
#define STRUCTMAT_INSTANTIATE_WIDTHS(T) \
  STRUCTMAT_INSTANTIATE(T, 1)           \
  STRUCTMAT_INSTANTIATE(T, 4)           \
  STRUCTMAT_INSTANTIATE(T, tile_width<T>)

STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_WIDTHS)

}  // namespace structmat::recurrence
