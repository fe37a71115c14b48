#include "structmat/core/error.hpp"
#include "structmat/fft/plan.hpp"

namespace structmat::fft {

index_t good_length(index_t n) {
  constexpr index_t largest = index_t{1} << 62;
  if (n < 0 || n > largest) {
    throw ShapeError("fft::good_length: n is " + std::to_string(n) +
                     ", it must lie between 0 and 2^62");
  }
  // All products of powers of 7, 5 and 3 below n, each filled up with twos. The power of two itself
  // bounds them, so that nothing overflows.
  index_t best = 1;
  while (best < n) best *= 2;
  for (index_t p7 = 1; p7 < best; p7 *= 7) {
    for (index_t p5 = p7; p5 < best; p5 *= 5) {
      for (index_t p3 = p5; p3 < best; p3 *= 3) {
        index_t product = p3;
        while (product < n) product *= 2;
        if (product < best) best = product;
        if (p3 > best / 3) break;
      }
      if (p5 > best / 5) break;
    }
    if (p7 > best / 7) break;
  }
  return best;
}

}  // namespace structmat::fft
