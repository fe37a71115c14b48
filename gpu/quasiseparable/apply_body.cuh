/// \file
/// What one thread does in y := M x for quasiseparable M. Free of CUDA calls, so that a host test
/// can run the three phases one after the other:
///
///   1. summarise: per chunk of rows, the product of the transitions and the end state reached from
///   zero;
///   2. segment_summary, scan_segments, distribute: the state in front of every chunk;
///   3. apply_chunk: the recurrence itself, started from the true state in front of the chunk.
///
/// Both triangles run the same recurrence over t = 0 ... n-1; t is the row for the lower triangle
/// and counts rows from the end for the upper one:
///   y_t += p_t . s;   s := a_t s + q_t x_t;   s = 0 in front of t = 0.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "structmat/core/scalar.hpp"
#include "structmat/recurrence/transition.hpp"

#if defined(__CUDACC__)
#define STRUCTMAT_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define STRUCTMAT_HOST_DEVICE inline
#endif
#if defined(__CUDA_ARCH__)  // the host compiler does not know it
#define STRUCTMAT_UNROLL _Pragma("unroll")
#else
#define STRUCTMAT_UNROLL
#endif

namespace structmat::quasiseparable::device {

/// Rows cut into chunks. The length depends on n alone, so that the order of all sums does too:
/// short sequences need many chunks to fill the device, long ones have them anyway and save
/// summaries.
struct Chunks {
  index_t rows = 0;
  index_t length = 1;

  STRUCTMAT_HOST_DEVICE explicit Chunks(index_t n)
      : rows(n),
        length(n <= 1024    ? 16
               : n <= 8192  ? 32
               : n <= 65536 ? 64
                            : 128) {}

  STRUCTMAT_HOST_DEVICE index_t count() const { return (rows + length - 1) / length; }
  STRUCTMAT_HOST_DEVICE index_t begin(index_t c) const { return c * length; }
  STRUCTMAT_HOST_DEVICE index_t end(index_t c) const {
    return rows - c * length < length ? rows : (c + 1) * length;
  }
};

/// A product mantissa * 2^exponent of many numbers. A chunk's product may leave the range of T
/// although its product with the state does not (128 transitions of 0.4 are 0 in float); kept in
/// this form, the chunked recurrence loses nothing that the plain one keeps, and never turns 0 *
/// (overflowed product) into NaN. The exponent is 0 unless the mantissa is finite and not zero.
template <class T>
struct ScaledProduct {
  T mantissa = 1;
  int exponent = 0;

  STRUCTMAT_HOST_DEVICE void multiply(T a) {
    constexpr T high = std::is_same_v<T, float> ? T(0x1p60) : T(0x1p500);
    constexpr T low = 1 / high;
    const T next = mantissa * a;
    const T size = std::fabs(next);
    if (size >= low && size <= high) {
      mantissa = next;
    } else if (splits(a) && splits(mantissa)) {
      int of_mantissa = 0, of_a = 0;
      mantissa = std::frexp(mantissa, &of_mantissa) * std::frexp(a, &of_a);
      add_exponent(of_mantissa + of_a);
    } else {
      mantissa = next;
      exponent = 0;
    }
  }

  STRUCTMAT_HOST_DEVICE void multiply(const ScaledProduct& other) {
    multiply(other.mantissa);
    if (other.exponent != 0 && splits(mantissa)) add_exponent(other.exponent);
  }

  /// The product times s, rounded twice.
  STRUCTMAT_HOST_DEVICE T times(T s) const {
    if (exponent == 0) return mantissa * s;
    int of_mantissa = 0;
    const T m = std::frexp(mantissa, &of_mantissa);
    return std::ldexp(m * s, exponent + of_mantissa);
  }

 private:
  /// Finite and not zero.
  STRUCTMAT_HOST_DEVICE static bool splits(T a) {
    const T size = std::fabs(a);
    return size > 0 && size <= std::numeric_limits<T>::max();
  }

