/// \file
/// Sums over all pairs, y_i = sum_j term(i, j): rows in registers, sources in shared memory.
///
/// A block takes a tile of rows and a segment of the sources, tile by tile. Its threads stand side by
/// side over the rows, `rows` of them each; what threads are left over take other sources of the same
/// tile. Sums of tiles are added up apart, so that long sums round little. Where the sources are cut
/// into segments, or results are still to be weighted, partial sums go to the workspace, and a second
/// kernel adds them up in order. All cuts depend on the shape of one matrix alone: results repeat bit
/// by bit, and do not depend on the batch.
///
/// Terms have a fast form and an exact one. The fast one may leave the range of the type on the way;
/// wherever it gives something that is not finite, or a node is larger than it can bear, the exact one
/// is taken instead, for those rows and that tile.
///
/// A Term provides
///   Scalar, Row, Source; rows (of a thread), outputs, step (sources of one call of add)
///   Shape shape                                  what is summed
///   int passes()                                 over all sources, each adding to the sums
///   Row row(b, i, pass), Source source(b, j, outputs_tile, pass)
///   Source::clear()                              makes its terms zero
///   bool bears(Row), bears(Source)               can the fast form?
///   void add(Row, const Source* step of them, Scalar (&sum)[outputs])
///   void complete(Row, Scalar (&sum)[outputs])   what the fast form leaves to the end of a tile
///   void add_exactly(Row, Source, Scalar (&sum)[outputs])
/// and may know rows of a kind that needs fewer operations:
///   bool is_simple(Row)
///   void add_simply(Row, Source, Scalar (&sum)[outputs])   add of one source for such a row
#pragma once

#include <concepts>

#include "core/complex.cuh"
#include "core/shared.cuh"
#include "core/strided.cuh"
#include "core/workspace.cuh"

namespace structmat::cauchy::device {

constexpr int block_threads = 128;
constexpr int tile_sources = 256;

/// `outputs` sums of every row.
struct Shape {
  index_t batch = 0, rows = 0, sources = 0, outputs = 0;
};

constexpr index_t pieces(index_t total, index_t piece) {
  return (total + piece - 1) / piece;
}

/// How one matrix is cut.
struct Tiling {
  int row_threads = 1;
  index_t row_tile = 1, row_tiles = 0, segment = tile_sources, segments = 1;

  Tiling() = default;
  Tiling(index_t rows, index_t sources, int rows_per_thread) {
    // Threads side by side share what they read of a source; few of them make more tiles, which
    // matters where there are many sources to share out.
    const int most = sources >= 1024 ? 32 : block_threads;
    while (row_threads < most && row_threads * rows_per_thread < rows) row_threads *= 2;
    row_tile = index_t{row_threads} * rows_per_thread;
    row_tiles = pieces(rows, row_tile);
    // Enough pieces to keep every block of a device busy to the end.
    constexpr index_t wanted_pieces = 8192, least_segment = 2 * tile_sources;
    const index_t most_segments = std::max<index_t>(sources / least_segment, 1);
    const index_t wanted =
        std::min(pieces(wanted_pieces, std::max<index_t>(row_tiles, 1)), most_segments);
    segment = pieces(pieces(std::max<index_t>(sources, 1), wanted), tile_sources) * tile_sources;
    segments = std::max<index_t>(pieces(sources, segment), 1);
  }
};

/// What becomes of finished sums without a second kernel.
template <class T>
struct Target {
  gpu::Strided<T, 3> y;
  bool negate = false, conjugated = false;
};

template <class Term>
struct Problem {
  using T = typename Term::Scalar;
  Term term;
  Tiling tiling;
  index_t output_tiles;
  T* partial;  // (batch, segments, outputs, rows); null: to the target
  Target<T> target;

