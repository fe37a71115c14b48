#include "structmat/displacement/plan.hpp"

#include <string>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "displacement/core.hpp"
#include "structmat/displacement/algebra.hpp"
#include "structmat/displacement/convert.hpp"

namespace structmat::displacement {

/// X or X^T = [J] core [J].
template <Scalar T>
class Plan<T>::Part {
 public:
  explicit Part(const Generators<T>& given) {
    Generators<T> x = to_sylvester(given);
    // A shift on the left of a diagonal: the transpose has them the other way round.
    transposed_ = x.displacement.left.kind != OperatorKind::diagonal &&
                  x.displacement.right.kind == OperatorKind::diagonal;
    if (transposed_) x = transpose(x);
    flips_rows_ = x.displacement.left.kind == OperatorKind::shift_transposed;
    if (flips_rows_) x = reverse_rows(x);
    flips_cols_ = x.displacement.right.kind == OperatorKind::shift_transposed;
    if (flips_cols_) x = reverse_columns(x);
    const bool left_diagonal = x.displacement.left.kind == OperatorKind::diagonal,
               right_diagonal = x.displacement.right.kind == OperatorKind::diagonal;
    core_ = right_diagonal  ? make_cauchy_like(std::move(x))
            : left_diagonal ? make_vandermonde_like(std::move(x))
                            : make_toeplitz_like(std::move(x));
  }

  /// y := X x or X^T x.
  void apply(const exec::cpu& e, bool transposed, View<const T, 2> x, View<T, 2> y) const {
    const bool across = transposed != transposed_;
    if (across ? flips_rows_ : flips_cols_) x = x.reversed(0);
    if (across ? flips_cols_ : flips_rows_) y = y.reversed(0);
    core_->apply(e, across, x, y);
  }

  T entry(index_t i, index_t j) const {
    if (transposed_) std::swap(i, j);
    return core_->entry(flips_rows_ ? core_->rows() - 1 - i : i,
                        flips_cols_ ? core_->cols() - 1 - j : j);
  }

  void to_dense(View<T, 2> dense) const {
    if (transposed_) dense = dense.transposed();
    if (flips_rows_) dense = dense.reversed(0);
    if (flips_cols_) dense = dense.reversed(1);
    const auto& x = core_->generators();
    if (dense.empty()) return;
    copy(dense::product<T>(Op::none, x.g, Op::transpose, x.h).view(), dense);
    core_->solve_displacement(dense);
  }

 private:
  bool transposed_ = false, flips_rows_ = false, flips_cols_ = false;
  std::unique_ptr<const Core<T>> core_;
};

template <Scalar T>
Plan<T>::Plan(const Generators<T>& x) : rows_(x.rows()), cols_(x.cols()) {
  require_valid("displacement::Plan", x);
  parts_.push_back(std::make_shared<const Part>(x));
}

template <Scalar T>
Plan<T>::Plan(const std::vector<Generators<T>>& batch) {
  const auto shape = [](const Generators<T>& x) {
    return std::to_string(x.rows()) + " x " + std::to_string(x.cols());
  };
  if (!batch.empty()) {
    rows_ = batch[0].rows();
    cols_ = batch[0].cols();
  }
  for (const auto& x : batch) {
    require_valid("displacement::Plan", x);
    if (x.rows() != rows_ || x.cols() != cols_) {
      throw ShapeError("displacement::Plan: the first matrix is " + shape(batch[0]) +
                       ", another one is " + shape(x));
    }
    parts_.push_back(std::make_shared<const Part>(x));
  }
}

template <Scalar T>
void apply(const exec::cpu& e, const Plan<T>& m, Op op, View<const T, 3> x, View<T, 3> y) {
  const bool transposed = op != Op::none;
  const index_t batch = structmat::detail::check_operands("displacement::apply", m.batch(),
                                                          transposed ? m.cols() : m.rows(),
                                                          transposed ? m.rows() : m.cols(), x, y);
  for (index_t b = 0; b < batch; ++b) {
    const auto& part = m.part(m.batch() == 1 ? 0 : b);
    const View<const T, 2> in = x.select(0, x.extent(0) == 1 ? 0 : b);
    const View<T, 2> out = y.select(0, b);
    if (op != Op::adjoint || !is_complex_v<T>) {
      part.apply(e, transposed, in, out);
      continue;
    }
    // X^H x = conj(X^T conj(x))
    Array<T, 2> conjugated_in = to_array(in);
    for (T& v : conjugated_in) v = conjugate(v);
    part.apply(e, true, conjugated_in.view(), out);
    for (index_t i = 0; i < out.extent(0); ++i) {
      for (index_t c = 0; c < out.extent(1); ++c) out(i, c) = conjugate(out(i, c));
    }
  }
}

template <Scalar T>
T entry(const Plan<T>& m, index_t i, index_t j, index_t batch) {
  structmat::detail::require_index("displacement::entry", {m.batch(), m.rows(), m.cols()},
                                   {batch, i, j});
  return m.part(batch).entry(i, j);
}

template <Scalar T>
void to_dense(const Plan<T>& m, View<T, 3> dense) {
  structmat::detail::require_extents<T, 3, space::host>("displacement::to_dense", dense,
                                                        {m.batch(), m.rows(), m.cols()});
  for (index_t b = 0; b < m.batch(); ++b) m.part(b).to_dense(dense.select(0, b));
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template class Plan<T>;                                                                         \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const Plan<T>&, Op, View<const T, 3>, \
                                          View<T, 3>);                                            \
  template STRUCTMAT_EXPORT T entry<T>(const Plan<T>&, index_t, index_t, index_t);                \
  template STRUCTMAT_EXPORT void to_dense<T>(const Plan<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
