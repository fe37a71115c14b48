// A division takes as long as ten other operations, so differences are inverted together
// (Montgomery's trick, as for modular inverses): r = 1 / (d_0 d_1), 1 / d_0 = r d_1, 1 / d_1 = r d_0.
// Every factor has one rounding, so the reciprocals keep full accuracy as long as the products stay
// inside the range of the type. Where they might not, or where a difference may be zero or not
// finite, reciprocals are taken one by one.

#include "cauchy/direct_kernel.hpp"

#include "core/instantiate.hpp"

namespace structmat::cauchy {
namespace {

/// v_i := 1 / v_i by one division.
template <int N, class V>
STRUCTMAT_INLINE void invert_together(V* v) {
  if constexpr (N == 1) {
    v[0] = 1 / v[0];
  } else if constexpr (N == 2) {
    const V r = 1 / (v[0] * v[1]), first = v[0];
    v[0] = r * v[1];
    v[1] = r * first;
  } else {
    V half[2] = {v[0] * v[1], v[2] * v[3]};
    invert_together<2>(half);
    const V first = v[0], third = v[2];
    v[0] = half[0] * v[1];
    v[1] = half[0] * first;
    v[2] = half[1] * v[3];
    v[3] = half[1] * third;
  }
}

/// 1 / (target - source) for N sources.
template <Reach S, int N, RealScalar R, int W>
STRUCTMAT_INLINE void reciprocals(const simd::Lanes<R, W>& target, const R* sources,
                                  simd::Lanes<R, W>* out) {
  using V = simd::Vector<R, W>;
  V d[N];
  for (int i = 0; i < N; ++i) d[i] = target.v - sources[i];
  if constexpr (S == Reach::narrow) {
    invert_together<N>(d);
    for (int i = 0; i < N; ++i) out[i].v = d[i];
  } else {
    for (int i = 0; i < N; ++i) out[i].v = d[i] == 0 ? V{} : 1 / d[i];
  }
}

/// The same for complex nodes. Wide: scaled by the larger part; an infinite one has reciprocal 0.
template <Reach S, int N, RealScalar R, int W>
STRUCTMAT_INLINE void reciprocals(const simd::Lanes<std::complex<R>, W>& target,
                                  const std::complex<R>* sources,
                                  simd::Lanes<std::complex<R>, W>* out) {
  using V = simd::Vector<R, W>;
  V re[N], im[N], square[N];
  for (int i = 0; i < N; ++i) {
    re[i] = target.re - sources[i].real();
    im[i] = target.im - sources[i].imag();
  }
  if constexpr (S == Reach::narrow) {
    for (int i = 0; i < N; ++i) square[i] = re[i] * re[i] + im[i] * im[i];
    invert_together<N>(square);
    for (int i = 0; i < N; ++i) out[i] = {re[i] * square[i], -im[i] * square[i]};
  } else {
    for (int i = 0; i < N; ++i) {
      const V x = re[i] < 0 ? -re[i] : re[i], y = im[i] < 0 ? -im[i] : im[i];
      const V size = x < y ? y : x;
      const V a = re[i] / size, b = im[i] / size;
      const V factor = 1 / (a * a + b * b);
      constexpr R infinity = std::numeric_limits<R>::infinity();
      const auto none = (size == 0) | (size == infinity);
      out[i].re = none ? V{} : a * factor / size;
      out[i].im = none ? V{} : -(b * factor) / size;
    }
  }
}

/// sums_ic += sum_j w_ij x_jc, with w_ij = 1 / (s_i - t_j), or with factors (a_i . b_j) / (s_i -
/// t_j)^Power, from source `begin` on in steps of N.
template <Scalar T, Reach S, int N, bool Factors, int Power, int K, int U>
STRUCTMAT_INLINE void add_run(const KernelRun<T>& run, index_t begin, index_t end,
                              simd::Lanes<T, lanes<T>> (*sums)[K]) {
  using L = simd::Lanes<T, lanes<T>>;
  L targets[U];
  for (int u = 0; u < U; ++u) targets[u] = L::load(run.targets + u * L::reals);
  for (index_t j = begin; j + N <= end; j += N) {
    for (int u = 0; u < U; ++u) {
      L w[N];
      reciprocals<S, N>(targets[u], run.sources + j, w);
      if constexpr (Factors) {
        L numerators[N];
        for (int i = 0; i < N; ++i) numerators[i] = L::zero();
        const real_t<T>* a = run.factors + u * run.order * L::reals;
        const T* b = run.source_factors + j * run.order;
        for (index_t l = 0; l < run.order; ++l) {
          const L al = L::load(a + l * L::reals);
          for (int i = 0; i < N; ++i) numerators[i] = numerators[i].plus(b[i * run.order + l], al);
        }
        for (int i = 0; i < N; ++i) {
          L product = plus_product(L::zero(), numerators[i], w[i]);
          if constexpr (Power == 2) product = plus_product(L::zero(), product, w[i]);
          w[i] = product;
        }
      }
      for (int i = 0; i < N; ++i) {
        for (int c = 0; c < K; ++c) {
          sums[u][c] = sums[u][c].plus(run.charges[c * run.charge_step + j + i], w[i]);
        }
      }
    }
  }
}

/// All sources of the run.
template <Scalar T, Reach S, bool Factors, int Power, int K, int U>
STRUCTMAT_CLONES void add_sums(const KernelRun<T>& run) {
  using L = simd::Lanes<T, lanes<T>>;
  constexpr int together =
      S == Reach::wide ? 1 : shared_power<real_t<T>> / (is_complex_v<T> ? 2 : 1);
  L sums[U][K];
  for (auto& row : sums) {
    for (L& v : row) v = L::zero();
  }
  const index_t whole = run.count / together * together;
  add_run<T, S, together, Factors, Power, K, U>(run, 0, whole, sums);
  if constexpr (together > 1) {
    add_run<T, S, 1, Factors, Power, K, U>(run, whole, run.count, sums);
  }
  for (int u = 0; u < U; ++u) {
    for (int c = 0; c < K; ++c) {
      real_t<T>* at = run.sums + c * run.sum_step + u * L::reals;
      add(L::load(at), sums[u][c]).store(at);
    }
  }
}

template <Scalar T, Reach S, int U>
Kernel<T> plain_kernel(index_t columns) {
  if (columns == 1) return add_sums<T, S, false, 1, 1, U>;
  return columns == 2 ? add_sums<T, S, false, 1, 2, U> : add_sums<T, S, false, 1, 4, U>;
}

template <Scalar T, Reach S>
Kernel<T> kernel(int vectors, index_t columns, bool factors, int power) {
  constexpr int U = kernel_vectors;
  if (!factors) {
    if constexpr (RealScalar<T>) {
      if (vectors == 1) return plain_kernel<T, S, 1>(columns);
    }
    return plain_kernel<T, S, U>(columns);
  }
  if (power == 1) {
    return columns == 1 ? add_sums<T, S, true, 1, 1, U> : add_sums<T, S, true, 1, 4, U>;
  }
  return columns == 1 ? add_sums<T, S, true, 2, 1, U> : add_sums<T, S, true, 2, 4, U>;
}

template <RealScalar R>
bool fits(R part) {
  const R size = std::abs(part);
  return part == 0 || (size >= least_narrow<R> && size <= most_narrow<R>);
}

}  // namespace

template <Scalar T>
Kernel<T> kernel_for(Reach reach, int vectors, index_t columns, bool factors, int power) {
  return reach == Reach::narrow ? kernel<T, Reach::narrow>(vectors, columns, factors, power)
                                : kernel<T, Reach::wide>(vectors, columns, factors, power);
}

template <Scalar T>
Reach reach_of(const T* nodes, index_t step, index_t count) {
  for (index_t i = 0; i < count; ++i) {
    const T& node = nodes[i * step];
    if (!fits(std::real(node))) return Reach::wide;
    if constexpr (is_complex_v<T>) {
      if (!fits(std::imag(node))) return Reach::wide;
    }
  }
  return Reach::narrow;
}

#define STRUCTMAT_INSTANTIATE(T)                                    \
  template Kernel<T> kernel_for<T>(Reach, int, index_t, bool, int); \
  template Reach reach_of<T>(const T*, index_t, index_t);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
