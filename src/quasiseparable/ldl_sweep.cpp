#include "quasiseparable/ldl_sweep.hpp"

#include <utility>

#include "core/instantiate.hpp"

namespace structmat::quasiseparable {
namespace {

using simd::Lanes;

/// Padded generators of a run, and one column of y.
template <Scalar T>
struct ColumnRows {
  index_t count, padded;
  Run<const real_t<T>> out, in, a;
  Run<T> y;
};

template <Scalar T, bool Solve, bool Dense, int W>
STRUCTMAT_INLINE void run_column(const ColumnRows<T>& rows, index_t padded, real_t<T>* state,
                                 real_t<T>* spare) {
  using R = real_t<T>;
  using L = Lanes<T, W>;
  constexpr index_t ahead = 24;  // see sweep_diagonal.cpp
  const index_t blocks = padded / W;
  for (index_t i = 0; i < rows.count; ++i) {
    const R *out = rows.out.row(i), *in = rows.in.row(i), *a = rows.a.row(i);
    T& y = *rows.y.row(i);
    if constexpr (L::reals * sizeof(R) == 64 && !Dense) {
      __builtin_prefetch(out + ahead * rows.out.step);
      __builtin_prefetch(in + ahead * rows.in.step);
      __builtin_prefetch(a + ahead * rows.a.step);
    }
    T sum{};
    for (index_t b = 0; b < blocks; ++b) {
      const L s = L::load(state + b * L::reals);
      sum += sum_lanes(plus_product(L::zero(), L::load(out + b * L::reals), s));
    }
    const T old = y;
    y = Solve ? old - sum : old + sum;
    const T fed = Solve ? y : old;
    for (index_t b = 0; b < blocks; ++b) {
      L moved;
      if constexpr (Dense) {
        const ColumnsInMemory<T, W> columns{const_cast<R*>(a), blocks * L::reals};
        moved = combine<T, W>(columns, padded, b,
                              [&](index_t m) STRUCTMAT_ALWAYS { return lane<T, W>(state, m); });
      } else {
        moved = plus_product(L::zero(), L::load(a + b * L::reals), L::load(state + b * L::reals));
      }
      moved.plus(fed, L::load(in + b * L::reals)).store((Dense ? spare : state) + b * L::reals);
    }
    if constexpr (Dense) {
      for (index_t b = 0; b < blocks; ++b) {
        L::load(spare + b * L::reals).store(state + b * L::reals);
      }
    }
  }
}

template <Scalar T, bool Solve, bool Dense, int W, bool One>
STRUCTMAT_CLONES void column_rows(const ColumnRows<T>& rows, real_t<T>* state, real_t<T>* spare) {
  if constexpr (One && !Dense) {
    // On the stack of this function the state stays in a register.
    real_t<T> s[Lanes<T, W>::reals];
    Lanes<T, W>::load(state).store(s);
    run_column<T, Solve, Dense, W>(rows, W, s, spare);
    Lanes<T, W>::load(s).store(state);
  } else {
    run_column<T, Solve, Dense, W>(rows, One ? W : rows.padded, state, spare);
  }
}

/// W columns of y, packed, with generators where they are.
template <Scalar T, int Dims>
struct TileRows {
  bool fresh;
  View<const T, 2> out, in;
  View<const T, Dims> a;
  real_t<T>* y;
};

template <Scalar T, bool Solve, int Dims, int W>
STRUCTMAT_CLONES void tile_rows(const TileRows<T, Dims>& rows, real_t<T>* state, real_t<T>* spare) {
  using L = Lanes<T, W>;
  constexpr index_t chains = 4;
  const index_t r = rows.out.extent(1);
  real_t<T>* y = rows.y;
  for (index_t i = 0; i < rows.out.extent(0); ++i, y += L::reals) {
    const bool first = rows.fresh && i == 0;
    const L old = L::load(y);
    L sums[chains] = {old, L::zero(), L::zero(), L::zero()};
    if (!first) {
      const index_t step = rows.out.stride(1);
      const T* out = rows.out.data() + i * rows.out.stride(0);
      index_t l = 0;
      const auto add = [&](int chain, index_t at) STRUCTMAT_ALWAYS {
        const T c = out[at * step];
        sums[chain] = sums[chain].plus(Solve ? -c : c, L::load(state + at * L::reals));
      };
      for (; l + chains <= r; l += chains) {
        for (int c = 0; c < chains; ++c) add(c, l + c);
      }
      for (; l < r; ++l) add(0, l);
    }
    const L now = simd::add(simd::add(sums[0], sums[1]), simd::add(sums[2], sums[3]));
    now.store(y);
    const L& fed = Solve ? now : old;
    const T* in = rows.in.data() + i * rows.in.stride(0);
    const T* a = rows.a.data() + i * rows.a.stride(0);
    for (index_t l = 0; l < r; ++l) {
      L next = L::zero().plus(in[l * rows.in.stride(1)], fed);
      if constexpr (Dims == 2) {
        if (!first) next = next.plus(a[l * rows.a.stride(1)], L::load(state + l * L::reals));
        next.store(state + l * L::reals);
      } else {
        const T* row = a + l * rows.a.stride(1);
        for (index_t m = 0; m < r && !first; ++m) {
          next = next.plus(row[m * rows.a.stride(2)], L::load(state + m * L::reals));
        }
        next.store(spare + l * L::reals);
      }
    }
    if constexpr (Dims == 3) std::copy_n(spare, r * L::reals, state);
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
UnitSweep<T, K>::UnitSweep(const UnitTriangle<const T, K>& triangle, bool solve, index_t columns)
    : layout_(triangle.out.extent(1)),
      triangle_(triangle),
      solve_(solve),
      by_column_(columns < 3),
      columns_(columns),
      out_(triangle.out, layout_, {.first = true}),
      in_(triangle.in, layout_, {.last = true}),
      a_(triangle.a, layout_, {.first = true, .last = true}) {
  constexpr index_t parts = Layout<T>::parts;
  const index_t tiles = (columns + lanes - 1) / lanes, vector = parts * lanes;
  if (by_column_) {
    state_ = Array<R, 1>({columns * layout_.vector()});
    spare_ = Array<R, 1>({layout_.vector()});
  } else {
    state_ = Array<R, 1>({tiles * layout_.order * vector});
    spare_ = Array<R, 1>({layout_.order * vector});
    packed_ = Array<R, 1>({std::min(chunk_rows, triangle.out.extent(0)) * vector});
  }
}

template <Scalar T, transition::Uniform K>
void UnitSweep<T, K>::rows(index_t begin, index_t end, const View<T, 2>& y) {
  if (by_column_) {
    for (index_t c = 0; c < columns_; ++c) {
      const View<T, 1> column = y.select(1, c);
      solve_ ? one_column<true>(begin, end, column, state(c))
             : one_column<false>(begin, end, column, state(c));
    }
    return;
  }
  R* state = state_.data();
  for (index_t c = 0; c < columns_; c += lanes) {
    const View<T, 2> part = y.slice(1, c, std::min(c + lanes, columns_));
    if (part.extent(1) <= 4) {
      solve_ ? tile<true, 4>(begin, end, part, state) : tile<false, 4>(begin, end, part, state);
    } else {
      constexpr int w = static_cast<int>(lanes);
      solve_ ? tile<true, w>(begin, end, part, state) : tile<false, w>(begin, end, part, state);
    }
    state += layout_.order * Layout<T>::parts * lanes;
  }
}

template <Scalar T, transition::Uniform K>
template <bool Solve>
void UnitSweep<T, K>::one_column(index_t begin, index_t end, const View<T, 1>& y, R* state) {
  const ColumnRows<T> rows{end - begin,          layout_.padded,      out_.rows(begin, end),
                           in_.rows(begin, end), a_.rows(begin, end), {y.data(), y.stride(0)}};
  with_width(layout_, [&]<int W, bool One>() {
    column_rows<T, Solve, K::rank == 4, W, One>(rows, state, spare_.data());
  });
}

template <Scalar T, transition::Uniform K>
template <bool Solve, int W>
void UnitSweep<T, K>::tile(index_t begin, index_t end, const View<T, 2>& y, R* state) {
  constexpr index_t step = Layout<T>::parts * W;
  std::fill_n(packed_.data(), (end - begin) * step, R{});
  for (index_t i = 0; i < end - begin; ++i) {
    R* const to = packed_.data() + i * step;
    for (index_t k = 0; k < y.extent(1); ++k) {
      to[k] = std::real(y(i, k));
      if constexpr (is_complex_v<T>) to[W + k] = y(i, k).imag();
    }
  }
  const TileRows<T, transition_dimensions<K>> rows{
      begin == 0, triangle_.out.slice(0, begin, end), triangle_.in.slice(0, begin, end),
      triangle_.a.slice(0, begin, end), packed_.data()};
  tile_rows<T, Solve, transition_dimensions<K>, W>(rows, state, spare_.data());
  for (index_t i = 0; i < end - begin; ++i) {
    const R* const from = packed_.data() + i * step;
    for (index_t k = 0; k < y.extent(1); ++k) {
      if constexpr (is_complex_v<T>) {
        y(i, k) = {from[k], from[W + k]};
      } else {
        y(i, k) = from[k];
      }
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T, K) template class UnitSweep<T, transition::K>;
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