  __host__ __device__ index_t units() const {
    return term.shape.batch * output_tiles * tiling.row_tiles * tiling.segments;
  }
};

template <class T>
__device__ bool is_finite(T a) {
  // NaN compares false.
  return gpu::taxicab(a) <= std::numeric_limits<gpu::real_of_t<T>>::max();
}

template <class Term>
concept HasSimpleRows = requires(const Term& term, const typename Term::Row& row) {
  { term.is_simple(row) } -> std::same_as<bool>;
};
/// Are all rows of a thread simple?
template <class Term>
__device__ bool all_simple(const Term& term, const typename Term::Row (&row)[Term::rows]) {
  if constexpr (HasSimpleRows<Term>) {
    bool simple = true;
#pragma unroll
    for (int r = 0; r < Term::rows; ++r) simple = simple && term.is_simple(row[r]);
    return simple;
  } else {
    return false;
  }
}

/// Shared memory of a block: a tile, then the sums of the threads.
template <class Term>
constexpr std::size_t shared_bytes() {
  return std::max(tile_sources * sizeof(typename Term::Source),
                  block_threads * Term::rows * Term::outputs * sizeof(typename Term::Scalar));
}

template <class Term>
__global__ void __launch_bounds__(block_threads)
    sum_tiles(const __grid_constant__ Problem<Term> p) {
  using T = typename Term::Scalar;
  constexpr int R = Term::rows, C = Term::outputs;
  auto* const tile = gpu::dynamic_shared<typename Term::Source>();
  auto* const exchange = gpu::dynamic_shared<T>();
  const Term& term = p.term;
  const Tiling& tiling = p.tiling;
  const int row_threads = tiling.row_threads, groups = block_threads / row_threads;
  const int lane = static_cast<int>(threadIdx.x) % row_threads;
  const int group = static_cast<int>(threadIdx.x) / row_threads;
  const index_t units = p.units();
  for (index_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    index_t rest = unit / tiling.segments;
    const index_t segment = unit - rest * tiling.segments;
    index_t next = rest / tiling.row_tiles;
    const index_t first_row = (rest - next * tiling.row_tiles) * tiling.row_tile + lane;
    rest = next / p.output_tiles;
    const index_t output_tile = next - rest * p.output_tiles, b = rest;
    const index_t begin = segment * tiling.segment;
    const index_t end = min(begin + tiling.segment, term.shape.sources);

    T sum[R][C] = {};
    for (int pass = 0; pass < term.passes(); ++pass) {
      typename Term::Row row[R];
      bool rows_bear[R];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        row[r] = term.row(b, min(first_row + r * row_threads, term.shape.rows - 1), pass);
        rows_bear[r] = term.bears(row[r]);
      }
      for (index_t first = begin; first < end; first += tile_sources) {
        const int count = static_cast<int>(min(end - first, index_t{tile_sources}));
        const int padded = (count + Term::step - 1) / Term::step * Term::step;
        __syncthreads();
        bool sources_bear = true;
        for (int j = threadIdx.x; j < padded; j += block_threads) {
          auto source = term.source(b, first + min(j, count - 1), output_tile, pass);
          if (j >= count) source.clear();
          sources_bear = sources_bear && term.bears(source);
          tile[j] = source;
        }
        sources_bear = __syncthreads_and(sources_bear);
        const int share = (padded / Term::step + groups - 1) / groups * Term::step;
        const int from = min(group * share, padded), to = min(from + share, padded);
        T part[R][C] = {};
        if (sources_bear) {
          if (!all_simple(term, row)) {
#pragma unroll 2
            for (int j = from; j < to; j += Term::step) {
#pragma unroll
              for (int r = 0; r < R; ++r) term.add(row[r], tile + j, part[r]);
            }
          } else if constexpr (HasSimpleRows<Term>) {
#pragma unroll 2
            for (int j = from; j < to; ++j) {
#pragma unroll
              for (int r = 0; r < R; ++r) term.add_simply(row[r], tile[j], part[r]);
            }
          }
        }
        bool fine = true;
#pragma unroll
        for (int r = 0; r < R; ++r) {
          term.complete(row[r], part[r]);
          rows_bear[r] = rows_bear[r] && sources_bear;
#pragma unroll
          for (int c = 0; c < C; ++c) rows_bear[r] = rows_bear[r] && is_finite(part[r][c]);
          fine = fine && rows_bear[r];
        }
        if (!fine) {
          // One row after the other: the code is there once, and arrays stay in registers.
#pragma unroll 1
          for (int again = 0; again < R; ++again) {
            typename Term::Row own = row[0];
            bool bears = true;
#pragma unroll
            for (int r = 0; r < R; ++r) {
              if (r != again) continue;
              own = row[r];
              bears = rows_bear[r];
            }
            if (bears) continue;
            T exact[C] = {};
#pragma unroll 1
            for (int j = from; j < min(to, count); ++j) term.add_exactly(own, tile[j], exact);
#pragma unroll
            for (int r = 0; r < R; ++r) {
              if (r != again) continue;
#pragma unroll
              for (int c = 0; c < C; ++c) part[r][c] = exact[c];
            }
          }
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
          rows_bear[r] = term.bears(row[r]);
#pragma unroll
          for (int c = 0; c < C; ++c) sum[r][c] += part[r][c];
        }
      }
    }

    if (groups > 1) {
      __syncthreads();
#pragma unroll
      for (int r = 0; r < R; ++r) {
#pragma unroll
        for (int c = 0; c < C; ++c) exchange[(r * C + c) * block_threads + threadIdx.x] = sum[r][c];
      }
      __syncthreads();
      if (group == 0) {
        for (int g = 1; g < groups; ++g) {
#pragma unroll
          for (int r = 0; r < R; ++r) {
#pragma unroll
            for (int c = 0; c < C; ++c)
              sum[r][c] += exchange[(r * C + c) * block_threads + g * row_threads + lane];
          }
        }
      }
    }
    if (group > 0) continue;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const index_t i = first_row + r * row_threads;
      if (i >= term.shape.rows) continue;
#pragma unroll
      for (int c = 0; c < C; ++c) {
        const index_t output = output_tile * C + c;
        if (output >= term.shape.outputs) continue;
        if (p.partial != nullptr) {
          p.partial[((b * tiling.segments + segment) * term.shape.outputs + output) *
                        term.shape.rows +
                    i] = sum[r][c];
        } else {
          const T value = p.target.negate ? -sum[r][c] : sum[r][c];
          p.target.y(b, i, output) = gpu::conjugate_if(p.target.conjugated, value);
        }
      }
    }
  }
}

