// Toeplitz-like matrices: X = sum_j Z_e(g'_j) R Z_f(J h_j), where both factors are Toeplitz matrices.
#include "core/instantiate.hpp"
#include "core/write_entries.cuh"
#include "displacement/core.cuh"
#include "displacement/reduction.hpp"
#include "displacement/term_sum.cuh"
#include "toeplitz/plan_state.cuh"

namespace structmat::displacement {
namespace {

constexpr int threads = 128;

/// X(b, i + 1, j + 1) := X(b, i, j) - sum_l g(b, i + 1, l) h(b, j, l). Lines are rows or columns, whichever the
/// index that changes slowest in memory counts; every `anchors`-th line and the first number of each line
/// are there. A thread runs along a diagonal between two such lines, so that neighbours write
/// neighbours.
inline constexpr index_t anchors = 256;

template <class T>
struct Diagonals {
  gpu::Strided<T, 3> dense;
  const T *g, *h;  ///< (batch, m, r), (batch, n, r)
  index_t batch, rows, cols, order;
  bool by_rows;  ///< lines are rows
};

template <class T>
__global__ void __launch_bounds__(threads) run_diagonals(const __grid_constant__ Diagonals<T> p) {
  const index_t lines = p.by_rows ? p.rows : p.cols, width = p.by_rows ? p.cols : p.rows;
  const index_t bands = (lines + anchors - 1) / anchors, diagonals = width + anchors - 1;
  const index_t r = p.order;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < p.batch * bands * diagonals;
       at += index_t{gridDim.x} * threads) {
    const index_t band = at / diagonals, b = band / bands, first = (band - b * bands) * anchors;
    // Where it meets the first line of the band.
    const index_t shift = at - band * diagonals - (anchors - 1);
    index_t line = first + (shift < 0 ? -shift : 0), place = shift < 0 ? 0 : shift;
    const index_t end = min(min(lines, first + anchors), first + width - shift);
    if (line >= end) continue;
    const index_t i = p.by_rows ? line : place, j = p.by_rows ? place : line;
    const index_t step = p.dense.stride[1] + p.dense.stride[2];
    T* __restrict__ out = &p.dense(b, i, j);
    const T* __restrict__ g = p.g + (b * p.rows + i) * r;
    const T* __restrict__ h = p.h + (b * p.cols + j) * r;
    T value = *out;
    const auto image = [&](int ahead) {
      T sum(0);
      for (index_t l = 0; l < r; ++l)
        sum = gpu::multiply_add(g[(ahead + 1) * r + l], h[ahead * r + l], sum);
      return sum;
    };
    constexpr int group = 4;
    for (++line; line + group <= end; line += group) {
      T images[group];
#pragma unroll
      for (int q = 0; q < group; ++q) images[q] = image(q);
#pragma unroll
      for (int q = 0; q < group; ++q) {
        value -= images[q];
        out += step;
        *out = value;
      }
      g += group * r;
      h += group * r;
    }
    for (; line < end; ++line) {
      value -= image(0);
      out += step;
      *out = value;
      g += r;
      h += r;
    }
  }
}

/// Zeros with a one at `place`.
template <class T>
__global__ void write_unit(T* x, index_t n, index_t place) {
  for (index_t i = index_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += index_t{gridDim.x} * blockDim.x) {
    x[i] = T(i == place ? 1 : 0);
  }
}

/// Lags of Z_e(g') R, m x n: c_p = g'_p, and e^q g'_{q m - s} for p = -s < 0, q = ceil(s / m).
template <Scalar T>
void write_left_lags(const Generators<T>& x, const Array<T, 2>& divided, index_t term,
                     View<T, 1> lags) {
  const index_t m = x.rows(), n = x.cols();
  for (index_t p = 0; p < m; ++p) lags(n - 1 + p) = divided(p, term);
  T power = x.displacement.left.corner;
  for (index_t s = 1, row = m; s < n; ++s) {
    if (row == 0) {
      row = m;
      power = product(power, x.displacement.left.corner);
    }
    lags(n - 1 - s) = product(power, divided(--row, term));
  }
}
/// Lags of Z_f(J h), n x n: h_{n-1-p}, and f h_{s-1} for p = -s < 0.
template <Scalar T>
void write_right_lags(const Generators<T>& x, index_t term, View<T, 1> lags) {
  const index_t n = x.cols();
  for (index_t p = 0; p < n; ++p) lags(n - 1 + p) = x.h(n - 1 - p, term);
  for (index_t s = 1; s < n; ++s)
    lags(n - 1 - s) = product(x.displacement.right.corner, x.h(s - 1, term));
}

template <Scalar T>
class ToeplitzLike final : public DeviceCore<T> {
  using D = gpu::device_scalar_t<T>;
  using Factors = ToeplitzPlan<T, space::cuda>;

