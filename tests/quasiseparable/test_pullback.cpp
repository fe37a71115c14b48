#include "structmat/quasiseparable/pullback.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply_vjp.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/qr.hpp"
#include "support/battery.hpp"
#include "support/gradient.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// With W the cotangent of the entries of M, that of its generators is apply_vjp with x = I.
template <Scalar T, class K>
Quasiseparable<T, K> reference(const Quasiseparable<T, K>& m, const Array<T, 3>& w) {
  const index_t n = m.size();
  Array<T, 3> identity({1, n, n});
  for (index_t i = 0; i < n; ++i) identity(0, i, i) = 1;
  Quasiseparable<T, K> bar(n, m.order(), m.batch());
  apply_vjp(exec::cpu{1}, m.view(), Op::none,
            std::as_const(identity).view().broadcast(0, w.extent(0)), w.view(),
            QuasiseparableCotangent<T, K>(bar), View<T, 3>{});
  return bar;
}

template <Scalar T, class K>
void check_pullback(index_t n, Order r, const Quasiseparable<T, transition::Block>& w,
                    index_t batch) {
  INFO("n " << n << ", orders " << r.lower << ", " << r.upper << ", batch " << batch << ", "
            << w.batch());
  auto m = random_quasiseparable<T, K>(n, r, batch, 3);
  Quasiseparable<T, K> bar(n, r, batch);
  quasiseparable::pullback(exec::cpu{2}, m.view(), w, QuasiseparableCotangent<T, K>(bar));
  Array<T, 3> entries = w.to_dense();
  if (w.batch() == 1 && batch != 1) {
    entries = to_array(entries.view().broadcast(0, batch));
  }
  if constexpr (std::same_as<real_t<T>, double>) {
    if (n <= 5) {
      check_generators("m", m, bar, [&] {
        const Array<T, 3> dense = m.to_dense();
        if (m.batch() == 1 && w.batch() != 1) {
          return inner(entries, to_array(dense.view().broadcast(0, w.batch())));
        }
        return inner(entries, dense);
      });
    }
  }
  CHECK(distance(bar, reference(m, entries)) <= 500 * double(n + 1) * double(epsilon<T>));
}

template <Scalar T>
void check_kinds(index_t n, Order r, const Quasiseparable<T, transition::Block>& w, index_t batch) {
  check_pullback<T, transition::Scalar>(n, r, w, batch);
  check_pullback<T, transition::Diagonal>(n, r, w, batch);
  check_pullback<T, transition::Dense>(n, r, w, batch);
}

/// Gauss-Jordan with row pivots.
template <Scalar T>
Array<T, 2> inverse_of(Array<T, 2> a) {
  const index_t n = a.extent(0);
  Array<T, 2> x({n, n});
  for (index_t i = 0; i < n; ++i) x(i, i) = 1;
  for (index_t k = 0; k < n; ++k) {
    index_t pivot = k;
    for (index_t i = k; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    }
    for (index_t j = 0; j < n; ++j) {
      std::swap(a(k, j), a(pivot, j));
      std::swap(x(k, j), x(pivot, j));
    }
    const T scale = T(1) / a(k, k);
    for (index_t j = 0; j < n; ++j) {
      a(k, j) *= scale;
      x(k, j) *= scale;
    }
    for (index_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const T factor = a(i, k);
      for (index_t j = 0; j < n; ++j) {
        a(i, j) -= factor * a(k, j);
        x(i, j) -= factor * x(k, j);
      }
    }
  }
  return x;
}

