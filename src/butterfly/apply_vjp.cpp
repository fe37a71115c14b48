#include "structmat/butterfly/apply_vjp.hpp"

#include "butterfly/factors.hpp"
#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "core/vjp_operands.hpp"

namespace structmat {
namespace {

using namespace butterfly;

/// The vectors between the factors: states[f + 1] := F_f states[f].
template <Scalar T, int W>
STRUCTMAT_CLONES void run_forward(const ButterflyView<T>& m, const View<const T, 4>& factors,
                                  real_t<T>* states) {
  const index_t reals = tile_reals<T>(m.size(), W);
  for (index_t f = 0; f < factors.extent(0); ++f, states += reals) {
    apply_factor<T, W>(factors.select(0, f), m.stride(f), states, states + reals);
  }
}

/// One factor in reverse: f_bar += g u^H pair by pair, then g := F^H g.
template <Scalar T, int W>
STRUCTMAT_INLINE void reverse_factor(const View<const T, 3>& f, const View<T, 3>& f_bar, index_t s,
                                     const real_t<T>* states, real_t<T>* g) {
  using L = simd::Lanes<T, W>;
  const index_t pairs = f.extent(0), far = s * L::reals;
  for (index_t block = 0; block < pairs; block += s, states += far, g += far) {
    for (index_t p = block; p < block + s; ++p, states += L::reals, g += L::reals) {
      const L gu = L::load(g), gv = L::load(g + far);
      if (f_bar.data()) {
        const L u = L::load(states), v = L::load(states + far);
        f_bar(p, 0, 0) += sum_lanes(plus_conjugate(L::zero(), u, gu));
        f_bar(p, 0, 1) += sum_lanes(plus_conjugate(L::zero(), v, gu));
        f_bar(p, 1, 0) += sum_lanes(plus_conjugate(L::zero(), u, gv));
        f_bar(p, 1, 1) += sum_lanes(plus_conjugate(L::zero(), v, gv));
      }
      L::zero().plus(conjugate(f(p, 0, 0)), gu).plus(conjugate(f(p, 1, 0)), gv).store(g);
      L::zero().plus(conjugate(f(p, 0, 1)), gu).plus(conjugate(f(p, 1, 1)), gv).store(g + far);
    }
  }
}

template <Scalar T, int W>
STRUCTMAT_CLONES void run_reverse(const ButterflyView<T>& m, const View<const T, 4>& factors,
                                  const View<T, 4>& bar, const real_t<T>* states, real_t<T>* g) {
  const index_t reals = tile_reals<T>(m.size(), W);
  for (index_t f = factors.extent(0) - 1; f >= 0; --f) {
    const View<T, 3> f_bar = bar.data() ? bar.select(0, f) : View<T, 3>{};
    reverse_factor<T, W>(factors.select(0, f), f_bar, m.stride(f), states + f * reals, g);
  }
}

/// All right-hand sides of one batch entry, tile by tile.
template <Scalar T>
void pull_back(const ButterflyView<T>& m, index_t b, bool conjugated, const View<const T, 2>& x,
               const View<const T, 2>& y_bar, const View<T, 4>& bar, const View<T, 2>& x_bar) {
  const View<const T, 4> factors = m.factors.select(0, b);
  const index_t n = m.size(), k = x.extent(1), tiles = tile_count(k);
  const index_t rows = n * (factors.extent(0) + 1);
  Array<real_t<T>, 1> memory({tile_reals<T>(rows + n, std::min(k, tile))}, uninitialized);
  for (index_t t = 0; t < tiles; ++t) {
    const index_t begin = tile_begin(t, k), width = tile_width(begin, k);
    const index_t end = std::min(k, begin + width);
    if (memory.size() < tile_reals<T>(rows + n, width)) {
      memory = Array<real_t<T>, 1>({tile_reals<T>(rows + n, width)}, uninitialized);
    }
    real_t<T>*const states = memory.data(), *const g = states + tile_reals<T>(rows, width);
    load_tile(x.slice(1, begin, end), n, width, conjugated, states);
    load_tile(y_bar.slice(1, begin, end), n, width, conjugated, g);
    if (width == 1) {
      run_forward<T, 1>(m, factors, states);
      run_reverse<T, 1>(m, factors, bar, states, g);
    } else {
      run_forward<T, int(tile)>(m, factors, states);
      run_reverse<T, int(tile)>(m, factors, bar, states, g);
    }
    if (x_bar.data()) {
      store_tile(g, width, conjugated, x_bar.slice(1, begin, end),
                 [](T& sum, const T& value) { sum += value; });
    }
  }
}

}  // namespace

// M^H x = conj(M^T conj(x)): with x, y and their cotangents conjugated the factors are those of M^T.
template <Scalar T>
void apply_vjp(const exec::cpu& e, const ButterflyView<T>& matrix, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const ButterflyCotangent<T>& matrix_bar, View<T, 3> x_bar) {
  constexpr auto operation = "butterfly::apply_vjp";
  checked(matrix, operation);
  const auto given = op == Op::none ? matrix : matrix.transposed();
  const index_t batch = detail::check_vjp_operands(operation, given.batch(), given.rows(),
                                                   given.cols(), x, y_bar, x_bar);
  const auto m = checked(given, operation, batch);
  View<T, 5> bar =
      detail::checked_cotangent(operation, "factors", matrix_bar.factors, batch,
                                {matrix.factors.extent(1), matrix.factors.extent(2), 2, 2});
  const bool summed = (bar.data() && bar.stride(0) == 0) || (x_bar.data() && x_bar.stride(0) == 0);
  if (bar.data() && op != Op::none) bar = bar.reversed(1).transposed();

  const auto columns = x.broadcast(0, batch);
  const index_t work = 3 * batch * x.extent(2) * m.size() * m.factors.extent(1);
  parallel_for(summed ? 1 : team_for(e.threads, work), batch, [&](index_t b) {
    pull_back(m, b, is_complex_v<T> && op == Op::adjoint, columns.select(0, b), y_bar.select(0, b),
              bar.data() ? bar.select(0, b) : View<T, 4>{},
              x_bar.data() ? x_bar.select(0, b) : View<T, 2>{});
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template STRUCTMAT_EXPORT void apply_vjp<T>(const exec::cpu&, const ButterflyView<T>&, Op, \
                                              View<const T, 3>, View<const T, 3>,            \
                                              const ButterflyCotangent<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
