// What sums, products, inverses and submatrices do to the order.
#include "exact/lemmas/model.hpp"
#include "structmat/exact/quasiseparable_algebra.hpp"

namespace structmat::exact {
namespace {

/// A random one of order (N, N) with an inverse.
template <Field F>
std::pair<Quasiseparable<F>, Matrix<F>> invertible(Workbench<F>& w, index_t n, index_t order) {
  for (;;) {
    Quasiseparable<F> q = w.quasiseparable(n, order, order);
    if (auto inverse_of = w.usable_inverse(to_dense(q))) {
      return {std::move(q), std::move(*inverse_of)};
    }
  }
}

std::vector<Lemma> sums_and_products() {
  std::vector<Lemma> result;
  result.push_back(lemma({"half-size", "Every matrix of size at most 2N + 1 is N-quasiseparable.",
                          "H_k has at most floor(n / 2) rows or columns.", "size 2N + 2"},
                         [](auto& w, Case c) {
                           const index_t n =
                               c.broken != 0 ? 2 * c.order + 2 : std::min(c.n, 2 * c.order + 1);
                           return w.within(w.random(n, n), c.order, c.order);
                         }));
  result.push_back(lemma(
      {"sum-order", "The orders of A + B are at most the sums of those of A and B.",
       "The states of A and B side by side.", "A of order N + 1",
       "\"Closed under addition\" holds for the union over all N, not for one N."},
      [](auto& w, Case c) {
        const auto a = w.quasiseparable(c.n, c.order + c.broken, c.order);
        const auto b = w.quasiseparable(c.n, 1, 2);
        const auto sum = add(a, b);
        const auto m = to_dense(a) + to_dense(b);
        return w.equal(to_dense(sum), m) && sum.order().lower <= c.order + 1 &&
               w.within(m, c.order + 1, c.order + 2);
      },
      [](auto& w) {
        // Two rank-one matrices with independent rows and columns.
        auto a = w.zeros(4, 4), b = a;
        a(2, 0) = w.integer(1);
        b(3, 1) = w.integer(1);
        return confirmed(
            w.within(a, 1, 0) && w.within(b, 1, 0) && w.lower_order(a + b) == 2,
            "4 x 4 with a 1 at (2, 0), and one with a 1 at (3, 1): order 1 each, their "
            "sum has order 2");
      }));
  result.push_back(lemma(
      {"product-order", "The orders of A B are at most the sums of those of A and B.",
       "State-space product: the state of B drives that of A, and the part that crosses the "
       "diagonal is a Gramian recursion.",
       "A of order N + 1"},
      [](auto& w, Case c) {
        const auto a = w.quasiseparable(c.n, c.order + c.broken, c.order);
        const auto b = w.quasiseparable(c.n, 1, 2);
        const auto product = multiply(a, b);
        const auto m = to_dense(a) * to_dense(b);
        return w.equal(to_dense(product), m) && product.order().lower <= c.order + 1 &&
               w.within(m, c.order + 1, c.order + 2);
      },
      [](auto& w) {
        return confirmed(
            w.lower_order(w.shift(5)) == 1 && w.lower_order(w.shift(5) * w.shift(5)) == 2,
            "attained by Z Z for n = 5: order 1 times order 1 is order 2");
      }));
  result.push_back(lemma(
      {"hadamard-order",
       "The entry-by-entry product of an N-semiseparable and a 2-semiseparable matrix is "
       "2N-semiseparable.",
       "Kronecker products: c x c', A x A', b x b'.", "order N + 1"},
      [](auto& w, Case c) {
        const auto f = w.inclusive(c.n, c.order + c.broken), g = w.inclusive(c.n, 2);
        auto h = f;
        for (index_t i = 0; i < c.n; ++i) {
          h.c[i] = kronecker(f.c[i], g.c[i]);
          h.a[i] = kronecker(f.a[i], g.a[i]);
          h.b[i] = kronecker(f.b[i], g.b[i]);
        }
        const auto m = hadamard(f.to_dense(w.field), g.to_dense(w.field));
        return w.equal(m, h.to_dense(w.field)) && w.semiseparable_order(m) <= 2 * c.order;
      },
      LemmaSizes{.breaking = [](index_t order) { return 4 * order + 5; }}));
  result.push_back(lemma(
      {"hadamard-order-strict",
       "The orders of the entry-by-entry product of quasiseparable matrices are at most the "
       "products "
       "of their orders.",
       "Kronecker products of exclusive generators: p x p', a x a', q x q'; entries of the "
       "diagonal "
       "multiply.",
       "A of lower order N + 1"},
      [](auto& w, Case c) {
        const auto a = w.quasiseparable(c.n, c.order + c.broken, c.order);
        const auto b = w.quasiseparable(c.n, 2, 1);
        const auto product = hadamard(a, b);
        const auto m = hadamard(to_dense(a), to_dense(b));
        return w.equal(to_dense(product), m) && w.within(m, 2 * c.order, c.order);
      },
      LemmaSizes{.breaking = [](index_t order) { return 4 * order + 6; }}));
  return result;
}

std::vector<Lemma> inverses_and_submatrices() {
  std::vector<Lemma> result;
  result.push_back(lemma(
      {"inverse-order", "A^-1 has the orders of A.",
       "Elimination along the diagonal: a causal recursion, then an anticausal one; no leading "
       "minor need be regular.",
       "order N + 1"},
      [](auto& w, Case c) {
        const auto [a, inverse_of_a] = invertible(w, c.n, c.order + c.broken);
        const auto structured = inverse(a);
        return structured && w.equal(to_dense(*structured), inverse_of_a) &&
               w.order(inverse_of_a) == w.order(to_dense(a)) &&
               w.within(inverse_of_a, c.order, c.order);
      },
      [](auto& w) {
        // The cyclic shift: all leading minors but the last vanish.
        auto cyclic = w.shift(4);
        cyclic(0, 3) = w.integer(1);
        const auto structured = inverse(from_dense(cyclic));
        return confirmed(structured && w.equal(to_dense(*structured), cyclic.transposed()),
                         "the cyclic shift of 4: no leading minor but the last is regular, the "
                         "inverse is its transpose");
      }));
  result.push_back(lemma(
      {"inverse-of-band",
       "The inverse of a matrix with N diagonals below and above is "
       "N-quasiseparable.",
       "banded, then inverse-order.", "one diagonal more"},
      [](auto& w, Case c) {
        for (;;) {
          const index_t reach = c.order + c.broken;
          const auto inverse_of = w.usable_inverse(w.band(w.random(c.n, c.n), -reach, reach));
          if (inverse_of) return w.within(*inverse_of, c.order, c.order);
        }
      },
      [](auto& w) {
        const auto z = w.shift(4);
        const auto t = w.scaled(w.integer(2), w.identity(4)) - z - z.transposed();
        const auto five_inverse = Matrix<std::remove_cvref_t<decltype(w.field)>>::from_integers(
            w.field, {{4, 3, 2, 1}, {3, 6, 4, 2}, {2, 4, 6, 3}, {1, 2, 3, 4}});
        return confirmed(w.equal(t * five_inverse, w.scaled(w.integer(5), w.identity(4))) &&
                             w.within(five_inverse, 1, 1),
                         "tridiag(-1, 2, -1) of size 4: 5 times its inverse is [4 3 2 1; 3 6 4 2; "
                         "2 4 6 3; 1 2 3 "
                         "4], of order 1");
      }));
  result.push_back(
      lemma({"transpose-order", "Transposition exchanges the lower and the upper order.",
             "Exchange of the two triangles' generators.", "lower order N + 1"},
            [](auto& w, Case c) {
              const auto q = w.quasiseparable(c.n, c.order + c.broken, c.order + 1);
              const auto m = to_dense(q), t = m.transposed();
              return w.equal(to_dense(transpose(q)), t) && w.order(t).lower == w.order(m).upper &&
                     w.within(t, c.order + 1, c.order);
            }));
  result.push_back(
      lemma({"diagonal-scaling",
             "D M D' has orders at most those of M; with invertible D and D' the same ones.",
             "Rows of p and g are multiplied by D, those of q and h by D'.",
             "bidiagonal in place of diagonal D"},
            [](auto& w, Case c) {
              const auto m = to_dense(w.quasiseparable(c.n, c.order, c.order));
              auto d = w.random_diagonal(c.n, true);
              const auto e = w.random_diagonal(c.n, true), singular = w.random_diagonal(c.n, false);
              if (c.broken != 0) d = d + w.shift(c.n);
              return w.order(d * m * e) == w.order(m) &&
                     w.within(singular * m * singular, w.order(m).lower, w.order(m).upper);
            }));
  result.push_back(lemma(
      {"principal-submatrix",
       "A principal submatrix, contiguous or not, has orders at most those of "
       "the matrix.",
       "Its blocks are submatrices of blocks; generators: p, q of the indices kept, transitions "
       "multiplied over those left out.",
       "order N + 1"},
      [](auto& w, Case c) {
        const auto q = w.quasiseparable(c.n, c.order + c.broken, c.order + c.broken);
        const auto m = to_dense(q);
        std::vector<index_t> kept;
        for (index_t i = 0; i < c.n; ++i) {
          if (std::uniform_int_distribution<int>(0, 3)(w.engine) > 0) kept.push_back(i);
        }
        const index_t size = index_t(kept.size());
        auto sub = w.zeros(size, size);
        for (index_t i = 0; i < size; ++i) {
          for (index_t j = 0; j < size; ++j) sub(i, j) = m(kept[i], kept[j]);
        }
        return w.equal(to_dense(principal_submatrix(q, kept)), sub) &&
               w.within(sub, c.order, c.order);
      },
      LemmaSizes{.breaking = [](index_t order) { return 4 * order + 8; }}));
  result.push_back(lemma(
      {"bordered-order",
       "[M C; R D] with k more rows and columns has orders at most those of M plus k.",
       "k more states collect R x below and spread C x above; in the border they are selected.",
       "M of lower order N + 1"},
      [](auto& w, Case c) {
        constexpr index_t k = 2;
        const auto q = w.quasiseparable(c.n, c.order + c.broken, c.order);
        const auto columns = w.random(c.n, k), rows = w.random(k, c.n), corner = w.random(k, k);
        auto m = w.zeros(c.n + k, c.n + k);
        m.set_block(0, 0, to_dense(q));
        m.set_block(0, c.n, columns);
        m.set_block(c.n, 0, rows);
        m.set_block(c.n, c.n, corner);
        return w.equal(to_dense(bordered(q, columns, rows, corner)), m) &&
               w.within(m, c.order + k, c.order + k);
      },
      [](auto& w) {
        // An arrow: a diagonal matrix with a full row and column.
        auto arrow = w.identity(5);
        for (index_t i = 0; i < 5; ++i) arrow(4, i) = arrow(i, 4) = w.integer(1);
        return confirmed(
            w.order(arrow) == Order{1, 1},
            "attained by the arrow of 5: a diagonal matrix with one border has order 1");
      },
      LemmaSizes{.breaking = [](index_t order) { return 2 * order + 9; }}));
  result.push_back(lemma(
      {"schur-complement",
       "The Schur complement of an invertible leading block has orders at most those of the "
       "matrix.",
       "It is the inverse of the trailing block of the inverse: inverse-order and "
       "principal-submatrix.",
       "order N + 1"},
      [](auto& w, Case c) {
        const index_t cut = c.n / 3;
        for (;;) {
          const auto m = to_dense(w.quasiseparable(c.n, c.order + c.broken, c.order + c.broken));
          const auto inverse_of = w.usable_inverse(m.block(0, cut, 0, cut));
          if (!inverse_of) continue;
          const auto s = m.block(cut, c.n, cut, c.n) -
                         m.block(cut, c.n, 0, cut) * *inverse_of * m.block(0, cut, cut, c.n);
          return w.within(s, c.order, c.order);
        }
      },
      LemmaSizes{.breaking = [](index_t order) { return 4 * order + 8; }}));
  return result;
}

}  // namespace

std::vector<Lemma> arithmetic_lemmas() {
  std::vector<Lemma> result = sums_and_products();
  for (Lemma& l : inverses_and_submatrices()) result.push_back(std::move(l));
  return result;
}

}  // namespace structmat::exact
