// Singular values of many small matrices: bidiagonal forms by a warp or a block for each matrix, then
// bisection by a thread for each value. Two launches, whatever the shape.
#include "structmat/dense/singular_values.hpp"

#include <limits>

#include "core/instantiate.hpp"
#include "core/shared.cuh"
#include "dense/reflection.cuh"
#include "dense/singular_values.cuh"

namespace structmat {
namespace gpu {
namespace {

constexpr int most_columns = 256;
/// A warp takes what its lanes hold in few enough rounds.
constexpr int most_columns_of_warp = 32, most_rows_of_warp = 64;
constexpr int warps_per_block = 4;

/// Forms are padded to groups of steps between two looks at the range of the recurrence.
constexpr int steps_per_look = 8;
__host__ __device__ constexpr int form_length(int columns) {
  return (2 * columns - 1 + steps_per_look - 1) / steps_per_look * steps_per_look;
}

// ---- bidiagonal forms

/// rows >= columns.
template <class T>
struct FormsProblem {
  Strided<const T, 3> a;
  index_t batch, rows;
  int columns;
  bool whole;      ///< the matrix fits into its tile and needs no QR first
  bool along_row;  ///< neighbouring threads read along a row
  int tile_rows, tile_step;
  std::size_t team_bytes;  ///< of shared memory
  T* tiles;                ///< one for each block, where they lie in global memory
  double* squares;
  int* exponents;
};

/// What a team has in shared memory. The tile comes last: it may lie elsewhere.
template <class T>
struct TeamMemory {
  using R = real_of_t<T>;
  T* diagonal;  // columns
  R* squares;   // 2 columns
  R* scratch;   // 32
  T* tile;

  __host__ __device__ TeamMemory(std::byte* memory, int columns)
      : diagonal(reinterpret_cast<T*>(memory)),
        squares(reinterpret_cast<R*>(diagonal + columns)),
        scratch(squares + 2 * columns),
        tile(reinterpret_cast<T*>(memory + tile_offset(columns))) {}

