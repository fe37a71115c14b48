#include "structmat/toeplitz/apply.hpp"

#include "core/instantiate.hpp"
#include "toeplitz/apply_direct.hpp"
#include "toeplitz/apply_fourier.hpp"
#include "toeplitz/crossover.hpp"

namespace structmat {
namespace {

template <Scalar T>
void multiply(const exec::cpu& e, const ToeplitzView<T>& m, Op op, const View<const T, 3>& x,
              const View<T, 3>& y) {
  if (toeplitz::direct_is_faster<T>(m.rows(), m.cols(), x.extent(2))) {
    const index_t batch = y.extent(0);
    return toeplitz::apply_direct<T>(e, {m.lags.broadcast(0, batch), m.rows(), m.cols()}, op, x, y);
  }
  toeplitz::BlockSymbol<T>(m, e).apply(e, op, x, y);
}

/// Checks y := op(A) x; returns x broadcast to the batch of y.
template <class M, Scalar T>
View<const T, 3> checked_operand(const char* operation, const M& m, Op op,
                                 const View<const T, 3>& x, const View<T, 3>& y) {
  const bool direct = op == Op::none;
  const index_t batch = detail::check_operands(operation, m.batch(), direct ? m.rows() : m.cols(),
                                               direct ? m.cols() : m.rows(), x, y);
  return x.broadcast(0, batch);
}

}  // namespace

template <Scalar T>
void apply(const exec::cpu& e, const ToeplitzView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "toeplitz::apply";
  const auto m = toeplitz::checked(matrix, operation);
  multiply(e, m, op, checked_operand(operation, m, op, x, y), y);
}

template <Scalar T>
void apply(const exec::cpu& e, const HankelView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "hankel::apply";
  const auto m = hankel::checked(matrix, operation);
  const auto operand = checked_operand(operation, m, op, x, y);
  // H = T J, H^T = J T^T.
  const bool direct = op == Op::none;
  multiply(e, toeplitz::from_hankel(m), op, direct ? operand.reversed(1) : operand,
           direct ? y : y.reversed(1));
}

template <Scalar T>
void apply(const exec::cpu& e, const CirculantView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "circulant::apply";
  const auto m = circulant::checked(matrix, operation);
  const auto operand = checked_operand(operation, m, op, x, y);
  multiply(e, toeplitz::from_circulant(m).view(), op, operand, y);
}

template <Scalar T>
void apply(const exec::cpu& e, const SkewCirculantView<T>& matrix, Op op, View<const T, 3> x,
           View<T, 3> y) {
  constexpr auto operation = "skew_circulant::apply";
  const auto m = skew_circulant::checked(matrix, operation);
  const auto operand = checked_operand(operation, m, op, x, y);
  multiply(e, toeplitz::from_circulant(m).view(), op, operand, y);
}

#define STRUCTMAT_INSTANTIATE(T)                                                          \
  template STRUCTMAT_EXPORT void apply(const exec::cpu&, const ToeplitzView<T>&, Op,      \
                                       View<const T, 3>, View<T, 3>);                     \
  template STRUCTMAT_EXPORT void apply(const exec::cpu&, const HankelView<T>&, Op,        \
                                       View<const T, 3>, View<T, 3>);                     \
  template STRUCTMAT_EXPORT void apply(const exec::cpu&, const CirculantView<T>&, Op,     \
                                       View<const T, 3>, View<T, 3>);                     \
  template STRUCTMAT_EXPORT void apply(const exec::cpu&, const SkewCirculantView<T>&, Op, \
                                       View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
