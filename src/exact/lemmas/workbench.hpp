/// \file
/// What the lemmas are built from: random instances of each class, orders, and membership in the
/// classes of mixers made of two semiseparable scans.
#pragma once

#include <utility>
#include <vector>

#include "exact/lemmas/floating_field.hpp"
#include "structmat/exact/completion.hpp"
#include "structmat/exact/displacement.hpp"
#include "structmat/exact/matrix.hpp"
#include "structmat/exact/quasiseparable.hpp"
#include "structmat/exact/rank.hpp"

namespace structmat::exact {

/// Generators of a lower triangular semiseparable matrix, c_i A_i ... A_{j+1} b_j for i >= j.
template <Field F>
struct Inclusive {
  std::vector<Matrix<F>> c, a, b;  ///< 1 x N, N x N, N x 1

  Matrix<F> to_dense(const F& field) const {
    const index_t n = static_cast<index_t>(c.size());
    Matrix<F> m(field, n, n);
    for (index_t i = 0; i < n; ++i) {
      Matrix<F> row = c[i];
      for (index_t j = i; j >= 0; --j) {
        m(i, j) = (row * b[j])(0, 0);
        row = row * a[j];
      }
    }
    return m;
  }
};

/// Random instances over one field, and what is measured on them.
template <Field F>
class Workbench {
 public:
  using M = Matrix<F>;
  using Element = typename F::Element;

  Workbench(F over, std::uint64_t seed) : field(std::move(over)), engine(seed) {}

  F field;
  Engine engine;

  // --- elements and dense matrices

  Element integer(std::int64_t i) const { return field.from_integer(i); }
  Element nonzero() {
    for (;;) {
      Element x = field.random(engine);
      if (field.weight(x) > 0) return x;
    }
  }
  M random(index_t rows, index_t cols) { return M::random(field, rows, cols, engine); }
  M identity(index_t n) const { return M::identity(field, n); }
  M zeros(index_t rows, index_t cols) const { return M(field, rows, cols); }
  M diagonal(const std::vector<Element>& d) const { return diagonal_matrix(field, d); }
  M random_diagonal(index_t n, bool invertible) {
    std::vector<Element> d(n);
    for (Element& x : d) x = invertible ? nonzero() : field.random(engine);
    return diagonal(d);
  }
  /// In floating point with an inverse that is not large: rounding must not be taken for rank.
  M random_invertible(index_t n) {
    for (;;) {
      M m = random(n, n);
      if (usable_inverse(m)) return m;
    }
  }
  /// A^-1 where it exists and, in floating point, is not so large that rounding drowns the result.
  std::optional<M> usable_inverse(const M& m) const {
    constexpr double most = 1e4;
    std::optional<M> inverse_of = inverse(m);
    if constexpr (!F::is_exact) {
      if (inverse_of && norm(*inverse_of) * norm(m) > most) return std::nullopt;
    }
    return inverse_of;
  }
  M scaled(const Element& alpha, M m) const {
    for (index_t i = 0; i < m.rows(); ++i) {
      for (index_t j = 0; j < m.cols(); ++j) m(i, j) = field.multiply(alpha, m(i, j));
    }
    return m;
  }
  /// The entries with lowest <= i - j <= highest.
  M band(const M& m, index_t lowest, index_t highest) const {
    M r = zeros(m.rows(), m.cols());
    for (index_t i = 0; i < m.rows(); ++i) {
      for (index_t j = 0; j < m.cols(); ++j) {
        if (lowest <= i - j && i - j <= highest) r(i, j) = m(i, j);
      }
    }
    return r;
  }
  M lower(const M& m) const { return band(m, 0, m.rows()); }
  M strictly_lower(const M& m) const { return band(m, 1, m.rows()); }
  M strictly_upper(const M& m) const { return band(m, -m.cols(), -1); }
  /// Z^power: ones where i - j = power.
  M shift(index_t n, index_t power = 1) const {
    M ones = zeros(n, n);
    for (index_t i = power; i < n; ++i) ones(i, i - power) = integer(1);
    return ones;
  }
  /// Ones where i + j = n - 1.
  M flip(index_t n) const {
    M j = zeros(n, n);
    for (index_t i = 0; i < n; ++i) j(i, n - 1 - i) = integer(1);
    return j;
  }

  // --- random structured matrices

