#include "structmat/vandermonde/apply.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "vandermonde/columns.hpp"
#include "vandermonde/direct.hpp"

namespace structmat {

namespace {

using vandermonde::gather;
using vandermonde::scatter;

/// Values at nodes, by ranges of nodes.
template <Scalar T>
void values(int threads, const VandermondeView<T>& v, const View<const T, 3>& x,
            const View<T, 3>& y) {
  constexpr index_t range = 4096;
  const index_t m = v.rows(), n = v.cols(), k = y.extent(2);
  const index_t ranges = (m + range - 1) / range;
  parallel_for(team_for(threads, y.size() * n), y.extent(0) * k * ranges, [&](index_t task) {
    const index_t b = task / (k * ranges), c = task / ranges % k, first = task % ranges * range;
    const index_t last = std::min(first + range, m);
    const auto nodes = gather<T>(v.x.select(0, b).slice(0, first, last));
    const auto coefficients = gather<T>(x.select(0, b).select(1, c));
    Array<T, 1> result({last - first}, uninitialized);
    vandermonde::evaluate(nodes.data(), last - first, coefficients.data(), n, result.data());
    scatter(result, y.select(0, b).select(1, c).slice(0, first, last));
  });
}

/// Sums over nodes. How they are divided follows from the shape alone, so that every number of
/// threads gives the same sums.
template <Scalar T>
void sums(int threads, const VandermondeView<T>& v, bool conjugated, const View<const T, 3>& x,
          const View<T, 3>& y) {
  const index_t m = v.rows(), n = v.cols(), k = y.extent(2), columns = y.extent(0) * k;
  if (columns == 0) return;
  constexpr index_t enough_tasks = 16, least_nodes = 2048;
  const index_t ranges =
      std::clamp<index_t>(enough_tasks / columns, 1, std::max<index_t>(m / least_nodes, 1));
  Array<T, 3> partial({columns, ranges, n}, uninitialized);
  const int team = team_for(threads, columns * m * n);
  parallel_for(team, columns * ranges, [&](index_t task) {
    const index_t column = task / ranges, b = column / k, c = column % k;
    const index_t first = task % ranges * m / ranges, last = (task % ranges + 1) * m / ranges;
    const auto nodes = gather<T>(v.x.select(0, b).slice(0, first, last), conjugated);
    const auto weights = gather<T>(x.select(0, b).select(1, c).slice(0, first, last));
    vandermonde::power_sums(nodes.data(), last - first, weights.data(), n,
                            partial.data() + task * n);
  });
  for (index_t column = 0; column < columns; ++column) {
    const View<T, 1> result = y.select(0, column / k).select(1, column % k);
    for (index_t j = 0; j < n; ++j) {
      T sum = partial(column, 0, j);
      for (index_t r = 1; r < ranges; ++r) sum += partial(column, r, j);
      result(j) = sum;
    }
  }
}

}  // namespace

template <Scalar T>
void apply(const exec::cpu& e, const VandermondeView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "vandermonde::apply";
  const index_t own = vandermonde::checked(matrix, operation).batch();
  const bool plain = op == Op::none;
  const index_t rows = plain ? matrix.rows() : matrix.cols();
  const index_t cols = plain ? matrix.cols() : matrix.rows();
  const index_t batch = detail::check_operands(operation, own, rows, cols, x, y);
  const auto m = vandermonde::checked(matrix, operation, batch);
  if (plain) return values(e.threads, m, x.broadcast(0, batch), y);
  sums(e.threads, m, op == Op::adjoint, x.broadcast(0, batch), y);
}

#define STRUCTMAT_INSTANTIATE(T)                                                           \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const VandermondeView<T>&, Op, \
                                          View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
