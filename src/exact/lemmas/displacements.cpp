// Displacement ranks of the classical families, of their sums, products and inverses.
#include "exact/lemmas/model.hpp"
#include "structmat/exact/displacement.hpp"

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
              auto v = w.zeros(c.n, c.n);
              std::vector<std::remove_cvref_t<decltype(w.nonzero())>> x(c.n, w.integer(0));
              for (index_t i = 0; i < c.n; ++i) {
                x[i] = w.field.random(w.engine);
                auto power = w.integer(1);
                for (index_t j = 0; j < c.n; ++j) {
                  v(i, j) = power;
                  power = w.field.multiply(power, x[i]);
                }
              }
              disturb(w, v, c);
              return w.rank_of(w.diagonal(x) * v - v * cyclic(w, c.n, 2)) <= 1;
            }));
  result.push_back(
      lemma({"cauchy-displacement", "D_s C - C D_t has rank 1 at most for C_ij = 1 / (s_i - t_j).",
             "Every entry of the difference is 1.", "one entry changed"},
            [](auto& w, Case c) {
              const auto s = w.nodes(c.n), t = w.nodes(c.n, s);
              auto m = w.zeros(c.n, c.n);
              for (index_t i = 0; i < c.n; ++i) {
                for (index_t j = 0; j < c.n; ++j)
                  m(i, j) = w.field.invert(w.field.subtract(s[i], t[j]));
              }
              disturb(w, m, c);
              return w.rank_of(w.diagonal(s) * m - m * w.diagonal(t)) <= 1;
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
  return result;
}

}  // namespace structmat::exact
