#include "quasiseparable/ldl_factor.hpp"

#include <cmath>
#include <limits>

#include "core/finite.hpp"
#include "core/instantiate.hpp"

namespace structmat::quasiseparable {
namespace {

/// a f a^H + w v^H, where v = d w.
template <Scalar T, int W, class Columns>
STRUCTMAT_INLINE void advance_diagonal(Columns& f, index_t padded, const real_t<T>* a,
                                       const real_t<T>* v, const real_t<T>* w) {
  using L = simd::Lanes<T, W>;
  for (index_t b = 0; b < padded / W; ++b) {
    const L ab = L::load(a + b * L::reals), wb = L::load(w + b * L::reals);
#pragma GCC unroll 8
    for (index_t l = 0; l < padded; ++l) {
      const L scaled = plus_product(L::zero(), ab, f.get(l, b));
      f.set(l, b,
            L::zero()
                .plus(conjugate(lane<T, W>(a, l)), scaled)
                .plus(conjugate(lane<T, W>(v, l)), wb));
    }
  }
}

/// The same for a dense transition in columns; t: a matrix.
template <Scalar T, int W>
STRUCTMAT_INLINE void advance_dense(ColumnsInMemory<T, W>& f, index_t padded, const real_t<T>* a,
                                    const real_t<T>* v, const real_t<T>* w, real_t<T>* t) {
  using L = simd::Lanes<T, W>;
  const ColumnsInMemory<T, W> columns{const_cast<real_t<T>*>(a), f.step};
  ColumnsInMemory<T, W> product{t, f.step};
  for (index_t m = 0; m < padded; ++m) {
    const real_t<T>* const fm = f.data + m * f.step;
    for (index_t b = 0; b < padded / W; ++b) {
      product.set(m, b, combine<T, W>(columns, padded, b, [&](index_t k) STRUCTMAT_ALWAYS {
                    return lane<T, W>(fm, k);
                  }));
    }
  }
  for (index_t l = 0; l < padded; ++l) {
    for (index_t b = 0; b < padded / W; ++b) {
      const L sum = combine<T, W>(product, padded, b, [&](index_t m) STRUCTMAT_ALWAYS {
        return conjugate(lane<T, W>(a + m * f.step, l));
      });
      f.set(l, b, sum.plus(conjugate(lane<T, W>(v, l)), L::load(w + b * L::reals)));
    }
  }
}

template <Scalar T, bool Dense, int W, class Columns>
STRUCTMAT_INLINE index_t run(const FactorRows<T>& rows, index_t padded, Columns& f,
                             real_t<T>* scratch) {
  using R = real_t<T>;
  using L = simd::Lanes<T, W>;
  // A full vector is a cache line; see sweep_diagonal.cpp.
  constexpr index_t ahead = 24;
  const index_t blocks = padded / W, vector = blocks * L::reals;
  R *u = scratch, *v = u + vector, *t = v + vector;
  for (index_t i = 0; i < rows.count; ++i) {
    const R *p = rows.p.row(i), *q = rows.q.row(i), *a = rows.a.row(i);
    R* const w = rows.w.row(i);
    if constexpr (L::reals * sizeof(R) == 64 && !Dense) {
      __builtin_prefetch(p + ahead * rows.p.step);
      __builtin_prefetch(q + ahead * rows.q.step);
      __builtin_prefetch(a + ahead * rows.a.step);
    }
    // Only the real part of p^T u = p^T f conj(p) is not rounding error.
    R explained = 0;
    for (index_t b = 0; b < blocks; ++b) {
      const L ub = combine<T, W>(
          f, padded, b, [&](index_t l) STRUCTMAT_ALWAYS { return conjugate(lane<T, W>(p, l)); });
      ub.store(u + b * L::reals);
      const L product = plus_product(L::zero(), L::load(p + b * L::reals), ub);
      explained += std::real(sum_lanes(product));
    }
    const R pivot = *rows.m.row(i) - explained;
    *rows.d.row(i) = pivot;
    const R size = rows.definite ? pivot : std::abs(pivot);
    if (!(size > 0 && size <= std::numeric_limits<R>::max())) return i;

    const R inverse = 1 / pivot;
    for (index_t b = 0; b < blocks; ++b) {
      L moved;
      if constexpr (Dense) {
        const ColumnsInMemory<T, W> columns{const_cast<R*>(a), vector};
        moved = combine<T, W>(columns, padded, b,
                              [&](index_t m) STRUCTMAT_ALWAYS { return lane<T, W>(u, m); });
      } else {
        moved = plus_product(L::zero(), L::load(a + b * L::reals), L::load(u + b * L::reals));
      }
      const L vb = minus(L::load(q + b * L::reals), moved);
      vb.store(v + b * L::reals);
      L::zero().plus(T(inverse), vb).store(w + b * L::reals);
    }
    if constexpr (Dense) {
      advance_dense<T, W>(f, padded, a, v, w, t);
    } else {
      advance_diagonal<T, W>(f, padded, a, v, w);
    }
  }
  return rows.count;
}

}  // namespace

template <Scalar T, bool Dense, int W, bool One>
STRUCTMAT_CLONES index_t factor_rows(const FactorRows<T>& rows, real_t<T>* f, real_t<T>* scratch) {
  if constexpr (One && !Dense) {
    ColumnsInRegisters<T, W> columns(f);
    const index_t good = run<T, Dense, W>(rows, W, columns, scratch);
    columns.keep(f);
    return good;
  } else {
    const index_t padded = One ? W : rows.padded;
    ColumnsInMemory<T, W> columns{f, padded / W * simd::Lanes<T, W>::reals};
    return run<T, Dense, W>(rows, padded, columns, scratch);
  }
}

template <Scalar T, transition::Uniform K>
Factorisation<T, K>::Factorisation(const QuasiseparableView<T, K>& m, index_t batch,
                                   const LdlOptions& options, const View<T, 3>& w,
                                   const View<R, 2>& d)
    : layout_(m.p.extent(2)),
      batch_(batch),
      definite_(options.definite),
      p_(m.p.select(0, batch)),
      q_(m.q.select(0, batch)),
      a_(transitions_over_states<K>(m.a.select(0, batch), layout_.order)),
      m_(m.d.select(0, batch)),
      w_(w.select(0, batch)),
      d_(d.select(0, batch)),
      p_rows_(p_, layout_, {.first = true}),
      q_rows_(q_, layout_, {.last = true}),
      a_rows_(a_, layout_, {.first = true, .last = true}),
      w_rows_(w_, m.size(), layout_),
      diagonal_({std::min(chunk_rows, m.size())}),
      f_({layout_.matrix()}),
      scratch_({2 * layout_.vector() + (K::rank == 4 ? layout_.matrix() : 0)}) {}

template <Scalar T, transition::Uniform K>
bool Factorisation<T, K>::rows(index_t begin, index_t end) {
  for (index_t i = begin; i < end; ++i) {
    const T m = m_(i);
    // The imaginary part is 0, or not finite and has to show.
    diagonal_.data()[i - begin] = std::real(m) + 0 * std::imag(m);
  }
  const bool in_place = layout_.in_place(w_.stride(1));
  Run<R> w = w_rows_.rows();
  if constexpr (RealScalar<T>) {
    if (in_place) w = {w_.data() + begin * w_.stride(0), w_.stride(0)};
  }
  const FactorRows<T> rows{end - begin,
                           layout_.padded,
                           p_rows_.rows(begin, end),
                           q_rows_.rows(begin, end),
                           a_rows_.rows(begin, end),
                           {diagonal_.data(), 1},
                           w,
                           {d_.data() + begin * d_.stride(0), d_.stride(0)},
                           definite_};
  const index_t good = with_width(layout_, [&]<int W, bool One>() {
    return factor_rows<T, K::rank == 4, W, One>(rows, f_.data(), scratch_.data());
  });
  if (!in_place) w_rows_.set(begin, begin + good);
  if (good == rows.count) return true;
  report(begin + good, d_(begin + good));
  return false;
}

template <Scalar T, transition::Uniform K>
bool Factorisation<T, K>::finite_row(index_t i) const {
  for (index_t l = 0; l < layout_.order; ++l) {
    if (!is_finite(q_(i, l)) || (i > 0 && !is_finite(p_(i, l)))) return false;
    if constexpr (dims == 2) {
      if (i > 0 && !is_finite(a_(i, l))) return false;
    } else {
      for (index_t m = 0; i > 0 && m < layout_.order; ++m) {
        if (!is_finite(a_(i, l, m))) return false;
      }
    }
  }
  return true;
}

/// A q or an a that is not finite shows in the pivot of the next row.
template <Scalar T, transition::Uniform K>
void Factorisation<T, K>::report(index_t i, R pivot) {
  using Kind = PivotStatus::Kind;
  const Kind kind = !std::isfinite(pivot) ? Kind::not_finite
                    : definite_           ? Kind::not_positive
                                          : Kind::zero;
  const bool earlier = kind == Kind::not_finite && i > 0 && !finite_row(i - 1);
  status_ = {kind, batch_, earlier ? i - 1 : i, static_cast<double>(pivot)};
}

#define STRUCTMAT_INSTANTIATE(T, K) template class Factorisation<T, transition::K>;
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
