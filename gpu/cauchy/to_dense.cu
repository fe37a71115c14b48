// Cauchy and Cauchy-like matrices as dense ones.
#include "cauchy/reciprocal.cuh"
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "structmat/cauchy/cauchy.hpp"

namespace structmat {
namespace {

constexpr char operation[] = "cauchy::to_dense";

/// numerator / (s_i - t_j), without generators (Order 0) or with them.
template <class T, bool Generators>
struct Quotient {
  gpu::Strided<const T, 2> s, t;
  gpu::Strided<const T, 3> g, h;
  index_t order;
  bool skip;

  __device__ T operator()(index_t b, index_t i, index_t j) const {
    const T difference = s(b, i) - t(b, j);
    T numerator(1);
    if constexpr (Generators) {
      numerator = T(0);
      for (index_t l = 0; l < order; ++l)
        numerator = gpu::multiply_add(g(b, i, l), h(b, j, l), numerator);
    }
    if constexpr (!Generators || gpu::is_complex<T>) {
      const T r = cauchy::device::exact_reciprocal(difference, skip);
      return Generators ? numerator * r : r;
    } else {
      return skip && difference == 0 ? T(0) : numerator / difference;
    }
  }
};

}  // namespace

template <Scalar T>
void to_dense(const exec::cuda& e, const CauchyView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = cauchy::checked(matrix, operation);
  const Quotient<D, false> entry{
      gpu::strided(m.s), gpu::strided(m.t), {}, {}, 0, m.coincidence == Coincidence::skip};
  gpu::write_entries<T>(operation, e, entry, dense, {m.batch(), m.rows(), m.cols()});
}
template <Scalar T>
void to_dense(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = cauchy::checked(matrix, operation);
  const Quotient<D, true> entry{gpu::strided(m.s), gpu::strided(m.t),
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
