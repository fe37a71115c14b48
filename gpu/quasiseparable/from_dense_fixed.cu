// Generators of given orders for every index of a dense matrix, enqueued as a whole.
#include "core/instantiate.hpp"
#include "quasiseparable/realise_kernel.cuh"
#include "quasiseparable/triangle_sweep.cuh"
#include "structmat/quasiseparable/from_dense.hpp"

namespace structmat::quasiseparable {
namespace {

using namespace device;

constexpr char operation[] = "quasiseparable::from_dense";

constexpr index_t most_order = 128;
constexpr int measure_blocks = 256;

template <Scalar T>
struct Layout {
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;

  index_t n, order, size, steps, ld, pitch, summary, group;
  std::array<index_t, 2> orders;
  index_t scratch_size = 0;
  unsigned blocks = 0;
  std::size_t shared_bytes = 0;
  typename PairSweep<T>::Memory sweep{};
  D *p[2]{}, *v[2]{}, *bases[2]{}, *scratch = nullptr;
  double *summaries[2]{}, *dropped[2]{}, *rounding[2]{}, *parts = nullptr, *norm = nullptr;
  R* scale = nullptr;

  Layout(index_t rows, Order o)
      : n(rows), order(std::max(o.lower, o.upper)), orders{o.lower, o.upper} {
    constexpr index_t least = 16, most = 64, indices_at_once = 1024;
    size = std::clamp(order, least, most);
    steps = (n + size - 1) / size;
    ld = order + size;
    pitch = ld * std::max<index_t>(order, 1);
    summary = PairSweep<T>::summary_size(order, size);
    group = std::min(steps, indices_at_once / size) * size;
    int device = 0, limit = 0;
    const int processors = gpu::multiprocessors(operation);
    gpu::check(cudaGetDevice(&device), operation);
    gpu::check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               operation);
    const index_t small = realise_bytes<D>(realise_columns(order, size)),
                  all = realise_size(order, size) * static_cast<index_t>(sizeof(D));
    const bool shared = small + all <= limit;
    shared_bytes = static_cast<std::size_t>(shared ? small + all : small);
    blocks = gpu::persistent_blocks(
        std::min<index_t>(2 * group, shared ? 2 * group : 2 * processors), 1, processors);
    if (!shared) scratch_size = realise_size(order, size);
  }

  void take(gpu::Workspace& w) {
    sweep = {operation, w, n, order, size};
    for (int i = 0; i < 2; ++i) {
      p[i] = w.take<D>(steps * pitch);
      v[i] = w.take<D>(steps * pitch);
      bases[i] = w.take<D>(group * pitch);
      summaries[i] = w.take<double>(steps * summary);
      dropped[i] = w.take<double>(n);
      rounding[i] = w.take<double>(n);
    }
    scratch = scratch_size > 0 ? w.take<D>(index_t{blocks} * scratch_size) : nullptr;
    parts = w.take<double>(measure_blocks);
    norm = w.take<double>(1);
    scale = w.take<R>(3);
  }
};

void require_order(Order order) {
  if (std::max(order.lower, order.upper) > most_order) {
    throw Unsupported(std::string(operation) + ": orders " + std::to_string(order.lower) + " and " +
                      std::to_string(order.upper) + ", at most " + std::to_string(most_order) +
                      " are offered");
  }
}
template <Scalar T>
void require_square(const View<const T, 3, space::cuda>& m) {
  if (m.extent(1) != m.extent(2)) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.extent(1)) +
                     " x " + std::to_string(m.extent(2)) + ", it must be square");
  }
}

