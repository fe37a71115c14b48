// Entries of uniform generators. Rows are cut into tiles, and a tile becomes a step of block generators:
//   out_i  := out_i^T a_{i-1} ... a_first,  in_j := a_last ... a_{j+1} in_j,  a := a_last ... a_first.
// Entries between tiles are then products of length r, with one transition a tile in between, and
// entries inside a tile are written on the way.
#include "recurrence/to_dense.cuh"

#include "recurrence/to_dense_kernel.cuh"

namespace structmat::gpu::recurrence {
namespace {

constexpr index_t tile_rows = 32;

/// The generators of the tiles, in the order of the sweeps.
template <class K, class T>
struct TileSteps {
  static constexpr bool diagonal_transitions = !std::same_as<K, transition::Dense>;

  Triangles<T> m;
  T *out[2], *in[2];  // batch, t, state
  T* transition[2];   // batch, tile, state (and column)

  __host__ __device__ index_t count() const { return pieces(m.n, tile_rows); }
  __host__ __device__ index_t transition_size(int side) const {
    const index_t r = m.part[side].states;
    return diagonal_transitions ? r : r * r;
  }
  __device__ T* transition_of(int side, index_t b, index_t tile) const {
    return transition[side] + (b * count() + tile) * transition_size(side);
  }
  __device__ index_t step_of(int side, index_t row) const { return m.row(side, row) / tile_rows; }

  __device__ Step<T> step(int side, index_t b, index_t tile) const {
    const index_t begin = tile * tile_rows, end = min(m.n, begin + tile_rows);
    const index_t r = m.part[side].states;
    const bool upward = m.part[side].upward;
    const index_t at = (b * m.n + (upward ? end - 1 : begin)) * r, row = upward ? -r : r;
    return {tile,
            r,
            r,
            upward ? m.n - end : begin,
            end - begin,
            {out[side] + at, {row, 1}},
            {in[side] + at, {row, 1}},
            {transition_of(side, b, tile),
             {diagonal_transitions ? 1 : r, diagonal_transitions ? 0 : 1}}};
  }
};

template <class K, class T>
struct TilesProblem {
  TileSteps<K, T> steps;
  Strided<T, 3> dense;
  int columns;  // that a block carries

