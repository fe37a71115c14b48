#include "structmat/quasiseparable/index_sets.hpp"

#include "core/instantiate.hpp"
#include "quasiseparable/transitions.hpp"
#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable {
namespace {

void require_indices(const char* operation, const View<const index_t, 1>& indices, index_t n) {
  for (index_t s = 0; s < indices.extent(0); ++s) {
    const auto refuse = [&](const std::string& reason) {
      throw DomainError(std::string(operation) + ": index " + std::to_string(s) + " is " +
                        std::to_string(indices(s)) + ", " + reason);
    };
    if (indices(s) < 0 || indices(s) >= n) {
      refuse("the matrix is of size " + std::to_string(n));
    }
    if (s > 0 && indices(s) <= indices(s - 1)) {
      refuse("the one before it is " + std::to_string(indices(s - 1)) +
             "; indices must increase strictly");
    }
  }
}

/// A product of transitions, which grows at its right end.
template <Scalar T, transition::Uniform K>
class Product {
 public:
  Product(View<const T, K::rank> t, index_t batch, index_t r)
      : t_(t), batch_(batch), r_(r), product_({width(), r}), next_(product_) {}

  void reset() { empty_ = true; }

  void multiply(index_t i) {
    for (index_t k = 0; k < width(); ++k) {
      for (index_t j = 0; j < r_; ++j) next_(k, j) = entry_of_product(k, j, i);
    }
    std::swap(product_, next_);
    empty_ = false;
  }

  /// to := product * t_i
  void write_times(index_t i, const View<T, K::rank>& to, index_t s) const {
    if constexpr (K::rank == transition::Scalar::rank) {
      to(batch_, s) = empty_ || r_ == 0 ? t_(batch_, i) : entry_of_product(0, 0, i);
    } else {
      for (index_t j = 0; j < r_; ++j) {
        if constexpr (K::rank == transition::Diagonal::rank) {
          to(batch_, s, j) = entry_of_product(0, j, i);
        } else {
          for (index_t k = 0; k < r_; ++k) to(batch_, s, k, j) = entry_of_product(k, j, i);
        }
      }
    }
  }

  /// to := product * from(i)
  void write_applied(const View<const T, 3>& from, index_t i, const View<T, 3>& to,
                     index_t s) const {
    for (index_t k = 0; k < r_; ++k) {
      if (empty_) {
        to(batch_, s, k) = from(batch_, i, k);
      } else if constexpr (K::rank == transition::Dense::rank) {
        T sum{};
        for (index_t j = 0; j < r_; ++j) sum += product_(k, j) * from(batch_, i, j);
        to(batch_, s, k) = sum;
      } else {
        to(batch_, s, k) = product_(0, k) * from(batch_, i, k);
      }
    }
  }

 private:
  /// Rows stored: the diagonal alone is one.
  index_t width() const { return K::rank == transition::Dense::rank ? r_ : 1; }

  /// Entry (k, j) of product * t_i, diagonal kinds: entry (j, j).
  T entry_of_product(index_t k, index_t j, index_t i) const {
    if constexpr (K::rank == transition::Dense::rank) {
      if (empty_) return t_(batch_, i, k, j);
      T sum{};
      for (index_t l = 0; l < r_; ++l) sum += product_(k, l) * t_(batch_, i, l, j);
      return sum;
    } else {
      T factor{};
      if constexpr (K::rank == transition::Scalar::rank) factor = t_(batch_, i);
      if constexpr (K::rank == transition::Diagonal::rank) factor = t_(batch_, i, j);
      return empty_ ? factor : product_(k, j) * factor;
    }
  }

