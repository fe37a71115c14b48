// The elimination of elimination.cuh: generators in shared memory where they fit, every thread with a few rows
// and as many columns, two reductions over the block a step.
#include "cauchy/elimination.cuh"

#include <limits>

#include "core/reduce.cuh"
#include "core/shared.cuh"

namespace structmat::cauchy::device {
namespace {

/// Every device since compute capability 8.0 has so much for one block.
constexpr index_t most_shared = index_t{96} * 1024;
/// Steps between two orthogonalisations.
constexpr int event_distance = 16;

/// What a block works on, one array after the other. s, t: nodes; on the circle their factors of 1 / (s - t).
template <class T>
struct Work {
  using R = gpu::real_of_t<T>;
  T *g, *h, *entries, *s, *t;
  R* table;
  unsigned char *row_done, *col_done;

  __host__ __device__ static index_t bytes(index_t n, index_t order, Weights weights) {
    const index_t table = weights == Weights::circle ? 2 * n * index_t{sizeof(R)} : 0;
    return ((2 * order + 3) * n * index_t{sizeof(T)} + table + 2 * n + 15) / 16 * 16;
  }
  __device__ Work(std::byte* memory, index_t n, index_t order, Weights weights) {
    g = reinterpret_cast<T*>(memory);
    h = g + order * n;
    entries = h + order * n;
    s = entries + n;
    t = s + n;
    table = reinterpret_cast<R*>(t + n);
    row_done = reinterpret_cast<unsigned char*>(table + (weights == Weights::circle ? 2 * n : 0));
    col_done = row_done + n;
  }
};

/// A size as an unsigned number that orders as it does: by all digits in single precision, by 20 in double.
/// NaN is below everything.
__device__ inline unsigned order_of(float size) {
  return size >= 0 ? static_cast<unsigned>(__float_as_int(size)) + 1 : 0;
}
__device__ inline unsigned order_of(double size) {
  return size >= 0 ? static_cast<unsigned>(__double_as_longlong(size) >> 32) + 1 : 0;
}

/// The largest of some sizes, and whose it is. None: order 0.
struct Best {
  unsigned order = 0;
  int index = 0;

  template <class R>
  __device__ void take(R size, int at) {
    const unsigned other = order_of(size);
    if (other > order) order = other, index = at;
  }
};

/// Scratch of reductions: two of each kind in turn, so that one barrier is enough for each.
template <class T>
struct Scratch {
  unsigned orders[2][32];
  int indices[2][32];
  T sums[2][32];
};

template <class T>
class Reductions {
 public:
  __device__ explicit Reductions(Scratch<T>& scratch) : scratch_(scratch) {}

  /// The largest over the block, of equal ones one that depends on the numbers alone.
  __device__ Best best(Best own) {
    const int warps = static_cast<int>(blockDim.x) / 32;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    turn_ ^= 1;
    over_warp(own);
    if (lane == 0) {
      scratch_.orders[turn_][warp] = own.order;
      scratch_.indices[turn_][warp] = own.index;
    }
    __syncthreads();
    if (warps == 1) return own;
    own = {};
    if (lane < warps) own = {scratch_.orders[turn_][lane], scratch_.indices[turn_][lane]};
    over_warp(own);
    return own;
  }
  __device__ T sum(T own) {
    turn_ ^= 1;
    return gpu::block_sum(own, scratch_.sums[turn_]);
  }

 private:
  __device__ static void over_warp(Best& own) {
    constexpr unsigned all = 0xffffffffu;
    const unsigned most = __reduce_max_sync(all, own.order);
    const int winner = __ffs(static_cast<int>(__ballot_sync(all, own.order == most))) - 1;
    own = {most, __shfl_sync(all, own.index, winner)};
  }

  Scratch<T>& scratch_;
  int turn_ = 0;
};

__device__ inline float quotient(float a) {
  return 1 / a;
}
__device__ inline double quotient(double a) {
  return 1 / a;
}
/// 1 / a by one real division where |a|^2 is a normal number.
template <class R>
__device__ gpu::Complex<R> quotient(gpu::Complex<R> a) {
  const R square = fma(a.re, a.re, a.im * a.im);
  if (square >= std::numeric_limits<R>::min() && square <= 1 / std::numeric_limits<R>::min()) {
    const R r = 1 / square;
    return {a.re * r, -a.im * r};
  }
  return gpu::reciprocal(a);
}

template <class R>
__device__ R scaled(R a, int exponent) {
  return scalbn(a, exponent);
}
template <class R>
__device__ gpu::Complex<R> scaled(gpu::Complex<R> a, int exponent) {
  return {scalbn(a.re, exponent), scalbn(a.im, exponent)};
}

template <class T>
__device__ bool finite(T a) {
  return gpu::taxicab(a) <= std::numeric_limits<gpu::real_of_t<T>>::max();
}

template <class T>
struct Problem {
  EliminationInput<T> input;
  Factors<T> factors;
  std::byte* workspace;  // null: shared memory
  index_t work_bytes, first_batch;
};

/// One matrix.
template <class T, Weights Kind>
struct Run {
  using R = gpu::real_of_t<T>;
  static constexpr bool products = Kind == Weights::products;

