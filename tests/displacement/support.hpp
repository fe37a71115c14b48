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

/// Operators of every kind that determine m x n matrices well.
template <Scalar T>
std::vector<Displacement<T>> determining(index_t m, index_t n, Random& random) {
  std::vector<Displacement<T>> all;
  const auto small = [&] { return diagonal(random_nodes<T>(m, random)); };
  const auto right = [&] { return diagonal(random_nodes<T>(n, random, 4)); };
  for (const auto kind : {Kind::sylvester, Kind::stein}) {
    const bool stein = kind == Kind::stein;
    // In the Stein form, shift and transposed shift go together.
    const auto down = shift<T>(1), up = shift_transposed<T>(1);
    all.push_back({kind, down, stein ? shift_transposed<T>(0) : shift<T>(0)});
    all.push_back({kind, down, stein ? shift<T>(0) : shift_transposed<T>(0)});
    all.push_back({kind, shift<T>(0), stein ? up : down});
    all.push_back({kind, shift_transposed<T>(0), up});
    all.push_back({kind, up, shift<T>(T(8))});
    if (m == n) {
      all.push_back({kind, down, shift<T>(-1)});
      all.push_back({kind, down, shift_transposed<T>(-1)});
      all.push_back({kind, shift_transposed<T>(-1), down});
    }
    all.push_back({kind, diagonal(random_nodes<T>(m, random, stein ? 0 : 4)), down});
    all.push_back({kind, up, diagonal(random_nodes<T>(n, random, stein ? 0 : 4))});
    all.push_back({kind, small(), right()});
  }
  all.push_back({Kind::stein, shift<T>(0), shift_transposed<T>(0)});
  all.push_back({Kind::stein, shift_transposed<T>(0), shift_transposed<T>(0)});
  auto with_zero = random_nodes<T>(m, random);
  if (m > 0) with_zero[0] = T{};
  all.push_back({Kind::stein, diagonal(with_zero), shift<T>(0)});
  all.push_back({Kind::stein, diagonal(with_zero), shift_transposed<T>(0)});
  auto zero_right = random_nodes<T>(n, random);
  if (n > 0) zero_right[0] = T{};
  all.push_back({Kind::stein, shift<T>(0), diagonal(zero_right)});
  return all;
}

template <Scalar T>
std::string name(const Displacement<T>& d) {
  const auto text = [](const Operator<T>& a) {
    return a.kind == OperatorKind::diagonal
               ? std::string("diagonal")
               : std::string(a.kind == OperatorKind::shift ? "Z_" : "Z^T_") +
                     std::to_string(std::real(a.corner));
  };
  return (d.kind == Kind::stein ? "stein " : "sylvester ") + text(d.left) + ", " + text(d.right);
}

/// G H^T
template <Scalar T>
Array<T, 2> image(const Generators<T>& x) {
  return structmat::test::dense_product(x.g, to_array(x.h.view().transposed()));
}

}  // namespace test
}  // namespace structmat::displacement
