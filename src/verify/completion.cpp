#include "structmat/verify/completion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/from_dense.hpp"

namespace structmat::verify {
namespace {

constexpr auto operation = "verify::complete_diagonal";

/// What one block row contributes to the strictly lower triangle: P (m, s), A (s', s), Q (m, s')
/// and the m x m block on the diagonal, of which the strictly lower triangle counts.
template <Scalar T>
struct Piece {
  Array<T, 2> p, a, q, d;
};

/// Block rows of one row, with dense transitions.
template <Scalar T, transition::Uniform K>
Piece<T> piece(const QuasiseparableView<T, K>& m, index_t i) {
  const index_t r = m.order().lower;
  Piece<T> x{Array<T, 2>({1, r}), Array<T, 2>({r, r}), Array<T, 2>({1, r}), Array<T, 2>({1, 1})};
  for (index_t l = 0; l < r; ++l) {
    x.p(0, l) = m.p(0, i, l);
    x.q(0, l) = m.q(0, i, l);
    if constexpr (std::same_as<K, transition::Scalar>) x.a(l, l) = m.a(0, i);
    if constexpr (std::same_as<K, transition::Diagonal>) x.a(l, l) = m.a(0, i, l);
    if constexpr (std::same_as<K, transition::Dense>) {
      for (index_t c = 0; c < r; ++c) x.a(l, c) = m.a(0, i, l, c);
    }
  }
  return x;
}
template <Scalar T>
Piece<T> piece(const Quasiseparable<T, transition::Block>& m, index_t i) {
  return {to_array(m.lower.p(0, i)), to_array(m.lower.a(0, i)), to_array(m.lower.q(0, i)),
          to_array(m.diagonal.block(0, i))};
}

template <Scalar T, transition::Uniform K>
index_t pieces(const QuasiseparableView<T, K>& m) {
  return m.size();
}
template <Scalar T>
index_t pieces(const Quasiseparable<T, transition::Block>& m) {
  return m.partition.blocks();
}

template <Scalar T>
Array<T, 2> product(Op op_a, Op op_b, const Array<T, 2>& a, const Array<T, 2>& b) {
  const auto extent = [](const Array<T, 2>& x, Op op, int d) {
    return x.extent(op == Op::none ? d : 1 - d);
  };
  Array<T, 2> c({extent(a, op_a, 0), extent(b, op_b, 1)});
  if (!c.empty() && extent(a, op_a, 1) > 0) {
    dense::gemm<T>(op_a, op_b, T{1}, a, b, T{0}, c);
  }
  return c;
}

/// R of the QR decomposition: at most as many rows as columns.
template <Scalar T>
Array<T, 2> square_root(const Array<T, 2>& x) {
  const index_t m = x.extent(0), n = x.extent(1);
  if (m <= n) return x;
  Array<T, 2> work({n, m});  // column-major when transposed
  copy(View<const T, 2>(x.view().transposed()), work.view());
  dense::qr_factor<T>(work.view().transposed());
  Array<T, 2> r({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t c = i; c < n; ++c) r(i, c) = work(c, i);
  }
  return r;
}

template <Scalar T>
Array<T, 2> adjoint(const Array<T, 2>& x) {
  Array<T, 2> y({x.extent(1), x.extent(0)});
  for (index_t i = 0; i < x.extent(0); ++i) {
    for (index_t j = 0; j < x.extent(1); ++j) y(j, i) = conjugate(x(i, j));
  }
  return y;
}

/// Places x at (i, j) of y.
template <Scalar T>
void place(const Array<T, 2>& x, index_t i, index_t j, Array<T, 2>& y) {
  copy(x.view(), y.view().slice(0, i, i + x.extent(0)).slice(1, j, j + x.extent(1)));
}

/// For each piece, W with the singular values of M(begin:n, 0:end) on all of its submatrices that
/// hold the last rows and the first columns:
///   W = [ P C    D   ]
///       [ R A C  R Q^T ],   R from the rows behind the piece, C from the columns before it.
template <Scalar T>
std::vector<Array<T, 2>> compressed(const std::vector<Piece<T>>& parts) {
  const index_t count = index_t(parts.size());
  std::vector<Array<T, 2>> r(count + 1);
  r[count] = Array<T, 2>({0, count > 0 ? parts.back().a.extent(0) : 0});
  for (index_t i = count; i-- > 0;) {
    const Array<T, 2> ra = product(Op::none, Op::none, r[i + 1], parts[i].a);
    Array<T, 2> stacked({parts[i].p.extent(0) + ra.extent(0), ra.extent(1)});
    place(parts[i].p, 0, 0, stacked);
    place(ra, parts[i].p.extent(0), 0, stacked);
    r[i] = square_root(stacked);
  }
  std::vector<Array<T, 2>> result;
  Array<T, 2> c({count > 0 ? parts.front().a.extent(1) : 0, 0});
  for (index_t i = 0; i < count; ++i) {
    const Piece<T>& x = parts[i];
    const Array<T, 2> ac = product(Op::none, Op::none, x.a, c);
    const index_t m = x.p.extent(0), before = c.extent(1), behind = r[i + 1].extent(0);
    Array<T, 2> w({m + behind, before + m});
    place(product(Op::none, Op::none, x.p, c), 0, 0, w);
    place(x.d, 0, before, w);
    place(product(Op::none, Op::none, r[i + 1], ac), m, 0, w);
    place(product(Op::none, Op::transpose, r[i + 1], x.q), m, before, w);
    result.push_back(std::move(w));

    Array<T, 2> reached({ac.extent(0), before + m});
    place(ac, 0, 0, reached);
    copy(View<const T, 2>(x.q.view().transposed()), reached.view().slice(1, before, before + m));
    c = adjoint(square_root(adjoint(reached)));
  }
  return result;
}

/// Ranks of blocks at one tolerance, and the margins over all of them.
template <Scalar T>
class Ranks {
 public:
  using R = real_t<T>;
  Ranks(double tolerance, double norm) : tolerance_(tolerance), norm_(norm) {}

