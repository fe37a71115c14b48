// One triangle at a time: the strictly lower one of M against that of W, and the upper ones as the
// lower ones of the transposes. With m_{t,j} = a_{t-1} ... a_{j+1} q_j (M's state in front of row t
// from column j) and o_{i,t} = p_i^T a_{i-1} ... a_{t+1} (what row i sees of the state behind row
// t), the sums over all pairs i > t >= j are kept as
//   X_t = sum_{j<t} w_{t,j} m_{t,j}^H,     B_t = sum_{i>=t} conj(o_{i,t-1}) e_{t,i}^T.
// w_{t,j} is column j of W as coordinates: its entries in the rows of the present block from t on,
// and its share in the state behind that block; e_{t,i}^T takes entry i from them. Then
//   p_bar_t = first row of X_t,  a_bar_t = B_{t+1} X_t without its first row,  q_bar_t = B_{t+1}
//   w_{t+1,t}.

#include "structmat/quasiseparable/pullback.hpp"

#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/checked_cotangent.hpp"
#include "recurrence/transition_product.hpp"
#include "structmat/quasiseparable/block_algebra.hpp"
#include "structmat/quasiseparable/transpose.hpp"

namespace structmat::quasiseparable {
namespace {

using recurrence::add_left;
using recurrence::add_product;
using recurrence::add_right;
using recurrence::column;
using recurrence::Conjugate;
using recurrence::entry_of;

/// M's generators p, a, q of one triangle and batch entry, or their cotangents.
template <class T, int Rank>
struct Lower {
  View<T, 2> p{}, q{};
  View<T, Rank> a{};
};

/// W's strictly lower triangle, or that of its transpose.
template <Scalar T>
struct LowerBlocks {
  const Partition& partition;
  const BlockTriangle<T>& triangle;
  const BlockDiagonal<T>& diagonal;
  bool transposed;
  index_t batch;

  View<const T, 2> diagonal_block(index_t i) const {
    const View<const T, 2> d = diagonal.block(batch, i);
    return transposed ? d.transposed() : d;
  }
};

template <Scalar T, int Rank>
class TrianglePullback {
 public:
  TrianglePullback(const Lower<const T, Rank>& m, const LowerBlocks<T>& w,
                   const Lower<T, Rank>& bar)
      : m_(m), w_(w), bar_(bar), r_(m.p.extent(1)) {}

  void run() {
    const index_t blocks = w_.partition.blocks();
    entering_.emplace_back(std::array<index_t, 2>{0, r_});
    for (index_t i = 0; i + 1 < blocks; ++i) {
      forward(i);
      entering_.push_back(gramians_.back());
    }
    Array<T, 2> beyond({r_, 0});  // B behind the block, in the coordinates of W's state
    for (index_t i = blocks - 1; i >= 0; --i) {
      forward(i);
      beyond = backward(i, std::move(beyond));
    }
  }

 private:
  index_t begin(index_t block) const { return w_.partition.begin(block); }
  index_t end(index_t block) const { return w_.partition.begin(block + 1); }

  /// X_t for all rows t of the block and behind it.
  void forward(index_t block) {
    const index_t rows = w_.partition.size(block), state = w_.triangle.state(block + 1);
    gramians_.clear();
    Array<T, 2> first({rows + state, r_});
    const View<const T, 2> y = std::as_const(entering_[block]).view();
    add_product<>(w_.triangle.p(w_.batch, block), y, first.view().slice(0, 0, rows));
    add_product<>(w_.triangle.a(w_.batch, block), y, first.view().slice(0, rows, rows + state));
    gramians_.push_back(std::move(first));
    for (index_t t = begin(block); t < end(block); ++t) {
      const View<const T, 2> x = without_first_row(gramians_.back());
      Array<T, 2> next({x.extent(0), r_});
      if (t + 1 < m_.p.extent(0)) {
        if (t > 0) add_right<true>(x, m_.a, t, next.view());
        const Array<T, 2> w = column_of_w(block, t);
        const View<const T, 2> q = column(m_.q.select(0, t));
        add_product<Conjugate::second>(w.view(), View<const T, 2>(q.transposed()), next.view());
      }
      gramians_.push_back(std::move(next));
    }
  }

  static View<const T, 2> without_first_row(const Array<T, 2>& x) {
    return x.view().slice(0, 1, x.extent(0));
  }

  /// w_{t+1,t}: what stands below entry (t, t) of W.
  Array<T, 2> column_of_w(index_t block, index_t t) const {
    const index_t at = t - begin(block), rows = w_.partition.size(block) - at - 1;
    const View<const T, 1> q = w_.triangle.q(w_.batch, block).select(0, at);
    Array<T, 2> w({rows + q.extent(0), 1});
    const View<T, 1> target = w.view().select(1, 0);
    copy(w_.diagonal_block(block).select(1, at).slice(0, at + 1, at + 1 + rows),
         target.slice(0, 0, rows));
    copy(q, target.slice(0, rows, target.extent(0)));
    return w;
  }