  const EliminationInput<T>& in;
  const index_t b;
  const int n, r;
  Work<T> w;
  Reductions<T> reduce;
  int exponent = 0;  // the matrix is 2^exponent times what the generators say

  __device__ T weighted(T value, int i, int j) const {
    if constexpr (Kind == Weights::circle)
      return value * (w.table[i - j + n] * (w.s[i] * w.t[j]));
    else
      return value * quotient(w.s[i] - w.t[j]);
  }
  __device__ T dot(int i, int j) const {
    if constexpr (products) return T(1);
    T sum = T(0);
    for (int l = 0; l < r; ++l) sum = gpu::multiply_add(w.g[l * n + i], w.h[l * n + j], sum);
    return sum;
  }
  __device__ R column_size(int j) const {
    R size = 0;
    for (int l = 0; l < r; ++l) size += gpu::taxicab(w.h[l * n + j]);
    return size;
  }

  template <class Visit>
  __device__ void each(const unsigned char* done, const Visit& visit) const {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      if (!done[i]) visit(i);
    }
  }

  /// Exponent of the largest number of a column of a generator.
  __device__ int exponent_of(const gpu::Strided<const T, 3>& generator, int l) {
    Best largest;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      largest.take(gpu::taxicab(T(generator(b, i, l))), i);
    const R size = gpu::taxicab(T(generator(b, reduce.best(largest).index, l)));
    return size > 0 ? ilogb(size) : 0;
  }

  /// exp(i pi m / 2n)
  __device__ T half_turn(int m) const {
    double sine, cosine;
    sincospi(static_cast<double>(m) / (2.0 * n), &sine, &cosine);
    return {static_cast<R>(cosine), static_cast<R>(sine)};
  }

