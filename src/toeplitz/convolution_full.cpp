#include "toeplitz/convolution_full.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "toeplitz/apply_nonfinite.hpp"
#include "toeplitz/weighted_transform.hpp"

namespace structmat::toeplitz {
namespace {

/// Sums up to this many products are faster than transforms.
constexpr index_t most_products = index_t{96} * 96;

/// sum_{i+j} += a_i b_j
template <Scalar T>
STRUCTMAT_CLONES void add_products(const T* a, index_t m, const T* b, index_t n, T* sum) {
  for (index_t i = 0; i < m; ++i) {
    const T factor = a[i];
    for (index_t j = 0; j < n; ++j) sum[i + j] += product(factor, b[j]);
  }
}

template <Scalar T>
void add_by_sums(const View<const T, 2>& a, const View<const T, 2>& b, Array<T, 1>& sum) {
  for (index_t c = 0; c < a.extent(1); ++c) {
    const Array<T, 1> x = to_array(a.select(1, c)), y = to_array(b.select(1, c));
    add_products(x.data(), x.size(), y.data(), y.size(), sum.data());
  }
}

/// What NaN and Inf in one pair of columns add.
template <Scalar T>
void add_nonfinite_products(const View<const T, 1>& a, const View<const T, 1>& b,
                            const View<T, 1>& sum) {
  const index_t m = a.extent(0), n = b.extent(0);
  const auto bad_a = nonfinite_places(a), bad_b = nonfinite_places(b);
  index_t nan_until = 0;
  // A NaN of one sequence reaches as many elements as the other is long; they are filled once.
  for (const index_t i : bad_a) {
    const bool nan = has_nan(a(i));
    for (index_t l = nan ? std::max(i, nan_until) : i; l < i + n; ++l)
      sum(l) = nan ? not_a_number<T>() : sum(l) + product(a(i), b(l - i));
    if (nan) nan_until = i + n;
  }
  nan_until = 0;
  for (const index_t j : bad_b) {
    const bool nan = has_nan(b(j));
    for (index_t l = nan ? std::max(j, nan_until) : j; l < j + m; ++l) {
      if (nan) {
        sum(l) = not_a_number<T>();
      } else if (is_finite(a(l - j))) {
        sum(l) += product(a(l - j), b(j));
      }
    }
    if (nan) nan_until = j + m;
  }
}

template <Scalar T>
class Convolution {
  using R = real_t<T>;
  using C = std::complex<R>;
  static constexpr int sheets = WeightedTransform<T>::sheets;

 public:
  Convolution(index_t m, index_t n)
      : transform_(fft::good_length(std::max(m, n))),
        rows_({3 * sheets * transform_.stride()}, uninitialized) {}

  void add(const View<const T, 2>& a, const View<const T, 2>& b, Array<T, 1>& sum) {
    Bits<R> largest_a = 0, largest_b = 0;
    spectrum(a, b, 0, 0, largest_a, largest_b);
    int exponent = 0;
    if (needs_scaling<R>(largest_a) || needs_scaling<R>(largest_b)) {
      const int scale_a = common_exponent(a), scale_b = common_exponent(b);
      spectrum(a, b, scale_a, scale_b, largest_a, largest_b);
      exponent = scale_a + scale_b;
    }
    unfold(exponent, sum);
    if (bits_are_finite<R>(largest_a) && bits_are_finite<R>(largest_b)) return;
    for (index_t c = 0; c < a.extent(1); ++c)
      add_nonfinite_products<T>(a.select(1, c), b.select(1, c), sum.view());
  }

 private:
  static int common_exponent(const View<const T, 2>& x) {
    int exponent = scale_exponent(x.select(1, 0));
    for (index_t c = 1; c < x.extent(1); ++c)
      exponent = std::max(exponent, scale_exponent(x.select(1, c)));
    return exponent;
  }

  /// The sum of the products of spectra, in the first rows.
  void spectrum(const View<const T, 2>& a, const View<const T, 2>& b, int scale_a, int scale_b,
                Bits<R>& largest_a, Bits<R>& largest_b) {
    const index_t size = sheets * transform_.stride();
    C *const sum = rows_.data(), *const x = sum + size, *const y = x + size;
    for (index_t c = 0; c < a.extent(1); ++c) {
      std::vector<Bits<R>> of_a(1), of_b(1);
      transform_.forward(false, a.slice(1, c, c + 1), {scale_a}, x, of_a);
      transform_.forward(false, b.slice(1, c, c + 1), {scale_b}, y, of_b);
      largest_a = std::max(largest_a, of_a[0]);
      largest_b = std::max(largest_b, of_b[0]);
      kernels::multiply(x, false, y, size, c > 0, sum);
    }
  }

  /// The product modulo t^L - i is low + i high, modulo t^L + i it is low - i high.
  void unfold(int exponent, Array<T, 1>& sum) {
    const index_t length = transform_.length(), stride = transform_.stride();
    C* const z = rows_.data();
    for (int sheet = 0; sheet < sheets; ++sheet) transform_.transform_back(z + sheet * stride);
    const int half = exponent / 2;
    const R first_scale = std::ldexp(R{1} / static_cast<R>(length * sheets), half);
    const R second_scale = std::ldexp(R{1}, exponent - half);
    alignas(64) std::array<C, WeightedTransform<T>::chunk> w;
    for (index_t l = 0; l < length; ++l) {
      const index_t place = l % WeightedTransform<T>::chunk;
      if (place == 0) transform_.twist().write(l, w.data());
      const C below = conjugate_product(w[place], z[l]) * first_scale * second_scale;
      T low, high;
      if constexpr (is_complex_v<T>) {
        const C other = product(w[place], z[stride + l]) * first_scale * second_scale;
        const C difference = below - other;
        low = below + other;
        high = {difference.imag(), -difference.real()};
      } else {
        low = below.real();
        high = below.imag();
      }
      if (l < sum.size()) sum(l) += low;
      if (l + length < sum.size()) sum(l + length) += high;
    }
  }

  WeightedTransform<T> transform_;
  Array<C, 1> rows_;
};

}  // namespace

template <Scalar T>
void add_full_convolution(const View<const T, 2>& a, const View<const T, 2>& b, bool conjugated,
                          const View<T, 1>& sum) {
  const index_t m = a.extent(0), n = b.extent(0);
  if (a.extent(1) == 0) return;
  Array<T, 1> result({m + n - 1});
  if (m * n <= most_products || std::min(m, n) <= 16) {
    add_by_sums(a, b, result);
  } else {
    Convolution<T>(m, n).add(a, b, result);
  }
  for (index_t l = 0; l < result.size(); ++l)
    sum(l) += conjugated ? conjugate(result(l)) : result(l);
}

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template void add_full_convolution(const View<const T, 2>&, const View<const T, 2>&, bool, \
                                     const View<T, 1>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
