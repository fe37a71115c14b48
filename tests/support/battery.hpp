/// \file
/// What every operator must satisfy, whatever its family: one battery, run on each.
///
/// The oracle is the dense matrix of entries, multiplied by the textbook formula in this file.
/// Errors are measured by the accuracy contract of componentwise methods, |error| <= c (n + r) eps
/// |M| |x| with |M| formed from absolute generators; c is in `tolerance` below.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "structmat/core/apply.hpp"
#include "structmat/core/error.hpp"
#include "support/random.hpp"

namespace structmat::test {

template <Scalar T>
double tolerance(index_t n, index_t r) {
  return 4.0 * static_cast<double>(n + r) * static_cast<double>(epsilon<T>);
}

inline constexpr Op all_ops[] = {Op::none, Op::transpose, Op::adjoint};

template <Scalar T>
T op_entry(Op op, const View<const T, 3>& dense, index_t b, index_t i, index_t j) {
  const T v = op == Op::none ? dense(b, i, j) : dense(b, j, i);
  return op == Op::adjoint ? conjugate(v) : v;
}

/// apply, apply_transpose or apply_adjoint.
template <class Exec, class M, class X, class Y>
void apply_op(const Exec& e, const M& m, Op op, const X& x, Y&& y) {
  if (op == Op::none) return apply(e, m, x, y);
  if (op == Op::transpose) return apply_transpose(e, m, x, y);
  apply_adjoint(e, m, x, y);
}

/// The entries of a matrix and those of the matrix of absolute generators.
template <class M>
struct Oracle {
  using T = typename M::value_type;
  explicit Oracle(const M& m) : dense(m.to_dense()), bound(absolute(m).to_dense()) {}
  Array<T, 3> dense, bound;

  /// The largest error of y = op(M) x, in units of (|M| |x|)_i; infinite for anything that is not a
  /// number.
  double worst_error(Op op, const Array<T, 3>& x, const Array<T, 3>& y) const {
    using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
    double worst = 0;
    for (index_t b = 0; b < y.extent(0); ++b) {
      const index_t mb = dense.extent(0) == 1 ? 0 : b, xb = x.extent(0) == 1 ? 0 : b;
      for (index_t i = 0; i < y.extent(1); ++i) {
        for (index_t c = 0; c < y.extent(2); ++c) {
          Wide sum{};
          double scale = 0;
          for (index_t j = 0; j < x.extent(1); ++j) {
            sum += Wide(op_entry(op, dense.view(), mb, i, j)) * Wide(x(xb, j, c));
            scale += std::abs(op_entry(op, bound.view(), mb, i, j)) * std::abs(x(xb, j, c));
          }
          const double error = std::abs(sum - Wide(y(b, i, c)));
          if (error == 0) continue;
          const double relative = error / scale;
          worst = std::isfinite(relative) ? std::max(worst, relative) : INFINITY;
        }
      }
    }
    return worst;
  }
};

/// An array of NaN: outputs start from it, so that an element that is not written shows.
template <Scalar T, int Rank>
Array<T, Rank> poisoned(const std::array<index_t, Rank>& extents) {
  Array<T, Rank> a(extents);
  for (T& v : a) v = T(NAN);
  return a;
}

template <Scalar T, int Rank>
bool same_bits(const Array<T, Rank>& a, const Array<T, Rank>& b) {
  return a.extents() == b.extents() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Oracle, batch against loop, broadcasting, adjointness.
template <class M>
void check_products(const M& m, index_t order, index_t k, Random& random) {
  using T = typename M::value_type;
  const index_t n = m.rows(), batch = m.batch();
  const Oracle<M> oracle(m);
  for (const Op op : all_ops) {
    INFO("op " << int(op) << ", n " << n << ", order " << order << ", batch " << batch << ", k "
               << k);
    const auto x = random.array<T, 3>({batch, n, k});
    auto y = poisoned<T, 3>({batch, n, k});
    apply_op(exec::cpu{}, m, op, x, y);
    CHECK(oracle.worst_error(op, x, y) <= tolerance<T>(n, order));

    // One x for all matrices.
    const auto shared = random.array<T, 3>({1, n, k});
    apply_op(exec::cpu{}, m, op, shared, y);
    CHECK(oracle.worst_error(op, shared, y) <= tolerance<T>(n, order));
  }

  // <M x, z> = <x, M^H z> and z^T (M x) = (M^T z)^T x, separately: they differ for complex data.
  const auto x = random.array<T, 3>({batch, n, 1}), z = random.array<T, 3>({batch, n, 1});
  auto mx = poisoned<T, 3>({batch, n, 1}), mhz = mx, mtz = mx;
  apply(exec::cpu{}, m, x, mx);
  apply_adjoint(exec::cpu{}, m, z, mhz);
  apply_transpose(exec::cpu{}, m, z, mtz);
  for (index_t b = 0; b < batch; ++b) {
    std::complex<double> left{}, right{}, left_t{}, right_t{};
    double scale = 0;
    for (index_t i = 0; i < n; ++i) {
      const std::complex<double> xi(x(b, i, 0)), zi(z(b, i, 0)), y(mx(b, i, 0)), w(mhz(b, i, 0)),
          v(mtz(b, i, 0));
      left += std::conj(zi) * y;
      right += std::conj(w) * xi;
      left_t += zi * y;
      right_t += v * xi;
      for (index_t j = 0; j < n; ++j)
        scale += std::abs(zi) * std::abs(oracle.bound(b, i, j)) * std::abs(x(b, j, 0));
    }
    CHECK(std::abs(left - right) <= 2 * tolerance<T>(n, order) * scale);
    CHECK(std::abs(left_t - right_t) <= 2 * tolerance<T>(n, order) * scale);
  }
}

/// Linearity: M (alpha x + y) = alpha M x + M y.
template <class M>
void check_linearity(const M& m, index_t order, Random& random) {
  using T = typename M::value_type;
  const index_t n = m.rows();
  const T alpha = random.scalar<T>();
  const auto x = random.array<T, 3>({m.batch(), n, 2}), y = random.array<T, 3>({m.batch(), n, 2});
  auto sum = x;
  for (index_t i = 0; i < sum.size(); ++i) sum.data()[i] = alpha * x.data()[i] + y.data()[i];
  const auto msum = m * sum, mx = m * x, my = m * y;
  const Array<T, 3> bound = absolute(m).to_dense();
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t c = 0; c < 2; ++c) {
        double scale = 0;
        for (index_t j = 0; j < n; ++j) {
          scale += std::abs(bound(b, i, j)) * (std::abs(alpha * x(b, j, c)) + std::abs(y(b, j, c)));
        }
        const auto expected = alpha * mx(b, i, c) + my(b, i, c);
        CHECK(std::abs(msum(b, i, c) - expected) <= 2 * tolerance<T>(n, order) * scale);
      }
    }
  }
}

