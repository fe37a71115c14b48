/// \file
/// The logarithm of a product of many positive numbers.
#pragma once

#include <cmath>

namespace structmat::quasiseparable {

/// Takes a logarithm only where the product would leave the range of double; logarithms are summed
/// with compensation.
class LogProduct {
 public:
  void times(double x) {
    if (!(x > smallest && x < largest)) return add(std::log(x));
    product_ *= x;
    if (product_ > smallest && product_ < largest) return;
    add(std::log(product_));
    product_ = 1;
  }

  double log() const { return sum_ + std::log(product_); }

 private:
  // Two of them fit into the range.
  static constexpr double smallest = 1e-150, largest = 1e150;

  /// Kahan's sum.
  void add(double x) {
    const double term = x - lost_, next = sum_ + term;
    // An infinite sum has lost nothing.
    lost_ = std::isfinite(next) ? (next - sum_) - term : 0;
    sum_ = next;
  }

  double product_ = 1, sum_ = 0, lost_ = 0;
};

}  // namespace structmat::quasiseparable
