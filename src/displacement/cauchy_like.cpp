// Cauchy-like matrices: X_ij = (sum_l g_il h_jl) / (s_i - t_j).
#include <algorithm>
#include <numeric>
#include <string>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "displacement/core.hpp"
#include "structmat/cauchy/apply.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
class CauchyLikeCore final : public Core<T> {
 public:
  explicit CauchyLikeCore(Generators<T> x) : Core<T>(std::move(x)) { refuse_coincidence(); }

  void apply(const exec::cpu& e, bool transposed, View<const T, 2> x, View<T, 2> y) const override {
    const index_t m = rows(), n = cols(), r = order();
    const CauchyLikeView<T> view{View<const T, 2>(s().data(), {1, m}),
                                 View<const T, 2>(t().data(), {1, n}),
                                 View<const T, 3>(this->x_.g.data(), {1, m, r}),
                                 View<const T, 3>(this->x_.h.data(), {1, n, r})};
    structmat::apply(e, view, transposed ? Op::transpose : Op::none, as_batch(x), as_batch(y));
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

  void refuse_coincidence() const {
    const auto before = [](const T& a, const T& b) {
      return std::pair(std::real(a), std::imag(a)) < std::pair(std::real(b), std::imag(b));
    };
    std::vector<index_t> order_of(cols());
    std::iota(order_of.begin(), order_of.end(), index_t(0));
    std::sort(order_of.begin(), order_of.end(),
              [&](index_t a, index_t b) { return before(t()[a], t()[b]); });
    for (index_t i = 0; i < rows(); ++i) {
      const auto found = std::lower_bound(order_of.begin(), order_of.end(), s()[i],
                                          [&](index_t j, const T& v) { return before(t()[j], v); });
      if (found != order_of.end() && t()[*found] == s()[i]) {
        throw DomainError("displacement::Plan: s_" + std::to_string(i) + " equals t_" +
                          std::to_string(*found) + ": the generators do not determine that entry");
      }
    }
  }
};

}  // namespace

template <Scalar T>
std::unique_ptr<const Core<T>> make_cauchy_like(Generators<T> x) {
  return std::make_unique<CauchyLikeCore<T>>(std::move(x));
}

#define STRUCTMAT_INSTANTIATE(T) \
  template std::unique_ptr<const Core<T>> make_cauchy_like<T>(Generators<T>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
