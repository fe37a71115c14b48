#include "recurrence/block_vjp.hpp"

#include <string>
#include <vector>

#include "core/instantiate.hpp"
#include "structmat/core/array.hpp"
#include "structmat/dense/blas.hpp"

namespace structmat::recurrence {
namespace {

/// A matrix and its conjugate: one memory for both where numbers are real.
template <Scalar T>
class WithConjugate {
 public:
  explicit WithConjugate(Array<T, 2> plain) : plain_(std::move(plain)) {
    if constexpr (is_complex_v<T>) {
      conjugated_ = plain_;
      for (T& v : conjugated_) v = conjugate(v);
    }
  }
  View<const T, 2> plain() const { return plain_.view(); }
  View<const T, 2> conjugated() const {
    return is_complex_v<T> ? conjugated_.view() : plain_.view();
  }

 private:
  Array<T, 2> plain_, conjugated_;
};

/// c += op(a) op(b)
template <Scalar T>
void add_product(Op op_a, const View<const T, 2>& a, Op op_b, const View<const T, 2>& b,
                 const View<T, 2>& c) {
  dense::gemm<T>(op_a, op_b, T{1}, a, b, T{1}, c);
}

/// One batch entry. y = op(M) x with plain op; w is the conjugate of y_bar, so that all cotangents
/// but those of generators, which are conj(w) times conj(x), are plain products; sum is the
/// conjugate of x_bar.
template <Scalar T>
class BlockAdjoint {
 public:
  BlockAdjoint(const BlockMatrix<T>& m, const BlockCotangent<T>& m_bar, index_t batch,
               bool transposed, Array<T, 2> x, Array<T, 2> w)
      : m_(m),
        m_bar_(m_bar),
        batch_(m.diagonal.batch() == 1 ? 0 : batch),
        bar_batch_(m_bar.diagonal && m_bar.diagonal->batch() > 1 ? batch : 0),
        transposed_(transposed),
        x_(std::move(x)),
        w_(std::move(w)),
        sum_(x_.plain().extents()) {
    diagonal();
    if (m.lower) triangle(*m.lower, m_bar.lower, transposed);
    if (m.upper_transposed) triangle(*m.upper_transposed, m_bar.upper_transposed, !transposed);
  }

  const Array<T, 2>& sum() const { return sum_; }

 private:
  View<const T, 2> rows(const View<const T, 2>& v, index_t block) const {
    return v.slice(0, m_.partition.begin(block), m_.partition.begin(block + 1));
  }
  View<T, 2> sum_rows(index_t block) {
    return sum_.view().slice(0, m_.partition.begin(block), m_.partition.begin(block + 1));
  }

  void diagonal() {
    for (index_t i = 0; i < m_.partition.blocks(); ++i) {
      const index_t size = m_.partition.size(i);
      Array<T, 2> d = to_array(m_.diagonal.block(batch_, i));
      if (m_.lower_triangular) clear_above_diagonal(d.view());
      add_product<T>(transposed_ ? Op::none : Op::transpose, d, Op::none, rows(w_.plain(), i),
                     sum_rows(i));
      if (!m_bar_.diagonal) continue;
      const View<T, 2> target = m_bar_.diagonal->block(bar_batch_, i);
      const auto x = rows(x_.conjugated(), i), y_bar = rows(w_.conjugated(), i);
      Array<T, 2> bar({size, size});
      transposed_ ? add_product<T>(Op::none, x, Op::transpose, y_bar, bar)
                  : add_product<T>(Op::none, y_bar, Op::transpose, x, bar);
      if (m_.lower_triangular) clear_above_diagonal(bar.view());
      for (index_t row = 0; row < size; ++row) {
        for (index_t c = 0; c < size; ++c) target(row, c) += bar(row, c);
      }
    }
  }

  static void clear_above_diagonal(const View<T, 2>& d) {
    for (index_t row = 0; row < d.extent(0); ++row) {
      for (index_t c = row + 1; c < d.extent(1); ++c) d(row, c) = T{};
    }
  }

