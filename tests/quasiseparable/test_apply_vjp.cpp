#include "structmat/quasiseparable/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/apply_vjp.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class M>
using Cotangent = QuasiseparableCotangent<typename M::value_type, typename M::transition_type>;

template <Scalar T, class K>
void check_differences(index_t n, Order r, index_t m_batch, index_t x_batch, index_t k) {
  Random random(11);
  auto m = random_quasiseparable<T, K>(n, r, m_batch, 5);
  const index_t batch = m_batch == 1 ? x_batch : m_batch;
  auto x = random.array<T, 3>({x_batch, n, k});
  const auto y_bar = random.array<T, 3>({batch, n, k});
  for (const Op op : all_ops) {
    INFO("n " << n << ", orders " << r.lower << ", " << r.upper << ", batch " << m_batch << ", "
              << x_batch << ", k " << k << ", op " << int(op));
    Quasiseparable<T, K> m_bar(n, r, m_batch);
    Array<T, 3> x_bar({x_batch, n, k});
    apply_vjp(exec::cpu{}, m.view(), op, std::as_const(x).view(), y_bar.view(),
              Cotangent<decltype(m)>(m_bar), x_bar.view());
    const auto loss = [&] { return product_loss(m, op, x, y_bar); };
    check_generators("m", m, m_bar, loss);
    check_gradient("x", x, x_bar, loss);
  }
}

template <Scalar T, class K>
T transition_entry(const Quasiseparable<T, K>& m, index_t i, index_t l, index_t c) {
  if constexpr (K::rank == 4) return m.a(0, i, l, c);
  if constexpr (K::rank == 3) return l == c ? m.a(0, i, l) : T{};
  if constexpr (K::rank == 2) return l == c ? m.a(0, i) : T{};
}

/// Cotangents of p, a, q of the lower triangle by the textbook reverse sweep, from the states at all
/// rows: what long sequences are compared with.
template <Scalar T, class K>
Quasiseparable<T, K> textbook(const Quasiseparable<T, K>& m, const Array<T, 3>& x,
                              const Array<T, 3>& y_bar) {
  const index_t n = m.size(), r = m.order().lower, k = x.extent(2);
  Quasiseparable<T, K> bar(n, m.order(), 1);
  Array<T, 3> s({n + 1, r, k});
  for (index_t i = 0; i < n; ++i) {
    for (index_t l = 0; l < r; ++l) {
      for (index_t c = 0; c < k; ++c) {
        T sum = m.q(0, i, l) * x(0, i, c);
        for (index_t u = 0; u < r && i > 0; ++u) sum += transition_entry(m, i, l, u) * s(i, u, c);
        s(i + 1, l, c) = sum;
      }
    }
  }
  Array<T, 2> lambda({r, k});
  for (index_t i = n - 1; i >= 0; --i) {
    Array<T, 2> next({r, k});
    for (index_t l = 0; l < r; ++l) {
      for (index_t c = 0; c < k; ++c) {
        bar.q(0, i, l) += lambda(l, c) * conjugate(x(0, i, c));
        if (i == 0) continue;
        bar.p(0, i, l) += conjugate(s(i, l, c)) * y_bar(0, i, c);
        next(l, c) += conjugate(m.p(0, i, l)) * y_bar(0, i, c);
        for (index_t u = 0; u < r; ++u) {
          const T product = lambda(l, c) * conjugate(s(i, u, c));
          if constexpr (K::rank == 4) bar.a(0, i, l, u) += product;
          if constexpr (K::rank == 3) bar.a(0, i, l) += l == u ? product : T{};
          if constexpr (K::rank == 2) bar.a(0, i) += l == u ? product : T{};
          next(u, c) += conjugate(transition_entry(m, i, l, u)) * lambda(l, c);
        }
      }
    }
    lambda = std::move(next);
  }
  return bar;
}

template <Scalar T, class K>
void check_long(index_t n, index_t r, index_t k) {
  Random random(3);
  const auto m = random_quasiseparable<T, K>(n, {r, 1}, 1, 8);
  const auto x = random.array<T, 3>({1, n, k}), y_bar = random.array<T, 3>({1, n, k});
  Quasiseparable<T, K> m_bar(n, m.order(), 1);
  apply_vjp(exec::cpu{1}, m.view(), Op::none, x.view(), y_bar.view(),
            Cotangent<decltype(m_bar)>(m_bar), View<T, 3>{});
  const auto expected = textbook(m, x, y_bar);
  INFO("n " << n << ", r " << r << ", k " << k);
  // States are at most 10 r, and k products are summed.
  const double allowed = 100.0 * double(k * (r + 1)) * double(epsilon<T>);
  CHECK(distance(m_bar.p, expected.p) <= allowed);
  CHECK(distance(m_bar.q, expected.q) <= allowed);
  CHECK(distance(m_bar.a, expected.a) <= allowed * double(r));
}

}  // namespace

