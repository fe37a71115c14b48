// Displacement ranks of the classical families, of their sums, products and inverses.
#include "exact/lemmas/model.hpp"
#include "structmat/exact/displacement_algebra.hpp"

namespace structmat::exact {
namespace {

/// Z_f
template <Field F>
Matrix<F> cyclic(const Workbench<F>& w, index_t n, std::int64_t f) {
  return down_shift(w.field, n, w.integer(f));
}

/// rank (Z_1 M - M Z_-1)
template <Field F>
index_t toeplitz_rank(const Workbench<F>& w, const Matrix<F>& m) {
  return w.rank_of(
      displaced(Displacement::sylvester, cyclic(w, m.rows(), 1), m, cyclic(w, m.cols(), -1)));
}

/// Adds 1 to an entry in the middle when the case asks for it.
template <Field F>
void disturb(const Workbench<F>& w, Matrix<F>& m, Case c) {
  if (c.broken != 0) {
    auto& entry = m(m.rows() / 2, m.cols() / 2);
    entry = w.field.add(entry, w.integer(1));
  }
}

/// 1 / (s_i - t_j)
template <Field F>
Matrix<F> cauchy(const Workbench<F>& w, const std::vector<typename F::Element>& s,
                 const std::vector<typename F::Element>& t) {
  Matrix<F> m = w.zeros(index_t(s.size()), index_t(t.size()));
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t j = 0; j < m.cols(); ++j) m(i, j) = w.field.invert(w.field.subtract(s[i], t[j]));
  }
  return m;
}

std::vector<Lemma> families() {
  std::vector<Lemma> result;
  result.push_back(
      lemma({"toeplitz-displacement", "Z_1 T - T Z_-1 has rank 2 at most for a Toeplitz matrix T.",
             "All but the first row and the last column of the difference vanish.",
             "one entry that differs from its diagonal"},
            [](auto& w, Case c) {
              auto t = w.toeplitz(c.n);
              disturb(w, t, c);
              return toeplitz_rank(w, t) <= 2;
            }));
  result.push_back(
      lemma({"hankel-displacement", "Z_1 H - H Z_-1^T has rank 2 at most for a Hankel matrix H.",
             "A Hankel matrix is a Toeplitz matrix with its columns reversed.",
             "one entry that differs from its antidiagonal"},
            [](auto& w, Case c) {
              auto h = w.toeplitz(c.n) * w.flip(c.n);
              disturb(w, h, c);
              return w.rank_of(cyclic(w, c.n, 1) * h - h * cyclic(w, c.n, -1).transposed()) <= 2;
            }));
  result.push_back(
      lemma({"vandermonde-displacement", "D_x V - V Z_f has rank 1 at most for V_ij = x_i^j.",
             "D_x shifts the columns by one: only the last column of the difference is not zero.",
             "one entry that is no power of its node"},
            [](auto& w, Case c) {
              std::vector<std::remove_cvref_t<decltype(w.nonzero())>> x(c.n, w.integer(0));
              for (auto& node : x) node = w.field.random(w.engine);
              auto v = vandermonde_matrix(w.field, x, c.n);
              disturb(w, v, c);
              return w.rank_of(w.diagonal(x) * v - v * cyclic(w, c.n, 2)) <= 1;
            }));
  result.push_back(
      lemma({"cauchy-displacement", "D_s C - C D_t has rank 1 at most for C_ij = 1 / (s_i - t_j).",
             "Every entry of the difference is 1.", "one entry changed"},
            [](auto& w, Case c) {
              const auto s = w.nodes(c.n), t = w.nodes(c.n, s);
              auto m = cauchy(w, s, t);
              disturb(w, m, c);
              return w.rank_of(w.diagonal(s) * m - m * w.diagonal(t)) <= 1;
            }));
  return result;
}

/// (sum_l g_il h_jl) / (s_i - t_j) with random generators.
template <Field F>
Matrix<F> cauchy_like(Workbench<F>& w, const std::vector<typename F::Element>& s,
                      const std::vector<typename F::Element>& t, index_t order) {
  return hadamard(w.low_rank(index_t(s.size()), index_t(t.size()), order), cauchy(w, s, t));
}

