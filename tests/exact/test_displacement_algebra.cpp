#include "structmat/exact/displacement_algebra.hpp"

#include <catch2/catch.hpp>
#include <numeric>

using namespace structmat;
using namespace structmat::exact;

namespace {

/// 7 2^20 + 1, with roots of unity of every order that divides 7 2^20; 3 generates the group.
const PrimeField field(7340033);
using M = Matrix<PrimeField>;
using Element = PrimeField::Element;

Element number(std::int64_t i) {
  return field.from_integer(i);
}

Element power(Element base, std::uint64_t exponent) {
  Element result = number(1);
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = field.multiply(result, base);
    base = field.multiply(base, base);
  }
  return result;
}

/// A number of order n in the multiplicative group.
Element root(index_t n) {
  return power(number(3), (field.prime() - 1) / static_cast<std::uint64_t>(n));
}

M random(index_t rows, index_t cols, Engine& engine) {
  return M::random(field, rows, cols, engine);
}

M toeplitz(index_t rows, index_t cols, Engine& engine) {
  const M lags = random(1, rows + cols - 1, engine);
  M t(field, rows, cols);
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) t(i, j) = lags(0, i - j + cols - 1);
  }
  return t;
}

/// A random matrix of this order for Z_e on the left and Z_f on the right.
Displaced<PrimeField> random_toeplitz_like(index_t m, index_t n, index_t order, Element e,
                                           Element f, Engine& engine) {
  const M g = random(m, order, engine), h = random(n, order, engine);
  const auto x = toeplitz_like(g, h, e, f);
  REQUIRE(x);
  return {*x, down_shift(field, m, e), down_shift(field, n, f), g, h};
}

std::vector<Element> nodes(index_t n, std::int64_t first) {
  std::vector<Element> x;
  for (index_t i = 0; i < n; ++i) x.push_back(number(first + 5 * i));
  return x;
}

/// The eigenvalues phi w^k of Z_f for f = phi^n, w of order n.
std::vector<Element> roots_of(index_t n, Element phi) {
  std::vector<Element> z;
  for (index_t k = 0; k < n; ++k) {
    z.push_back(field.multiply(phi, power(root(n), static_cast<std::uint64_t>(k))));
  }
  return z;
}

}  // namespace

TEST_CASE("exact: toeplitz-like matrices from their generators, of every shape") {
  Engine engine(1);
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{1, 1}, {2, 2}, {7, 7}, {5, 8}, {8, 3}, {3, 11}, {12, 6}}) {
    for (const auto& [e, f] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, -1}, {-1, 1}, {1, 0}, {0, 1}, {2, 5}, {1, 1}}) {
      INFO(m << " x " << n << ", corners " << e << ", " << f);
      const M g = random(m, 3, engine), h = random(n, 3, engine);
      const auto x = toeplitz_like(g, h, number(e), number(f));
      // z^m = e and z^n = f have a common root exactly if e^{n/g} = f^{m/g}, g = gcd (m, n).
      const auto common = static_cast<std::uint64_t>(std::gcd(m, n));
      const bool meets = power(number(e), static_cast<std::uint64_t>(n) / common) ==
                         power(number(f), static_cast<std::uint64_t>(m) / common);
      CHECK(x.has_value() == !meets);
      if (!x) continue;
      CHECK(displaced(Displacement::sylvester, down_shift(field, m, number(e)), *x,
                      down_shift(field, n, number(f))) == g * h.transposed());
      if (m == n) {
        // The classical formula: (e - f) X = sum_j Z_e(g_j) Z_f(J h_j).
        M sum(field, n, n);
        for (index_t j = 0; j < 3; ++j) {
          M reversed_h(field, n, 1);
          for (index_t i = 0; i < n; ++i) reversed_h(i, 0) = h(n - 1 - i, j);
          sum = sum + corner_circulant(g.block(0, n, j, j + 1), number(e)) *
                          corner_circulant(reversed_h, number(f));
        }
        M scaled = *x;
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < n; ++j)
            scaled(i, j) = field.multiply(scaled(i, j), number(e - f));
        }
        CHECK(scaled == sum);
      }
    }
  }
}

TEST_CASE("exact: vandermonde-like matrices from their generators") {
  Engine engine(2);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1}, {4, 7}, {7, 4}}) {
    for (const std::int64_t f : {0, 1, 9}) {
      const auto x = nodes(m, 3);
      const M g = random(m, 2, engine), h = random(n, 2, engine);
      const auto v = vandermonde_like(x, g, h, number(f));
      REQUIRE(v);
      CHECK(displaced(Displacement::sylvester, diagonal_matrix(field, x), *v,
                      down_shift(field, n, number(f))) == g * h.transposed());
    }
  }
  CHECK_FALSE(vandermonde_like({number(2)}, random(1, 1, engine), random(3, 1, engine), number(8)));
}

