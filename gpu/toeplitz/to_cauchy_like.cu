// Toeplitz matrices as Cauchy-like ones, on the device.
#include "structmat/toeplitz/to_cauchy_like.hpp"

#include "core/instantiate.hpp"
#include "toeplitz/cauchy_image.cuh"

namespace structmat::toeplitz {

template <Scalar T>
void to_cauchy_like(const exec::cuda& e, const ToeplitzView<T, space::cuda>& matrix,
                    CauchyLike<std::complex<real_t<T>>, space::cuda>& c) {
  constexpr auto operation = "toeplitz::to_cauchy_like";
  using D = gpu::device_scalar_t<T>;
  const auto m = checked(matrix, operation);
  device::require_small_square(operation, m.rows(), m.cols());
  const index_t n = m.rows();
  if (c.rows() != n || c.cols() != n || c.order() != 2 || c.batch() != m.batch()) {
    throw ShapeError(std::string(operation) + ": the result is a batch of " +
                     std::to_string(c.batch()) + ", " + std::to_string(c.rows()) + " x " +
                     std::to_string(c.cols()) + ", of order " + std::to_string(c.order()) +
                     "; it must be " + std::to_string(m.batch()) + ", " + std::to_string(n) +
                     " x " + std::to_string(n) + ", of order 2");
  }
  const int processors = gpu::multiprocessors(operation);
  device::enqueue_generators(
      operation,
      device::GeneratorProblem<D>{m.batch(), n, gpu::strided(m.lags), gpu::strided(c.g.view()),
                                  gpu::strided(c.h.view()), gpu::strided(c.s.view()),
                                  gpu::strided(c.t.view())},
      processors, gpu::stream_of(e));
}

#define STRUCTMAT_INSTANTIATE(T)                              \
  template STRUCTMAT_EXPORT void to_cauchy_like<T>(           \
      const exec::cuda&, const ToeplitzView<T, space::cuda>&, \
      CauchyLike<std::complex<real_t<T>>, space::cuda>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
