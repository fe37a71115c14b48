/// \file
/// Square roots of Gramians at every block boundary of block generators, in parallel over the blocks:
/// X_k with X_k^H X_k = O_k^H O_k for the rows O_k from boundary k on, as a function of the state there,
/// and Y_k with C_k = Y_k^T (rows that are orthonormal) for the columns in front of it.
///
/// Both obey X' = R factor of [X B; C], upwards with B = A, C = P, downwards with B = A^T, C = Q. What a
/// range of blocks does to X is known from the products of its B and the R factor that X = 0 leads to,
/// and two ranges combine to one: so a scan over chunks of blocks gives X in front of each, and then each
/// chunk goes through its blocks again.
///
/// Numbers are kept near 1 by powers of two, so that no product of transitions leaves the range unless
/// its effect does.
#pragma once

#include "core/shared.cuh"
#include "core/strided.cuh"
#include "dense/reflection.cuh"

namespace structmat::quasiseparable::device {

/// A BlockTriangleOnDevice.
template <class D>
struct BlockGenerators {
  const D *p, *q, *a;
  index_t p_batch, q_batch, a_batch;
  const index_t* table;

  __device__ index_t state(index_t boundary) const { return table[5 * boundary]; }
  __device__ const D* p_of(index_t b, index_t k) const {
    return p + b * p_batch + table[5 * k + 1];
  }
  __device__ const D* q_of(index_t b, index_t k) const {
    return q + b * q_batch + table[5 * k + 2];
  }
  __device__ const D* a_of(index_t b, index_t k) const {
    return a + b * a_batch + table[5 * k + 3];
  }
};

template <class D>
struct BlockMatrix {
  BlockGenerators<D> side[2];
  const D* diagonal;
  index_t diagonal_batch;
  const index_t* table;  ///< (blocks + 1, 2)
  index_t blocks, batch;
  int states;  ///< the largest

  __device__ int rows(index_t k) const { return static_cast<int>(table[2 * k + 2] - table[2 * k]); }
};

/// X' = R factor of [X B; C]; b: in x out, c: rows x out.
template <class D>
struct RootStep {
  const D* b;
  index_t b_row, b_column;
  int in, out, b_exponent;
  const D* c;
  index_t c_row, c_column;
  int rows, c_exponent;
};

/// Roots of recursion 2 * side + (upwards ? 1 : 0).
template <class D>
struct RootProblem {
  BlockMatrix<D> m;
  index_t chunk, chunks;
  D* elements;             ///< (batch, 4, chunks, 2): of a chunk, X from X = 0 and the product of B
  int* element_exponents;  ///< the same
  D* roots;                ///< (batch, 4, blocks + 1): X_k, Y_k by columns; not at the ends
  int* root_exponents;     ///< the same
  int* broken;             ///< (batch): set where numbers are not finite
  int piece;               ///< rows of C at a time
  D* scratch;              ///< scratch_stride numbers a block, or null: in shared memory
  index_t scratch_stride;

