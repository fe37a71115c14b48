// Arithmetic with structured matrices in O(n): products, compression, inverse, determinant, and a
// long convolution kernel distilled into a small state.
#include <cmath>
#include <cstdio>
#include <structmat/structmat.hpp>

using namespace structmat;
namespace qs = structmat::quasiseparable;

int main() {
  const index_t n = 20001;  // n + 1 is not a multiple of 4: T^2 - 2 T is regular

  // The second difference matrix T, and T^2 - 2 T: a product, a difference, and the order they need.
  Array<double, 2> off({1, n - 1}), diagonal({1, n});
  for (double& v : off) v = -1;
  for (double& v : diagonal) v = 2;
  const auto t = qs::to_block(qs::from_tridiagonal<double>(off, diagonal, off));
  const auto m = qs::compress(qs::subtract(qs::multiply(t, t), qs::scale(2.0, t))).matrix;

  // T has determinant n + 1 and an inverse of order 1.
  const auto factor = qs::factor_qr(t);
  const double determinant = std::exp(qs::log_determinant(factor).log_abs);
  const auto inverse = qs::inverse(factor);
  std::printf("T^2 - 2 T: order %d; T^-1: order %d; det T = %.6f\n", int(m.order().lower),
              int(inverse.order().lower), determinant);

  // M x = b, with a report.
  Array<double, 1> b({n}), x({n});
  for (index_t i = 0; i < n; ++i) b(i) = std::sin(0.01 * double(i));
  const auto report = solve(exec::cpu{}, m, b, x);
  std::printf("backward error %.1e after %d refinements\n", report.backward_error,
              report.refinements);

  // The lags 1 / (1 + l)^2 of a Toeplitz matrix of any size, from a state of a dozen numbers.
  Array<double, 1> lags({n - 1});
  for (index_t l = 1; l < n; ++l) lags(l - 1) = 1 / std::pow(1 + double(l), 2);
  const auto toeplitz = qs::from_toeplitz<double>(lags, 1.0, lags, {.tolerance = 1e-6});
  std::printf("%d lags in a state of %d, largest error %.1e\n", int(n - 1),
              int(toeplitz.lower.order()), toeplitz.lower.max_error);

  const bool right = m.order() == Order{2, 2} && inverse.order() == Order{1, 1} &&
                     std::abs(determinant / double(n + 1) - 1) < 1e-6 &&
                     report.backward_error < 1e-14 && toeplitz.lower.within_tolerance;
  return right ? 0 : 1;
}
