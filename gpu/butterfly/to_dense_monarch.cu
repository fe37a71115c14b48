// Monarch matrices as dense ones, entry by entry.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "structmat/butterfly/monarch.hpp"

namespace structmat {
namespace {

constexpr auto operation = "monarch::to_dense";

/// The sum over the intermediate indices tau = lambda mod l of block kappa of w1.
template <class T>
struct MonarchEntries {
  gpu::Strided<const T, 4> w1, w2;
  index_t q, p, l;

  __device__ void operator()(index_t b, gpu::Patch<T>& patch) const {
    patch.fill([&](index_t i, index_t j) { return entry(b, i, j); });
  }
  __device__ T entry(index_t b, index_t i, index_t j) const {
    const index_t sigma = i / l, lambda = i - sigma * l, kappa = j / p, pi = j - kappa * p;
    const index_t begin = kappa * q, end = begin + q;
    T sum(0);
    for (index_t rho = (begin - lambda + l - 1) / l; rho * l + lambda < end; ++rho) {
      sum = gpu::multiply_add(w2(b, lambda, sigma, rho), w1(b, kappa, rho * l + lambda - begin, pi),
                              sum);
    }
    return sum;
  }
};

}  // namespace

template <Scalar T>
void to_dense(const exec::cuda& e, const MonarchView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = monarch::checked(matrix, operation);
  const MonarchEntries<D> entry{gpu::strided(m.w1), gpu::strided(m.w2), m.w1.extent(2),
                                m.w1.extent(3), m.w2.extent(1)};
  gpu::write_entries<T>(operation, e, entry, dense, {m.batch(), m.rows(), m.cols()});
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const MonarchView<T, space::cuda>&, \
                                          View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