/// Sums in the workspace.
template <class T>
struct Partial {
  const T* data;
  Shape shape;
  index_t segments;

  __device__ T operator()(index_t b, index_t i, index_t output) const {
    const T* at = data + (b * segments * shape.outputs + output) * shape.rows + i;
    T sum = *at;
    for (index_t segment = 1; segment < segments; ++segment) {
      at += shape.outputs * shape.rows;
      sum += *at;
    }
    return sum;
  }
};

/// target(b, i, c) += or := finish(sums, b, i, c), or the sum of that over the batch.
template <class T, class Finish>
struct Finishing {
  Partial<T> sums;
  Finish finish;
  gpu::Strided<T, 3> target;
  index_t outputs;
  bool add, sum_batch;
};

template <class T, class Finish>
__global__ void __launch_bounds__(256) finish_sums(const __grid_constant__ Finishing<T, Finish> p) {
  const index_t rows = p.sums.shape.rows, batch = p.sums.shape.batch;
  const index_t work = (p.sum_batch ? 1 : batch) * p.outputs * rows;
  for (index_t unit = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; unit < work;
       unit += static_cast<index_t>(gridDim.x) * blockDim.x) {
    const index_t rest = unit / rows, i = unit - rest * rows;
    const index_t b = rest / p.outputs, c = rest - b * p.outputs;
    T value = p.finish(p.sums, b, i, c);
    if (p.sum_batch) {
#pragma unroll 8
      for (index_t other = 1; other < batch; ++other) value += p.finish(p.sums, other, i, c);
    }
    T& at = p.target(b, i, c);
    at = p.add ? at + value : value;
  }
}

