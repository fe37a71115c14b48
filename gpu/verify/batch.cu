// Rank profiles of batches of dense matrices: a sweep over rows, the same step for all matrices at a
// time; batch_kernel.cuh has the algorithm.
#include "structmat/verify/batch.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "core/instantiate.hpp"
#include "core/workspace.cuh"
#include "dense/singular_values.cuh"
#include "structmat/dense/norm.hpp"
#include "verify/batch_inspect.cuh"
#include "verify/batch_kernel.cuh"
#include "verify/batch_report.cuh"
#include "verify/half.hpp"

namespace structmat::verify {
namespace {

using gpu::device_scalar_t;

constexpr int most_rows = 32, least_rows = 8;
/// State and rows of a step together are at most 248 columns.
constexpr index_t most_room = 216, most_order = 200;
constexpr double memory_of_group = 1.5e9;

std::vector<index_t> all_of(index_t batch) {
  std::vector<index_t> numbers(batch);
  std::iota(numbers.begin(), numbers.end(), index_t{0});
  return numbers;
}

template <Scalar T>
class BatchCheck {
 public:
  using D = device_scalar_t<T>;
  using Sweep = batch::Sweep<D>;

  BatchCheck(const char* operation, const exec::cuda& e, View<const T, 3, space::cuda> m, int extra,
             const Options& options)
      : operation_(operation),
        stream_(gpu::stream_of(e)),
        m_(m),
        extra_(extra),
        options_(options),
        n_(m.extent(1)) {
    refuse();
    tolerance_ = options.tolerance.value_or(double(n_) * double(epsilon<T>));
    require_tolerance_and_order(operation, tolerance_, options.order);
  }

  BatchReport run() {
    const index_t batch = m_.extent(0);
    BatchReport report;
    report.matrices.resize(batch);
    if (batch == 0) return report;
    processors_ = gpu::multiprocessors(operation_);
    inspect();
    std::vector<index_t> waiting = all_of(batch);
    for (index_t room = first_room(); !waiting.empty(); room = std::min(2 * room, largest_room())) {
      std::vector<index_t> next;
      const index_t size = group_size(room, index_t(waiting.size()));
      for (index_t begin = 0; begin < index_t(waiting.size()); begin += size) {
        const auto first = waiting.begin() + begin;
        const std::vector<index_t> group(first,
                                         first + std::min(size, index_t(waiting.size()) - begin));
        sweep(group, room, room == largest_room(), report, next);
        if (options_.progress) {
          options_.progress(double(batch - index_t(next.size())) / double(batch) *
                            double(begin + index_t(group.size())) / double(waiting.size()));
        }
      }
      waiting = std::move(next);
    }
    if (options_.progress) options_.progress(1);
    return report;
  }

 private:
  void refuse() const {
    const std::string name(operation_);
    if (m_.extent(2) != n_) {
      throw ShapeError(name + ": the matrices are " + std::to_string(n_) + " x " +
                       std::to_string(m_.extent(2)) + ", they must be square");
    }
    if (options_.relative != Relative::matrix) {
      throw Unsupported(name +
                        ": relative to the block is not offered for batches on a device, "
                        "only relative to the matrix");
    }
    if (!options_.blocks.empty()) {
      throw Unsupported(name +
                        ": the singular values of chosen blocks are not offered for batches");
    }
    if (options_.order &&
        std::min(std::max(options_.order->lower, options_.order->upper), n_ / 2) > most_order) {
      throw Unsupported(name + ": the order asked for is (" +
                        std::to_string(options_.order->lower) + ", " +
                        std::to_string(options_.order->upper) + "), on a device at most " +
                        std::to_string(most_order));
    }
  }