  __host__ __device__ index_t of_rows() const { return pieces(tile_rows, columns); }
  __host__ __device__ index_t of_transition(index_t order) const {
    return steps.diagonal_transitions ? 1 : pieces(order, columns);
  }
  __host__ __device__ index_t jobs() const {
    return 2 * of_rows() + of_transition(max(steps.m.part[0].states, steps.m.part[1].states));
  }
};

/// Element l of a_t s or, `transposed`, of a_t^T s.
template <class K, class T, class State>
__device__ T through(const Triangle<T>& triangle, index_t b, index_t t, index_t l, bool transposed,
                     const State& state) {
  if constexpr (!std::same_as<K, transition::Dense>) {
    return triangle.transition(b, t, l, 0) * state(l);
  } else {
    T sum = T(0);
    for (index_t k = 0; k < triangle.states; ++k) {
      sum = multiply_add(
          transposed ? triangle.transition(b, t, k, l) : triangle.transition(b, t, l, k), state(k),
          sum);
    }
    return sum;
  }
}

/// A block some vectors of one tile of a triangle: its in, its out, or columns of its transition.
template <class K, class T>
__global__ void __launch_bounds__(to_dense_threads)
    carry_through_tiles(const __grid_constant__ TilesProblem<K, T> p) {
  const Triangles<T>& m = p.steps.m;
  const index_t tiles = p.steps.count(), jobs = p.jobs();
  const int columns = p.columns;
  const int c = static_cast<int>(threadIdx.x) % columns;
  const int group = static_cast<int>(threadIdx.x) / columns;
  const int groups = static_cast<int>(to_dense_threads) / columns;
  T* const memory = dynamic_shared<T>();
  for (index_t unit = blockIdx.x; unit < m.batch * 2 * tiles * jobs; unit += gridDim.x) {
    const index_t job = unit % jobs, tile = unit / jobs % tiles, b = unit / jobs / tiles / 2;
    const int side = static_cast<int>(unit / jobs / tiles % 2);
    const Triangle<T>& triangle = m.part[side];
    const index_t r = triangle.states;
    const index_t begin = tile * tile_rows, end = min(m.n, begin + tile_rows);
    T *state = memory, *next = memory + r * columns;
    const auto turn = [&] {
      __syncthreads();
      T* const carried = next;
      next = state;
      state = carried;
    };
    const auto carried = [&](index_t l) { return state[l * columns + c]; };

    if (job < p.of_rows()) {
      const index_t j = begin + job * columns + c, column = m.row(side, j);
      for (index_t t = begin; t < end; ++t) {
        const index_t row = m.row(side, t);
        const auto advance = [&] {
          for (index_t l = group; l < r; l += groups) {
            T value = T(0);
            if (j == t) value = triangle.in(b, t, l);
            if (j < t) value = through<K>(triangle, b, t, l, false, carried);
            next[l * columns + c] = value;
          }
          turn();
        };
        const auto emit = [&] {
          if (group != 0 || j > t) return;
          T sum = T(0);
          if (j == t && !triangle.inclusive) {
            if (side != 0) return;
            if (m.diagonal.data != nullptr) sum = m.diagonal(b, row);
          } else {
            for (index_t l = 0; l < r; ++l)
              sum = multiply_add(triangle.out(b, t, l), carried(l), sum);
          }
          p.dense(b, row, column) = sum;
        };
        if (triangle.inclusive) advance();
        emit();
        if (!triangle.inclusive && t + 1 < m.n) advance();
      }
      for (index_t l = group; l < r && j < end; l += groups) {
        p.steps.in[side][(b * m.n + j) * r + l] = carried(l);
      }
    } else if (job < 2 * p.of_rows()) {
      const index_t i = begin + (job - p.of_rows()) * columns + c;
      // Nothing is in front of the first tile.
      for (index_t t = end - 1; tile > 0 && t >= begin; --t) {
        const auto source = [&](index_t l) { return i == t ? triangle.out(b, t, l) : carried(l); };
        for (index_t l = group; l < r; l += groups) {
          T value = T(0);
          if (i == t && !triangle.inclusive) {
            value = source(l);
          } else if (i >= t && i < end) {
            value = through<K>(triangle, b, t, l, true, source);
          }
          next[l * columns + c] = value;
        }
        turn();
      }
      for (index_t l = group; l < r && i < end && tile > 0; l += groups) {
        p.steps.out[side][(b * m.n + i) * r + l] = carried(l);
      }
    } else if (tile > 0 && tile < tiles - 1) {
      const index_t column = (job - 2 * p.of_rows()) * columns + c;
      constexpr bool diagonal = TileSteps<K, T>::diagonal_transitions;
      for (index_t l = group; l < r; l += groups) {
        state[l * columns + c] = T(diagonal || l == column ? 1 : 0);
      }
      __syncthreads();
      for (index_t t = begin; t < end; ++t) {
        for (index_t l = group; l < r; l += groups) {
          next[l * columns + c] = through<K>(triangle, b, t, l, false, carried);
        }
        turn();
      }
      T* const product = p.steps.transition_of(side, b, tile);
      for (index_t l = group; l < r; l += groups) {
        if constexpr (diagonal) {
          if (column == 0) product[l] = carried(l);
        } else {
          if (column < r) product[l * r + column] = carried(l);
        }
      }
    }
    __syncthreads();
  }
}

template <class K, class T>
TileSteps<K, T> take_tiles(Workspace& w, const Triangles<T>& m) {
  TileSteps<K, T> steps{m, {}, {}, {}};
  for (int side = 0; side < 2; ++side) {
    const index_t vectors = m.batch * m.n * m.part[side].states;
    steps.out[side] = w.take<T>(vectors);
    steps.in[side] = w.take<T>(vectors);
    steps.transition[side] = w.take<T>(m.batch * steps.count() * steps.transition_size(side));
  }
  return steps;
}

}  // namespace

template <class K, class T>
index_t to_dense_workspace_bytes(const char* operation, const Triangles<T>& m) {
  return counted(operation, [&](Workspace& w) { take_tiles<K>(w, m); });
}

template <class K, class T>
void to_dense(const char* operation, const exec::cuda& e, const Triangles<T>& m,
              const Strided<T, 3>& dense) {
  const auto steps = cut(operation, e.workspace, [&](Workspace& w) { return take_tiles<K>(w, m); });
  const index_t order = std::max(m.part[0].states, m.part[1].states);
  const TilesProblem<K, T> p{steps, dense, require_columns<T>(operation, order)};
  const auto shared_bytes = static_cast<std::size_t>(2 * order * p.columns) * sizeof(T);
  const index_t work = m.batch * 2 * steps.count() * p.jobs();
  launch(
      operation, carry_through_tiles<K, T>,
      Grid{persistent_blocks(work, 1, multiprocessors(operation)), to_dense_threads, shared_bytes},
      stream_of(e), p);
  enqueue_triangles<T>(operation, e, steps, steps.count(), dense);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                              \
  template index_t to_dense_workspace_bytes<transition::K, T>(const char*, const Triangles<T>&); \
  template void to_dense<transition::K, T>(const char*, const exec::cuda&, const Triangles<T>&,  \
                                           const Strided<T, 3>&);
#define STRUCTMAT_INSTANTIATE_KINDS(T) \
  STRUCTMAT_INSTANTIATE(T, Diagonal)   \
  STRUCTMAT_INSTANTIATE(T, Dense)
STRUCTMAT_INSTANTIATE_KINDS(float)
STRUCTMAT_INSTANTIATE_KINDS(double)
STRUCTMAT_INSTANTIATE_KINDS(Complex<float>)
STRUCTMAT_INSTANTIATE_KINDS(Complex<double>)

}  // namespace structmat::gpu::recurrence
