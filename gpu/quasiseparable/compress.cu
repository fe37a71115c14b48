#include "structmat/quasiseparable/compress.hpp"

#include <array>
#include <climits>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/strided.cuh"
#include "core/workspace.cuh"
#include "quasiseparable/compress_kernel.cuh"
#include "quasiseparable/truncation_options.hpp"

namespace structmat::quasiseparable {
namespace {

using namespace device;

constexpr char operation[] = "quasiseparable::compress";

template <class T>
using Matrix = Quasiseparable<T, transition::Block, space::cuda>;

/// Steps of a chunk: few, as each is passed twice, and enough that the scan has little to do.
constexpr index_t chunk = 12;
/// Columns of vectors that a reflection takes.
constexpr index_t most_states = 256;

index_t shared_limit() {
  int device = 0, bytes = 0;
  gpu::check(cudaGetDevice(&device), operation);
  gpu::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             operation);
  return bytes;
}

/// Memory of a unit of work: `size` numbers in shared memory behind `bytes` that always are, or in a
/// piece of the workspace for each block.
struct Place {
  unsigned blocks;
  index_t size, bytes;
  bool shared;

  /// warps: of a block; where it has one, more of them are wanted.
  template <class D>
  static Place of(index_t units, index_t size, index_t bytes, int warps, int processors,
                  index_t limit) {
    const index_t all = bytes + size * static_cast<index_t>(sizeof(D));
    const bool shared = all <= limit;
    // Outside, few blocks at a time: each has memory of its own.
    const index_t most = shared ? units : std::min<index_t>(units, 4 * processors);
    return {gpu::persistent_blocks(most, 1, warps == 1 ? 2 * processors : processors), size,
            shared ? all : bytes, shared};
  }
  template <class D>
  D* take(gpu::Workspace& w) const {
    return shared ? nullptr : w.take<D>(index_t{blocks} * size);
  }
  gpu::Grid grid(unsigned threads) const {
    return {blocks, threads, static_cast<std::size_t>(bytes)};
  }
};

template <class D>
class Compression {
 public:
  using R = gpu::real_of_t<D>;

  template <Scalar T>
  Compression(const Matrix<T>& m, index_t width)
      : processors_(gpu::multiprocessors(operation)), n_(m.size()) {
    m_.side[0] = generators(m.lower);
    m_.side[1] = generators(m.upper_transposed);
    m_.diagonal = gpu::device_pointer(m.diagonal.all.data());
    m_.diagonal_batch = m.diagonal.all.extent(0) == 1 ? 0 : m.diagonal.all.extent(1);
    m_.table = m.diagonal.table.data();
    m_.blocks = m.partition.blocks();
    m_.batch = m.batch();
    const index_t states = std::max(m.lower.order, m.upper_transposed.order);
    if (states > most_states) {
      throw Unsupported(std::string(operation) + ": states of " + std::to_string(states) +
                        " numbers, at most " + std::to_string(most_states) + " are offered");
    }
    m_.states = static_cast<int>(states);
    for (index_t k = 0; k < m_.blocks; ++k) rows_ = std::max(rows_, m.partition.size(k));
    width_ = width;
    chunks_ = (m_.blocks + chunk - 1) / chunk;
    inner_ = std::max<index_t>(m_.blocks - 1, 0);
    const index_t limit = shared_limit();
    small_ = states <= 16;
    piece_ = std::min<index_t>(rows_, std::max<index_t>(states, 32));
    // R on top of new rows, all but the head of a vector.
    piece_ = std::max<index_t>(std::min(piece_, most_states + 1 - states), 1);
    const index_t root = small_ ? Root<gpu::Team<32>, D>::size(states, piece_)
                                : Root<gpu::Team<256>, D>::size(states, piece_);
    root_place_ = Place::of<D>(m_.batch * 4 * chunks_, root, 0, small_ ? 1 : 8, processors_, limit);
    cut_place_ = Place::of<D>(m_.batch * 2 * inner_, cut_size(states), cut_bytes<D>(states),
                              small_ ? 1 : 8, processors_, limit);
    generator_place_ = Place::of<D>(m_.batch * 2 * m_.blocks, generator_size(states, rows_, width_),
                                    0, 4, processors_, limit);
  }