  /// About as many as states; where a warp can take the short blocks, so many that it does.
  static index_t rows_of_step(index_t room) {
    constexpr index_t columns_of_warp = 32;
    if (room + least_rows <= columns_of_warp) return columns_of_warp - room;
    return std::clamp<index_t>(room, least_rows, most_rows);
  }
  /// An n x n matrix never has more than n / 2 states.
  index_t largest_room() const { return std::clamp<index_t>(n_ / 2, 1, most_room); }
  index_t first_room() const {
    constexpr index_t slack = 4, unknown = 16;
    const index_t asked =
        options_.order ? std::max(options_.order->lower, options_.order->upper) : unknown;
    return std::min(std::min(asked, n_) + slack, largest_room());
  }

  void inspect() {
    const index_t batch = m_.extent(0);
    inspected_ = Array<batch::Inspected, 1, space::cuda>({batch}, uninitialized);
    gpu::launch(operation_, batch::inspect_matrices<D>,
                gpu::persistent_blocks(batch, 1, processors_), batch::threads, stream_,
                batch::InspectProblem<D>{gpu::strided(m_), batch, n_, inspected_.data()});
    inspected_host_ = fetch(inspected_.data(), batch);
    for (index_t b = 0; b < batch; ++b) {
      const index_t at = inspected_host_[b].broken;
      if (at < 0) continue;
      const index_t i = at / n_, j = at % n_;
      const T value = fetch(m_.data() + m_.offset(b, i, j), 1).front();
      std::ostringstream message;
      message << operation_ << ": entry (" << i << ", " << j << ") of matrix " << b
              << " of the batch is " << value << ", only finite input has an answer";
      throw DomainError(message.str());
    }
  }

  template <class U>
  std::vector<std::remove_const_t<U>> fetch(U* data, index_t count) const {
    std::vector<std::remove_const_t<U>> host(count);
    gpu::check(
        cudaMemcpyAsync(host.data(), data, count * sizeof(U), cudaMemcpyDeviceToHost, stream_),
        operation_);
    gpu::check(cudaStreamSynchronize(stream_), operation_);
    return host;
  }

  Sweep shape(index_t room, index_t count) const {
    Sweep p{};
    p.m = gpu::strided(m_);
    p.count = count;
    p.n = n_;
    p.extra = extra_;
    p.asked[0] = options_.order ? static_cast<int>(std::min(options_.order->lower, n_)) : -1;
    p.asked[1] = options_.order ? static_cast<int>(std::min(options_.order->upper, n_)) : -1;
    p.stops = options_.stop_at_violation;
    p.room = static_cast<int>(room);
    p.most = static_cast<int>(std::min(n_, rows_of_step(room)));
    p.tolerance = tolerance_;
    // Everything above an eighth of the threshold is carried, so that the total error moves no
    // singular value by more than that; but nothing below rounding of R.
    const double share = std::sqrt(0.5 * p.most / double(n_));
    p.tail =
        std::max(tolerance_ / 8 * share, 2 * double(epsilon<T>) * std::sqrt(double(p.columns())));
    return p;
  }

  /// Rows of the tile: R and new rows, then R and Q; more rows mean fewer passes.
  void choose_tile(Sweep& p) {
    int device = 0, limit = 0;
    gpu::check(cudaGetDevice(&device), operation_);
    gpu::check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               operation_);
    const auto bytes = [&](int rows) {
      return batch::StepMemory<D>::tile_offset(p.columns()) +
             static_cast<std::size_t>(rows | 1) * p.columns() * sizeof(D);
    };
    int rows = 2 * p.columns();
    outside_ = bytes(rows) > static_cast<std::size_t>(limit);
    constexpr int longest = 160;
    while (!outside_ && rows < p.columns() + longest &&
           2 * bytes(rows + 16) <= static_cast<std::size_t>(limit)) {
      rows += 16;
    }
    p.tile_rows = rows;
    p.tile_step = rows | 1;
    shared_bytes_ = outside_ ? batch::StepMemory<D>::tile_offset(p.columns()) : bytes(rows);
    blocks_ = gpu::persistent_blocks(p.units(), 1, processors_);
    if (outside_) blocks_ = std::min(blocks_, static_cast<unsigned>(2 * processors_));
  }

