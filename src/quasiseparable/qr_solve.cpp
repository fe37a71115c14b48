#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "quasiseparable/check_solve.hpp"
#include "structmat/quasiseparable/qr.hpp"

namespace structmat::quasiseparable {
namespace {

using dense::add_product;
using dense::product;
using dense::stacked;

template <Scalar T>
using Steps = std::vector<typename Qr<T>::Step>;

/// x := M^-1 x, in place. Down: [c; 0; b] is transformed, its tail is the next c. Up: R [w; x] = top
/// - kept [w; v]_{k+1}.
template <Scalar T>
void solve_entry(const Partition& partition, const Steps<T>& steps, const View<T, 2>& x) {
  const index_t columns = x.extent(1);
  std::vector<Array<T, 2>> tops;
  Array<T, 2> c({0, columns});
  for (index_t k = 0; k < partition.blocks(); ++k) {
    const auto& step = steps[k];
    const index_t begin = partition.begin(k), size = partition.size(k), w = step.entering,
                  rows = step.unitary.extent(0), gone = w + size;
    Array<T, 2> rhs({rows, columns});
    copy(c.view(), rhs.view().slice(0, 0, w));
    copy(View<const T, 2>(x.slice(0, begin, begin + size)), rhs.view().slice(0, rows - size, rows));
    const Array<T, 2> turned = product<T>(Op::none, step.unitary, Op::none, rhs);
    tops.push_back(to_array(turned.view().slice(0, 0, gone)));
    c = to_array(turned.view().slice(0, gone, rows));
  }
  Array<T, 2> states({0, columns});  // [w; v] behind the block
  for (index_t k = partition.blocks(); k-- > 0;) {
    const auto& step = steps[k];
    const index_t begin = partition.begin(k), size = partition.size(k), w = step.entering,
                  v_next = step.v_of_v.extent(1);
    Array<T, 2>& wx = tops[k];
    dense::gemm<T>(Op::none, Op::none, T{-1}, step.kept, states, T{1}, wx);
    dense::triangular_solve<T>(dense::Triangle::upper, Op::none, step.triangle, wx);
    const View<const T, 2> xk = std::as_const(wx).view().slice(0, w, w + size);
    copy(xk, x.slice(0, begin, begin + size));
    Array<T, 2> v = product<T>(Op::none, step.v_of_x, Op::none, xk);
    add_product<T>(
        Op::none, step.v_of_v, Op::none,
        std::as_const(states).view().slice(0, states.extent(0) - v_next, states.extent(0)), v);
    states = stacked<T>(std::as_const(wx).view().slice(0, 0, w), std::as_const(v).view());
  }
}

/// x := M^-H x, in place: the adjoint system by the same factors, R^H downward, then Q upward.
template <Scalar T>
void solve_adjoint_entry(const Partition& partition, const Steps<T>& steps, const View<T, 2>& x) {
  const index_t columns = x.extent(1), blocks = partition.blocks();
  std::vector<Array<T, 2>> t;
  // What the equations above ask of w_k and v_k.
  Array<T, 2> of_w({0, columns}), of_v({0, columns});
  for (index_t k = 0; k < blocks; ++k) {
    const auto& step = steps[k];
    const index_t begin = partition.begin(k), size = partition.size(k), w = step.entering,
                  w_next = step.unitary.extent(0) - w - size, v_next = step.v_of_v.extent(1);
    Array<T, 2> rhs({w + size, columns});
    for (index_t l = 0; l < w; ++l) {
      for (index_t j = 0; j < columns; ++j) rhs(l, j) = -of_w(l, j);
    }
    copy(View<const T, 2>(x.slice(0, begin, begin + size)), rhs.view().slice(0, w, w + size));
    dense::gemm<T>(Op::adjoint, Op::none, T{-1}, step.v_of_x, of_v, T{1},
                   rhs.view().slice(0, w, w + size));
    dense::triangular_solve<T>(dense::Triangle::upper, Op::adjoint, step.triangle, rhs);
    const View<const T, 2> kept = step.kept.view();
    of_w = product<T>(Op::adjoint, kept.slice(1, 0, w_next), Op::none, rhs);
    Array<T, 2> next =
        product<T>(Op::adjoint, kept.slice(1, w_next, w_next + v_next), Op::none, rhs);
    add_product<T>(Op::adjoint, step.v_of_v, Op::none, of_v, next);
    of_v = std::move(next);
    t.push_back(std::move(rhs));
  }
  Array<T, 2> tail({0, columns});  // of the equations left over behind the block
  for (index_t k = blocks; k-- > 0;) {
    const auto& step = steps[k];
    const index_t begin = partition.begin(k), size = partition.size(k), w = step.entering,
                  rows = step.unitary.extent(0);
    const Array<T, 2> z =
        product<T>(Op::adjoint, step.unitary, Op::none,
                   stacked<T>(std::as_const(t[k]).view(), std::as_const(tail).view()));
    copy(z.view().slice(0, rows - size, rows), x.slice(0, begin, begin + size));
    tail = to_array(z.view().slice(0, 0, w));
  }
}

}  // namespace

template <Scalar T>
void solve(const exec::cpu&, const Qr<T>& f, Op op, View<const T, 3> b, View<T, 3> x) {
  const index_t batch = check_solve("quasiseparable::solve", f, b, x);
  const bool conjugated = is_complex_v<T> && op == Op::transpose;
  solve_entries(batch, conjugated, b, x, [&](index_t entry, View<T, 2> columns) {
    const auto& steps = f.entry(f.batch() == 1 ? 0 : entry).steps;
    if (op == Op::none) {
      solve_entry<T>(f.partition(), steps, columns);
    } else {
      solve_adjoint_entry<T>(f.partition(), steps, columns);
    }
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT void solve<T>(const exec::cpu&, const Qr<T>&, Op, View<const T, 3>, \
                                          View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
