// y := M x and M^T x on the device: three launches, one when all rows fit into one chunk.
// apply_body.cuh has what a thread does; here is who does what.
//
// Chunk lengths, segments and all orders of summation depend on the shape only: results repeat bit
// by bit. NaN and infinity reach only the outputs that depend on them, as in the plain recurrence,
// with one exception: the end state of a chunk is first summed without the state in front of it, so
// it may overflow where the full sum, through cancellation, would not; rows behind that chunk then
// see the infinity. (Products of transitions cannot overflow: see ScaledProduct.)
//
// Long sequences are bound by memory: at order r every number of M is read once, and all but p and
// g once more.
#include "structmat/quasiseparable/apply.hpp"

#include <cstdint>
#include <string>

#include "core/launch.cuh"
#include "quasiseparable/apply_body.cuh"

namespace structmat {
namespace {

using namespace quasiseparable::device;

constexpr char operation[] = "quasiseparable::apply";

/// Generators of one triangle of all matrices.
template <class T>
struct Part {
  const T *p, *a, *q;
  index_t p_batch, p_row, a_batch, a_row, q_batch, q_row;
  index_t states;
};

template <class T>
struct Problem {
  Part<T> part[2];  // lower, upper
  const T *d, *x;
  T* y;
  index_t d_batch, d_row;
  index_t x_batch, x_row, x_column;
  index_t y_batch, y_row, y_column;
  index_t n, batch, columns;
  Chunks chunks;

  // Chunk summaries: products (batch, chunks, lower states then upper ones), states (the same,
  // columns).
  T* mantissa;
  T* state;
  int* exponent;

  __device__ Triangle<T> triangle(int side, index_t b) const {
    const Part<T>& m = part[side];
    return {{m.p + b * m.p_batch, m.p_row},
            {m.a + b * m.a_batch, m.a_row},
            {m.q + b * m.q_batch, m.q_row},
            m.states,
            n,
            side == 1};
  }
  __host__ __device__ index_t states() const { return part[0].states + part[1].states; }
  __device__ index_t product_at(index_t b, index_t chunk, int side, index_t state_index) const {
    return (b * chunks.count() + chunk) * states() + side * part[0].states + state_index;
  }
};

__host__ __device__ constexpr index_t pieces(index_t total, index_t piece) {
  return (total + piece - 1) / piece;
}

/// How a group of threads within a warp shares a chunk: `States` lanes for the states of each of
/// `Columns` right-hand sides, `Count` states a lane. `Rows` rows are loaded at once; phase 1,
/// which has twice the threads, loads `SummaryRows`.
template <int States_, int Columns_, int Count_, int SummaryRows_, int Rows_>
struct Layout {
  static constexpr int States = States_, Columns = Columns_, Count = Count_;
  static constexpr int SummaryRows = SummaryRows_, Rows = Rows_;
  static constexpr int group = States * Columns;
  static constexpr int tile = States * Count;  ///< states of a group
  static_assert(group <= 32 && (group & (group - 1)) == 0);
};

constexpr unsigned threads_per_block = 128;

template <class L>
struct Lanes {
  static constexpr int count = L::States;

  __device__ int index() const { return threadIdx.x % L::States; }
  __device__ int column() const { return threadIdx.x % L::group / L::States; }
  /// The group's threads take the same path; other groups of the warp may have left the loop
  /// already.
  __device__ unsigned mask() const {
    if constexpr (L::group == 32) return 0xffffffffu;
    return ((1u << (L::group % 32)) - 1) << (threadIdx.x % 32 / L::group * L::group);
  }
  template <class T>
  __device__ T sum(T value) const {
#pragma unroll
    for (int offset = L::States / 2; offset > 0; offset /= 2) {
      value += __shfl_xor_sync(mask(), value, offset);
    }
    return value;
  }
  __device__ void sync() const {
    __syncwarp(mask());
  }
  __device__ StateSlots<L::Count> slots(index_t first, index_t states) const {
    return {first + index(), L::States, states};
  }