/// prod_k (z - y_k) over all y_k but the one at `without`.
template <Field F>
typename F::Element node_polynomial(const F& field, const typename F::Element& z,
                                    const std::vector<typename F::Element>& y,
                                    index_t without = -1) {
  auto value = field.from_integer(1);
  for (index_t k = 0; k < index_t(y.size()); ++k) {
    if (k != without) value = field.multiply(value, field.subtract(z, y[k]));
  }
  return value;
}

/// What generators are good for: a matrix from them, products of Cauchy-like matrices, changes of
/// family.
std::vector<Lemma> representations() {
  std::vector<Lemma> result;
  result.push_back(
      lemma({"circulant-decomposition",
             "If Z_1 X - X Z_-1 = G H^T, then 2 X = sum_j Z_1(g_j) Z_-1(J h_j): circulant times "
             "skew-circulant matrices.",
             "sum_k Z_1^{n-1-k} (Z_1 X - X Z_-1) Z_-1^k = Z_1^n X - X Z_-1^n = 2 X.",
             "circulant factors on both sides"},
            [](auto& w, Case c) {
              const auto x = w.random(c.n, c.n);
              const auto image =
                  displaced(Displacement::sylvester, cyclic(w, c.n, 1), x, cyclic(w, c.n, -1));
              auto sum = w.zeros(c.n, c.n);
              for (index_t j = 0; j < c.n; ++j) {  // H = I
                const auto h = w.flip(c.n).block(0, c.n, j, j + 1);
                sum = sum + corner_circulant(image.block(0, c.n, j, j + 1), w.integer(1)) *
                                corner_circulant(h, w.integer(c.broken != 0 ? 1 : -1));
              }
              return w.equal(sum, w.scaled(w.integer(2), x));
            }));
  result.push_back(lemma(
      {"cauchy-like-product",
       "If D_s X - X D_t has rank r and D_t Y - Y D_u rank q, then D_s X Y - X Y D_u has rank r + "
       "q "
       "at most.",
       "D_s X Y - X Y D_u = (D_s X - X D_t) Y + X (D_t Y - Y D_u).",
       "one node in the middle that differs between the factors"},
      [](auto& w, Case c) {
        const auto t = w.nodes(c.n), s = w.nodes(c.n, t), u = w.nodes(c.n, t);
        auto other = t;
        if (c.broken != 0) {
          auto known = t;
          known.insert(known.end(), u.begin(), u.end());
          other[0] = w.nodes(1, known)[0];
        }
        const auto product = cauchy_like(w, s, t, c.order) * cauchy_like(w, other, u, c.order);
        return w.rank_of(w.diagonal(s) * product - product * w.diagonal(u)) <= 2 * c.order;
      }));
  result.push_back(lemma(
      {"vandermonde-to-cauchy",
       "V(x) = diag(l(x_i)) C(x, y) diag(1 / l'(y_j)) V(y) for distinct nodes y, C_ij = 1 / (x_i - "
       "y_j), l(z) = prod_k (z - y_k): with roots of unity for y, a Vandermonde matrix is a Cauchy "
       "matrix between diagonals, times a Fourier transform.",
       "Lagrange interpolation of the powers at y.", "one entry of V(y) changed"},
      [](auto& w, Case c) {
        constexpr index_t most = 8;  // beyond, interpolation loses all figures in double
        const index_t n = std::min(c.n, most);
        const auto y = w.nodes(n), x = w.nodes(n, y);
        auto m = cauchy(w, x, y);
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < n; ++j) {
            const auto weight =
                w.field.multiply(node_polynomial(w.field, x[i], y),
                                 w.field.invert(node_polynomial(w.field, y[j], y, j)));
            m(i, j) = w.field.multiply(m(i, j), weight);
          }
        }
        auto v = vandermonde_matrix(w.field, y, n);
        disturb(w, v, c);
        return w.equal(m * v, vandermonde_matrix(w.field, x, n));
      }));
  return result;
}

}  // namespace

