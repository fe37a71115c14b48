/// \file
/// Small products for algorithms that carry matrices through transitions: sums of products of
/// matrices, and of transitions of every kind with matrices. Transitions are (n), (n, r) or (n, r,
/// r) views with an index.
#pragma once

#include "core/product.hpp"
#include "structmat/core/view.hpp"

namespace structmat::recurrence {

enum class Conjugate { none, second };

/// to += a b, or a conj(b); any strides.
template <Conjugate C = Conjugate::none, Scalar T>
void add_product(const View<const T, 2>& a, const View<const T, 2>& b, const View<T, 2>& to) {
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t k = 0; k < b.extent(0); ++k) {
      const T factor = a(i, k);
      for (index_t j = 0; j < b.extent(1); ++j) {
        if constexpr (C == Conjugate::second) {
          to(i, j) += conjugate_product(b(k, j), factor);
        } else {
          to(i, j) += product(factor, b(k, j));
        }
      }
    }
  }
}

/// The transition in the opposite direction.
template <class T, int Rank>
View<T, Rank> transposed(const View<T, Rank>& t) {
  if constexpr (Rank == 3) return t.transposed();
  return t;
}

/// to += t_i m, or t_i^H m.
template <bool Adjoint = false, Scalar T, int Rank>
void add_left(const View<const T, Rank>& t, index_t i, const View<const T, 2>& m,
              const View<T, 2>& to) {
  const auto value = [](const T& v) { return Adjoint ? conjugate(v) : v; };
  if constexpr (Rank == 3) {
    const View<const T, 2> a = Adjoint ? t.select(0, i).transposed() : t.select(0, i);
    for (index_t l = 0; l < to.extent(0); ++l) {
      for (index_t k = 0; k < m.extent(0); ++k) {
        const T factor = value(a(l, k));
        for (index_t c = 0; c < m.extent(1); ++c) to(l, c) += product(factor, m(k, c));
      }
    }
  } else {
    for (index_t l = 0; l < to.extent(0); ++l) {
      T factor{};
      if constexpr (Rank == 2) factor = value(t(i, l));
      if constexpr (Rank == 1) factor = value(t(i));
      for (index_t c = 0; c < m.extent(1); ++c) to(l, c) += product(factor, m(l, c));
    }
  }
}

/// to += m t_i, or m t_i^H.
template <bool Adjoint = false, Scalar T, int Rank>
void add_right(const View<const T, 2>& m, const View<const T, Rank>& t, index_t i,
               const View<T, 2>& to) {
  add_left<Adjoint>(transposed(t), i, m.transposed(), to.transposed());
}

/// bar_i += the part of a b^H that a transition of this kind has: all, the diagonal, the trace.
template <Scalar T, int Rank>
void add_transition_cotangent(const View<const T, 2>& a, const View<const T, 2>& b,
                              const View<T, Rank>& bar, index_t i) {
  for (index_t l = 0; l < a.extent(0); ++l) {
    for (index_t m = Rank == 3 ? 0 : l; m < (Rank == 3 ? b.extent(0) : l + 1); ++m) {
      T sum{};
      for (index_t c = 0; c < a.extent(1); ++c) sum += conjugate_product(b(m, c), a(l, c));
      if constexpr (Rank == 3) bar(i, l, m) += sum;
      if constexpr (Rank == 2) bar(i, l) += sum;
      if constexpr (Rank == 1) bar(i) += sum;
    }
  }
}

/// A vector as a matrix of one column.
template <class T>
View<T, 2> column(const View<T, 1>& v) {
  return {v.data(), {v.extent(0), 1}, {v.stride(0), 1}};
}
template <class T>
View<T, 2> row(const View<T, 1>& v) {
  return column(v).transposed();
}

}  // namespace structmat::recurrence
