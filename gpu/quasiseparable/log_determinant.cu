// log |det M| from the pivots of a factor on the device.
#include <limits>

#include "core/instantiate.hpp"
#include "quasiseparable/ldl_operands.cuh"
#include "quasiseparable/log_sum_kernel.cuh"
#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {
namespace {

using namespace device;

constexpr char operation[] = "quasiseparable::log_determinant";

auto layout(index_t batch, index_t n) {
  return [=](gpu::Workspace& workspace) {
    return workspace.take<LogSum>(batch * ((n + segment_length - 1) / segment_length));
  };
}

/// A LogDeterminant as kernels see it; its complex sign is aligned like a real number.
template <class S>
struct Result {
  double log_abs;
  gpu::real_of_t<S> sign[gpu::is_complex<S> ? 2 : 1];
};

template <class S>
__global__ void __launch_bounds__(32)
    write_determinants(const __grid_constant__ LogSumProblem<S> problem, Result<S>* result,
                       index_t stride) {
  for (index_t b = blockIdx.x; b < problem.batch; b += gridDim.x) {
    const LogSum sum = sum_of_entry(problem, b);
    if (threadIdx.x != 0) continue;
    const bool zero = sum.zeros > 0;
    result[b * stride].log_abs = zero ? -std::numeric_limits<double>::infinity() : sum.log;
    result[b * stride].sign[0] = zero ? 0 : sum.negatives % 2 != 0 ? -1 : 1;
    if constexpr (gpu::is_complex<S>) result[b * stride].sign[1] = 0;
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t log_determinant_workspace_bytes(const LdlView<T, K, space::cuda>& factor) {
  const auto f = checked(factor, operation);
  return gpu::counted(operation, layout(f.batch(), f.size()));
}

template <Scalar T, transition::Uniform K>
void log_determinant(const exec::cuda& e, const LdlView<T, K, space::cuda>& factor,
                     View<LogDeterminant<T>, 1, space::cuda> result) {
  using S = gpu::device_scalar_t<T>;
  static_assert(sizeof(Result<S>) == sizeof(LogDeterminant<T>));
  const auto f = checked(factor, operation);
  const index_t batch = f.batch(), n = f.size();
  detail::require_extents(operation, result, {batch});
  gpu::require_writable(operation, result, "the result");
  gpu::require_apart(operation, e.workspace, result, "the result");
  gpu::require_apart(operation, e.workspace, f.d, "d");
  LogSum* const partial = gpu::cut(operation, e.workspace, layout(batch, n));
  const int processors = gpu::multiprocessors(operation);
  if (batch == 0) return;
  const LogSumProblem<S> problem{
      gpu::strided(f.d), {}, n, batch, (n + segment_length - 1) / segment_length, partial};
  const cudaStream_t stream = gpu::stream_of(e);
  if (n > 0) {
    gpu::launch(operation, sum_segments<S>,
                gpu::persistent_blocks(batch * problem.segments, 1, processors), log_sum_threads,
                stream, problem);
  }
  gpu::launch(operation, write_determinants<S>, gpu::persistent_blocks(batch, 1, processors), 32,
              stream, problem, reinterpret_cast<Result<S>*>(result.data()), result.stride(0));
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                             \
  template STRUCTMAT_EXPORT index_t log_determinant_workspace_bytes(                            \
      const LdlView<T, transition::K, space::cuda>&);                                           \
  template STRUCTMAT_EXPORT void log_determinant(const exec::cuda&,                             \
                                                 const LdlView<T, transition::K, space::cuda>&, \
                                                 View<LogDeterminant<T>, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
