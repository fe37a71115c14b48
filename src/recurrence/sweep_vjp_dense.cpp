// Dense transitions: each row multiplies the states of a few right-hand sides by an r x r matrix,
// vectors of lanes along its rows or, going forward, along its columns.

#include <algorithm>
#include <utility>

#include "core/instantiate.hpp"
#include "recurrence/sweep_vjp.hpp"

namespace structmat::recurrence {
namespace {

template <class T>
using L = simd::Lanes<T, state_lanes>;

/// State l of a row of lanes.
template <class T>
STRUCTMAT_INLINE T element(const real_t<T>* lanes, index_t l) {
  const real_t<T>* at = lanes + l / state_lanes * lane_reals<T> + l % state_lanes;
  if constexpr (is_complex_v<T>) {
    return {at[0], at[state_lanes]};
  } else {
    return *at;
  }
}

/// Where the states of C right-hand sides in front of row i are recorded; without a record, two
/// places take turns.
template <class T, int C, bool Record>
class States {
 public:
  States(real_t<T>* record, index_t order)
      : data_(record), width_(lane_groups(order) * lane_reals<T>) {}
  STRUCTMAT_INLINE real_t<T>* at(index_t i, int u) const {
    return data_ + ((Record ? i : i % 2) * C + u) * width_;
  }
  STRUCTMAT_INLINE index_t size() const { return C * width_; }

