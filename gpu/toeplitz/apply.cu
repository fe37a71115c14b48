#include "structmat/toeplitz/apply.hpp"

#include "core/instantiate.hpp"
#include "core/workspace.cuh"
#include "toeplitz/apply_direct.cuh"

namespace structmat {
namespace {

template <Scalar T>
void multiply(const char* operation, const exec::cuda& e, const toeplitz::DeviceMatrix<T>& m, Op op,
              View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  const bool direct = op == Op::none;
  const index_t batch = detail::check_operands(operation, m.batch(), direct ? m.rows : m.cols,
                                               direct ? m.cols : m.rows, x, y);
  gpu::require_writable(operation, y, "y");
  x = x.broadcast(0, batch);
  if (m.hankel) {
    // H = T J, H^T = J T^T.
    if (direct)
      x = x.reversed(1);
    else
      y = y.reversed(1);
  }
  toeplitz::apply_direct<T>(operation, e, m, toeplitz::action_of(op), x, y, false);
}

}  // namespace

template <Scalar T>
void apply(const exec::cuda& e, const ToeplitzView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  constexpr auto operation = "toeplitz::apply";
  multiply<T>(operation, e, toeplitz::device_matrix(m, operation), op, x, y);
}
template <Scalar T>
void apply(const exec::cuda& e, const HankelView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  constexpr auto operation = "hankel::apply";
  multiply<T>(operation, e, toeplitz::device_matrix(m, operation), op, x, y);
}
template <Scalar T>
void apply(const exec::cuda& e, const CirculantView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  constexpr auto operation = "circulant::apply";
  multiply<T>(operation, e, toeplitz::device_matrix(m, operation), op, x, y);
}
template <Scalar T>
void apply(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  constexpr auto operation = "skew_circulant::apply";
  multiply<T>(operation, e, toeplitz::device_matrix(m, operation), op, x, y);
}

#define STRUCTMAT_INSTANTIATE_FAMILY(T, M)                                              \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const M<T, space::cuda>&, Op, \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                 \
  STRUCTMAT_INSTANTIATE_FAMILY(T, ToeplitzView)  \
  STRUCTMAT_INSTANTIATE_FAMILY(T, HankelView)    \
  STRUCTMAT_INSTANTIATE_FAMILY(T, CirculantView) \
  STRUCTMAT_INSTANTIATE_FAMILY(T, SkewCirculantView)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
