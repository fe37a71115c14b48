#include "structmat/vandermonde/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "structmat/vandermonde/apply.hpp"

namespace structmat {

namespace {

/// What both kinds of matrices share: shapes, overlaps, the cotangent of x.
template <class V, class T>
class Reverse {
 public:
  Reverse(const char* operation, const exec::cpu& e, const V& matrix, Op op,
          const View<const T, 3>& in, const View<const T, 3>& out_bar, const View<T, 2>& node_bar,
          const View<T, 3>& x_bar)
      : e_(e), op_(op) {
    const index_t own = vandermonde::checked(matrix, operation).batch();
    const bool plain = op == Op::none;
    const index_t rows = plain ? matrix.rows() : matrix.cols();
    const index_t cols = plain ? matrix.cols() : matrix.rows();
    require(operation, "x", in.extent(1), cols);
    require(operation, "y_bar", out_bar.extent(1), rows);
    require(operation, "columns of y_bar", out_bar.extent(2), in.extent(2));
    batch_ = own == 1 ? in.extent(0) : own;
    if (in.extent(0) != 1) require(operation, "batch of x", in.extent(0), batch_);
    require(operation, "batch of y_bar", out_bar.extent(0), batch_);
    m = vandermonde::checked(matrix, operation, batch_);
    x = in.broadcast(0, batch_);
    y_bar = out_bar;
    if (node_bar.data() != nullptr) {
      require(operation, "node_bar", node_bar.extent(1), nodes());
      if (node_bar.extent(0) != 1) {
        require(operation, "batch of node_bar", node_bar.extent(0), batch_);
      }
      refuse_overlap(operation, "node_bar", node_bar, in, out_bar);
    }
    if (x_bar.data() != nullptr) {
      require(operation, "x_bar", x_bar.extent(1), cols);
      require(operation, "columns of x_bar", x_bar.extent(2), in.extent(2));
      if (x_bar.extent(0) != 1) require(operation, "batch of x_bar", x_bar.extent(0), batch_);
      refuse_overlap(operation, "x_bar", x_bar, in, out_bar);
      if (node_bar.data() != nullptr && overlaps(node_bar, x_bar)) {
        throw DomainError(std::string(operation) + ": node_bar and x_bar overlap in memory");
      }
    }
  }

  index_t batch() const { return batch_; }
  /// Nodes, or poles.
  index_t nodes() const {
    if constexpr (std::same_as<V, VandermondeView<T>>) {
      return m.rows();
    } else {
      return m.cols();
    }
  }

  /// x_bar += op(A)^H y_bar. (A^T)^H = conj(A) by two conjugations.
  void operand(const View<T, 3>& x_bar) const {
    if (x_bar.data() == nullptr) return;
    Array<T, 3> sum({batch_, x.extent(1), x.extent(2)}, uninitialized);
    if (op_ == Op::transpose) {
      const auto conjugated = map(y_bar, [](const T& v, index_t) { return conjugate(v); });
      structmat::apply(e_, m, Op::none, View<const T, 3>(conjugated.view()), sum.view());
      for (T& v : sum) v = conjugate(v);
    } else {
      structmat::apply(e_, m, op_ == Op::none ? Op::adjoint : Op::none, y_bar, sum.view());
    }
    for (index_t b = 0; b < batch_; ++b) {
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
    for (index_t b = 0; b < batch_; ++b) {
      for (index_t i = 0; i < nodes(); ++i) {
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

  V m;
  View<const T, 3> x, y_bar;

 private:
  static void require(const char* operation, const char* what, index_t got, index_t expected) {
    if (got == expected) return;
    throw ShapeError(std::string(operation) + ": " + what + " has extent " + std::to_string(got) +
                     ", expected " + std::to_string(expected));
  }
  template <class Bar>
  static void refuse_overlap(const char* operation, const char* what, const Bar& bar,
                             const View<const T, 3>& in, const View<const T, 3>& out_bar) {
    if (overlaps(View<const T, Bar::rank>(bar), in) ||
        overlaps(View<const T, Bar::rank>(bar), out_bar)) {
      throw DomainError(std::string(operation) + ": " + what + " overlaps an input in memory");
    }
  }

  exec::cpu e_;
  Op op_;
  index_t batch_ = 0;
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
  Array<T, 3> slopes({reverse.batch(), reverse.nodes(), x.extent(2)}, uninitialized);
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
  Array<T, 3> slopes({reverse.batch(), reverse.nodes(), x.extent(2)}, uninitialized);
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
