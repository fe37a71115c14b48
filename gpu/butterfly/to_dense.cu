// Butterfly matrices as dense ones. In one stage, factor l sets bit l of the coordinate, so that one path
// leads from column j to row i and the entry is the product of the numbers on it. With strides that
// increase, those of the lower half of the bits depend on i and j within a block of columns, those of
// the upper half on i and the block: two small tables, and an entry is one product of theirs. Several
// stages are applied to columns of the identity.
#include "butterfly/factors.cuh"
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "structmat/butterfly/apply.hpp"

namespace structmat {
namespace {

using butterfly::Factors;

constexpr char operation[] = "butterfly::to_dense";
constexpr unsigned threads = 256;

/// Products along the paths of one stage with increasing strides, N = 2^levels. Blocks of 2^split columns.
template <class T>
struct Paths {
  Factors<T> factors;
  T* within;  ///< (batch, block, 2^split, 2^split): levels below `split`; rows first, or columns first
  T* across;  ///< (batch, block, N): the others
  index_t batch, levels, split;
  bool by_rows;  ///< within: the column changes fastest

  __host__ __device__ index_t size() const { return index_t{1} << levels; }
  __host__ __device__ index_t within_count() const { return index_t{1} << (levels + split); }
  __host__ __device__ index_t across_count() const { return index_t{1} << (2 * levels - split); }

