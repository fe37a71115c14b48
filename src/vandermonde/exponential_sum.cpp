#include "structmat/vandermonde/exponential_sum.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "structmat/vandermonde/apply_vjp.hpp"
#include "vandermonde/columns.hpp"
#include "vandermonde/exponential_tiles.hpp"
#include "vandermonde/vjp_operands.hpp"

namespace structmat {

namespace {

using namespace vandermonde;

/// work(matrix of one batch entry, first column, last column) where columns count (batch, k) pairs
/// of the operands; a matrix that all batch entries share is tabulated once.
template <Scalar T, class Work>
void for_each_matrix(int threads, const LogVandermondeView<T>& m, index_t batch, index_t k,
                     const Work& work) {
  const index_t matrices = m.batch() == 1 ? 1 : batch, columns = batch / matrices * k;
  const int team = team_for(threads, matrices * m.rows() * m.cols() * columns);
  parallel_for(team, matrices,
               [&](index_t b) { work(m.a.select(0, b), b * columns, (b + 1) * columns); });
}

/// Sums over poles with weights times c, in whole or their real parts.
template <Scalar T, class Out>
void over_poles(int threads, const LogVandermondeView<T>& m, const T& factor,
                const View<const T, 3>& c, const View<Out, 3>& y) {
  const index_t poles = m.cols(), k = y.extent(2), batch = y.extent(0);
  if (y.empty()) return;
  const LagGrid grid = lag_grid(m.rows(), exponential_width<T>);
  constexpr index_t range = 32;
  const index_t ranges = (grid.rows() + range - 1) / range;
  for_each_matrix(threads, m, batch, k,
                  [&](const View<const T, 1>& a, index_t first_column, index_t last_column) {
                    const auto fine = fine_along_lags<T>(a, grid);
                    const auto coarse_table = coarse<T>(a, grid);
                    const index_t tasks = (last_column - first_column) * ranges;
                    const int team = team_for(threads, tasks * range * grid.block * poles);
                    parallel_for(team, tasks, [&](index_t task) {
                      const index_t column = first_column + task / ranges, b = column / k;
                      const index_t first = task % ranges * range;
                      const index_t last = std::min(first + range, grid.rows());
                      Array<T, 2> g({last - first, poles}, uninitialized);
                      const View<const T, 1> weights = c.select(0, b).select(1, column % k);
                      for (index_t p = 0; p < poles; ++p) {
                        const T weight = product(factor, weights(p));
                        for (index_t l1 = first; l1 < last; ++l1) {
                          g(l1 - first, p) = product(coarse_table(l1, p), weight);
                        }
                      }
                      const index_t begin = first * grid.block,
                                    end = std::min(last * grid.block, grid.lags);
                      Array<Out, 1> sums({end - begin}, uninitialized);
                      sum_over_poles<T, Out>(grid, fine, poles, g.data(), first, last, sums.data());
                      scatter(sums, y.select(0, b).select(1, column % k).slice(0, begin, end));
                    });
                  });
}

/// Sums over lags: E^T x, and as conj(E^T conj(x)) E^H x.
template <Scalar T>
void over_lags(int threads, const LogVandermondeView<T>& m, bool conjugated,
               const View<const T, 3>& x, const View<T, 3>& y) {
  constexpr index_t w = exponential_width<T>;
  const index_t poles = m.cols(), k = y.extent(2), batch = y.extent(0);
  if (y.empty()) return;
  const LagGrid grid = lag_grid(m.rows(), w);
  const index_t vectors = (poles + w - 1) / w;
  for_each_matrix(
      threads, m, batch, k,
      [&](const View<const T, 1>& a, index_t first_column, index_t last_column) {
        const auto fine = fine_along_poles<T>(a, grid);
        const auto coarse_table = coarse_along_poles<T>(a, grid);
        const index_t tasks = (last_column - first_column) * vectors;
        const int team = team_for(threads, tasks * w * grid.lags);
        parallel_for(team, tasks, [&](index_t task) {
          const index_t column = first_column + task / vectors, vector = task % vectors;
          const View<T, 1> result = y.select(0, column / k).select(1, column % k);
          const auto values = gather<T>(x.select(0, column / k).select(1, column % k), conjugated);
          T sums[w];
          sum_over_lags<T>(grid, fine, coarse_table, vector, values.data(), sums);
          for (index_t p = vector * w; p < std::min(poles, (vector + 1) * w); ++p) {
            result(p) = conjugated ? conjugate(sums[p - vector * w]) : sums[p - vector * w];
          }
        });
      });
}

}  // namespace

template <Scalar T>
void apply(const exec::cpu& e, const LogVandermondeView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "vandermonde::apply";
  const auto m = vandermonde::checked(matrix, operation);
  const bool plain = op == Op::none;
  const index_t rows = plain ? m.rows() : m.cols(), cols = plain ? m.cols() : m.rows();
  const index_t batch = detail::check_operands(operation, m.batch(), rows, cols, x, y);
  if (plain) return over_poles<T, T>(e.threads, m, T{1}, x.broadcast(0, batch), y);
  over_lags(e.threads, m, op == Op::adjoint, x.broadcast(0, batch), y);
}

template <ComplexScalar T>
void real_exponential_sum(const exec::cpu& e, const LogVandermondeView<T>& matrix,
                          View<const T, 3> c, View<real_t<T>, 3> y) {
  constexpr auto operation = "vandermonde::real_exponential_sum";
  using R = real_t<T>;
  const auto m = vandermonde::checked(matrix, operation);
  // The check compares operands of one type; overlaps do not depend on it.
  const View<T, 3> shape(nullptr, y.extents());
  const index_t batch = detail::check_operands(operation, m.batch(), m.rows(), m.cols(), c, shape);
  if (overlaps(c, y)) throw DomainError(std::string(operation) + ": c and y overlap in memory");
  over_poles<T, R>(e.threads, m, T{2}, c.broadcast(0, batch), y);
}

template <ComplexScalar T>
void real_exponential_sum_vjp(const exec::cpu& e, const LogVandermondeView<T>& m,
                              View<const T, 3> c, View<const real_t<T>, 3> y_bar, View<T, 2> a_bar,
                              View<T, 3> c_bar) {
  const vandermonde::VjpOperands<LogVandermondeView<T>, T, real_t<T>, space::host> checked(
      "vandermonde::real_exponential_sum_vjp", m, Op::none, c, y_bar, a_bar, c_bar);
  Array<T, 3> twice(y_bar.extents(), uninitialized);
  for (index_t b = 0; b < y_bar.extent(0); ++b) {
    for (index_t l = 0; l < y_bar.extent(1); ++l) {
      for (index_t k = 0; k < y_bar.extent(2); ++k) twice(b, l, k) = 2 * y_bar(b, l, k);
    }
  }
  apply_vjp(e, m, Op::none, c, View<const T, 3>(twice.view()), a_bar, c_bar);
}

#define STRUCTMAT_INSTANTIATE(T)                                                              \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const LogVandermondeView<T>&, Op, \
                                          View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
#undef STRUCTMAT_INSTANTIATE

#define STRUCTMAT_INSTANTIATE(R)                                                                   \
  template STRUCTMAT_EXPORT void real_exponential_sum(const exec::cpu&,                            \
                                                      const LogVandermondeView<std::complex<R>>&,  \
                                                      View<const std::complex<R>, 3>, View<R, 3>); \
  template STRUCTMAT_EXPORT void real_exponential_sum_vjp(                                         \
      const exec::cpu&, const LogVandermondeView<std::complex<R>>&,                                \
      View<const std::complex<R>, 3>, View<const R, 3>, View<std::complex<R>, 2>,                  \
      View<std::complex<R>, 3>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)

}  // namespace structmat
