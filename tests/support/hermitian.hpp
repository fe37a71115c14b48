/// \file
/// Hermitian quasiseparable matrices for tests, and a textbook LDL factorisation.
#pragma once

#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/ldl.hpp"
#include "support/random.hpp"

namespace structmat::test {

/// The upper half of the generators is made from the lower one: g = conj(q), b = a^H, h = conj(p).
template <Scalar T, class K>
void make_hermitian(Quasiseparable<T, K>& m) {
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < m.size(); ++i) {
      m.d(b, i) = std::real(m.d(b, i));
      for (index_t l = 0; l < m.order().lower; ++l) {
        m.g(b, i, l) = conjugate(m.q(b, i, l));
        m.h(b, i, l) = conjugate(m.p(b, i, l));
        if constexpr (K::rank == 3) m.b(b, i, l) = conjugate(m.a(b, i, l));
        if constexpr (K::rank == 4) {
          for (index_t k = 0; k < m.order().lower; ++k)
            m.b(b, i, l, k) = conjugate(m.a(b, i, k, l));
        }
      }
      if constexpr (K::rank == 2) m.b(b, i) = conjugate(m.a(b, i));
    }
  }
}

/// A scalar type and a kind of transition.
template <class T, class K>
struct Case {
  using Value = T;
  using Transition = K;
};

/// The largest |x - y| over the largest |y|.
template <class T, int Rank>
double difference(const Array<T, Rank>& x, const Array<T, Rank>& y) {
  double most = 0, scale = 0;
  for (index_t i = 0; i < y.size(); ++i) {
    const double error =
        std::abs(std::complex<double>(x.data()[i]) - std::complex<double>(y.data()[i]));
    most = std::isfinite(error) ? std::max(most, error) : INFINITY;
    scale = std::max(scale, double(std::abs(y.data()[i])));
  }
  return most == 0 ? 0 : most / scale;
}

/// Positive definite by a dominating diagonal; indefinite with alternating signs on it.
template <Scalar T, class K>
Quasiseparable<T, K> random_hermitian(index_t n, index_t r, index_t batch, unsigned seed,
                                      bool definite = true) {
  auto m = random_quasiseparable<T, K>(n, {r, r}, batch, seed);
  make_hermitian(m);
  const Array<T, 3> bound = absolute(m).to_dense();
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) {
      real_t<T> row = real_t<T>(0.5);
      for (index_t j = 0; j < n; ++j) row += i == j ? 0 : std::abs(bound(b, i, j));
      m.d(b, i) = definite || i % 2 == 0 ? row : -row;
    }
  }
  return m;
}

/// M = L diag(d) L^H by the definition, in double precision.
struct DenseLdl {
  using Complex = std::complex<double>;

  template <class T>
  DenseLdl(const View<const T, 2>& m) : l(m.extents()), d(static_cast<std::size_t>(m.extent(0))) {
    const index_t n = m.extent(0);
    for (index_t j = 0; j < n; ++j) {
      double pivot = std::real(m(j, j));
      for (index_t k = 0; k < j; ++k) pivot -= std::norm(l(j, k)) * d[std::size_t(k)];
      d[std::size_t(j)] = pivot;
      l(j, j) = 1;
      for (index_t i = j + 1; i < n; ++i) {
        Complex sum = m(i, j);
        for (index_t k = 0; k < j; ++k) sum -= l(i, k) * d[std::size_t(k)] * std::conj(l(j, k));
        l(i, j) = sum / pivot;
      }
    }
  }

  Array<Complex, 2> l;
  std::vector<double> d;
};

}  // namespace structmat::test