/// Operands with gaps and negative strides give the bits of contiguous ones, and the gaps stay
/// untouched.
template <class M>
void check_strides(const M& m, index_t k, Random& random) {
  using T = typename M::value_type;
  const index_t n = m.rows(), batch = m.batch();
  const auto x = random.array<T, 3>({batch, n, k});
  for (const Op op : all_ops) {
    auto expected = poisoned<T, 3>({batch, n, k});
    apply_op(exec::cpu{}, m, op, x, expected);

    Array<T, 3> x_store({batch, 2 * n + 1, 3 * k + 1}), y_store({batch, 3 * n + 1, 2 * k + 1});
    const T untouched = T(7);
    for (T& v : y_store) v = untouched;
    const View<T, 3> xs(x_store.data() + 1, {batch, n, k},
                        {(2 * n + 1) * (3 * k + 1), 2 * (3 * k + 1), 3});
    const View<T, 3> ys = View<T, 3>(y_store.data() + 1, {batch, n, k},
                                     {(3 * n + 1) * (2 * k + 1), 3 * (2 * k + 1), 2})
                              .reversed(1)
                              .reversed(2);
    copy(x.view().reversed(1), xs);
    apply_op(exec::cpu{}, m, op, xs.reversed(1), ys);
    const Array<T, 3> got = to_array(ys);
    const bool equal = same_bits(got, expected);
    // Blocks run on BLAS, which may sum in another order for another layout.
    if constexpr (std::same_as<typename M::transition_type, transition::Block>) {
      CHECK(Oracle<M>(m).worst_error(op, x, got) <= tolerance<T>(n, n));
    } else {
      CHECK(equal);
    }
    index_t kept = 0;
    for (const T& v : y_store) kept += v == untouched;
    CHECK(kept == y_store.size() - batch * n * k);
  }
}

/// The same bits from any number of threads.
template <class M>
void check_threads(const M& m, index_t k, Random& random) {
  using T = typename M::value_type;
  const index_t n = m.rows(), batch = m.batch();
  const auto x = random.array<T, 3>({batch, n, k});
  for (const Op op : all_ops) {
    auto one = poisoned<T, 3>({batch, n, k});
    apply_op(exec::cpu{1}, m, op, x, one);
    for (const int threads : {2, 3, 4, 7}) {
      auto many = poisoned<T, 3>({batch, n, k});
      apply_op(exec::cpu{threads}, m, op, x, many);
      INFO(threads << " threads, k " << k);
      CHECK(same_bits(one, many));
    }
  }
}

template <class E, class F>
std::string message_from(F&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Every illegal operand is refused, by name, before anything is written.
template <class M>
void check_errors(const M& m, const std::string& family) {
  using T = typename M::value_type;
  const index_t n = m.rows();
  REQUIRE(n >= 2);
  REQUIRE(m.batch() == 2);
  const Array<T, 3> x({2, n, 3});
  auto y = poisoned<T, 3>({2, n, 3});
  const auto size = std::to_string(n);
  const auto refuses = [&](const auto& in, auto&& out, const std::string& what) {
    CHECK(message_from<ShapeError>([&] { apply(exec::cpu{}, m, in, out); }) ==
          family + "::apply: " + what);
  };
  refuses(Array<T, 3>({2, n + 1, 3}), y,
          "x has " + std::to_string(n + 1) + " rows, the operator has " + size + " columns");
  refuses(x, poisoned<T, 3>({2, n - 1, 3}),
          "y has " + std::to_string(n - 1) + " rows, the operator has " + size + " rows");
  refuses(x, poisoned<T, 3>({2, n, 2}), "x has 3 columns, y has 2");
  refuses(Array<T, 3>({3, n, 3}), poisoned<T, 3>({3, n, 3}), "x has batch 3, the operator has 2");
  refuses(x, poisoned<T, 3>({1, n, 3}), "y has batch 1, the product has 2");
  for (const T& v : y) CHECK(std::isnan(std::real(v)));

  auto both = poisoned<T, 3>({2, n, 3});
  CHECK(message_from<DomainError>([&] { apply(exec::cpu{}, m, both, both); }) ==
        family + "::apply: x and y overlap in memory");
}

}  // namespace structmat::test
