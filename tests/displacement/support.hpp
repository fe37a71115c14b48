/// \file
/// Random matrices that displacement operators determine, and dense oracles.
#pragma once

#include "structmat/displacement/from_structured.hpp"
#include "structmat/displacement/plan.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

namespace structmat::displacement {

/// Plans are their own bound: their products are measured by norms.
template <Scalar T>
Plan<T> absolute(const Plan<T>& p) {
  return p;
}

namespace test {

using structmat::test::Random;

template <Scalar T>
std::vector<T> random_nodes(index_t n, Random& random, double around = 0) {
  std::vector<T> x(n);
  for (T& v : x) v = random.scalar<T>() + T(real_t<T>(around));
  return x;
}

template <Scalar T>
Generators<T> random_generators(Displacement<T> d, index_t m, index_t n, index_t r,
                                Random& random) {
  return {std::move(d), random.array<T, 2>({m, r}), random.array<T, 2>({n, r})};
}

template <Scalar T>
Toeplitz<T> random_toeplitz(index_t m, index_t n, Random& random, index_t batch = 1) {
  Toeplitz<T> t(m, n, batch);
  random.fill(t.lags);
  return t;
}

/// One matrix of a batch.
template <class M>
auto dense_of(const M& m, index_t b = 0) {
  return to_array(m.to_dense().view().select(0, b));
}

/// X from generators.
template <Scalar T>
Array<T, 2> dense_of(const Generators<T>& x) {
  return dense_of(Plan<T>(x));
}

/// ||a - b||_F / ||b||_F, or the former where b is 0.
template <Scalar T>
double relative_distance(const Array<T, 2>& a, const Array<T, 2>& b) {
  REQUIRE(a.extents() == b.extents());
  double difference = 0, norm = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    difference += std::norm(std::complex<double>(a.data()[i]) - std::complex<double>(b.data()[i]));
    norm += std::norm(std::complex<double>(b.data()[i]));
  }
  return std::sqrt(difference / (norm > 0 ? norm : 1));
}

/// G H^T
template <Scalar T>
Array<T, 2> image(const Generators<T>& x) {
  return structmat::test::dense_product(x.g, to_array(x.h.view().transposed()));
}

}  // namespace test
}  // namespace structmat::displacement
