#include "butterfly/monarch_stages.hpp"
#include "core/instantiate.hpp"
#include "core/vjp_operands.hpp"
#include "structmat/butterfly/apply_vjp.hpp"

namespace structmat {
namespace {

/// One batch entry, all operands row-major.
template <Scalar T>
struct Pullback {
  Op op;  ///< none or adjoint
  View<const T, 3> w1, w2;
  View<T, 3> w1_bar, w2_bar;
  View<T, 2> x_bar;
  bool conjugated;  ///< x_bar is that of conj(x)
};

/// block_bar += a b^H
template <Scalar T>
void add_outer(const View<const T, 2>& a, const View<const T, 2>& b, const View<T, 2>& block_bar) {
  Array<T, 2> sum({a.extent(0), b.extent(0)}, uninitialized);
  dense::gemm<T>(Op::none, Op::adjoint, T{1}, a, b, T{0}, sum.view());
  dense::add_to(block_bar, sum);
}

// y = W2 (W1 x), or y = W1^H (W2^H x).
template <Scalar T>
void pull_back(const Pullback<T>& p, const View<const T, 2>& x, const View<const T, 2>& y_bar) {
  const index_t k = p.w1.extent(0), l = p.w2.extent(0), columns = x.extent(1);
  const bool forward = p.op == Op::none;
  Array<T, 2> between({k * p.w1.extent(1), columns}, uninitialized), between_bar(between.extents());
  const View<const T, 2> t = std::as_const(between).view(),
                         t_bar = std::as_const(between_bar).view();
  if (forward) {
    monarch::first_half<T>(Op::none, p.w1, x, between.view());
    monarch::second_half<T>(Op::adjoint, p.w2, y_bar, between_bar.view());
  } else {
    monarch::second_half<T>(Op::adjoint, p.w2, x, between.view());
    monarch::first_half<T>(Op::none, p.w1, y_bar, between_bar.view());
  }
  if (p.w1_bar.data()) {
    const View<const T, 2> left = forward ? t_bar : t, right = forward ? x : y_bar;
    for (index_t i = 0; i < k; ++i) {
      add_outer(monarch::rows_of(left, i, k), monarch::rows_of(right, i, k), p.w1_bar.select(0, i));
    }
  }
  if (p.w2_bar.data()) {
    const View<const T, 2> left = forward ? y_bar : x, right = forward ? t : t_bar;
    for (index_t i = 0; i < l; ++i) {
      add_outer(monarch::interleaved(left, i, l), monarch::interleaved(right, i, l),
                p.w2_bar.select(0, i));
    }
  }
  if (!p.x_bar.data()) return;
  Array<T, 2> sum(p.x_bar.extents(), uninitialized);
  if (forward) {
    monarch::first_half<T>(Op::adjoint, p.w1, t_bar, sum.view());
  } else {
    monarch::second_half<T>(Op::none, p.w2, t_bar, sum.view());
  }
  dense::add_to(p.x_bar, sum, p.conjugated);
}

}  // namespace

// M^T x = conj(M^H conj(x)).
template <Scalar T>
void apply_vjp(const exec::cpu&, const MonarchView<T>& matrix, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const MonarchCotangent<T>& matrix_bar, View<T, 3> x_bar) {
  constexpr auto operation = "monarch::apply_vjp";
  const auto given = monarch::checked(matrix, operation);
  const index_t out = op == Op::none ? given.rows() : given.cols();
  const index_t in = op == Op::none ? given.cols() : given.rows();
  const index_t batch =
      detail::check_vjp_operands(operation, given.batch(), out, in, x, y_bar, x_bar);
  const auto m = monarch::checked(matrix, operation, batch);
  const auto extents = [](const auto& w) {
    return std::array<index_t, 3>{w.extent(1), w.extent(2), w.extent(3)};
  };
  const View<T, 4> w1_bar =
      detail::checked_cotangent(operation, "w1", matrix_bar.w1, batch, extents(m.w1));
  const View<T, 4> w2_bar =
      detail::checked_cotangent(operation, "w2", matrix_bar.w2, batch, extents(m.w2));

  const bool conjugated = is_complex_v<T> && op == Op::transpose;
  const auto columns = x.broadcast(0, batch);
  for (index_t b = 0; b < batch; ++b) {
    const dense::RowMajor<T, 3> w1(m.w1.select(0, b)), w2(m.w2.select(0, b));
    const dense::RowMajor<T> xb(columns.select(0, b), conjugated);
    const dense::RowMajor<T> yb(y_bar.select(0, b), conjugated);
    pull_back<T>({op == Op::none ? Op::none : Op::adjoint, w1.view(), w2.view(),
                  w1_bar.data() ? w1_bar.select(0, b) : View<T, 3>{},
                  w2_bar.data() ? w2_bar.select(0, b) : View<T, 3>{},
                  x_bar.data() ? x_bar.select(0, b) : View<T, 2>{}, conjugated},
                 xb.view(), yb.view());
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                           \
  template STRUCTMAT_EXPORT void apply_vjp<T>(const exec::cpu&, const MonarchView<T>&, Op, \
                                              View<const T, 3>, View<const T, 3>,          \
                                              const MonarchCotangent<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
