// The Gaussian log-likelihood on the device: factor, z = L^{-1} y, sums of |z_i|^2 / d_i and log d_i.
#include "structmat/quasiseparable/log_likelihood.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/instantiate.hpp"
#include "quasiseparable/ldl_operands.cuh"
#include "quasiseparable/log_sum_kernel.cuh"

namespace structmat::quasiseparable {
namespace {

using namespace device;

constexpr char operation[] = "quasiseparable::log_likelihood";

/// `constant`: n log(2 pi).
template <class S>
__global__ void __launch_bounds__(32)
    write_likelihoods(const __grid_constant__ LogSumProblem<S> problem, double constant,
                      const PivotStatus* status, index_t status_stride, double* value,
                      index_t value_stride) {
  for (index_t b = blockIdx.x; b < problem.batch; b += gridDim.x) {
    const LogSum sum = sum_of_entry(problem, b);
    if (threadIdx.x != 0) continue;
    const PivotStatus::Kind kind = status[b * status_stride].kind;
    value[b * value_stride] =
        kind == PivotStatus::Kind::ok           ? -0.5 * (sum.squares + sum.log + constant)
        : kind == PivotStatus::Kind::not_finite ? std::numeric_limits<double>::quiet_NaN()
                                                : -std::numeric_limits<double>::infinity();
  }
}

template <class T>
struct Memory {
  T *w, *z;
  real_t<T>* d;
  LogSum* partial;
  std::byte* inner;
  index_t inner_bytes;
};

/// m: over the batch of m and y.
template <Scalar T, transition::Uniform K>
auto layout(const QuasiseparableView<T, K, space::cuda>& m) {
  const index_t batch = m.batch(), n = m.size(), r = m.order().lower;
  const LdlView<T, K, space::cuda> factor{m.p, m.p, m.a, {nullptr, {batch, n}}};
  const index_t inner =
      std::max(factor_ldl_workspace_bytes(m), ldl_apply_workspace_bytes(factor, 1));
  return [=](gpu::Workspace& workspace) {
    Memory<T> memory{};
    memory.w = workspace.take<T>(batch * n * r);
    memory.z = workspace.take<T>(batch * n);
    memory.d = workspace.take<real_t<T>>(batch * n);
    memory.partial = workspace.take<LogSum>(batch * ((n + segment_length - 1) / segment_length));
    memory.inner = workspace.take<std::byte>(inner);
    memory.inner_bytes = inner;
    return memory;
  };
}

}  // namespace

template <Scalar T, transition::Uniform K>
index_t log_likelihood_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& m,
                                       index_t batch) {
  return gpu::counted(operation, layout(checked_lower(m, operation, batch)));
}

template <Scalar T, transition::Uniform K>
void log_likelihood(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& matrix,
                    View<const T, 2, space::cuda> y, View<double, 1, space::cuda> value,
                    View<PivotStatus, 1, space::cuda> status) {
  using S = gpu::device_scalar_t<T>;
  const index_t n = matrix.size(), r = matrix.order().lower;
  recurrence::Shape shape(operation, checked_lower(matrix, operation).batch(), n);
  shape.require("y", y, 0);
  const index_t batch = shape.batch();
  const auto m = checked_lower(matrix, operation, batch);
  detail::require_extents(operation, value, {batch});
  detail::require_extents(operation, status, {batch});
  require_order(operation, r);
  gpu::require_writable(operation, value, "the value");
  gpu::require_apart(operation, e.workspace, value, "the value");
  gpu::require_apart(operation, e.workspace, y, "y");
  if (overlaps(value, status)) {
    throw DomainError(std::string(operation) + ": the value and the status overlap in memory");
  }
  const auto memory = gpu::cut(operation, e.workspace, layout(m));
  const int processors = gpu::multiprocessors(operation);
  if (batch == 0) return;

  const exec::cuda inner{e.stream, {memory.inner, {memory.inner_bytes}}};
  const View<T, 3, space::cuda> w(memory.w, {batch, n, r}), z(memory.z, {batch, n, 1});
  const View<real_t<T>, 2, space::cuda> d(memory.d, {batch, n});
  factor_ldl(inner, m, {}, w, d, status);
  ldl_apply<T, K>(
      inner, {m.p, w, m.a, d}, LdlPart::solve_lower,
      View<const T, 3, space::cuda>(y.data(), {y.extent(0), n, 1}, {y.stride(0), y.stride(1), 1}),
      z);
  const LogSumProblem<S> problem{gpu::strided(View<const real_t<T>, 2, space::cuda>(d)),
                                 gpu::strided(View<const T, 2, space::cuda>(z.select(2, 0))),
                                 n,
                                 batch,
                                 (n + segment_length - 1) / segment_length,
                                 memory.partial};
  const cudaStream_t stream = gpu::stream_of(e);
  if (n > 0) {
    gpu::launch(operation, sum_segments<S>,
                gpu::persistent_blocks(batch * problem.segments, 1, processors), log_sum_threads,
                stream, problem);
  }
  gpu::launch(operation, write_likelihoods<S>, gpu::persistent_blocks(batch, 1, processors), 32,
              stream, problem, static_cast<double>(n) * std::log(2 * std::numbers::pi),
              status.data(), status.stride(0), value.data(), value.stride(0));
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                \
  template STRUCTMAT_EXPORT index_t log_likelihood_workspace_bytes(                \
      const QuasiseparableView<T, transition::K, space::cuda>&, index_t);          \
  template STRUCTMAT_EXPORT void log_likelihood(                                   \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, \
      View<const T, 2, space::cuda>, View<double, 1, space::cuda>,                 \
      View<PivotStatus, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
