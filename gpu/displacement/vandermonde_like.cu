// Vandermonde-like matrices: X = diag(weights) sum_j diag(g_j) V(bases) Z_f(J h_j), with two sets of
// nodes: those of modulus at most 1, and those beyond, whose reciprocals meet the coefficients in the
// opposite order. Rows are kept in the order of the sets.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "displacement/core.cuh"
#include "displacement/reduction.hpp"
#include "displacement/term_sum.cuh"
#include "structmat/toeplitz/plan.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "vandermonde/geometric.cuh"

namespace structmat::displacement {
namespace {

constexpr int threads = 64;

/// The rows of X as kernels see them.
template <class T>
struct Rows {
  const index_t* place;  ///< the row of X where row p stands
  const T *weights, *bases;
  const T* g;  ///< (m, r)
  index_t count, inside, order;
};

template <class T>
struct Combination {
  Rows<T> rows;
  const T* values;  ///< (m, r, k)
  gpu::Strided<T, 3> y;
  index_t k;
};

/// y(place_p) := weight_p sum_l g_pl values_pl
template <class T>
__global__ void __launch_bounds__(threads) combine(const __grid_constant__ Combination<T> p) {
  const index_t r = p.rows.order;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < p.rows.count * p.k;
       at += index_t{gridDim.x} * threads) {
    const index_t row = at / p.k, c = at - row * p.k;
    T sum(0);
    for (index_t l = 0; l < r; ++l) {
      sum = gpu::multiply_add(p.rows.g[row * r + l], p.values[(row * r + l) * p.k + c], sum);
    }
    p.y(0, p.rows.place[row], c) = p.rows.weights[row] * sum;
  }
}

template <class T>
struct Distribution {
  Rows<T> rows;
  gpu::Strided<const T, 3> x;
  T* values;  ///< (m, r, k)
  index_t k;
  bool conjugated;
};

/// values_pl := g_pl weight_p x(place_p), or with conjugates of g and weight
template <class T>
__global__ void __launch_bounds__(threads) distribute(const __grid_constant__ Distribution<T> p) {
  const index_t r = p.rows.order;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < p.rows.count * p.k;
       at += index_t{gridDim.x} * threads) {
    const index_t row = at / p.k, c = at - row * p.k;
    const T weighted =
        gpu::conjugate_if(p.conjugated, p.rows.weights[row]) * p.x(0, p.rows.place[row], c);
    for (index_t l = 0; l < r; ++l) {
      p.values[(row * r + l) * p.k + c] =
          gpu::conjugate_if(p.conjugated, p.rows.g[row * r + l]) * weighted;
    }
  }
}

/// x_i X_ij - X_{i,j+1} = M_ij, with corner X_i0 for X_in. Rows of nodes inside run forwards from
///   X_i0 = weight sum_j x^{n-1-j} M_ij,
/// others, with y = 1 / x, backwards from
///   X_{i,n-1} = weight (corner sum_{j<n-1} y^{j+1} M_ij + M_{i,n-1}).
/// Columns are cut into chunks (outside: the first n - 1 of them): sums over each, from these what each
/// begins with, and then all chunks at once.
template <class T>
struct Recurrence {
  Rows<T> rows;
  const T* h;  ///< (n, r)
  gpu::Strided<T, 3> dense;
  T* chunks;  ///< (chunks, m): sums, then what a chunk begins with
  index_t cols;
  T corner;
  bool by_rows;  ///< the column index changes fastest
};

constexpr index_t chunk_columns = 128;
__host__ __device__ inline index_t chunks_of(index_t n) {
  return (n + chunk_columns - 1) / chunk_columns;
}

/// One row of the recurrence.
template <class T>
struct RowRun {
  const T *g, *h;
  T base;
  index_t order;
  bool inside;

  __device__ RowRun(const Recurrence<T>& p, index_t row)
      : g(p.rows.g + row * p.rows.order),
        h(p.h),
        base(p.rows.bases[row]),
        order(p.rows.order),
        inside(row < p.rows.inside) {}

  __device__ T image(index_t j) const {
    T sum(0);
    for (index_t l = 0; l < order; ++l) sum = gpu::multiply_add(g[l], h[j * order + l], sum);
    return sum;
  }
  /// The columns of a chunk.
  __device__ static index_t begin(index_t chunk) { return chunk * chunk_columns; }
  __device__ index_t end(index_t chunk, index_t cols) const {
    return min(begin(chunk) + chunk_columns, inside ? cols : cols - 1);
  }
};

