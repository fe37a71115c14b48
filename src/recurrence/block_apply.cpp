#include "recurrence/block_apply.hpp"

#include <algorithm>

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "structmat/dense/blas.hpp"

namespace structmat::recurrence {
namespace {

/// c := op(a) b + beta c
template <Scalar T>
void multiply(Op op, const View<const T, 2>& a, const View<const T, 2>& b, T beta,
              const View<T, 2>& c) {
  if (b.extent(1) == 1) {
    dense::gemv<T>(op, T{1}, a, b.select(1, 0), beta, c.select(1, 0));
  } else {
    dense::gemm<T>(op, Op::none, T{1}, a, b, beta, c);
  }
}

// One real right-hand side and small blocks: a call of BLAS would cost more than the block itself.
// Rows are contiguous, so y += A x is a dot product a row and y += A^T x an update by rows.

constexpr index_t small_block = 64;

template <RealScalar T>
STRUCTMAT_INLINE void add_product(const View<const T, 2>& a, const T* x, T* y) {
  const index_t columns = a.extent(1);
  const T* row = a.data();
  for (index_t i = 0; i < a.extent(0); ++i, row += columns) {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t l = 0; l < columns; ++l) sum += row[l] * x[l];
    y[i] += sum;
  }
}

template <RealScalar T>
STRUCTMAT_INLINE void add_transposed_product(const View<const T, 2>& a, const T* x, T* y) {
  const index_t columns = a.extent(1);
  const T* row = a.data();
  for (index_t i = 0; i < a.extent(0); ++i, row += columns) {
    const T xi = x[i];
#pragma omp simd
    for (index_t l = 0; l < columns; ++l) y[l] += row[l] * xi;
  }
}

/// y += strictly lower block part of the triangle, or of its transpose, times x; contiguous.
template <RealScalar T>
STRUCTMAT_CLONES void add_small_triangle(const Partition& partition, const BlockTriangle<T>& t,
                                         index_t batch, bool transposed, const T* x, T* y) {
  const index_t blocks = partition.blocks();
  T memory[2][small_block];
  T *s = memory[0], *next = memory[1];
  for (index_t step = 0; step < blocks; ++step) {
    const index_t i = transposed ? blocks - 1 - step : step;
    const index_t begin = partition.begin(i);
    const View<const T, 2> p = t.p(batch, i), q = t.q(batch, i), a = t.a(batch, i);
    std::fill_n(next, t.state(transposed ? i : i + 1), T{0});
    add_product(transposed ? q : p, s, y + begin);
    add_transposed_product(transposed ? p : q, x + begin, next);
    transposed ? add_transposed_product(a, s, next) : add_product(a, s, next);
    std::swap(s, next);
  }
}

/// y := blocks on the diagonal, or their transposes, times x; contiguous.
template <RealScalar T>
STRUCTMAT_CLONES void apply_small_diagonal(const Partition& partition, const BlockDiagonal<T>& d,
                                           index_t batch, bool transposed, const T* x, T* y) {
  std::fill_n(y, partition.rows(), T{0});
  for (index_t i = 0; i < partition.blocks(); ++i) {
    const index_t begin = partition.begin(i);
    const View<const T, 2> block = d.block(batch, i);
    transposed ? add_transposed_product(block, x + begin, y + begin)
               : add_product(block, x + begin, y + begin);
  }
}

template <Scalar T>
View<T, 2> state_view(Array<T, 1>& memory, index_t states, index_t columns) {
  return {memory.data(), {states, columns}};
}

/// y += strictly lower block part of the triangle, or of its transpose, times x.
template <Scalar T>
void add_triangle(const Partition& partition, const BlockTriangle<T>& t, index_t batch,
                  bool transposed, const View<const T, 2>& x, const View<T, 2>& y) {
  const index_t columns = x.extent(1), blocks = partition.blocks();
  Array<T, 1> memory({t.order() * columns}), other({t.order() * columns});
  for (index_t step = 0; step < blocks; ++step) {
    const index_t i = transposed ? blocks - 1 - step : step;
    const index_t begin = partition.begin(i), end = begin + partition.size(i);
    const auto xi = x.slice(0, begin, end);
    const auto yi = y.slice(0, begin, end);
    // Downward the state enters block i with size s_i and leaves with s_{i+1}; upward the other way
    // round.
    const index_t entering = t.state(transposed ? i + 1 : i);
    const index_t leaving = t.state(transposed ? i : i + 1);
    const View<T, 2> s = state_view(memory, entering, columns);
    const View<T, 2> next = state_view(other, leaving, columns);
    const View<const T, 2> out = transposed ? t.q(batch, i) : t.p(batch, i);
    const View<const T, 2> in = transposed ? t.p(batch, i) : t.q(batch, i);
    multiply<T>(Op::none, out, s, T{1}, yi);
    multiply<T>(Op::transpose, in, xi, T{0}, next);
    multiply<T>(transposed ? Op::transpose : Op::none, t.a(batch, i), s, T{1}, next);
    std::swap(memory, other);
  }
}

/// y_i := D_i x_i, or with the lower triangle of D_i alone.
template <Scalar T>
void apply_diagonal(const BlockMatrix<T>& m, index_t batch, bool transposed,
                    const View<const T, 2>& x, const View<T, 2>& y) {
  const Op op = transposed ? Op::transpose : Op::none;
  for (index_t i = 0; i < m.partition.blocks(); ++i) {
    const index_t begin = m.partition.begin(i), size = m.partition.size(i);
    const View<const T, 2> d = m.diagonal.block(batch, i);
    const auto xi = x.slice(0, begin, begin + size);
    const auto yi = y.slice(0, begin, begin + size);
    if (!m.lower_triangular) {
      multiply<T>(op, d, xi, T{0}, yi);
      continue;
    }
    // Row by row, so that x above (below) the diagonal cannot reach y, NaN and Inf included.
    for (index_t row = 0; row < size; ++row) {
      const View<const T, 2> part = transposed ? d.slice(0, row, size).slice(1, row, row + 1)
                                               : d.slice(0, row, row + 1).slice(1, 0, row + 1);
      const auto reached = transposed ? xi.slice(0, row, size) : xi.slice(0, 0, row + 1);
      multiply<T>(op, part, reached, T{0}, yi.slice(0, row, row + 1));
    }
  }
}

/// Copies with conjugation where asked; BLAS wants unit stride along the columns.
template <Scalar T>
void copy_conjugated(const View<const T, 2>& from, bool conjugated, const View<T, 2>& to) {
  for (index_t i = 0; i < from.extent(0); ++i) {
    for (index_t c = 0; c < from.extent(1); ++c) {
      to(i, c) = conjugated ? conjugate(from(i, c)) : from(i, c);
    }
  }
}

template <Scalar T>
bool is_small(const BlockMatrix<T>& m) {
  const auto fits = [](const BlockTriangle<T>* t) {
    return t == nullptr || t->order() <= small_block;
  };
  return !m.lower_triangular && fits(m.lower) && fits(m.upper_transposed);
}

template <RealScalar T>
void apply_small(const BlockMatrix<T>& m, index_t batch, bool transposed, const T* x, T* y) {
  apply_small_diagonal(m.partition, m.diagonal, batch, transposed, x, y);
  if (m.lower != nullptr) {
    add_small_triangle(m.partition, *m.lower, batch, transposed, x, y);
  }
  if (m.upper_transposed != nullptr) {
    add_small_triangle(m.partition, *m.upper_transposed, batch, !transposed, x, y);
  }
}

}  // namespace

