/// \file
/// Householder QR and one-sided Jacobi of one small matrix by one block. Matrices are stored by columns,
/// in shared or in global memory; the block has a multiple of 32 threads.
#pragma once

#include <limits>

#include "core/reduce.cuh"

namespace structmat::gpu {

/// sum conj(x_i) y_i over the lanes of a warp, first <= i < last, in every lane.
template <class T>
__device__ T warp_dot(const T* x, const T* y, int first, int last) {
  T sum{};
  for (int i = first + static_cast<int>(threadIdx.x) % 32; i < last; i += 32) {
    sum = multiply_add(conjugate(x[i]), y[i], sum);
  }
  return warp_sum(sum);
}

/// 1 / sqrt(a), a > 0, accurate to a unit or two in the last place.
__device__ inline float inverse_root(float a) {
  return 1 / sqrtf(a);
}
__device__ inline double inverse_root(double a) {
  return rsqrt(a);
}
/// a / |a|, and 1 where the square of a underflows; squares = |a|^2.
template <class T>
__device__ T unit(T a, real_of_t<T> squares) {
  if constexpr (is_complex<T>) {
    return squares > std::numeric_limits<real_of_t<T>>::min() ? a * inverse_root(squares) : T(1);
  } else {
    return a < 0 ? T(-1) : T(1);
  }
}
/// |a|, and 0 where the square of a complex a underflows.
template <class T>
__device__ real_of_t<T> modulus(T a, real_of_t<T> squares) {
  if constexpr (is_complex<T>) {
    return squares > std::numeric_limits<real_of_t<T>>::min() ? squares * inverse_root(squares)
                                                              : real_of_t<T>(0);
  } else {
    return fabs(a);
  }
}

/// Turns x into the w, |w|^2 = 2, with which (I - w w^H) x is a multiple of e_first; returns that
/// multiple. w = 0 where the squares of x underflow: entries are expected at a scale about 1. One warp.
template <class T>
__device__ T warp_reflector(T* x, int first, int last) {
  using R = real_of_t<T>;
  constexpr R tiny = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  R squares = 0;
  for (int i = first + lane; i < last; i += 32) squares += square(x[i]);
  squares = warp_sum(squares);
  const T head = x[first];
  __syncwarp();
  if (!(squares >= tiny)) {
    for (int i = first + lane; i < last; i += 32) x[i] = T(0);
    __syncwarp();
    return head;
  }
  // Inverse roots: divisions and roots in double would take most of the time of a step.
  const R norm = squares * inverse_root(squares), head_squares = square(head);
  const T phase = unit(head, head_squares);
  const R scale = inverse_root(norm * (norm + modulus(head, head_squares)));
  for (int i = first + lane; i < last; i += 32) {
    x[i] = (i == first ? head + phase * norm : x[i]) * scale;
  }
  __syncwarp();
  return -(phase * norm);
}

/// x := (I - w w^H) x. One warp.
template <class T>
__device__ void warp_reflect(const T* w, T* x, int first, int last) {
  const T dot = -warp_dot(w, x, first, last);
  for (int i = first + static_cast<int>(threadIdx.x) % 32; i < last; i += 32) {
    x[i] = multiply_add(dot, w[i], x[i]);
  }
  __syncwarp();
}

/// A = Q R for m x n A: on return R is above the diagonal of a and in `diagonal` (min(m, n) numbers),
/// the reflectors w below and on it. After the first `steps` of them it stops; `steps` <= min(m, n).
template <class T>
__device__ void block_qr(T* a, index_t lda, int m, int n, int steps, T* diagonal) {
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  if (warp == 0 && steps > 0) {
    const T r = warp_reflector(a, 0, m);
    if (threadIdx.x == 0) diagonal[0] = r;
  }
  __syncthreads();
  for (int j = 0; j < steps; ++j) {
    const T* w = a + j * lda;
    // Warp 0 has the next column, and its reflector, ready by the time the others are done.
    for (int k = j + 1 + warp; k < n; k += warps) {
      warp_reflect(w, a + k * lda, j, m);
      if (k == j + 1 && k < steps) {
        const T r = warp_reflector(a + k * lda, k, m);
        if (threadIdx.x == 0) diagonal[k] = r;
      }
    }
    __syncthreads();
  }
}

/// The first n columns of Q in the place of the reflectors of block_qr, m >= n.
template <class T>
__device__ void block_form_q(T* a, index_t lda, int m, int n) {
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32,
            lane = static_cast<int>(threadIdx.x) % 32;
  for (int j = n - 1; j >= 0; --j) {
    T* const w = a + j * lda;
    for (int k = j + 1 + warp; k < n; k += warps) {
      T* const x = a + k * lda;
      // Row j of the later columns still holds R, and counts as zero.
      const T dot = -warp_dot(w, x, j + 1, m);
      for (int i = j + lane; i < m; i += 32) x[i] = multiply_add(dot, w[i], i == j ? T(0) : x[i]);
      __syncwarp();
    }
    __syncthreads();
    if (warp == 0) {
      const T factor = -conjugate(w[j]);
      __syncwarp();
      for (int i = lane; i < m; i += 32) {
        w[i] = i < j ? T(0) : multiply_add(w[i], factor, T(i == j ? 1 : 0));
      }
    }
    __syncthreads();
  }
}

/// The sum over groups of `Lanes` lanes, in every lane of a group. All 32 lanes take part.
template <int Lanes, class T>
__device__ T group_sum(T value) {
#pragma unroll
  for (int offset = Lanes / 2; offset > 0; offset /= 2) {
    value += shuffle_xor(0xffffffffu, value, offset);
  }
  return value;
}

/// Columns x and y of m numbers become orthogonal by a rotation, which `below` more numbers behind them
/// take part in; did they need it? Not where the square of one is below `floor`. A pair for every `Lanes`
/// lanes of a warp, or none for those that are not `active`.
template <int Lanes, class T>
__device__ bool rotate_pairs(T* x, T* y, int m, int below, real_of_t<T> floor, bool active) {
  using R = real_of_t<T>;
  constexpr R eps = std::numeric_limits<R>::epsilon();
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  R xx = 0, yy = 0;
  T xy{};
  for (int i = lane; active && i < m; i += Lanes) {
    const T u = x[i], v = y[i];
    xx += square(u), yy += square(v);
    xy = multiply_add(conjugate(u), v, xy);
  }
  xx = group_sum<Lanes>(xx), yy = group_sum<Lanes>(yy);
  const bool large = xx > floor && yy > floor;
  // A whole warp knows together that it is done.
  if (Lanes == 32 && !large) return false;
  xy = group_sum<Lanes>(xy);
  const R squares = square(xy);
  const bool needed =
      large && squares > eps * eps * R(m) * xx * yy && squares > std::numeric_limits<R>::min();
  if (needed) {
    const R size = modulus(xy, squares);
    // The tangent need not be exact, only c and s must belong to each other: single precision costs at
    // most one more rotation.
    const float zeta = static_cast<float>(yy - xx) / static_cast<float>(2 * size);
    const float distance = fabsf(zeta);
    const float tangent =
        distance > 1e8f ? 0.5f / distance : 1 / (distance + sqrtf(1 + distance * distance));
    const R t = zeta >= 0 ? tangent : -tangent;
    const R c = inverse_root(1 + t * t), s = c * t;
    const T phase = unit(xy, squares);
    for (int i = lane; i < m + below; i += Lanes) {
      const T u = x[i], v = y[i] * conjugate(phase);
      x[i] = u * c - v * s;
      y[i] = u * s + v * c;
    }
  }
  __syncwarp();
  return needed;
}

/// A J = U diag(sigma) for m x n A, m >= n, by rotations J: on return the columns of a are orthogonal,
/// in no order, but for those below eps ||A||_F. Its singular values are then norms of columns, which
/// block_sort puts in order. `below` more rows of a are multiplied by J. A pair of columns has `Lanes`
/// lanes: few for short columns. Entries are expected at a scale about 1. Source: Hestenes (1958); de
/// Rijk, SIAM J. Sci. Stat. Comput. 10 (1989) for the accuracy.
template <int Lanes = 32, class T>
__device__ void block_jacobi(T* a, index_t lda, int m, int n, int below = 0) {
  constexpr int pairs_per_warp = 32 / Lanes;
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32,
            own = static_cast<int>(threadIdx.x) % 32 / Lanes;
  constexpr int most_sweeps = 30;
  constexpr real_of_t<T> eps = std::numeric_limits<real_of_t<T>>::epsilon();
  real_of_t<T> squares = 0;
  for (int k = 0; k < n; ++k) {
    for (int i = static_cast<int>(threadIdx.x) % 32; i < m; i += 32) {
      squares += square(a[k * lda + i]);
    }
  }
  const real_of_t<T> floor = eps * eps * warp_sum(squares);
  // Everybody has read a.
  __syncthreads();
  const int players = n + n % 2, others = players - 1;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = false;
    for (int round = 0; round < others; ++round) {
      // A tournament: everybody meets everybody once a sweep; player `others` stays at its place, and is
      // nobody when n is odd.
      for (int first = warp * pairs_per_warp + n % 2; first < players / 2;
           first += warps * pairs_per_warp) {
        const int p = first + own;
        const bool active = p < players / 2;
        int x = p == 0 ? others : (round + p) % others, y = (round - p + others) % others;
        if (!active) x = y = 0;
        if (x > y) {
          const int exchanged = x;
          x = y, y = exchanged;
        }
        rotated |= rotate_pairs<Lanes>(a + x * lda, a + y * lda, m, below, floor, active);
      }
      __syncthreads();
    }
    if (__syncthreads_or(rotated) == 0) return;
  }
}

/// Bytes of n norms and places, in whole vectors, by which compilers read them.
template <class R>
constexpr index_t sort_bytes(index_t n) {
  return (n * static_cast<index_t>(sizeof(R) + sizeof(int)) + 15) / 16 * 16;
}

/// Norms of the columns of a, and the place of each when they are in descending order. norms: n, and
/// places: n, behind them in memory that the block shares, sort_bytes in all.
template <class T>
__device__ void block_sort(const T* a, index_t lda, int m, int n, real_of_t<T>* norms,
                           int* places) {
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  for (int k = warp; k < n; k += warps) {
    real_of_t<T> squares = 0;
    for (int i = static_cast<int>(threadIdx.x) % 32; i < m; i += 32) {
      squares += square(a[k * lda + i]);
    }
    squares = warp_sum(squares);
    if (threadIdx.x % 32 == 0) norms[k] = sqrt(squares);
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < n; k += static_cast<int>(blockDim.x)) {
    int place = 0;
    for (int l = 0; l < n; ++l) place += norms[l] > norms[k] || (norms[l] == norms[k] && l < k);
    places[k] = place;
  }
  __syncthreads();
}

}  // namespace structmat::gpu
