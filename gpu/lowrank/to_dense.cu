// Matrices of low rank as dense ones: the product of their factors.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "dense/product.cuh"
#include "structmat/lowrank/low_rank.hpp"

namespace structmat {

template <Scalar T>
void to_dense(const exec::cuda& e, const LowRankView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  constexpr auto operation = "lowrank::to_dense";
  const auto m = lowrank::checked(matrix, operation);
  gpu::require_dense(operation, dense, {m.batch(), m.rows(), m.cols()});
  const int processors = gpu::multiprocessors(operation);
  gpu::multiply<D>(operation, {m.rows(), m.cols(), m.order(), m.batch()}, gpu::factor(m.u),
                   gpu::factor(m.v).transposed(), gpu::target(dense), processors,
                   gpu::stream_of(e));
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const LowRankView<T, space::cuda>&, \
                                          View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
