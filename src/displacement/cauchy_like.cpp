// Cauchy-like matrices: X_ij = (sum_l g_il h_jl) / (s_i - t_j).
#include <optional>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "displacement/core.hpp"
#include "displacement/reduction.hpp"
#include "structmat/cauchy/plan.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
class CauchyLikeCore final : public Core<T> {
 public:
  CauchyLikeCore(Generators<T> x, double tolerance) : Core<T>(std::move(x)) {
    refuse_coincidence(this->x_.displacement);
    const index_t m = rows(), n = cols(), r = order();
    const CauchyLikeView<T> view{View<const T, 2>(s().data(), {1, m}),
                                 View<const T, 2>(t().data(), {1, n}),
                                 View<const T, 3>(this->x_.g.data(), {1, m, r}),
                                 View<const T, 3>(this->x_.h.data(), {1, n, r})};
    plan_.emplace(view, cauchy::PlanOptions{.tolerance = tolerance});
  }

  void apply(const exec::cpu& e, bool transposed, View<const T, 2> x, View<T, 2> y) const override {
    structmat::apply(e, *plan_, transposed ? Op::transpose : Op::none, as_batch(x), as_batch(y));
  }

  T entry(index_t i, index_t j) const override {
    T sum{};
    for (index_t l = 0; l < order(); ++l) sum += product(this->x_.g(i, l), this->x_.h(j, l));
    return sum / (s()[i] - t()[j]);
  }

  void solve_displacement(View<T, 2> dense) const override {
    for (index_t i = 0; i < rows(); ++i) {
      for (index_t j = 0; j < cols(); ++j) dense(i, j) /= s()[i] - t()[j];
    }
  }

 private:
  using Core<T>::rows;
  using Core<T>::cols;
  using Core<T>::order;
  const std::vector<T>& s() const { return this->x_.displacement.left.x; }
  const std::vector<T>& t() const { return this->x_.displacement.right.x; }

  std::optional<CauchyPlan<T>> plan_;
};

}  // namespace

template <Scalar T>
CorePointer<T> make_cauchy_like(Generators<T> x, double tolerance) {
  return std::make_unique<CauchyLikeCore<T>>(std::move(x), tolerance);
}

#define STRUCTMAT_INSTANTIATE(T) template CorePointer<T> make_cauchy_like<T>(Generators<T>, double);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