  /// Loads the matrix with generators of size 1. Returns the first line that is not finite, or n.
  __device__ int load() {
    Best bad;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      bool good = true;
      if constexpr (Kind == Weights::circle) {
        w.s[i] = half_turn(-2 * i);
        w.t[i] = half_turn(-(2 * i + 1)) * T(0, -1);
      } else {
        w.s[i] = in.s(b, i);
        w.t[i] = in.t(b, i);
        good = finite(w.s[i]) && finite(w.t[i]);
      }
      if constexpr (products) {
        w.g[i] = w.h[i] = T(1);
      } else {
        for (int l = 0; l < r; ++l) {
          w.g[l * n + i] = in.g(b, i, l);
          w.h[l * n + i] = in.h(b, i, l);
          good = good && finite(w.g[l * n + i]) && finite(w.h[l * n + i]);
        }
      }
      w.row_done[i] = w.col_done[i] = 0;
      if (!good) bad.take(static_cast<R>(n - i), i);
    }
    if constexpr (Kind == Weights::circle) {
      for (int m = threadIdx.x; m < 2 * n; m += blockDim.x) {
        double sine, cosine;
        sincospi(static_cast<double>(2 * (m - n) - 1) / (2.0 * n), &sine, &cosine);
        w.table[m] = static_cast<R>(0.5 / sine);
      }
    }
    bad = reduce.best(bad);
    if (bad.order > 0) return bad.index;
    if constexpr (!products) {
      for (int l = 0; l < r; ++l) {
        const int both = exponent_of(in.g, l) + exponent_of(in.h, l);
        exponent = l == 0 ? both : max(exponent, both);
      }
      for (int l = 0; l < r; ++l) {
        const int of_g = exponent_of(in.g, l);
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
          w.g[l * n + i] = scaled(w.g[l * n + i], -of_g);
          w.h[l * n + i] = scaled(w.h[l * n + i], of_g - exponent);
        }
      }
    }
    __syncthreads();
    return n;
  }

  /// G := G R^-1, H := H R^T with orthonormal G, by the modified Gram-Schmidt process. A column that
  /// vanishes stays.
  __device__ void orthogonalise() {
    for (int l = 0; l < r; ++l) {
      T* const g = w.g + l * n;
      T* const h = w.h + l * n;
      R own = 0;
      each(w.row_done, [&](int i) { own += gpu::square(g[i]); });
      R norm = sqrt(gpu::real_part(reduce.sum(T(own))));
      if (!(norm > 0)) norm = 1;
      const R inverse = 1 / norm;
      each(w.row_done, [&](int i) { g[i] = g[i] * inverse; });
      each(w.col_done, [&](int j) { h[j] = h[j] * norm; });
      for (int m = l + 1; m < r; ++m) {
        T* const other = w.g + m * n;
        T product = T(0);
        each(w.row_done,
             [&](int i) { product = gpu::multiply_add(gpu::conjugate(g[i]), other[i], product); });
        product = reduce.sum(product);
        each(w.row_done, [&](int i) { other[i] = gpu::multiply_add(-product, g[i], other[i]); });
        each(w.col_done, [&](int j) { h[j] = gpu::multiply_add(product, w.h[m * n + j], h[j]); });
      }
    }
  }

  /// Factors of a Cauchy matrix back to size 1, by powers of two.
  __device__ void rescale() {
    for (T* const side : {w.g, w.h}) {
      const unsigned char* const done = side == w.g ? w.row_done : w.col_done;
      Best largest;
      each(done, [&](int i) { largest.take(gpu::taxicab(side[i]), i); });
      const Best best = reduce.best(largest);
      const R size = best.order > 0 ? gpu::taxicab(side[best.index]) : R(0);
      // Everybody has read it before its owner scales it.
      __syncthreads();
      const int shift = size > 0 && finite(size) ? ilogb(size) : 0;
      each(done, [&](int i) { side[i] = scaled(side[i], -shift); });
      exponent += shift;
    }
  }

  __device__ Best largest_column() const {
    Best best;
    each(w.col_done, [&](int j) { best.take(column_size(j), j); });
    return best;
  }

  __device__ PivotStatus eliminate(const Factors<T>& f) {
    constexpr R least_size = std::numeric_limits<R>::min();
    const auto bad = [&](PivotStatus::Kind kind, int k, R size) {
      return PivotStatus{kind, 0, k, static_cast<double>(size)};
    };
    if (n == 0) return {};
    const int line = load();
    if (line < n) return bad(PivotStatus::Kind::not_finite, line, NAN);
    index_t* const row_order = f.row_order + b * n;
    index_t* const col_order = f.col_order + b * n;
    Best columns;
    R least = std::numeric_limits<R>::infinity(), most = 0;
    int worst = 0;
    for (int k = 0; k < n; ++k) {
      if (k % event_distance == 0 && (k == 0 || n - k > max(r, event_distance))) {
        if constexpr (products)
          rescale();
        else
          orthogonalise();
        columns = largest_column();
      }
      const Best column = reduce.best(columns);
      const int q = column.index;
      if (column.order == 0) return bad(PivotStatus::Kind::not_finite, k, NAN);
      if (products && !(column_size(q) >= least_size))
        return bad(PivotStatus::Kind::zero, k, column_size(q));

      Best rows;
      each(w.row_done, [&](int i) {
        const T entry = weighted(products ? w.g[i] : dot(i, q), i, q);
        w.entries[i] = entry;
        rows.take(gpu::taxicab(entry), i);
      });
      const Best row = reduce.best(rows);
      const int p = row.index;
      if (row.order == 0) return bad(PivotStatus::Kind::not_finite, k, NAN);
      const T pivot = w.entries[p], inverse = quotient(pivot);
      const R size = gpu::taxicab(pivot);
      if (!(size >= least_size)) return bad(PivotStatus::Kind::zero, k, size);
      if (!finite(size)) return bad(PivotStatus::Kind::not_finite, k, size);
      if (size < least) least = size, worst = k;
      most = max(most, size);

      T* const lower = f.lower + (b * n + k) * n;
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (w.row_done[i] || i == p) {
          lower[i] = T(0);
          continue;
        }
        const T entry = w.entries[i], multiplier = entry * inverse;
        lower[i] = multiplier;
        if constexpr (products) {
          w.g[i] = entry * (w.s[i] - w.s[p]);
        } else {
          for (int l = 0; l < r; ++l)
            w.g[l * n + i] = gpu::multiply_add(-multiplier, w.g[l * n + p], w.g[l * n + i]);
        }
      }
      T* const upper = f.upper + (b * n + k) * n;
      columns = {};
      for (int j = threadIdx.x; j < n; j += blockDim.x) {
        if (w.col_done[j]) {
          upper[j] = T(0);
          continue;
        }
        if constexpr (products) {
          const T ratio = weighted(w.h[j], p, j);
          upper[j] = scaled(w.g[p] * ratio, exponent);
          if (j == q) continue;
          w.h[j] = ratio * (w.t[q] - w.t[j]);
        } else {
          const T entry = j == q ? pivot : weighted(dot(p, j), p, j);
          upper[j] = scaled(entry, exponent);
          if (j == q) continue;
          const T multiplier = -(entry * inverse);
          for (int l = 0; l < r; ++l)
            w.h[l * n + j] = gpu::multiply_add(multiplier, w.h[l * n + q], w.h[l * n + j]);
        }
        columns.take(column_size(j), j);
      }
      // A thread writes the marks of its own lines, and nobody else reads them.
      if (p % static_cast<int>(blockDim.x) == static_cast<int>(threadIdx.x)) {
        w.row_done[p] = 1;
        row_order[k] = p;
      }
      if (q % static_cast<int>(blockDim.x) == static_cast<int>(threadIdx.x)) {
        w.col_done[q] = 1;
        col_order[k] = q;
      }
    }
    const R bound = 4 * sqrt(static_cast<R>(n)) * std::numeric_limits<R>::epsilon() * most;
    if (!products && least <= bound) return bad(PivotStatus::Kind::near_singular, worst, least);
    return {};
  }
};