  /// Generators with state size `order`; transitions invertible if asked for.
  Inclusive<F> inclusive(index_t n, index_t order, bool invertible = false) {
    Inclusive<F> g;
    for (index_t i = 0; i < n; ++i) {
      g.c.push_back(random(1, order));
      g.a.push_back(invertible ? random_invertible(order) : random(order, order));
      g.b.push_back(random(order, 1));
    }
    return g;
  }
  M semiseparable(index_t n, index_t order) { return inclusive(n, order).to_dense(field); }
  Triangle<F> triangle(index_t n, index_t order) {
    const auto state = [&](index_t i) { return i == 0 || i == n ? 0 : order; };
    Triangle<F> t;
    for (index_t i = 0; i < n; ++i) {
      t.p.push_back(random(1, state(i)));
      t.a.push_back(random(state(i + 1), state(i)));
      t.q.push_back(random(state(i + 1), 1));
    }
    return t;
  }
  Quasiseparable<F> quasiseparable(index_t n, index_t lower_order, index_t upper_order) {
    Quasiseparable<F> q{field, triangle(n, lower_order), triangle(n, upper_order), {}};
    for (index_t i = 0; i < n; ++i) q.diagonal.push_back(field.random(engine));
    return q;
  }
  M low_rank(index_t m, index_t n, index_t r) { return random(m, r) * random(r, n); }
  M toeplitz(index_t n) {
    std::vector<Element> t(2 * n + 1);
    for (Element& x : t) x = field.random(engine);
    M m = zeros(n, n);
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) m(i, j) = t[i - j + n];
    }
    return m;
  }
  /// Different from each other and from those in `others`; well apart in floating point.
  std::vector<Element> nodes(index_t n, const std::vector<Element>& others = {}) {
    if constexpr (std::same_as<F, PrimeField>) {
      if (std::int64_t(field.prime()) < n + std::int64_t(others.size())) {
        throw DomainError("exact::Lemma::run: " + field.name() + " has too few elements for " +
                          std::to_string(n + std::int64_t(others.size())) + " distinct nodes");
      }
    }
    std::vector<Element> s;
    while (index_t(s.size()) < n) {
      const Element x = spread();
      const auto far = [&](const Element& y) { return is_far(field.subtract(x, y)); };
      if (std::all_of(s.begin(), s.end(), far) && std::all_of(others.begin(), others.end(), far)) {
        s.push_back(x);
      }
    }
    return s;
  }

  // --- ranks and orders

  /// In floating point relative to the norm of the matrix `whole` that the block was cut from.
  index_t rank_in(const M& block, const M& whole) const {
    if constexpr (F::is_exact) {
      return rank(block);
    } else {
      return rank(block, norm(whole));
    }
  }
  index_t rank_of(const M& m) const { return rank_in(m, m); }
  bool equal(const M& a, const M& b) const {
    if constexpr (F::is_exact) {
      return a == b;
    } else {
      return a.rows() == b.rows() && a.cols() == b.cols() &&
             norm(a - b) <= FloatingField::negligible * (norm(a) + norm(b));
    }
  }
  /// max_k rank M(k:n, 0:k+extra): extra = 0 for the order of the strictly lower part, 1 for the
  /// semiseparable order of the lower part.
  index_t lower_order(const M& m, index_t extra = 0) const {
    const index_t n = m.rows();
    index_t order = 0;
    for (index_t k = 1 - extra; k < n; ++k) {
      order = std::max(order, rank_in(m.block(k, n, 0, k + extra), m));
    }
    return order;
  }
  index_t semiseparable_order(const M& m) const { return lower_order(m, 1); }
  Order order(const M& m) const { return {lower_order(m), lower_order(m.transposed())}; }
  bool within(const M& m, index_t lower_most, index_t upper_most) const {
    const Order found = order(m);
    return found.lower <= lower_most && found.upper <= upper_most;
  }

  /// Grows when an instance was met that floating point cannot decide.
  index_t doubtful() const {
    if constexpr (F::is_exact) {
      return 0;
    } else {
      return field.doubtful();
    }
  }

  // --- membership

  /// The least N for which the strictly lower part of m is that of U V^T.
  index_t representable(const M& m) const {
    if constexpr (F::is_exact) {
      return representable_order(m, Blocks::strict);
    } else {
      return representable_order(m);
    }
  }
  /// The strictly lower part of m is that of an N-semiseparable matrix.
  bool extends(const M& m, index_t order) const { return complete_diagonal(m, order).completable; }
  /// m = S_l + S_u + D with S_l and S_u^T N-semiseparable.
  bool in_no_shift(const M& m, index_t order) const {
    return extends(m, order) && extends(m.transposed(), order);
  }
  /// m = S_l + S_u: its diagonal is shared out, and both parts are examined. Where one part forces
  /// its entry the other one takes the rest.
  bool in_add(const M& m, index_t order) const {
    const auto from_lower = complete_diagonal(m, order),
               from_upper = complete_diagonal(m.transposed(), order);
    if (!from_lower.completable || !from_upper.completable) return false;
    M l = strictly_lower(m), u = strictly_upper(m);
    for (index_t i = 0; i < m.rows(); ++i) {
      const auto &below = from_lower.entries[i], &above = from_upper.entries[i];
      const bool upper_decides =
          above.freedom == Freedom::forced && below.freedom != Freedom::forced;
      l(i, i) = upper_decides ? field.subtract(m(i, i), above.value) : below.value;
      u(i, i) = field.subtract(m(i, i), l(i, i));
    }
    return semiseparable_order(l) <= order && semiseparable_order(u.transposed()) <= order;
  }
  bool in_no_diag(const M& m, index_t order) const {
    return within(m, order, order) && band(m, 0, 0).is_zero();
  }

 private:
  Element spread() {
    if constexpr (F::is_exact) {
      return field.add(field.random(engine), field.random(engine));
    } else {
      return 2 * field.random(engine);
    }
  }
  bool is_far(const Element& difference) const {
    constexpr double apart = 0.05;
    if constexpr (F::is_exact) {
      return field.weight(difference) > 0;
    } else {
      return std::abs(difference) > apart;
    }
  }
};

}  // namespace structmat::exact
