#include "structmat/semiseparable/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "structmat/semiseparable/apply.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/apply_vjp.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <Scalar T, class K>
void check_differences(index_t n, index_t r, index_t m_batch, index_t x_batch, index_t k) {
  Random random(11);
  auto m = random_semiseparable<T, K>(n, r, m_batch, 5);
  auto x = random.array<T, 3>({x_batch, n, k});
  const auto y_bar = random.array<T, 3>({m_batch == 1 ? x_batch : m_batch, n, k});
  for (const Op op : all_ops) {
    INFO("n " << n << ", order " << r << ", batch " << m_batch << ", " << x_batch << ", k " << k
              << ", op " << int(op));
    Semiseparable<T, K> m_bar(n, r, m_batch);
    Array<T, 3> x_bar({x_batch, n, k});
    apply_vjp(exec::cpu{}, m.view(), op, std::as_const(x).view(), y_bar.view(),
              SemiseparableCotangent<T, K>(m_bar), x_bar.view());
    const auto loss = [&] { return product_loss(m, op, x, y_bar); };
    check_gradient("c", m.c, m_bar.c, loss);
    check_gradient("b", m.b, m_bar.b, loss);
    check_gradient("a", m.a, m_bar.a, loss);
    check_gradient("x", x, x_bar, loss);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("cotangents of apply against central differences", "", double,
                   std::complex<double>) {
  const auto kinds = [](index_t n, index_t r, index_t mb, index_t xb, index_t k) {
    check_differences<TestType, transition::Scalar>(n, r, mb, xb, k);
    check_differences<TestType, transition::Diagonal>(n, r, mb, xb, k);
    check_differences<TestType, transition::Dense>(n, r, mb, xb, k);
  };
  for (const index_t n : {0, 1, 2, 3, 5}) kinds(n, 2, 1, 1, 2);
  kinds(9, 3, 1, 1, 5);
  kinds(5, 0, 1, 1, 2);
  kinds(3, 2, 3, 3, 1);
  kinds(3, 2, 1, 3, 1);
  kinds(3, 2, 3, 1, 1);
}

TEST_CASE("across chunks: the product with the cotangents of c and b") {
  // y = M x is linear in c and in b: <c_bar, c> = <b_bar, b> = <y_bar, y>, and in x.
  const auto check = [](auto tag, index_t r) {
    using K = decltype(tag);
    using T = std::complex<double>;
    const index_t n = 333, k = 6;
    Random random(5);
    const auto m = random_semiseparable<T, K>(n, r, 1, 3);
    const auto x = random.array<T, 3>({1, n, k}), y_bar = random.array<T, 3>({1, n, k});
    for (const Op op : all_ops) {
      Semiseparable<T, K> bar(n, r);
      Array<T, 3> x_bar({1, n, k}), y({1, n, k});
      apply_op(exec::cpu{}, m, op, x, y);
      apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(),
                SemiseparableCotangent<T, K>(bar), x_bar.view());
      const double expected = inner(y_bar, y);
      CHECK(inner(bar.c, m.c) == Approx(expected).epsilon(1e-11));
      CHECK(inner(bar.b, m.b) == Approx(expected).epsilon(1e-11));
      CHECK(inner(x_bar, x) == Approx(expected).epsilon(1e-11));
    }
  };
  check(transition::Scalar{}, 3);
  check(transition::Diagonal{}, 9);
  check(transition::Dense{}, 5);
}

TEST_CASE("what the matrix does not depend on") {
  using T = double;
  using K = transition::Dense;
  auto m = random_semiseparable<T, K>(6, 2, 1, 3);
  for (index_t l = 0; l < 4; ++l) m.a.data()[l] = NAN;
  Random random(5);
  const auto x = random.array<T, 3>({1, 6, 2}), y_bar = random.array<T, 3>({1, 6, 2});
  for (const Op op : all_ops) {
    Semiseparable<T, K> bar(6, 2);
    apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(), SemiseparableCotangent<T, K>(bar),
              View<T, 3>{});
    for (index_t l = 0; l < 4; ++l) CHECK(bar.a.data()[l] == 0);
    for (const T v : bar.a) CHECK(std::isfinite(v));
    for (const T v : bar.b) CHECK(std::isfinite(v));
  }
}

TEMPLATE_TEST_CASE("block generators against central differences", "", double,
                   std::complex<double>) {
  using T = TestType;
  for (const index_t n : {0, 1, 4, 9}) {
    for (const index_t batch : {1, 2}) {
      Random random(2);
      auto m = random_block_semiseparable<T>(n, 3, batch, 9);
      auto x = random.array<T, 3>({2, n, 2});
      const auto y_bar = random.array<T, 3>({2, n, 2});
      for (const Op op : all_ops) {
        INFO("n " << n << ", op " << int(op) << ", batch " << batch);
        auto bar = m;
        for (auto* a :
             {&bar.lower.all_p(), &bar.lower.all_q(), &bar.lower.all_a(), &bar.diagonal.all()}) {
          for (T& v : *a) v = T{};
        }
        Array<T, 3> x_bar({2, n, 2});
        apply_vjp(exec::cpu{}, m, op, std::as_const(x).view(), y_bar.view(), &bar, x_bar.view());
        const auto loss = [&] { return product_loss(m, op, x, y_bar); };
        check_gradient("p", m.lower.all_p(), bar.lower.all_p(), loss);
        check_gradient("q", m.lower.all_q(), bar.lower.all_q(), loss);
        check_gradient("a", m.lower.all_a(), bar.lower.all_a(), loss);
        check_gradient("d", m.diagonal.all(), bar.diagonal.all(), loss);
        check_gradient("x", x, x_bar, loss);
      }
    }
  }
}

TEST_CASE("cotangents that do not fit are refused") {
  const auto m = random_semiseparable<double, transition::Diagonal>(6, 2, 1, 3);
  Semiseparable<double, transition::Diagonal> bar(6, 3);
  const Array<double, 3> x({1, 6, 1});
  CHECK(message_from<ShapeError>([&] {
          apply_vjp(exec::cpu{}, m.view(), Op::none, x.view(), x.view(),
                    SemiseparableCotangent<double, transition::Diagonal>(bar), View<double, 3>{});
        }) ==
        "semiseparable::apply_vjp: the cotangent of c has extent 3 in dimension 2, expected 2");
}