  static __host__ __device__ std::size_t tile_offset(int columns) {
    return (columns * (sizeof(T) + 2 * sizeof(R)) + 32 * sizeof(R) + 15) / 16 * 16;
  }
  static std::size_t bytes(int columns, std::size_t tile_numbers) {
    return tile_offset(columns) + (tile_numbers * sizeof(T) + 15) / 16 * 16;
  }
};

template <class R>
__device__ constexpr R largest_finite() {
  return sizeof(R) == 8 ? static_cast<R>(0x1.fffffffffffffp1023) : static_cast<R>(0x1.fffffep127);
}

/// Infinity for NaN and infinity.
template <class R>
__device__ R finite_size(R a) {
  return fabs(a) <= largest_finite<R>() ? fabs(a) : static_cast<R>(INFINITY);
}
template <class R>
__device__ R finite_size(Complex<R> a) {
  return max(finite_size(a.re), finite_size(a.im));
}

/// visit(i, j, a_ij) for rows begin to begin + count of matrix b, i counted from 0.
template <class Team, class T, class Visit>
__device__ void for_rows(const FormsProblem<T>& p, index_t b, index_t begin, int count,
                         const Visit& visit) {
  const int minor = p.along_row ? p.columns : count;
  for (int at = Team::thread(); at < count * p.columns; at += 32 * Team::warps) {
    const int major = at / minor, rest = at - major * minor;
    const int i = p.along_row ? major : rest, j = p.along_row ? rest : major;
    visit(i, j, p.a(b, begin + i, j));
  }
}

/// The form of matrix b.
template <class Team, class T>
__device__ void make_form(const FormsProblem<T>& p, index_t b, const TeamMemory<T>& memory,
                          const Tile<T>& tile) {
  using R = real_of_t<T>;
  const auto rows_from = [&](index_t begin, int most) {
    return static_cast<int>(p.rows - begin < most ? p.rows - begin : most);
  };
  R largest = 0;
  for (index_t begin = 0; begin < p.rows; begin += p.tile_rows) {
    for_rows<Team>(p, b, begin, rows_from(begin, p.tile_rows), [&](int i, int j, T value) {
      largest = max(largest, finite_size(value));
      if (p.whole) tile(i, j) = value;
    });
  }
  largest = Team::max(largest, memory.scratch);
  if (!(largest > 0 && largest <= largest_finite<R>())) {
    if (Team::thread() == 0) {
      p.exponents[b] = largest > 0 ? BidiagonalForms::not_finite : BidiagonalForms::zero_matrix;
    }
    return;
  }
  const int exponent = ilogb(largest);
  // Two factors, since the inverse of a subnormal number overflows.
  const R half = ldexp(R(1), -exponent / 2), rest = ldexp(R(1), -exponent + exponent / 2);
  if (p.whole) {
    // Each thread scales what it brought.
    for_rows<Team>(p, b, 0, static_cast<int>(p.rows),
                   [&](int i, int j, T) { tile(i, j) = rest * (half * tile(i, j)); });
  } else {
    for (index_t begin = 0; begin < p.rows;) {
      const int top = begin == 0 ? 0 : p.columns;
      const int count = rows_from(begin, min(p.tile_rows - top, longest_tail + 1));
      for_rows<Team>(p, b, begin, count,
                     [&](int i, int j, T value) { tile(top + i, j) = rest * (half * value); });
      triangularise<Team>(tile, top + count, p.columns, top, memory.diagonal);
      begin += count;
    }
  }
  bidiagonalise<Team>(tile, p.whole ? static_cast<int>(p.rows) : p.columns, p.columns,
                      memory.squares);

  const int number = 2 * p.columns - 1, length = form_length(p.columns);
  double sum = 0;
  for (int i = Team::lane(); i < number; i += 32) sum += static_cast<double>(memory.squares[i]);
  const int of_norm = ilogb(sqrt(warp_sum(sum))) + 1;
  const double scale = ldexp(1.0, -2 * of_norm);
  for (int i = Team::thread(); i < length; i += 32 * Team::warps) {
    // The least keeps the recurrence in range, and is far below rounding: (eps / 1000)^2.
    constexpr double least = 0x1p-124;
    const double own = i < number ? scale * static_cast<double>(memory.squares[i]) : 0;
    p.squares[b * length + i] = -max(own, least);
  }
  if (Team::thread() == 0) p.exponents[b] = exponent + of_norm;
}

/// Blocks of a multiprocessor for which registers must suffice.
template <class T, int Threads>
constexpr int blocks_at_once = (sizeof(T) == 16 ? 3 : 5) * 128 / (Threads == 32 ? 128 : Threads);

/// Outside: tiles lie in global memory, one for each block.
template <class T, int Threads, bool Outside>
__global__ void __launch_bounds__(Threads == 32 ? 32 * warps_per_block : Threads,
                                  blocks_at_once<T, Threads>)
    make_forms(const __grid_constant__ FormsProblem<T> p) {
  constexpr int teams = Threads == 32 ? warps_per_block : 1;
  using Own = Team<Threads>;
  const int team = static_cast<int>(threadIdx.x) / Threads;
  const TeamMemory<T> memory(dynamic_shared<std::byte>() + team * p.team_bytes, p.columns);
  T* data = memory.tile;
  if constexpr (Outside) data = p.tiles + index_t{blockIdx.x} * p.tile_step * p.columns;
  for (index_t b = static_cast<index_t>(blockIdx.x) * teams + team; b < p.batch;
       b += static_cast<index_t>(gridDim.x) * teams) {
    Own::sync();
    make_form<Own>(p, b, memory, Tile<T>{data, p.tile_step});
  }
}

// ---- values

template <class R>
struct ValuesProblem {
  BidiagonalForms forms;
  index_t batch;
  int columns;
  Strided<R, 2> sigma;
  Strided<int, 1> status;
};

/// How many eigenvalues of the Golub-Kahan matrix of `length` + 1 rows are below x: the changes of
/// sign of its Sturm sequence p_0 = 1, p_1 = -x, p_{i+1} = -x p_i - z_i^2 p_{i-1}.
///
/// With z_i^2 >= 2^-124 and sum of z_i^2 about 1 the larger of two neighbours falls by less than 2^500
/// in eight steps, and never grows by more than 2 a step.
__device__ inline int eigenvalues_below(double x, const double* minus_squares, int length) {
  constexpr unsigned small = 0x20b00000u;  // upper half of 2^-500
  constexpr double up = 0x1p500;
  const auto upper = [](double a) {
    return static_cast<unsigned>(static_cast<unsigned long long>(__double_as_longlong(a)) >> 32);
  };
  double before = 1, now = -x;
  int changes = 1;
  for (int i = 0; i < length; i += steps_per_look) {
    unsigned signs = upper(now) >> 31;
    const auto* const pairs = reinterpret_cast<const double2*>(minus_squares + i);
#pragma unroll
    for (int e = 0; e < steps_per_look / 2; ++e) {
      const double2 squares = pairs[e];
      before = fma(-x, now, squares.x * before);
      signs = __funnelshift_l(upper(before), signs, 1);
      now = fma(-x, before, squares.y * now);
      signs = __funnelshift_l(upper(now), signs, 1);
    }
    changes += __popc((signs ^ signs >> 1) & ((1u << steps_per_look) - 1));
    if ((upper(now) & 0x7fffffffu) < small && (upper(before) & 0x7fffffffu) < small) {
      now *= up;
      before *= up;
    }
  }
  return changes;
}

constexpr unsigned value_threads = 128;

template <class R>
__global__ void __launch_bounds__(value_threads)
    find_values(const __grid_constant__ ValuesProblem<R> p) {
  constexpr int halvings = sizeof(R) == 8 ? 54 : 26;
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  const int columns = max(p.columns, 1);
  for (index_t at = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < p.batch * columns; at += step) {
    const index_t b = at / columns;
    const int l = static_cast<int>(at - b * columns);
    const int exponent = p.columns == 0 ? BidiagonalForms::zero_matrix : p.forms.exponents[b];
    const bool finite = exponent != BidiagonalForms::not_finite;
    if (l == 0) p.status(b) = static_cast<int>(!finite);
    if (p.columns == 0) continue;
    if (!finite || exponent == BidiagonalForms::zero_matrix) {
      p.sigma(b, l) = finite ? R(0) : static_cast<R>(NAN);
      continue;
    }
    const int length = static_cast<int>(p.forms.length);
    const double* const form = p.forms.minus_squares + b * p.forms.length;
    double low = 0, high = 1;
    for (int i = 0; i < halvings; ++i) {
      const double middle = 0.5 * (low + high);
      // Eigenvalues are the values and their negatives, and zeros for the padding.
      const int values = length + 1 - eigenvalues_below(middle, form, length);
      (values > l ? low : high) = middle;
    }
    p.sigma(b, l) = low > 0 ? static_cast<R>(ldexp(0.5 * (low + high), exponent)) : R(0);
  }
}

}  // namespace

// ---- plan

template <class T>
SingularValues<T>::SingularValues(const char* operation, index_t batch, index_t m, index_t n)
    : operation_(operation),
      batch_(batch),
      m_(m),
      rows_(std::max(m, n)),
      columns_(static_cast<int>(std::min<index_t>({m, n, most_columns + 1}))) {
  if (columns_ > most_columns) {
    throw Unsupported(std::string(operation) + ": matrices of " + std::to_string(m) + " x " +
                      std::to_string(n) + ", the shorter side must be at most " +
                      std::to_string(most_columns));
  }
  if (batch_ == 0 || columns_ == 0) return;
  using Memory = TeamMemory<T>;
  processors_ = multiprocessors(operation);
  int device = 0, limit = 0;
  check(cudaGetDevice(&device), operation);
  check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), operation);
  const auto bytes = [&](index_t tile_rows) {
    return Memory::bytes(columns_, static_cast<std::size_t>(tile_rows | 1) * columns_);
  };
  const auto fits = [&](index_t tile_rows) {
    return bytes(tile_rows) <= static_cast<std::size_t>(limit);
  };

