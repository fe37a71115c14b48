// Sums over conjugate pairs as Cauchy sums with twice as many poles.
#include "structmat/cauchy/conjugate_sums.hpp"

#include "cauchy/conjugate_operands.hpp"
#include "cauchy/direct.hpp"
#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"
#include "core/vjp_operands.hpp"

namespace structmat::cauchy {
namespace {

/// These numbers, then their conjugates.
template <ComplexScalar T>
Array<T, 1> with_conjugates(const View<const T, 1>& numbers) {
  const index_t n = numbers.extent(0);
  Array<T, 1> both({2 * n}, uninitialized);
  for (index_t i = 0; i < n; ++i) {
    both(i) = numbers(i);
    both(n + i) = conjugate(numbers(i));
  }
  return both;
}

/// sum_j x_j / (s_i - t_j)^power
template <ComplexScalar T>
Array<T, 2> sums_of(const View<const T, 1>& s, const View<const T, 1>& t, const View<const T, 1>& x,
                    int power) {
  const T unit{1};
  DirectSums<T> sums;
  sums.s = s;
  sums.t = t;
  if (power == 2) {
    sums.factors = true;
    sums.power = 2;
    sums.a = View<const T, 2>(&unit, {s.extent(0), 1}, {0, 0});
    sums.b = View<const T, 2>(&unit, {t.extent(0), 1}, {0, 0});
  }
  Array<T, 2> y({s.extent(0), 1}, uninitialized);
  add_direct(1, sums, View<const T, 2>(x.data(), {x.extent(0), 1}, {x.stride(0), 0}), y.view());
  return y;
}

}  // namespace

template <ComplexScalar T>
void conjugate_sums(const exec::cpu& e, View<const T, 2> v, View<const T, 2> w, View<const T, 2> z,
                    View<T, 2> out) {
  constexpr auto operation = "cauchy::conjugate_sums";
  const ConjugateOperands<T, space::host> all(operation, v, w, z, "out", out);
  all.require_apart(operation, "out", out);
  parallel_for(team_for(e.threads, all.batch * all.poles * all.nodes), all.batch, [&](index_t b) {
    const auto poles = with_conjugates(all.w.select(0, b));
    const auto weights = with_conjugates(all.v.select(0, b));
    const auto sums = sums_of<T>(all.z.select(0, b), poles.view(), weights.view(), 1);
    for (index_t l = 0; l < all.nodes; ++l) out(b, l) = sums(l, 0);
  });
}

template <ComplexScalar T>
void conjugate_sums_vjp(const exec::cpu&, View<const T, 2> v, View<const T, 2> w,
                        View<const T, 2> z, View<const T, 2> out_bar,
                        const ConjugateSumsCotangent<T>& bar) {
  constexpr auto operation = "cauchy::conjugate_sums_vjp";
  const ConjugateOperands<T, space::host> all(operation, v, w, z, "out_bar", out_bar);
  const index_t n = all.poles;
  const auto v_bar = detail::checked_cotangent(operation, "v", bar.v, all.batch, {n});
  const auto w_bar = detail::checked_cotangent(operation, "w", bar.w, all.batch, {n});
  const auto z_bar = detail::checked_cotangent(operation, "z", bar.z, all.batch, {all.nodes});
  for (index_t b = 0; b < all.batch; ++b) {
    const auto nodes = all.z.select(0, b);
    const auto poles = with_conjugates(all.w.select(0, b));
    Array<T, 1> charges({all.nodes});
    for (index_t l = 0; l < all.nodes; ++l) charges(l) = conjugate(out_bar(b, l));
    // With the poles as rows the entries are -A and -B, or their squares.
    const View<const T, 1> weights = std::as_const(charges).view();
    if (v_bar.data()) {
      const auto sums = sums_of<T>(poles.view(), nodes, weights, 1);
      for (index_t i = 0; i < n; ++i) v_bar(b, i) -= conjugate(sums(i, 0)) + sums(n + i, 0);
    }
    if (w_bar.data()) {
      const auto sums = sums_of<T>(poles.view(), nodes, weights, 2);
      for (index_t i = 0; i < n; ++i) {
        w_bar(b, i) += conjugate_product(all.v(b, i), conjugate(sums(i, 0)) + sums(n + i, 0));
      }
    }
    if (z_bar.data()) {
      const auto both = with_conjugates(all.v.select(0, b));
      const auto sums = sums_of<T>(nodes, poles.view(), both.view(), 2);
      for (index_t l = 0; l < all.nodes; ++l)
        z_bar(b, l) -= conjugate_product(sums(l, 0), out_bar(b, l));
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT void conjugate_sums(const exec::cpu&, View<const T, 2>,              \
                                                View<const T, 2>, View<const T, 2>, View<T, 2>); \
  template STRUCTMAT_EXPORT void conjugate_sums_vjp(                                             \
      const exec::cpu&, View<const T, 2>, View<const T, 2>, View<const T, 2>, View<const T, 2>,  \
      const ConjugateSumsCotangent<T>&);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat::cauchy