template <Scalar T>
void apply_block(const BlockMatrix<T>& m, Op op, View<const T, 3> x, View<T, 3> y) {
  const index_t n = x.extent(1), columns = x.extent(2);
  const bool transposed = op != Op::none;
  // M^H x = conj(M^T conj(x))
  const bool conjugated = is_complex_v<T> && op == Op::adjoint;
  const auto plain = [columns](const auto& v) {
    return columns == 1 ? v.stride(1) >= 1 : v.stride(2) == 1 && v.stride(1) >= columns;
  };
  const bool copies = conjugated || !plain(x) || !plain(y);
  Array<T, 2> xc, yc;
  if (copies) {
    xc = Array<T, 2>({n, columns}, uninitialized);
    yc = Array<T, 2>({n, columns}, uninitialized);
  }
  const bool small = is_small(m) && columns == 1;
  for (index_t b = 0; b < y.extent(0); ++b) {
    const index_t mb = m.diagonal.batch() == 1 ? 0 : b;
    View<const T, 2> xb = x.select(0, b);
    View<T, 2> yb = y.select(0, b);
    if (copies) {
      copy_conjugated<T>(xb, conjugated, xc);
      xb = xc.view();
      yb = yc.view();
    }
    if constexpr (RealScalar<T>) {
      if (small && xb.stride(0) == 1 && yb.stride(0) == 1) {
        apply_small(m, mb, transposed, xb.data(), yb.data());
        if (copies) copy(View<const T, 2>(yb), y.select(0, b));
        continue;
      }
    }
    apply_diagonal(m, mb, transposed, xb, yb);
    if (m.lower != nullptr) add_triangle(m.partition, *m.lower, mb, transposed, xb, yb);
    if (m.upper_transposed != nullptr) {
      add_triangle(m.partition, *m.upper_transposed, mb, !transposed, xb, yb);
    }
    if (copies) copy_conjugated<T>(View<const T, 2>(yb), conjugated, y.select(0, b));
  }
}

#define STRUCTMAT_INSTANTIATE(T) \
  template void apply_block<T>(const BlockMatrix<T>&, Op, View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::recurrence