 public:
  ToeplitzLike(const exec::cuda& e, const std::vector<Generators<T>>& all)
      : count_(static_cast<index_t>(all.size())),
        rows_(all.front().rows()),
        cols_(all.front().cols()),
        terms_(all.front().order()),
        g_(stacked(all, &Generators<T>::g)),
        h_(stacked(all, &Generators<T>::h)) {
    if (rows_ == 0 || cols_ == 0) terms_ = 0;
    if (terms_ == 0) return;
    // Term by term, the matrices of one term together.
    Array<T, 2> left({terms_ * count_, rows_ + cols_ - 1}, uninitialized),
        right({terms_ * count_, 2 * cols_ - 1}, uninitialized);
    for (index_t b = 0; b < count_; ++b) {
      const Generators<T>& x = all[static_cast<std::size_t>(b)];
      const Array<T, 2> quotient = divided(x);
      for (index_t l = 0; l < terms_; ++l) {
        write_left_lags(x, quotient, l, left.view().select(0, l * count_ + b));
        write_right_lags(x, l, right.view().select(0, l * count_ + b));
      }
    }
    const auto left_there = to_device(left), right_there = to_device(right);
    left_.emplace(e, ToeplitzView<T, space::cuda>{left_there.view(), rows_, cols_});
    right_.emplace(e, ToeplitzView<T, space::cuda>{right_there.view(), cols_, cols_});
  }

  void apply(const char* operation, const exec::cuda& e, Op op, View<const T, 3, space::cuda> x,
             View<T, 3, space::cuda> y) const override {
    const cudaStream_t stream = gpu::stream_of(e);
    if (terms_ == 0) return device::sum_terms<T>(operation, stream, nullptr, 0, y);
    const index_t k = x.extent(2), all = terms_ * count_;
    const auto w = gpu::cut(operation, e.workspace, layout(operation, k));
    const exec::cuda inner = within(e, w.library, w.library_bytes);
    const Factors &first = op == Op::none ? *right_ : *left_,
                  &second = op == Op::none ? *left_ : *right_;
    const View<T, 3, space::cuda> between(w.between, {all, cols_, k});
    if (count_ == 1) {
      structmat::apply(inner, first, op, x, between);
    } else {
      // Terms share x, which no single stride over all matrices says.
      for (index_t l = 0; l < terms_; ++l) {
        toeplitz::apply_plan<T>(operation, inner, first.state(), toeplitz::action_of(op),
                                x.broadcast(0, count_),
                                between.slice(0, l * count_, (l + 1) * count_), false, l * count_);
      }
    }
    const View<const T, 3, space::cuda> input(between);
    if (terms_ == 1) return structmat::apply(inner, second, op, input, y);
    const View<T, 3, space::cuda> results(w.results, {all, y.extent(1), k});
    structmat::apply(inner, second, op, input, results);
    device::sum_terms<T>(operation, stream, w.results, terms_, y);
  }

  index_t apply_bytes(const char* operation, index_t k) const override {
    return terms_ == 0 ? 0 : gpu::counted(operation, layout(operation, k));
  }