constexpr unsigned most_threads = 512;

template <class T, Weights Kind>
__global__ void __launch_bounds__(most_threads)
    eliminate_matrices(const __grid_constant__ Problem<T> p) {
  __shared__ Scratch<T> scratch;
  const EliminationInput<T>& in = p.input;
  for (index_t b = blockIdx.x; b < in.batch; b += gridDim.x) {
    std::byte* const memory =
        p.workspace != nullptr ? p.workspace + b * p.work_bytes : gpu::dynamic_shared<std::byte>();
    Run<T, Kind> run{in,
                     b,
                     static_cast<int>(in.n),
                     static_cast<int>(in.order),
                     Work<T>(memory, in.n, in.order, Kind),
                     Reductions<T>(scratch)};
    PivotStatus status = run.eliminate(p.factors);
    status.batch = p.first_batch + b;
    if (threadIdx.x == 0) p.factors.status[b] = status;
    __syncthreads();
  }
}

template <class T, Weights Kind>
void enqueue(const char* operation, const Problem<T>& problem, int processors,
             cudaStream_t stream) {
  const index_t n = problem.input.n;
  const index_t wanted = std::max<index_t>((n + 31) / 32 * 32, 32);
  const auto threads =
      static_cast<unsigned>(std::min<index_t>(wanted, n <= 1024 ? 256 : most_threads));
  const std::size_t shared = problem.workspace == nullptr ? problem.work_bytes : 0;
  gpu::launch(
      operation, eliminate_matrices<T, Kind>,
      gpu::Grid{gpu::persistent_blocks(problem.input.batch, 1, processors), threads, shared},
      stream, problem);
}

}  // namespace

template <class T>
index_t elimination_bytes(const EliminationInput<T>& input) {
  const index_t bytes = Work<T>::bytes(input.n, input.order, input.weights);
  return bytes <= most_shared ? 0 : bytes * input.batch;
}

template <class T>
void eliminate(const char* operation, const EliminationInput<T>& input, std::byte* workspace,
               const Factors<T>& factors, index_t first_batch, int processors,
               cudaStream_t stream) {
  if (input.batch == 0) return;
  const index_t bytes = Work<T>::bytes(input.n, input.order, input.weights);
  const Problem<T> problem{input, factors, bytes <= most_shared ? nullptr : workspace, bytes,
                           first_batch};
  if (input.weights == Weights::nodes)
    return enqueue<T, Weights::nodes>(operation, problem, processors, stream);
  if (input.weights == Weights::products)
    return enqueue<T, Weights::products>(operation, problem, processors, stream);
  if constexpr (gpu::is_complex<T>)
    enqueue<T, Weights::circle>(operation, problem, processors, stream);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template index_t elimination_bytes(const EliminationInput<T>&);                                 \
  template void eliminate(const char*, const EliminationInput<T>&, std::byte*, const Factors<T>&, \
                          index_t, int, cudaStream_t);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(gpu::Complex<float>)
STRUCTMAT_INSTANTIATE(gpu::Complex<double>)

}  // namespace structmat::cauchy::device