  void take(gpu::Workspace& w) {
    const index_t s = m_.states, square = s * s, boundaries = m_.batch * 2 * (m_.blocks + 1);
    const index_t elements = chunks_ > 1 ? m_.batch * 4 * chunks_ * 2 : 0;
    for (int i = 0; i < 2; ++i) {
      elements_[i] = w.take<D>(elements * square);
      element_exponents_[i] = w.take<int>(elements);
    }
    roots_.roots = w.take<D>(2 * boundaries * square);
    roots_.root_exponents = w.take<int>(2 * boundaries);
    roots_.broken = w.take<int>(m_.batch);
    roots_.scratch = root_place_.take<D>(w);
    row_norms_ = w.take<double>(m_.batch * m_.blocks);
    norms_ = w.take<double>(m_.batch);
    found_.width = static_cast<int>(width_);
    found_.basis = w.take<D>(boundaries * width_ * s);
    found_.lift = w.take<D>(boundaries * width_ * s);
    found_.lift_exponents = w.take<int>(boundaries);
    found_.roots = w.take<double>(boundaries * width_);
    found_.kept = w.take<int>(boundaries);
    found_.dropped = w.take<double>(boundaries);
    found_.rounding = w.take<double>(boundaries);
    cut_scratch_ = cut_place_.take<D>(w);
    generator_scratch_ = generator_place_.take<D>(w);
  }

  /// Norms, and what every boundary keeps: `states` and `most` as in Cut.
  void enqueue_cuts(cudaStream_t stream, const std::array<const index_t*, 2>& states, Order most,
                    double absolute, double relative) {
    const index_t boundaries = m_.batch * 2 * (m_.blocks + 1);
    const auto clear = [&](auto* array, index_t count) {
      gpu::check(cudaMemsetAsync(array, 0, count * sizeof(*array), stream), operation);
    };
    clear(roots_.broken, m_.batch);
    clear(found_.kept, boundaries);
    clear(found_.dropped, boundaries);
    clear(found_.rounding, boundaries);
    if (m_.blocks > 0 && m_.states > 0) {
      small_ ? enqueue_roots<32>(stream) : enqueue_roots<256>(stream);
    }
    if (m_.blocks > 0) {
      gpu::launch(operation, row_norms_kernel<D>,
                  gpu::persistent_blocks(m_.batch * m_.blocks, 1, processors_), norm_threads,
                  stream, RowNorms<D>{m_, roots_.roots, roots_.root_exponents, row_norms_});
    }
    gpu::launch(operation, norm_of_norms_kernel, gpu::persistent_blocks(m_.batch, 1, processors_),
                reduce_threads, stream, NormOfNorms{row_norms_, m_.blocks, m_.batch, norms_});
    if (inner_ == 0 || m_.states == 0) return;
    const Cut<D> cut{m_,
                     roots_.roots,
                     roots_.root_exponents,
                     {states[0], states[1]},
                     {std::min(most.lower, width_), std::min(most.upper, width_)},
                     absolute,
                     relative,
                     norms_,
                     n_,
                     found_,
                     cut_scratch_,
                     cut_place_.size};
    // Few lanes for short columns.
    if (m_.states <= 16) {
      enqueue_cut<4>(stream, cut);
    } else if (m_.states <= 64) {
      enqueue_cut<8>(stream, cut);
    } else {
      enqueue_cut<32>(stream, cut);
    }
  }

  template <Scalar T>
  void enqueue_generators(cudaStream_t stream, const Matrix<T>& m, bool balanced,
                          Matrix<T>& result) {
    if (!m.diagonal.all.empty()) {
      gpu::check(
          cudaMemcpyAsync(result.diagonal.all.data(), m.diagonal.all.data(),
                          m.diagonal.all.size() * sizeof(T), cudaMemcpyDeviceToDevice, stream),
          operation);
    }
    if (inner_ == 0 || result.order() == Order{}) return;
    NewGenerators<D> p{m_,
                       roots_.roots,
                       roots_.root_exponents,
                       found_,
                       roots_.broken,
                       balanced,
                       {target(result.lower), target(result.upper_transposed)},
                       generator_scratch_,
                       generator_place_.size};
    const unsigned threads =
        static_cast<unsigned>(std::clamp<index_t>(width_ * 16 / 32 * 32, 64, generator_threads));
    gpu::launch(operation, new_generators_kernel<D>, generator_place_.grid(threads), stream, p);
  }

  void enqueue_reports(cudaStream_t stream, const gpu::Strided<TruncationReport, 1>& to) const {
    gpu::launch(operation, report_kernel<TruncationReport>,
                gpu::persistent_blocks(m_.batch, 1, processors_), reduce_threads, stream,
                Reports<TruncationReport>{found_.dropped, found_.rounding, norms_, roots_.broken,
                                          2 * (m_.blocks + 1), m_.batch, to});
  }