  index_t rank(const View<const T, 2>& block) {
    Array<R, 1> values({std::min(block.extent(0), block.extent(1))});
    if (!values.empty()) dense::singular_values<T>(block, values);
    return count(values);
  }

  /// rank G and r G^+ c or, with `most`, r G^+ c for G of that rank at most, however small its
  /// singular values.
  std::pair<index_t, T> common(const View<const T, 2>& g, const View<const T, 2>& r,
                               const View<const T, 2>& c, std::optional<index_t> most = {}) {
    const index_t number = std::min(g.extent(0), g.extent(1)), n = g.extent(1);
    Array<R, 1> values({number});
    if (number == 0) return {0, T{}};
    Array<T, 2> vh({n, number});  // V^H in column-major order
    dense::svd_right<T>(g, values, vh.view().transposed());
    const double noise = double(epsilon<T>) * double(g.extent(0) + n) * double(values(0));
    const index_t above_noise =
        std::count_if(values.begin(), values.end(), [&](R v) { return double(v) > noise; });
    const index_t kept = most ? std::min(*most, above_noise) : count(values);
    T d{};
    for (index_t l = 0; l < kept; ++l) {
      // One term (r v) (u^H c) / sigma, with u = G v / sigma.
      T rv{}, uc{};
      for (index_t j = 0; j < n; ++j) rv += r(0, j) * conjugate(vh(j, l));
      for (index_t i = 0; i < g.extent(0); ++i) {
        T gv{};
        for (index_t j = 0; j < n; ++j) gv += g(i, j) * conjugate(vh(j, l));
        uc += conjugate(gv) * c(i, 0);
      }
      d += rv / values(l) * (uc / values(l));
    }
    return {kept, d};
  }

  /// Does the block [r, d; G, c] have rank `order` at most for d = r G^+ c?
  std::optional<T> settle(const View<const T, 2>& block, index_t order) {
    const index_t m = block.extent(0), n = block.extent(1);
    const T d =
        common(block.slice(0, 1, m).slice(1, 0, n - 1), block.slice(0, 0, 1).slice(1, 0, n - 1),
               block.slice(0, 1, m).slice(1, n - 1, n), order)
            .second;
    Array<T, 2> filled = to_array(block);
    filled(0, n - 1) = d;
    Array<R, 1> values({std::min(m, n)});
    dense::singular_values<T>(filled, values);
    if (order < values.size() && double(values(order)) > tolerance_ * norm_) return std::nullopt;
    return d;
  }

  double smallest_kept() const { return std::isfinite(kept_) ? kept_ : 0; }
  double largest_dropped() const { return dropped_; }

 private:
  index_t count(const Array<R, 1>& values) {
    index_t rank = 0;
    while (rank < values.size() && double(values(rank)) > tolerance_ * norm_) ++rank;
    if (rank > 0) kept_ = std::min(kept_, double(values(rank - 1)) / norm_);
    if (rank < values.size() && norm_ > 0) {
      dropped_ = std::max(dropped_, double(values(rank)) / norm_);
    }
    return rank;
  }

