// Vandermonde matrices and matrices of exponentials as dense ones.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "structmat/vandermonde/vandermonde.hpp"
#include "vandermonde/geometric.cuh"

namespace structmat {
namespace {

constexpr char operation[] = "vandermonde::to_dense";

/// x_i^j: one power for a row of a patch, and then steps.
template <class T>
struct Powers {
  gpu::Strided<const T, 2> nodes;
  __device__ void operator()(index_t b, gpu::Patch<T>& patch) const {
    constexpr int size = gpu::Patch<T>::size;
#pragma unroll
    for (int a = 0; a < size; ++a) {
      const auto base = gpu::widened(nodes(b, patch.i[a]));
      auto power = gpu::power(base, patch.j[0]);
      const auto step = gpu::power(base, patch.j_step);
#pragma unroll
      for (int c = 0; c < size; ++c) {
        patch.value[a][c] = gpu::narrowed<T>(power);
        power *= step;
      }
    }
  }
};

/// exp(i a_j)
template <class T>
struct Exponentials {
  gpu::Strided<const T, 2> poles;
  __device__ void operator()(index_t b, gpu::Patch<T>& patch) const {
    constexpr int size = gpu::Patch<T>::size;
#pragma unroll
    for (int c = 0; c < size; ++c) {
      const gpu::Geometric<T> term(poles(b, patch.j[c]), gpu::Terms::exponentials);
#pragma unroll
      for (int a = 0; a < size; ++a) patch.value[a][c] = term(patch.i[a]);
    }
  }
};

}  // namespace

template <Scalar T>
void to_dense(const exec::cuda& e, const VandermondeView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = vandermonde::checked(matrix, operation);
  const Powers<D> entry{gpu::strided(m.x)};
  gpu::write_entries<T>(operation, e, entry, dense, {m.batch(), m.rows(), m.cols()});
}
template <Scalar T>
void to_dense(const exec::cuda& e, const LogVandermondeView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = vandermonde::checked(matrix, operation);
  const Exponentials<D> entry{gpu::strided(m.a)};
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