  const int* kept() const { return found_.kept; }

 private:
  template <Scalar T>
  static BlockGenerators<D> generators(const BlockTriangleOnDevice<T>& t) {
    const auto stride = [](const auto& all) { return all.extent(0) == 1 ? 0 : all.extent(1); };
    return {gpu::device_pointer(t.p.data()),
            gpu::device_pointer(t.q.data()),
            gpu::device_pointer(t.a.data()),
            stride(t.p),
            stride(t.q),
            stride(t.a),
            t.table.data()};
  }
  template <Scalar T>
  static typename NewGenerators<D>::Side target(BlockTriangleOnDevice<T>& t) {
    return {gpu::device_pointer(t.p.data()),
            gpu::device_pointer(t.q.data()),
            gpu::device_pointer(t.a.data()),
            t.p.extent(1),
            t.q.extent(1),
            t.a.extent(1),
            t.table.data()};
  }

  template <int Lanes>
  void enqueue_cut(cudaStream_t stream, const Cut<D>& cut) const {
    const index_t lanes = (m_.states + 1) / 2 * Lanes;
    const unsigned threads =
        static_cast<unsigned>(std::min<index_t>((lanes + 31) / 32 * 32, cut_threads));
    gpu::launch(operation, cut_kernel<Lanes, D>, cut_place_.grid(threads), stream, cut);
  }

  template <int Threads>
  void enqueue_roots(cudaStream_t stream) {
    RootProblem<D> p = roots_;
    p.m = m_;
    p.chunk = chunk;
    p.chunks = chunks_;
    p.piece = static_cast<int>(piece_);
    p.scratch_stride = root_place_.size;
    p.elements = elements_[0];
    p.element_exponents = element_exponents_[0];
    const gpu::Grid grid = root_place_.grid(Threads);
    if (chunks_ > 1) {
      gpu::launch(operation, summarise_chunks<Threads, D>, grid, stream, p);
      int now = 0;
      for (index_t distance = 1; distance < chunks_ - 1; distance *= 2, now = 1 - now) {
        gpu::launch(operation, scan_chunks<Threads, D>, grid, stream, p,
                    RootScan<D>{elements_[now], element_exponents_[now], elements_[1 - now],
                                element_exponents_[1 - now], distance});
      }
      p.elements = elements_[now];
      p.element_exponents = element_exponents_[now];
    }
    gpu::launch(operation, sweep_chunks<Threads, D>, grid, stream, p);
  }

  int processors_;
  index_t n_, rows_ = 0, width_ = 0, chunks_ = 0, inner_ = 0, piece_ = 1;
  bool small_ = true;
  BlockMatrix<D> m_{};
  Place root_place_{}, cut_place_{}, generator_place_{};
  RootProblem<D> roots_{};
  std::array<D*, 2> elements_{};
  std::array<int*, 2> element_exponents_{};
  double *row_norms_ = nullptr, *norms_ = nullptr;
  Boundaries<D> found_{};
  D *cut_scratch_ = nullptr, *generator_scratch_ = nullptr;
};

template <Scalar T>
void require_result(const Matrix<T>& m, const Matrix<T>& result) {
  const auto refuse = [](const std::string& what) {
    throw ShapeError(std::string(operation) + ": " + what);
  };
  if (result.partition != m.partition) {
    refuse("the result has " + std::to_string(result.partition.blocks()) +
           " blocks on another partition than the " + std::to_string(m.partition.blocks()) +
           " of the matrix");
  }
  if (result.batch() != m.batch() || result.lower.p.extent(0) != m.batch() ||
      result.upper_transposed.p.extent(0) != m.batch()) {
    refuse("the result has batch " + std::to_string(result.batch()) + ", the matrix " +
           std::to_string(m.batch()));
  }
  const index_t most = std::max(m.order().lower, m.order().upper),
                wanted = std::max(result.order().lower, result.order().upper);
  if (wanted > most) {
    refuse("the result has states of " + std::to_string(wanted) + " numbers, the matrix of " +
           std::to_string(most));
  }
}

}  // namespace

template <Scalar T>
index_t compress_workspace_bytes(const Matrix<T>& m, Order order) {
  const index_t width =
      std::min(std::max(order.lower, order.upper), std::max(m.order().lower, m.order().upper));
  Compression<gpu::device_scalar_t<T>> c(m, width);
  return gpu::counted(operation, [&](gpu::Workspace& w) { c.take(w); });
}