  warps_ = columns_ <= most_columns_of_warp && rows_ <= most_rows_of_warp &&
           warps_per_block * bytes(rows_) <= static_cast<std::size_t>(limit);
  // Rows that are taken in at a time on top of R, at least.
  const index_t least = std::max<index_t>(columns_ / 2, 32);
  whole_ = warps_ || (rows_ <= 2 * columns_ && rows_ - 1 <= longest_tail &&
                      (fits(rows_) || !fits(columns_ + least)));
  index_t tile_rows = rows_;
  if (!whole_) {
    // As many as leave room for a second block.
    tile_rows = std::min<index_t>(rows_, longest_tail);
    while (tile_rows > columns_ + least && 2 * bytes(tile_rows) > static_cast<std::size_t>(limit)) {
      tile_rows -= 16;
    }
    tile_rows = std::min(std::max(tile_rows, columns_ + least), rows_);
  }
  outside_ = !fits(tile_rows);
  tile_rows_ = static_cast<int>(tile_rows);
  tile_step_ = tile_rows_ | 1;
  constexpr index_t small_tile = 64 * 64;
  threads_ = warps_ || (!outside_ && tile_rows * columns_ <= small_tile) ? 128 : 256;
  team_bytes_ = outside_ ? Memory::bytes(columns_, 0) : bytes(tile_rows);
  blocks_ = persistent_blocks(batch_, warps_ ? warps_per_block : 1, processors_);
  constexpr int outside_blocks_per_processor = 2;
  if (outside_) {
    blocks_ = std::min(blocks_, static_cast<unsigned>(outside_blocks_per_processor * processors_));
  }
}

