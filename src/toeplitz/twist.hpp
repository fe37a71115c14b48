/// \file
/// Powers exp(i angle j) from two short tables.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "toeplitz/fourier_kernels.hpp"

namespace structmat::toeplitz {

/// exp(i angle j), 0 <= j < n, as the product of one of n / chunk numbers and one of `chunk`: a table of
/// n would be read from memory as often as the operand itself. Accuracy: 2 eps for n angle <= pi.
template <RealScalar R>
class Twist {
 public:
  using C = std::complex<R>;
  static constexpr index_t chunk = 128;

  Twist(index_t n, double angle) {
    const auto power = [&](index_t j) {
      return C(std::polar(1.0, angle * static_cast<double>(j)));
    };
    for (index_t j = 0; j < chunk; ++j) fine_.push_back(power(j));
    for (index_t j = 0; j < n; j += chunk) coarse_.push_back(power(j));
  }

  /// w_0, ..., w_{chunk-1} := the powers from a multiple of `chunk` on.
  void write(index_t first, C* w) const {
    kernels::powers(coarse_[first / chunk], fine_.data(), chunk, w);
  }

 private:
  std::vector<C> fine_, coarse_;
};

}  // namespace structmat::toeplitz
