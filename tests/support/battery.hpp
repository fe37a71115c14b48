/// \file
/// What every operator must satisfy, whatever its family: one battery, run on each.
///
/// The oracle is the dense matrix of entries, multiplied by the textbook formula in this file.
/// Errors are measured by the accuracy contract of the method: componentwise, |error| <= c (n + r)
/// eps |M| |x| with |M| formed from absolute generators (`absolute`, by argument-dependent lookup),
/// or normwise, |error| <= c f(n) eps ||M||_F ||x||_2.
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

/// What a product promises.
struct Accuracy {
  double tolerance;
  bool normwise = false;
};

template <Scalar T>
Accuracy componentwise(index_t n, index_t r) {
  return {tolerance<T>(n, r), false};
}

/// c log2(n) eps ||M||_F ||x||_2: products by Fourier transforms.
template <Scalar T>
Accuracy normwise(index_t n, double c = 8) {
  return {c * std::log2(static_cast<double>(n) + 2) * static_cast<double>(epsilon<T>), true};
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

  /// ||M||_F of one batch entry.
  double norm(index_t b) const {
    double sum = 0;
    for (const T& v : to_array(dense.view().select(0, b)))
      sum += std::norm(std::complex<double>(v));
    return std::sqrt(sum);
  }

  /// The largest error of y = op(M) x, in units of (|M| |x|)_i or of ||M||_F ||x||_2; infinite for
  /// anything that is not a number.
  double worst_error(Op op, const Array<T, 3>& x, const Array<T, 3>& y,
                     bool normwise = false) const {
    using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
    double worst = 0;
    for (index_t b = 0; b < y.extent(0); ++b) {
      const index_t mb = dense.extent(0) == 1 ? 0 : b, xb = x.extent(0) == 1 ? 0 : b;
      const double matrix_norm = normwise ? norm(mb) : 0;
      for (index_t i = 0; i < y.extent(1); ++i) {
        for (index_t c = 0; c < y.extent(2); ++c) {
          Wide sum{};
          double scale = 0, squares = 0;
          for (index_t j = 0; j < x.extent(1); ++j) {
            sum += Wide(op_entry(op, dense.view(), mb, i, j)) * Wide(x(xb, j, c));
            squares += std::norm(Wide(x(xb, j, c)));
            scale += std::abs(op_entry(op, bound.view(), mb, i, j)) * std::abs(x(xb, j, c));
          }
          const double error = std::abs(sum - Wide(y(b, i, c)));
          if (error == 0) continue;
          const double relative = error / (normwise ? matrix_norm * std::sqrt(squares) : scale);
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
void check_products(const M& m, const Accuracy& accuracy, index_t k, Random& random) {
  using T = typename M::value_type;
  const index_t rows = m.rows(), cols = m.cols(), batch = m.batch();
  const Oracle<M> oracle(m);
  for (const Op op : all_ops) {
    INFO("op " << int(op) << ", " << rows << " x " << cols << ", batch " << batch << ", k " << k);
    const index_t in = op == Op::none ? cols : rows, out = op == Op::none ? rows : cols;
    const auto x = random.array<T, 3>({batch, in, k});
    auto y = poisoned<T, 3>({batch, out, k});
    apply_op(exec::cpu{}, m, op, x, y);
    CHECK(oracle.worst_error(op, x, y, accuracy.normwise) <= accuracy.tolerance);

    // One x for all matrices.
    const auto shared = random.array<T, 3>({1, in, k});
    apply_op(exec::cpu{}, m, op, shared, y);
    CHECK(oracle.worst_error(op, shared, y, accuracy.normwise) <= accuracy.tolerance);
  }

  // <M x, z> = <x, M^H z> and z^T (M x) = (M^T z)^T x, separately: they differ for complex data.
  const auto x = random.array<T, 3>({batch, cols, 1}), z = random.array<T, 3>({batch, rows, 1});
  auto mx = poisoned<T, 3>({batch, rows, 1});
  auto mhz = poisoned<T, 3>({batch, cols, 1}), mtz = mhz;
  apply(exec::cpu{}, m, x, mx);
  apply_adjoint(exec::cpu{}, m, z, mhz);
  apply_transpose(exec::cpu{}, m, z, mtz);
  for (index_t b = 0; b < batch; ++b) {
    std::complex<double> left{}, right{}, left_t{}, right_t{};
    double scale = 0, x_squares = 0, z_sum = 0;
    for (index_t i = 0; i < rows; ++i) {
      const std::complex<double> zi(z(b, i, 0)), y(mx(b, i, 0));
      left += std::conj(zi) * y;
      left_t += zi * y;
      z_sum += std::abs(zi);
      for (index_t j = 0; j < cols; ++j)
        scale += std::abs(zi) * std::abs(oracle.bound(b, i, j)) * std::abs(x(b, j, 0));
    }
    for (index_t j = 0; j < cols; ++j) {
      const std::complex<double> xj(x(b, j, 0)), w(mhz(b, j, 0)), v(mtz(b, j, 0));
      right += std::conj(w) * xj;
      right_t += v * xj;
      x_squares += std::norm(xj);
    }
    if (accuracy.normwise) {
      scale = oracle.norm(b) * std::sqrt(x_squares) * z_sum *
              (1 + std::sqrt(static_cast<double>(cols)));
    }
    CHECK(std::abs(left - right) <= 2 * accuracy.tolerance * scale);
    CHECK(std::abs(left_t - right_t) <= 2 * accuracy.tolerance * scale);
  }
}

/// The same for a componentwise method of order r.
template <class M>
void check_products(const M& m, index_t order, index_t k, Random& random) {
  using T = typename M::value_type;
  check_products(m, componentwise<T>(std::max(m.rows(), m.cols()), order), k, random);
}

/// Linearity: M (alpha x + y) = alpha M x + M y.
template <class M>
void check_linearity(const M& m, const Accuracy& accuracy, Random& random) {
  using T = typename M::value_type;
  const index_t rows = m.rows(), cols = m.cols();
  const T alpha = random.scalar<T>();
  const auto x = random.array<T, 3>({m.batch(), cols, 2}), y = random.array<T, 3>(x.extents());
  auto sum = x;
  for (index_t i = 0; i < sum.size(); ++i) sum.data()[i] = alpha * x.data()[i] + y.data()[i];
  const auto msum = m * sum, mx = m * x, my = m * y;
  const Oracle<M> oracle(m);
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < rows; ++i) {
      for (index_t c = 0; c < 2; ++c) {
        double scale = 0, squares = 0;
        for (index_t j = 0; j < cols; ++j) {
          const double size = std::abs(alpha * x(b, j, c)) + std::abs(y(b, j, c));
          scale += std::abs(oracle.bound(b, i, j)) * size;
          squares += size * size;
        }
        if (accuracy.normwise) scale = oracle.norm(b) * std::sqrt(squares);
        const auto expected = alpha * mx(b, i, c) + my(b, i, c);
        CHECK(std::abs(msum(b, i, c) - expected) <= 2 * accuracy.tolerance * scale);
      }
    }
  }
}

template <class M>
void check_linearity(const M& m, index_t order, Random& random) {
  using T = typename M::value_type;
  check_linearity(m, componentwise<T>(std::max(m.rows(), m.cols()), order), random);
}

/// Blocks run on BLAS, which may sum in another order for another layout.
template <class M>
inline constexpr bool runs_on_blas = [] {
  if constexpr (requires { typename M::transition_type; }) {
    return std::same_as<typename M::transition_type, transition::Block>;
  } else {
    return false;
  }
}();

/// Operands with gaps and negative strides give the bits of contiguous ones, and the gaps stay
/// untouched.
template <class M>
void check_strides(const M& m, index_t k, Random& random) {
  using T = typename M::value_type;
  const index_t batch = m.batch();
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? m.cols() : m.rows();
    const index_t out = op == Op::none ? m.rows() : m.cols();
    const auto x = random.array<T, 3>({batch, in, k});
    auto expected = poisoned<T, 3>({batch, out, k});
    apply_op(exec::cpu{}, m, op, x, expected);

    Array<T, 3> x_store({batch, 2 * in + 1, 3 * k + 1}), y_store({batch, 3 * out + 1, 2 * k + 1});
    const T untouched = T(7);
    for (T& v : y_store) v = untouched;
    const View<T, 3> xs(x_store.data() + 1, {batch, in, k},
                        {(2 * in + 1) * (3 * k + 1), 2 * (3 * k + 1), 3});
    const View<T, 3> ys = View<T, 3>(y_store.data() + 1, {batch, out, k},
                                     {(3 * out + 1) * (2 * k + 1), 3 * (2 * k + 1), 2})
                              .reversed(1)
                              .reversed(2);
    copy(x.view().reversed(1), xs);
    apply_op(exec::cpu{}, m, op, xs.reversed(1), ys);
    const Array<T, 3> got = to_array(ys);
    if constexpr (runs_on_blas<M>) {
      CHECK(Oracle<M>(m).worst_error(op, x, got) <= tolerance<T>(in, in));
    } else {
      CHECK(same_bits(got, expected));
    }
    index_t kept = 0;
    for (const T& v : y_store) kept += v == untouched;
    CHECK(kept == y_store.size() - batch * out * k);
  }
}

/// The same bits from any number of threads.
template <class M>
void check_threads(const M& m, index_t k, Random& random) {
  using T = typename M::value_type;
  const index_t batch = m.batch();
  for (const Op op : all_ops) {
    const auto x = random.array<T, 3>({batch, op == Op::none ? m.cols() : m.rows(), k});
    auto one = poisoned<T, 3>({batch, op == Op::none ? m.rows() : m.cols(), k});
    apply_op(exec::cpu{1}, m, op, x, one);
    for (const int threads : {2, 3, 4, 7}) {
      auto many = poisoned<T, 3>(one.extents());
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

/// Every illegal operand is refused, by name, before anything is written. M has batch 2 and at least
/// two rows and columns.
template <class M>
void check_errors(const M& m, const std::string& family) {
  using T = typename M::value_type;
  const index_t rows = m.rows(), cols = m.cols();
  REQUIRE(rows >= 2);
  REQUIRE(cols >= 2);
  REQUIRE(m.batch() == 2);
  const Array<T, 3> x({2, cols, 3});
  auto y = poisoned<T, 3>({2, rows, 3});
  const auto refuses = [&](const auto& in, auto&& out, const std::string& what) {
    CHECK(message_from<ShapeError>([&] { apply(exec::cpu{}, m, in, out); }) ==
          family + "::apply: " + what);
  };
  refuses(Array<T, 3>({2, cols + 1, 3}), y,
          "x has " + std::to_string(cols + 1) + " rows, the operator has " + std::to_string(cols) +
              " columns");
  refuses(x, poisoned<T, 3>({2, rows - 1, 3}),
          "y has " + std::to_string(rows - 1) + " rows, the operator has " + std::to_string(rows) +
              " rows");
  refuses(x, poisoned<T, 3>({2, rows, 2}), "x has 3 columns, y has 2");
  refuses(Array<T, 3>({3, cols, 3}), poisoned<T, 3>({3, rows, 3}),
          "x has batch 3, the operator has 2");
  refuses(x, poisoned<T, 3>({1, rows, 3}), "y has batch 1, the product has 2");
  for (const T& v : y) CHECK(std::isnan(std::real(v)));

  auto both = poisoned<T, 3>({2, std::max(rows, cols), 3});
  CHECK(message_from<DomainError>([&] {
          apply(exec::cpu{}, m, both.view().slice(1, 0, cols), both.view().slice(1, 0, rows));
        }) == family + "::apply: x and y overlap in memory");
}

}  // namespace structmat::test