template <class T>
void SingularValues<T>::take(Workspace& workspace) {
  if (batch_ == 0 || columns_ == 0) return;
  tiles_ = outside_ ? workspace.take<T>(index_t{blocks_} * tile_step_ * columns_) : nullptr;
  squares_ = workspace.take<double>(batch_ * form_length(columns_));
  exponents_ = workspace.take<int>(batch_);
}

template <class T>
void SingularValues<T>::enqueue(cudaStream_t stream, const Strided<const T, 3>& a,
                                const Strided<R, 2>& sigma, const Strided<int, 1>& status) const {
  if (batch_ == 0) return;
  const int length = columns_ == 0 ? 0 : form_length(columns_);
  if (columns_ > 0) {
    Strided<const T, 3> tall = a;
    if (m_ < rows_) std::swap(tall.stride[1], tall.stride[2]);
    const FormsProblem<T> p{
        tall,       batch_,     rows_,
        columns_,   whole_,     std::abs(tall.stride[2]) < std::abs(tall.stride[1]),
        tile_rows_, tile_step_, team_bytes_,
        tiles_,     squares_,   exponents_};
    const Grid grid{blocks_, threads_, team_bytes_ * (warps_ ? warps_per_block : 1)};
    const auto kernel = warps_            ? make_forms<T, 32, false>
                        : outside_        ? make_forms<T, 256, true>
                        : threads_ == 128 ? make_forms<T, 128, false>
                                          : make_forms<T, 256, false>;
    launch(operation_, kernel, grid, stream, p);
  }
  const ValuesProblem<R> p{{squares_, length, exponents_}, batch_, columns_, sigma, status};
  const int processors = columns_ == 0 ? multiprocessors(operation_) : processors_;
  launch(operation_, find_values<R>,
         persistent_blocks(batch_ * std::max(columns_, 1), value_threads, processors),
         value_threads, stream, p);
}

template class SingularValues<float>;
template class SingularValues<double>;
template class SingularValues<Complex<float>>;
template class SingularValues<Complex<double>>;

}  // namespace gpu

namespace dense {
namespace {

constexpr char operation[] = "dense::singular_values";

template <class T>
gpu::SingularValues<gpu::device_scalar_t<T>> plan(const View<const T, 3, space::cuda>& a) {
  return {operation, a.extent(0), a.extent(1), a.extent(2)};
}

}  // namespace

template <Scalar T>
index_t singular_values_workspace_bytes(const View<const T, 3, space::cuda>& a) {
  return gpu::counted(operation, [&](gpu::Workspace& w) { plan<T>(a).take(w); });
}

template <Scalar T>
void singular_values(const exec::cuda& e, View<const T, 3, space::cuda> a,
                     View<real_t<T>, 2, space::cuda> sigma, View<int, 1, space::cuda> status) {
  const index_t batch = a.extent(0), number = std::min(a.extent(1), a.extent(2));
  if (sigma.extent(0) != batch || sigma.extent(1) != number) {
    throw ShapeError(std::string(operation) + ": sigma is " + std::to_string(sigma.extent(0)) +
                     " x " + std::to_string(sigma.extent(1)) + ", the matrices have " +
                     std::to_string(batch) + " x " + std::to_string(number) + " values");
  }
  if (status.extent(0) != batch) {
    throw ShapeError(std::string(operation) + ": status has " + std::to_string(status.extent(0)) +
                     " entries, the batch " + std::to_string(batch));
  }
  gpu::require_writable(operation, sigma, "sigma");
  gpu::require_writable(operation, status, "status");
  auto values = plan<T>(a);
  gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { values.take(w); });
  gpu::require_apart(operation, e.workspace, a, "a");
  gpu::require_apart(operation, e.workspace, sigma, "sigma");
  gpu::require_apart(operation, e.workspace, status, "status");
  values.enqueue(gpu::stream_of(e), gpu::strided(a), gpu::strided(sigma), gpu::strided(status));
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT index_t singular_values_workspace_bytes(                               \
      const View<const T, 3, space::cuda>&);                                                       \
  template STRUCTMAT_EXPORT void singular_values(const exec::cuda&, View<const T, 3, space::cuda>, \
                                                 View<real_t<T>, 2, space::cuda>,                  \
                                                 View<int, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace dense
}  // namespace structmat