TEMPLATE_TEST_CASE("cotangents of apply against central differences", "", double,
                   std::complex<double>) {
  const auto kinds = [](index_t n, Order r, index_t mb, index_t xb, index_t k) {
    check_differences<TestType, transition::Scalar>(n, r, mb, xb, k);
    check_differences<TestType, transition::Diagonal>(n, r, mb, xb, k);
    check_differences<TestType, transition::Dense>(n, r, mb, xb, k);
  };
  for (const index_t n : {0, 1, 2, 3, 5}) kinds(n, {2, 3}, 1, 1, 2);
  kinds(9, {3, 1}, 1, 1, 1);
  kinds(5, {0, 2}, 1, 1, 2);
  kinds(5, {2, 0}, 1, 1, 5);
  kinds(3, {1, 2}, 3, 3, 2);
  kinds(3, {1, 2}, 1, 3, 1);  // cotangents of shared generators are sums
  kinds(3, {1, 2}, 3, 1, 1);  // and so is that of a shared x
  kinds(4, {1, 2}, 0, 1, 1);
}

TEMPLATE_TEST_CASE("long sequences: chunks of rows and tiles of columns", "", float, double,
                   std::complex<float>, std::complex<double>) {
  for (const index_t n : {63, 64, 65, 200}) {
    for (const index_t k : {1, 3, 9}) {
      check_long<TestType, transition::Scalar>(n, 9, k);
      check_long<TestType, transition::Diagonal>(n, 8, k);
      check_long<TestType, transition::Diagonal>(n, 17, k);
      check_long<TestType, transition::Dense>(n, 3, k);
      check_long<TestType, transition::Dense>(n, 8, k);
    }
  }
  check_long<TestType, transition::Diagonal>(70, 8, 130);
  check_long<TestType, transition::Dense>(70, 33, 2);
}

TEST_CASE("x_bar is the adjoint product") {
  Random random(6);
  const auto m = random_quasiseparable<std::complex<float>, transition::Dense>(130, {4, 9}, 2, 5);
  using T = std::complex<float>;
  const auto x = random.array<T, 3>({2, 130, 3}), y_bar = random.array<T, 3>({2, 130, 3});
  for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
    Array<T, 3> x_bar({2, 130, 3}), expected({2, 130, 3}), conjugated = y_bar;
    apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(), {}, x_bar.view());
    if (op == Op::none) apply_adjoint(exec::cpu{}, m, y_bar, expected);
    if (op == Op::adjoint) apply(exec::cpu{}, m, y_bar, expected);
    if (op == Op::transpose) {  // conj(M) y_bar = conj(M conj(y_bar))
      for (T& v : conjugated) v = std::conj(v);
      apply(exec::cpu{}, m, conjugated, expected);
      for (T& v : expected) v = std::conj(v);
    }
    CHECK(distance(x_bar, expected) <= 1e-4);
  }
}

