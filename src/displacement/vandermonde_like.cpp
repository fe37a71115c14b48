// Vandermonde-like matrices: X = diag(1 / (x^n - f)) sum_j diag(g_j) V(x) Z_f(J h_j), see
// displacement/plan.hpp.
#include "core/instantiate.hpp"
#include "displacement/core.hpp"
#include "displacement/reduction.hpp"
#include "displacement/ring.hpp"
#include "structmat/vandermonde/apply.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
class VandermondeLike final : public Core<T> {
  using R = real_t<T>;
  using C = std::complex<R>;

 public:
  explicit VandermondeLike(Generators<T> x)
      : Core<T>(std::move(x)), right_(cols(), C(corner())), weights_(rows()), bases_(rows()) {
    for (index_t i = 0; i < rows(); ++i) {
      const WeightedRow<T> row = weighted_row(this->x_, i);
      weights_[i] = row.weight;
      bases_[i] = row.base;
      (row.inside ? inside_ : outside_).push_back(i);
      (row.inside ? inside_bases_ : outside_bases_).push_back(row.base);
    }
    std::vector<C> c(cols()), time(right_.length());
    spectra_.resize(order() * right_.length());
    for (index_t l = 0; l < order(); ++l) {
      for (index_t j = 0; j < cols(); ++j) c[j] = this->x_.h(cols() - 1 - j, l);
      right_.spectrum(c.data(), time.data(), spectra_.data() + l * right_.length());
    }
  }

  void apply(const exec::cpu& e, bool transposed, View<const T, 2> x, View<T, 2> y) const override {
    for (index_t c = 0; c < x.extent(1); ++c) {
      transposed ? apply_transposed(e, x.select(1, c), y.select(1, c))
                 : apply(e, x.select(1, c), y.select(1, c));
    }
  }

  T entry(index_t i, index_t j) const override {
    // sum_k (row i of weights and powers)_k (sum_l g_il Z_f(J h_l)_kj)
    const index_t n = cols();
    T sum{}, p = weights_[i];
    for (index_t s = 0; s < n; ++s, p = product(p, bases_[i])) {
      const index_t k = inside(i) ? s : n - 1 - s, at = k >= j ? n - 1 - (k - j) : j - k - 1;
      T term{};
      for (index_t l = 0; l < order(); ++l) term += product(this->x_.g(i, l), this->x_.h(at, l));
      sum += product(k >= j ? p : product(p, corner()), term);
    }
    return sum;
  }

  void solve_displacement(View<T, 2> dense) const override {
    const index_t n = cols();
    for (index_t i = 0; n > 0 && i < rows(); ++i) {
      const Array<T, 1> image = to_array(dense.select(0, i));
      if (!solve_cycle<T>(
              n, [&](index_t) { return node(i); },
              [&](index_t t) { return t + 1 == n ? corner() : T{1}; },
              [&](index_t t) { return image(t); },
              [&](index_t t, const T& v) { dense(i, t) = v; })) {
        refuse_node(i, n);
      }
    }
  }

 private:
  using Core<T>::rows;
  using Core<T>::cols;
  using Core<T>::order;
  T corner() const { return this->x_.displacement.right.corner; }
  T node(index_t i) const { return this->x_.displacement.left.x[i]; }
  /// Powers of x_i up to the n-th do not overflow; otherwise those of 1 / x_i are used.
  bool inside(index_t i) const { return std::abs(node(i)) <= R(1); }

  /// V(bases of the nodes inside, or of those outside), which meets coefficients in the opposite order
  /// outside.
  VandermondeView<T> powers(bool in) const {
    const auto& b = in ? inside_bases_ : outside_bases_;
    return {View<const T, 2>(b.data(), {1, index_t(b.size())}), cols()};
  }
  static View<T, 3> in_order(bool in, Array<T, 3>& w) {
    return in ? w.view() : w.view().reversed(1);
  }

  /// Columns w_l = Z_f(J h_l) x, then the powers of each node against each column.
  void apply(const exec::cpu& e, View<const T, 1> x, View<T, 1> y) const {
    const index_t n = cols(), r = order(), length = right_.length();
    std::vector<C> input(length), time(length), spectrum(length), column(n);
    Array<T, 3> w({1, n, r});
    for (index_t j = 0; j < n; ++j) column[j] = C(x(j));
    right_.analyse(false, column.data(), time.data(), input.data());
    for (index_t l = 0; l < r; ++l) {
      const C* s = spectra_.data() + l * length;
      for (index_t k = 0; k < length; ++k) spectrum[k] = product(s[k], input[k]);
      right_.synthesise(false, spectrum.data(), time.data(), column.data());
      for (index_t k = 0; k < n; ++k) w(0, k, l) = narrowed(column[k]);
    }
    for (const bool in : {true, false}) {
      const auto& nodes = in ? inside_ : outside_;
      Array<T, 3> values({1, index_t(nodes.size()), r});
      structmat::apply(e, powers(in), Op::none, View<const T, 3>(in_order(in, w)), values.view());
      for (index_t k = 0; k < index_t(nodes.size()); ++k) {
        const index_t i = nodes[k];
        T sum{};
        for (index_t l = 0; l < r; ++l) sum += product(this->x_.g(i, l), values(0, k, l));
        y(i) = product(weights_[i], sum);
      }
    }
  }

  void apply_transposed(const exec::cpu& e, View<const T, 1> x, View<T, 1> y) const {
    const index_t n = cols(), r = order(), length = right_.length();
    Array<T, 3> w({1, n, r}), part({1, n, r});  // columns V^T diag(weights g_l) x
    for (const bool in : {true, false}) {
      const auto& nodes = in ? inside_ : outside_;
      Array<T, 3> values({1, index_t(nodes.size()), r});
      for (index_t k = 0; k < index_t(nodes.size()); ++k) {
        const index_t i = nodes[k];
        const T weighted = product(weights_[i], x(i));
        for (index_t l = 0; l < r; ++l) values(0, k, l) = product(this->x_.g(i, l), weighted);
      }
      structmat::apply(e, powers(in), Op::transpose, View<const T, 3>(values.view()),
                       in_order(in, part));
      for (index_t k = 0; k < w.size(); ++k) w.data()[k] += part.data()[k];
    }
    std::vector<C> sum(length), time(length), spectrum(length), column(n);
    for (index_t l = 0; l < r; ++l) {
      for (index_t k = 0; k < n; ++k) column[k] = C(w(0, k, l));
      right_.analyse(true, column.data(), time.data(), spectrum.data());
      const C* s = spectra_.data() + l * length;
      for (index_t k = 0; k < length; ++k) sum[k] += product(s[k], spectrum[k]);
    }
    right_.synthesise(true, sum.data(), time.data(), column.data());
    for (index_t j = 0; j < n; ++j) y(j) = narrowed(column[j]);
  }

  static T narrowed(const C& v) {
    if constexpr (is_complex_v<T>) {
      return v;
    } else {
      return v.real();
    }
  }

  Ring<R> right_;
  std::vector<T> weights_, bases_;
  std::vector<index_t> inside_, outside_;
  std::vector<T> inside_bases_, outside_bases_;
  std::vector<C> spectra_;
};

}  // namespace

template <Scalar T>
CorePointer<T> make_vandermonde_like(Generators<T> x) {
  return std::make_unique<VandermondeLike<T>>(std::move(x));
}

#define STRUCTMAT_INSTANTIATE(T) template CorePointer<T> make_vandermonde_like<T>(Generators<T>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
