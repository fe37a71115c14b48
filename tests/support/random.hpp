/// \file
/// Random matrices of generators for the tests.
#pragma once

#include <random>

#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/semiseparable/semiseparable.hpp"

namespace structmat::test {

/// Numbers with real and imaginary parts uniform in [-1, 1).
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  double real() { return std::uniform_real_distribution<double>(-1, 1)(engine_); }

  template <Scalar T>
  T scalar() {
    if constexpr (is_complex_v<T>) {
      const double re = real();
      return {static_cast<real_t<T>>(re), static_cast<real_t<T>>(real())};
    } else {
      return static_cast<T>(real());
    }
  }

  template <class T, int Rank>
  void fill(Array<T, Rank>& a, double scale = 1) {
    for (T& v : a) v = scalar<T>() * static_cast<real_t<T>>(scale);
  }

  template <class T, int Rank>
  Array<T, Rank> array(const std::array<index_t, Rank>& extents) {
    Array<T, Rank> a(extents);
    fill(a);
    return a;
  }

 private:
  std::mt19937_64 engine_;
};

/// The m x n matrix of entry(i, j).
template <Scalar T, class Entry>
Array<T, 2> matrix(index_t m, index_t n, const Entry& entry) {
  Array<T, 2> a({m, n});
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) a(i, j) = entry(i, j);
  }
  return a;
}

/// A scale for transitions that keeps products of them from growing.
template <transition::Uniform K>
double contraction(index_t r) {
  return K::rank == 4 ? 0.9 / static_cast<double>(std::max<index_t>(r, 1)) : 0.9;
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> random_quasiseparable(index_t n, Order r, index_t batch, unsigned seed) {
  Random random(seed);
  Quasiseparable<T, K> m(n, r, batch);
  for (auto* generator : {&m.p, &m.q, &m.g, &m.h}) random.fill(*generator);
  random.fill(m.a, contraction<K>(r.lower));
  random.fill(m.b, contraction<K>(r.upper));
  random.fill(m.d);
  return m;
}

template <Scalar T, transition::Uniform K>
Semiseparable<T, K> random_semiseparable(index_t n, index_t r, index_t batch, unsigned seed) {
  Random random(seed);
  Semiseparable<T, K> m(n, r, batch);
  random.fill(m.c);
  random.fill(m.b);
  random.fill(m.a, contraction<K>(r));
  return m;
}

/// Block generators with blocks of 1, 2, 3, ... rows and states of sizes that change from block to
/// block.
inline Partition uneven_partition(index_t n) {
  Partition partition;
  while (partition.rows() < n) {
    const index_t size = 1 + partition.blocks() % 5;
    partition.offsets.push_back(std::min(n, partition.rows() + size));
  }
  return partition;
}

template <Scalar T>
BlockTriangle<T> random_triangle(const Partition& partition, index_t order, index_t batch,
                                 Random& random) {
  std::vector<index_t> states(partition.blocks() + 1, 0);
  for (index_t i = 1; i < partition.blocks(); ++i) states[i] = (i * 7) % (order + 1);
  BlockTriangle<T> t(partition, states, batch);
  random.fill(t.all_p());
  random.fill(t.all_q());
  random.fill(t.all_a(), contraction<transition::Dense>(order));
  return t;
}

template <Scalar T>
Quasiseparable<T, transition::Block> random_block_quasiseparable(index_t n, Order r, index_t batch,
                                                                 unsigned seed) {
  Random random(seed);
  Quasiseparable<T, transition::Block> m;
  m.partition = uneven_partition(n);
  m.lower = random_triangle<T>(m.partition, r.lower, batch, random);
  m.upper_transposed = random_triangle<T>(m.partition, r.upper, batch, random);
  m.diagonal = BlockDiagonal<T>(m.partition, batch);
  random.fill(m.diagonal.all());
  return m;
}

template <Scalar T>
Semiseparable<T, transition::Block> random_block_semiseparable(index_t n, index_t r, index_t batch,
                                                               unsigned seed) {
  Random random(seed);
  Semiseparable<T, transition::Block> m;
  m.partition = uneven_partition(n);
  m.lower = random_triangle<T>(m.partition, r, batch, random);
  m.diagonal = BlockDiagonal<T>(m.partition, batch);
  random.fill(m.diagonal.all());  // what stands above the diagonal must not count
  return m;
}

/// The matrix of absolute generators: what errors of componentwise methods are measured by.
template <class M>
M absolute(M m) {
  using T = typename M::value_type;
  const auto make = [](auto& a) {
    for (T& v : a) v = std::abs(v);
  };
  if constexpr (std::same_as<typename M::transition_type, transition::Block>) {
    const auto triangle = [&](BlockTriangle<T>& t) {
      make(t.all_p());
      make(t.all_q());
      make(t.all_a());
    };
    triangle(m.lower);
    if constexpr (requires { m.upper_transposed; }) triangle(m.upper_transposed);
    make(m.diagonal.all());
  } else if constexpr (requires { m.c; }) {
    make(m.c);
    make(m.b);
    make(m.a);
  } else {
    for (auto* g : {&m.p, &m.q, &m.g, &m.h}) make(*g);
    make(m.a);
    make(m.b);
    make(m.d);
  }
  return m;
}

}  // namespace structmat::test
