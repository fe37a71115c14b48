// Scalar and diagonal transitions: the states do not mix, so each vector of them passes over the
// whole run with its states and their cotangents in registers.

#include "core/instantiate.hpp"
#include "recurrence/sweep_vjp.hpp"

namespace structmat::recurrence {
namespace {

template <class T>
using L = simd::Lanes<T, state_lanes>;

template <class T>
STRUCTMAT_INLINE T scalar_at(const real_t<T>* p) {
  if constexpr (is_complex_v<T>) {
    return {p[0], p[1]};
  } else {
    return *p;
  }
}

template <class T>
STRUCTMAT_INLINE void add_scalar(real_t<T>* p, const T& v) {
  p[0] += std::real(v);
  if constexpr (is_complex_v<T>) p[1] += v.imag();
}

/// States s of C right-hand sides, from column `c` on, through all rows; record: the states in
/// front of each row and behind the last.
template <class T, int C, bool Shared, bool Record>
STRUCTMAT_INLINE void forward(const AdjointRun<T>& run, index_t group, index_t c, L<T> (&s)[C],
                              real_t<T>* record) {
  constexpr index_t reals = lane_reals<T>;
  const real_t<T>* in = run.in.data + group;
  const real_t<T>* a = run.transition.data + (Shared ? 0 : group);
  const T* x = run.x + c;
  for (index_t i = 0; i < run.count; ++i) {
    if constexpr (Record) {
      for (int u = 0; u < C; ++u) s[u].store(record + (i * C + u) * reals);
    }
    const L<T> in_i = L<T>::load(in);
    L<T> fed[C];
    for (int u = 0; u < C; ++u) fed[u] = L<T>::zero().plus(x[u], in_i);
    if (i == 0 && run.fresh) {
      for (int u = 0; u < C; ++u) s[u] = fed[u];
    } else if constexpr (Shared) {
      const T a_i = scalar_at<T>(a);
      for (int u = 0; u < C; ++u) s[u] = fed[u].plus(a_i, s[u]);
    } else {
      const L<T> a_i = L<T>::load(a);
      for (int u = 0; u < C; ++u) s[u] = plus_product(fed[u], a_i, s[u]);
    }
    in += run.in.step;
    a += run.transition.step;
    x += run.columns;
  }
  if constexpr (Record) {
    for (int u = 0; u < C; ++u) s[u].store(record + (run.count * C + u) * reals);
  }
}

template <class T, int C, bool Shared, Emit E>
STRUCTMAT_INLINE void backward(const AdjointRun<T>& run, index_t group, index_t c,
                               L<T> (&lambda)[C], const real_t<T>* record) {
  constexpr index_t reals = lane_reals<T>;
  for (index_t i = run.count - 1; i >= 0; --i) {
    const bool first = i == 0 && run.fresh;
    const bool fed = E == Emit::after || !run.last || i + 1 < run.count;  // is lambda not 0?
    const T *x = run.x + i * run.columns + c, *y_bar = run.y_bar + i * run.columns + c;
    T* x_bar = run.x_bar + i * run.columns + c;
    const real_t<T>* states = record + i * C * reals;
    const bool emits = E == Emit::after || !first;
    const L<T> in = L<T>::load(run.in.data + i * run.in.step + group);
    const L<T> out = emits ? L<T>::load(run.out.data + i * run.out.step + group) : L<T>::zero();
    real_t<T>* in_at = run.in_bar.data + i * run.in_bar.step + group;
    real_t<T>* out_at = run.out_bar.data + i * run.out_bar.step + group;
    L<T> in_bar = L<T>::load(in_at);
    L<T> out_bar = emits ? L<T>::load(out_at) : L<T>::zero();

    if constexpr (E == Emit::after) {
      for (int u = 0; u < C; ++u) {
        const L<T> y = L<T>::fill(y_bar[u]);
        lambda[u] = plus_conjugate(lambda[u], out, y);
        out_bar = plus_conjugate(out_bar, L<T>::load(states + (C + u) * reals), y);
      }
    }
    if (fed) {
      for (int u = 0; u < C; ++u) {
        in_bar = in_bar.plus(conjugate(x[u]), lambda[u]);
        x_bar[u] += sum_lanes(plus_conjugate(L<T>::zero(), in, lambda[u]));
      }
      in_bar.store(in_at);
    }
    if (!first) {
      L<T> s[C];
      for (int u = 0; u < C; ++u) s[u] = L<T>::load(states + u * reals);
      const real_t<T>* a_at = run.transition.data + i * run.transition.step;
      real_t<T>* bar_at = run.transition_bar.data + i * run.transition_bar.step;
      if (!fed) {
        // Nothing comes from behind the last row.
      } else if constexpr (Shared) {
        L<T> a_bar = L<T>::zero();
        const T a = conjugate(scalar_at<T>(a_at));
        for (int u = 0; u < C; ++u) {
          a_bar = plus_conjugate(a_bar, s[u], lambda[u]);
          lambda[u] = L<T>::zero().plus(a, lambda[u]);
        }
        add_scalar<T>(bar_at, sum_lanes(a_bar));
      } else {
        L<T> a_bar = L<T>::load(bar_at + group);
        const L<T> a = L<T>::load(a_at + group);
        for (int u = 0; u < C; ++u) {
          a_bar = plus_conjugate(a_bar, s[u], lambda[u]);
          lambda[u] = plus_conjugate(L<T>::zero(), a, lambda[u]);
        }
        a_bar.store(bar_at + group);
      }
      if constexpr (E == Emit::before) {
        for (int u = 0; u < C; ++u) {
          const L<T> y = L<T>::fill(y_bar[u]);
          lambda[u] = plus_conjugate(lambda[u], out, y);
          out_bar = plus_conjugate(out_bar, s[u], y);
        }
      }
    }
    if (emits) out_bar.store(out_at);
  }
}

/// task(group offset, first column, offset of its states, C) for all vectors of states.
template <class T, class Task>
STRUCTMAT_INLINE void for_each_tile(const AdjointRun<T>& run, const Task& task) {
  constexpr index_t reals = lane_reals<T>;
  constexpr int together = columns_together;
  const index_t groups = lane_groups(run.order);
  for (index_t g = 0; g < groups; ++g) {
    index_t c = 0;
    for (; c + together <= run.columns; c += together) {
      task(g * reals, c, std::integral_constant<int, together>{});
    }
    for (; c < run.columns; ++c) task(g * reals, c, std::integral_constant<int, 1>{});
  }
}

template <class T, int C>
STRUCTMAT_INLINE void load_states(L<T> (&s)[C], const real_t<T>* at, index_t step) {
  for (int u = 0; u < C; ++u) s[u] = L<T>::load(at + u * step);
}
template <class T, int C>
STRUCTMAT_INLINE void store_states(const L<T> (&s)[C], real_t<T>* at, index_t step) {
  for (int u = 0; u < C; ++u) s[u].store(at + u * step);
}

template <class T, bool Shared>
STRUCTMAT_CLONES void advance_all(const AdjointRun<T>& run, real_t<T>* state) {
  const index_t step = lane_groups(run.order) * lane_reals<T>;
  for_each_tile(run, [&](index_t group, index_t c, auto width) STRUCTMAT_ALWAYS {
    constexpr int C = decltype(width)::value;
    L<T> s[C];
    load_states<T, C>(s, state + c * step + group, step);
    forward<T, C, Shared, false>(run, group, c, s, nullptr);
    store_states<T, C>(s, state + c * step + group, step);
  });
}

template <class T, bool Shared, Emit E>
STRUCTMAT_CLONES void pull_back_all(const AdjointRun<T>& run, const real_t<T>* state,
                                    real_t<T>* adjoint, real_t<T>* record) {
  const index_t step = lane_groups(run.order) * lane_reals<T>;
  for_each_tile(run, [&](index_t group, index_t c, auto width) STRUCTMAT_ALWAYS {
    constexpr int C = decltype(width)::value;
    L<T> s[C], lambda[C];
    load_states<T, C>(s, state + c * step + group, step);
    forward<T, C, Shared, true>(run, group, c, s, record);
    load_states<T, C>(lambda, adjoint + c * step + group, step);
    backward<T, C, Shared, E>(run, group, c, lambda, record);
    store_states<T, C>(lambda, adjoint + c * step + group, step);
  });
}

}  // namespace

template <Scalar T, transition::Uniform K>
void advance(const AdjointRun<T>& run, real_t<T>* state, real_t<T>*) {
  advance_all<T, std::same_as<K, transition::Scalar>>(run, state);
}

template <Scalar T, transition::Uniform K>
void pull_back(const AdjointRun<T>& run, const real_t<T>* state, real_t<T>* adjoint,
               real_t<T>* record) {
  constexpr bool shared = std::same_as<K, transition::Scalar>;
  if (run.emit == Emit::before) {
    pull_back_all<T, shared, Emit::before>(run, state, adjoint, record);
  } else {
    pull_back_all<T, shared, Emit::after>(run, state, adjoint, record);
  }
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                             \
  template void advance<T, transition::K>(const AdjointRun<T>&, real_t<T>*, real_t<T>*);        \
  template void pull_back<T, transition::K>(const AdjointRun<T>&, const real_t<T>*, real_t<T>*, \
                                            real_t<T>*);
#define STRUCTMAT_INSTANTIATE_KINDS(T) \
  STRUCTMAT_INSTANTIATE(T, Scalar)     \
  STRUCTMAT_INSTANTIATE(T, Diagonal)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE_KINDS)

}  // namespace structmat::recurrence
