// Which class of mixers contains which.
#include "exact/lemmas/model.hpp"

namespace structmat::exact {
namespace {

constexpr auto at_strict_size = [](index_t order) { return 2 * order + 1; };

/// A semiseparable matrix in exclusive form: p_i = c_i A_i, a_i = A_i, q_j = b_j, d_i = c_i b_i.
template <Field F>
Quasiseparable<F> exclusive(const Workbench<F>& w, const Inclusive<F>& g) {
  const index_t n = index_t(g.c.size());
  Quasiseparable<F> m{w.field, {}, {}, {}};
  for (index_t i = 0; i < n; ++i) {
    const index_t in = i == 0 ? 0 : g.a[i].cols(), out = i == n - 1 ? 0 : g.a[i].rows();
    m.lower.p.push_back((g.c[i] * g.a[i]).block(0, 1, 0, in));
    m.lower.a.push_back(g.a[i].block(0, out, 0, in));
    m.lower.q.push_back(g.b[i].block(0, out, 0, 1));
    m.upper_transposed.p.push_back(w.zeros(1, 0));
    m.upper_transposed.a.push_back(w.zeros(0, 0));
    m.upper_transposed.q.push_back(w.zeros(0, 1));
    m.diagonal.push_back((g.c[i] * g.b[i])(0, 0));
  }
  return m;
}

std::vector<Lemma> linear_recurrences() {
  std::vector<Lemma> result;
  result.push_back(lemma(
      {"low-rank", "A matrix of rank N is N-quasiseparable.",
       "M = U V^T: p_i and g_i are rows of U, q_j and h_j rows of V, all transitions are I.",
       "rank N + 1"},
      [](auto& w, Case c) {
        const auto m = w.low_rank(c.n, c.n, c.order + c.broken);
        return w.within(m, c.order, c.order);
      },
      [](auto& w) {
        const auto z = w.shift(3);
        return confirmed(w.lower_order(z) == 1 && w.rank_of(z) == 2,
                         "the 3 x 3 shift is 1-quasiseparable and has rank 2");
      }));
  result.push_back(lemma(
      {"banded", "A matrix with N diagonals below and N above the main one is N-quasiseparable.",
       "The state holds the last N inputs: each transition is a shift.", "one diagonal more below"},
      [](auto& w, Case c) {
        return w.within(w.band(w.random(c.n, c.n), -c.order, c.order + c.broken), c.order, c.order);
      },
      [](auto& w) {
        auto ones = w.zeros(3, 3);
        for (index_t i = 0; i < 3; ++i) {
          for (index_t j = 0; j < 3; ++j) ones(i, j) = w.integer(1);
        }
        return confirmed(w.within(ones, 1, 1) && w.field.weight(ones(2, 0)) > 0,
                         "the 3 x 3 matrix of ones is 1-quasiseparable and not tridiagonal");
      }));
  result.push_back(
      lemma({"arrow",
             "Arrow matrices with N full rows and columns, and companion matrices for N = 1, are "
             "N-quasiseparable.",
             "The state carries the N leading inputs on unchanged; transitions are I.",
             "N + 1 full columns"},
            [](auto& w, Case c) {
              auto m = w.random_diagonal(c.n, false);
              auto companion = w.shift(c.n);
              for (index_t i = 0; i < c.n; ++i) {
                companion(i, c.n - 1) = w.field.random(w.engine);
                for (index_t j = 0; j < c.n; ++j) {
                  if (j < c.order + c.broken || i < c.order) m(i, j) = w.field.random(w.engine);
                }
              }
              return w.within(m, c.order, c.order) && w.within(companion, 1, 1);
            }));
  result.push_back(lemma(
      {"causal-linear-attention",
       "tril(Q K^T) with N columns in Q and K is N-semiseparable with transitions I.",
       "c_i and b_j are the rows of Q and K.", "N + 1 columns"},
      [](auto& w, Case c) {
        auto g = w.inclusive(c.n, c.order + c.broken);
        auto q = w.zeros(c.n, c.order + c.broken), k = q;
        for (index_t i = 0; i < c.n; ++i) {
          g.a[i] = w.identity(c.order + c.broken);
          q.set_block(i, 0, g.c[i]);
          k.set_block(i, 0, g.b[i].transposed());
        }
        const auto m = w.lower(q * k.transposed());
        return w.equal(m, g.to_dense(w.field)) && w.semiseparable_order(m) <= c.order;
      },
      [](auto& w) {
        auto ones = w.zeros(3, 3);
        for (index_t i = 0; i < 3; ++i) {
          for (index_t j = 0; j <= i; ++j) ones(i, j) = w.integer(1);
        }
        return confirmed(w.semiseparable_order(ones) == 1 && w.rank_of(ones) == 3,
                         "tril of the 3 x 3 matrix of ones is 1-semiseparable and has rank 3");
      }));
  result.push_back(lemma(
      {"ssd",
       "A 1-semiseparable mask times a matrix of rank N, entry by entry (SSD with state N), "
       "is N-semiseparable.",
       "A_k = a_k I, c_i and b_j as in the factor of rank N.", "rank N + 1",
       "\"SSD with state N\" and \"N-semiseparable\" are not the same class."},
      [](auto& w, Case c) {
        const auto mask = w.semiseparable(c.n, 1);
        const auto m = hadamard(mask, w.low_rank(c.n, c.n, c.order + c.broken));
        return w.semiseparable_order(m) <= c.order;
      },
      [](auto& w) {
        // Its subdiagonal leaves no decay zero, so the factor of rank 2 would have this block with
        // some x in the place of its only entry above the diagonal of M: upper triangular with
        // units, of rank 3 for every x.
        const auto m = w.identity(4) + w.shift(4);
        auto block = m.block(1, 4, 0, 3);
        bool full = true;
        for (int trial = 0; trial < 5; ++trial) {
          block(0, 2) = w.field.random(w.engine);
          full = full && w.rank_of(block) == 3;
        }
        return confirmed(w.semiseparable_order(m) == 2 && full,
                         "I + Z of size 4 is 2-semiseparable and no SSD matrix with state 2");
      }));
  result.push_back(lemma(
      {"first-order-layer",
       "The layer h_t = (I - Delta_t W_A) h_{t-1} + Delta_t w_B x_t, y_t = w_C h_t with N states "
       "is "
       "an N-semiseparable matrix.",
       "A_t = I - Delta_t W_A, b_t = Delta_t w_B, c_t = w_C.", "N + 1 states",
       "I - Delta W_A can be singular, exp(-Delta W_A) cannot: only there the shift adds "
       "matrices."},
      [](auto& w, Case c) {
        const index_t states = c.order + c.broken;
        const auto wa = w.random(states, states), wb = w.random(states, 1),
                   wc = w.random(1, states);
        Inclusive<std::remove_cvref_t<decltype(w.field)>> g;
        auto by_recursion = w.zeros(c.n, c.n), h = w.zeros(states, c.n);
        for (index_t t = 0; t < c.n; ++t) {
          const auto delta = w.field.random(w.engine);
          g.c.push_back(wc);
          g.a.push_back(w.identity(states) - w.scaled(delta, wa));
          g.b.push_back(w.scaled(delta, wb));
          h = g.a[t] * h;  // column j: the response to a unit input at j
          h.set_block(0, t, g.b[t]);
          by_recursion.set_block(t, 0, wc * h);
        }
        const auto m = g.to_dense(w.field);
        return w.equal(m, by_recursion) && w.semiseparable_order(m) <= c.order;
      },
      [](auto& w) {
        // Delta W_A = 1 at token 1 with N = 1: the state is reset.
        auto g = w.inclusive(3, 1);
        for (index_t i = 0; i < 3; ++i) g.c[i] = g.b[i] = w.identity(1);
        g.a[1] = w.zeros(1, 1);
        const auto m = w.shift(3) * g.to_dense(w.field);
        return confirmed(w.lower_order(m) == 1 && !w.extends(m, 1),
                         "Delta W_A = 1 at the middle of 3 tokens: the shifted layer is the 3 x 3 "
                         "shift, which no unshifted one gives");
      }));
  return result;
}

std::vector<Lemma> two_scans() {
  std::vector<Lemma> result;
  result.push_back(lemma(
      {"semiseparable-in-quasiseparable",
       "An N-semiseparable lower triangular matrix is (N, 0)-quasiseparable.",
       "p_i = c_i A_i, a_i = A_i, q_j = b_j, d_i = c_i b_i.", "order N + 1"},
      [](auto& w, Case c) {
        const auto g = w.inclusive(c.n, c.order + c.broken);
        const auto m = g.to_dense(w.field);
        return w.equal(m, to_dense(exclusive(w, g))) && w.within(m, c.order, 0);
      },
      [](auto& w) {
        const auto z = w.shift(3);
        return confirmed(w.within(z, 1, 0) && w.semiseparable_order(z) == 2,
                         "the 3 x 3 shift is (1, 0)-quasiseparable and not 1-semiseparable");
      }));
  result.push_back(lemma(
      {"quasiseparable-in-semiseparable",
       "An (N, 0)-quasiseparable matrix is (N + 1)-semiseparable.",
       "The state is joined by the present input: A_i = [a_{i-1}, q_{i-1}; 0, 0], b_i = [0; 1], "
       "c_i "
       "= [p_i, d_i].",
       "order (N + 1, 0)"},
      [](auto& w, Case c) {
        const auto q = w.quasiseparable(c.n, c.order + c.broken, 0);
        const auto m = to_dense(q);
        Inclusive<std::remove_cvref_t<decltype(w.field)>> g;
        const index_t s = c.order + c.broken;
        for (index_t i = 0; i < c.n; ++i) {
          auto a = w.zeros(s + 1, s + 1), b = w.zeros(s + 1, 1), row = w.zeros(1, s + 1);
          if (i > 0) {
            a.set_block(0, 0, q.lower.a[i - 1]);
            a.set_block(0, s, q.lower.q[i - 1]);
          }
          row.set_block(0, 0, q.lower.p[i]);
          row(0, s) = q.diagonal[i];
          b(s, 0) = w.integer(1);
          g.a.push_back(a), g.b.push_back(b), g.c.push_back(row);
        }
        return w.equal(m, g.to_dense(w.field)) && w.semiseparable_order(m) <= c.order + 1;
      },
      [](auto& w) {
        const auto z = w.shift(3);
        return confirmed(w.lower_order(z) == 1 && w.semiseparable_order(z) == 2,
                         "attained by the 3 x 3 shift: order 1, semiseparable order 2");
      }));
  result.push_back(lemma(
      {"shift-identity",
       "Z S_l + J Z S_u J + D with N-semiseparable S_l, S_u is N-quasiseparable, and every "
       "N-quasiseparable matrix is of this form.",
       "p_i = c_{i-1}, a_i = A_i, q_j = b_j; above the diagonal the same from the right.",
       "order N + 1 in S_l",
       "The same parameters serve both only after this re-indexing: row i uses the c of token i - "
       "1, and no token's own decay."},
      [](auto& w, Case c) {
        using F = std::remove_cvref_t<decltype(w.field)>;
        const index_t n = c.n;
        const auto f = w.inclusive(n, c.order + c.broken), b = w.inclusive(n, c.order);
        const auto z = w.shift(n), j = w.flip(n), d = w.random_diagonal(n, false);
        const auto m = z * f.to_dense(w.field) + j * z * b.to_dense(w.field) * j + d;
        // The exclusive form: the strictly lower part of the generators with p_i = c_{i-1}.
        const auto moved = [&](const Inclusive<F>& g) {
          Triangle<F> t;
          for (index_t i = 0; i < n; ++i) {
            const index_t s = g.a[i].rows(), in = i == 0 ? 0 : s, out = i == n - 1 ? 0 : s;
            t.p.push_back(i == 0 ? w.zeros(1, 0) : g.c[i - 1]);
            t.a.push_back(g.a[i].block(0, out, 0, in));
            t.q.push_back(g.b[i].block(0, out, 0, 1));
          }
          return t;
        };
        Quasiseparable<F> lower{w.field, moved(f), w.triangle(n, 0), {}};
        Quasiseparable<F> upper{w.field, moved(b), w.triangle(n, 0), {}};
        lower.diagonal.assign(n, w.integer(0));
        upper.diagonal.assign(n, w.integer(0));
        const auto exclusive_form = to_dense(lower) + j * to_dense(upper) * j + d;
        return w.equal(m, exclusive_form) && w.within(m, c.order, c.order);
      }));
  result.push_back(lemma(
      {"shift-lemma",
       "The strictly lower part of an N-quasiseparable matrix without its first row and last "
       "column is N-semiseparable, and every N-semiseparable matrix arises so.",
       "Blocks of one are the blocks of the other.", "order N + 1"},
      [](auto& w, Case c) {
        const auto m = to_dense(w.quasiseparable(c.n, c.order + c.broken, c.order));
        const auto inner = w.strictly_lower(m).block(1, c.n, 0, c.n - 1);
        const auto s = w.semiseparable(c.n - 1, c.order);
        auto framed = w.zeros(c.n, c.n);
        framed.set_block(1, 0, s);
        return w.semiseparable_order(inner) <= c.order && w.within(framed, c.order, 0);
      },
      LemmaSizes{.smallest = [](index_t) { return index_t(1); }}));
  result.push_back(lemma(
      {"add-in-no-shift", "S_l + S_u is of the form S_l + S_u + D; strictly fewer for L >= 2N + 1.",
       "D = 0.", "order N + 1 in S_l"},
      [](auto& w, Case c) {
        const auto m =
            w.semiseparable(c.n, c.order + c.broken) + w.semiseparable(c.n, c.order).transposed();
        return w.in_add(m, c.order) && w.in_no_shift(m, c.order);
      },
      [](auto& w) {
        auto m = w.zeros(3, 3);
        for (index_t i = 0; i < 3; ++i) {
          for (index_t j = 0; j < 3; ++j) m(i, j) = w.integer(i == 1 && j == 1 ? 0 : 1);
        }
        return confirmed(w.in_no_shift(m, 1) && !w.in_add(m, 1),
                         "3 x 3 ones with 0 in the middle: both completions force 1, and 1 + 1 is "
                         "not 0");
      }));
  result.push_back(lemma(
      {"add-strict",
       "For L >= 2N + 1 there are matrices S_l + S_u + D that are not S_l + S_u: changing one "
       "diagonal entry that both parts force is enough.",
       "Index N: the block below and left of it has rank N, so both completions are forced.",
       "L = 2N"},
      [](auto& w, Case c) {
        const index_t n = c.broken != 0 ? 2 * c.order : c.n;
        auto m = w.semiseparable(n, c.order) + w.semiseparable(n, c.order).transposed();
        // Where chance left the corner block of lower rank nothing is forced: another instance.
        while (
            w.rank_of(m.block(c.order + 1, n, 0, c.order)) < std::min(c.order, n - c.order - 1) ||
            w.rank_of(m.block(0, c.order, c.order + 1, n)) < std::min(c.order, n - c.order - 1)) {
          m = w.semiseparable(n, c.order) + w.semiseparable(n, c.order).transposed();
        }
        m(c.order, c.order) = w.field.add(m(c.order, c.order), w.integer(1));
        return w.in_no_shift(m, c.order) && !w.in_add(m, c.order);
      },
      LemmaSizes{.smallest = at_strict_size}));
  result.push_back(lemma(
      {"no-shift-in-quasiseparable",
       "S_l + S_u + D is N-quasiseparable; strictly fewer for L >= 2N + 1, and the same matrices "
       "for L <= 2N.",
       "U_l = stril(S_l), U_u = striu(S_u), D' = D + diag(S_l) + diag(S_u).", "order N + 1 in S_l",
       "\"A strict subset\" holds for L >= 2N + 1 only, and not because the diagonal depends on c "
       "and b (D is free); D has L entries, one a token. Inclusive generators c_i A_i ... A_{j+1} "
       "b_j with a free diagonal give these matrices only, not all N-quasiseparable ones."},
      [](auto& w, Case c) {
        const auto m = w.semiseparable(c.n, c.order + c.broken) +
                       w.semiseparable(c.n, c.order).transposed() + w.random_diagonal(c.n, false);
        return w.within(m, c.order, c.order) && w.in_no_shift(m, c.order);
      },
      [](auto& w) {
        const auto z = w.shift(3);
        return confirmed(w.within(z, 1, 1) && !w.in_no_shift(z, 1),
                         "the 3 x 3 shift: [[1, d], [0, 1]] has rank 2 for every d");
      }));
  result.push_back(lemma(
      {"no-shift-strict",
       "For L >= 2N + 1 the N-step delay Z^N is N-quasiseparable, has zero diagonal, and is not "
       "S_l "
       "+ S_u + D.",
       "Rows N.. of columns ..N contain [I, d; 0, I] of rank N + 1.", "L = 2N"},
      [](auto& w, Case c) {
        const index_t n = c.broken != 0 ? 2 * c.order : c.n;
        const auto z = w.shift(n, c.order);
        return w.in_no_diag(z, c.order) && !w.in_no_shift(z, c.order);
      },
      LemmaSizes{.smallest = at_strict_size}));
  result.push_back(lemma(
      {"no-diag-in-quasiseparable",
       "U_l + U_u with zero diagonal is N-quasiseparable; strictly fewer for every L >= 1.",
       "D = 0.", "order N + 1 in U_l"},
      [](auto& w, Case c) {
        auto q = w.quasiseparable(c.n, c.order + c.broken, c.order);
        q.diagonal.assign(c.n, w.integer(0));
        return w.in_no_diag(to_dense(q), c.order);
      },
      [](auto& w) {
        const auto one = w.identity(1);
        return confirmed(
            w.within(one, 1, 1) && !w.in_no_diag(one, 1),
            "the 1 x 1 matrix [1] is quasiseparable of order 0, its diagonal is not 0");
      }));
  result.push_back(lemma(
      {"no-diag-incomparable",
       "For L >= 2N + 1 neither of S_l + S_u and U_l + U_u contains the other.",
       "Z^N is in the second only, I in the first only.", "L = 2N"},
      [](auto& w, Case c) {
        const index_t n = c.broken != 0 ? 2 * c.order : c.n;
        const auto z = w.shift(n, c.order), i = w.identity(n);
        return w.in_no_diag(z, c.order) && !w.in_add(z, c.order) && w.in_add(i, c.order) &&
               !w.in_no_diag(i, c.order);
      },
      LemmaSizes{.smallest = at_strict_size}));
  result.push_back(lemma(
      {"collapse",
       "For L <= 2N every lower triangular matrix is N-semiseparable, and S_l + S_u gives every "
       "matrix.",
       "No block on or below the diagonal has more than N rows and N columns.", "L = 2N + 1",
       "At L = 128 with N = 64 the classes coincide: their inclusion explains no difference "
       "there."},
      [](auto& w, Case c) {
        const index_t n = c.broken != 0 ? 2 * c.order + 1 : std::min(c.n, 2 * c.order);
        const auto m = w.random(n, n);
        return w.semiseparable_order(w.lower(m)) <= c.order && w.in_add(m, c.order) &&
               w.within(m, c.order, c.order);
      }));
  return result;
}

}  // namespace

std::vector<Lemma> inclusion_lemmas() {
  std::vector<Lemma> result = linear_recurrences();
  for (Lemma& l : two_scans()) result.push_back(std::move(l));
  return result;
}

}  // namespace structmat::exact