  static __device__ index_t first_group() {
    return (static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x) / L::group;
  }
  static __device__ index_t groups() {
    return static_cast<index_t>(gridDim.x) * blockDim.x / L::group;
  }
};

/// Work of a group in phase 1: a chunk of one triangle of one matrix, a tile of states, a tile of
/// columns.
template <class L, class T>
__host__ __device__ index_t summary_work(const Problem<T>& m) {
  return m.batch * m.chunks.count() *
         (pieces(m.part[0].states, L::tile) + pieces(m.part[1].states, L::tile)) *
         pieces(m.columns, L::Columns);
}

template <class L, class K, class T>
__global__ void __launch_bounds__(threads_per_block, 2)
    summarise_chunks(const __grid_constant__ Problem<T> m) {
  const Lanes<L> lanes;
  const index_t lower_tiles = pieces(m.part[0].states, L::tile);
  const index_t tiles = lower_tiles + pieces(m.part[1].states, L::tile);
  const index_t column_tiles = pieces(m.columns, L::Columns);
  const index_t work = summary_work<L>(m);
  for (index_t unit = lanes.first_group(); unit < work; unit += lanes.groups()) {
    index_t rest = unit / column_tiles;
    const index_t column_tile = unit - rest * column_tiles;
    const index_t column = column_tile * L::Columns + lanes.column();
    const index_t tile = rest % tiles;
    rest /= tiles;
    const index_t chunk = rest % m.chunks.count();
    const index_t b = rest / m.chunks.count();
    const int side = tile >= lower_tiles;

    const Triangle<T> triangle = m.triangle(side, b);
    const index_t rank = triangle.rank(m.chunks, chunk);
    if (rank == m.chunks.count() - 1 || column >= m.columns) continue;
    const StateSlots<L::Count> slots =
        lanes.slots((side ? tile - lower_tiles : tile) * L::tile, triangle.states);
    const Sequence<const T> x =
        triangle.in_order(Sequence<const T>{m.x + b * m.x_batch + column * m.x_column, m.x_row});
    ScaledProduct<T> product[L::Count];
    T state[L::Count];
    summarise<K, L::SummaryRows>(triangle, x, slots, triangle.begin(m.chunks, chunk),
                                 triangle.end(m.chunks, chunk), product, state);
#pragma unroll
    for (int v = 0; v < L::Count; ++v) {
      if (!slots.real(v)) continue;
      const index_t at = m.product_at(b, chunk, side, slots[v]);
      m.state[at * m.columns + column] = state[v];
      if (column == 0) {
        m.mantissa[at] = product[v].mantissa;
        m.exponent[at] = product[v].exponent;
      }
    }
  }
}

/// Phase 2: one thread a segment of chunks; a block takes a few neighbouring (state, right-hand
/// side) pairs.
constexpr int segments = 64;
constexpr int pairs_per_block = 4;
constexpr unsigned combine_threads = segments * pairs_per_block;

template <class T>
__host__ __device__ index_t combine_tiles(const Problem<T>& m) {
  return pieces(m.states() * m.columns, pairs_per_block);
}

template <class T>
__global__ void __launch_bounds__(combine_threads)
    combine_chunks(const __grid_constant__ Problem<T> m) {
  __shared__ T mantissa[combine_threads], state[combine_threads];
  __shared__ int exponent[combine_threads];
  const index_t pairs = m.states() * m.columns;
  const index_t tiles = combine_tiles(m);
  const int segment = threadIdx.x / pairs_per_block;
  const index_t count = m.chunks.count();
  const index_t length = pieces(count, segments);
  const index_t begin = segment * length;
  const index_t end = begin + length < count ? begin + length : count;
  for (index_t unit = blockIdx.x; unit < m.batch * tiles; unit += gridDim.x) {
    const index_t b = unit / tiles;
    const index_t pair = (unit - b * tiles) * pairs_per_block + threadIdx.x % pairs_per_block;
    const index_t state_index = pair / m.columns;
    const index_t product_at = m.product_at(b, 0, 0, state_index);
    const Summaries<T> summaries{m.mantissa + product_at,
                                 m.exponent + product_at,
                                 m.states(),
                                 m.state + m.product_at(b, 0, 0, 0) * m.columns + pair,
                                 pairs,
                                 count,
                                 state_index >= m.part[0].states};
    ScaledProduct<T> product;
    T end_state = 0;
    if (pair < pairs) segment_summary(summaries, begin, end, product, end_state);
    mantissa[threadIdx.x] = product.mantissa;
    exponent[threadIdx.x] = product.exponent;
    state[threadIdx.x] = end_state;
    __syncthreads();
    if (threadIdx.x < pairs_per_block) {
      scan_segments(mantissa + threadIdx.x, exponent + threadIdx.x, state + threadIdx.x, segments,
                    pairs_per_block);
    }
    __syncthreads();
    if (pair < pairs) distribute(summaries, begin, end, state[threadIdx.x]);
    __syncthreads();
  }
}

/// Work of a group in phase 3: a chunk of one matrix, both triangles one after the other, a tile of
/// columns.
template <class L, class T>
__host__ __device__ index_t apply_work(const Problem<T>& m) {
  return m.batch * m.chunks.count() * pieces(m.columns, L::Columns);
}

template <class L, class K, class T>
__global__ void __launch_bounds__(threads_per_block, 2)
    apply_chunks(const __grid_constant__ Problem<T> m) {
  const Lanes<L> lanes;
  const index_t column_tiles = pieces(m.columns, L::Columns);
  const index_t work = apply_work<L>(m);
  for (index_t unit = lanes.first_group(); unit < work; unit += lanes.groups()) {
    const index_t rest = unit / column_tiles;
    const index_t own_column = (unit - rest * column_tiles) * L::Columns + lanes.column();
    const bool writes = own_column < m.columns;
    // A thread without a column takes part in the exchange, on another's data.
    const index_t column = writes ? own_column : m.columns - 1;
    const index_t b = rest / m.chunks.count();
    const index_t chunk = rest - b * m.chunks.count();
    const Sequence<const T> d{m.d + b * m.d_batch, m.d_row};
    const Sequence<const T> x{m.x + b * m.x_batch + column * m.x_column, m.x_row};
    const Sequence<T> y{m.y + b * m.y_batch + column * m.y_column, m.y_row};

    bool with_diagonal = true;
    for (int side = 0; side < 2; ++side) {
      const Triangle<T> triangle = m.triangle(side, b);
      const bool in_front = triangle.rank(m.chunks, chunk) == 0;
      // The first pass writes the diagonal part even if there is no state.
      for (index_t first = 0; first < triangle.states || with_diagonal; first += L::tile) {
        const StateSlots<L::Count> slots = lanes.slots(first, triangle.states);
        T state[L::Count];
#pragma unroll
        for (int v = 0; v < L::Count; ++v) {
          state[v] = !in_front && slots.real(v)
                         ? m.state[m.product_at(b, chunk, side, slots[v]) * m.columns + column]
                         : T(0);
        }
        apply_chunk<K, L::Rows>(lanes, triangle, triangle.in_order(d), triangle.in_order(x),
                                triangle.in_order(y), slots, triangle.begin(m.chunks, chunk),
                                triangle.end(m.chunks, chunk), with_diagonal, writes, state);
        with_diagonal = false;
        // The next pass reads y, which other lanes have written.
        lanes.sync();
      }
    }
  }
}

template <class L, class K, class T>
void enqueue(const Problem<T>& m, int processors, cudaStream_t stream) {
  constexpr index_t groups = threads_per_block / L::group;
  if (m.chunks.count() > 1 && m.states() > 0) {
    gpu::launch(operation, summarise_chunks<L, K, T>,
                gpu::persistent_blocks(summary_work<L>(m), groups, processors), threads_per_block,
                stream, m);
    gpu::launch(operation, combine_chunks<T>,
                gpu::persistent_blocks(m.batch * combine_tiles(m), 1, processors), combine_threads,
                stream, m);
  }
  gpu::launch(operation, apply_chunks<L, K, T>,
              gpu::persistent_blocks(apply_work<L>(m), groups, processors), threads_per_block,
              stream, m);
}

/// One column: lanes over states, as few as hold them. A few: both. From eight on: lanes over
/// columns, which share each generator and need no exchange.
template <class K, class T>
void enqueue_best(const Problem<T>& m, int processors, cudaStream_t stream) {
  const index_t states = std::max(m.part[0].states, m.part[1].states);
  if (m.columns >= 8) return enqueue<Layout<1, 32, 8, 1, 1>, K>(m, processors, stream);
  if (m.columns > 1) return enqueue<Layout<8, 4, 1, 4, 8>, K>(m, processors, stream);
  if (states <= 4) return enqueue<Layout<4, 1, 1, 4, 8>, K>(m, processors, stream);
  if (states <= 8) return enqueue<Layout<8, 1, 1, 4, 8>, K>(m, processors, stream);
  if (states <= 16) return enqueue<Layout<16, 1, 1, 4, 8>, K>(m, processors, stream);
  return enqueue<Layout<32, 1, 1, 4, 8>, K>(m, processors, stream);
}

index_t product(index_t a, index_t b) {
  index_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw ShapeError(std::string(operation) + ": a workspace of " + std::to_string(a) + " times " +
                     std::to_string(b) + " bytes exceeds 64-bit arithmetic");
  }
  return result;
}

/// Bytes of summaries for one batch entry.
template <class T>
index_t entry_bytes(index_t n, Order order, index_t columns) {
  const Chunks chunks(n);
  const index_t states = order.lower + order.upper;
  if (chunks.count() <= 1 || states == 0 || columns == 0) return 0;
  const index_t state_bytes = product(columns, sizeof(T));
  return product(chunks.count() * states,
                 state_bytes + static_cast<index_t>(sizeof(T) + sizeof(int)));
}

template <class V>
void require_dense_states(const V& v, const char* name) {
  const int inner = V::rank - 1;
  if (inner == 2 && v.extent(inner) > 1 && v.stride(inner) != 1) {
    throw Unsupported(std::string(operation) + ": " + name + " has stride " +
                      std::to_string(v.stride(inner)) +
                      " between states; on a device they must lie next to each other (stride 1)");
  }
}

template <class T, class K>
void require_strides(const QuasiseparableView<T, K, space::cuda>& m, View<T, 3, space::cuda> y) {
  require_dense_states(m.p, "p");
  require_dense_states(m.q, "q");
  require_dense_states(m.a, "a");
  require_dense_states(m.g, "g");
  require_dense_states(m.h, "h");
  require_dense_states(m.b, "b");
  for (int dimension = 0; dimension < 3; ++dimension) {
    if (!y.empty() && y.extent(dimension) > 1 && y.stride(dimension) == 0) {
      throw Unsupported(std::string(operation) + ": y has stride 0 in dimension " +
                        std::to_string(dimension) + " of extent " +
                        std::to_string(y.extent(dimension)) + "; an output cannot be broadcast");
    }
  }
}

template <class T>
void require_workspace(View<std::byte, 1, space::cuda> workspace, index_t needed,
                       View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  if (needed == 0) return;
  if (workspace.size() < needed) {
    throw DomainError(std::string(operation) + ": the workspace has " +
                      std::to_string(workspace.size()) + " bytes, " + std::to_string(needed) +
                      " are needed");
  }
  if (workspace.stride(0) != 1 ||
      reinterpret_cast<std::uintptr_t>(workspace.data()) % alignof(double) != 0) {
    throw Unsupported(std::string(operation) + ": the workspace has stride " +
                      std::to_string(workspace.stride(0)) +
                      " and must have 1, beginning at a multiple of " +
                      std::to_string(alignof(double)) + " bytes");
  }
  if (overlaps(workspace, x) || overlaps(workspace, y)) {
    throw DomainError(std::string(operation) + ": the workspace overlaps x or y");
  }
}

template <class T, class V>
Part<T> part(const View<const T, 3, space::cuda>& p, const V& a,
             const View<const T, 3, space::cuda>& q) {
  return {p.data(),    a.data(),    q.data(),    p.stride(0), p.stride(1),
          a.stride(0), a.stride(1), q.stride(0), q.stride(1), p.extent(2)};
}

}  // namespace

