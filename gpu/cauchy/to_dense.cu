// Cauchy and Cauchy-like matrices as dense ones.
#include "cauchy/reciprocal.cuh"
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "structmat/cauchy/cauchy.hpp"

namespace structmat {
namespace {

constexpr char operation[] = "cauchy::to_dense";

/// 1 / (s_i - t_j), or with generators (sum_l g_il h_jl) / (s_i - t_j).
template <class T, bool Generators>
struct Quotients {
  gpu::Strided<const T, 2> s, t;
  gpu::Strided<const T, 3> g, h;
  index_t order;
  bool skip;

  __device__ void operator()(index_t b, gpu::Patch<T>& patch) const {
    constexpr int size = gpu::Patch<T>::size;
    if constexpr (Generators) patch.fill_products(g, h, b, order);
    T left[size], right[size];
#pragma unroll
    for (int a = 0; a < size; ++a) {
      left[a] = s(b, patch.i[a]);
      right[a] = t(b, patch.j[a]);
    }
#pragma unroll
    for (int a = 0; a < size; ++a) {
#pragma unroll
      for (int c = 0; c < size; ++c) {
        const T difference = left[a] - right[c];
        T& value = patch.value[a][c];
        if constexpr (!Generators)
          value = cauchy::device::exact_reciprocal(difference, skip);
        else if constexpr (gpu::is_complex<T>)
          value *= cauchy::device::exact_reciprocal(difference, skip);
        else
          value = skip && difference == 0 ? T(0) : value / difference;
      }
    }
  }
};

}  // namespace

template <Scalar T>
void to_dense(const exec::cuda& e, const CauchyView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = cauchy::checked(matrix, operation);
  const Quotients<D, false> entry{
      gpu::strided(m.s), gpu::strided(m.t), {}, {}, 0, m.coincidence == Coincidence::skip};
  gpu::write_entries<T>(operation, e, entry, dense, {m.batch(), m.rows(), m.cols()});
}
template <Scalar T>
void to_dense(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = cauchy::checked(matrix, operation);
  const Quotients<D, true> entry{gpu::strided(m.s), gpu::strided(m.t),
                                 gpu::strided(m.g), gpu::strided(m.h),
                                 m.order(),         m.coincidence == Coincidence::skip};
  gpu::write_entries<T>(operation, e, entry, dense, {m.batch(), m.rows(), m.cols()});
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const CauchyView<T, space::cuda>&, \
                                          View<T, 3, space::cuda>);                             \
  template STRUCTMAT_EXPORT void to_dense(                                                      \
      const exec::cuda&, const CauchyLikeView<T, space::cuda>&, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
