// Butterfly and Monarch matrices as dense ones: columns through all factors, and entries.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "structmat/butterfly/apply.hpp"

namespace structmat {
namespace {

constexpr auto monarch_operation = "monarch::to_dense";

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
  const auto m = monarch::checked(matrix, monarch_operation);
  const MonarchEntries<D> entry{gpu::strided(m.w1), gpu::strided(m.w2), m.w1.extent(2),
                                m.w1.extent(3), m.w2.extent(1)};
  gpu::write_entries<T>(monarch_operation, e, entry, dense, {m.batch(), m.rows(), m.cols()});
}

namespace {

constexpr auto butterfly_operation = "butterfly::to_dense";

/// Columns that go through the factors together.
constexpr index_t columns_at_once = 256;

/// The identity of size n with strides 1 and -1: zeros with a one in the middle, and what products of
/// that many columns need.
template <class T>
struct Buffers {
  T* line;
  std::byte* product;
  index_t product_bytes;
};

template <Scalar T>
auto layout(const ButterflyView<T, space::cuda>& m) {
  const index_t n = m.cols(), k = std::min(n, columns_at_once);
  const index_t product = n == 0 ? 0 : apply_workspace_bytes(m, k, m.batch());
  return [=](gpu::Workspace& w) {
    T* const line = w.take<T>(n == 0 ? 0 : 2 * n - 1);
    return Buffers<T>{line, w.take<std::byte>(product), product};
  };
}

template <class T>
struct Line {
  T* numbers;
  index_t n;
};
template <class T>
__global__ void write_unit_line(const __grid_constant__ Line<T> p) {
  for (index_t i = index_t{blockIdx.x} * blockDim.x + threadIdx.x; i < 2 * p.n - 1;
       i += index_t{gridDim.x} * blockDim.x) {
    p.numbers[i] = T(i == p.n - 1 ? 1 : 0);
  }
}

}  // namespace

template <Scalar T>
index_t to_dense_workspace_bytes(const ButterflyView<T, space::cuda>& matrix) {
  const auto m = butterfly::checked(matrix, butterfly_operation);
  return gpu::counted(butterfly_operation, layout(m));
}

template <Scalar T>
void to_dense(const exec::cuda& e, const ButterflyView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  using D = gpu::device_scalar_t<T>;
  const auto m = butterfly::checked(matrix, butterfly_operation);
  const index_t n = m.cols();
  gpu::require_dense(butterfly_operation, dense, {m.batch(), m.rows(), n});
  const auto buffers = gpu::cut(butterfly_operation, e.workspace, layout(m));
  gpu::require_apart(butterfly_operation, e.workspace, dense, "the result");
  const int processors = gpu::multiprocessors(butterfly_operation);
  if (dense.empty()) return;
  constexpr unsigned threads = 256;
  gpu::launch(butterfly_operation, write_unit_line<D>,
              gpu::Grid{gpu::persistent_blocks(2 * n - 1, threads, processors), threads},
              gpu::stream_of(e), Line<D>{gpu::device_pointer(buffers.line), n});
  const View<const T, 3, space::cuda> identity(buffers.line + (n - 1), {1, n, n}, {0, 1, -1});
  const exec::cuda inner{e.stream, {buffers.product, {buffers.product_bytes}}};
  for (index_t j = 0; j < n; j += columns_at_once) {
    const index_t end = std::min(n, j + columns_at_once);
    apply(inner, m, Op::none, identity.slice(2, j, end), dense.slice(2, j, end));
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const MonarchView<T, space::cuda>&,   \
                                          View<T, 3, space::cuda>);                                \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(                                      \
      const ButterflyView<T, space::cuda>&);                                                       \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const ButterflyView<T, space::cuda>&, \
                                          View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
