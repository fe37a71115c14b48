/// \file
/// Checks of gradients: central differences of a real loss, entry by entry.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "structmat/quasiseparable/cotangent.hpp"
#include "support/random.hpp"

namespace structmat::test {

/// Re <u, v> = Re sum conj(u) v.
template <Scalar T, int Rank>
double inner(const Array<T, Rank>& u, const Array<T, Rank>& v) {
  double sum = 0;
  for (index_t i = 0; i < u.size(); ++i) {
    const std::complex<double> a(u.data()[i]), b(v.data()[i]);
    sum += a.real() * b.real() + a.imag() * b.imag();
  }
  return sum;
}

/// For each entry v of `values`: d loss = Re(conj(v_bar) dv) by central differences with step h in
/// the real and, for complex numbers, in the imaginary direction. Losses of the tests are polynomials
/// of moderate size, so the error is about h^2 plus eps / h.
template <Scalar T, int Rank, class Loss>
void check_gradient(const std::string& name, Array<T, Rank>& values, const Array<T, Rank>& bar,
                    const Loss& loss, double tolerance = 2e-8) {
  const double h = 1e-5;
  REQUIRE(values.extents() == bar.extents());
  double worst = 0;
  const auto direction = [&](index_t i, const T& step, double expected) {
    const T kept = values.data()[i];
    values.data()[i] = kept + step;
    const double above = loss();
    values.data()[i] = kept - step;
    const double below = loss();
    values.data()[i] = kept;
    const double error = std::abs((above - below) / (2 * h) - expected) / (1 + std::abs(expected));
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  };
  for (index_t i = 0; i < values.size(); ++i) {
    direction(i, T(h), std::real(bar.data()[i]));
    if constexpr (is_complex_v<T>) direction(i, T(0, h), std::imag(bar.data()[i]));
  }
  INFO("cotangent of " << name);
  CHECK(worst <= tolerance);
}

/// The same for all generators of a quasiseparable matrix.
template <Scalar T, transition::Uniform K, class Loss>
void check_generators(const std::string& name, Quasiseparable<T, K>& m,
                      const Quasiseparable<T, K>& bar, const Loss& loss) {
  check_gradient(name + ".p", m.p, bar.p, loss);
  check_gradient(name + ".q", m.q, bar.q, loss);
  check_gradient(name + ".a", m.a, bar.a, loss);
  check_gradient(name + ".d", m.d, bar.d, loss);
  check_gradient(name + ".g", m.g, bar.g, loss);
  check_gradient(name + ".h", m.h, bar.h, loss);
  check_gradient(name + ".b", m.b, bar.b, loss);
}

/// Largest |u - v|, and infinity where that is not a number.
template <Scalar T, int Rank>
double distance(const Array<T, Rank>& u, const Array<T, Rank>& v) {
  REQUIRE(u.extents() == v.extents());
  double worst = 0;
  for (index_t i = 0; i < u.size(); ++i) {
    const double error =
        std::abs(std::complex<double>(u.data()[i]) - std::complex<double>(v.data()[i]));
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst;
}

template <Scalar T, transition::Uniform K>
double distance(const Quasiseparable<T, K>& u, const Quasiseparable<T, K>& v) {
  return std::max({distance(u.p, v.p), distance(u.q, v.q), distance(u.a, v.a), distance(u.d, v.d),
                   distance(u.g, v.g), distance(u.h, v.h), distance(u.b, v.b)});
}

/// Moves each element of `variable` (each real and imaginary part), or all along random directions
/// where there are many, and compares the change of the loss with the gradient.
template <class T, int Rank>
void check_slopes(const char* name, Array<T, Rank>& variable, const Array<T, Rank>& gradient,
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
    const double expected = slope(direction), got = inner(gradient, direction);
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
