#include "butterfly/monarch_stages.hpp"
#include "core/instantiate.hpp"
#include "structmat/butterfly/apply.hpp"

namespace structmat {

template <Scalar T>
void apply(const exec::cpu&, const MonarchView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "monarch::apply";
  const auto given = monarch::checked(matrix, operation);
  const index_t out = op == Op::none ? given.rows() : given.cols();
  const index_t in = op == Op::none ? given.cols() : given.rows();
  const index_t batch = detail::check_operands(operation, given.batch(), out, in, x, y);
  const auto m = monarch::checked(matrix, operation, batch);

  Array<T, 2> between({m.w1.extent(1) * m.w1.extent(2), x.extent(2)}, uninitialized);
  const View<const T, 2> t = std::as_const(between).view();
  const auto columns = x.broadcast(0, batch);
  for (index_t b = 0; b < batch; ++b) {
    const dense::RowMajor<T, 3> w1(m.w1.select(0, b)), w2(m.w2.select(0, b));
    const dense::RowMajor<T> xb(columns.select(0, b));
    dense::write_row_major(y.select(0, b), false, [&](const View<T, 2>& yb) {
      if (op == Op::none) {
        monarch::first_half<T>(op, w1.view(), xb.view(), between.view());
        monarch::second_half<T>(op, w2.view(), t, yb);
      } else {
        monarch::second_half<T>(op, w2.view(), xb.view(), between.view());
        monarch::first_half<T>(op, w1.view(), t, yb);
      }
    });
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const MonarchView<T>&, Op, \
                                          View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
