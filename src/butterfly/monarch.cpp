#include "structmat/butterfly/monarch.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/write_entries.hpp"
#include "structmat/core/shape.hpp"

namespace structmat {

namespace monarch {

template <Scalar T, class Space>
MonarchView<T, Space> checked(MonarchView<T, Space> m, const char* operation, index_t batch) {
  const auto& [b1, k, q, p] = m.w1.extents();
  const auto& [b2, l, s, r] = m.w2.extents();
  if (l * r != k * q) {
    throw ShapeError(std::string(operation) + ": w1 gives " + std::to_string(k * q) +
                     " numbers, w2 takes " + std::to_string(l * r));
  }
  detail::Shape shape(operation, batch);
  shape.require("w1", m.w1, {k, q, p});
  shape.require("w2", m.w2, {l, s, r});
  const index_t all = shape.batch();
  return {m.w1.broadcast(0, all), m.w2.broadcast(0, all)};
}

}  // namespace monarch

namespace {

/// The sum over the intermediate indices tau = lambda mod l of block kappa of w1.
template <Scalar T>
T entry_of(const MonarchView<T>& m, index_t b, index_t i, index_t j) {
  const index_t q = m.w1.extent(2), p = m.w1.extent(3), l = m.w2.extent(1);
  const index_t lambda = i % l, sigma = i / l, kappa = j / p, pi = j % p;
  const index_t begin = kappa * q, end = begin + q;
  T sum{};
  for (index_t rho = (begin - lambda + l - 1) / l; rho * l + lambda < end; ++rho) {
    sum += product(m.w2(b, lambda, sigma, rho), m.w1(b, kappa, rho * l + lambda - begin, pi));
  }
  return sum;
}

}  // namespace

template <Scalar T>
T entry(const MonarchView<T>& matrix, index_t i, index_t j, index_t batch) {
  const auto m = monarch::checked(matrix, "monarch::entry");
  detail::require_index("monarch::entry", {m.batch(), m.rows(), m.cols()}, {batch, i, j});
  return entry_of(m, batch, i, j);
}

template <Scalar T>
void to_dense(const MonarchView<T>& matrix, View<T, 3> dense) {
  const auto m = monarch::checked(matrix, "monarch::to_dense");
  detail::write_entries("monarch::to_dense", dense, {m.batch(), m.rows(), m.cols()},
                        [&](index_t b, index_t i, index_t j) { return entry_of(m, b, i, j); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT MonarchView<T> monarch::checked(MonarchView<T>, const char*, index_t); \
  template STRUCTMAT_EXPORT MonarchView<T, space::cuda> monarch::checked(                          \
      MonarchView<T, space::cuda>, const char*, index_t);                                          \
  template STRUCTMAT_EXPORT T entry(const MonarchView<T>&, index_t, index_t, index_t);             \
  template STRUCTMAT_EXPORT void to_dense(const MonarchView<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
