/// \file
/// Powers exp(i pi j / 2L) from two short tables.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "toeplitz/fourier_kernels.hpp"

namespace structmat::toeplitz {

/// exp(i pi j / 2L), 0 <= j < L, as the product of one of L / chunk numbers and one of `chunk`: a table
/// of L would be read from memory as often as the operand itself. Accuracy: 2 eps.
template <RealScalar R>
class Twist {
 public:
  using C = std::complex<R>;
  static constexpr index_t chunk = 128;

  explicit Twist(index_t length) {
    const auto power = [&](index_t j) {
      const double angle = std::numbers::pi * static_cast<double>(j) / (2.0 * double(length));
      return C(std::polar(1.0, angle));
    };
    for (index_t j = 0; j < chunk; ++j) fine_.push_back(power(j));
    for (index_t j = 0; j < length; j += chunk) coarse_.push_back(power(j));
  }

  /// w_0, ..., w_{chunk-1} := the powers from a multiple of `chunk` on.
  void write(index_t first, C* w) const {
    kernels::powers(coarse_[first / chunk], fine_.data(), chunk, w);
  }

 private:
  std::vector<C> fine_, coarse_;
};

}  // namespace structmat::toeplitz
