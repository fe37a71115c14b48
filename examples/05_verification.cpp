// Is a matrix quasiseparable, how sure is that, and what else is it?
#include <algorithm>
#include <cstdio>
#include <structmat/structmat.hpp>

using namespace structmat;

int main() {
  // Inverse of the second difference matrix: min(i, j) + 1 times n - max(i, j), over n + 1.
  const index_t n = 300;
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      m(i, j) = double(std::min(i, j) + 1) * double(n - std::max(i, j)) / double(n + 1);
    }
  }

  const auto report = verify::quasiseparable(m, {.order = Order{1, 1}});
  std::printf("order 1: %s (kept %.1e, dropped %.1e)\n", report.holds ? "holds" : "fails",
              report.smallest_kept, report.largest_dropped);

  // Two products with random vectors, and a probability.
  const auto probed = verify::randomised(m, {.order = {1, 1}});
  std::printf("by %d probes: %s, wrong with probability %.0e\n", int(probed.probes),
              probed.verdict == verify::Verdict::holds ? "holds" : "not shown",
              probed.failure_probability);

  // One entry below the diagonal is enough to break it, and the block is named.
  m(200, 100) += 1e-3;
  const auto broken = verify::randomised(m, {.order = {1, 1}, .tolerance = 1e-9});
  std::printf("disturbed: %s at k = %d\n",
              broken.verdict == verify::Verdict::violated ? "violated" : "not seen",
              broken.worst ? int(broken.worst->k) : -1);
  m(200, 100) -= 1e-3;

  // The shift cannot be completed to order 1, the matrix above can.
  Array<double, 2> shift({3, 3});
  shift(1, 0) = shift(2, 1) = 1;
  const auto blocked = verify::complete_diagonal(shift, {.order = 1});
  const auto free = verify::complete_diagonal(m, {.order = 1, .tolerance = 1e-10});
  std::printf("completable: %s and %s\n", blocked.completable ? "yes" : "no",
              free.completable ? "yes" : "no");

  const bool right = report.holds && probed.verdict == verify::Verdict::holds &&
                     broken.verdict == verify::Verdict::violated && !blocked.completable &&
                     free.completable && blocked.blocking == 1;
  return right ? 0 : 1;
}