/// The sums themselves, conjugated or with the opposite sign.
template <class T>
struct Plain {
  bool negate = false, conjugated = false;
  __device__ T operator()(const Partial<T>& sums, index_t b, index_t i, index_t c) const {
    const T sum = sums(b, i, c);
    return gpu::conjugate_if(conjugated, negate ? -sum : sum);
  }
};

/// Elements of the workspace that partial sums of this shape take.
template <class Term>
index_t partial_count(const char* operation, const Shape& shape) {
  const Tiling tiling(shape.rows, shape.sources, Term::rows);
  index_t count = shape.batch;
  for (const index_t factor : {tiling.segments, shape.outputs, shape.rows}) {
    if (__builtin_mul_overflow(count, factor, &count)) {
      throw ShapeError(std::string(operation) + ": a workspace for " + std::to_string(shape.batch) +
                       " times " + std::to_string(shape.rows) + " x " +
                       std::to_string(shape.outputs) + " sums exceeds 64-bit arithmetic");
    }
  }
  return count;
}
/// The same where sums without segments go to their target directly.
template <class Term>
index_t direct_count(const char* operation, const Shape& shape) {
  return Tiling(shape.rows, shape.sources, Term::rows).segments == 1
             ? 0
             : partial_count<Term>(operation, shape);
}

/// Enqueues the first kernel. Returns where its sums lie.
template <class Term, class T = typename Term::Scalar>
Partial<T> enqueue_sums(const char* operation, const Term& term, T* partial,
                        const Target<T>& target, int processors, cudaStream_t stream) {
  const Shape& shape = term.shape;
  Problem<Term> problem{term, Tiling(shape.rows, shape.sources, Term::rows),
                        pieces(shape.outputs, Term::outputs), partial, target};
  if (problem.units() > 0) {
    gpu::launch(operation, sum_tiles<Term>,
                gpu::Grid{gpu::persistent_blocks(problem.units(), 1, processors), block_threads,
                          shared_bytes<Term>()},
                stream, problem);
  }
  return {partial, shape, problem.tiling.segments};
}

/// Enqueues the second kernel; target: (batch, rows, outputs), of batch stride 0 to collect sums over
/// the batch.
template <class T, class Finish>
void enqueue_finish(const char* operation, const Partial<T>& sums, const Finish& finish,
                    const gpu::Strided<T, 3>& target, index_t outputs, bool add, int processors,
                    cudaStream_t stream) {
  const Shape& shape = sums.shape;
  const bool sum_batch = shape.batch > 1 && target.stride[0] == 0;
  const index_t work = (sum_batch ? 1 : shape.batch) * outputs * shape.rows;
  if (work == 0 || shape.batch == 0) return;
  gpu::launch(operation, finish_sums<T, Finish>, gpu::persistent_blocks(work, 256, processors), 256,
              stream, Finishing<T, Finish>{sums, finish, target, outputs, add, sum_batch});
}

/// y := +-sums, conjugated or not. `partial` holds direct_count elements.
template <class Term, class T = typename Term::Scalar>
void enqueue(const char* operation, const Term& term, T* partial, const Target<T>& target,
             int processors, cudaStream_t stream) {
  const bool direct = Tiling(term.shape.rows, term.shape.sources, Term::rows).segments == 1;
  const auto sums =
      enqueue_sums(operation, term, direct ? nullptr : partial, target, processors, stream);
  if (direct) return;
  enqueue_finish(operation, sums, Plain<T>{target.negate, target.conjugated}, target.y,
                 term.shape.outputs, false, processors, stream);
}

}  // namespace structmat::cauchy::device
