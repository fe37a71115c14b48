#include "structmat/toeplitz/solve_vjp.hpp"

#include <string>
#include <utility>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/solve_cotangent.hpp"
#include "structmat/toeplitz/apply_vjp.hpp"
#include "toeplitz/square.hpp"

namespace structmat {
namespace {

template <Scalar T>
void require_lags(const char* operation, const View<T, 2>& lags_bar, index_t batch, index_t n) {
  detail::require_extents<T, 2>(operation, lags_bar,
                                {lags_bar.extent(0) == 1 ? 1 : batch, detail::diagonals(n, n)});
}

}  // namespace

template <Scalar T>
void solve_vjp(const exec::cpu& e, const toeplitz::Lu<T>& f, Op op, View<const T, 3> x,
               View<const T, 3> x_bar, View<T, 2> lags_bar, View<T, 3> b_bar) {
  constexpr const char* operation = "toeplitz::solve_vjp";
  const index_t n = f.size();
  if (lags_bar.data() != nullptr) {
    require_lags(operation, lags_bar, x.extent(0), n);
    if (overlaps(x, lags_bar)) {
      throw DomainError(std::string(operation) + ": lags_bar overlaps x in memory");
    }
  }
  const Array<T, 3> y_bar =
      solve_cotangent<T>(operation, op, x, x_bar, b_bar,
                         [&](Op inverse, const View<const T, 3>& b, const View<T, 3>& y) {
                           toeplitz::solve(e, f, inverse, b, y);
                         });
  if (lags_bar.data() == nullptr) return;
  // The cotangent of the lags of op(T) x; it does not depend on the lags themselves.
  apply_vjp(e, Toeplitz<T>(n, n).view(), op, x, std::as_const(y_bar).view(), lags_bar,
            View<T, 3>{});
}

template <Scalar T>
void log_determinant_vjp(const exec::cpu& e, const ToeplitzView<T>& given,
                         View<const real_t<T>, 1> bar, View<T, 2> lags_bar) {
  constexpr const char* operation = "toeplitz::log_determinant_vjp";
  toeplitz::require_square(operation, given);
  const ToeplitzView<T> m = toeplitz::checked(given, operation);
  const index_t n = m.rows();
  if (bar.extent(0) != m.batch()) {
    throw ShapeError(std::string(operation) + ": bar has " + std::to_string(bar.extent(0)) +
                     " numbers, the matrix has batch " + std::to_string(m.batch()));
  }
  require_lags(operation, lags_bar, m.batch(), n);
  const auto f = toeplitz::factor_lu(e, m);
  if (!f.status().ok()) throw DomainError(std::string(operation) + ": " + describe(f.status()));
  if (n == 0) return;

  // G = [e_0, k], H = [r, e_{n-1}] (to_cauchy_like.hpp), and e_0 once more for the first row.
  Array<T, 3> p({m.batch(), n, 2}), q({m.batch(), n, 3});
  for (index_t b = 0; b < m.batch(); ++b) {
    const auto lag = [&](index_t l) { return m.lags(b, l + n - 1); };
    p(b, 0, 0) = 1;
    q(b, n - 1, 1) = 1;
    q(b, 0, 2) = 1;
    for (index_t i = 0; i < n; ++i) {
      p(b, i, 1) = i == 0 ? lag(0) : lag(i) + lag(i - n);
      q(b, i, 0) = i == n - 1 ? lag(0) : lag(n - 1 - i) - lag(-1 - i);
    }
  }
  toeplitz::solve(e, f, Op::none, std::as_const(p).view(), p.view());
  toeplitz::solve(e, f, Op::transpose, std::as_const(q).view(), q.view());

  for (index_t b = 0; b < m.batch(); ++b) {
    const View<T, 1> lags = lags_bar.select(0, lags_bar.extent(0) == 1 ? 0 : b);
    for (index_t l = 1 - n; l < n; ++l) {
      // The diagonal j - i = l of the inverse, from its first entry on.
      index_t i = l < 0 ? -l : 0, j = l < 0 ? 0 : l;
      T entry = i == 0 ? q(b, j, 2) : p(b, i, 0), sum = entry;
      for (++i, ++j; i < n && j < n; ++i, ++j) {
        entry += product(p(b, i, 0), q(b, j - 1, 0)) + product(p(b, i, 1), q(b, j - 1, 1));
        sum += entry;
      }
      lags(l + n - 1) += bar(b) * conjugate(sum);
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT void solve_vjp<T>(const exec::cpu&, const toeplitz::Lu<T>&, Op,       \
                                              View<const T, 3>, View<const T, 3>, View<T, 2>,     \
                                              View<T, 3>);                                        \
  template STRUCTMAT_EXPORT void log_determinant_vjp<T>(const exec::cpu&, const ToeplitzView<T>&, \
                                                        View<const real_t<T>, 1>, View<T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