template <Scalar T>
void compress(const exec::cuda& e, const Matrix<T>& m, CompressOptions::Form form,
              Matrix<T>& result, View<TruncationReport, 1, space::cuda> reports) {
  require_result(m, result);
  detail::require_extents(operation, reports, {m.batch()});
  gpu::require_writable(operation, reports, "reports");
  Compression<gpu::device_scalar_t<T>> c(m, std::max(result.order().lower, result.order().upper));
  gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { c.take(w); });
  if (m.batch() == 0) return;
  const cudaStream_t stream = gpu::stream_of(e);
  c.enqueue_cuts(stream, {result.lower.table.data(), result.upper_transposed.table.data()},
                 result.order(), 0, 0);
  c.enqueue_generators(stream, m, form == CompressOptions::Form::balanced, result);
  c.enqueue_reports(stream, gpu::strided(reports));
}

template <Scalar T>
Compressed<T, space::cuda> compress(const exec::cuda& e, const Matrix<T>& m,
                                    const CompressOptions& options) {
  require_truncation(operation, options);
  const index_t batch = m.batch(), blocks = m.partition.blocks();
  const cudaStream_t stream = gpu::stream_of(e);
  Compression<gpu::device_scalar_t<T>> c(m, std::max(m.order().lower, m.order().upper));
  Array<std::byte, 1, space::cuda> memory(
      {gpu::counted(operation, [&](gpu::Workspace& w) { c.take(w); })}, uninitialized);
  gpu::cut(operation, memory.view(), [&](gpu::Workspace& w) { c.take(w); });
  Compressed<T, space::cuda> result;
  std::array<std::vector<index_t>, 2> states;
  states.fill(std::vector<index_t>(blocks + 1));
  if (batch > 0) {
    const double absolute = options.absolute_tolerance.value_or(0),
                 relative = options.absolute_tolerance
                                ? 0
                                : options.tolerance.value_or(double(m.size()) * double(epsilon<T>));
    c.enqueue_cuts(stream, {nullptr, nullptr}, options.order.value_or(Order{INT_MAX, INT_MAX}),
                   absolute, relative);
    Array<TruncationReport, 1, space::cuda> reports({batch}, uninitialized);
    c.enqueue_reports(stream, gpu::strided(reports.view()));
    Array<int, 3> kept({batch, 2, blocks + 1}, uninitialized);
    gpu::check(cudaMemcpyAsync(kept.data(), c.kept(), kept.size() * sizeof(int),
                               cudaMemcpyDeviceToHost, stream),
               operation);
    gpu::check(cudaStreamSynchronize(stream), operation);
    for (index_t b = 0; b < batch; ++b) {
      for (int side = 0; side < 2; ++side) {
        for (index_t k = 0; k <= blocks; ++k) {
          states[side][k] = std::max<index_t>(states[side][k], kept(b, side, k));
        }
      }
    }
    const Array<TruncationReport, 1> here = to_host(reports);
    for (index_t b = 0; b < batch; ++b) {
      if (!std::isfinite(here(b).frobenius_norm)) {
        throw DomainError(std::string(operation) + ": the generators of batch entry " +
                          std::to_string(b) + ", or products of them, are not finite");
      }
      result.truncation_error = std::max(result.truncation_error, here(b).truncation_error);
      result.rounding_bound = std::max(result.rounding_bound, here(b).rounding_bound);
      result.frobenius_norm = std::max(result.frobenius_norm, here(b).frobenius_norm);
    }
  }
  result.matrix = block_zeros_on_device<T>(m.partition, states[0], states[1], batch);
  if (batch == 0) return result;
  // The zeros are there, whatever the kind of stream.
  gpu::check(cudaDeviceSynchronize(), operation);
  c.enqueue_generators(stream, m, options.form == CompressOptions::Form::balanced, result.matrix);
  gpu::check(cudaStreamSynchronize(stream), operation);
  return result;
}

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template STRUCTMAT_EXPORT index_t compress_workspace_bytes(const Matrix<T>&, Order); \
  template STRUCTMAT_EXPORT void compress(const exec::cuda&, const Matrix<T>&,         \
                                          CompressOptions::Form, Matrix<T>&,           \
                                          View<TruncationReport, 1, space::cuda>);     \
  template STRUCTMAT_EXPORT Compressed<T, space::cuda> compress(                       \
      const exec::cuda&, const Matrix<T>&, const CompressOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