template <class T>
__global__ void __launch_bounds__(threads) sum_chunks(const __grid_constant__ Recurrence<T> p) {
  const index_t m = p.rows.count;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < m * chunks_of(p.cols);
       at += index_t{gridDim.x} * threads) {
    const index_t chunk = at / m;
    const RowRun<T> row(p, at - chunk * m);
    const index_t begin = row.begin(chunk), end = row.end(chunk, p.cols);
    T sum(0);
    if (row.inside) {
#pragma unroll 4
      for (index_t j = begin; j < end; ++j) sum = gpu::multiply_add(row.base, sum, row.image(j));
    } else {
#pragma unroll 4
      for (index_t j = end - 1; j >= begin; --j) sum = row.base * (sum + row.image(j));
    }
    p.chunks[at] = sum;
  }
}

template <class T>
__global__ void __launch_bounds__(threads) begin_chunks(const __grid_constant__ Recurrence<T> p) {
  const index_t m = p.rows.count, chunks = chunks_of(p.cols);
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < m;
       at += index_t{gridDim.x} * threads) {
    const RowRun<T> row(p, at);
    const auto across = [&](index_t chunk) {
      return gpu::power(row.base, max(row.end(chunk, p.cols) - row.begin(chunk), index_t{0}));
    };
    T* const own = p.chunks + at;
    T value(0);
    if (row.inside) {
      for (index_t c = 0; c < chunks; ++c) value = gpu::multiply_add(across(c), value, own[c * m]);
      value = p.rows.weights[at] * value;
      for (index_t c = 0; c < chunks; ++c) {
        const T sum = own[c * m];
        own[c * m] = value;
        value = across(c) * value - sum;
      }
    } else {
      for (index_t c = chunks - 1; c >= 0; --c)
        value = gpu::multiply_add(across(c), value, own[c * m]);
      value = p.rows.weights[at] * (p.corner * value + row.image(p.cols - 1));
      for (index_t c = chunks - 1; c >= 0; --c) {
        const T sum = own[c * m];
        own[c * m] = value;
        value = gpu::multiply_add(across(c), value, sum);
      }
    }
  }
}

/// A warp has 32 rows, all inside or all outside, of one chunk; through a tile in shared memory, where
/// neighbours then write neighbours of a row.
template <class T>
__global__ void __launch_bounds__(threads) run_chunks(const __grid_constant__ Recurrence<T> p) {
  constexpr int lanes = 32, warps = threads / lanes;
  constexpr unsigned all = 0xffffffffu;
  __shared__ T tiles[warps * lanes * (lanes + 1)];
  const int lane = static_cast<int>(threadIdx.x) % lanes,
            warp = static_cast<int>(threadIdx.x) / lanes;
  T* const tile = tiles + warp * lanes * (lanes + 1);
  const index_t m = p.rows.count, n = p.cols, chunks = chunks_of(n);
  const index_t inside = (p.rows.inside + lanes - 1) / lanes,
                groups = inside + (m - p.rows.inside + lanes - 1) / lanes;
  for (index_t unit = index_t{blockIdx.x} * warps + warp; unit < groups * chunks;
       unit += index_t{gridDim.x} * warps) {
    const index_t chunk = unit / groups, group = unit - chunk * groups;
    const bool in = group < inside;
    const index_t first = in ? group * lanes : p.rows.inside + (group - inside) * lanes;
    const int rows = static_cast<int>(min((in ? p.rows.inside : m) - first, index_t{lanes}));
    const RowRun<T> row(p, first + min(lane, rows - 1));
    const index_t begin = row.begin(chunk), end = row.end(chunk, n);
    T value = p.chunks[chunk * m + first + min(lane, rows - 1)];
    const index_t place = p.rows.place[first + min(lane, rows - 1)];
    // The number that rows outside begin with.
    if (!in && chunk == chunks - 1 && lane < rows) p.dense(0, place, n - 1) = value;
    for (index_t done = begin; done < end; done += lanes) {
      const int width = static_cast<int>(min(end - done, index_t{lanes}));
      const index_t left = in ? done : end - (done - begin) - width;
#pragma unroll 4
      for (int q = 0; q < width; ++q) {
        const int at = in ? q : width - 1 - q;
        const T image = row.image(left + at);
        if (!in) value = row.base * (value + image);
        if (p.by_rows)
          tile[lane * (lanes + 1) + at] = value;
        else if (lane < rows)
          p.dense(0, place, left + at) = value;
        if (in) value = row.base * value - image;
      }
      if (!p.by_rows) continue;
      __syncwarp(all);
      for (int i = 0; i < rows; ++i) {
        if (lane < width)
          p.dense(0, p.rows.place[first + i], left + lane) = tile[i * (lanes + 1) + lane];
      }
      __syncwarp(all);
    }
  }
}

