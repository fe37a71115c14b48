// The example of the README: measure the order of a dense matrix, compress it, multiply in O(n).
#include <cmath>
#include <cstdio>
#include <structmat/structmat.hpp>

using namespace structmat;

int main() {
  const index_t n = 2000;
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) m(i, j) = std::exp(-0.01 * std::abs(double(i - j)));
  }
  const auto report = verify::quasiseparable(m);        // ranks of all off-diagonal blocks
  const auto q = quasiseparable::from_dense(m).matrix;  // generators
  const auto y = q * std::vector<double>(n, 1.0);       // O(n)
  std::printf("order %d below, %d above the diagonal\n", int(report.order.lower),
              int(report.order.upper));
  std::printf("%d numbers in place of %d\n", int(q.stored()), int(n * n));
  std::printf("y[1000] = %.10f\n", y(1000));

  // Two geometric sums, 1000 terms below and 999 above the diagonal.
  const double ratio = std::exp(-0.01), tail = ratio / (1 - ratio);
  const double exact = 1 + tail * (1 - std::pow(ratio, 1000)) + tail * (1 - std::pow(ratio, 999));
  return report.order == Order{1, 1} && std::abs(y(1000) / exact - 1) < 1e-12 ? 0 : 1;
}
