#include "structmat/lowrank/low_rank.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/write_entries.hpp"
#include "structmat/core/shape.hpp"

namespace structmat {

namespace lowrank {

template <Scalar T, class Space>
LowRankView<T, Space> checked(LowRankView<T, Space> m, const char* operation, index_t batch) {
  detail::Shape shape(operation, batch);
  shape.require("u", m.u, {m.rows(), m.order()});
  shape.require("v", m.v, {m.cols(), m.order()});
  const index_t all = shape.batch();
  return {m.u.broadcast(0, all), m.v.broadcast(0, all)};
}

}  // namespace lowrank

namespace {

template <Scalar T>
T entry_of(const LowRankView<T>& m, index_t b, index_t i, index_t j) {
  T sum{};
  for (index_t k = 0; k < m.order(); ++k) sum += product(m.u(b, i, k), m.v(b, j, k));
  return sum;
}

}  // namespace

template <Scalar T>
T entry(const LowRankView<T>& matrix, index_t i, index_t j, index_t batch) {
  const auto m = lowrank::checked(matrix, "lowrank::entry");
  detail::require_index("lowrank::entry", {m.batch(), m.rows(), m.cols()}, {batch, i, j});
  return entry_of(m, batch, i, j);
}

template <Scalar T>
void to_dense(const LowRankView<T>& matrix, View<T, 3> dense) {
  const auto m = lowrank::checked(matrix, "lowrank::to_dense");
  detail::write_entries("lowrank::to_dense", dense, {m.batch(), m.rows(), m.cols()},
                        [&](index_t b, index_t i, index_t j) { return entry_of(m, b, i, j); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT LowRankView<T> lowrank::checked(LowRankView<T>, const char*, index_t); \
  template STRUCTMAT_EXPORT LowRankView<T, space::cuda> lowrank::checked(                          \
      LowRankView<T, space::cuda>, const char*, index_t);                                          \
  template STRUCTMAT_EXPORT T entry(const LowRankView<T>&, index_t, index_t, index_t);             \
  template STRUCTMAT_EXPORT void to_dense(const LowRankView<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
