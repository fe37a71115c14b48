#include "structmat/vandermonde/vandermonde.hpp"

#include "core/instantiate.hpp"
#include "core/write_entries.hpp"
#include "structmat/core/shape.hpp"
#include "vandermonde/exponential.hpp"
#include "vandermonde/power.hpp"

namespace structmat {

namespace vandermonde {

namespace {

void require_count(const char* operation, const char* what, index_t count) {
  if (count >= 0) return;
  throw ShapeError(std::string(operation) + ": the number of " + what + " is " +
                   std::to_string(count) + ", it must not be negative");
}

}  // namespace

template <Scalar T, class Space>
VandermondeView<T, Space> checked(VandermondeView<T, Space> m, const char* operation,
                                  index_t batch) {
  require_count(operation, "columns", m.col_count);
  detail::Shape shape(operation, batch);
  shape.require("x", m.x, {m.rows()});
  return {m.x.broadcast(0, shape.batch()), m.col_count};
}

template <Scalar T, class Space>
LogVandermondeView<T, Space> checked(LogVandermondeView<T, Space> m, const char* operation,
                                     index_t batch) {
  require_count(operation, "rows", m.row_count);
  detail::Shape shape(operation, batch);
  shape.require("a", m.a, {m.cols()});
  return {m.a.broadcast(0, shape.batch()), m.row_count};
}

}  // namespace vandermonde

namespace {

/// The type that products are formed in.
template <Scalar T>
using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;

}  // namespace

template <Scalar T>
T entry(const VandermondeView<T>& matrix, index_t i, index_t j, index_t batch) {
  const auto m = vandermonde::checked(matrix, "vandermonde::entry");
  detail::require_index("vandermonde::entry", {m.batch(), m.rows(), m.cols()}, {batch, i, j});
  return T(vandermonde::power(m.x(batch, i), j).rounded());
}

template <Scalar T>
T entry(const LogVandermondeView<T>& matrix, index_t l, index_t k, index_t batch) {
  const auto m = vandermonde::checked(matrix, "vandermonde::entry");
  detail::require_index("vandermonde::entry", {m.batch(), m.rows(), m.cols()}, {batch, l, k});
  return T(vandermonde::exponential(Wide<T>(m.a(batch, k)), l));
}

template <Scalar T>
void to_dense(const VandermondeView<T>& matrix, View<T, 3> dense) {
  constexpr auto operation = "vandermonde::to_dense";
  const auto m = vandermonde::checked(matrix, operation);
  detail::require_extents<T, 3, space::host>(operation, dense, {m.batch(), m.rows(), m.cols()});
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < m.rows(); ++i) {
      const auto x = vandermonde::extended(m.x(b, i));
      auto power = vandermonde::extended(T{1});
      for (index_t j = 0; j < m.cols(); ++j) {
        dense(b, i, j) = T(power.rounded());
        power = j == 0 ? x : power * x;
      }
    }
  }
}

template <Scalar T>
void to_dense(const LogVandermondeView<T>& matrix, View<T, 3> dense) {
  constexpr auto operation = "vandermonde::to_dense";
  const auto m = vandermonde::checked(matrix, operation);
  detail::write_entries(operation, dense, {m.batch(), m.rows(), m.cols()},
                        [&](index_t b, index_t l, index_t k) {
                          return T(vandermonde::exponential(Wide<T>(m.a(b, k)), l));
                        });
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                           \
  template STRUCTMAT_EXPORT V<T> vandermonde::checked(V<T>, const char*, index_t);                 \
  template STRUCTMAT_EXPORT V<T, space::cuda> vandermonde::checked(V<T, space::cuda>, const char*, \
                                                                   index_t);                       \
  template STRUCTMAT_EXPORT T entry(const V<T>&, index_t, index_t, index_t);                       \
  template STRUCTMAT_EXPORT void to_dense(const V<T>&, View<T, 3>);
#define STRUCTMAT_INSTANTIATE(T)                 \
  STRUCTMAT_INSTANTIATE_VIEW(VandermondeView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(LogVandermondeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