  /// Far beyond what any T can bring back, and far from overflow of int.
  STRUCTMAT_HOST_DEVICE void add_exponent(int e) {
    constexpr int limit = 1 << 28;
    exponent += e;
    exponent = exponent > limit ? limit : exponent < -limit ? -limit : exponent;
  }
};

/// A column of x, y or d, or the rows of a generator: element t lies at data[t * step].
template <class T>
struct Sequence {
  T* data;
  index_t step;

  /// The same n elements from the last one to the first.
  STRUCTMAT_HOST_DEVICE Sequence reversed(index_t n) const {
    return {data + (n - 1) * step, -step};
  }
};

/// Generators of one strict triangle of one matrix, in the order of t; states are neighbours.
template <class T>
struct Triangle {
  Sequence<const T> p, a, q;
  index_t states;
  index_t n;
  bool upper;

  /// Generators given in the order of rows.
  STRUCTMAT_HOST_DEVICE Triangle(Sequence<const T> p_, Sequence<const T> a_, Sequence<const T> q_,
                                 index_t states_, index_t n_, bool upper_)
      : p(upper_ ? p_.reversed(n_) : p_),
        a(upper_ ? a_.reversed(n_) : a_),
        q(upper_ ? q_.reversed(n_) : q_),
        states(states_),
        n(n_),
        upper(upper_) {}

  /// A column in the order of t.
  template <class U>
  STRUCTMAT_HOST_DEVICE Sequence<U> in_order(Sequence<U> column) const {
    return upper ? column.reversed(n) : column;
  }
  /// Where chunk c begins and ends, as t.
  STRUCTMAT_HOST_DEVICE index_t begin(const Chunks& chunks, index_t c) const {
    return upper ? n - chunks.end(c) : chunks.begin(c);
  }
  STRUCTMAT_HOST_DEVICE index_t end(const Chunks& chunks, index_t c) const {
    return upper ? n - chunks.begin(c) : chunks.end(c);
  }
  /// How many chunks come before chunk c.
  STRUCTMAT_HOST_DEVICE index_t rank(const Chunks& chunks, index_t c) const {
    return upper ? chunks.count() - 1 - c : c;
  }
};

/// The states first, first + step, ... that one thread carries: at most Count, those below `limit`
/// are real.
template <int Count>
struct StateSlots {
  index_t first, step, limit;
  STRUCTMAT_HOST_DEVICE index_t operator[](int v) const { return first + v * step; }
  STRUCTMAT_HOST_DEVICE bool real(int v) const { return (*this)[v] < limit; }
};

/// What a thread reads of Rows consecutive t: all loads are issued before the first use, since the
/// recurrence itself is a chain. Numbers that no entry of M contains (p_0, a_0, a_{n-1}, q_{n-1})
/// are replaced by zero unread, and so is everything from `end` on.
template <class T, class K, int Rows, int Count>
struct RowBlock {
  static constexpr int transitions = std::is_same_v<K, transition::Scalar> ? 1 : Count;
  T x[Rows];
  T a[Rows][transitions];
  T p[Rows][Count], q[Rows][Count];

