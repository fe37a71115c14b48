/// \file
/// Householder reflections of a matrix that a team of threads has in shared memory (or in a piece of
/// global memory of its own), and what is made of them: R factors and bidiagonal forms.
///
/// All of a reflection is one loop: a few lanes of a warp take a vector, sum its product with the
/// reflection's own vector and subtract. Every group of lanes makes that vector for itself, from
/// memory that nobody writes meanwhile, so a reflection needs one barrier in front of it and no other.
#pragma once

#include "core/reduce.cuh"

namespace structmat::gpu {

/// Threads that share a matrix: a warp, or a block of `Threads` threads.
template <int Threads>
struct Team {
  static_assert(Threads % 32 == 0);
  static constexpr int warps = Threads / 32;

  static __device__ int thread() { return static_cast<int>(threadIdx.x) % Threads; }
  static __device__ int warp() { return thread() / 32; }
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ void sync() {
    if constexpr (Threads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
  /// The largest value of all threads. `scratch`: `warps` numbers, free again after the next sync.
  template <class R>
  static __device__ R max(R value, R* scratch) {
    value = warp_max(value);
    if constexpr (warps > 1) {
      if (lane() == 0) scratch[warp()] = value;
      sync();
      value = scratch[lane() % warps];
      value = warp_max(value);
    }
    return value;
  }
};

/// A matrix by columns.
template <class T>
struct Tile {
  T* data;
  int step;  ///< between columns; odd, so that rows and columns meet all banks

  __device__ T& operator()(int i, int j) const { return data[i + j * step]; }
};

/// Numbers of a vector below its head that a lane holds in registers.
inline constexpr int reflection_numbers = 8;
/// The longest tail of a reflected vector: 32 lanes.
inline constexpr int longest_tail = 32 * reflection_numbers;

/// The vector that a reflection is made from: a head and `length` more numbers, its tail, `along`
/// apart.
template <class T>
struct Source {
  const T *head, *tail;
  int along, length;
};
/// Vectors as long, c = 0 to count, that it is applied to: the head of number c lies at head[c
/// across], its tail begins at tail[c across].
template <class T>
struct Targets {
  T *head, *tail;
  int along, across, count;
};

/// What became of the source.
template <class T>
struct Reflected {
  real_of_t<T> squares;  ///< |x|^2
  T head;                ///< of the multiple of e_1 that x is mapped to
};

template <int Lanes, class R>
__device__ R sum_of_lanes(R value) {
#pragma unroll
  for (int offset = Lanes / 2; offset > 0; offset /= 2) {
    value += shuffle_xor(0xffffffffu, value, offset);
  }
  return value;
}

/// Applies the reflection I - f v v^H that maps the source to a multiple of e_1. The source itself
/// stays as it is. The caller has synchronised.
template <int Lanes, class Team, class T>
__device__ Reflected<T> reflect_by(const Source<T>& source, const Targets<T>& x) {
  using R = real_of_t<T>;
  constexpr int numbers = reflection_numbers;
  constexpr R tiny = sizeof(R) == 8 ? R(2.3e-305) : R(1.2e-35);
  const int lane = Team::lane() % Lanes, group = Team::lane() / Lanes;
  // This lane's numbers of a tail.
  const int own = (source.length - lane + Lanes - 1) / Lanes;
  T v[numbers];
  R below = 0;
#pragma unroll
  for (int e = 0; e < numbers; ++e) {
    v[e] = e < own ? source.tail[(lane + e * Lanes) * source.along] : T(0);
    below += square(v[e]);
  }
  below = sum_of_lanes<Lanes>(below);
  const T head = *source.head;
  const R head_squares = square(head), squares = below + head_squares;
  const R norm = sqrt(squares);
  const R size = is_complex<T> ? sqrt(head_squares) : taxicab(head);
  const R half = norm * (norm + size);
  // Nothing to reflect, or so little beside entries of size 1 that its square underflows.
  if (!(below > 0 && half > tiny)) return {squares, head};
  T turned = norm;
  if constexpr (is_complex<T>) {
    if (size > 0) turned = norm / size * head;
  } else {
    turned = copysign(norm, head);
  }
  const T v_head = head + turned;
  const R minus_factor = -1 / half;

  // Groups of a warp are Lanes vectors apart, which keeps them on different banks.
  const int first = lane * x.along, step = Lanes * x.along;
  const int units = (x.count + 31) / 32 * Lanes;
  for (int unit = Team::warp(); unit < units; unit += Team::warps) {
    const int c = unit / Lanes * 32 + group * Lanes + unit % Lanes;
    const int used = c < x.count ? own : 0;
    T* const tail = x.tail + (c * x.across + first);
    T a[numbers];
    T dot = 0;
#pragma unroll
    for (int e = 0; e < numbers; ++e) {
      a[e] = e < used ? tail[e * step] : T(0);
      dot = multiply_add(conjugate(v[e]), a[e], dot);
    }
    T* const above = x.head + c * x.across;
    // One lane reads the head and writes it: no other lane may be late.
    const bool has_head = lane == 0 && c < x.count;
    const T a_head = has_head ? *above : T(0);
    dot = sum_of_lanes<Lanes>(multiply_add(conjugate(v_head), a_head, dot));
    const T share = minus_factor * dot;
#pragma unroll
    for (int e = 0; e < numbers; ++e) {
      if (e < used) tail[e * step] = multiply_add(share, v[e], a[e]);
    }
    if (has_head) *above = multiply_add(share, v_head, a_head);
  }
  return {squares, -turned};
}

template <class Team, class T>
__device__ Reflected<T> reflect(const Source<T>& source, const Targets<T>& targets) {
  if (source.length <= 4 * reflection_numbers) return reflect_by<4, Team>(source, targets);
  if (source.length <= 8 * reflection_numbers) return reflect_by<8, Team>(source, targets);
  if (source.length <= 16 * reflection_numbers) return reflect_by<16, Team>(source, targets);
  return reflect_by<32, Team>(source, targets);
}

/// A := its R factor, in the leading `columns` rows, with zeros below the diagonal there. rows >=
/// columns. tail_begin: `columns` where R of earlier rows lies on top of new ones, else 0. diagonal: `columns` numbers.
template <class Team, class T>
__device__ void triangularise(const Tile<T>& a, int rows, int columns, int tail_begin,
                              T* diagonal) {
  for (int j = 0; j < columns; ++j) {
    const int below = max(tail_begin, j + 1);
    Team::sync();
    const Reflected<T> column =
        reflect<Team>(Source<T>{&a(j, j), &a(below, j), 1, rows - below},
                      Targets<T>{&a(j, j + 1), &a(below, j + 1), 1, a.step, columns - j - 1});
    if (Team::thread() == 0) diagonal[j] = column.head;
  }
  Team::sync();
  for (int at = Team::thread(); at < columns * columns; at += 32 * Team::warps) {
    const int j = at / columns, i = at - j * columns;
    if (i > j) a(i, j) = T(0);
    if (i == j) a(i, j) = diagonal[j];
  }
  Team::sync();
}

/// squares: d_0^2, e_0^2, d_1^2, ..., 2 columns - 1 numbers of the bidiagonal form of A, whose
/// entries are used up. rows >= columns.
template <class Team, class T>
__device__ void bidiagonalise(const Tile<T>& a, int rows, int columns, real_of_t<T>* squares) {
  // One call for both directions: column j, then row j.
  for (int step = 0; step < 2 * columns - 1; ++step) {
    const int j = step / 2, k = j + 1;
    const bool row = step % 2 == 1;
    const Source<T> source = row ? Source<T>{&a(j, k), &a(j, k + 1), a.step, columns - k - 1}
                                 : Source<T>{&a(j, j), &a(k, j), 1, rows - k};
    const Targets<T> targets = row ? Targets<T>{&a(k, k), &a(k, k + 1), a.step, 1, rows - k}
                                   : Targets<T>{&a(j, k), &a(k, k), 1, a.step, columns - k};
    Team::sync();
    const Reflected<T> vector = reflect<Team>(source, targets);
    if (Team::thread() == 0) squares[step] = vector.squares;
  }
  Team::sync();
}

}  // namespace structmat::gpu