TEST_CASE("strides, threads and absent cotangents change nothing") {
  using T = double;
  using K = transition::Diagonal;
  const index_t n = 150, k = 5;
  Random random(4);
  const auto m = random_quasiseparable<T, K>(n, {8, 3}, 2, 5);
  const auto x = random.array<T, 3>({2, n, k}), y_bar = random.array<T, 3>({2, n, k});
  Quasiseparable<T, K> expected(n, {8, 3}, 2), some(n, {8, 3}, 2);
  Array<T, 3> x_expected({2, n, k});
  const auto run = [&](int threads, const QuasiseparableView<T, K>& v,
                       const QuasiseparableCotangent<T, K>& bar, const View<T, 3>& x_bar) {
    apply_vjp(exec::cpu{threads}, v, Op::transpose, x.view(), y_bar.view(), bar, x_bar);
  };
  run(1, m.view(), QuasiseparableCotangent<T, K>(expected), x_expected);

  QuasiseparableCotangent<T, K> only_q;
  only_q.q = some.q;
  run(1, m.view(), only_q, View<T, 3>{});
  CHECK(same_bits(some.q, expected.q));
  CHECK(some.p.view()(0, 5, 1) == 0);

  for (const int threads : {2, 5}) {
    Quasiseparable<T, K> bar(n, {8, 3}, 2);
    Array<T, 3> x_bar({2, n, k});
    run(threads, m.view(), QuasiseparableCotangent<T, K>(bar), x_bar);
    CHECK(distance(bar, expected) == 0);
    CHECK(same_bits(x_bar, x_expected));
  }

  // Everything reversed and with gaps.
  const auto gappy = [](auto& store, const auto& shape) {
    store = std::remove_reference_t<decltype(store)>(
        {2 * shape.extent(0), shape.extent(1), 3 * shape.extent(2)});
    View<T, 3> v(store.data(), shape.extents(),
                 {2 * store.extent(1) * store.extent(2), store.extent(2), 3});
    return v.reversed(2).reversed(1);
  };
  Array<T, 3> p, q, p_bar, x_store;
  auto v = m.view();
  const View<T, 3> ps = gappy(p, m.p), qs = gappy(q, m.q), ps_bar = gappy(p_bar, m.p),
                   xs_bar = gappy(x_store, x);
  copy(m.p.view(), ps);
  copy(m.q.view(), qs);
  v.p = ps;
  v.q = qs;
  Quasiseparable<T, K> bar(n, {8, 3}, 2);
  QuasiseparableCotangent<T, K> views(bar);
  views.p = ps_bar;
  run(1, v, views, xs_bar);
  CHECK(same_bits(to_array(ps_bar), expected.p));
  CHECK(same_bits(bar.q, expected.q));
  CHECK(same_bits(to_array(xs_bar), x_expected));
}

TEST_CASE("one sequence on two threads") {
  using T = std::complex<double>;
  using K = transition::Dense;
  Random random(4);
  const auto m = random_quasiseparable<T, K>(2000, {4, 3}, 1, 5);
  const auto x = random.array<T, 3>({1, 2000, 2}), y_bar = random.array<T, 3>({1, 2000, 2});
  Quasiseparable<T, K> one(2000, {4, 3}), two(2000, {4, 3});
  auto x_one = random.array<T, 3>({1, 2000, 2}), x_two = x_one;
  apply_vjp(exec::cpu{1}, m.view(), Op::none, x.view(), y_bar.view(),
            QuasiseparableCotangent<T, K>(one), x_one.view());
  apply_vjp(exec::cpu{2}, m.view(), Op::none, x.view(), y_bar.view(),
            QuasiseparableCotangent<T, K>(two), x_two.view());
  CHECK(distance(one, two) == 0);
  CHECK(same_bits(x_one, x_two));
}

TEST_CASE("cotangents are added to, and unused generators are neither read nor given any") {
  using T = double;
  using K = transition::Dense;
  const index_t n = 7;
  auto m = random_quasiseparable<T, K>(n, {2, 3}, 1, 5);
  for (index_t l = 0; l < 2; ++l) {
    m.p(0, 0, l) = m.q(0, n - 1, l) = NAN;
    for (index_t c = 0; c < 2; ++c) m.a(0, 0, l, c) = m.a(0, n - 1, l, c) = NAN;
  }
  for (index_t l = 0; l < 3; ++l) {
    m.h(0, 0, l) = m.g(0, n - 1, l) = NAN;
    for (index_t c = 0; c < 3; ++c) m.b(0, 0, l, c) = m.b(0, n - 1, l, c) = NAN;
  }
  Random random(1);
  const auto x = random.array<T, 3>({1, n, 2}), y_bar = random.array<T, 3>({1, n, 2});
  for (const Op op : {Op::none, Op::transpose}) {
    Quasiseparable<T, K> zero(n, {2, 3}), seven(n, {2, 3});
    for (auto* v : {&seven.p, &seven.q, &seven.g, &seven.h}) {
      for (T& e : *v) e = 7;
    }
    Array<T, 3> x_bar({1, n, 2});
    apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(),
              QuasiseparableCotangent<T, K>(zero), x_bar.view());
    apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(),
              QuasiseparableCotangent<T, K>(seven), View<T, 3>{});
    for (T& e : seven.q) e -= 7;
    CHECK(distance(seven.q, zero.q) <= 1e-14);
    CHECK(zero.p(0, 0, 1) == 0);
    CHECK(zero.a(0, n - 1, 1, 1) == 0);
    CHECK(zero.q(0, n - 1, 1) == 0);
    for (index_t i = 0; i < n; ++i) {
      CHECK(std::isfinite(zero.q(0, i, 0)));
      CHECK(std::isfinite(x_bar(0, i, 0)));
    }
  }
}