TEST_CASE("exact: sums, products, transposes and inverses keep consistent generators") {
  Engine engine(3);
  const Element one = number(1), minus = number(-1);
  for (const index_t n : {1, 2, 6, 7}) {
    INFO("n " << n);
    const auto x = random_toeplitz_like(n, n, 2, one, minus, engine);
    const auto y = random_toeplitz_like(n, n, 1, one, minus, engine);
    const auto z = random_toeplitz_like(n, n, 1, minus, one, engine);
    for (const auto* each : {&x, &y, &z}) CHECK(each->consistent());
    CHECK(sum(x, y).consistent());
    CHECK(sum(x, y).order() == 3);
    CHECK(transpose(x).consistent());
    CHECK(product(x, z).consistent());
    CHECK(product(x, z).order() == 3);  // Z_-1 meets Z_-1
    CHECK(product(x, y).consistent());
    CHECK(product(x, y).order() == 4);  // one more: the corners in the middle differ
    const auto inverted = inverse(x);
    REQUIRE(inverted);
    CHECK(inverted->consistent());
    CHECK(inverted->order() == 2);
    CHECK(inverted->m * x.m == M::identity(field, n));
    CHECK_THROWS_AS(sum(x, z), DomainError);
  }
  // Products of rectangular matrices, with a diagonal in the middle.
  const auto s = diagonal_matrix(field, nodes(4, 1)), t = diagonal_matrix(field, nodes(5, 1000)),
             u = diagonal_matrix(field, nodes(6, 2000));
  M left(field, 4, 5), right(field, 5, 6);
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 4; ++j) left(j, i) = field.invert(field.subtract(s(j, j), t(i, i)));
    for (index_t j = 0; j < 6; ++j) right(i, j) = field.invert(field.subtract(t(i, i), u(j, j)));
  }
  const auto x = displacement_generators(s, left, t), y = displacement_generators(t, right, u);
  CHECK(x.order() == 1);
  CHECK(product(x, y).consistent());
  CHECK(product(x, y).order() == 2);
}

TEST_CASE("exact: fourier transforms take toeplitz-like to vandermonde-like and cauchy-like") {
  Engine engine(4);
  for (const index_t n : {1, 2, 7, 8}) {
    INFO("n " << n);
    // Z_1 has the roots of unity, Z_-1 those of -1: phi of order 2 n.
    const auto plus = roots_of(n, number(1)), minus = roots_of(n, root(2 * n));
    const M u = vandermonde_matrix(field, plus, n), w = vandermonde_matrix(field, minus, n);
    CHECK(u * down_shift(field, n, number(1)) == diagonal_matrix(field, plus) * u);
    CHECK(w * down_shift(field, n, number(-1)) == diagonal_matrix(field, minus) * w);

    const auto x = displacement_generators(down_shift(field, n, number(1)), toeplitz(n, n, engine),
                                           down_shift(field, n, number(-1)));
    const M identity = M::identity(field, n);
    const auto v = transformed(*inverse(u), x, identity);
    REQUIRE(v);
    CHECK(v->consistent());
    CHECK(v->a == diagonal_matrix(field, plus));
    CHECK(v->b == x.b);
    const auto c = transformed(identity, *v, *inverse(w));
    REQUIRE(c);
    CHECK(c->consistent());
    CHECK(c->a == diagonal_matrix(field, plus));
    CHECK(c->b == diagonal_matrix(field, minus));
    CHECK(c->order() == std::min<index_t>(n, 2));
    // Entry by entry it is (sum_l g_il h_jl) / (s_i - t_j), and all comes back.
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        const M numerator =
            c->g.block(i, i + 1, 0, c->order()) * c->h.block(j, j + 1, 0, c->order()).transposed();
        CHECK(field.multiply(c->m(i, j), field.subtract(plus[i], minus[j])) == numerator(0, 0));
      }
    }
    const auto back = transformed(u, *c, w);
    REQUIRE(back);
    CHECK(back->m == x.m);
    CHECK(back->a == x.a);
    CHECK(back->b == x.b);
    CHECK(back->g == x.g);
    CHECK(back->h == x.h);
  }
}

TEST_CASE("exact: a vandermonde matrix is a cauchy matrix between diagonals and a transform") {
  // V = diag(x^n - 1) C(x, w) diag(w / n) E, with E_kj = w_k^j.
  for (const index_t n : {1, 2, 7, 8}) {
    const auto x = nodes(5, 10), w = roots_of(n, number(1));
    const M e = vandermonde_matrix(field, w, n);
    M scaled(field, 5, n);
    for (index_t i = 0; i < 5; ++i) {
      const Element gap = field.subtract(power(x[i], static_cast<std::uint64_t>(n)), number(1));
      for (index_t k = 0; k < n; ++k) {
        const Element weight = field.multiply(w[k], field.invert(number(n)));
        scaled(i, k) =
            field.multiply(field.multiply(gap, weight), field.invert(field.subtract(x[i], w[k])));
      }
    }
    CHECK(scaled * e == vandermonde_matrix(field, x, n));
  }
}

TEST_CASE("exact: the classical stein form, and corners that change") {
  Engine engine(5);
  const index_t m = 6, n = 8;
  const M t = toeplitz(m, n, engine);
  const M z0 = down_shift(field, m, number(0)), z0t = down_shift(field, n, number(0)).transposed();
  const M stein = displaced(Displacement::stein, z0, t, z0t);
  // Z_1^T X - X Z_0^T = Z_1^T (G H^T - e_0 (last row of X) Z_0^T)
  const M z1t = down_shift(field, m, number(1)).transposed();
  M first(field, m, 1);
  first(0, 0) = number(1);
  CHECK(displaced(Displacement::sylvester, z1t, t, z0t) ==
        z1t * (stein - first * (t.block(m - 1, m, 0, n) * z0t)));
  // Z_e X - X Z_f for other corners: one term each.
  M last(field, n, 1);
  last(n - 1, 0) = number(1);
  const auto at = [&](std::int64_t e, std::int64_t f) {
    return displaced(Displacement::sylvester, down_shift(field, m, number(e)), t,
                     down_shift(field, n, number(f)));
  };
  M more = first * t.block(m - 1, m, 0, n);
  for (index_t j = 0; j < n; ++j) more(0, j) = field.multiply(number(4), more(0, j));
  M less = t.block(0, m, 0, 1) * last.transposed();
  for (index_t i = 0; i < m; ++i) less(i, n - 1) = field.multiply(number(7), less(i, n - 1));
  CHECK(at(5, 9) == at(1, 2) + more - less);
}
