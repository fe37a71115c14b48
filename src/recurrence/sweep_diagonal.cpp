// Scalar and diagonal transitions. The states do not mix, so they are taken in groups that stay in
// registers for a whole run of rows; each group adds its share to y.

#include "recurrence/sweep.hpp"

#include "core/instantiate.hpp"

namespace structmat::recurrence {
namespace {

using simd::Lanes;
using simd::Vector;

template <Scalar T>
struct Group {
  const T *out, *in, *transition;  // first row, first state of the group
  index_t out_step, in_step, transition_step;
  index_t count;  // rows
  bool fresh;  // the first row is row 0 of the sweep: the state is 0, out (before) and transition
               // unread
};

/// Where a row's numbers lie.
template <Scalar T>
struct Cursor {
  const T *out, *in, *a;
  const real_t<T>* x;
  real_t<T>* y;
};

/// row(cursor, first) for all rows of the group; first: row 0 of the sweep.
template <class T, class Row>
STRUCTMAT_INLINE void for_each_row(const Group<T>& g, const Rows<T>& rows, const Row& row) {
  Cursor<T> at{g.out, g.in, g.transition, rows.x, rows.y};
  const auto next = [&]() STRUCTMAT_ALWAYS {
    at.out += g.out_step;
    at.in += g.in_step;
    at.a += g.transition_step;
    at.x += rows.x_step;
    at.y += rows.y_step;
  };
  index_t i = 0;
  if (g.fresh && g.count > 0) {
    row(at, true);
    next();
    i = 1;
  }
  for (; i < g.count; ++i) {
    row(at, false);
    next();
  }
}

/// G states, each with W right-hand sides.
template <class T, int W, int G, bool Shared, Emit E>
STRUCTMAT_INLINE void run(const Group<T>& g, const Rows<T>& rows, real_t<T>* state) {
  using L = Lanes<T, W>;
  L s[G];
  for (int l = 0; l < G; ++l) s[l] = L::load(state + l * L::reals);
  const auto emit = [&](const Cursor<T>& at) STRUCTMAT_ALWAYS {
    L sum = L::load(at.y);
    for (int l = 0; l < G; ++l) sum = sum.plus(at.out[l], s[l]);
    sum.store(at.y);
  };
  for_each_row(g, rows, [&](const Cursor<T>& at, bool first) STRUCTMAT_ALWAYS {
    if (E == Emit::before && !first) emit(at);
    const L xi = L::load(at.x);
    for (int l = 0; l < G; ++l) {
      const L fed = L::zero().plus(at.in[l], xi);
      s[l] = first ? fed : fed.plus(at.a[Shared ? 0 : l], s[l]);
    }
    if constexpr (E == Emit::after) emit(at);
  });
  for (int l = 0; l < G; ++l) s[l].store(state + l * L::reals);
}

/// One real right-hand side: the lanes are V states.
template <class T, int V, bool Shared, Emit E>
STRUCTMAT_INLINE void run_states(const Group<T>& g, const Rows<T>& rows, T* state) {
  using S = Vector<T, V>;
  // A full vector is a cache line: a large matrix streams from memory, and the hardware's own
  // prefetch ends with each page and is slower to start on a descending sweep.
  constexpr index_t ahead = 24;
  S s = simd::load<S>(state);
  for_each_row(g, rows, [&](const Cursor<T>& at, bool first) STRUCTMAT_ALWAYS {
    if constexpr (V == tile_width<T>) {
      __builtin_prefetch(at.out + ahead * g.out_step);
      __builtin_prefetch(at.in + ahead * g.in_step);
      if constexpr (!Shared) __builtin_prefetch(at.a + ahead * g.transition_step);
    }
    const S p = simd::load<S>(at.out);
    if (E == Emit::before && !first) *at.y += simd::sum<T, V>(p * s);
    const S fed = simd::load<S>(at.in) * *at.x;
    if (first) {
      s = fed;
    } else if constexpr (Shared) {
      s = fed + *at.a * s;
    } else {
      s = fed + simd::load<S>(at.a) * s;
    }
    if constexpr (E == Emit::after) *at.y += simd::sum<T, V>(p * s);
  });
  simd::store(state, s);
}

/// All states, in groups of Largest, then of the smaller powers of two.
template <class T, int W, int Largest, bool Shared, Emit E>
STRUCTMAT_INLINE void groups(Group<T> g, const Rows<T>& rows, index_t order, real_t<T>* state) {
  constexpr int reals = Lanes<T, W>::reals;
  while (order >= Largest) {
    if constexpr (W == 1 && RealScalar<T>) {
      run_states<T, Largest, Shared, E>(g, rows, state);
    } else {
      run<T, W, Largest, Shared, E>(g, rows, state);
    }
    g.out += Largest;
    g.in += Largest;
    if constexpr (!Shared) g.transition += Largest;
    state += Largest * reals;
    order -= Largest;
  }
  if constexpr (Largest > 1) {
    if (order > 0) groups<T, W, Largest / 2, Shared, E>(g, rows, order, state);
  }
}

template <class T, int W, bool Shared>
STRUCTMAT_CLONES void sweep_groups(const Group<T>& g, const Rows<T>& rows, index_t order, Emit emit,
                                   real_t<T>* state) {
  // A vector of states where there is one real right-hand side, else four states of W lanes each:
  // enough independent chains to hide the latency of a multiply-add, few enough for 16 registers.
  constexpr int largest = W == 1 && RealScalar<T> ? tile_width<T> : 4;
  if (emit == Emit::before) {
    groups<T, W, largest, Shared, Emit::before>(g, rows, order, state);
  } else {
    groups<T, W, largest, Shared, Emit::after>(g, rows, order, state);
  }
}

}  // namespace

template <Scalar T, transition::Uniform K, int W>
void sweep(const Recurrence<T, K>& r, bool fresh, const Rows<T>& rows, real_t<T>* state,
           real_t<T>*) {
  constexpr bool shared = std::same_as<K, transition::Scalar>;
  const Group<T> g{r.out.data(),    r.in.data(),    r.transition.data(),
                   r.out.stride(0), r.in.stride(0), r.transition.stride(0),
                   r.size(),        fresh};
  sweep_groups<T, W, shared>(g, rows, r.order(), r.emit, state);
}

#define STRUCTMAT_INSTANTIATE(T, K, W)                                                \
  template void sweep<T, transition::K, W>(const Recurrence<T, transition::K>&, bool, \
                                           const Rows<T>&, real_t<T>*, real_t<T>*);
#define STRUCTMAT_INSTANTIATE_WIDTHS(T)           \
  STRUCTMAT_INSTANTIATE(T, Scalar, 1)             \
  STRUCTMAT_INSTANTIATE(T, Scalar, 4)             \
  STRUCTMAT_INSTANTIATE(T, Scalar, tile_width<T>) \
  STRUCTMAT_INSTANTIATE(T, Diagonal, 1)           \
  STRUCTMAT_INSTANTIATE(T, Diagonal, 4)           \
  STRUCTMAT_INSTANTIATE(T, Diagonal, tile_width<T>)

STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_WIDTHS)

}  // namespace structmat::recurrence
