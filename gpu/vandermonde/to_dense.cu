// Vandermonde matrices and matrices of exponentials as dense ones.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "structmat/vandermonde/vandermonde.hpp"
#include "vandermonde/sums.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "vandermonde::to_dense";

/// Term `lag` of sequence `pole`: (i, j) = (pole, lag) of a Vandermonde matrix, (lag, pole) of the other.
template <class T>
struct TermEntry {
  gpu::Sequences<T> z;
  __device__ T operator()(index_t b, index_t i, index_t j) const {
    const bool powers = z.terms == gpu::Terms::powers;
    return z(b, powers ? i : j)(powers ? j : i);
  }
};

}  // namespace

template <Scalar T>
void to_dense(const exec::cuda& e, const VandermondeView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = vandermonde::checked(matrix, operation);
  const TermEntry<D> entry{{gpu::strided(m.x), m.cols(), m.rows(), gpu::Terms::powers, false}};
  gpu::write_entries<T>(operation, e, entry, dense, {m.batch(), m.rows(), m.cols()});
}
template <Scalar T>
void to_dense(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = vandermonde::checked(matrix, operation);
  const TermEntry<D> entry{
      {gpu::strided(m.a), m.rows(), m.cols(), gpu::Terms::exponentials, false}};
  gpu::write_entries<T>(operation, e, entry, dense, {m.batch(), m.rows(), m.cols()});
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                               \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const V<T, space::cuda>&, \
                                          View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                 \
  STRUCTMAT_INSTANTIATE_VIEW(VandermondeView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(LogVandermondeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
