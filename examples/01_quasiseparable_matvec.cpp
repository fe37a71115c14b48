// Compress a dense matrix whose off-diagonal blocks have small rank, and multiply with it in O(n).
#include <cmath>
#include <cstdio>
#include <structmat/structmat.hpp>

int main() {
  const structmat::index_t n = 1000;
  structmat::Array<double, 2> m({n, n});
  for (structmat::index_t i = 0; i < n; ++i) {
    for (structmat::index_t j = 0; j < n; ++j) m(i, j) = std::exp(-0.01 * std::abs(double(i - j)));
  }

  const auto q = structmat::quasiseparable::from_dense(m, {.tolerance = 1e-12}).matrix;
  const std::vector<double> x(n, 1.0);
  const auto y = q * x;

  double worst = 0;
  for (structmat::index_t i = 0; i < n; ++i) {
    double exact = 0;
    for (structmat::index_t j = 0; j < n; ++j) exact += m(i, j) * x[j];
    worst = std::max(worst, std::abs(y(i) - exact) / exact);
  }
  std::printf("order %lld, %lld of %lld numbers stored, largest relative error %.1e\n",
              static_cast<long long>(q.order().lower), static_cast<long long>(q.stored()),
              static_cast<long long>(n * n), worst);
  return q.order() == structmat::Order{1, 1} && worst < 1e-12 ? 0 : 1;
}
