#include "structmat/lowrank/apply.hpp"

#include "core/instantiate.hpp"
#include "dense/row_major.hpp"

namespace structmat {

// M^T is the same with U and V exchanged, and M^H x = conj(M^T conj(x)).
template <Scalar T>
void apply(const exec::cpu&, const LowRankView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "lowrank::apply";
  const auto given = op == Op::none ? matrix : matrix.transposed();
  const index_t own = lowrank::checked(given, operation).batch();
  const index_t batch = detail::check_operands(operation, own, given.rows(), given.cols(), x, y);
  const auto m = lowrank::checked(given, operation, batch);
  const bool conjugated = is_complex_v<T> && op == Op::adjoint;

  Array<T, 2> sums({m.order(), x.extent(2)}, uninitialized);
  const auto columns = x.broadcast(0, batch);
  for (index_t b = 0; b < batch; ++b) {
    const dense::RowMajor<T> u(m.u.select(0, b)), v(m.v.select(0, b));
    const dense::RowMajor<T> xb(columns.select(0, b), conjugated);
    dense::multiply<T>(Op::transpose, v.view(), xb.view(), sums.view());
    dense::write_row_major(y.select(0, b), conjugated, [&](const View<T, 2>& yb) {
      dense::multiply<T>(Op::none, u.view(), std::as_const(sums).view(), yb);
    });
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const LowRankView<T>&, Op, \
                                          View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