  View<const T, K::rank> t_;
  index_t batch_, r_;
  bool empty_ = true;
  Array<T, 2> product_, next_;
};

/// e'_s = t_{i_{s-1} + 1} ... t_{i_s - 1} e_{i_s} and t'_s likewise with t_{i_s} in place of e: the
/// upper triangle, or the lower one with transposed transitions.
template <Scalar T, transition::Uniform K>
void restrict_triangle(const View<const T, K::rank>& t, const View<const T, 3>& e,
                       const View<const index_t, 1>& indices, const View<T, K::rank>& t_new,
                       const View<T, 3>& e_new) {
  for (index_t b = 0; b < e.extent(0); ++b) {
    Product<T, K> product(t, b, e.extent(2));
    for (index_t s = 1; s < indices.extent(0); ++s) {
      product.reset();
      for (index_t i = indices(s - 1) + 1; i < indices(s); ++i) product.multiply(i);
      product.write_applied(e, indices(s), e_new, s);
      product.write_times(indices(s), t_new, s);
    }
  }
}

/// to(:, s) := from(:, indices(s))
template <class T, int Rank>
void gather(const View<const T, Rank>& from, const View<const index_t, 1>& indices,
            const View<T, Rank>& to) {
  for (index_t s = 0; s < indices.extent(0); ++s) {
    copy(from.select(1, indices(s)), to.select(1, s));
  }
}

/// to(:, indices(s)) := from(:, s)
template <class T, int Rank>
void scatter(const View<const T, Rank>& from, const View<const index_t, 1>& indices,
             const View<T, Rank>& to) {
  for (index_t s = 0; s < indices.extent(0); ++s) {
    copy(from.select(1, s), to.select(1, indices(s)));
  }
}

/// Copies begin <= i < end of `from` to the indices from `at` on, into the leading states of `to`.
template <Scalar T, int Rank>
void place(const View<const T, Rank>& from, index_t begin, index_t end, const View<T, Rank>& to,
           index_t at) {
  if (end <= begin) return;
  View<T, Rank> target = to.slice(1, at, at + end - begin);
  if constexpr (Rank > 2) target = leading_states(target, from.extent(2));
  copy(from.slice(1, begin, end), target);
}

/// A diagonal kind with its transitions written out.
template <Scalar T, int From, int To>
void place_transitions(const View<const T, From>& from, index_t begin, index_t end, index_t r,
                       const View<T, To>& to) {
  if constexpr (From == To) {
    place<T, From>(from, begin, end, to, begin);
  } else {
    static_assert(From == transition::Scalar::rank && To == transition::Diagonal::rank);
    for (index_t k = 0; k < r; ++k) place<T, From>(from, begin, end, to.select(2, k), begin);
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
QuasiseparableView<T, K> principal_submatrix(const QuasiseparableView<T, K>& matrix, index_t begin,
                                             index_t end) {
  constexpr auto operation = "quasiseparable::principal_submatrix";
  const auto m = checked(matrix, operation);
  if (begin < 0 || begin > end || end > m.size()) {
    throw ShapeError(std::string(operation) + ": the range is [" + std::to_string(begin) + ", " +
                     std::to_string(end) + "), the matrix is of size " + std::to_string(m.size()));
  }
  const auto part = [&](const auto& v) { return v.slice(1, begin, end); };
  return {part(m.p), part(m.q), part(m.a), part(m.d), part(m.g), part(m.h), part(m.b)};
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> principal_submatrix(const QuasiseparableView<T, K>& matrix,
                                         View<const index_t, 1> indices) {
  constexpr auto operation = "quasiseparable::principal_submatrix";
  const auto m = checked(matrix, operation);
  require_indices(operation, indices, m.size());
  Quasiseparable<T, K> part(indices.extent(0), m.order(), m.batch());
  gather<T, 2>(m.d, indices, part.d);
  gather<T, 3>(m.q, indices, part.q);
  gather<T, 3>(m.g, indices, part.g);
  restrict_triangle<T, K>(transposed_transitions(m.a), m.p, indices,
                          transposed_transitions(part.a.view()), part.p);
  restrict_triangle<T, K>(m.b, m.h, indices, part.b, part.h);
  return part;
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> embed(const QuasiseparableView<T, K>& matrix, View<const index_t, 1> indices,
                           index_t n) {
  constexpr auto operation = "quasiseparable::embed";
  const auto m = checked(matrix, operation);
  if (indices.extent(0) != m.size()) {
    throw ShapeError(std::string(operation) + ": there are " + std::to_string(indices.extent(0)) +
                     " indices, the matrix is of size " + std::to_string(m.size()));
  }
  require_indices(operation, indices, n);
  Quasiseparable<T, K> all(n, m.order(), m.batch());
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0, s = 0; i < n; ++i) {
      if (s < indices.extent(0) && indices(s) == i) {
        ++s;
        continue;
      }
      set_identity<T>(all.a.view(), b, i, 0, m.order().lower);
      set_identity<T>(all.b.view(), b, i, 0, m.order().upper);
    }
  }
  // What is unused at the ends of m would be used between zero rows.
  const index_t last = m.size() - 1;
  scatter<T, 2>(m.d, indices, all.d);
  if (last < 1) return all;
  const auto tail = indices.slice(0, 1, last + 1), head = indices.slice(0, 0, last),
             inner = indices.slice(0, 1, last);
  scatter<T, 3>(m.p.slice(1, 1, last + 1), tail, all.p);
  scatter<T, 3>(m.h.slice(1, 1, last + 1), tail, all.h);
  scatter<T, 3>(m.q.slice(1, 0, last), head, all.q);
  scatter<T, 3>(m.g.slice(1, 0, last), head, all.g);
  scatter<T, K::rank>(m.a.slice(1, 1, last), inner, all.a);
  scatter<T, K::rank>(m.b.slice(1, 1, last), inner, all.b);
  return all;
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> block_diagonal(const QuasiseparableView<T, K>& first,
                                    const QuasiseparableView<T, K>& second) {
  constexpr auto operation = "quasiseparable::block_diagonal";
  auto x = checked(first, operation);
  const auto y = checked(second, operation, x.batch());
  x = checked(x, operation, y.batch());
  const index_t nx = x.size(), ny = y.size();
  const Order order{std::max(x.order().lower, y.order().lower),
                    std::max(x.order().upper, y.order().upper)};
  Quasiseparable<T, K> m(nx + ny, order, x.batch());
  place<T, 2>(x.d, 0, nx, m.d, 0);
  place<T, 2>(y.d, 0, ny, m.d, nx);
  // At the boundary, what x and y do not use stays 0.
  place<T, 3>(x.p, 0, nx, m.p, 0);
  place<T, 3>(x.h, 0, nx, m.h, 0);
  place<T, 3>(x.q, 0, nx - 1, m.q, 0);
  place<T, 3>(x.g, 0, nx - 1, m.g, 0);
  place<T, K::rank>(x.a, 0, nx - 1, m.a, 0);
  place<T, K::rank>(x.b, 0, nx - 1, m.b, 0);
  place<T, 3>(y.p, 1, ny, m.p, nx + 1);
  place<T, 3>(y.h, 1, ny, m.h, nx + 1);
  place<T, 3>(y.q, 0, ny, m.q, nx);
  place<T, 3>(y.g, 0, ny, m.g, nx);
  place<T, K::rank>(y.a, 1, ny, m.a, nx + 1);
  place<T, K::rank>(y.b, 1, ny, m.b, nx + 1);
  return m;
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, BorderedKind<K>> bordered(const QuasiseparableView<T, K>& matrix,
                                            View<const T, 3> columns, View<const T, 3> rows,
                                            View<const T, 3> corner) {
  constexpr auto operation = "quasiseparable::bordered";
  auto m = checked(matrix, operation);
  const index_t n = m.size(), k = corner.extent(1);
  recurrence::Shape inner(operation, m.batch(), n);
  inner.require("C", columns, k);
  recurrence::Shape border(operation, inner.batch(), k);
  border.require("R", rows, n);
  border.require("D", corner, k);
  const index_t batch = border.batch();
  m = checked(m, operation, batch);
  const auto c = columns.broadcast(0, batch), r = rows.broadcast(0, batch),
             d = corner.broadcast(0, batch);

  const Order old = m.order();
  Quasiseparable<T, BorderedKind<K>> all(n + k, {old.lower + k, old.upper + k}, batch);
  place<T, 2>(m.d, 0, n, all.d, 0);
  place<T, 3>(m.p, 0, n, all.p, 0);
  place<T, 3>(m.h, 0, n, all.h, 0);
  place<T, 3>(m.q, 0, n - 1, all.q, 0);
  place<T, 3>(m.g, 0, n - 1, all.g, 0);
  place_transitions<T, K::rank>(m.a, 0, n - 1, old.lower, all.a.view());
  place_transitions<T, K::rank>(m.b, 0, n - 1, old.upper, all.b.view());
  // The new states: column l of R and of D below, row l of C and of D above.
  const auto q = all.q.view().slice(2, old.lower, old.lower + k);
  const auto g = all.g.view().slice(2, old.upper, old.upper + k);
  copy(r.transposed(), q.slice(1, 0, n));
  copy(c, g.slice(1, 0, n));
  copy(d.transposed(), q.slice(1, n, n + k));
  copy(d, g.slice(1, n, n + k));
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n + k; ++i) {
      set_identity<T>(all.a.view(), b, i, old.lower, old.lower + k);
      set_identity<T>(all.b.view(), b, i, old.upper, old.upper + k);
    }
    for (index_t s = 0; s < k; ++s) {
      all.p(b, n + s, old.lower + s) = all.h(b, n + s, old.upper + s) = T{1};
      all.d(b, n + s) = d(b, s, s);
    }
  }
  return all;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                              \
  template STRUCTMAT_EXPORT QuasiseparableView<T, transition::K>                                 \
  principal_submatrix<T, transition::K>(const QuasiseparableView<T, transition::K>&, index_t,    \
                                        index_t);                                                \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K>                                     \
  principal_submatrix<T, transition::K>(const QuasiseparableView<T, transition::K>&,             \
                                        View<const index_t, 1>);                                 \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> embed<T, transition::K>(            \
      const QuasiseparableView<T, transition::K>&, View<const index_t, 1>, index_t);             \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> block_diagonal<T, transition::K>(   \
      const QuasiseparableView<T, transition::K>&, const QuasiseparableView<T, transition::K>&); \
  template STRUCTMAT_EXPORT Quasiseparable<T, BorderedKind<transition::K>>                       \
  bordered<T, transition::K>(const QuasiseparableView<T, transition::K>&, View<const T, 3>,      \
                             View<const T, 3>, View<const T, 3>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