/// One entry of the batch.
template <Scalar T>
void enqueue(const exec::cuda& e, const Layout<T>& layout, const View<const T, 2, space::cuda>& m,
             Quasiseparable<T, transition::Dense, space::cuda>& result, index_t b,
             TruncationReport* report) {
  using D = gpu::device_scalar_t<T>;
  const cudaStream_t stream = gpu::stream_of(e);
  const int processors = gpu::multiprocessors(operation);
  const bool by_columns = std::abs(m.stride(0)) < std::abs(m.stride(1));
  const Measure<D> measure{gpu::strided(by_columns ? m.transposed() : m),
                           layout.n,
                           layout.parts,
                           static_cast<int>(std::min<index_t>(layout.n, measure_blocks)),
                           layout.norm,
                           layout.scale};
  gpu::launch(operation, measure_kernel<D>, static_cast<unsigned>(measure.count), measure_threads,
              stream, measure);
  gpu::launch(operation, scale_kernel<D>, 1, measure_threads, stream, measure);

  PairSweep<T> sweep(operation, e, m, layout.scale, layout.orders, layout.size, layout.sweep);
  for (index_t step = 0; step < layout.steps; ++step) {
    const index_t begin = step * layout.size, size = std::min(layout.size, layout.n - begin);
    for (int i = 0; i < 2; ++i) sweep.rows(i, begin, size, layout.p[i] + step * layout.pitch);
    sweep.advance_by(
        begin, size,
        {layout.summaries[0] + step * layout.summary, layout.summaries[1] + step * layout.summary},
        {layout.v[0] + step * layout.pitch, layout.v[1] + step * layout.pitch});
  }

  Realisation<D> all{};
  const auto entry = [&](auto& array) { return gpu::strided(array.view().select(0, b)); };
  for (int i = 0; i < 2; ++i) {
    auto& s = all.side[i];
    s.m = gpu::strided(i == 0 ? m : m.transposed());
    s.order = static_cast<int>(layout.orders[i]);
    s.pitch = layout.pitch;
    s.p = layout.p[i], s.v = layout.v[i], s.bases = layout.bases[i];
    s.summaries = layout.summaries[i];
    s.dropped = layout.dropped[i], s.rounding = layout.rounding[i];
  }
  all.side[0].out_p = entry(result.p), all.side[0].out_q = entry(result.q);
  all.side[0].out_a = entry(result.a);
  // Of the transposed upper part: h, b^T, g.
  all.side[1].out_p = entry(result.h), all.side[1].out_q = entry(result.g);
  all.side[1].out_a = entry(result.b);
  std::swap(all.side[1].out_a.stride[1], all.side[1].out_a.stride[2]);
  all.diagonal = entry(result.d);
  all.scale = layout.scale;
  all.n = layout.n;
  all.size = static_cast<int>(layout.size);
  all.ld = static_cast<int>(layout.ld);
  all.summary_pitch = layout.summary;
  all.scratch = layout.scratch;
  all.scratch_stride = layout.scratch_size;
  const int columns = static_cast<int>(realise_columns(layout.order, layout.size));
  const unsigned threads =
      static_cast<unsigned>(std::clamp<index_t>((columns + 1) / 2 * 32, 32, realise_threads));
  for (index_t begin = 0; begin < layout.n; begin += layout.group) {
    all.begin = begin;
    all.end = std::min(begin + layout.group, layout.n);
    gpu::launch(operation, cut_indices_kernel<D>,
                gpu::Grid{layout.blocks, threads, layout.shared_bytes}, stream, all, columns);
    gpu::launch(operation, write_generators_kernel<D>,
                gpu::persistent_blocks(2 * (all.end - begin), 1, processors), write_threads, stream,
                all);
  }
  gpu::launch(
      operation, realisation_report_kernel<D, TruncationReport>, 1, measure_threads, stream,
      RealisationReport<D, TruncationReport>{
          all, layout.steps, static_cast<int>(PairSweep<T>::oversampling), layout.norm, report});
}

}  // namespace

template <Scalar T>
index_t from_dense_workspace_bytes(const View<const T, 3, space::cuda>& m, Order order) {
  require_square(m);
  require_order(order);
  gpu::Blas::prepare(operation);
  Layout<T> layout(m.extent(1), order);
  return gpu::counted(operation, [&](gpu::Workspace& w) { layout.take(w); });
}

template <Scalar T>
void from_dense(const exec::cuda& e, View<const T, 3, space::cuda> m,
                Quasiseparable<T, transition::Dense, space::cuda>& result,
                View<TruncationReport, 1, space::cuda> reports) {
  require_square(m);
  const index_t batch = m.extent(0), n = m.extent(1);
  if (result.batch() != batch || result.size() != n) {
    throw ShapeError(std::string(operation) + ": the result has batch " +
                     std::to_string(result.batch()) + " and " + std::to_string(result.size()) +
                     " rows, the matrix " + std::to_string(batch) + " and " + std::to_string(n));
  }
  checked(result.view(), operation);
  require_order(result.order());
  detail::require_extents(operation, reports, {batch});
  gpu::require_writable(operation, reports, "reports");
  Layout<T> layout(n, result.order());
  gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { layout.take(w); });
  gpu::require_apart(operation, e.workspace, m, "m");
  if (n == 0) {
    for (index_t b = 0; b < batch; ++b) {
      gpu::check(cudaMemsetAsync(reports.data() + reports.offset(b), 0, sizeof(TruncationReport),
                                 gpu::stream_of(e)),
                 operation);
    }
    return;
  }
  for (index_t b = 0; b < batch; ++b) {
    enqueue<T>(e, layout, m.select(0, b), result, b, reports.data() + reports.offset(b));
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT index_t from_dense_workspace_bytes<T>(                                 \
      const View<const T, 3, space::cuda>&, Order);                                                \
  template STRUCTMAT_EXPORT void from_dense<T>(const exec::cuda&, View<const T, 3, space::cuda>,   \
                                               Quasiseparable<T, transition::Dense, space::cuda>&, \
                                               View<TruncationReport, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