  void to_dense(const char* operation, const exec::cuda& e,
                View<T, 3, space::cuda> dense) const override {
    const cudaStream_t stream = gpu::stream_of(e);
    const int processors = gpu::multiprocessors(operation);
    const auto w = gpu::cut(operation, e.workspace, dense_layout(operation));
    const exec::cuda inner = within(e, w.product, w.product_bytes);
    const bool by_rows = gpu::by_rows(dense);
    const index_t lines = by_rows ? rows_ : cols_, width = by_rows ? cols_ : rows_;
    const index_t bands = bands_of(lines), origin = lines - 1;
    const index_t longer = unit_numbers();
    gpu::launch(operation, write_unit<D>,
                gpu::Grid{gpu::persistent_blocks(longer, threads, processors), threads}, stream,
                gpu::device_pointer(w.unit), longer, origin);
    const auto strides = dense.strides();
    const index_t line_step = strides[by_rows ? 1 : 2], place_step = strides[by_rows ? 2 : 1];
    // Columns e_0, e_anchors, ...: all of the line of zeros, shifted.
    apply(operation, inner, by_rows ? Op::transpose : Op::none,
          {w.unit + origin, {1, lines, bands}, {0, 1, -anchors}},
          {dense.data(), {count_, width, bands}, {strides[0], place_step, anchors * line_step}});
    apply(operation, inner, by_rows ? Op::none : Op::transpose, {w.unit + origin, {1, width, 1}},
          {dense.data(), {count_, lines, 1}, {strides[0], line_step, 1}});
    const Diagonals<D> p{gpu::strided(dense),
                         gpu::device_pointer(g_.data()),
                         gpu::device_pointer(h_.data()),
                         count_,
                         rows_,
                         cols_,
                         terms_,
                         by_rows};
    const index_t work = count_ * bands * (width + anchors - 1);
    gpu::launch(operation, run_diagonals<D>,
                gpu::Grid{gpu::persistent_blocks(work, threads, processors), threads}, stream, p);
  }

  index_t to_dense_bytes(const char* operation) const override {
    return gpu::counted(operation, dense_layout(operation));
  }

 private:
  struct Buffers {
    T *between, *results;
    std::byte* library;
    index_t library_bytes;
  };
  auto layout(const char* operation, index_t k) const {
    const index_t library = std::max(toeplitz::apply_plan_bytes(operation, left_->state(), k),
                                     toeplitz::apply_plan_bytes(operation, right_->state(), k));
    return [this, k, library](gpu::Workspace& w) {
      const index_t all = terms_ * count_;
      T* const between = w.take<T>(all * cols_ * k);
      T* const results = w.take<T>(terms_ > 1 ? all * std::max(rows_, cols_) * k : 0);
      return Buffers{between, results, w.take<std::byte>(library), library};
    };
  }

  struct DenseBuffers {
    T* unit;
    std::byte* product;
    index_t product_bytes;
  };
  static index_t bands_of(index_t lines) { return (lines + anchors - 1) / anchors; }
  index_t unit_numbers() const { return 2 * std::max(rows_, cols_) - 1; }
  auto dense_layout(const char* operation) const {
    const index_t product = apply_bytes(operation, bands_of(std::max(rows_, cols_)));
    return [this, product](gpu::Workspace& w) {
      T* const unit = w.take<T>(unit_numbers());
      return DenseBuffers{unit, w.take<std::byte>(product), product};
    };
  }

  index_t count_, rows_, cols_, terms_;
  Array<T, 3, space::cuda> g_, h_;
  std::optional<Factors> left_, right_;  ///< (terms, count) matrices; none without terms
};

}  // namespace

template <Scalar T>
DeviceCorePointer<T> make_device_toeplitz_like(const exec::cuda& e,
                                               const std::vector<Generators<T>>& all) {
  return std::make_unique<const ToeplitzLike<T>>(e, all);
}

#define STRUCTMAT_INSTANTIATE(T)                                             \
  template DeviceCorePointer<T> make_device_toeplitz_like(const exec::cuda&, \
                                                          const std::vector<Generators<T>>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
