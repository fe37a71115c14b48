#include "recurrence/normal_form.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::recurrence {
namespace {

using dense::part;
using dense::product;

/// [p; r a] of a block whose following state is seen through r.
template <Scalar T>
Array<T, 2> seen_rows(const Array<T, 2>& p, const Array<T, 2>& a, const Array<T, 2>& r) {
  const index_t m = p.extent(0), states = p.extent(1), below = r.extent(0);
  Array<T, 2> x({m + below, states}, uninitialized);
  copy(p.view(), part(x.view(), 0, m, 0, states));
  dense::gemm<T>(Op::none, Op::none, T{1}, r, a, T{0}, part(x.view(), m, m + below, 0, states));
  return x;
}

/// X = Q R by Householder reflectors: Q (m, min(m, n)) in x's place, R (min(m, n), n).
template <Scalar T>
Array<T, 2> orthogonalise(Array<T, 2>& x) {
  const index_t m = x.extent(0), n = x.extent(1), smaller = std::min(m, n);
  Array<T, 2> columns = to_array(x.view().transposed());  // column-major
  Array<T, 1> tau({smaller});
  dense::qr_factor<T>(columns.view().transposed(), tau.view());
  Array<T, 2> r({smaller, n});
  for (index_t i = 0; i < smaller; ++i) {
    for (index_t j = i; j < n; ++j) r(i, j) = columns(j, i);
  }
  const View<T, 2> q = columns.view().slice(0, 0, smaller);
  dense::form_q<T>(q.transposed(), std::as_const(tau).view());
  x = to_array(q.transposed());
  return r;
}

/// Rows of block k from x = [p; a], once the states in front of it are exchanged by r.
template <Scalar T>
void set_rows(BlockList<T>& list, index_t k, const Array<T, 2>& x, const Array<T, 2>& r) {
  const index_t m = list.p[k].extent(0);
  list.p[k] = to_array(x.view().slice(0, 0, m));
  list.a[k] = to_array(x.view().slice(0, m, x.extent(0)));
  if (k > 0) list.q[k - 1] = product<T>(Op::none, list.q[k - 1], Op::transpose, r);
}

}  // namespace

template <Scalar T>
void make_rows_isometric(BlockList<T>& list) {
  Array<T, 2> r({0, 0});
  for (index_t k = list.blocks(); k-- > 0;) {
    Array<T, 2> x = seen_rows(list.p[k], list.a[k], r);
    r = orthogonalise(x);
    set_rows(list, k, x, r);
  }
}

template <Scalar T>
Dropped truncate_rows(BlockList<T>& list, const std::function<BlockTruncation(index_t)>& truncation,
                      SingularValues<T>* values) {
  using R = real_t<T>;
  Dropped dropped;
  if (values != nullptr) values->assign(list.blocks(), {});
  Array<T, 2> r({0, 0});
  for (index_t k = list.blocks(); k-- > 0;) {
    Array<T, 2> x = seen_rows(list.p[k], list.a[k], r);
    const index_t states = x.extent(1);
    const bool tall = x.extent(0) > states;
    Array<T, 2> inner = tall ? orthogonalise(x) : x;
    // inner = U S V^H through the right vectors of its transpose: inner^T = conj(V) S U^T.
    const index_t smaller = std::min(inner.extent(0), states);
    Array<R, 1> sigma({smaller});
    Array<T, 2> ut({inner.extent(0), smaller});  // U^T in column-major order is U in row-major
    dense::svd_right<T>(inner.view().transposed(), sigma.view(), ut.view().transposed());

    const BlockTruncation most = truncation(k);
    index_t kept = smaller;
    double squares = 0, norm = 0;
    for (index_t l = 0; l < smaller; ++l) norm = std::hypot(norm, double(sigma(l)));
    while (kept > 0) {
      const double next = squares + double(sigma(kept - 1)) * double(sigma(kept - 1));
      if (kept <= most.most && std::sqrt(next) > most.tail) break;
      squares = next;
      --kept;
    }
    dropped.squares += squares;
    dropped.rounding += 4 * double(epsilon<T>) * std::sqrt(double(x.extent(0) + states)) * norm;
    const View<const T, 2> u = std::as_const(ut).view().slice(1, 0, kept);
    r = product<T>(Op::adjoint, u, Op::none, inner);
    x = tall ? product<T>(Op::none, x, Op::none, u) : to_array(u);
    set_rows(list, k, x, r);
    if (values != nullptr) (*values)[k].assign(sigma.begin(), sigma.begin() + kept);
  }
  return dropped;
}

template <Scalar T>
double frobenius_norm(const BlockList<T>& list) {
  double norm = 0;
  for (const Array<T, 2>& q : list.q) {
    norm = std::hypot(norm, dense::frobenius_norm(q.view()));
  }
  return norm;
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template void make_rows_isometric<T>(BlockList<T>&);                                             \
  template Dropped truncate_rows<T>(BlockList<T>&, const std::function<BlockTruncation(index_t)>&, \
                                    SingularValues<T>*);                                           \
  template double frobenius_norm<T>(const BlockList<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::recurrence