template <RealScalar T, class K>
requires(std::same_as<K, transition::Scalar> || std::same_as<K, transition::Diagonal>) index_t
    apply_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& generators, index_t k) {
  const auto m = quasiseparable::checked(generators, operation);
  if (k < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " right-hand sides");
  }
  return product(entry_bytes<T>(m.size(), m.order(), k), m.batch());
}

template <RealScalar T, class K>
requires(std::same_as<K, transition::Scalar> || std::same_as<K, transition::Diagonal>) void apply(
    const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& generators, Op op,
    View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  const index_t n = generators.size();
  const index_t own = quasiseparable::checked(generators, operation).batch();
  const index_t batch = detail::check_operands(operation, own, n, n, x, y);
  const auto m = quasiseparable::checked(generators, operation, batch);
  require_strides(m, y);
  const index_t bytes = entry_bytes<T>(n, m.order(), x.extent(2));
  require_workspace(e.workspace, y.empty() ? 0 : product(bytes, own), x, y);
  const int processors = gpu::multiprocessors(operation);
  if (y.empty()) return;

  // (M^T)_ij = M_ji: the lower triangle of the transpose is the upper one with h and g exchanged.
  const Part<T> lower = part(m.p, m.a, m.q), upper = part(m.g, m.b, m.h);
  const Part<T> lower_transposed = part(m.q, m.a, m.p), upper_transposed = part(m.h, m.b, m.g);
  const bool plain = op == Op::none;
  Problem<T> problem{{plain ? lower : upper_transposed, plain ? upper : lower_transposed},
                     m.d.data(),
                     x.data(),
                     y.data(),
                     m.d.stride(0),
                     m.d.stride(1),
                     x.extent(0) == 1 ? 0 : x.stride(0),
                     x.stride(1),
                     x.stride(2),
                     y.stride(0),
                     y.stride(1),
                     y.stride(2),
                     n,
                     batch,
                     x.extent(2),
                     Chunks(n),
                     nullptr,
                     nullptr,
                     nullptr};
  // The workspace is sized by the operator's batch. When x brings a larger one, entries take turns,
  // as many at a time as it holds.
  const index_t at_once = bytes == 0 ? batch : std::min(batch, e.workspace.size() / bytes);
  for (index_t done = 0; done < batch; done += at_once) {
    problem.batch = std::min(at_once, batch - done);
    const index_t products = problem.batch * problem.chunks.count() * problem.states();
    // The narrowest type comes last: everything is aligned whatever the counts.
    problem.mantissa = reinterpret_cast<T*>(e.workspace.data());
    problem.state = problem.mantissa + products;
    problem.exponent = reinterpret_cast<int*>(problem.state + products * problem.columns);
    enqueue_best<K>(problem, processors, static_cast<cudaStream_t>(e.stream));
    for (Part<T>& triangle : problem.part) {
      triangle.p += at_once * triangle.p_batch;
      triangle.a += at_once * triangle.a_batch;
      triangle.q += at_once * triangle.q_batch;
    }
    problem.d += at_once * problem.d_batch;
    problem.x += at_once * problem.x_batch;
    problem.y += at_once * problem.y_batch;
  }
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                      \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(                               \
      const QuasiseparableView<T, K, space::cuda>&, index_t);                            \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&,                                \
                                       const QuasiseparableView<T, K, space::cuda>&, Op, \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_INSTANTIATE(float, transition::Scalar)
STRUCTMAT_INSTANTIATE(float, transition::Diagonal)
STRUCTMAT_INSTANTIATE(double, transition::Scalar)
STRUCTMAT_INSTANTIATE(double, transition::Diagonal)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat
