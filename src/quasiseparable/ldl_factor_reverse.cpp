// With F_bar the cotangent of the new f, a Hermitian matrix, and v = q - a u = d w:
//   d_bar -= w^H F_bar w + Re(w_bar^H w) / d,   q_bar = v_bar = w_bar / d + 2 F_bar w,
//   a_bar = 2 F_bar a f - v_bar u^H,            u_bar = -(a^H v_bar + d_bar conj(p)),
//   p_bar = conj(f (u_bar - d_bar conj(p))),    f_bar = a^H F_bar a + (u_bar p^T + conj(p) u_bar^H) / 2.

#include "quasiseparable/ldl_factor_reverse.hpp"

#include "core/instantiate.hpp"

namespace structmat::quasiseparable {
namespace {

using simd::Lanes;

template <Scalar T>
struct Rows {
  index_t count, padded;
  Run<const real_t<T>> p, w, a, a_transposed, d;
  FactorBars<T> bars;
  Run<real_t<T>> history;  // f before each row
};

/// to := x y for padded matrices, with column(l) the coefficients of column l of y.
template <Scalar T, int W, class Coefficient>
STRUCTMAT_INLINE void multiply(const real_t<T>* x, index_t padded, const Coefficient& coefficient,
                               real_t<T>* to) {
  using L = Lanes<T, W>;
  const index_t vector = padded / W * L::reals;
  const ColumnsInMemory<T, W> columns{const_cast<real_t<T>*>(x), vector};
  for (index_t l = 0; l < padded; ++l) {
    for (index_t b = 0; b < padded / W; ++b) {
      combine<T, W>(columns, padded, b, [&](index_t k) STRUCTMAT_ALWAYS {
        return coefficient(k, l);
      }).store(to + l * vector + b * L::reals);
    }
  }
}

/// history row i + 1 := a_i f a_i^H + d_i w_i w_i^H from history row i, the last one to `last`. t: a
/// matrix (Dense).
template <Scalar T, bool Dense, int W, bool One>
STRUCTMAT_CLONES void replay(const Rows<T>& rows, real_t<T>* last, [[maybe_unused]] real_t<T>* t) {
  using R = real_t<T>;
  using L = Lanes<T, W>;
  const index_t padded = One ? W : rows.padded, vector = padded / W * L::reals;
  for (index_t i = 0; i < rows.count; ++i) {
    const R *w = rows.w.row(i), *a = rows.a.row(i), *f = rows.history.row(i);
    R* const next = i + 1 < rows.count ? rows.history.row(i + 1) : last;
    const R d = *rows.d.row(i);
    if constexpr (Dense) {
      multiply<T, W>(
          a, padded,
          [&](index_t k, index_t m) STRUCTMAT_ALWAYS { return lane<T, W>(f + m * vector, k); }, t);
      multiply<T, W>(
          t, padded,
          [&](index_t m, index_t l)
              STRUCTMAT_ALWAYS { return conjugate(lane<T, W>(a + m * vector, l)); },
          next);
    }
    for (index_t b = 0; b < padded / W; ++b) {
      const L ab = L::load(a + b * L::reals), wb = L::load(w + b * L::reals);
#pragma GCC unroll 8
      for (index_t l = 0; l < padded; ++l) {
        const index_t at = l * vector + b * L::reals;
        L moved;
        if constexpr (Dense) {
          moved = L::load(next + at);
        } else {
          moved = L::zero().plus(conjugate(lane<T, W>(a, l)),
                                 plus_product(L::zero(), ab, L::load(f + at)));
        }
        moved.plus(d * conjugate(lane<T, W>(w, l)), wb).store(next + at);
      }
    }
  }
}

template <Scalar T, bool Dense, int W, class Columns>
STRUCTMAT_INLINE void reverse_rows(const Rows<T>& rows, index_t padded, Columns& f_bar,
                                   real_t<T>* scratch) {
  using R = real_t<T>;
  using L = Lanes<T, W>;
  const index_t blocks = padded / W, vector = blocks * L::reals;
  R *v_bar = scratch, *u_bar = v_bar + vector, *z = u_bar + vector, *u = z + vector,
    *t = u + vector;
  const auto add = [](R* to, const L& x) STRUCTMAT_ALWAYS { simd::add(L::load(to), x).store(to); };
  for (index_t i = rows.count - 1; i >= 0; --i) {
    const R *p = rows.p.row(i), *w = rows.w.row(i), *a = rows.a.row(i), *w_bar = rows.bars.w.row(i);
    const ColumnsInMemory<T, W> f{rows.history.row(i), vector};
    const R inverse = 1 / *rows.d.row(i);

    R curvature = 0, along = 0;
    for (index_t b = 0; b < blocks; ++b) {
      const index_t at = b * L::reals;
      const L wb = L::load(w + at), given = L::load(w_bar + at);
      const L fw = combine<T, W>(f_bar, padded, b,
                                 [&](index_t l) STRUCTMAT_ALWAYS { return lane<T, W>(w, l); });
      curvature += std::real(sum_lanes(plus_conjugate(L::zero(), wb, fw)));
      along += std::real(sum_lanes(plus_conjugate(L::zero(), given, wb)));
      const L vb = L::zero().plus(T(inverse), given).plus(T(2), fw);
      vb.store(v_bar + at);
      add(rows.bars.q.row(i) + at, vb);
    }
    R& d_bar = *rows.bars.d.row(i);
    d_bar -= curvature + along * inverse;

    for (index_t b = 0; b < blocks; ++b) {
      const index_t at = b * L::reals;
      L moved;
      if constexpr (Dense) {
        const ColumnsInMemory<T, W> rows_of_a{const_cast<R*>(rows.a_transposed.row(i)), vector};
        moved = conjugated(combine<T, W>(rows_of_a, padded, b, [&](index_t k) STRUCTMAT_ALWAYS {
          return conjugate(lane<T, W>(v_bar, k));
        }));
      } else {
        moved = plus_conjugate(L::zero(), L::load(a + at), L::load(v_bar + at));
      }
      const L pb = L::zero().plus(T(d_bar), conjugated(L::load(p + at)));
      const L ub = minus(L::zero(), simd::add(moved, pb));
      ub.store(u_bar + at);
      minus(ub, pb).store(z + at);
    }
    for (index_t b = 0; b < blocks; ++b) {
      combine<T, W>(f, padded, b, [&](index_t l) STRUCTMAT_ALWAYS {
        return conjugate(lane<T, W>(p, l));
      }).store(u + b * L::reals);
      const L fz =
          combine<T, W>(f, padded, b, [&](index_t l) STRUCTMAT_ALWAYS { return lane<T, W>(z, l); });
      add(rows.bars.p.row(i) + b * L::reals, conjugated(fz));
    }

    if constexpr (Dense) {
      multiply<T, W>(
          a, padded,
          [&](index_t k, index_t m) STRUCTMAT_ALWAYS { return lane<T, W>(f.data + m * vector, k); },
          t);
      for (index_t m = 0; m < padded; ++m) {
        for (index_t b = 0; b < blocks; ++b) {
          const L faf = combine<T, W>(f_bar, padded, b, [&](index_t k) STRUCTMAT_ALWAYS {
            return lane<T, W>(t + m * vector, k);
          });
          add(rows.bars.a.row(i) + m * vector + b * L::reals,
              L::zero().plus(T(2), faf).plus(-conjugate(lane<T, W>(u, m)),
                                             L::load(v_bar + b * L::reals)));
        }
      }
      for (index_t l = 0; l < padded; ++l) {
        for (index_t b = 0; b < blocks; ++b) {
          combine<T, W>(f_bar, padded, b, [&](index_t k) STRUCTMAT_ALWAYS {
            return lane<T, W>(a + l * vector, k);
          }).store(t + l * vector + b * L::reals);
        }
      }
    }
    for (index_t b = 0; b < blocks; ++b) {
      const index_t at = b * L::reals;
      const L ab = L::load(a + at), pb = conjugated(L::load(p + at)), ub = L::load(u_bar + at);
      L faf = L::zero();
#pragma GCC unroll 8
      for (index_t l = 0; l < padded; ++l) {
        L moved;
        if constexpr (Dense) {
          const ColumnsInMemory<T, W> rows_of_a{const_cast<R*>(rows.a_transposed.row(i)), vector};
          moved = conjugated(combine<T, W>(rows_of_a, padded, b, [&](index_t k) STRUCTMAT_ALWAYS {
            return conjugate(lane<T, W>(t + l * vector, k));
          }));
        } else {
          const L column = f_bar.get(l, b);
          const L scaled = L::zero().plus(lane<T, W>(a, l), column);
          faf = plus_conjugate(faf, f.get(l, b), scaled);
          moved = plus_conjugate(L::zero(), ab, scaled);
        }
        f_bar.set(l, b,
                  moved.plus(R(0.5) * lane<T, W>(p, l), ub)
                      .plus(R(0.5) * conjugate(lane<T, W>(u_bar, l)), pb));
      }
      if constexpr (!Dense) {
        const L outer = plus_conjugate(L::zero(), L::load(u + at), L::load(v_bar + at));
        add(rows.bars.a.row(i) + at, minus(L::zero().plus(T(2), faf), outer));
      }
    }
  }
}

template <Scalar T, bool Dense, int W, bool One>
STRUCTMAT_CLONES void reverse(const Rows<T>& rows, real_t<T>* f_bar, real_t<T>* scratch) {
  if constexpr (One && !Dense) {
    ColumnsInRegisters<T, W> columns(f_bar);
    reverse_rows<T, Dense, W>(rows, W, columns, scratch);
    columns.keep(f_bar);
  } else {
    const index_t padded = One ? W : rows.padded;
    ColumnsInMemory<T, W> columns{f_bar, padded / W * Lanes<T, W>::reals};
    reverse_rows<T, Dense, W>(rows, padded, columns, scratch);
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
FactorReverse<T, K>::FactorReverse(const LdlView<T, K>& f, index_t batch)
    : layout_(f.p.extent(2)),
      n_(f.size()),
      d_(f.d.select(0, batch)),
      p_(f.p.select(0, batch), layout_, {.first = true}),
      w_(f.w.select(0, batch), layout_, {.last = true}),
      a_(transitions_over_states<K>(f.a.select(0, batch), layout_.order), layout_,
         {.first = true, .last = true}),
      a_transposed_(transitions_over_states<K>(f.a.select(0, batch), layout_.order).transposed(),
                    layout_, {.first = true, .last = true}),
      starts_({(n_ + chunk_rows - 1) / chunk_rows, layout_.matrix()}),
      history_({std::min(chunk_rows, n_) * layout_.matrix()}),
      bar_({layout_.matrix()}),
      scratch_({4 * layout_.vector() + layout_.matrix()}) {}

template <Scalar T, transition::Uniform K>
void FactorReverse<T, K>::keep_start(index_t run, const R* f) {
  std::copy_n(f, layout_.matrix(), starts_.data() + run * layout_.matrix());
}

template <Scalar T, transition::Uniform K>
void FactorReverse<T, K>::record() {
  for (index_t k = 0; k + 1 < runs(); ++k) {
    const index_t begin = k * chunk_rows, end = begin + chunk_rows;
    Rows<T> rows{};
    rows.count = end - begin;
    rows.padded = layout_.padded;
    rows.w = w_.rows(begin, end);
    rows.a = a_.rows(begin, end);
    rows.d = {d_.data() + begin * d_.stride(0), d_.stride(0)};
    rows.history = {history_.data(), layout_.matrix()};
    std::copy_n(starts_.data() + k * layout_.matrix(), layout_.matrix(), history_.data());
    with_width(layout_, [&]<int W, bool One>() {
      replay<T, K::rank == 4, W, One>(rows, starts_.data() + (k + 1) * layout_.matrix(),
                                      scratch_.data());
    });
  }
}

template <Scalar T, transition::Uniform K>
void FactorReverse<T, K>::run(index_t run, const FactorBars<T>& bars) {
  const index_t begin = run * chunk_rows, end = std::min(begin + chunk_rows, n_);
  Rows<T> rows{end - begin,
               layout_.padded,
               p_.rows(begin, end),
               w_.rows(begin, end),
               a_.rows(begin, end),
               {},
               {d_.data() + begin * d_.stride(0), d_.stride(0)},
               bars,
               {history_.data(), layout_.matrix()}};
  if constexpr (K::rank == 4) rows.a_transposed = a_transposed_.rows(begin, end);
  std::copy_n(starts_.data() + run * layout_.matrix(), layout_.matrix(), history_.data());
  with_width(layout_, [&]<int W, bool One>() {
    // f behind the last row is not needed.
    Rows<T> replayed = rows;
    replayed.count -= 1;
    replay<T, K::rank == 4, W, One>(replayed, history_.data() + replayed.count * layout_.matrix(),
                                    scratch_.data());
    reverse<T, K::rank == 4, W, One>(rows, bar_.data(), scratch_.data());
  });
}

#define STRUCTMAT_INSTANTIATE(T, K) template class FactorReverse<T, transition::K>;
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
