#include "structmat/vandermonde/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "vandermonde/vjp_operands.hpp"

namespace structmat {

namespace {

/// What both kinds of matrices share: the cotangent of x, and sums over columns.
template <class V, class T>
class Reverse : public vandermonde::VjpOperands<V, T, T, space::host> {
  using Operands = vandermonde::VjpOperands<V, T, T, space::host>;

 public:
  using Operands::batch, Operands::nodes, Operands::m, Operands::x, Operands::y_bar;

  Reverse(const char* operation, const exec::cpu& e, const V& matrix, Op op,
          const View<const T, 3>& in, const View<const T, 3>& out_bar, const View<T, 2>& node_bar,
          const View<T, 3>& x_bar)
      : Operands(operation, matrix, op, in, out_bar, node_bar, x_bar), e_(e), op_(op) {}

  /// x_bar += op(A)^H y_bar. (A^T)^H = conj(A) by two conjugations.
  void operand(const View<T, 3>& x_bar) const {
    if (x_bar.data() == nullptr) return;
    Array<T, 3> sum({batch, x.extent(1), x.extent(2)}, uninitialized);
    if (op_ == Op::transpose) {
      const auto conjugated = map(y_bar, [](const T& v, index_t) { return conjugate(v); });
      structmat::apply(e_, m, Op::none, View<const T, 3>(conjugated.view()), sum.view());
      for (T& v : sum) v = conjugate(v);
    } else {
      structmat::apply(e_, m, op_ == Op::none ? Op::adjoint : Op::none, y_bar, sum.view());
    }
    for (index_t b = 0; b < batch; ++b) {
      for (index_t i = 0; i < sum.extent(1); ++i) {
        for (index_t c = 0; c < sum.extent(2); ++c) {
          x_bar(x_bar.extent(0) == 1 ? 0 : b, i, c) += sum(b, i, c);
        }
      }
    }
  }

  /// node_bar_i += sum over columns of f(weight, slope), both at node i.
  template <class F>
  void accumulate(const View<T, 2>& node_bar, const View<const T, 3>& weights,
                  const Array<T, 3>& slopes, const F& f) const {
    for (index_t b = 0; b < batch; ++b) {
      for (index_t i = 0; i < nodes; ++i) {
        T sum{};
        for (index_t c = 0; c < slopes.extent(2); ++c) sum += f(weights(b, i, c), slopes(b, i, c));
        node_bar(node_bar.extent(0) == 1 ? 0 : b, i) += sum;
      }
    }
  }

  /// f(value, row) of each element.
  template <class F>
  static Array<T, 3> map(const View<const T, 3>& from, const F& f) {
    Array<T, 3> to(from.extents(), uninitialized);
    for (index_t b = 0; b < from.extent(0); ++b) {
      for (index_t i = 0; i < from.extent(1); ++i) {
        for (index_t c = 0; c < from.extent(2); ++c) to(b, i, c) = f(from(b, i, c), i);
      }
    }
    return to;
  }

 private:
  exec::cpu e_;
  Op op_;
};

/// c_1, 2 c_2, ...: coefficients of the derivative; one row fewer.
template <Scalar T>
Array<T, 3> derivative(const View<const T, 3>& c, bool conjugated) {
  return Reverse<VandermondeView<T>, T>::map(
      c.slice(1, 1, c.extent(1)),
      [&](const T& v, index_t j) { return real_t<T>(j + 1) * (conjugated ? conjugate(v) : v); });
}

}  // namespace

template <Scalar T>
void apply_vjp(const exec::cpu& e, const VandermondeView<T>& matrix, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> node_bar, View<T, 3> x_bar) {
  const Reverse<VandermondeView<T>, T> reverse("vandermonde::apply_vjp", e, matrix, op, x, y_bar,
                                               node_bar, x_bar);
  reverse.operand(x_bar);
  if (node_bar.data() == nullptr || matrix.cols() < 2) return;
  // The polynomial whose derivative is wanted has the coefficients x, or (transposed) y_bar; the
  // other operand weights the nodes.
  const bool plain = op == Op::none;
  const auto coefficients = derivative<T>(plain ? reverse.x : reverse.y_bar, op == Op::transpose);
  Array<T, 3> slopes({reverse.batch, reverse.nodes, x.extent(2)}, uninitialized);
  const VandermondeView<T> shorter{reverse.m.x, matrix.cols() - 1};
  apply(e, shorter, Op::none, View<const T, 3>(coefficients.view()), slopes.view());
  const View<const T, 3> weights = plain ? reverse.y_bar : reverse.x;
  if (op == Op::transpose) {
    reverse.accumulate(node_bar, weights, slopes,
                       [](const T& f, const T& s) { return conjugate(product(f, s)); });
  } else {
    reverse.accumulate(node_bar, weights, slopes,
                       [](const T& f, const T& s) { return conjugate_product(s, f); });
  }
}

template <Scalar T>
void apply_vjp(const exec::cpu& e, const LogVandermondeView<T>& matrix, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> a_bar, View<T, 3> x_bar) {
  const Reverse<LogVandermondeView<T>, T> reverse("vandermonde::apply_vjp", e, matrix, op, x, y_bar,
                                                  a_bar, x_bar);
  reverse.operand(x_bar);
  if (a_bar.data() == nullptr) return;
  // sum_l conj(exp(l a_k)) l f_l, where f is on the side of the lags; the other operand weights.
  const bool plain = op == Op::none;
  const auto weighted = reverse.map(plain ? reverse.y_bar : reverse.x, [&](const T& v, index_t l) {
    return real_t<T>(l) * (op == Op::transpose ? conjugate(v) : v);
  });
  Array<T, 3> slopes({reverse.batch, reverse.nodes, x.extent(2)}, uninitialized);
  apply(e, reverse.m, Op::adjoint, View<const T, 3>(weighted.view()), slopes.view());
  if (op == Op::transpose) {
    reverse.accumulate(a_bar, reverse.y_bar, slopes,
                       [](const T& w, const T& s) { return product(w, s); });
  } else {
    reverse.accumulate(a_bar, plain ? reverse.x : reverse.y_bar, slopes,
                       [](const T& w, const T& s) { return conjugate_product(w, s); });
  }
}

template <Scalar T>
void solve_vjp(const exec::cpu& e, const VandermondeView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> b_bar, View<T, 2> node_bar) {
  const auto y_bar =
      Reverse<VandermondeView<T>, T>::map(b_bar, [](const T& v, index_t) { return -v; });
  apply_vjp(e, m, op, x, View<const T, 3>(y_bar.view()), node_bar, View<T, 3>());
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                           \
  template STRUCTMAT_EXPORT void apply_vjp<T>(const exec::cpu&, const V<T>&, Op, View<const T, 3>, \
                                              View<const T, 3>, View<T, 2>, View<T, 3>);
#define STRUCTMAT_INSTANTIATE(T)                                                               \
  STRUCTMAT_INSTANTIATE_VIEW(VandermondeView, T)                                               \
  STRUCTMAT_INSTANTIATE_VIEW(LogVandermondeView, T)                                            \
  template STRUCTMAT_EXPORT void solve_vjp<T>(const exec::cpu&, const VandermondeView<T>&, Op, \
                                              View<const T, 3>, View<const T, 3>, View<T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