template <class V>
Array<typename V::value_type, 1, space::cuda> uploaded(const V& values) {
  Array<typename V::value_type, 1> host({static_cast<index_t>(values.size())}, uninitialized);
  std::copy(values.begin(), values.end(), host.data());
  return to_device(host);
}

template <Scalar T>
class VandermondeLike final : public DeviceCore<T> {
  using D = gpu::device_scalar_t<T>;

 public:
  VandermondeLike(const exec::cuda& e, const Generators<T>& x)
      : rows_(x.rows()),
        cols_(x.cols()),
        order_(x.order()),
        corner_(x.displacement.right.corner),
        h_(to_device(x.h)) {
    std::vector<WeightedRow<T>> all;
    for (index_t i = 0; i < rows_; ++i) all.push_back(weighted_row(x, i));
    std::vector<index_t> place;
    for (const bool in : {true, false}) {
      for (index_t i = 0; i < rows_; ++i) {
        if (all[static_cast<std::size_t>(i)].inside == in) place.push_back(i);
      }
      if (in) inside_ = static_cast<index_t>(place.size());
    }
    std::vector<T> weights, bases;
    Array<T, 2> g({rows_, order_}, uninitialized);
    for (index_t p = 0; p < rows_; ++p) {
      const index_t i = place[static_cast<std::size_t>(p)];
      weights.push_back(all[static_cast<std::size_t>(i)].weight);
      bases.push_back(all[static_cast<std::size_t>(i)].base);
      for (index_t l = 0; l < order_; ++l) g(p, l) = x.g(i, l);
    }
    place_ = uploaded(place);
    weights_ = uploaded(weights);
    bases_ = uploaded(bases);
    g_ = to_device(g);
    if (!has_terms()) return;
    Array<T, 2> lags({order_, 2 * cols_ - 1}, uninitialized);
    for (index_t l = 0; l < order_; ++l) {
      for (index_t p = 0; p < cols_; ++p) lags(l, cols_ - 1 + p) = x.h(cols_ - 1 - p, l);
      for (index_t s = 1; s < cols_; ++s) lags(l, cols_ - 1 - s) = product(corner_, x.h(s - 1, l));
    }
    const auto there = to_device(lags);
    right_.emplace(e, ToeplitzView<T, space::cuda>{there.view(), cols_, cols_});
  }

  void apply(const char* operation, const exec::cuda& e, Op op, View<const T, 3, space::cuda> x,
             View<T, 3, space::cuda> y) const override {
    const cudaStream_t stream = gpu::stream_of(e);
    if (!has_terms()) return device::sum_terms<T>(operation, stream, nullptr, 0, y);
    const index_t k = x.extent(2), columns = order_ * k;
    const auto w = gpu::cut(operation, e.workspace, layout(k));
    const exec::cuda inner = within(e, w.library, w.library_bytes);
    // Column (l, c) of term l and right-hand side c.
    const View<T, 3, space::cuda> between(w.between, {1, cols_, columns}),
        values(w.values, {1, rows_, columns}),
        by_term(w.between, {order_, cols_, k}, {k, columns, 1});
    const auto side = [&](bool in, const View<T, 3, space::cuda>& v) {
      return in ? v.slice(1, 0, inside_) : v.slice(1, inside_, rows_);
    };
    const auto in_order = [](bool in, const View<T, 3, space::cuda>& v) {
      return in ? v : v.reversed(1);
    };
    if (op == Op::none) {
      structmat::apply(inner, *right_, op, x, by_term);
      for (const bool in : {true, false}) {
        if (nodes(in).rows() == 0) continue;
        structmat::apply(inner, nodes(in), op, View<const T, 3, space::cuda>(in_order(in, between)),
                         side(in, values));
      }
      const Combination<D> p{kernel_rows(), gpu::device_pointer(w.values), gpu::strided(y), k};
      return gpu::launch(operation, combine<D>, grid(operation, rows_ * k), stream, p);
    }
    const Distribution<D> p{kernel_rows(), gpu::strided(x), gpu::device_pointer(w.values), k,
                            op == Op::adjoint};
    gpu::launch(operation, distribute<D>, grid(operation, rows_ * k), stream, p);
    const View<T, 3, space::cuda> other(w.results, {1, cols_, columns});
    const bool both = inside_ > 0 && inside_ < rows_;
    for (const bool in : {true, false}) {
      if (nodes(in).rows() == 0) continue;
      structmat::apply(inner, nodes(in), op, View<const T, 3, space::cuda>(side(in, values)),
                       in_order(in, both && !in ? other : between));
    }
    // The other part follows at once.
    if (both) device::sum_terms<T>(operation, stream, w.between, 2, between);
    const View<T, 3, space::cuda> results(w.results, {order_, cols_, k});
    structmat::apply(inner, *right_, op, View<const T, 3, space::cuda>(by_term), results);
    device::sum_terms<T>(operation, stream, w.results, order_, y);
  }

