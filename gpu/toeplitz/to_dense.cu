// Toeplitz-like matrices as dense ones: an entry is one of their numbers.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "toeplitz/lags.cuh"

namespace structmat {
namespace toeplitz {
namespace {

template <class T>
struct LagEntries {
  device::Lags<T> lags;
  __device__ void operator()(index_t b, gpu::Patch<T>& patch) const {
    if (lags.wrap != 0) {
      patch.fill([&](index_t i, index_t j) { return lags(b, i - j); });
      return;
    }
    const T* const main = &lags.data(b, lags.cols - 1);
    const index_t step = lags.data.stride[1];
    patch.fill([&](index_t i, index_t j) { return main[i * step - j * step]; });
  }
};

template <Scalar T>
void expand(const char* operation, const exec::cuda& e, const DeviceMatrix<T>& m,
            const View<T, 3, space::cuda>& dense) {
  using D = gpu::device_scalar_t<T>;
  gpu::write_entries<T>(operation, e, LagEntries<D>{m.lags(false)},
                        m.hankel && !dense.empty() ? dense.reversed(2) : dense,
                        {m.batch(), m.rows, m.cols});
}

}  // namespace
}  // namespace toeplitz

template <Scalar T>
void to_dense(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense) {
  constexpr auto operation = "toeplitz::to_dense";
  toeplitz::expand<T>(operation, e, toeplitz::device_matrix(m, operation), dense);
}
template <Scalar T>
void to_dense(const exec::cuda& e, const HankelView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense) {
  constexpr auto operation = "hankel::to_dense";
  toeplitz::expand<T>(operation, e, toeplitz::device_matrix(m, operation), dense);
}
template <Scalar T>
void to_dense(const exec::cuda& e, const CirculantView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense) {
  constexpr auto operation = "circulant::to_dense";
  toeplitz::expand<T>(operation, e, toeplitz::device_matrix(m, operation), dense);
}
template <Scalar T>
void to_dense(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense) {
  constexpr auto operation = "skew_circulant::to_dense";
  toeplitz::expand<T>(operation, e, toeplitz::device_matrix(m, operation), dense);
}

#define STRUCTMAT_INSTANTIATE_FAMILY(T, M)                                             \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const M<T, space::cuda>&, \
                                          View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                 \
  STRUCTMAT_INSTANTIATE_FAMILY(T, ToeplitzView)  \
  STRUCTMAT_INSTANTIATE_FAMILY(T, HankelView)    \
  STRUCTMAT_INSTANTIATE_FAMILY(T, CirculantView) \
  STRUCTMAT_INSTANTIATE_FAMILY(T, SkewCirculantView)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
