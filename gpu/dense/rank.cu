// Ranks of many small matrices: their singular values, counted.
#include <limits>

#include "core/instantiate.hpp"
#include "dense/singular_values.cuh"
#include "structmat/dense/singular_values.hpp"

namespace structmat::dense {
namespace {

constexpr char operation[] = "dense::rank";
constexpr unsigned count_threads = 128;

template <class R>
struct CountProblem {
  const R* sigma;  ///< descending
  const int* status;
  index_t batch;
  int number;
  double tolerance;
  double reference;  ///< negative: the Frobenius norm
  gpu::Strided<int, 1> ranks;
  gpu::Strided<R, 1> smallest_kept, largest_dropped;
};

template <class R>
__global__ void __launch_bounds__(count_threads)
    count_values(const __grid_constant__ CountProblem<R> p) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t b = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; b < p.batch;
       b += step) {
    const R* const sigma = p.sigma + b * p.number;
    const bool finite = p.status[b] == 0;
    const double first = p.number > 0 ? static_cast<double>(sigma[0]) : 0;
    double reference = p.reference;
    if (reference < 0) {
      double sum = 0;
      for (int l = 0; l < p.number && first > 0; ++l) {
        const double ratio = static_cast<double>(sigma[l]) / first;
        sum += ratio * ratio;
      }
      reference = first * sqrt(sum);
    }
    int rank = 0;
    while (rank<p.number&& static_cast<double>(sigma[rank])> p.tolerance * reference) ++rank;
    const auto relative = [&](int l) {
      if (!finite) return static_cast<R>(NAN);
      if (l < 0 || l >= p.number || !(reference > 0)) return R(0);
      return static_cast<R>(static_cast<double>(sigma[l]) / reference);
    };
    p.ranks(b) = finite ? rank : -1;
    if (p.smallest_kept.data != nullptr) p.smallest_kept(b) = relative(rank - 1);
    if (p.largest_dropped.data != nullptr) p.largest_dropped(b) = relative(rank);
  }
}

template <class T>
struct Memory {
  gpu::SingularValues<gpu::device_scalar_t<T>> values;
  real_t<T>* sigma = nullptr;
  int* status = nullptr;

  explicit Memory(const View<const T, 3, space::cuda>& a)
      : values(operation, a.extent(0), a.extent(1), a.extent(2)) {}

  void take(gpu::Workspace& w, index_t batch, index_t number) {
    values.take(w);
    sigma = w.take<real_t<T>>(batch * number);
    status = w.take<int>(batch);
  }
};

template <class T>
void require_entries(const View<T, 1, space::cuda>& v, const char* name, index_t batch) {
  if (v.extent(0) != batch) {
    throw ShapeError(std::string(operation) + ": " + name + " has " + std::to_string(v.extent(0)) +
                     " entries, the batch " + std::to_string(batch));
  }
  gpu::require_writable(operation, v, name);
}

void require_non_negative(const char* name, const std::optional<double>& v) {
  if (v && !(*v >= 0)) {
    throw DomainError(std::string(operation) + ": the " + name + " is " + std::to_string(*v) +
                      ", it must be at least 0");
  }
}

}  // namespace

template <Scalar T>
index_t rank_workspace_bytes(const View<const T, 3, space::cuda>& a) {
  return gpu::counted(operation, [&](gpu::Workspace& w) {
    Memory<T>(a).take(w, a.extent(0), std::min(a.extent(1), a.extent(2)));
  });
}

template <Scalar T>
void rank(const exec::cuda& e, View<const T, 3, space::cuda> a, const RankTolerance& tolerance,
          View<int, 1, space::cuda> ranks, View<real_t<T>, 1, space::cuda> smallest_kept,
          View<real_t<T>, 1, space::cuda> largest_dropped) {
  using R = real_t<T>;
  const index_t batch = a.extent(0), number = std::min(a.extent(1), a.extent(2));
  require_entries(ranks, "ranks", batch);
  if (smallest_kept.data() != nullptr) require_entries(smallest_kept, "smallest_kept", batch);
  if (largest_dropped.data() != nullptr) require_entries(largest_dropped, "largest_dropped", batch);
  require_non_negative("tolerance", tolerance.tolerance);
  require_non_negative("reference", tolerance.reference);
  Memory<T> memory(a);
  gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { memory.take(w, batch, number); });
  gpu::require_apart(operation, e.workspace, a, "a");
  gpu::require_apart(operation, e.workspace, ranks, "ranks");
  gpu::require_apart(operation, e.workspace, smallest_kept, "smallest_kept");
  gpu::require_apart(operation, e.workspace, largest_dropped, "largest_dropped");
  if (batch == 0) return;
  const cudaStream_t stream = gpu::stream_of(e);
  memory.values.enqueue(stream, gpu::strided(a), {memory.sigma, {number, 1}}, {memory.status, {1}});
  const double longer = static_cast<double>(std::max(a.extent(1), a.extent(2)));
  const CountProblem<R> p{memory.sigma,
                          memory.status,
                          batch,
                          static_cast<int>(number),
                          tolerance.tolerance.value_or(longer * static_cast<double>(epsilon<T>)),
                          tolerance.reference.value_or(-1),
                          gpu::strided(ranks),
                          gpu::strided(smallest_kept),
                          gpu::strided(largest_dropped)};
  gpu::launch(operation, count_values<R>,
              gpu::persistent_blocks(batch, count_threads, gpu::multiprocessors(operation)),
              count_threads, stream, p);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT index_t rank_workspace_bytes(const View<const T, 3, space::cuda>&); \
  template STRUCTMAT_EXPORT void rank(const exec::cuda&, View<const T, 3, space::cuda>,         \
                                      const RankTolerance&, View<int, 1, space::cuda>,          \
                                      View<real_t<T>, 1, space::cuda>,                          \
                                      View<real_t<T>, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
