/// \file
/// Hermitian positive definite Toeplitz matrices for tests, and textbook eliminations.
#pragma once

#include <cmath>
#include <vector>

#include "support/dense.hpp"
#include "support/random.hpp"

namespace structmat::test {

/// First columns of positive definite matrices: covariances of a few random frequencies and white
/// noise, c_l = sum_k w_k exp(2 pi i f_k l) + noise [l = 0].
template <Scalar T>
Array<T, 2> random_covariances(index_t n, index_t batch, unsigned seed, double noise = 0.5) {
  Random random(seed);
  Array<T, 2> column({batch, n});
  for (index_t b = 0; b < batch; ++b) {
    for (int k = 0; k < 5; ++k) {
      const double weight = 0.1 + std::abs(random.real()), f = 3 * random.real(),
                   decay = 0.02 * std::abs(random.real());
      for (index_t l = 0; l < n; ++l) {
        const double size = weight * std::exp(-decay * double(l));
        if constexpr (is_complex_v<T>) {
          column(b, l) += T(std::polar(size, f * double(l)));
        } else {
          column(b, l) += T(size * std::cos(f * double(l)));
        }
      }
    }
    if (n > 0) column(b, 0) = std::real(column(b, 0)) + real_t<T>(noise);
  }
  return column;
}

/// T_ij = c_{i-j}, by the definition, in double precision.
template <Scalar T>
Array<Wide<T>, 2> hermitian_dense(const View<const T, 1>& column) {
  const index_t n = column.extent(0);
  Array<Wide<T>, 2> a({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      a(i, j) = i >= j ? Wide<T>(column(i - j)) : conjugate(Wide<T>(column(j - i)));
    }
  }
  return a;
}

/// Pivots and unit lower triangle of M = L diag(d) L^H; stops behind a pivot that is not positive.
template <class W>
struct DenseCholesky {
  explicit DenseCholesky(const Array<W, 2>& m) : l(m.extents()) {
    const index_t n = m.extent(0);
    for (index_t j = 0; j < n; ++j) {
      double pivot = std::real(m(j, j));
      for (index_t k = 0; k < j; ++k) pivot -= std::norm(l(j, k)) * d[std::size_t(k)];
      d.push_back(pivot);
      if (!(pivot > 0)) return;
      l(j, j) = 1;
      for (index_t i = j + 1; i < n; ++i) {
        W sum = m(i, j);
        for (index_t k = 0; k < j; ++k) sum -= l(i, k) * d[std::size_t(k)] * conjugate(l(j, k));
        l(i, j) = sum / pivot;
      }
    }
  }

  /// M^-1 b
  Array<W, 2> solve(Array<W, 2> b) const {
    const index_t n = b.extent(0);
    for (index_t c = 0; c < b.extent(1); ++c) {
      for (index_t i = 0; i < n; ++i) {
        for (index_t k = 0; k < i; ++k) b(i, c) -= l(i, k) * b(k, c);
      }
      for (index_t i = n - 1; i >= 0; --i) {
        b(i, c) /= d[std::size_t(i)];
        for (index_t k = i + 1; k < n; ++k) b(i, c) -= conjugate(l(k, i)) * b(k, c);
      }
    }
    return b;
  }

  Array<W, 2> inverse() const {
    Array<W, 2> eye(l.extents());
    for (index_t i = 0; i < eye.extent(0); ++i) eye(i, i) = 1;
    return solve(eye);
  }

  double log_determinant() const {
    double sum = 0;
    for (const double v : d) sum += std::log(v);
    return sum;
  }

  Array<W, 2> l;
  std::vector<double> d;
};

}  // namespace structmat::test
