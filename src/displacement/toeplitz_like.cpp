// Toeplitz-like matrices: X = sum_j Z_e(g'_j) R Z_f(J h_j), see displacement/plan.hpp.
#include <numeric>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "displacement/core.hpp"
#include "displacement/reduction.hpp"
#include "displacement/ring.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
class ToeplitzLike final : public Core<T> {
  using R = real_t<T>;
  using C = std::complex<R>;

 public:
  explicit ToeplitzLike(Generators<T> x)
      : Core<T>(std::move(x)),
        left_(rows(), C(corner_left())),
        right_(cols(), C(corner_right())),
        divided_(divided(this->x_)) {
    fold_powers();
    transform();
  }

  void apply(const exec::cpu& e, bool transposed, View<const T, 2> x, View<T, 2> y) const override {
    const index_t k = x.extent(1);
    const int team = team_for(e.threads, k * terms_ * (left_.length() + right_.length()));
    parallel_for(team, k, [&](index_t c) { apply(transposed, x.select(1, c), y.select(1, c)); });
  }

  T entry(index_t i, index_t j) const override {
    const index_t m = rows(), n = cols();
    T sum{}, power{1};
    for (index_t k = 0, row = 0; k < n; ++k, ++row) {
      if (row == m) {
        row = 0;
        power = product(power, corner_left());
      }
      // Z_f(J h)_kj and Z_e(g')_{i, row}
      const index_t at = k >= j ? n - 1 - (k - j) : j - k - 1;
      const index_t from = i >= row ? i - row : m + i - row;
      T weight = k >= j ? power : product(power, corner_right());
      if (i < row) weight = product(weight, corner_left());
      T term{};
      for (index_t l = 0; l < order(); ++l) term += product(divided_(from, l), this->x_.h(at, l));
      sum += product(weight, term);
    }
    return sum;
  }

  void solve_displacement(View<T, 2> dense) const override {
    const index_t m = rows(), n = cols();
    if (m == 0 || n == 0) return;
    const Array<T, 2> image = to_array(dense);
    // Along diagonals that wrap round: entry (i, j) on the left, (i + 1, j + 1) on the right.
    const auto next = [](index_t i, index_t size) { return i + 1 == size ? 0 : i + 1; };
    const index_t orbits = std::gcd(m, n), length = m / orbits * n;
    for (index_t start = 0; start < orbits; ++start) {
      const auto row = [&](index_t t) { return t % m; };
      const auto col = [&](index_t t) { return (start + t) % n; };
      require_determined(
          solve_cycle<T>(
              length, [&](index_t t) { return row(t) + 1 == m ? corner_left() : T{1}; },
              [&](index_t t) { return col(t) + 1 == n ? corner_right() : T{1}; },
              [&](index_t t) { return image(next(row(t), m), col(t)); },
              [&](index_t t, const T& v) { dense(row(t), col(t)) = v; }),
          m, n);
    }
  }

 private:
  using Core<T>::rows;
  using Core<T>::cols;
  using Core<T>::order;
  T corner_left() const { return this->x_.displacement.left.corner; }
  T corner_right() const { return this->x_.displacement.right.corner; }

  void fold_powers() {
    T power{1};
    for (index_t q = 0; rows() > 0 && q * rows() < cols(); ++q) {
      powers_.push_back(C(power));
      power = product(power, corner_left());
    }
  }

  /// For real data the terms are taken in pairs, g_1 h_1^T + g_2 h_2^T = Re (g_1 - i g_2) (h_1 + i
  /// h_2)^T, and products of real vectors are the real parts.
  void transform() {
    const index_t r = order(), m = rows(), n = cols(), pairing = is_complex_v<T> ? 1 : 2;
    terms_ = (r + pairing - 1) / pairing;
    left_spectra_.resize(terms_ * left_.length());
    right_spectra_.resize(terms_ * right_.length());
    std::vector<C> c(std::max(m, n)), time(std::max(left_.length(), right_.length()));
    const auto paired = [&](const auto& a, index_t i, index_t l, R sign) {
      if constexpr (is_complex_v<T>) {
        return a(i, l);
      } else {
        return C(a(i, 2 * l), 2 * l + 1 < r ? sign * a(i, 2 * l + 1) : R{});
      }
    };
    for (index_t l = 0; l < terms_; ++l) {
      for (index_t i = 0; i < m; ++i) c[i] = paired(divided_, i, l, R(-1));
      left_.spectrum(c.data(), time.data(), left_spectra_.data() + l * left_.length());
      for (index_t j = 0; j < n; ++j) c[j] = paired(this->x_.h, n - 1 - j, l, R(1));
      right_.spectrum(c.data(), time.data(), right_spectra_.data() + l * right_.length());
    }
  }

  /// Polynomials of degree below n modulo z^m - e.
  void reduce(const C* from, C* to) const {
    const index_t m = rows(), n = cols();
    std::fill(to, to + m, C{});
    for (index_t q = 0, k = 0; k < n; ++q) {
      for (index_t i = 0; i < m && k < n; ++i, ++k) to[i] += product(powers_[q], from[k]);
    }
  }
  void reduce_transposed(const C* from, C* to) const {
    const index_t m = rows(), n = cols();
    for (index_t q = 0, k = 0; k < n; ++q) {
      for (index_t i = 0; i < m && k < n; ++i, ++k) to[k] = product(powers_[q], from[i]);
    }
  }

  void apply(bool transposed, View<const T, 1> x, View<T, 1> y) const {
    const Ring<R>&first = transposed ? left_ : right_, &second = transposed ? right_ : left_;
    const auto &first_spectra = transposed ? left_spectra_ : right_spectra_,
               &second_spectra = transposed ? right_spectra_ : left_spectra_;
    const index_t first_length = first.length(), second_length = second.length();
    const index_t length = std::max(first_length, second_length);
    std::vector<C> input(first_length), sum(second_length), time(length), spectrum(length),
        from(std::max(rows(), cols())), to(from.size());
    for (index_t i = 0; i < first.size(); ++i) from[i] = C(x(i));
    first.analyse(transposed, from.data(), time.data(), input.data());
    const bool square = rows() == cols();
    for (index_t l = 0; l < terms_; ++l) {
      const C* f = first_spectra.data() + l * first_length;
      for (index_t k = 0; k < first_length; ++k) spectrum[k] = product(f[k], input[k]);
      first.synthesise(transposed, spectrum.data(), time.data(), from.data());
      if (!square && !transposed) reduce(from.data(), to.data());
      if (!square && transposed) reduce_transposed(from.data(), to.data());
      second.analyse(transposed, square ? from.data() : to.data(), time.data(), spectrum.data());
      const C* s = second_spectra.data() + l * second_length;
      for (index_t k = 0; k < second_length; ++k) sum[k] += product(s[k], spectrum[k]);
    }
    second.synthesise(transposed, sum.data(), time.data(), from.data());
    for (index_t i = 0; i < second.size(); ++i) {
      if constexpr (is_complex_v<T>) {
        y(i) = from[i];
      } else {
        y(i) = from[i].real();
      }
    }
  }

  Ring<R> left_, right_;
  Array<T, 2> divided_;  ///< g'
  index_t terms_ = 0;
  std::vector<C> left_spectra_, right_spectra_;
  std::vector<C> powers_;  ///< e^q
};

}  // namespace

template <Scalar T>
CorePointer<T> make_toeplitz_like(Generators<T> x) {
  return std::make_unique<ToeplitzLike<T>>(std::move(x));
}

#define STRUCTMAT_INSTANTIATE(T) template CorePointer<T> make_toeplitz_like<T>(Generators<T>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