  gpu::SingularValues<D> values(const Sweep& p, int size) const {
    return {operation_, p.units() * size, p.block_rows(), p.columns()};
  }

  struct Pieces {
    index_t* matrices;
    batch::Inspected* inspected;
    int* status;
    std::byte* of_values;
    index_t of_values_bytes;
  };
  Pieces take(gpu::Workspace& w, Sweep& p) const {
    const index_t units = p.units(), columns = p.columns();
    Pieces pieces{};
    for (auto& c : p.carried) c = w.take<D>(units * p.room * n_);
    for (auto& s : p.state) s = w.take<int>(units);
    p.r = w.take<D>(units * columns * columns);
    p.short_blocks = w.take<D>(units * p.most * columns * p.block_rows());
    p.tiles = outside_ ? w.take<D>(index_t{blocks_} * p.tile_step * columns) : nullptr;
    p.sigma = w.take<real_t<T>>(units * p.most * columns);
    p.stopped = w.take<int>(p.count);
    p.found = w.take<batch::Found>(units);
    p.profile = w.take<int>(units * n_);
    p.worst_values = w.take<double>(units * columns);
    pieces.matrices = w.take<index_t>(p.count);
    pieces.inspected = w.take<batch::Inspected>(p.count);
    pieces.status = w.take<int>(units * p.most);
    auto of_values = values(p, p.most);
    pieces.of_values_bytes =
        gpu::counted(operation_, [&](gpu::Workspace& counter) { of_values.take(counter); });
    pieces.of_values = w.take<std::byte>(pieces.of_values_bytes);
    p.matrices = pieces.matrices;
    p.inspected = pieces.inspected;
    return pieces;
  }

  index_t group_size(index_t room, index_t count) {
    const auto bytes = [&](index_t matrices) {
      Sweep p = shape(room, matrices);
      choose_tile(p);
      return double(gpu::counted(operation_, [&](gpu::Workspace& w) { take(w, p); }));
    };
    const double fixed = bytes(1);
    const double each = std::max((bytes(9) - fixed) / 8, 1.0);
    return std::clamp<index_t>(static_cast<index_t>((memory_of_group - fixed) / each) + 1, 1,
                               count);
  }

  void sweep(const std::vector<index_t>& group, index_t room, bool is_last, BatchReport& report,
             std::vector<index_t>& next) {
    Sweep p = shape(room, index_t(group.size()));
    choose_tile(p);
    const index_t bytes = gpu::counted(operation_, [&](gpu::Workspace& w) { take(w, p); });
    if (memory_.size() < bytes) {
      memory_ = {};
      memory_ = Array<std::byte, 1, space::cuda>({bytes}, uninitialized);
    }
    gpu::Workspace workspace(operation_, memory_.data());
    const Pieces pieces = take(workspace, p);
    std::vector<batch::Inspected> inspected;
    for (const index_t b : group) inspected.push_back(inspected_host_[b]);
    const auto send = [&](void* to, const void* from, std::size_t size) {
      gpu::check(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, stream_), operation_);
    };
    send(pieces.matrices, group.data(), group.size() * sizeof(index_t));
    send(pieces.inspected, inspected.data(), group.size() * sizeof(batch::Inspected));

    gpu::launch(operation_, batch::begin_sweep<D>,
                gpu::persistent_blocks(p.units(), batch::threads, processors_), batch::threads,
                stream_, p);
    batch::Step step{0, 0, 0};
    for (; step.begin < n_; ++step.number, step.begin += step.size) {
      step.size = static_cast<int>(std::min<index_t>(p.most, n_ - step.begin));
      take_step(p, step, pieces);
    }