std::vector<Lemma> displacement_lemmas() {
  std::vector<Lemma> result = families();
  result.push_back(lemma({"displacement-of-sum",
                          "Displacement ranks add up at most under addition; a sum of Toeplitz "
                          "matrices has rank 2 again.",
                          "Generators side by side.", "one entry of a summand changed"},
                         [](auto& w, Case c) {
                           auto t = w.toeplitz(c.n);
                           const auto a = w.toeplitz(c.n) * w.toeplitz(c.n);
                           disturb(w, t, c);
                           return toeplitz_rank(w, t + w.toeplitz(c.n)) <= 2 &&
                                  toeplitz_rank(w, a + t) <= toeplitz_rank(w, a) + 2;
                         }));
  result.push_back(lemma(
      {"displacement-of-product",
       "A product of two Toeplitz matrices has displacement rank 4 at most; in general that of A B "
       "is at most r(A) + r(B) + 1.",
       "Z_1 A B - A B Z_-1 = (Z_1 A - A Z_-1) B + A (Z_1 B - B Z_-1) + A (Z_-1 - Z_1) B.",
       "one entry of a factor changed"},
      [](auto& w, Case c) {
        auto a = w.toeplitz(c.n);
        const auto b = w.toeplitz(c.n);
        disturb(w, a, c);
        const auto product = a * b, more = product * b;
        return toeplitz_rank(w, product) <= 4 &&
               toeplitz_rank(w, more) <= toeplitz_rank(w, product) + toeplitz_rank(w, b) + 1;
      },
      [](auto& w) {
        const auto n = 6;
        return confirmed(toeplitz_rank(w, w.toeplitz(n) * w.toeplitz(n)) == 4,
                         "attained by random Toeplitz factors of size 6");
      }));
  result.push_back(lemma(
      {"displacement-of-inverse",
       "The inverse of a Toeplitz matrix has displacement rank 2 at most; in general A^-1 and A^T "
       "keep the rank with the operators exchanged and transposed.",
       "Z_-1 A^-1 - A^-1 Z_1 = -A^-1 (Z_1 A - A Z_-1) A^-1.", "one entry changed",
       "With the same operators a generic matrix of displacement rank 3 has an inverse of rank 5."},
      [](auto& w, Case c) {
        for (;;) {
          auto t = w.toeplitz(c.n);
          disturb(w, t, c);
          const auto inverse_of = w.usable_inverse(t);
          if (!inverse_of) continue;
          const auto exchanged = cyclic(w, c.n, -1) * *inverse_of - *inverse_of * cyclic(w, c.n, 1);
          return toeplitz_rank(w, *inverse_of) <= 2 &&
                 w.rank_of(exchanged) == toeplitz_rank(w, t) &&
                 toeplitz_rank(w, t.transposed()) <= 2;
        }
      }));
  result.push_back(lemma(
      {"displacement-of-submatrix",
       "A contiguous principal submatrix has a displacement rank at most 2 larger.",
       "The shift of a submatrix differs from the submatrix of the shift in one row and one "
       "column.",
       "a submatrix of scattered rows and columns"},
      [](auto& w, Case c) {
        const auto t = w.toeplitz(c.n) * w.toeplitz(c.n);
        const index_t first = c.n / 4, size = c.n / 2;
        auto sub = t.block(first, first + size, first, first + size);
        if (c.broken != 0) {
          for (index_t i = 0; i < size; ++i) {
            for (index_t j = 0; j < size; ++j) sub(i, j) = t(i * i % c.n, (j * (j + 1)) % c.n);
          }
        }
        return toeplitz_rank(w, sub) <= toeplitz_rank(w, t) + 2;
      },
      LemmaSizes{.breaking = [](index_t) { return index_t(23); }}));
  for (Lemma& l : representations()) result.push_back(std::move(l));
  return result;
}

}  // namespace structmat::exact
