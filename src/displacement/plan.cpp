#include "structmat/displacement/plan.hpp"

#include <string>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "displacement/core.hpp"
#include "displacement/reduction.hpp"

namespace structmat::displacement {

template <Scalar T, class Space>
class Plan<T, Space>::Part {
 public:
  Part(const Generators<T>& given, const PlanOptions& options) {
    auto [x, orientation] = reduced(given);
    orientation_ = orientation;
    const bool left_diagonal = x.displacement.left.kind == OperatorKind::diagonal,
               right_diagonal = x.displacement.right.kind == OperatorKind::diagonal;
    core_ = right_diagonal  ? make_cauchy_like(std::move(x), options.tolerance)
            : left_diagonal ? make_vandermonde_like(std::move(x))
                            : make_toeplitz_like(std::move(x));
  }

  /// y := X x or X^T x.
  void apply(const exec::cpu& e, bool transposed, View<const T, 2> x, View<T, 2> y) const {
    if (orientation_.flips_input(transposed)) x = x.reversed(0);
    if (orientation_.flips_output(transposed)) y = y.reversed(0);
    core_->apply(e, orientation_.across(transposed), x, y);
  }

  T entry(index_t i, index_t j) const {
    if (orientation_.transposed) std::swap(i, j);
    return core_->entry(orientation_.flips_rows ? core_->rows() - 1 - i : i,
                        orientation_.flips_cols ? core_->cols() - 1 - j : j);
  }

  void to_dense(View<T, 2> dense) const {
    dense = orientation_.in_core(dense);
    const auto& x = core_->generators();
    if (dense.empty()) return;
    copy(dense::product<T>(Op::none, x.g, Op::transpose, x.h).view(), dense);
    core_->solve_displacement(dense);
  }

 private:
  Orientation orientation_;
  CorePointer<T> core_;
};

template <Scalar T, class Space>
Plan<T, Space>::Plan(const Generators<T>& x, const PlanOptions& options)
    : rows_(x.rows()), cols_(x.cols()) {
  require_valid("displacement::Plan", x);
  parts_.push_back(std::make_shared<const Part>(x, options));
}

template <Scalar T, class Space>
Plan<T, Space>::Plan(const std::vector<Generators<T>>& batch, const PlanOptions& options) {
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
    parts_.push_back(std::make_shared<const Part>(x, options));
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