  /// The strictly lower block part of t, or its transpose.
  void triangle(const BlockTriangle<T>& t, BlockTriangle<T>* bar, bool transposed) {
    const index_t blocks = m_.partition.blocks(), columns = sum_.extent(1);
    const auto block = [&](index_t step) { return transposed ? blocks - 1 - step : step; };
    const auto out = [&](index_t i) { return transposed ? t.q(batch_, i) : t.p(batch_, i); };
    const auto in = [&](index_t i) { return transposed ? t.p(batch_, i) : t.q(batch_, i); };
    const Op forward = transposed ? Op::transpose : Op::none;
    const Op backward = transposed ? Op::none : Op::transpose;

    std::vector<Array<T, 2>> states;  // in front of each block, in the order of the sweep
    states.reserve(blocks);
    states.emplace_back(std::array<index_t, 2>{0, columns});
    for (index_t step = 0; bar && step + 1 < blocks; ++step) {
      const index_t i = block(step);
      Array<T, 2> next({t.state(transposed ? i : i + 1), columns});
      add_product<T>(Op::transpose, in(i), Op::none, rows(x_.plain(), i), next);
      add_product<T>(forward, t.a(batch_, i), Op::none, states.back(), next);
      states.push_back(std::move(next));
    }

    Array<T, 2> adjoint({0, columns});  // conjugate of the cotangent of the state
    for (index_t step = blocks - 1; step >= 0; --step) {
      const index_t i = block(step);
      add_product<T>(Op::none, in(i), Op::none, adjoint, sum_rows(i));
      Array<T, 2> next({t.state(transposed ? i + 1 : i), columns});
      add_product<T>(Op::transpose, out(i), Op::none, rows(w_.plain(), i), next);
      add_product<T>(backward, t.a(batch_, i), Op::none, adjoint, next);
      if (bar) {
        const WithConjugate<T> s(std::move(states[step])), l(std::move(adjoint));
        const auto out_bar = transposed ? bar->q(bar_batch_, i) : bar->p(bar_batch_, i);
        const auto in_bar = transposed ? bar->p(bar_batch_, i) : bar->q(bar_batch_, i);
        add_product<T>(Op::none, rows(w_.conjugated(), i), Op::transpose, s.conjugated(), out_bar);
        add_product<T>(Op::none, rows(x_.conjugated(), i), Op::transpose, l.conjugated(), in_bar);
        const auto &left = transposed ? s : l, &right = transposed ? l : s;
        add_product<T>(Op::none, left.conjugated(), Op::transpose, right.conjugated(),
                       bar->a(bar_batch_, i));
      }
      adjoint = std::move(next);
    }
  }

  const BlockMatrix<T>& m_;
  const BlockCotangent<T>& m_bar_;
  index_t batch_, bar_batch_;
  bool transposed_;
  WithConjugate<T> x_, w_;
  Array<T, 2> sum_;
};

template <Scalar T>
Array<T, 2> conjugated_copy(const View<const T, 2>& from, bool conjugated) {
  Array<T, 2> to = to_array(from);
  if (conjugated) {
    for (T& v : to) v = conjugate(v);
  }
  return to;
}

}  // namespace

template <Scalar T>
BlockCotangent<T> checked_block_cotangent(const char* operation, const BlockMatrix<T>& m,
                                          const Partition& partition, index_t batch,
                                          const BlockCotangent<T>& bar) {
  const auto fits = [&](const BlockTriangle<T>* t, const BlockTriangle<T>* t_bar) {
    return t == nullptr ||
           (t->states() == t_bar->states() && t_bar->batch() == bar.diagonal->batch());
  };
  if (partition != m.partition || !fits(m.lower, bar.lower) ||
      !fits(m.upper_transposed, bar.upper_transposed)) {
    throw ShapeError(std::string(operation) +
                     ": the cotangent of M has another partition or other states than M");
  }
  const index_t own = bar.diagonal->batch();
  if (own != 1 && own != batch) {
    throw ShapeError(std::string(operation) + ": the cotangent of M has batch " +
                     std::to_string(own) + ", the operation has " + std::to_string(batch));
  }
  return bar;
}

template <Scalar T>
void apply_block_vjp(const BlockMatrix<T>& m, Op op, View<const T, 3> x, View<const T, 3> y_bar,
                     const BlockCotangent<T>& m_bar, View<T, 3> x_bar) {
  // M^H x = conj(M^T conj(x)): x, y_bar and x_bar are conjugated where M should have been.
  const bool conjugated = op == Op::adjoint;
  for (index_t b = 0; b < y_bar.extent(0); ++b) {
    const BlockAdjoint<T> adjoint(m, m_bar, b, op != Op::none,
                                  conjugated_copy<T>(x.select(0, b), conjugated),
                                  conjugated_copy<T>(y_bar.select(0, b), !conjugated));
    if (!x_bar.data()) continue;
    for (index_t i = 0; i < x.extent(1); ++i) {
      for (index_t c = 0; c < x.extent(2); ++c) {
        const T v = adjoint.sum()(i, c);
        x_bar(b, i, c) += conjugated ? v : conjugate(v);
      }
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template BlockCotangent<T> checked_block_cotangent<T>(                                          \
      const char*, const BlockMatrix<T>&, const Partition&, index_t, const BlockCotangent<T>&);   \
  template void apply_block_vjp<T>(const BlockMatrix<T>&, Op, View<const T, 3>, View<const T, 3>, \
                                   const BlockCotangent<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::recurrence