  /// All cotangents of the block's rows; returns B in front of it.
  Array<T, 2> backward(index_t block, Array<T, 2> beyond) {
    for (index_t t = end(block) - 1; t >= begin(block); --t) {
      const Array<T, 2>& x = gramians_[t - begin(block)];
      const View<const T, 2> b = std::as_const(beyond).view();
      const bool last = t + 1 == m_.p.extent(0);
      Array<T, 2> next({r_, b.extent(1) + 1});
      if (t > 0) {
        for (index_t l = 0; l < r_; ++l) {
          next(l, 0) = conjugate(m_.p(t, l));
          if (bar_.p.data()) bar_.p(t, l) += x(0, l);
        }
      }
      if (!last) {
        if (bar_.q.data()) {
          const Array<T, 2> w = column_of_w(block, t);
          add_product<>(b, w.view(), column(bar_.q.select(0, t)));
        }
        if (t > 0) {
          if (bar_.a.data()) add_transition(t, b, without_first_row(x));
          add_left<true>(m_.a, t, b, next.view().slice(1, 1, next.extent(1)));
        }
      }
      beyond = std::move(next);
    }
    const index_t rows = w_.partition.size(block);
    const View<const T, 2> b = std::as_const(beyond).view();
    Array<T, 2> before({r_, w_.triangle.state(block)});
    add_product<>(b.slice(1, 0, rows), w_.triangle.p(w_.batch, block), before.view());
    add_product<>(b.slice(1, rows, b.extent(1)), w_.triangle.a(w_.batch, block), before.view());
    return before;
  }

  /// bar.a_t += the part of b x that a transition of this kind has.
  void add_transition(index_t t, const View<const T, 2>& b, const View<const T, 2>& x) const {
    if constexpr (Rank == 3) {
      add_product<>(b, x, bar_.a.select(0, t));
    } else {
      for (index_t l = 0; l < r_; ++l) {
        T sum{};
        for (index_t k = 0; k < b.extent(1); ++k) sum += product(b(l, k), x(k, l));
        if constexpr (Rank == 2) bar_.a(t, l) += sum;
        if constexpr (Rank == 1) bar_.a(t) += sum;
      }
    }
  }

  Lower<const T, Rank> m_;
  LowerBlocks<T> w_;
  Lower<T, Rank> bar_;
  index_t r_;
  std::vector<Array<T, 2>> entering_;  // X in front of each block, in the coordinates of W's state
  std::vector<Array<T, 2>> gramians_;  // X_t of one block
};

/// The lower triangle of a batch entry; of the transpose, the upper one.
template <class T, int Rank, class M>
Lower<T, Rank> lower_of(const M& m, index_t batch) {
  return {entry_of(m.p, batch), entry_of(m.q, batch), entry_of(m.a, batch)};
}

template <Scalar T, transition::Uniform K>
void pull_back(const char* operation, const exec::cpu& e, const QuasiseparableView<T, K>& m_in,
               const Quasiseparable<T, transition::Block>& w,
               const QuasiseparableCotangent<T, K>& m_bar_in) {
  constexpr int rank = K::rank - 1;
  const index_t own = checked(m_in, operation).batch(), n = m_in.size();
  if (w.size() != n) {
    throw ShapeError(std::string(operation) + ": W has size " + std::to_string(w.size()) +
                     ", M has size " + std::to_string(n));
  }
  if (w.batch() != own && w.batch() != 1 && own != 1) {
    throw ShapeError(std::string(operation) + ": W has batch " + std::to_string(w.batch()) +
                     ", M has batch " + std::to_string(own));
  }
  const index_t batch = own == 1 ? w.batch() : own;
  const auto m = checked(m_in, operation, batch), mt = transposed(m);
  const auto m_bar = checked_cotangent(operation, m_bar_in, batch, n, m.order());
  const auto mt_bar = transposed(m_bar);

  const int team = sums_over_batch(m_bar) ? 1 : thread_count(e.threads);
  parallel_for(team, batch, [&](index_t b) {
    const index_t wb = w.batch() == 1 ? 0 : b;
    if (m_bar.d.data()) {
      for (index_t i = 0; i < w.partition.blocks(); ++i) {
        for (index_t l = 0; l < w.partition.size(i); ++l) {
          m_bar.d(b, w.partition.begin(i) + l) += w.diagonal.block(wb, i)(l, l);
        }
      }
    }
    TrianglePullback<T, rank>(lower_of<const T, rank>(m, b),
                              {w.partition, w.lower, w.diagonal, false, wb},
                              lower_of<T, rank>(m_bar, b))
        .run();
    TrianglePullback<T, rank>(lower_of<const T, rank>(mt, b),
                              {w.partition, w.upper_transposed, w.diagonal, true, wb},
                              lower_of<T, rank>(mt_bar, b))
        .run();
  });
}

}  // namespace

template <Scalar T, transition::Uniform K>
void pullback(const exec::cpu& e, const QuasiseparableView<T, K>& m,
              const Quasiseparable<T, transition::Block>& w,
              const QuasiseparableCotangent<T, K>& m_bar) {
  pull_back("quasiseparable::pullback", e, m, w, m_bar);
}

template <Scalar T, transition::Uniform K>
void log_determinant_vjp(const exec::cpu& e, const QuasiseparableView<T, K>& m,
                         const Quasiseparable<T, transition::Block>& inverse, real_t<T> scale,
                         const QuasiseparableCotangent<T, K>& m_bar) {
  pull_back("quasiseparable::log_determinant_vjp", e, m,
            structmat::quasiseparable::scale(T(scale), adjoint(inverse)), m_bar);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                     \
  template STRUCTMAT_EXPORT void pullback<T, transition::K>(            \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&,    \
      const Quasiseparable<T, transition::Block>&,                      \
      const QuasiseparableCotangent<T, transition::K>&);                \
  template STRUCTMAT_EXPORT void log_determinant_vjp<T, transition::K>( \
      const exec::cpu&, const QuasiseparableView<T, transition::K>&,    \
      const Quasiseparable<T, transition::Block>&, real_t<T>,           \
      const QuasiseparableCotangent<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
