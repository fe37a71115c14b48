#include "structmat/butterfly/apply.hpp"

#include "butterfly/factors.hpp"
#include "core/instantiate.hpp"
#include "core/threads.hpp"

namespace structmat {
namespace {

using namespace butterfly;

/// z := F_last ... F_0 z of one matrix.
template <Scalar T, int W>
STRUCTMAT_CLONES void pass(const ButterflyView<T>& m, const View<const T, 4>& factors,
                           real_t<T>* z) {
  for (index_t f = 0; f < factors.extent(0); ++f) {
    apply_factor<T, W>(factors.select(0, f), m.stride(f), z, z);
  }
}

}  // namespace

// M^H x = conj(M^T conj(x)).
template <Scalar T>
void apply(const exec::cpu& e, const ButterflyView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "butterfly::apply";
  checked(matrix, operation);
  const auto given = op == Op::none ? matrix : matrix.transposed();
  const index_t batch =
      detail::check_operands(operation, given.batch(), given.rows(), given.cols(), x, y);
  const auto m = checked(given, operation, batch);
  const bool conjugated = is_complex_v<T> && op == Op::adjoint;
  const auto columns = x.broadcast(0, batch);
  const index_t n = m.size(), k = x.extent(2), tiles = tile_count(k);

  const int team = team_for(e.threads, batch * k * n * m.factors.extent(1));
  parallel_for(team, batch * tiles, [&](index_t task) {
    const index_t b = task / tiles, begin = tile_begin(task % tiles, k);
    const index_t width = tile_width(begin, k), end = std::min(k, begin + width);
    Array<real_t<T>, 1> z({tile_reals<T>(n, width)}, uninitialized);
    load_tile(columns.select(0, b).slice(1, begin, end), n, width, conjugated, z.data());
    const View<const T, 4> factors = m.factors.select(0, b);
    width == 1 ? pass<T, 1>(m, factors, z.data()) : pass<T, int(tile)>(m, factors, z.data());
    store_tile(z.data(), width, conjugated, y.select(0, b).slice(1, begin, end),
               [](T& to, const T& value) { to = value; });
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                         \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const ButterflyView<T>&, Op, \
                                          View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