TEMPLATE_TEST_CASE("block generators against central differences", "", double,
                   std::complex<double>) {
  using T = TestType;
  struct Case {
    index_t n;
    Order r;
    index_t m_batch, x_batch, k;
  };
  for (const Case& s :
       {Case{0, {2, 3}, 1, 1, 1}, Case{1, {2, 3}, 1, 1, 2}, Case{7, {2, 3}, 1, 1, 2},
        Case{11, {3, 0}, 1, 1, 1}, Case{4, {1, 2}, 1, 2, 1}, Case{4, {1, 2}, 2, 1, 1},
        Case{4, {1, 2}, 2, 2, 2}}) {
    Random random(2);
    auto m = random_block_quasiseparable<T>(s.n, s.r, s.m_batch, 9);
    auto x = random.array<T, 3>({s.x_batch, s.n, s.k});
    const auto y_bar = random.array<T, 3>({std::max(s.m_batch, s.x_batch), s.n, s.k});
    for (const Op op : all_ops) {
      INFO("n " << s.n << ", op " << int(op) << ", batch " << s.m_batch << ", " << s.x_batch);
      auto bar = m;
      for (auto* a : {&bar.lower.all_p(), &bar.lower.all_q(), &bar.lower.all_a(),
                      &bar.upper_transposed.all_p(), &bar.upper_transposed.all_q(),
                      &bar.upper_transposed.all_a(), &bar.diagonal.all()}) {
        for (T& v : *a) v = T{};
      }
      Array<T, 3> x_bar({s.x_batch, s.n, s.k});
      apply_vjp(exec::cpu{}, m, op, std::as_const(x).view(), y_bar.view(), &bar, x_bar.view());
      const auto loss = [&] { return product_loss(m, op, x, y_bar); };
      const auto triangle = [&](BlockTriangle<T>& t, const BlockTriangle<T>& t_bar) {
        check_gradient("p", t.all_p(), t_bar.all_p(), loss);
        check_gradient("q", t.all_q(), t_bar.all_q(), loss);
        check_gradient("a", t.all_a(), t_bar.all_a(), loss);
      };
      triangle(m.lower, bar.lower);
      triangle(m.upper_transposed, bar.upper_transposed);
      check_gradient("d", m.diagonal.all(), bar.diagonal.all(), loss);
      check_gradient("x", x, x_bar, loss);
    }
  }
}

TEST_CASE("what does not fit is refused") {
  using T = double;
  using K = transition::Diagonal;
  const auto m = random_quasiseparable<T, K>(6, {2, 3}, 2, 13);
  const Array<T, 3> x({2, 6, 2}), y_bar({2, 6, 2});
  Array<T, 3> x_bar({2, 6, 2});
  Quasiseparable<T, K> bar(6, {2, 3}, 2);
  const auto says = [&](const Array<T, 3>& in, const Array<T, 3>& out, const View<T, 3>& target,
                        const QuasiseparableCotangent<T, K>& cotangent) {
    return message_from<ShapeError>([&] {
      apply_vjp(exec::cpu{}, m.view(), Op::none, in.view(), out.view(), cotangent, target);
    });
  };
  const QuasiseparableCotangent<T, K> fits(bar);
  CHECK(says(Array<T, 3>({2, 7, 2}), y_bar, x_bar, fits) ==
        "quasiseparable::apply_vjp: x has 7 rows, the operator has 6");
  CHECK(says(x, Array<T, 3>({2, 5, 2}), x_bar, fits) ==
        "quasiseparable::apply_vjp: y_bar has 5 rows, the operator has 6");
  CHECK(says(x, Array<T, 3>({1, 6, 2}), x_bar, fits) ==
        "quasiseparable::apply_vjp: y_bar has batch 1, the product has 2");
  CHECK(says(x, y_bar, Array<T, 3>({2, 6, 1}), fits) ==
        "quasiseparable::apply_vjp: x_bar is 2 x 6 x 1, x is 2 x 6 x 2");
  auto wrong = fits;
  wrong.h = wrong.h.slice(2, 0, 2);
  CHECK(says(x, y_bar, x_bar, wrong) ==
        "quasiseparable::apply_vjp: the cotangent of h has extent 2 in dimension 2, expected 3");
  Array<T, 3> three({3, 6, 2});
  wrong = fits;
  wrong.q = three;
  CHECK_THROWS_AS(
      apply_vjp(exec::cpu{}, m.view(), Op::none, x.view(), y_bar.view(), wrong, x_bar.view()),
      ShapeError);
  CHECK_THROWS_AS(apply_vjp(exec::cpu{}, m.view(), Op::none, std::as_const(x_bar).view(),
                            y_bar.view(), fits, x_bar.view()),
                  DomainError);
}