  double tolerance_, norm_;
  double kept_ = std::numeric_limits<double>::infinity(), dropped_ = 0;
};

void require_options(const CompletionOptions& options) {
  if (options.order && *options.order < 0) {
    throw DomainError(std::string(operation) + ": the order asked for is " +
                      std::to_string(*options.order) + ", it must not be negative");
  }
  if (options.tolerance && !(*options.tolerance >= 0)) {
    throw DomainError(std::string(operation) + ": the tolerance is " +
                      std::to_string(*options.tolerance) + ", it must be at least 0");
  }
}

/// ||strictly lower triangle||_F: the rows of each W begin with the rows of the triangle.
template <Scalar T>
double triangle_norm(const std::vector<Piece<T>>& parts, const std::vector<Array<T, 2>>& ws) {
  double norm = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const index_t m = parts[i].p.extent(0), before = ws[i].extent(1) - m;
    for (index_t t = 0; t < m; ++t) {
      const auto row = ws[i].view().slice(0, t, t + 1).slice(1, 0, before + t);
      norm = std::hypot(norm, dense::frobenius_norm(row));
    }
  }
  return norm;
}

template <Scalar T, class M>
Completion<T> complete(const M& m, index_t n, const CompletionOptions& options) {
  std::vector<Piece<T>> parts;
  for (index_t i = 0; i < pieces(m); ++i) {
    parts.push_back(piece(m, i));
    for (const auto* x : {&parts.back().p, &parts.back().a, &parts.back().q, &parts.back().d}) {
      dense::require_finite<T>(operation, x->view());
    }
  }
  const std::vector<Array<T, 2>> ws = compressed(parts);

  Completion<T> result;
  result.tolerance = options.tolerance.value_or(double(n) * double(epsilon<T>));
  result.frobenius_norm = triangle_norm(parts, ws);
  Ranks<T> ranks(result.tolerance, result.frobenius_norm);
  std::vector<View<const T, 2>> blocks;  // [r, d; G, c] for each k
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const index_t m_i = parts[i].p.extent(0), before = ws[i].extent(1) - m_i;
    for (index_t t = 0; t < m_i; ++t) {
      const index_t left = before + t;
      const auto block = ws[i].view().slice(0, t, ws[i].extent(0)).slice(1, 0, left + 1);
      const auto below = block.slice(0, 1, block.extent(0));
      const auto [rank, value] =
          ranks.common(below.slice(1, 0, left), block.slice(0, 0, 1).slice(1, 0, left),
                       below.slice(1, left, left + 1));
      DiagonalEntry<T> entry;
      entry.value = value;
      entry.rank_left = ranks.rank(block.slice(1, 0, left));
      entry.rank_common = rank;
      result.representable_order += entry.rank_left - entry.rank_common;
      result.entries.push_back(entry);
      blocks.push_back(block);
    }
  }
  for (index_t k = 0; k < n; ++k) {
    auto& entry = result.entries[k];
    entry.rank_below = k + 1 < n ? result.entries[k + 1].rank_left : 0;
    result.minimal_order = std::max(result.minimal_order, entry.least_rank());
  }
  result.order = options.order.value_or(result.minimal_order);
  result.minimal_order = 0;
  for (index_t k = 0; k < n; ++k) {
    auto& entry = result.entries[k];
    const index_t rank = entry.rank_common;
    const bool has_value = entry.rank_left == rank && entry.rank_below == rank;
    index_t least = entry.least_rank();
    if (least > result.order) {
      // A singular value of G below the threshold, while those of its neighbours are above it.
      if (const auto value = ranks.settle(blocks[k], result.order)) {
        entry.freedom = Freedom::forced;
        entry.value = *value;
        least = result.order;
      } else if (!result.blocking) {
        result.blocking = k;
      }
    } else if (has_value) {
      entry.freedom = rank == result.order ? Freedom::forced : Freedom::unique;
    }
    if (entry.freedom == Freedom::free) entry.value = T{};
    result.minimal_order = std::max(result.minimal_order, least);
  }
  result.completable = !result.blocking;
  result.smallest_kept = ranks.smallest_kept();
  result.largest_dropped = ranks.largest_dropped();
  return result;
}

}  // namespace

template <Scalar T, class K>
Completion<T> complete_diagonal(const Quasiseparable<T, K>& m, const CompletionOptions& options) {
  require_options(options);
  if (m.batch() != 1) {
    throw ShapeError(std::string(operation) + ": there are " + std::to_string(m.batch()) +
                     " matrices, one is served");
  }
  if constexpr (std::same_as<K, transition::Block>) {
    return complete<T>(m, m.size(), options);
  } else {
    return complete<T>(quasiseparable::checked(m.view(), operation), m.size(), options);
  }
}

template <Scalar T>
Completion<T> complete_diagonal(View<const T, 2> m, const CompletionOptions& options) {
  require_options(options);
  const index_t n = m.extent(0);
  if (m.extent(1) != n) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(n) + " x " +
                     std::to_string(m.extent(1)) + ", it must be square");
  }
  dense::require_finite(operation, m);
  Array<T, 2> triangle({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < i; ++j) triangle(i, j) = m(i, j);
  }
  const double tolerance = options.tolerance.value_or(double(n) * double(epsilon<T>));
  constexpr double share = 8;
  return complete_diagonal(
      quasiseparable::from_dense(triangle, {.tolerance = tolerance / share}).matrix, options);
}

#define STRUCTMAT_INSTANTIATE_KIND(T, K)                                       \
  template STRUCTMAT_EXPORT Completion<T> complete_diagonal<T, transition::K>( \
      const Quasiseparable<T, transition::K>&, const CompletionOptions&);
#define STRUCTMAT_INSTANTIATE(T)                                                          \
  template STRUCTMAT_EXPORT Completion<T> complete_diagonal<T>(View<const T, 2>,          \
                                                               const CompletionOptions&); \
  STRUCTMAT_INSTANTIATE_KIND(T, Block)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE_KIND)

}  // namespace structmat::verify
