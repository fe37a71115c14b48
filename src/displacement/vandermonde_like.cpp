// Vandermonde-like matrices: X = diag(1 / (x^n - f)) sum_j diag(g_j) V(x) Z_f(J h_j), see
// displacement/plan.hpp.
#include <string>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "displacement/core.hpp"
#include "displacement/cycle.hpp"
#include "displacement/power.hpp"
#include "displacement/ring.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
class VandermondeLike final : public Core<T> {
  using R = real_t<T>;
  using C = std::complex<R>;

 public:
  explicit VandermondeLike(Generators<T> x)
      : Core<T>(std::move(x)), right_(cols(), C(corner())), weights_(rows()), bases_(rows()) {
    for (index_t i = 0; i < rows(); ++i) weigh(i);
    std::vector<C> c(cols()), time(right_.length());
    spectra_.resize(order() * right_.length());
    for (index_t l = 0; l < order(); ++l) {
      for (index_t j = 0; j < cols(); ++j) c[j] = this->x_.h(cols() - 1 - j, l);
      right_.spectrum(c.data(), time.data(), spectra_.data() + l * right_.length());
    }
  }

  void apply(const exec::cpu& e, bool transposed, View<const T, 2> x, View<T, 2> y) const override {
    const index_t k = x.extent(1);
    const int team = team_for(e.threads, k * rows() * cols() * order());
    parallel_for(team, k, [&](index_t c) {
      transposed ? apply_transposed(x.select(1, c), y.select(1, c))
                 : apply(x.select(1, c), y.select(1, c));
    });
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
        refuse(i);
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

  [[noreturn]] void refuse(index_t i) const {
    throw DomainError("displacement::Plan: node " + std::to_string(i) + " is a root of z^" +
                      std::to_string(cols()) +
                      " = corner up to rounding: the generators do not determine that row; take "
                      "another corner");
  }

  /// Row i of V / (x^n - f) is weight (1, x, ..., x^{n-1}), or weight (y^{n-1}, ..., y, 1), y = 1 / x.
  void weigh(index_t i) {
    const index_t n = cols();
    if (n == 0) return;
    const bool in = inside(i);
    bases_[i] = in ? node(i) : T{1} / node(i);
    const T top = power(bases_[i], n);
    const T one = in ? top : T{1}, other = in ? corner() : product(corner(), top);
    const T gap = one - other;
    const R scale = std::max(std::abs(one), std::abs(other));
    if (!(std::abs(gap) > R(4) * R(n) * epsilon<T> * scale)) refuse(i);
    weights_[i] = (in ? T{1} : bases_[i]) / gap;
  }

  /// w_l = Z_f(J h_l) x, one below the other.
  void apply(View<const T, 1> x, View<T, 1> y) const {
    const index_t n = cols(), r = order(), length = right_.length();
    std::vector<C> input(length), time(length), spectrum(length), column(n);
    std::vector<T> w(n * r);  // (n, r)
    for (index_t j = 0; j < n; ++j) column[j] = C(x(j));
    right_.analyse(false, column.data(), time.data(), input.data());
    for (index_t l = 0; l < r; ++l) {
      const C* s = spectra_.data() + l * length;
      for (index_t k = 0; k < length; ++k) spectrum[k] = product(s[k], input[k]);
      right_.synthesise(false, spectrum.data(), time.data(), column.data());
      for (index_t k = 0; k < n; ++k) w[k * r + l] = narrowed(column[k]);
    }
    for (index_t i = 0; i < rows(); ++i) {
      T sum{};
      for (index_t s = 0; s < n; ++s) {
        const T* row = w.data() + (inside(i) ? n - 1 - s : s) * r;
        sum = product(sum, bases_[i]);
        for (index_t l = 0; l < r; ++l) sum += product(this->x_.g(i, l), row[l]);
      }
      y(i) = product(weights_[i], sum);
    }
  }

  void apply_transposed(View<const T, 1> x, View<T, 1> y) const {
    const index_t n = cols(), r = order(), length = right_.length();
    std::vector<T> w(n * r);  // (n, r): columns of (diag(g_l) V)^T diag(weights) x
    for (index_t i = 0; i < rows(); ++i) {
      T p = product(weights_[i], x(i));
      for (index_t s = 0; s < n; ++s, p = product(p, bases_[i])) {
        T* row = w.data() + (inside(i) ? s : n - 1 - s) * r;
        for (index_t l = 0; l < r; ++l) row[l] += product(this->x_.g(i, l), p);
      }
    }
    std::vector<C> sum(length), time(length), spectrum(length), column(n);
    for (index_t l = 0; l < r; ++l) {
      for (index_t k = 0; k < n; ++k) column[k] = C(w[k * r + l]);
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
  std::vector<C> spectra_;
};

}  // namespace

template <Scalar T>
std::unique_ptr<const Core<T>> make_vandermonde_like(Generators<T> x) {
  return std::make_unique<VandermondeLike<T>>(std::move(x));
}

#define STRUCTMAT_INSTANTIATE(T) \
  template std::unique_ptr<const Core<T>> make_vandermonde_like<T>(Generators<T>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
