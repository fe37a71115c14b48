#include "structmat/toeplitz/plan.hpp"

#include <optional>

#include "core/instantiate.hpp"
#include "core/write_entries.hpp"
#include "toeplitz/apply_direct.hpp"
#include "toeplitz/apply_fourier.hpp"
#include "toeplitz/crossover.hpp"

namespace structmat {

namespace toeplitz {

template <Scalar T>
struct PlanState {
  PlanState(Toeplitz<T> m, bool is_hankel, const PlanOptions& options)
      : matrix(std::move(m)), hankel(is_hankel) {
    const index_t rows = matrix.rows(), cols = matrix.cols();
    if (options.accuracy == Accuracy::componentwise && options.method == Method::fourier) {
      throw DomainError(
          "toeplitz::plan: componentwise accuracy is asked for and transforms, which do not have "
          "it");
    }
    const bool direct = options.accuracy == Accuracy::componentwise ||
                        options.method == Method::direct || rows == 0 || cols == 0 ||
                        (options.method == Method::automatic && direct_is_faster<T>(rows, cols));
    if (!direct) symbol.emplace(matrix.view());
  }

  Toeplitz<T> matrix;
  bool hankel;
  std::optional<BlockSymbol<T>> symbol;
};

namespace {

template <Scalar T>
Toeplitz<T> copied(const ToeplitzView<T>& m) {
  Toeplitz<T> t(m.rows(), m.cols(), m.batch());
  copy(m.lags, t.lags.view());
  return t;
}

template <Scalar T>
std::shared_ptr<const PlanState<T>> make(Toeplitz<T> m, bool is_hankel,
                                         const PlanOptions& options) {
  return std::make_shared<const PlanState<T>>(std::move(m), is_hankel, options);
}

}  // namespace
}  // namespace toeplitz

template <Scalar T, class Space>
ToeplitzPlan<T, Space>::ToeplitzPlan(const ToeplitzView<T>& m, const toeplitz::PlanOptions& options)
    : state_(toeplitz::make(toeplitz::copied(toeplitz::checked(m, "toeplitz::plan")), false,
                            options)) {}

template <Scalar T, class Space>
ToeplitzPlan<T, Space>::ToeplitzPlan(const HankelView<T>& m, const toeplitz::PlanOptions& options)
    : state_(toeplitz::make(
          toeplitz::copied(toeplitz::from_hankel(hankel::checked(m, "toeplitz::plan"))), true,
          options)) {}

template <Scalar T, class Space>
ToeplitzPlan<T, Space>::ToeplitzPlan(const CirculantView<T>& m,
                                     const toeplitz::PlanOptions& options)
    : state_(toeplitz::make(toeplitz::from_circulant(circulant::checked(m, "toeplitz::plan")),
                            false, options)) {}

template <Scalar T, class Space>
ToeplitzPlan<T, Space>::ToeplitzPlan(const SkewCirculantView<T>& m,
                                     const toeplitz::PlanOptions& options)
    : state_(toeplitz::make(toeplitz::from_circulant(skew_circulant::checked(m, "toeplitz::plan")),
                            false, options)) {}

template <Scalar T, class Space>
index_t ToeplitzPlan<T, Space>::batch() const {
  return state_->matrix.batch();
}
template <Scalar T, class Space>
index_t ToeplitzPlan<T, Space>::rows() const {
  return state_->matrix.rows();
}
template <Scalar T, class Space>
index_t ToeplitzPlan<T, Space>::cols() const {
  return state_->matrix.cols();
}
template <Scalar T, class Space>
toeplitz::Method ToeplitzPlan<T, Space>::method() const {
  return state_->symbol ? toeplitz::Method::fourier : toeplitz::Method::direct;
}
template <Scalar T, class Space>
index_t ToeplitzPlan<T, Space>::block_length() const {
  return state_->symbol ? state_->symbol->length() : 0;
}
template <Scalar T, class Space>
bool ToeplitzPlan<T, Space>::is_hankel() const {
  return state_->hankel;
}
template <Scalar T, class Space>
ToeplitzView<T> ToeplitzPlan<T, Space>::lags() const {
  return state_->matrix.view();
}

template <Scalar T>
void apply(const exec::cpu& e, const ToeplitzPlan<T>& plan, Op op, View<const T, 3> x,
           View<T, 3> y) {
  const bool direct = op == Op::none;
  const index_t m = plan.rows(), n = plan.cols();
  const index_t batch =
      detail::check_operands("toeplitz::apply", plan.batch(), direct ? m : n, direct ? n : m, x, y);
  x = x.broadcast(0, batch);
  if (plan.is_hankel()) {
    // H = T J, H^T = J T^T.
    if (direct) {
      x = x.reversed(1);
    } else {
      y = y.reversed(1);
    }
  }
  if (plan.state().symbol) return plan.state().symbol->apply(e, op, x, y);
  const auto t = plan.lags();
  toeplitz::apply_direct<T>(e, {t.lags.broadcast(0, batch), m, n}, op, x, y);
}

template <Scalar T>
T entry(const ToeplitzPlan<T>& plan, index_t i, index_t j, index_t batch) {
  detail::require_index("toeplitz::entry", {plan.batch(), plan.rows(), plan.cols()}, {batch, i, j});
  return entry(plan.lags(), i, plan.is_hankel() ? plan.cols() - 1 - j : j, batch);
}

template <Scalar T>
void to_dense(const ToeplitzPlan<T>& plan, View<T, 3> dense) {
  to_dense(plan.lags(), plan.is_hankel() ? dense.reversed(2) : dense);
}

#define STRUCTMAT_INSTANTIATE(T)                                                        \
  template class ToeplitzPlan<T>;                                                       \
  template STRUCTMAT_EXPORT void apply(const exec::cpu&, const ToeplitzPlan<T>&, Op,    \
                                       View<const T, 3>, View<T, 3>);                   \
  template STRUCTMAT_EXPORT T entry(const ToeplitzPlan<T>&, index_t, index_t, index_t); \
  template STRUCTMAT_EXPORT void to_dense(const ToeplitzPlan<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