  __device__ T product(index_t b, index_t i, index_t j, index_t first, index_t last) const {
    T value(1);
    for (index_t l = first; l < last; ++l) {
      // Bits below l are those of the row by then, bits above still those of the column.
      const index_t pair = (j >> (l + 1) << l) | (i & ((index_t{1} << l) - 1));
      const T* const entry = factors.at(b, l, pair);
      value *= factors.value(entry + (i >> l & 1) * factors.row + (j >> l & 1) * factors.column);
    }
    return value;
  }
};

template <class T>
__global__ void __launch_bounds__(threads) write_paths(const __grid_constant__ Paths<T> p) {
  const index_t each = p.within_count() + p.across_count(), width = index_t{1} << p.split;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < p.batch * each;
       at += index_t{gridDim.x} * threads) {
    const index_t b = at / each, rest = at - b * each;
    if (rest < p.within_count()) {
      const index_t block = rest >> (2 * p.split), slow = (rest >> p.split) & (width - 1),
                    fast = rest & (width - 1);
      const index_t i = p.by_rows ? slow : fast, j = p.by_rows ? fast : slow;
      p.within[b * p.within_count() + rest] =
          p.product(b, block * width + i, block * width + j, 0, p.split);
    } else {
      const index_t own = rest - p.within_count();
      p.across[b * p.across_count() + own] =
          p.product(b, own & (p.size() - 1), own >> p.levels << p.split, p.split, p.levels);
    }
  }
}

template <class T>
struct PathEntries {
  Paths<T> paths;
  __device__ void operator()(index_t b, gpu::Patch<T>& patch) const {
    const Paths<T>& p = paths;
    const T *const within = p.within + b * p.within_count(), *const across =
                                                                 p.across + b * p.across_count();
    const index_t mask = (index_t{1} << p.split) - 1;
    patch.fill([&](index_t i, index_t j) {
      const index_t block = j >> p.split, row = i & mask, column = j & mask;
      const index_t place = p.by_rows ? row << p.split | column : column << p.split | row;
      return within[(block << (2 * p.split)) + place] * across[(block << p.levels) + i];
    });
  }
};

/// Columns that go through several stages together.
constexpr index_t columns_at_once = 256;

/// One stage: the tables. Otherwise the identity of size n with strides 1 and -1, zeros with a one in the
/// middle, and what products of that many columns need.
template <class T>
struct Buffers {
  T *within, *across, *line;
  std::byte* product;
  index_t product_bytes;
};

template <Scalar T>
auto layout(const ButterflyView<T, space::cuda>& m) {
  const index_t n = m.cols(), k = std::min(n, columns_at_once);
  const bool empty = n == 0 || m.rows() == 0, paths = m.stages() == 1;
  const index_t product = empty || paths ? 0 : apply_workspace_bytes(m, k, m.batch());
  const index_t levels = m.levels(), split = levels / 2, batch = m.batch();
  return [=](gpu::Workspace& w) {
    const index_t tables = empty || !paths ? 0 : batch << levels;
    T* const within = w.take<T>(tables << split);
    T* const across = w.take<T>(tables << (levels - split));
    T* const line = w.take<T>(empty || paths ? 0 : 2 * n - 1);
    return Buffers<T>{within, across, line, w.take<std::byte>(product), product};
  };
}

template <class T>
struct Line {
  T* numbers;
  index_t n;
};
template <class T>
__global__ void __launch_bounds__(threads) write_unit_line(const __grid_constant__ Line<T> p) {
  for (index_t i = index_t{blockIdx.x} * threads + threadIdx.x; i < 2 * p.n - 1;
       i += index_t{gridDim.x} * threads) {
    p.numbers[i] = T(i == p.n - 1 ? 1 : 0);
  }
}

template <Scalar T>
void expand_paths(const exec::cuda& e, const ButterflyView<T, space::cuda>& m,
                  const View<T, 3, space::cuda>& dense, const Buffers<T>& buffers) {
  using D = gpu::device_scalar_t<T>;
  if (m.first == Strides::decreasing)
    return expand_paths<T>(e, m.transposed(), dense.transposed(), buffers);
  const index_t levels = m.levels();
  const Paths<D> paths{butterfly::factors(m, false),
                       gpu::device_pointer(buffers.within),
                       gpu::device_pointer(buffers.across),
                       m.batch(),
                       levels,
                       levels / 2,
                       gpu::by_rows(dense)};
  const index_t work = m.batch() * (paths.within_count() + paths.across_count());
  gpu::launch(
      operation, write_paths<D>,
      gpu::Grid{gpu::persistent_blocks(work, threads, gpu::multiprocessors(operation)), threads},
      gpu::stream_of(e), paths);
  gpu::write_entries<T>(operation, e, PathEntries<D>{paths}, dense,
                        {m.batch(), m.rows(), m.cols()});
}

template <Scalar T>
void expand_columns(const exec::cuda& e, const ButterflyView<T, space::cuda>& m,
                    const View<T, 3, space::cuda>& dense, const Buffers<T>& buffers) {
  using D = gpu::device_scalar_t<T>;
  const index_t n = m.cols();
  gpu::launch(operation, write_unit_line<D>,
              gpu::Grid{gpu::persistent_blocks(2 * n - 1, threads, gpu::multiprocessors(operation)),
                        threads},
              gpu::stream_of(e), Line<D>{gpu::device_pointer(buffers.line), n});
  const View<const T, 3, space::cuda> identity(buffers.line + (n - 1), {1, n, n}, {0, 1, -1});
  const exec::cuda inner{e.stream, {buffers.product, {buffers.product_bytes}}};
  for (index_t j = 0; j < n; j += columns_at_once) {
    const index_t end = std::min(n, j + columns_at_once);
    apply(inner, m, Op::none, identity.slice(2, j, end), dense.slice(2, j, end));
  }
}

}  // namespace

template <Scalar T>
index_t to_dense_workspace_bytes(const ButterflyView<T, space::cuda>& matrix) {
  return gpu::counted(operation, layout(butterfly::checked(matrix, operation)));
}

template <Scalar T>
void to_dense(const exec::cuda& e, const ButterflyView<T, space::cuda>& matrix,
              View<T, 3, space::cuda> dense) {
  const auto m = butterfly::checked(matrix, operation);
  gpu::require_dense(operation, dense, {m.batch(), m.rows(), m.cols()});
  const auto buffers = gpu::cut(operation, e.workspace, layout(m));
  gpu::require_apart(operation, e.workspace, dense, "the result");
  if (dense.empty()) return;
  if (m.stages() == 1)
    expand_paths<T>(e, m, dense, buffers);
  else
    expand_columns<T>(e, m, dense, buffers);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT index_t to_dense_workspace_bytes(                                      \
      const ButterflyView<T, space::cuda>&);                                                       \
  template STRUCTMAT_EXPORT void to_dense(const exec::cuda&, const ButterflyView<T, space::cuda>&, \
                                          View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