template <Scalar T>
double log_abs_determinant(Array<T, 2> a) {
  const index_t n = a.extent(0);
  double sum = 0;
  for (index_t k = 0; k < n; ++k) {
    index_t pivot = k;
    for (index_t i = k; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    }
    for (index_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
    sum += std::log(std::abs(a(k, k)));
    for (index_t i = k + 1; i < n; ++i) {
      const T factor = a(i, k) / a(k, k);
      for (index_t j = k; j < n; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return sum;
}

/// A well conditioned M: a strong diagonal.
template <Scalar T, class K>
Quasiseparable<T, K> regular(index_t n, Order r) {
  auto m = random_quasiseparable<T, K>(n, r, 1, 6);
  for (T& v : m.d) v += T(6);
  return m;
}

template <Scalar T, class K>
Array<T, 2> dense_of(const Quasiseparable<T, K>& m) {
  return to_array(std::as_const(m).to_dense().view().select(0, 0));
}

template <Scalar T, class K>
void check_log_determinant(index_t n, Order r) {
  INFO("n " << n << ", orders " << r.lower << ", " << r.upper);
  auto m = regular<T, K>(n, r);
  const Array<T, 2> inverse = inverse_of(dense_of(m));
  const auto blocks = quasiseparable::from_dense(inverse, {.block_size = 2}).matrix;
  Quasiseparable<T, K> bar(n, r);
  quasiseparable::log_determinant_vjp(exec::cpu{}, m.view(), blocks, real_t<T>(-1.5),
                                      QuasiseparableCotangent<T, K>(bar));
  check_generators("m", m, bar, [&] { return -1.5 * log_abs_determinant(dense_of(m)); });

  // trace(M^-1 dM) for dM in the direction of another matrix of the same diagonal and p.
  auto direction = random_quasiseparable<T, K>(n, r, 1, 8);
  auto moved = m;
  moved.p = direction.p;
  std::complex<double> trace{};
  auto zero = m;  // M(p) is linear in p: M(moved) - M(0) is dM
  for (T& v : zero.p) v = T{};
  const Array<T, 2> a = dense_of(moved), b = dense_of(zero);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) trace += inverse(i, j) * (a(j, i) - b(j, i));
  }
  CHECK(inner(bar.p, direction.p) == Approx(-1.5 * trace.real()).margin(1e-12));
}

template <Scalar T, class K>
void check_solve(index_t n, Order r) {
  INFO("n " << n << ", orders " << r.lower << ", " << r.upper);
  auto m = regular<T, K>(n, r);
  Random random(3);
  const auto b = random.array<T, 2>({n, 2}), x_bar = random.array<T, 2>({n, 2});
  const auto times = [n](const Array<T, 2>& a, bool adjoint, const Array<T, 2>& v) {
    Array<T, 2> y({n, v.extent(1)});
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        for (index_t c = 0; c < v.extent(1); ++c) {
          y(i, c) += (adjoint ? conjugate(a(j, i)) : a(i, j)) * v(j, c);
        }
      }
    }
    return y;
  };
  const Array<T, 2> inverse = inverse_of(dense_of(m));
  const Array<T, 2> x = times(inverse, false, b), b_bar = times(inverse, true, x_bar);
  Quasiseparable<T, K> bar(n, r);
  solve_vjp(exec::cpu{}, m.view(), Op::none, as_batch(x.view()), as_batch(b_bar.view()),
            QuasiseparableCotangent<T, K>(bar));
  check_generators("m", m, bar,
                   [&] { return inner(x_bar, times(inverse_of(dense_of(m)), false, b)); });
}

}  // namespace

TEMPLATE_TEST_CASE("pullback through random block matrices", "", float, double, std::complex<float>,
                   std::complex<double>) {
  for (const index_t n : {0, 1, 2, 3, 5, 9, 40}) {
    check_kinds(n, {2, 3}, random_block_quasiseparable<TestType>(n, {3, 2}, 1, 7), 1);
  }
  for (const Order r : {Order{0, 2}, Order{2, 0}, Order{0, 0}}) {
    check_kinds(7, r, random_block_quasiseparable<TestType>(7, {0, 2}, 1, 7), 1);
  }
  const auto one = random_block_quasiseparable<TestType>(5, {2, 2}, 1, 7);
  const auto three = random_block_quasiseparable<TestType>(5, {2, 2}, 3, 7);
  check_kinds(5, {1, 2}, three, 3);
  check_kinds(5, {1, 2}, one, 3);
  check_kinds(5, {1, 2}, three, 1);  // sums over the batch
}

TEMPLATE_TEST_CASE("pullback through compressed dense matrices", "", double, std::complex<double>) {
  Random random(2);
  for (const index_t n : {1, 2, 5, 9}) {
    const auto dense = random.array<TestType, 2>({n, n});
    check_kinds(n, {2, 1}, quasiseparable::from_dense(dense, {.block_size = 3}).matrix, 1);
  }
}

