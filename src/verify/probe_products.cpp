#include "verify/probe_products.hpp"

#include "core/instantiate.hpp"
#include "structmat/dense/blas.hpp"

namespace structmat::verify {
namespace {

/// The strictly lower triangle of a diagonal block beside zeros; transposed of m for the upper one.
template <Scalar T>
View<const T, 2> strict_lower(const View<const T, 2>& m, const View<T, 2>& to) {
  for (index_t i = 0; i < m.extent(0); ++i) {
    for (index_t j = 0; j < m.extent(1); ++j) to(i, j) = j < i ? m(i, j) : T{};
  }
  return to;
}

}  // namespace

template <Scalar T>
void multiply_probes(RowPanels<T>& m, T scale, Compressions<T>& lower, Compressions<T>& upper,
                     const std::function<void(double)>& progress) {
  using View2 = View<const T, 2>;
  constexpr index_t per_panel = RowPanels<T>::height / Compressions<T>::segment;
  const index_t n = m.size(), count = m.count();
  const auto multiply = [](Op op, T alpha, const View2& a, const View2& b, const View<T, 2>& c) {
    dense::gemm<T>(op, Op::none, alpha, a, b, T{1}, c);
  };
  Array<T, 2> square({std::min(n, RowPanels<T>::height), std::min(n, RowPanels<T>::height)});
  for (index_t i = 0; i < count; ++i) {
    const index_t begin = m.begin(i), end = m.begin(i + 1);
    const View2 a = m(i);
    const auto here = [&](const View2& v) { return v.slice(0, begin, end); };
    const auto columns = [&](index_t c) { return a.slice(1, m.begin(c), m.begin(c + 1)); };
    const auto those = [&](const View2& v, index_t c) {
      return v.slice(0, m.begin(c), m.begin(c + 1));
    };
    const View<T, 2> corner = square.view().slice(0, 0, end - begin).slice(1, 0, end - begin);

    // Before column block c is added, y = A(I, 0:b_c) G1, the share of these rows in M at b_c.
    const View<T, 2> y = lower.x1.view().slice(0, begin, end);
    for (index_t c = 0; c < i; ++c) {
      multiply(Op::none, scale, columns(c), those(lower.g1, c), y);
      multiply(Op::adjoint, T{1}, here(lower.g2), y, lower.start((c + 1) * per_panel));
    }
    multiply(Op::adjoint, scale, a.slice(1, 0, begin), here(lower.g2),
             lower.x2.view().slice(0, 0, begin));
    View2 triangle = strict_lower<T>(columns(i), corner);
    multiply(Op::none, scale, triangle, here(lower.g1), y);
    multiply(Op::adjoint, scale, triangle, here(lower.g2), lower.x2.view().slice(0, begin, end));

    // The upper part from the right: y = A(I, b_c:n) G2.
    const View<T, 2> z = upper.x2.view().slice(0, begin, end);
    for (index_t c = count - 1; c > i; --c) {
      multiply(Op::none, scale, columns(c), those(upper.g2, c), z);
      multiply(Op::adjoint, T{1}, z, here(upper.g1), upper.start(c * per_panel));
    }
    multiply(Op::adjoint, scale, a.slice(1, end, n), here(upper.g1),
             upper.x1.view().slice(0, end, n));
    triangle = strict_lower<T>(columns(i).transposed(), corner.transposed()).transposed();
    multiply(Op::none, scale, triangle, here(upper.g2), z);
    multiply(Op::adjoint, scale, triangle, here(upper.g1), upper.x1.view().slice(0, begin, end));
    if (progress) progress(double(i + 1) / double(count));
  }
  fill_starts(lower, per_panel);
  fill_starts(upper, per_panel);
}

template <Scalar T>
Array<T, 2> multiply_block(RowPanels<T>& m, std::array<index_t, 2> rows,
                           std::array<index_t, 2> cols, Op op, View<const T, 2> x) {
  const index_t out = op == Op::none ? rows[1] - rows[0] : cols[1] - cols[0];
  Array<T, 2> y({out, x.extent(1)});
  for (index_t i = 0; i < m.count(); ++i) {
    const index_t begin = std::max(m.begin(i), rows[0]), end = std::min(m.begin(i + 1), rows[1]);
    if (begin >= end) continue;
    const View<const T, 2> a =
        m(i).slice(0, begin - m.begin(i), end - m.begin(i)).slice(1, cols[0], cols[1]);
    if (op == Op::none) {
      dense::gemm<T>(op, Op::none, T{1}, a, x, T{0},
                     y.view().slice(0, begin - rows[0], end - rows[0]));
    } else {
      dense::gemm<T>(op, Op::none, T{1}, a, x.slice(0, begin - rows[0], end - rows[0]), T{1}, y);
    }
  }
  return y;
}

#define STRUCTMAT_INSTANTIATE(T)                                                         \
  template void multiply_probes<T>(RowPanels<T>&, T, Compressions<T>&, Compressions<T>&, \
                                   const std::function<void(double)>&);                  \
  template Array<T, 2> multiply_block<T>(RowPanels<T>&, std::array<index_t, 2>,          \
                                         std::array<index_t, 2>, Op, View<const T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