  template <bool WithP>
  STRUCTMAT_HOST_DEVICE void load(const Triangle<T>& m, Sequence<const T> column,
                                  const StateSlots<Count>& slots, index_t t, index_t end) {
    const T* x_at = column.data + t * column.step;
    const T* p_at = m.p.data + t * m.p.step;
    const T* a_at = m.a.data + t * m.a.step;
    const T* q_at = m.q.data + t * m.q.step;
    const bool front = t == 0;
    const int inside = static_cast<int>(end - t < Rows ? end - t : Rows);
    const int before_last = m.n - 1 - t < inside ? static_cast<int>(m.n - 1 - t) : inside;
    STRUCTMAT_UNROLL
    for (int u = 0; u < Rows; ++u) {
      x[u] = u < before_last ? *x_at : T(0);
      STRUCTMAT_UNROLL
      for (int v = 0; v < transitions; ++v) {
        const bool wanted = u < before_last && !(front && u == 0) && slots.real(v);
        a[u][v] = wanted ? a_at[std::is_same_v<K, transition::Scalar> ? 0 : slots[v]] : T(0);
      }
      STRUCTMAT_UNROLL
      for (int v = 0; v < Count; ++v) {
        q[u][v] = u < before_last && slots.real(v) ? q_at[slots[v]] : T(0);
        if constexpr (WithP) {
          p[u][v] = u < inside && !(front && u == 0) && slots.real(v) ? p_at[slots[v]] : T(0);
        }
      }
      x_at += column.step;
      p_at += m.p.step;
      a_at += m.a.step;
      q_at += m.q.step;
    }
  }
};

/// Phase 1 for begin <= t < end: product of the transitions, and the state behind the chunk if the
/// one in front of it is zero. For the chunk at t = 0 the product is meaningless, and not needed.
template <class K, int Rows, int Count, class T>
STRUCTMAT_HOST_DEVICE void summarise(const Triangle<T>& m, Sequence<const T> x,
                                     const StateSlots<Count>& slots, index_t begin, index_t end,
                                     ScaledProduct<T> (&product)[Count], T (&state)[Count]) {
  using Block = RowBlock<T, K, Rows, Count>;
  STRUCTMAT_UNROLL
  for (int v = 0; v < Count; ++v) {
    product[v] = {};
    state[v] = 0;
  }
  for (index_t t = begin; t < end; t += Rows) {
    Block block;
    block.template load<false>(m, x, slots, t, end);
    STRUCTMAT_UNROLL
    for (int u = 0; u < Rows; ++u) {
      if (t + u >= end) break;
      STRUCTMAT_UNROLL
      for (int v = 0; v < Count; ++v) {
        const T a = block.a[u][v % Block::transitions];
        state[v] = a * state[v] + block.q[u][v] * block.x[u];
        if (v < Block::transitions) product[v].multiply(a);
      }
    }
  }
  STRUCTMAT_UNROLL
  for (int v = Block::transitions; v < Count; ++v) product[v] = product[0];
}

/// Phase 3 for begin <= t < end and the states in `slots`, from the state in front of the chunk:
/// y := base + contribution (d, x and y in the order of t), where base is d x (`with_diagonal`) or
/// what y holds. Lanes are the threads that share the row's states: sum() adds over them in a fixed
/// order, and each lane writes the rows whose turn it is. `writes` is false for a thread without a
/// right-hand side.
template <class K, int Rows, int Count, class Lanes, class T>
STRUCTMAT_HOST_DEVICE void apply_chunk(const Lanes& lanes, const Triangle<T>& m,
                                       Sequence<const T> d, Sequence<const T> x, Sequence<T> y,
                                       const StateSlots<Count>& slots, index_t begin, index_t end,
                                       bool with_diagonal, bool writes, T (&state)[Count]) {
  using Block = RowBlock<T, K, Rows, Count>;
  constexpr int turns = (Rows + Lanes::count - 1) / Lanes::count;
  for (index_t t = begin; t < end; t += Rows) {
    Block block;
    block.template load<true>(m, x, slots, t, end);
    T mine[turns] = {};
    STRUCTMAT_UNROLL
    for (int u = 0; u < Rows; ++u) {
      T sum = 0;
      STRUCTMAT_UNROLL
      for (int v = 0; v < Count; ++v) {
        // Selected, not multiplied by a zero p: the state of a slot without data may be NaN (0 *
        // Inf), and in front of t = 0 there is none.
        if (slots.real(v)) sum += block.p[u][v] * state[v];
        state[v] = block.a[u][v % Block::transitions] * state[v] + block.q[u][v] * block.x[u];
      }
      sum = lanes.sum(sum);
      if (u % Lanes::count == lanes.index()) mine[u / Lanes::count] = sum;
    }
    STRUCTMAT_UNROLL
    for (int w = 0; w < turns; ++w) {
      const int u = w * Lanes::count + lanes.index();
      if (u >= Rows || t + u >= end || !writes) continue;
      const index_t i = t + u;
      T& out = y.data[i * y.step];
      out = (with_diagonal ? d.data[i * d.step] * x.data[i * x.step] : out) + mine[w];
    }
  }
}

/// Summaries of all chunks for one state and one right-hand side. distribute() overwrites end
/// states by the states in front of the chunks.
template <class T>
struct Summaries {
  T* mantissa;
  int* exponent;
  index_t product_step;
  T* state;
  index_t state_step;
  index_t count;
  bool reversed;

