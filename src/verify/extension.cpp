#include "structmat/verify/extension.hpp"

#include <algorithm>

#include "core/instantiate.hpp"
#include "structmat/dense/lapack.hpp"

namespace structmat::verify {
namespace {

/// The completion at the order asked for, or at that of the triangle.
template <Scalar T, class K>
Completion<T> complete(const Quasiseparable<T, K>& m, CompletionOptions options) {
  Completion<T> found = complete_diagonal(m, options);
  if (options.order) return found;
  index_t order = 0;
  for (const auto& entry : found.entries) order = std::max(order, entry.rank_left);
  if (found.order == order) return found;
  options.order = order;
  return complete_diagonal(m, options);
}

/// c := a b
template <Scalar T>
Array<T, 2> product(const View<const T, 2>& a, const View<const T, 2>& b) {
  Array<T, 2> c({a.extent(0), b.extent(1)});
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t k = 0; k < a.extent(1); ++k) {
      for (index_t j = 0; j < b.extent(1); ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

template <Scalar T>
Array<T, 2> adjoint(const View<const T, 2>& a) {
  Array<T, 2> c = to_array(a.transposed());
  for (T& x : c) x = conjugate(x);
  return c;
}

/// Left singular vectors as columns, and the singular values.
template <Scalar T>
struct LeftSingular {
  Array<T, 2> vectors;
  Array<real_t<T>, 1> values;

  explicit LeftSingular(const View<const T, 2>& x)
      : vectors({x.extent(0), std::min(x.extent(0), x.extent(1))}), values({vectors.extent(1)}) {
    // x^T = conj(V) S U^T
    if (!values.empty()) {
      dense::svd_right<T>(x.transposed(), values, vectors.view().transposed());
    }
  }
};

/// Inclusive generators with states whose sizes follow the index.
template <Scalar T>
struct Step {
  Array<T, 2> c, a, b;  ///< 1 x s_k, s_k x s_{k-1}, s_k x 1
};

/// [p_k; d_k], [a_{k-1}, q_{k-1}; 0, 0], [0; 1].
template <Scalar T, transition::Uniform K>
Step<T> inclusive(const QuasiseparableView<T, K>& m, index_t k, const T& diagonal) {
  const index_t r = m.order().lower;
  Step<T> step{Array<T, 2>({1, r + 1}), Array<T, 2>({r + 1, r + 1}), Array<T, 2>({r + 1, 1})};
  step.c(0, r) = diagonal;
  step.b(r, 0) = T{1};
  if (k == 0) return step;
  for (index_t i = 0; i < r; ++i) {
    step.c(0, i) = m.p(0, k, i);
    step.a(i, r) = m.q(0, k - 1, i);
    for (index_t j = 0; k > 1 && j < r; ++j) {  // a_0 does not exist
      if constexpr (K::rank == transition::Dense::rank) {
        step.a(i, j) = m.a(0, k - 1, i, j);
      } else if (i == j) {
        if constexpr (K::rank == transition::Scalar::rank) step.a(i, j) = m.a(0, k - 1);
        if constexpr (K::rank == transition::Diagonal::rank) step.a(i, j) = m.a(0, k - 1, i);
      }
    }
  }
  return step;
}

/// New states R_k s_k, of which the rows from k on see an orthonormal image.
template <Scalar T>
void make_observable(std::vector<Step<T>>& steps) {
  const auto n = index_t(steps.size());
  Array<T, 2> r;  // R_{k+1} A_{k+1}
  for (index_t k = n; k-- > 0;) {
    Step<T>& step = steps[k];
    const index_t below = r.extent(0), states = step.c.extent(1);
    Array<T, 2> image({below + 1, states});
    copy(std::as_const(step.c).view(), image.view().slice(0, 0, 1));
    if (below > 0) copy(std::as_const(r).view(), image.view().slice(0, 1, below + 1));
    const LeftSingular<T> range(image.view());
    const View<const T, 2> basis = range.vectors.view();
    const Array<T, 2> change = product<T>(adjoint(basis), image);
    step.c = to_array(basis.slice(0, 0, 1));
    if (k + 1 < n) steps[k + 1].a = to_array(basis.slice(0, 1, below + 1));
    step.b = product<T>(change, step.b);
    r = product<T>(change, step.a);
  }
}

/// Of observable states, those that are reached: `order` of them at most, by singular values.
template <Scalar T>
void keep_reachable(std::vector<Step<T>>& steps, index_t order) {
  Array<T, 2> before, reached;  // the basis of the states kept, and what is reached in it
  for (Step<T>& step : steps) {
    const Array<T, 2> carried = product<T>(step.a.view().slice(1, 0, before.extent(0)), before);
    const index_t states = step.b.extent(0), columns = reached.extent(1);
    Array<T, 2> image({states, columns + 1});
    if (columns > 0) {
      copy(product<T>(carried, reached).view(), image.view().slice(1, 0, columns));
    }
    copy(step.b.view(), image.view().slice(1, columns, columns + 1));
    const LeftSingular<T> range(image.view());
    const index_t kept = std::min(order, range.values.extent(0));
    before = to_array(range.vectors.view().slice(1, 0, kept));
    const Array<T, 2> projection = adjoint<T>(before);
    step.c = product<T>(step.c, before);
    step.a = product<T>(projection, carried);
    step.b = product<T>(projection, step.b);
    reached = Array<T, 2>({kept, kept});
    for (index_t i = 0; i < kept; ++i) reached(i, i) = T(range.values(i));
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
Extension<T, transition::Dense> extend_to_semiseparable(const Quasiseparable<T, K>& m,
                                                        const CompletionOptions& options) {
  Extension<T, transition::Dense> result{complete(m, options), {}};
  if (!result.completion.completable) return result;
  const index_t n = m.size(), order = result.completion.order;
  std::vector<Step<T>> steps;
  for (index_t k = 0; k < n; ++k) {
    steps.push_back(inclusive<T, K>(m.view(), k, result.completion.entries[k].value));
  }
  make_observable(steps);
  keep_reachable(steps, order);

  result.matrix = Semiseparable<T, transition::Dense>(n, order);
  for (index_t k = 0; k < n; ++k) {
    const auto& [c, a, b] = steps[k];
    for (index_t i = 0; i < a.extent(0); ++i) {
      result.matrix.c(0, k, i) = c(0, i);
      result.matrix.b(0, k, i) = b(i, 0);
      for (index_t j = 0; j < a.extent(1); ++j) result.matrix.a(0, k, i, j) = a(i, j);
    }
  }
  return result;
}

template <Scalar T>
Extension<T, transition::Block> extend_to_semiseparable(
    const Quasiseparable<T, transition::Block>& m, const CompletionOptions& options) {
  Extension<T, transition::Block> result{complete(m, options), {}};
  if (!result.completion.completable) return result;
  auto& s = result.matrix;
  s.partition = m.partition;
  s.lower = m.lower;
  s.diagonal = m.diagonal;
  for (index_t i = 0; i < m.partition.blocks(); ++i) {
    const View<T, 2> block = s.diagonal.block(0, i);
    for (index_t t = 0; t < block.extent(0); ++t) {
      block(t, t) = result.completion.entries[m.partition.begin(i) + t].value;
      for (index_t j = t + 1; j < block.extent(0); ++j) block(t, j) = T{};
    }
  }
  return result;
}

#define STRUCTMAT_INSTANTIATE_KIND(T, K)                                             \
  template STRUCTMAT_EXPORT Extension<T, transition::Dense>                          \
  extend_to_semiseparable<T, transition::K>(const Quasiseparable<T, transition::K>&, \
                                            const CompletionOptions&);
#define STRUCTMAT_INSTANTIATE(T)                                                        \
  STRUCTMAT_FOR_KINDS(STRUCTMAT_INSTANTIATE_KIND, T)                                    \
  template STRUCTMAT_EXPORT Extension<T, transition::Block> extend_to_semiseparable<T>( \
      const Quasiseparable<T, transition::Block>&, const CompletionOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