  __device__ RootStep<D> step(index_t b, int recursion, index_t t) const {
    const BlockGenerators<D>& s = m.side[recursion / 2];
    const bool upwards = recursion % 2 == 1;
    const index_t k = upwards ? m.blocks - 1 - t : t, front = s.state(k), behind = s.state(k + 1);
    const int before = static_cast<int>(front), after = static_cast<int>(behind), rows = m.rows(k);
    const D* const a = s.a_of(b, k);
    if (upwards) return {a, front, 1, after, before, 0, s.p_of(b, k), front, 1, rows, 0};
    return {a, 1, front, before, after, 0, s.q_of(b, k), behind, 1, rows, 0};
  }
  /// Where the root after step t stands.
  __device__ index_t root_after(index_t b, int recursion, index_t t) const {
    return (b * 4 + recursion) * (m.blocks + 1) + (recursion % 2 == 1 ? m.blocks - 1 - t : t + 1);
  }
};

/// a 2^exponent
template <class D>
__device__ D scaled(D a, int exponent) {
  if constexpr (gpu::is_complex<D>) {
    return {ldexp(a.re, exponent), ldexp(a.im, exponent)};
  } else {
    return ldexp(a, exponent);
  }
}

/// A := its R factor, as gpu::triangularise: one warp, up to 32 columns, each with lanes of its own. A
/// column is met by all others at once, in one pass over rows for their products and one to subtract.
template <class D>
__device__ void triangularise_by_lanes(const gpu::Tile<D>& a, int rows, int columns,
                                       int tail_begin) {
  using R = gpu::real_of_t<D>;
  constexpr R tiny = sizeof(R) == 8 ? R(2.3e-305) : R(1.2e-35);
  int places = 1;
  while (places < columns) places *= 2;
  const int lane = static_cast<int>(threadIdx.x) % 32, own = lane % places, part = lane / places,
            parts = 32 / places;
  const int c = min(own, columns - 1);
  D* const x = a.data + c * a.step;
  for (int j = 0; j < columns; ++j) {
    const int below = max(tail_begin, j + 1);
    const D* const v = a.data + j * a.step;
    __syncwarp();
    const D head = v[j], own_head = x[j];
    D dot = D(0);
    R squares = 0;
    for (int i = below + part; i < rows; i += parts) {
      const D entry = v[i];
      dot = gpu::multiply_add(gpu::conjugate(entry), x[i], dot);
      squares += gpu::square(entry);
    }
    for (int offset = 16; offset >= places; offset /= 2) {
      dot += gpu::shuffle_xor(0xffffffffu, dot, offset);
      squares += gpu::shuffle_xor(0xffffffffu, squares, offset);
    }
    const R head_squares = gpu::square(head), norm = sqrt(squares + head_squares),
            size = sqrt(head_squares), half = norm * (norm + size);
    // The same in all lanes. Nothing to reflect, or so little beside 1 that its square underflows.
    const bool needed = squares > 0 && half > tiny;
    D turned = D(norm);
    if (size > 0) turned = head * (norm / size);
    const D v_head = head + turned,
            share = (dot + gpu::conjugate(v_head) * own_head) * (R(-1) / half);
    __syncwarp();
    if (needed && own > j && own < columns) {
      for (int i = below + part; i < rows; i += parts) x[i] = gpu::multiply_add(share, v[i], x[i]);
      if (part == 0) x[j] = gpu::multiply_add(share, v_head, own_head);
    }
    __syncwarp();
    if (own == j) {
      for (int i = below + part; i < rows; i += parts) x[i] = D(0);
      if (part == 0 && needed) x[j] = -turned;
    }
  }
  __syncwarp();
}

/// Exponents of numbers in between are left as they are.
template <class R>
inline constexpr int near_one = sizeof(R) == 8 ? 64 : 16;

/// What a team carries through a range of steps.
template <class Team, class D>
class Root {
 public:
  using R = gpu::real_of_t<D>;

  /// Numbers of memory that it needs.
  static __host__ __device__ index_t size(index_t states, index_t piece) {
    const index_t step = (states + piece) | 1, square = states | 1;
    return step * states + 3 * square * states + states + 2 * Team::warps;
  }

  __device__ Root(D* memory, int states, int piece)
      : states_(states),
        piece_(piece),
        tile_{memory, (states + piece) | 1},
        root_{tile_.data + tile_.step * states, states | 1},
        transfer_{root_.data + root_.step * states, root_.step},
        spare_{transfer_.data + root_.step * states, root_.step},
        diagonal_(spare_.data + root_.step * states),
        scratch_(reinterpret_cast<R*>(diagonal_ + states)) {}

  /// X = 0, and no step so far.
  __device__ void clear() {
    for_entries([&](int i, int j) {
      root_(i, j) = D(0);
      transfer_(i, j) = D(i == j ? 1 : 0);
    });
    exponent_ = transfer_exponent_ = 0;
  }
  __device__ void load(const D* x, int exponent) {
    for_entries([&](int i, int j) { root_(i, j) = x[i + j * states_]; });
    exponent_ = exponent;
  }
  __device__ void load_transfer(const D* x, int exponent) {
    for_entries([&](int i, int j) { transfer_(i, j) = x[i + j * states_]; });
    transfer_exponent_ = exponent;
  }
  __device__ void store(D* x, int* exponent) const { store(root_, exponent_, x, exponent); }
  __device__ void store_transfer(D* x, int* exponent) const {
    store(transfer_, transfer_exponent_, x, exponent);
  }