  /// Where the chunk with `rank` chunks before it lies.
  STRUCTMAT_HOST_DEVICE index_t chunk(index_t rank) const {
    return reversed ? count - 1 - rank : rank;
  }
  /// Nothing is in front of rank 0: its product is taken as 1, unread.
  STRUCTMAT_HOST_DEVICE ScaledProduct<T> product(index_t rank) const {
    if (rank == 0 || rank >= count - 1) return {};
    const index_t at = chunk(rank) * product_step;
    return {mantissa[at], exponent[at]};
  }
  /// Nothing is behind the last chunk: its end state is never computed.
  STRUCTMAT_HOST_DEVICE T end_state(index_t rank) const {
    return rank >= count - 1 ? T(0) : state[chunk(rank) * state_step];
  }
};

/// visit(rank, product, end state) for the chunks of rank begin ... end-1 in turn. Several are loaded
/// before the first is used; beyond `end` another thread may be writing.
template <class T, class Visit>
STRUCTMAT_HOST_DEVICE void for_each_chunk(const Summaries<T>& s, index_t begin, index_t end,
                                          const Visit& visit) {
  constexpr int at_once = 4;
  for (index_t rank = begin; rank < end; rank += at_once) {
    ScaledProduct<T> product[at_once];
    T end_state[at_once];
    STRUCTMAT_UNROLL
    for (int u = 0; u < at_once; ++u) {
      product[u] = rank + u < end ? s.product(rank + u) : ScaledProduct<T>{};
      end_state[u] = rank + u < end ? s.end_state(rank + u) : T(0);
    }
    STRUCTMAT_UNROLL
    for (int u = 0; u < at_once; ++u) {
      if (rank + u < end) visit(rank + u, product[u], end_state[u]);
    }
  }
}

/// Phase 2a: the chunks of rank begin ... end-1 as if they were one.
template <class T>
STRUCTMAT_HOST_DEVICE void segment_summary(const Summaries<T>& s, index_t begin, index_t end,
                                           ScaledProduct<T>& product, T& state) {
  product = {};
  state = 0;
  for_each_chunk(s, begin, end, [&](index_t, const ScaledProduct<T>& a, T end_state) {
    state = a.times(state) + end_state;
    product.multiply(a);
  });
}

/// Phase 2b: end states of segments become the states in front of them.
template <class T>
STRUCTMAT_HOST_DEVICE void scan_segments(const T* mantissa, const int* exponent, T* state,
                                         int segments, int step) {
  T incoming = 0;
  for (int g = 0; g < segments; ++g) {
    const ScaledProduct<T> product{mantissa[g * step], exponent[g * step]};
    const T end_state = state[g * step];
    state[g * step] = incoming;
    incoming = product.times(incoming) + end_state;
  }
}

/// Phase 2c: the states in front of the chunks of rank begin ... end-1. Rank 0, where it is zero,
/// is not written.
template <class T>
STRUCTMAT_HOST_DEVICE void distribute(const Summaries<T>& s, index_t begin, index_t end,
                                      T incoming) {
  for_each_chunk(s, begin, end, [&](index_t rank, const ScaledProduct<T>& a, T end_state) {
    if (rank > 0) s.state[s.chunk(rank) * s.state_step] = incoming;
    incoming = a.times(incoming) + end_state;
  });
}

}  // namespace structmat::quasiseparable::device
