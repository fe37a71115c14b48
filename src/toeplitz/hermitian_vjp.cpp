#include "structmat/toeplitz/hermitian_vjp.hpp"

#include "core/instantiate.hpp"
#include "structmat/core/shape.hpp"
#include "toeplitz/correlation.hpp"

namespace structmat::toeplitz {

template <Scalar T>
void solve_vjp(const exec::cpu& e, const HermitianInverse<T>& m, View<const T, 3> x,
               View<const T, 3> x_bar, View<T, 2> column_bar, View<T, 3> b_bar) {
  const char* const operation = "toeplitz::solve_vjp";
  const index_t n = m.size(), k = x_bar.extent(2);
  detail::Shape shape(operation, m.batch());
  shape.require("x_bar", x_bar, {n, k});
  shape.require("x", x, {n, k});
  const index_t batch = shape.batch();
  if (column_bar.data() != nullptr) shape.require("column_bar", column_bar, {n});
  if (b_bar.data() != nullptr) shape.require("b_bar", b_bar, {n, k});
  if (shape.batch() != batch) {
    throw ShapeError(std::string(operation) + ": gradients have batch " +
                     std::to_string(shape.batch()) + ", the solutions have " +
                     std::to_string(batch));
  }
  if (!m.ok()) throw DomainError(std::string(operation) + ": " + describe(m.status()));
  if (batch == 0 || n == 0 || k == 0) return;

  Array<T, 3> w({batch, n, k}, uninitialized);
  apply(e, m, Op::none, x_bar, w.view());
  x = x.broadcast(0, batch);
  const auto at = [](const auto& view, index_t b) {
    return view.select(0, view.extent(0) == 1 ? 0 : b);
  };
  HermitianCorrelation<T> correlation(m.formula().plan(), n);
  for (index_t b = 0; b < batch; ++b) {
    const View<const T, 2> of_entry = std::as_const(w).view().select(0, b);
    if (column_bar.data() != nullptr) {
      for (index_t c = 0; c < k; ++c) {
        correlation.add(of_entry.select(1, c), x.select(0, b).select(1, c));
      }
      correlation.take(-1, at(column_bar, b));
    }
    if (b_bar.data() == nullptr) continue;
    const View<T, 2> target = at(b_bar, b);
    for (index_t i = 0; i < n; ++i) {
      for (index_t c = 0; c < k; ++c) target(i, c) += of_entry(i, c);
    }
  }
}

template <Scalar T>
void log_determinant_vjp(const HermitianInverse<T>& m, index_t batch, double log_bar,
                         View<T, 1> column_bar) {
  const char* const operation = "toeplitz::log_determinant_vjp";
  detail::require_extents<T, 1, space::host>(operation, column_bar, {m.size()});
  const Array<T, 1> sums = m.diagonal_sums(batch);
  const auto factor = static_cast<real_t<T>>(log_bar);
  for (index_t l = 0; l < m.size(); ++l) {
    column_bar(l) += l == 0 ? factor * std::real(sums(l)) : 2 * factor * sums(l);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT void solve_vjp(const exec::cpu&, const HermitianInverse<T>&,          \
                                           View<const T, 3>, View<const T, 3>, View<T, 2>,        \
                                           View<T, 3>);                                           \
  template STRUCTMAT_EXPORT void log_determinant_vjp(const HermitianInverse<T>&, index_t, double, \
                                                     View<T, 1>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