  /// False where numbers are not finite: they become 0.
  __device__ bool absorb(const RootStep<D>& step, bool with_transfer) {
    Team::sync();
    R most_top = multiply(root_, tile_, step, true);
    int top_exponent = exponent_ + step.b_exponent;
    bool finite = true;
    for (int first = 0; first == 0 || first < step.rows; first += piece_) {
      const int count = min(piece_, step.rows - first);
      R most = 0;
      for (int at = Team::thread(); at < states_ * count; at += threads) {
        // Neighbouring threads read what lies together.
        const bool by_rows = step.c_column == 1;
        const int i = by_rows ? at / states_ : at % count, j = by_rows ? at % states_ : at / count;
        const D c = j < step.out ? step.c[(first + i) * step.c_row + j * step.c_column] : D(0);
        tile_(states_ + i, j) = c;
        most = larger(most, c);
      }
      if (first > 0) {
        most_top = 0;
        for_entries([&](int i, int j) { most_top = larger(most_top, tile_(i, j)); });
      }
      finite &= bring_together(most_top, top_exponent, most, step.c_exponent, count);
      const int tail = first == 0 ? 0 : states_;
      if constexpr (Team::warps == 1) {
        triangularise_by_lanes(tile_, states_ + count, states_, tail);
      } else {
        gpu::triangularise<Team>(tile_, states_ + count, states_, tail, diagonal_);
      }
      top_exponent = exponent_;
    }
    for_entries([&](int i, int j) { root_(i, j) = tile_(i, j); });
    if (!with_transfer) return finite;

    R most = Team::max(multiply(transfer_, spare_, step, false), scratch_);
    const gpu::Tile<D> exchanged = transfer_;
    transfer_ = spare_;
    spare_ = exchanged;
    transfer_exponent_ += step.b_exponent;
    if (!(most <= std::numeric_limits<R>::max())) {
      finite = false;
      for_entries([&](int i, int j) { transfer_(i, j) = D(0); });
    } else if (most > 0 && abs(ilogb(most)) > near_one<R>) {
      const int shift = ilogb(most);
      for_entries([&](int i, int j) { transfer_(i, j) = scaled(transfer_(i, j), -shift); });
      transfer_exponent_ += shift;
    }
    Team::sync();
    return finite;
  }

 private:
  static constexpr int threads = 32 * Team::warps;

  /// Every thread meets the same entries in every call, and nobody else does.
  template <class Visit>
  __device__ void for_entries(const Visit& visit) const {
    for (int at = Team::thread(); at < states_ * states_; at += threads) {
      const int j = at / states_;
      visit(at - j * states_, j);
    }
  }

  /// max(most, |a|), and infinity where a is NaN.
  static __device__ R larger(R most, D a) {
    const R size = gpu::taxicab(a);
    return size <= most                            ? most
           : size <= std::numeric_limits<R>::max() ? size
                                                   : std::numeric_limits<R>::infinity();
  }

  __device__ void store(const gpu::Tile<D>& from, int from_exponent, D* x, int* exponent) const {
    for_entries([&](int i, int j) { x[i + j * states_] = from(i, j); });
    if (Team::thread() == 0) *exponent = from_exponent;
  }

  /// to := x B, and the largest entry that this thread has made. upper: x is an upper triangle.
  __device__ R multiply(const gpu::Tile<D>& x, const gpu::Tile<D>& to, const RootStep<D>& step,
                        bool upper) const {
    R most = 0;
    for_entries([&](int i, int j) {
      D sum = D(0);
      if (j < step.out) {
        const D* const b = step.b + j * step.b_column;
        for (int l = upper ? i : 0; l < step.in; ++l) {
          sum = gpu::multiply_add(x(i, l), b[l * step.b_row], sum);
        }
      }
      to(i, j) = sum;
      most = larger(most, sum);
    });
    return most;
  }

  /// Brings the upper states_ rows and `count` rows below them to one exponent.
  __device__ bool bring_together(R most_top, int top_exponent, R most, int exponent, int count) {
    most_top = Team::max(most_top, scratch_);
    most = Team::max(most, scratch_ + Team::warps);
    const bool finite =
        most_top <= std::numeric_limits<R>::max() && most <= std::numeric_limits<R>::max();
    constexpr int none = -(1 << 28);
    const int top = most_top > 0 ? ilogb(most_top) + top_exponent : none,
              below = most > 0 ? ilogb(most) + exponent : none, larger = max(top, below);
    exponent_ = 0;
    if (finite && top_exponent == 0 && exponent == 0 && abs(larger) <= near_one<R>) return true;
    if (finite && larger != none) exponent_ = larger;
    Team::sync();
    for (int at = Team::thread(); at < states_ * (states_ + count); at += threads) {
      const int i = at / states_, j = at - i * states_;
      D& entry = tile_(i, j);
      const int shift = (i < states_ ? top_exponent : exponent) - exponent_;
      // An exponent that is out of all proportion belongs to zeros.
      entry = finite && larger != none ? scaled(entry, shift) : D(0);
    }
    return finite;
  }