TEMPLATE_TEST_CASE("log-determinant against differences and the trace", "", double,
                   std::complex<double>) {
  for (const index_t n : {1, 2, 3, 5}) {
    for (const Order r : {Order{2, 1}, Order{0, 2}, Order{1, 0}}) {
      check_log_determinant<TestType, transition::Scalar>(n, r);
      check_log_determinant<TestType, transition::Diagonal>(n, r);
      check_log_determinant<TestType, transition::Dense>(n, r);
    }
  }
}

TEMPLATE_TEST_CASE("log-determinant with the inverse of the general solver", "", double,
                   std::complex<double>) {
  using T = TestType;
  using K = transition::Diagonal;
  const index_t n = 150;
  auto m = regular<T, K>(n, {2, 3});
  Quasiseparable<T, K> bar(n, {2, 3});
  quasiseparable::log_determinant_vjp(exec::cpu{}, m.view(),
                                      quasiseparable::inverse(quasiseparable::factor_qr(m)),
                                      real_t<T>(1), QuasiseparableCotangent<T, K>(bar));
  Random random(12);
  const auto along = [&](auto& generator, const auto& cotangent) {
    auto step = generator;
    random.fill(step);
    const auto kept = generator;
    const double h = 1e-5;
    const auto at = [&](double by) {
      for (index_t i = 0; i < kept.size(); ++i) {
        generator.data()[i] = kept.data()[i] + T(by) * step.data()[i];
      }
      return quasiseparable::log_determinant(quasiseparable::factor_qr(m)).log_abs;
    };
    const double difference = (at(h) - at(-h)) / (2 * h);
    generator = kept;
    CHECK(inner(cotangent, step) == Approx(difference).margin(1e-6));
  };
  along(m.p, bar.p);
  along(m.q, bar.q);
  along(m.a, bar.a);
  along(m.d, bar.d);
  along(m.g, bar.g);
  along(m.h, bar.h);
  along(m.b, bar.b);
}

TEMPLATE_TEST_CASE("solve against central differences", "", double, std::complex<double>) {
  for (const index_t n : {1, 2, 5}) {
    check_solve<TestType, transition::Scalar>(n, {2, 1});
    check_solve<TestType, transition::Diagonal>(n, {1, 2});
    check_solve<TestType, transition::Dense>(n, {2, 1});
  }
}

TEST_CASE("unread generators, absent cotangents, wrong shapes") {
  using T = double;
  using K = transition::Dense;
  const index_t n = 6;
  auto m = random_quasiseparable<T, K>(n, {2, 2}, 1, 3);
  const auto w = random_block_quasiseparable<T>(n, {2, 3}, 1, 7);
  Quasiseparable<T, K> expected(n, {2, 2}), bar(n, {2, 2}), only(n, {2, 2});
  quasiseparable::pullback(exec::cpu{}, m.view(), w, QuasiseparableCotangent<T, K>(expected));
  for (index_t l = 0; l < 2; ++l) {
    m.p(0, 0, l) = m.h(0, 0, l) = m.q(0, n - 1, l) = m.g(0, n - 1, l) = NAN;
    for (index_t c = 0; c < 2; ++c) {
      m.a(0, 0, l, c) = m.b(0, 0, l, c) = m.a(0, n - 1, l, c) = m.b(0, n - 1, l, c) = NAN;
    }
  }
  quasiseparable::pullback(exec::cpu{}, m.view(), w, QuasiseparableCotangent<T, K>(bar));
  CHECK(distance(bar, expected) == 0);
  QuasiseparableCotangent<T, K> some;
  some.b = only.b;
  quasiseparable::pullback(exec::cpu{}, m.view(), w, some);
  CHECK(same_bits(only.b, expected.b));
  CHECK(message_from<ShapeError>([&] {
          quasiseparable::pullback(exec::cpu{}, m.view(),
                                   random_block_quasiseparable<T>(5, {2, 3}, 1, 7), some);
        }) == "quasiseparable::pullback: W has size 5, M has size 6");
  CHECK(message_from<ShapeError>([&] {
          const auto two = random_quasiseparable<T, K>(n, {2, 2}, 2, 3);
          quasiseparable::log_determinant_vjp(
              exec::cpu{}, two.view(), random_block_quasiseparable<T>(n, {2, 3}, 3, 7), 1.0, some);
        }) == "quasiseparable::log_determinant_vjp: W has batch 3, M has batch 2");
}
