/// \file
/// Gradients against central differences.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "structmat/core/array.hpp"
#include "support/random.hpp"

namespace structmat::test {

/// Re <x, y>
template <class T, int Rank>
double real_inner(const Array<T, Rank>& x, const Array<T, Rank>& y) {
  double sum = 0;
  for (index_t i = 0; i < x.size(); ++i) {
    sum +=
        std::real(std::complex<double>(conjugate(x.data()[i])) * std::complex<double>(y.data()[i]));
  }
  return sum;
}

/// Moves each element of `variable` (each real and imaginary part), or all along random directions
/// where there are many, and compares the change of the loss with the gradient.
template <class T, int Rank>
void check_gradient(const char* name, Array<T, Rank>& variable, const Array<T, Rank>& gradient,
                    const std::function<double()>& loss, bool real_only = false) {
  constexpr double h = 1e-5;
  // h^2 of truncation, eps / h of rounding, both times numbers of the size of the loss.
  const double tolerance = 2e-9 * (1 + std::abs(loss()));
  const Array<T, Rank> start = variable;
  const auto slope = [&](const Array<T, Rank>& direction) {
    double ends[2];
    for (const int side : {0, 1}) {
      const double step = side == 0 ? h : -h;
      for (index_t i = 0; i < start.size(); ++i) {
        variable.data()[i] = start.data()[i] + T(real_t<T>(step)) * direction.data()[i];
      }
      ends[side] = loss();
    }
    variable = start;
    return (ends[0] - ends[1]) / (2 * h);
  };
  const auto check = [&](const Array<T, Rank>& direction) {
    const double expected = slope(direction), got = real_inner(gradient, direction);
    INFO(name << ": " << got << ", by differences " << expected);
    CHECK(std::abs(got - expected) <= tolerance * (1 + std::abs(expected)));
  };
  Array<T, Rank> direction(variable.extents());
  if (variable.size() <= 64) {
    for (index_t i = 0; i < variable.size(); ++i) {
      direction.data()[i] = T(1);
      check(direction);
      if constexpr (is_complex_v<T>) {
        direction.data()[i] = T(0, 1);
        if (!real_only) check(direction);
      }
      direction.data()[i] = T(0);
    }
    return;
  }
  Random random(99);
  for (int repetition = 0; repetition < 3; ++repetition) {
    random.fill(direction, 1 / std::sqrt(static_cast<double>(direction.size())));
    if (real_only) {
      for (T& v : direction) v = std::real(v);
    }
    check(direction);
  }
}

}  // namespace structmat::test
