// When a strictly lower part is that of a semiseparable matrix.
#include "exact/lemmas/model.hpp"

namespace structmat::exact {
namespace {

/// Strictly lower part with states of size `order`, in which transition m has rank order - 1.
template <Field F>
Triangle<F> with_singular_transition(Workbench<F>& w, index_t n, index_t order, index_t m) {
  Triangle<F> t = w.triangle(n, order);
  for (index_t k = 1; k + 1 < n; ++k) t.a[k] = w.random_invertible(order);
  // An idempotent of rank order - 1, in other coordinates.
  const auto change = w.random_invertible(order);
  auto drop = w.identity(order);
  drop(0, 0) = w.integer(0);
  t.a[m] = change * drop * *inverse(change);
  return t;
}

template <Field F>
Matrix<F> dense_triangle(const Workbench<F>& w, const Triangle<F>& t) {
  const index_t n = t.size();
  Quasiseparable<F> q{w.field, t, {}, std::vector<typename F::Element>(n, w.integer(0))};
  for (index_t i = 0; i < n; ++i) {
    q.upper_transposed.p.push_back(w.zeros(1, 0));
    q.upper_transposed.a.push_back(w.zeros(0, 0));
    q.upper_transposed.q.push_back(w.zeros(0, 1));
  }
  return to_dense(q);
}

}  // namespace

std::vector<Lemma> completion_lemmas() {
  std::vector<Lemma> result;
  result.push_back(lemma(
      {"completion",
       "A strictly lower part is that of an N-semiseparable matrix iff for every k rank [r; G] + "
       "rank [G, c] - rank G <= N, with G = M(k+1:n, 0:k), r = M(k, 0:k), c = M(k+1:n, k).",
       "d_k = r G^- c where r lies in the row space of G and c in its column space; any d_k "
       "elsewhere.",
       "the strict part of an N-quasiseparable matrix, one transition singular"},
      [](auto& w, Case c) {
        auto m = w.strictly_lower(
            c.broken != 0 ? dense_triangle(w, with_singular_transition(w, c.n, c.order, c.n / 2))
                          : w.semiseparable(c.n, c.order));
        const auto found = complete_diagonal(m, c.order);
        if (!found.completable) return false;
        for (index_t i = 0; i < c.n; ++i) {
          const auto& entry = found.entries[i];
          m(i, i) = entry.freedom == Freedom::free ? w.field.random(w.engine) : entry.value;
        }
        return w.semiseparable_order(m) <= c.order;
      },
      [](auto& w) {
        auto blocked = w.zeros(3, 3), forced = blocked;
        blocked(1, 0) = blocked(2, 1) = w.integer(1);
        forced(1, 0) = forced(2, 1) = w.integer(1);
        forced(2, 0) = w.integer(2);
        const auto none = complete_diagonal(blocked, 1), half = complete_diagonal(forced, 1);
        return confirmed(
            !none.completable && half.completable &&
                w.field.weight(w.field.subtract(
                    w.field.multiply(half.entries[1].value, w.integer(2)), w.integer(1))) == 0,
            "N = 1: (M_10, M_20, M_21) = (1, 0, 1) has no completion, (1, 2, 1) forces "
            "1/2");
      }));
  result.push_back(lemma(
      {"absorption",
       "When every A_k is invertible the shift is absorbed: the strict part of Z S_l is the strict "
       "part of an N-semiseparable matrix.",
       "c'_i = c_{i-1} A_i^-1.", "one transition singular",
       "exp(Delta A) is invertible, so what the shift adds there is not a larger class of strict "
       "parts, but a free diagonal, another token's c, and conditioning."},
      [](auto& w, Case c) {
        using F = std::remove_cvref_t<decltype(w.field)>;
        auto g = w.inclusive(c.n, c.order, true);
        if (c.broken != 0) {
          g.a[c.n / 2] = with_singular_transition(w, c.n, c.order, c.n / 2).a[c.n / 2];
        }
        const auto shifted = w.shift(c.n) * g.to_dense(w.field);
        Inclusive<F> absorbed = g;
        for (index_t i = 1; i < c.n; ++i) {
          const auto inverse_of = inverse(g.a[i]);
          if (!inverse_of) return w.extends(shifted, c.order);
          absorbed.c[i] = g.c[i - 1] * *inverse_of;
        }
        return w.equal(w.strictly_lower(shifted), w.strictly_lower(absorbed.to_dense(w.field))) &&
               w.extends(shifted, c.order);
      }));
  result.push_back(lemma(
      {"density",
       "S_l + S_u + D is dense in the N-quasiseparable matrices: replacing a singular transition a "
       "by a + e I moves the matrix by e times a fixed one, and then the strict part extends.",
       "a + e I is invertible for all but N values of e; the hidden diagonal grows like 1/e.",
       "e = 0", "Strictness is a matter of attainment and conditioning, not of dimension."},
      [](auto& w, Case c) {
        const index_t m = c.n / 2;
        auto t = with_singular_transition(w, c.n, c.order, m);
        const auto limit = dense_triangle(w, t);
        auto direction = t;
        // Only paths through transition m change, linearly in e.
        direction.a[m] = w.identity(c.order);
        for (index_t k = 0; k < c.n; ++k) {
          if (k >= m) direction.q[k] = w.zeros(t.q[k].rows(), 1);
          if (k <= m) direction.p[k] = w.zeros(1, t.p[k].cols());
        }
        auto e = w.field.invert(w.integer(8));
        if (c.broken != 0) e = w.integer(0);
        t.a[m] = t.a[m] + w.scaled(e, w.identity(c.order));
        if (c.broken == 0 && !inverse(t.a[m])) return true;  // one of the N values of e
        const auto moved = dense_triangle(w, t);
        return w.equal(moved, limit + w.scaled(e, dense_triangle(w, direction))) &&
               w.extends(moved, c.order);
      },
      [](auto& w) {
        bool confirmed_all = true;
        for (const std::int64_t inverse_of_e : {2, 16, 128}) {
          auto m = w.zeros(3, 3);
          m(1, 0) = m(2, 1) = w.integer(1);
          m(2, 0) = w.field.invert(w.integer(inverse_of_e));
          const auto found = complete_diagonal(m, 1);
          confirmed_all =
              confirmed_all && found.completable && found.entries[1].freedom == Freedom::forced &&
              w.field.weight(w.field.subtract(found.entries[1].value, w.integer(inverse_of_e))) ==
                  0;
        }
        return confirmed(confirmed_all,
                         "[[0, 0, 0], [1, d, 0], [e, 1, 0]] tends to the 3 x 3 shift as e -> 0 and "
                         "forces d = 1/e (e = 1/2, 1/16, 1/128)");
      },
      LemmaSizes{.smallest = [](index_t) { return index_t(3); }}));
  result.push_back(lemma(
      {"representable",
       "The strictly lower part of a matrix of rank N is N-quasiseparable and has a completion of "
       "rank N (generator-representable); not every N-quasiseparable part has one.",
       "p_i and q_j are rows of U and V, transitions are I.", "rank N + 1",
       "\"Semiseparable\" is not \"tril(u v^T)\": the second class is not closed."},
      [](auto& w, Case c) {
        const auto m = w.strictly_lower(w.low_rank(c.n, c.n, c.order + c.broken));
        return w.within(m, c.order, 0) && w.representable(m) <= c.order;
      },
      [](auto& w) {
        const auto z = w.shift(4);
        return confirmed(w.lower_order(z) == 1 && w.representable(z) == 3,
                         "the 4 x 4 shift has order 1, and every completion of its strictly lower "
                         "part has rank 3 at least");
      }));
  return result;
}

}  // namespace structmat::exact
