// Matrices of low rank as dense ones: the product of their factors.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "structmat/lowrank/low_rank.hpp"

namespace structmat {

namespace {

template <class T>
struct Products {
  gpu::Strided<const T, 3> u, v;
  index_t order;
  __device__ void operator()(index_t b, gpu::Patch<T>& patch) const {
    patch.fill_products(u, v, b, order);
  }
};

}  // namespace

template <Scalar T>
void to_dense(const exec::cuda& e, const LowRankView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  constexpr auto operation = "lowrank::to_dense";
  const auto m = lowrank::checked(matrix, operation);
  gpu::write_entries<T>(operation, e, Products<D>{gpu::strided(m.u), gpu::strided(m.v), m.order()},
                        dense, {m.batch(), m.rows(), m.cols()});
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const LowRankView<T, space::cuda>&, \
                                          View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
