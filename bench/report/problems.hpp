/// \file
/// Matrices that the benchmarks run on.
#pragma once

#include <cmath>
#include <random>

#include "structmat/structmat.hpp"

namespace structmat::bench {

/// Numbers uniform in [low, high).
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double operator()(double low = -1, double high = 1) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  template <int Rank>
  void fill(Array<double, Rank>& a, double low = -1, double high = 1) {
    for (double& v : a) v = (*this)(low, high);
  }

 private:
  std::mt19937_64 engine_;
};

inline Array<double, 2> random_block(index_t rows, index_t columns, unsigned seed) {
  Random random(seed);
  Array<double, 2> a({rows, columns}, uninitialized);
  random.fill(a);
  return a;
}

/// Random generators of order r on both sides. Scalar and diagonal transitions have absolute values
/// in [0.98, 1), so that no state fades within n rows and the numerical order is r.
template <transition::Uniform K = transition::Diagonal>
Quasiseparable<double, K> random_quasiseparable(index_t n, index_t r, unsigned seed) {
  Random random(seed);
  Quasiseparable<double, K> m(n, {r, r});
  for (auto* g : {&m.p, &m.q, &m.g, &m.h}) random.fill(*g);
  random.fill(m.d);
  for (auto* a : {&m.a, &m.b}) {
    if constexpr (K::rank == 4) {
      random.fill(*a, -0.9 / static_cast<double>(r), 0.9 / static_cast<double>(r));
    } else {
      for (double& v : *a) v = std::copysign(random(0.98, 1), random());
    }
  }
  return m;
}

/// random_quasiseparable as a dense matrix.
inline Array<double, 2> random_dense(index_t n, index_t r, unsigned seed) {
  const auto m = random_quasiseparable(n, r, seed);
  Array<double, 2> dense({n, n}, uninitialized);
  to_dense(m.view(), as_batch(dense.view()));
  return dense;
}

/// A symmetric matrix in the form of celerite2: M_ij = sum_l u_il exp(-c_l (t_i - t_j)) v_jl for i
/// > j, and d_i on the diagonal.
struct Celerite {
  Array<double, 2> t, c, u, v, d;
};

inline Celerite celerite(index_t n, index_t order) {
  Random random(1);
  Celerite m{Array<double, 2>({n, 1}), Array<double, 2>({order, 1}), Array<double, 2>({n, order}),
             Array<double, 2>({n, order}), Array<double, 2>({n, 1})};
  double time = 0;
  for (double& t : m.t) t = time += random(0.05, 0.15);
  for (index_t l = 0; l < order; ++l) m.c(l, 0) = 0.1 * static_cast<double>(l + 1);
  random.fill(m.u);
  random.fill(m.v);
  random.fill(m.d, 1, 2);
  return m;
}

/// The same matrix by its generators. Each triangle has its own, as a matrix without symmetry
/// would.
inline Quasiseparable<double> quasiseparable_of(const Celerite& m) {
  const index_t n = m.u.extent(0), r = m.u.extent(1);
  Quasiseparable<double> q(n, {r, r});
  for (index_t i = 0; i < n; ++i) {
    q.d(0, i) = m.d(i, 0);
    for (index_t l = 0; l < r; ++l) {
      const double ratio = i == 0 ? 1 : std::exp(-m.c(l, 0) * (m.t(i, 0) - m.t(i - 1, 0)));
      q.p(0, i, l) = q.h(0, i, l) = m.u(i, l) * ratio;
      q.a(0, i, l) = q.b(0, i, l) = ratio;
      q.q(0, i, l) = q.g(0, i, l) = m.v(i, l);
    }
  }
  return q;
}

/// The symmetric matrix whose upper triangle shares the generators of the lower one.
inline QuasiseparableView<double, transition::Diagonal> shared_triangles(
    const Quasiseparable<double>& m) {
  auto v = m.view();
  v.g = v.q;
  v.h = v.p;
  v.b = v.a;
  return v;
}

/// Bytes that one apply must move at least: all generators once; x in; y out twice and in once, for
/// it is set by one sweep and added to by the other.
inline double apply_bytes(index_t stored, index_t n, index_t rhs) {
  return 8.0 * static_cast<double>(stored + 4 * n * rhs);
}

/// Flops of one apply with Scalar or Diagonal transitions: five a state, row, triangle and
/// right-hand side (s := a s + q x, y += p s), and two for the diagonal.
inline double apply_flops(index_t n, index_t r, index_t rhs) {
  return static_cast<double>((10 * r + 2) * n * rhs);
}

}  // namespace structmat::bench
