/// \file
/// AnyOperator: any linear operator behind one type, and compositions of them.
///
///   AnyOperator<double> a = Q, b = S;
///   auto c = 2.0 * a + transposed(b) * a;      // nothing is computed until c.apply
///
/// Compositions keep their parts (shared, immutable) and apply them in turn: the cost is the sum of
/// the costs, plus one intermediate of rows x k for a sum or a product.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/concepts.hpp"
#include "structmat/core/op.hpp"
#include "structmat/core/operand.hpp"

namespace structmat {

template <Scalar T>
class AnyOperator;

namespace detail {

template <Scalar T>
struct OperatorModel {
  virtual ~OperatorModel() = default;
  virtual index_t rows() const = 0;
  virtual index_t cols() const = 0;
  /// y := op(A) x; shapes are right and x and y do not overlap.
  virtual void apply(Op op, View<const T, 2> x, View<T, 2> y) const = 0;
};

template <Scalar T>
Array<T, 2> conjugated(const View<const T, 2>& x) {
  Array<T, 2> c = to_array(x);
  for (T& v : c) v = conjugate(v);
  return c;
}

/// y := A^T x where only A^H x is offered: conj(A^H conj(x)).
template <class A, Scalar T>
void transpose_through_adjoint(const A& a, const View<const T, 2>& x, const View<T, 2>& y) {
  const Array<T, 2> c = conjugated(x);
  a.apply_adjoint(c.view(), y);
  for (index_t i = 0; i < y.extent(0); ++i) {
    for (index_t j = 0; j < y.extent(1); ++j) y(i, j) = conjugate(y(i, j));
  }
}

template <LinearOperator A>
class WrappedOperator final : public OperatorModel<typename A::value_type> {
 public:
  using T = typename A::value_type;
  explicit WrappedOperator(A a) : a_(std::move(a)) {}

  index_t rows() const override { return a_.rows(); }
  index_t cols() const override { return a_.cols(); }
  void apply(Op op, View<const T, 2> x, View<T, 2> y) const override {
    if (op == Op::none) return a_.apply(x, y);
    if (op == Op::adjoint || !is_complex_v<T>) return a_.apply_adjoint(x, y);
    if constexpr (requires { a_.apply_transpose(x, y); }) {
      a_.apply_transpose(x, y);
    } else {
      transpose_through_adjoint<A, T>(a_, x, y);
    }
  }

 private:
  A a_;
};

}  // namespace detail

/// A linear operator of any type with scalar T.
template <Scalar T>
class AnyOperator {
 public:
  using value_type = T;
  using Model = detail::OperatorModel<T>;

  /// Takes the operator by value: move a large matrix in.
  template <LinearOperator A>
  requires(std::same_as<typename A::value_type, T> && !std::same_as<A, AnyOperator>)
      AnyOperator(A a)
      : model_(std::make_shared<detail::WrappedOperator<A>>(std::move(a))) {}
  explicit AnyOperator(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  index_t rows() const { return model_->rows(); }
  index_t cols() const { return model_->cols(); }

  /// y := op(A) x; x: (cols, k) in, y: (rows, k) out (exchanged for the transpose), no overlap.
  /// Throws ShapeError, DomainError, and what the operator throws.
  void apply(Op op, View<const T, 2> x, View<T, 2> y) const {
    const index_t m = op == Op::none ? rows() : cols(), n = op == Op::none ? cols() : rows();
    detail::check_operands("any_operator::apply", 1, m, n, as_batch(x), as_batch(y));
    model_->apply(op, x, y);
  }
  void apply(View<const T, 2> x, View<T, 2> y) const { apply(Op::none, x, y); }
  void apply_transpose(View<const T, 2> x, View<T, 2> y) const { apply(Op::transpose, x, y); }
  void apply_adjoint(View<const T, 2> x, View<T, 2> y) const { apply(Op::adjoint, x, y); }

  const std::shared_ptr<const Model>& model() const { return model_; }

 private:
  std::shared_ptr<const Model> model_;
};

namespace detail {

template <Scalar T>
std::string shape_text(const AnyOperator<T>& a) {
  return std::to_string(a.rows()) + " x " + std::to_string(a.cols());
}

/// alpha A + beta B
template <Scalar T>
class SumOperator final : public OperatorModel<T> {
 public:
  SumOperator(T alpha, AnyOperator<T> a, T beta, AnyOperator<T> b)
      : alpha_(alpha), beta_(beta), a_(std::move(a)), b_(std::move(b)) {
    if (a_.rows() != b_.rows() || a_.cols() != b_.cols()) {
      throw ShapeError("any_operator::sum: the left operator is " + shape_text(a_) +
                       ", the right one " + shape_text(b_));
    }
  }
  index_t rows() const override { return a_.rows(); }
  index_t cols() const override { return a_.cols(); }
  void apply(Op op, View<const T, 2> x, View<T, 2> y) const override {
    const auto factor = [op](T v) { return op == Op::adjoint ? conjugate(v) : v; };
    Array<T, 2> other(y.extents(), uninitialized);
    a_.apply(op, x, y);
    b_.apply(op, x, other.view());
    for (index_t i = 0; i < y.extent(0); ++i) {
      for (index_t j = 0; j < y.extent(1); ++j) {
        y(i, j) = factor(alpha_) * y(i, j) + factor(beta_) * other(i, j);
      }
    }
  }