  int states_, piece_;
  gpu::Tile<D> tile_, root_, transfer_, spare_;
  D* diagonal_;
  R* scratch_;
  int exponent_ = 0, transfer_exponent_ = 0;
};

template <class Team, class D>
__device__ Root<Team, D> root_of_block(const RootProblem<D>& p) {
  return {
      p.scratch == nullptr ? gpu::dynamic_shared<D>() : p.scratch + blockIdx.x * p.scratch_stride,
      p.m.states, p.piece};
}

/// Elements of all chunks but the last.
template <int Threads, class D>
__global__ void __launch_bounds__(Threads, Threads == 32 ? 20 : 1)
    summarise_chunks(const __grid_constant__ RootProblem<D> p) {
  using Team = gpu::Team<Threads>;
  auto root = root_of_block<Team>(p);
  const index_t square = index_t{p.m.states} * p.m.states, own = p.chunks - 1;
  for (index_t unit = blockIdx.x; unit < p.m.batch * 4 * own; unit += gridDim.x) {
    const index_t line = unit / own, c = unit - line * own, b = line / 4;
    const int recursion = static_cast<int>(line % 4);
    root.clear();
    bool finite = true;
    for (index_t t = c * p.chunk; t < (c + 1) * p.chunk; ++t) {
      finite &= root.absorb(p.step(b, recursion, t), true);
    }
    const index_t at = 2 * (line * p.chunks + c);
    root.store(p.elements + at * square, p.element_exponents + at);
    root.store_transfer(p.elements + (at + 1) * square, p.element_exponents + at + 1);
    if (!finite) p.broken[b] = 1;
    Team::sync();
  }
}

/// Element c takes in element c - distance, which reaches as far back again.
template <class D>
struct RootScan {
  const D* from;
  const int* from_exponents;
  D* to;
  int* to_exponents;
  index_t distance;
};
template <int Threads, class D>
__global__ void __launch_bounds__(Threads, Threads == 32 ? 20 : 1)
    scan_chunks(const __grid_constant__ RootProblem<D> p,
                const __grid_constant__ RootScan<D> scan) {
  using Team = gpu::Team<Threads>;
  auto root = root_of_block<Team>(p);
  const int s = p.m.states;
  const index_t square = index_t{s} * s, own = p.chunks - 1;
  for (index_t unit = blockIdx.x; unit < p.m.batch * 4 * own; unit += gridDim.x) {
    const index_t line = unit / own, c = unit - line * own, at = 2 * (line * p.chunks + c);
    const D* const element = scan.from + at * square;
    const int* const exponents = scan.from_exponents + at;
    if (c < scan.distance) {
      root.load(element, exponents[0]);
      root.load_transfer(element + square, exponents[1]);
    } else {
      const index_t before = at - 2 * scan.distance;
      root.load(scan.from + before * square, scan.from_exponents[before]);
      root.load_transfer(scan.from + (before + 1) * square, scan.from_exponents[before + 1]);
      const RootStep<D> step{element + square, 1, s, s, s,           exponents[1],
                             element,          1, s, s, exponents[0]};
      if (!root.absorb(step, true)) p.broken[line / 4] = 1;
    }
    root.store(scan.to + at * square, scan.to_exponents + at);
    root.store_transfer(scan.to + (at + 1) * square, scan.to_exponents + at + 1);
    Team::sync();
  }
}

/// All roots, from those in front of the chunks: p.elements are scanned.
template <int Threads, class D>
__global__ void __launch_bounds__(Threads, Threads == 32 ? 20 : 1)
    sweep_chunks(const __grid_constant__ RootProblem<D> p) {
  using Team = gpu::Team<Threads>;
  auto root = root_of_block<Team>(p);
  const index_t square = index_t{p.m.states} * p.m.states;
  for (index_t unit = blockIdx.x; unit < p.m.batch * 4 * p.chunks; unit += gridDim.x) {
    const index_t line = unit / p.chunks, c = unit - line * p.chunks, b = line / 4;
    const int recursion = static_cast<int>(line % 4);
    const index_t before = 2 * (line * p.chunks + c - 1);
    if (c == 0) root.clear();
    if (c > 0) root.load(p.elements + before * square, p.element_exponents[before]);
    bool finite = true;
    // Behind the last step there is nothing.
    const index_t end = min((c + 1) * p.chunk, p.m.blocks - 1);
    for (index_t t = c * p.chunk; t < end; ++t) {
      finite &= root.absorb(p.step(b, recursion, t), false);
      const index_t at = p.root_after(b, recursion, t);
      root.store(p.roots + at * square, p.root_exponents + at);
    }
    if (!finite) p.broken[b] = 1;
    Team::sync();
  }
}

}  // namespace structmat::quasiseparable::device
