#include "structmat/lowrank/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "core/vjp_operands.hpp"
#include "dense/row_major.hpp"

namespace structmat {
namespace {

/// y = U V^T x of one batch entry; conjugated: of conj(y) = U V^T conj(x), so that x_bar and y_bar
/// are conjugated, too.
template <Scalar T>
void pull_back(const LowRankView<T>& m, index_t b, bool conjugated, const View<const T, 2>& x,
               const View<const T, 2>& y_bar, const View<T, 2>& u_bar, const View<T, 2>& v_bar,
               const View<T, 2>& x_bar) {
  const index_t r = m.order(), k = x.extent(1);
  const dense::RowMajor<T> u(m.u.select(0, b)), v(m.v.select(0, b));
  const dense::RowMajor<T> in(x, conjugated), out_bar(y_bar, conjugated);

  if (u_bar.data()) {
    Array<T, 2> w({r, k}, uninitialized), sum({m.rows(), r}, uninitialized);
    dense::multiply<T>(Op::transpose, v.view(), in.view(), w.view());
    dense::gemm<T>(Op::none, Op::adjoint, T{1}, out_bar.view(), w.view(), T{0}, sum.view());
    dense::add_to(u_bar, sum);
  }
  if (!v_bar.data() && !x_bar.data()) return;
  Array<T, 2> w_bar({r, k}, uninitialized);
  dense::multiply<T>(Op::adjoint, u.view(), out_bar.view(), w_bar.view());
  if (v_bar.data()) {  // conj(x w_bar^H)
    Array<T, 2> sum({m.cols(), r}, uninitialized);
    dense::gemm<T>(Op::none, Op::adjoint, T{1}, in.view(), w_bar.view(), T{0}, sum.view());
    dense::add_to(v_bar, sum, true);
  }
  if (x_bar.data()) {  // conj(V conj(w_bar)), and conj of that
    for (T& value : w_bar) value = conjugate(value);
    Array<T, 2> sum({m.cols(), k}, uninitialized);
    dense::multiply<T>(Op::none, v.view(), std::as_const(w_bar).view(), sum.view());
    dense::add_to(x_bar, sum, !conjugated);
  }
}

}  // namespace

template <Scalar T>
void apply_vjp(const exec::cpu&, const LowRankView<T>& matrix, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const LowRankCotangent<T>& matrix_bar, View<T, 3> x_bar) {
  constexpr auto operation = "lowrank::apply_vjp";
  const auto given = op == Op::none ? matrix : matrix.transposed();
  const index_t own = lowrank::checked(given, operation).batch();
  const index_t batch =
      detail::check_vjp_operands(operation, own, given.rows(), given.cols(), x, y_bar, x_bar);
  const auto m = lowrank::checked(given, operation, batch);
  LowRankCotangent<T> m_bar{detail::checked_cotangent(operation, "u", matrix_bar.u, batch,
                                                      {matrix.rows(), matrix.order()}),
                            detail::checked_cotangent(operation, "v", matrix_bar.v, batch,
                                                      {matrix.cols(), matrix.order()})};
  if (op != Op::none) std::swap(m_bar.u, m_bar.v);

  const bool conjugated = is_complex_v<T> && op == Op::adjoint;
  const auto columns = x.broadcast(0, batch);
  const auto one = [](const View<T, 3>& bar, index_t b) {
    return bar.data() ? bar.select(0, b) : View<T, 2>{};
  };
  for (index_t b = 0; b < batch; ++b) {
    pull_back(m, b, conjugated, columns.select(0, b), y_bar.select(0, b), one(m_bar.u, b),
              one(m_bar.v, b), one(x_bar, b));
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                           \
  template STRUCTMAT_EXPORT void apply_vjp<T>(const exec::cpu&, const LowRankView<T>&, Op, \
                                              View<const T, 3>, View<const T, 3>,          \
                                              const LowRankCotangent<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