    const auto found = fetch(p.found, p.units());
    const auto stopped = fetch(p.stopped, p.count);
    const auto profile = fetch(p.profile, p.units() * n_);
    const auto worst = fetch(p.worst_values, p.units() * p.columns());
    for (index_t b = 0; b < p.count; ++b) {
      const bool ends = stopped[b] != batch::never;
      const bool overflows =
          found[2 * b].overflow != batch::never || found[2 * b + 1].overflow != batch::never;
      if (overflows && !ends && !is_last) {
        next.push_back(group[b]);
        continue;
      }
      const auto half = [&](Part part) {
        const index_t unit = 2 * b + (part == Part::upper ? 1 : 0);
        return half_of(part, found[unit], profile.data() + unit * n_,
                       worst.data() + unit * p.columns());
      };
      Report& r = report.matrices[group[b]];
      r = whole(half(Part::lower), half(Part::upper), options_);
      r.property = extra_ == 0 ? "quasiseparable" : "semiseparable";
      r.size = n_;
      r.complete = !overflows && (!ends || stopped[b] == step.number - 1);
      r.tolerance = tolerance_;
      r.frobenius_norm = std::ldexp(inspected[b].norm, inspected[b].exponent);
    }
  }

  void take_step(const Sweep& p, const batch::Step& step, const Pieces& pieces) const {
    const auto kernel = outside_ ? batch::take_step<D, true> : batch::take_step<D, false>;
    gpu::launch(operation_, kernel, gpu::Grid{blocks_, batch::threads, shared_bytes_}, stream_, p,
                step);
    gpu::launch(operation_, batch::fill_short_blocks<D>,
                gpu::persistent_blocks(p.units() * step.size, 1, processors_), batch::threads,
                stream_, p, step);
    const index_t rows = p.block_rows(), columns = p.columns();
    auto of_values = values(p, step.size);
    gpu::Workspace workspace(operation_, pieces.of_values);
    of_values.take(workspace);
    of_values.enqueue(stream_, {p.short_blocks, {rows * columns, 1, rows}}, {p.sigma, {columns, 1}},
                      {pieces.status, {1}});
    gpu::launch(operation_, batch::count_values<D>,
                gpu::persistent_blocks(p.units(), 1, processors_), 32, stream_, p, step);
  }

  Half half_of(Part part, const batch::Found& found, const int* profile,
               const double* worst) const {
    Half half;
    half.part = part;
    half.ranks.assign(profile, profile + std::max(found.entries, 0));
    half.order = found.order;
    half.smallest_kept = found.smallest_kept;
    half.largest_dropped = found.largest_dropped;
    half.excess = found.excess;
    half.worst_shorter = found.worst_shorter;
    if (found.worst >= 0) {
      half.worst = half.place(n_, found.worst, found.worst + extra_);
      half.worst->singular_values.assign(worst, worst + found.worst_number);
    }
    return half;
  }

  const char* operation_;
  cudaStream_t stream_;
  View<const T, 3, space::cuda> m_;
  int extra_;
  const Options& options_;
  index_t n_;
  double tolerance_ = 0;
  int processors_ = 0;
  Array<batch::Inspected, 1, space::cuda> inspected_;
  std::vector<batch::Inspected> inspected_host_;
  Array<std::byte, 1, space::cuda> memory_;

  bool outside_ = false;
  std::size_t shared_bytes_ = 0;
  unsigned blocks_ = 0;
};

}  // namespace

template <Scalar T>
BatchReport quasiseparable(const exec::cuda& e, View<const T, 3, space::cuda> m,
                           const Options& options) {
  return BatchCheck<T>("verify::quasiseparable", e, m, 0, options).run();
}

template <Scalar T>
BatchReport semiseparable(const exec::cuda& e, View<const T, 3, space::cuda> m,
                          const Options& options) {
  return BatchCheck<T>("verify::semiseparable", e, m, 1, options).run();
}

#define STRUCTMAT_INSTANTIATE(T)                                         \
  template STRUCTMAT_EXPORT BatchReport quasiseparable(                  \
      const exec::cuda&, View<const T, 3, space::cuda>, const Options&); \
  template STRUCTMAT_EXPORT BatchReport semiseparable(                   \
      const exec::cuda&, View<const T, 3, space::cuda>, const Options&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