  index_t apply_bytes(const char* operation, index_t k) const override {
    return has_terms() ? gpu::counted(operation, layout(k)) : 0;
  }

  void to_dense(const char* operation, const exec::cuda& e,
                View<T, 3, space::cuda> dense) const override {
    const cudaStream_t stream = gpu::stream_of(e);
    T* const chunks = gpu::cut(operation, e.workspace, dense_layout());
    const Recurrence<D> p{kernel_rows(),
                          gpu::device_pointer(h_.data()),
                          gpu::strided(dense),
                          gpu::device_pointer(chunks),
                          cols_,
                          kernel_corner(),
                          gpu::by_rows(dense)};
    const index_t work = rows_ * chunks_of(cols_);
    gpu::launch(operation, sum_chunks<D>, grid(operation, work), stream, p);
    gpu::launch(operation, begin_chunks<D>, grid(operation, rows_), stream, p);
    // Up to one more group of 32 rows than rows fill.
    gpu::launch(operation, run_chunks<D>, grid(operation, work + 32 * chunks_of(cols_)), stream, p);
  }
  index_t to_dense_bytes(const char* operation) const override {
    return gpu::counted(operation, dense_layout());
  }

 private:
  bool has_terms() const { return rows_ > 0 && cols_ > 0 && order_ > 0; }

  VandermondeView<T, space::cuda> nodes(bool in) const {
    const T* const first = bases_.data() + (in ? 0 : inside_);
    return {View<const T, 2, space::cuda>(first, {1, in ? inside_ : rows_ - inside_}), cols_};
  }
  Rows<D> kernel_rows() const {
    return {place_.data(),
            gpu::device_pointer(weights_.data()),
            gpu::device_pointer(bases_.data()),
            gpu::device_pointer(g_.data()),
            rows_,
            inside_,
            order_};
  }
  D kernel_corner() const {
    if constexpr (is_complex_v<T>)
      return {corner_.real(), corner_.imag()};
    else
      return corner_;
  }
  gpu::Grid grid(const char* operation, index_t work) const {
    return {gpu::persistent_blocks(work, threads, gpu::multiprocessors(operation)), threads};
  }

  auto dense_layout() const {
    return [this](gpu::Workspace& w) { return w.take<T>(rows_ * chunks_of(cols_)); };
  }

  struct Buffers {
    T *between, *results, *values;
    std::byte* library;
    index_t library_bytes;
  };
  auto layout(index_t k) const {
    const index_t columns = order_ * k;
    index_t library = apply_workspace_bytes(*right_, k);
    for (const bool in : {true, false}) {
      if (nodes(in).rows() > 0)
        library = std::max(library, apply_workspace_bytes(nodes(in), columns));
    }
    return [this, columns, library](gpu::Workspace& w) {
      // `results` follows `between` without a gap.
      T* const between = w.take<T>(2 * cols_ * columns);
      T* const values = w.take<T>(rows_ * columns);
      return Buffers{between, between == nullptr ? nullptr : between + cols_ * columns, values,
                     w.take<std::byte>(library), library};
    };
  }

  index_t rows_, cols_, order_, inside_ = 0;
  T corner_;
  Array<index_t, 1, space::cuda> place_;
  Array<T, 1, space::cuda> weights_, bases_;
  Array<T, 2, space::cuda> g_, h_;
  std::optional<ToeplitzPlan<T, space::cuda>> right_;
};

}  // namespace

template <Scalar T>
DeviceCorePointer<T> make_device_vandermonde_like(const exec::cuda& e, const Generators<T>& x) {
  return std::make_unique<const VandermondeLike<T>>(e, x);
}

#define STRUCTMAT_INSTANTIATE(T)                                                \
  template DeviceCorePointer<T> make_device_vandermonde_like(const exec::cuda&, \
                                                             const Generators<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
