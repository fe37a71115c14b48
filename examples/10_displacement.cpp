// The product of two Toeplitz matrices is no Toeplitz matrix, but it is Toeplitz-like: it keeps a small
// displacement rank, and with it a fast product.
#include <cmath>
#include <cstdio>
#include <structmat/displacement/algebra.hpp>
#include <structmat/displacement/compress.hpp>
#include <structmat/displacement/from_structured.hpp>
#include <structmat/displacement/plan.hpp>
#include <structmat/toeplitz/apply.hpp>

using namespace structmat;
namespace ds = structmat::displacement;

/// Lags a decay^|l| cos(frequency l) + b [l = 1].
Toeplitz<double> smoother(index_t n, double decay, double frequency, double b) {
  Toeplitz<double> t(n, n);
  for (index_t l = 1 - n; l < n; ++l) {
    const double size = double(std::abs(l));
    t.lags(0, l + n - 1) =
        std::pow(decay, size) * std::cos(frequency * double(l)) + (l == 1 ? b : 0);
  }
  return t;
}

int main() {
  const index_t n = 3000;
  const Toeplitz<double> s = smoother(n, 0.9, 0.5, 1), t = smoother(n, 0.8, 1.5, -2);

  // Generators of S T: two of each factor and one for the corners that meet in the middle.
  const auto product = ds::multiply(ds::from_toeplitz(s.view()), ds::from_toeplitz(t.view()));
  const auto compressed = ds::compress(product);
  std::printf("S T, %d x %d: order %d, compressed %d, error %.1e of %.1e\n", int(n), int(n),
              int(product.order()), int(compressed.generators.order()), compressed.error,
              compressed.reference);

  // A product in O(n log n) against the factors one after the other.
  Array<double, 1> x({n});
  for (index_t i = 0; i < n; ++i) x(i) = std::sin(0.01 * double(i * i % 1000));
  const ds::Plan<double> plan(compressed.generators);
  const Array<double, 1> y = plan * x, expected = s * (t * x);
  double difference = 0, norm = 0;
  for (index_t i = 0; i < n; ++i) {
    difference = std::max(difference, std::abs(y(i) - expected(i)));
    norm = std::max(norm, std::abs(expected(i)));
  }
  std::printf("largest difference to S (T x): %.1e of %.1f\n", difference, norm);

  // An entry far from the diagonal, against row times column.
  double entry = 0;
  for (index_t k = 0; k < n; ++k) entry += s.entry(100, k) * t.entry(k, 130);
  std::printf("entry (100, 130): %.15f and %.15f\n", plan.entry(100, 130), entry);

  const bool right = compressed.generators.order() == 4 && difference < 1e-11 * norm &&
                     std::abs(plan.entry(100, 130) - entry) < 1e-11;
  return right ? 0 : 1;
}
