// Cauchy-like matrices: X_ij = (sum_l g_il h_jl) / (s_i - t_j).
#include <algorithm>
#include <numeric>
#include <string>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"
#include "displacement/core.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
class CauchyLikeCore final : public Core<T> {
 public:
  explicit CauchyLikeCore(Generators<T> x) : Core<T>(std::move(x)) { refuse_coincidence(); }

  void apply(const exec::cpu& e, bool transposed, View<const T, 2> x, View<T, 2> y) const override {
    const index_t k = x.extent(1);
    const int team = team_for(e.threads, k * rows() * cols() * (order() + 4));
    parallel_for(team, y.extent(0), [&](index_t i) {
      for (index_t c = 0; c < k; ++c) {
        T sum{};
        for (index_t j = 0; j < x.extent(0); ++j) {
          sum += product(transposed ? at(j, i) : at(i, j), x(j, c));
        }
        y(i, c) = sum;
      }
    });
  }

  T entry(index_t i, index_t j) const override { return at(i, j); }

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

  T at(index_t i, index_t j) const {
    const T *g = this->x_.g.data() + i * order(), *h = this->x_.h.data() + j * order();
    T sum{};
    for (index_t l = 0; l < order(); ++l) sum += product(g[l], h[l]);
    return sum / (s()[i] - t()[j]);
  }

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
