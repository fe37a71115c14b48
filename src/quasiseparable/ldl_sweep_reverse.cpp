#include "quasiseparable/ldl_sweep_reverse.hpp"

#include "core/instantiate.hpp"

namespace structmat::quasiseparable {
namespace {

using simd::Lanes;

template <Scalar T>
struct Rows {
  index_t count, padded;
  Run<const real_t<T>> out, in, a, a_transposed;
  Run<const T> fed;
  Run<T> bar;
  TriangleBars<T> bars;
  Run<real_t<T>> history;  // s before each row; step 0: the same place, only the last s is kept
};

/// history row i + 1 := a_i s + in_i fed_i from history row i.
template <Scalar T, bool Dense, int W, bool One>
STRUCTMAT_CLONES void replay(const Rows<T>& rows, real_t<T>* last) {
  using R = real_t<T>;
  using L = Lanes<T, W>;
  const index_t padded = One ? W : rows.padded, blocks = padded / W;
  for (index_t i = 0; i < rows.count; ++i) {
    const R *in = rows.in.row(i), *a = rows.a.row(i), *s = rows.history.row(i);
    R* const next = i + 1 < rows.count ? rows.history.row(i + 1) : last;
    for (index_t b = 0; b < blocks; ++b) {
      L moved;
      if constexpr (Dense) {
        const ColumnsInMemory<T, W> columns{const_cast<R*>(a), blocks * L::reals};
        moved = combine<T, W>(columns, padded, b,
                              [&](index_t m) STRUCTMAT_ALWAYS { return lane<T, W>(s, m); });
      } else {
        moved = plus_product(L::zero(), L::load(a + b * L::reals), L::load(s + b * L::reals));
      }
      moved.plus(*rows.fed.row(i), L::load(in + b * L::reals)).store(next + b * L::reals);
    }
  }
}

template <Scalar T, bool Dense, int W, bool One>
STRUCTMAT_CLONES void reverse(const Rows<T>& rows, bool solve, real_t<T>* s_bar, real_t<T>* spare) {
  using R = real_t<T>;
  using L = Lanes<T, W>;
  const index_t padded = One ? W : rows.padded, blocks = padded / W, vector = blocks * L::reals;
  const auto add = [](R* to, const L& x) STRUCTMAT_ALWAYS { simd::add(L::load(to), x).store(to); };
  for (index_t i = rows.count - 1; i >= 0; --i) {
    const R *out = rows.out.row(i), *in = rows.in.row(i), *s = rows.history.row(i);
    T got{};
    for (index_t b = 0; b < blocks; ++b) {
      got += sum_lanes(
          plus_conjugate(L::zero(), L::load(in + b * L::reals), L::load(s_bar + b * L::reals)));
    }
    T& bar = *rows.bar.row(i);
    const T y_bar = bar;
    bar = y_bar + got;
    const T e = solve ? -bar : y_bar;
    const T fed = conjugate(*rows.fed.row(i));
    for (index_t b = 0; b < blocks; ++b) {
      const index_t at = b * L::reals;
      const L sb = L::load(s + at), bb = L::load(s_bar + at);
      add(rows.bars.in.row(i) + at, L::zero().plus(fed, bb));
      add(rows.bars.out.row(i) + at, L::zero().plus(e, conjugated(sb)));
      L moved;
      if constexpr (Dense) {
        for (index_t m = 0; m < padded; ++m) {
          add(rows.bars.a.row(i) + m * vector + at,
              L::zero().plus(conjugate(lane<T, W>(s, m)), bb));
        }
        const ColumnsInMemory<T, W> rows_of_a{const_cast<R*>(rows.a_transposed.row(i)), vector};
        moved = conjugated(combine<T, W>(rows_of_a, padded, b, [&](index_t k) STRUCTMAT_ALWAYS {
          return conjugate(lane<T, W>(s_bar, k));
        }));
      } else {
        add(rows.bars.a.row(i) + at, plus_conjugate(L::zero(), sb, bb));
        moved = plus_conjugate(L::zero(), L::load(rows.a.row(i) + at), bb);
      }
      moved.plus(e, conjugated(L::load(out + at))).store((Dense ? spare : s_bar) + at);
    }
    if constexpr (Dense) std::copy_n(spare, vector, s_bar);
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
SweepReverse<T, K>::SweepReverse(const UnitTriangle<const T, K>& triangle, bool solve)
    : layout_(triangle.out.extent(1)),
      n_(triangle.out.extent(0)),
      solve_(solve),
      out_(triangle.out, layout_, {.first = true}),
      in_(triangle.in, layout_, {.last = true}),
      a_(triangle.a, layout_, {.first = true, .last = true}),
      a_transposed_(triangle.a.transposed(), layout_, {.first = true, .last = true}),
      starts_({(n_ + chunk_rows - 1) / chunk_rows, layout_.vector()}),
      history_({std::min(chunk_rows, n_) * layout_.vector()}),
      bar_({layout_.vector()}),
      spare_({layout_.vector()}) {}

template <Scalar T, transition::Uniform K>
void SweepReverse<T, K>::keep_start(index_t run, const R* s) {
  std::copy_n(s, layout_.vector(), starts_.data() + run * layout_.vector());
}

template <Scalar T, transition::Uniform K>
void SweepReverse<T, K>::record(const View<const T, 1>& fed) {
  Array<R, 1> s({layout_.vector()});
  for (index_t k = 0; k < runs(); ++k) {
    keep_start(k, s.data());
    const index_t begin = k * chunk_rows, end = std::min(begin + chunk_rows, n_);
    Rows<T> rows{};
    rows.count = end - begin;
    rows.padded = layout_.padded;
    rows.in = in_.rows(begin, end);
    rows.a = a_.rows(begin, end);
    rows.fed = {fed.data() + begin * fed.stride(0), fed.stride(0)};
    rows.history = {s.data(), 0};
    // With one place for all of s a dense transition would overwrite what it still reads.
    if constexpr (K::rank == 4) {
      std::copy(s.begin(), s.end(), history_.begin());
      rows.history = {history_.data(), layout_.vector()};
    }
    with_width(layout_,
               [&]<int W, bool One>() { replay<T, K::rank == 4, W, One>(rows, s.data()); });
  }
}

template <Scalar T, transition::Uniform K>
void SweepReverse<T, K>::run(index_t run, const View<const T, 1>& fed, const View<T, 1>& bar,
                             const TriangleBars<T>& bars) {
  const index_t begin = run * chunk_rows, end = std::min(begin + chunk_rows, n_);
  Rows<T> rows{end - begin,
               layout_.padded,
               out_.rows(begin, end),
               in_.rows(begin, end),
               a_.rows(begin, end),
               {},
               {fed.data() + begin * fed.stride(0), fed.stride(0)},
               {bar.data() + begin * bar.stride(0), bar.stride(0)},
               bars,
               {history_.data(), layout_.vector()}};
  if constexpr (K::rank == 4) rows.a_transposed = a_transposed_.rows(begin, end);
  std::copy_n(starts_.data() + run * layout_.vector(), layout_.vector(), history_.data());
  with_width(layout_, [&]<int W, bool One>() {
    replay<T, K::rank == 4, W, One>(rows, spare_.data());
    reverse<T, K::rank == 4, W, One>(rows, solve_, bar_.data(), spare_.data());
  });
}

#define STRUCTMAT_INSTANTIATE(T, K) template class SweepReverse<T, transition::K>;
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
