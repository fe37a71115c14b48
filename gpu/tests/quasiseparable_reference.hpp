/// \file
/// Host side of the tests and benchmarks of quasiseparable operations on a device: random matrices,
/// copies of them on the device, and products from the definition and from the recurrence in higher
/// precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "structmat/quasiseparable/apply.hpp"

namespace structmat::testing {

/// double for float, long double for double.
template <class T>
using wide_t = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class A, class Random, class T>
void fill(A& a, Random& random, T low, T high) {
  std::uniform_real_distribution<T> distribution(low, high);
  for (T& value : a) value = distribution(random);
}

/// Entries in [-1, 1], transitions in [-0.99, 0.99]; NaN wherever no entry of the matrix reads.
template <class T, class K>
Quasiseparable<T, K> random_matrix(index_t n, Order order, index_t batch, unsigned seed) {
  Quasiseparable<T, K> m(n, order, batch);
  std::mt19937 random(seed);
  for (auto* generator : {&m.p, &m.q, &m.g, &m.h}) fill(*generator, random, T(-1), T(1));
  fill(m.d, random, T(-1), T(1));
  fill(m.a, random, T(-0.99), T(0.99));
  fill(m.b, random, T(-0.99), T(0.99));
  return m;
}

/// Sets the numbers that no entry of the matrix contains.
template <class T, class K>
void poison_unread(Quasiseparable<T, K>& m, T junk) {
  const index_t n = m.size();
  if (n == 0) return;
  const auto poison = [junk](auto& array, index_t row) {
    const index_t width = array.size() / std::max<index_t>(1, array.extent(0) * array.extent(1));
    for (index_t b = 0; b < array.extent(0); ++b) {
      std::fill_n(array.data() + (b * array.extent(1) + row) * width, width, junk);
    }
  };
  poison(m.p, 0);
  poison(m.q, n - 1);
  poison(m.g, n - 1);
  poison(m.h, 0);
  for (const index_t row : {index_t{0}, n - 1}) {
    poison(m.a, row);
    poison(m.b, row);
  }
}

/// Copies of the generators on the device.
template <class T, class K>
struct OnDevice {
  Array<T, 3, space::cuda> p, q, g, h;
  Array<T, K::rank, space::cuda> a, b;
  Array<T, 2, space::cuda> d;

  explicit OnDevice(const Quasiseparable<T, K>& m)
      : p(to_device(m.p)),
        q(to_device(m.q)),
        g(to_device(m.g)),
        h(to_device(m.h)),
        a(to_device(m.a)),
        b(to_device(m.b)),
        d(to_device(m.d)) {}

  QuasiseparableView<T, K, space::cuda> view() const {
    return {p.view(), q.view(), a.view(), d.view(), g.view(), h.view(), b.view()};
  }
};

/// One column of a product, and the magnitudes |M| |x| that its error is measured by.
template <class W>
struct Expected {
  std::vector<W> value, magnitude;
};

/// Left and right generators and transitions of a triangle of op(M), of one batch entry.
template <class T, class K>
struct TriangleView {
  View<const T, 2> left, right;
  View<const T, K::rank - 1> transition;

  T step(index_t i, index_t state) const {
    if constexpr (K::rank == 2) {
      return transition(i);
    } else {
      return transition(i, state);
    }
  }
};

template <class T, class K>
std::array<TriangleView<T, K>, 2> triangles(const QuasiseparableView<T, K>& m, Op op,
                                            index_t entry) {
  const auto of = [entry](const auto& v) { return v.select(0, v.extent(0) == 1 ? 0 : entry); };
  if (op == Op::none) {
    return {{{of(m.p), of(m.q), of(m.a)}, {of(m.g), of(m.h), of(m.b)}}};
  }
  return {{{of(m.h), of(m.g), of(m.b)}, {of(m.q), of(m.p), of(m.a)}}};
}

/// From M_ij = left_i^T (transitions strictly between) right_j. O(n^2 r).
template <class T, class K>
Expected<wide_t<T>> by_definition(const QuasiseparableView<T, K>& m, Op op, index_t entry,
                                  const std::vector<T>& x) {
  using W = wide_t<T>;
  const auto part = triangles(m, op, entry);
  const index_t n = m.size();
  Expected<W> y{std::vector<W>(n), std::vector<W>(n)};
  const auto add = [&](index_t i, W term) {
    y.value[i] += term;
    y.magnitude[i] += std::fabs(term);
  };
  for (index_t i = 0; i < n; ++i) {
    add(i, static_cast<W>(m.d.select(0, m.d.extent(0) == 1 ? 0 : entry)(i)) * x[i]);
    for (const int upper : {0, 1}) {
      const auto& t = part[upper];
      const index_t step = upper ? 1 : -1;
      for (index_t s = 0; s < t.left.extent(1); ++s) {
        W product = 1;
        for (index_t j = i + step; j >= 0 && j < n; j += step) {
          add(i, static_cast<W>(t.left(i, s)) * product * t.right(j, s) * x[j]);
          product *= t.step(j, s);
        }
      }
    }
  }
  return y;
}

/// From the plain recurrence, without a read of what the definition does not read. O(n r).
template <class T, class K>
Expected<wide_t<T>> by_recurrence(const QuasiseparableView<T, K>& m, Op op, index_t entry,
                                  const std::vector<T>& x) {
  using W = wide_t<T>;
  const auto part = triangles(m, op, entry);
  const index_t n = m.size();
  Expected<W> y{std::vector<W>(n), std::vector<W>(n)};
  for (index_t i = 0; i < n; ++i) {
    y.value[i] = static_cast<W>(m.d.select(0, m.d.extent(0) == 1 ? 0 : entry)(i)) * x[i];
    y.magnitude[i] = std::fabs(y.value[i]);
  }
  for (const int upper : {0, 1}) {
    const auto& part_of = part[upper];
    for (index_t s = 0; s < part_of.left.extent(1); ++s) {
      W state = 0, magnitude = 0;
      for (index_t t = 0; t < n; ++t) {
        const index_t i = upper ? n - 1 - t : t;
        if (t > 0) {
          const W left = part_of.left(i, s);
          y.value[i] += left * state;
          y.magnitude[i] += std::fabs(left) * magnitude;
        }
        if (t == n - 1) break;
        const W entering = static_cast<W>(part_of.right(i, s)) * x[i];
        const W a = t > 0 ? part_of.step(i, s) : T(0);
        state = t > 0 ? a * state + entering : entering;
        magnitude = t > 0 ? std::fabs(a) * magnitude + std::fabs(entering) : std::fabs(entering);
      }
    }
  }
  return y;
}

}  // namespace structmat::testing