 private:
  real_t<T>* data_;
  index_t width_;
};

template <class T, int C, bool Record>
STRUCTMAT_INLINE void forward(const AdjointRun<T>& run, index_t c,
                              const States<T, C, Record>& states) {
  const index_t width = lane_groups(run.order) * lane_reals<T>;
  for (index_t i = 0; i < run.count; ++i) {
    const T* x = run.x + i * run.columns + c;
    const real_t<T>* a = run.transposed.data + i * run.transposed.step;
    for (index_t g = 0; g < width; g += lane_reals<T>) {
      const L<T> in = L<T>::load(run.in.data + i * run.in.step + g);
      L<T> sum[C];
      for (int u = 0; u < C; ++u) sum[u] = L<T>::zero().plus(x[u], in);
      if (i > 0 || !run.fresh) {
        for (index_t m = 0; m < run.order; ++m) {
          const L<T> column = L<T>::load(a + m * run.transposed.row + g);
          for (int u = 0; u < C; ++u) {
            sum[u] = sum[u].plus(element<T>(states.at(i, u), m), column);
          }
        }
      }
      for (int u = 0; u < C; ++u) sum[u].store(states.at(i + 1, u) + g);
    }
  }
}

/// lambda: the cotangent of the states; next: as large.
template <class T, int C, Emit E>
STRUCTMAT_INLINE void backward(const AdjointRun<T>& run, index_t c,
                               const States<T, C, true>& states, real_t<T>* lambda,
                               real_t<T>* next) {
  const index_t width = lane_groups(run.order) * lane_reals<T>;
  real_t<T>* const result = lambda;
  for (index_t i = run.count - 1; i >= 0; --i) {
    const bool first = i == 0 && run.fresh;
    const bool fed = E == Emit::after || !run.last || i + 1 < run.count;  // is lambda not 0?
    const T *x = run.x + i * run.columns + c, *y_bar = run.y_bar + i * run.columns + c;
    T* x_bar = run.x_bar + i * run.columns + c;
    const real_t<T>* out = run.out.data + i * run.out.step;
    real_t<T>* out_bar = run.out_bar.data + i * run.out_bar.step;
    real_t<T>* in_bar = run.in_bar.data + i * run.in_bar.step;
    const real_t<T>* a = run.transition.data + i * run.transition.step;
    real_t<T>* a_bar = run.transition_bar.data + i * run.transition_bar.step;

    for (index_t g = 0; fed && g < width; g += lane_reals<T>) {
      const L<T> in = L<T>::load(run.in.data + i * run.in.step + g);
      L<T> in_sum = L<T>::load(in_bar + g);
      for (int u = 0; u < C; ++u) {
        L<T> l = L<T>::load(lambda + u * width + g);
        if constexpr (E == Emit::after) {
          const L<T> y = L<T>::fill(y_bar[u]);
          l = plus_conjugate(l, L<T>::load(out + g), y);
          l.store(lambda + u * width + g);
          plus_conjugate(L<T>::load(out_bar + g), L<T>::load(states.at(i + 1, u) + g), y)
              .store(out_bar + g);
        }
        in_sum = in_sum.plus(conjugate(x[u]), l);
        x_bar[u] += sum_lanes(plus_conjugate(L<T>::zero(), in, l));
      }
      in_sum.store(in_bar + g);
    }
    if (first) break;
    for (index_t g = 0; g < width; g += lane_reals<T>) {
      L<T> s[C], sum[C];
      for (int u = 0; u < C; ++u) s[u] = L<T>::load(states.at(i, u) + g);
      for (int u = 0; u < C; ++u) sum[u] = L<T>::zero();
      for (index_t l = 0; fed && l < run.order; ++l) {
        const L<T> row = L<T>::load(a + l * run.transition.row + g);
        L<T> row_bar = L<T>::load(a_bar + l * run.transition_bar.row + g);
        for (int u = 0; u < C; ++u) {
          const L<T> lambda_l = L<T>::fill(element<T>(lambda + u * width, l));
          sum[u] = plus_conjugate(sum[u], row, lambda_l);
          row_bar = plus_conjugate(row_bar, s[u], lambda_l);
        }
        row_bar.store(a_bar + l * run.transition_bar.row + g);
      }
      if constexpr (E == Emit::before) {
        const L<T> out_i = L<T>::load(out + g);
        L<T> out_sum = L<T>::load(out_bar + g);
        for (int u = 0; u < C; ++u) {
          const L<T> y = L<T>::fill(y_bar[u]);
          sum[u] = plus_conjugate(sum[u], out_i, y);
          out_sum = plus_conjugate(out_sum, s[u], y);
        }
        out_sum.store(out_bar + g);
      }
      for (int u = 0; u < C; ++u) sum[u].store(next + u * width + g);
    }
    std::swap(lambda, next);
  }
  if (lambda != result) std::copy_n(lambda, C * width, result);
}

/// task(first column, C) for all right-hand sides.
template <class Task>
STRUCTMAT_INLINE void for_each_tile(index_t columns, const Task& task) {
  constexpr int together = columns_together;
  index_t c = 0;
  for (; c + together <= columns; c += together) task(c, std::integral_constant<int, together>{});
  for (; c < columns; ++c) task(c, std::integral_constant<int, 1>{});
}

template <class T>
STRUCTMAT_CLONES void advance_all(const AdjointRun<T>& run, real_t<T>* state, real_t<T>* record) {
  const index_t width = lane_groups(run.order) * lane_reals<T>;
  for_each_tile(run.columns, [&](index_t c, auto wide) STRUCTMAT_ALWAYS {
    constexpr int C = decltype(wide)::value;
    const States<T, C, false> states(record, run.order);
    std::copy_n(state + c * width, states.size(), states.at(0, 0));
    forward<T, C, false>(run, c, states);
    std::copy_n(states.at(run.count, 0), states.size(), state + c * width);
  });
}

template <class T, Emit E>
STRUCTMAT_CLONES void pull_back_all(const AdjointRun<T>& run, const real_t<T>* state,
                                    real_t<T>* adjoint, real_t<T>* record) {
  const index_t width = lane_groups(run.order) * lane_reals<T>;
  for_each_tile(run.columns, [&](index_t c, auto wide) STRUCTMAT_ALWAYS {
    constexpr int C = decltype(wide)::value;
    const States<T, C, true> states(record, run.order);
    std::copy_n(state + c * width, states.size(), states.at(0, 0));
    forward<T, C, true>(run, c, states);
    backward<T, C, E>(run, c, states, adjoint + c * width, states.at(run.count + 1, 0));
  });
}

}  // namespace

template <Scalar T, transition::Uniform K>
void advance(const AdjointRun<T>& run, real_t<T>* state, real_t<T>* record) {
  advance_all<T>(run, state, record);
}

template <Scalar T, transition::Uniform K>
void pull_back(const AdjointRun<T>& run, const real_t<T>* state, real_t<T>* adjoint,
               real_t<T>* record) {
  if (run.emit == Emit::before) {
    pull_back_all<T, Emit::before>(run, state, adjoint, record);
  } else {
    pull_back_all<T, Emit::after>(run, state, adjoint, record);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template void advance<T, transition::Dense>(const AdjointRun<T>&, real_t<T>*, real_t<T>*); \
  template void pull_back<T, transition::Dense>(const AdjointRun<T>&, const real_t<T>*,      \
                                                real_t<T>*, real_t<T>*);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::recurrence