 private:
  T alpha_, beta_;
  AnyOperator<T> a_, b_;
};

template <Scalar T>
class ScaledOperator final : public OperatorModel<T> {
 public:
  ScaledOperator(T alpha, AnyOperator<T> a) : alpha_(alpha), a_(std::move(a)) {}
  index_t rows() const override { return a_.rows(); }
  index_t cols() const override { return a_.cols(); }
  void apply(Op op, View<const T, 2> x, View<T, 2> y) const override {
    const T factor = op == Op::adjoint ? conjugate(alpha_) : alpha_;
    a_.apply(op, x, y);
    for (index_t i = 0; i < y.extent(0); ++i) {
      for (index_t j = 0; j < y.extent(1); ++j) y(i, j) *= factor;
    }
  }

 private:
  T alpha_;
  AnyOperator<T> a_;
};

template <Scalar T>
class ProductOperator final : public OperatorModel<T> {
 public:
  ProductOperator(AnyOperator<T> a, AnyOperator<T> b) : a_(std::move(a)), b_(std::move(b)) {
    if (a_.cols() != b_.rows()) {
      throw ShapeError("any_operator::product: the left operator is " + shape_text(a_) +
                       ", the right one " + shape_text(b_));
    }
  }
  index_t rows() const override { return a_.rows(); }
  index_t cols() const override { return b_.cols(); }
  void apply(Op op, View<const T, 2> x, View<T, 2> y) const override {
    Array<T, 2> between({a_.cols(), x.extent(1)}, uninitialized);
    const AnyOperator<T>&first = op == Op::none ? b_ : a_, &second = op == Op::none ? a_ : b_;
    first.apply(op, x, between.view());
    second.apply(op, between.view(), y);
  }

 private:
  AnyOperator<T> a_, b_;
};

/// A^T or A^H
template <Scalar T>
class TransposedOperator final : public OperatorModel<T> {
 public:
  TransposedOperator(Op kind, AnyOperator<T> a) : kind_(kind), a_(std::move(a)) {}
  index_t rows() const override { return a_.cols(); }
  index_t cols() const override { return a_.rows(); }
  void apply(Op op, View<const T, 2> x, View<T, 2> y) const override {
    if (op == Op::none) return a_.apply(kind_, x, y);
    if (op == kind_) return a_.apply(Op::none, x, y);
    // (A^T)^H = (A^H)^T = conj(A)
    const Array<T, 2> c = conjugated(x);
    a_.apply(Op::none, c.view(), y);
    for (index_t i = 0; i < y.extent(0); ++i) {
      for (index_t j = 0; j < y.extent(1); ++j) y(i, j) = conjugate(y(i, j));
    }
  }

 private:
  Op kind_;
  AnyOperator<T> a_;
};

template <Scalar T>
class BlockDiagonalOperator final : public OperatorModel<T> {
 public:
  explicit BlockDiagonalOperator(std::vector<AnyOperator<T>> blocks) : blocks_(std::move(blocks)) {
    for (const auto& b : blocks_) {
      rows_ += b.rows();
      cols_ += b.cols();
    }
  }
  index_t rows() const override { return rows_; }
  index_t cols() const override { return cols_; }
  void apply(Op op, View<const T, 2> x, View<T, 2> y) const override {
    index_t from = 0, to = 0;
    for (const auto& b : blocks_) {
      const index_t m = op == Op::none ? b.rows() : b.cols(),
                    n = op == Op::none ? b.cols() : b.rows();
      b.apply(op, x.slice(0, from, from + n), y.slice(0, to, to + m));
      from += n;
      to += m;
    }
  }

 private:
  std::vector<AnyOperator<T>> blocks_;
  index_t rows_ = 0, cols_ = 0;
};

}  // namespace detail

/// A + B. Throws ShapeError, as all compositions.
template <Scalar T>
AnyOperator<T> operator+(const AnyOperator<T>& a, const AnyOperator<T>& b) {
  return AnyOperator<T>(std::make_shared<detail::SumOperator<T>>(T{1}, a, T{1}, b));
}

/// A - B.
template <Scalar T>
AnyOperator<T> operator-(const AnyOperator<T>& a, const AnyOperator<T>& b) {
  return AnyOperator<T>(std::make_shared<detail::SumOperator<T>>(T{1}, a, T{-1}, b));
}

/// A B: apply B, then A.
template <Scalar T>
AnyOperator<T> operator*(const AnyOperator<T>& a, const AnyOperator<T>& b) {
  return AnyOperator<T>(std::make_shared<detail::ProductOperator<T>>(a, b));
}

/// alpha A.
template <Scalar T>
AnyOperator<T> operator*(std::type_identity_t<T> alpha, const AnyOperator<T>& a) {
  return AnyOperator<T>(std::make_shared<detail::ScaledOperator<T>>(alpha, a));
}

/// A x as a new array.
template <Scalar T>
Array<T, 2> operator*(const AnyOperator<T>& a, const Array<T, 2>& x) {
  Array<T, 2> y({a.rows(), x.extent(1)}, uninitialized);
  a.apply(x.view(), y.view());
  return y;
}

/// A^T.
template <Scalar T>
AnyOperator<T> transposed(const AnyOperator<T>& a) {
  return AnyOperator<T>(std::make_shared<detail::TransposedOperator<T>>(Op::transpose, a));
}

/// A^H.
template <Scalar T>
AnyOperator<T> adjoint(const AnyOperator<T>& a) {
  return AnyOperator<T>(std::make_shared<detail::TransposedOperator<T>>(Op::adjoint, a));
}

/// diag(A_1, A_2, ...); the blocks need not be square.
template <Scalar T>
AnyOperator<T> block_diagonal(std::vector<AnyOperator<T>> blocks) {
  return AnyOperator<T>(std::make_shared<detail::BlockDiagonalOperator<T>>(std::move(blocks)));
}

}  // namespace structmat
