#include "structmat/quasiseparable/ldl_vjp.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "support/battery.hpp"
#include "support/gradient.hpp"
#include "support/hermitian.hpp"

using namespace structmat;
using namespace structmat::test;
namespace qs = structmat::quasiseparable;

namespace {

struct Size {
  index_t n, r, batch;
};
constexpr Size small[] = {{1, 2, 1}, {2, 1, 1}, {5, 0, 1}, {5, 1, 2}, {6, 2, 1}, {5, 3, 1}};
constexpr Size large[] = {{130, 8, 2}, {70, 11, 1}};

/// Everything that is written to starts at 1: gradients are added.
template <class A>
A ones(const A& like) {
  A a = like;
  for (auto& v : a) v = 1;
  return a;
}
template <class A>
A less_one(A a) {
  for (auto& v : a) v -= 1;
  return a;
}

template <Scalar T, class K>
void check_factor(const Size& s) {
  INFO("n " << s.n << ", r " << s.r << ", batch " << s.batch);
  Random random(5);
  auto m = random_hermitian<T, K>(s.n, s.r, s.batch, 3);
  const auto f = qs::factor_ldl(m);
  auto w_bar = random.array<T, 3>({s.batch, s.n, s.r});
  auto d_bar = random.array<real_t<T>, 2>({s.batch, s.n});
  auto gradient = m;
  gradient.p = ones(m.p);
  gradient.q = ones(m.q);
  gradient.a = ones(m.a);
  gradient.d = ones(m.d);
  qs::LdlCotangent<T, K> bar;
  bar.w = w_bar;
  bar.d = d_bar;
  qs::factor_ldl_vjp(exec::cpu{}, m.view(), f.view(), bar, QuasiseparableCotangent<T, K>(gradient));
  const auto loss = [&] {
    const auto moved = qs::factor_ldl(m);
    return inner(w_bar, moved.w) + inner(d_bar, moved.d);
  };
  check_slopes<T>("p", m.p, less_one(gradient.p), loss);
  check_slopes<T>("q", m.q, less_one(gradient.q), loss);
  check_slopes<T>("a", m.a, less_one(gradient.a), loss);
  check_slopes<T>("d", m.d, less_one(gradient.d), loss, true);
}

template <Scalar T, class K>
void check_part(const Size& s, qs::LdlPart part, index_t k) {
  INFO("n " << s.n << ", r " << s.r << ", batch " << s.batch << ", part " << int(part));
  Random random(7);
  auto f = qs::factor_ldl(random_hermitian<T, K>(s.n, s.r, s.batch, 3));
  auto x = random.array<T, 3>({s.batch, s.n, k});
  const auto y_bar = random.array<T, 3>({s.batch, s.n, k});
  auto p = ones(f.p), w = ones(f.w), x_bar = ones(x);
  auto a = ones(f.a);
  auto d = ones(f.d);
  qs::ldl_apply_vjp<T, K>(exec::cpu{}, f.view(), part, x.view(), y_bar.view(), {p, w, a, d}, x_bar);
  const auto loss = [&] {
    Array<T, 3> y(x.extents());
    qs::ldl_apply<T>(exec::cpu{}, f.view(), part, x.view(), y.view());
    return inner(y_bar, y);
  };
  check_slopes<T>("p", f.p, less_one(p), loss);
  check_slopes<T>("w", f.w, less_one(w), loss);
  check_slopes<T>("a", f.a, less_one(a), loss);
  check_slopes<real_t<T>>("d", f.d, less_one(d), loss);
  check_slopes<T>("x", x, less_one(x_bar), loss);
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE(
    "gradients through the factorisation", "", (Case),
    ((double, transition::Scalar), (std::complex<double>, transition::Scalar),
     (double, transition::Diagonal), (std::complex<double>, transition::Diagonal),
     (double, transition::Dense), (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  for (const Size& s : small) check_factor<T, K>(s);
  for (const Size& s : large) check_factor<T, K>(s);
}

TEMPLATE_PRODUCT_TEST_CASE(
    "gradients through solves and products with the factor", "", (Case),
    ((double, transition::Scalar), (std::complex<double>, transition::Scalar),
     (double, transition::Diagonal), (std::complex<double>, transition::Diagonal),
     (double, transition::Dense), (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  using enum qs::LdlPart;
  for (const auto part :
       {solve, solve_lower, solve_lower_adjoint, apply_lower, apply_lower_adjoint}) {
    for (const Size& s : small) check_part<T, K>(s, part, 1 + s.n % 2);
    check_part<T, K>(large[1], part, 1);
  }
}
