#include "structmat/lowrank/apply.hpp"

#include <catch2/catch.hpp>

#include "structmat/lowrank/apply_vjp.hpp"
#include "support/apply_vjp.hpp"
#include "support/low_rank.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

struct Shape {
  index_t m, n, r;
};
constexpr Shape shapes[] = {{0, 0, 0}, {1, 1, 1}, {1, 5, 2},  {5, 1, 0},    {3, 0, 2},
                            {0, 4, 1}, {2, 3, 5}, {16, 7, 3}, {127, 31, 8}, {64, 129, 13}};

}  // namespace

TEST_CASE("entries of a product of factors") {
  LowRank<double> m(2, 3, 2);
  copy(View<const double, 1>(std::vector{1.0, 2.0, 3.0, 4.0}),
       View<double, 1>(m.u.data(), {4}, {1}));
  copy(View<const double, 1>(std::vector{1.0, 0.0, 0.0, 1.0, 5.0, 7.0}),
       View<double, 1>(m.v.data(), {6}, {1}));
  // u = [1 2; 3 4], v = [1 0; 0 1; 5 7]
  CHECK(m.entry(0, 0) == 1);
  CHECK(m.entry(0, 1) == 2);
  CHECK(m.entry(1, 2) == 3 * 5 + 4 * 7);
  CHECK((m * std::vector{1.0, 10.0, 100.0})(0) == 1 + 20 + 100 * (5 + 14));
  const LowRank<std::complex<double>> none(3, 2, 0);
  CHECK(none.to_dense()(0, 2, 1) == 0.0);
}

TEMPLATE_TEST_CASE("products of low rank match the entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  Random random(1);
  index_t batch = 1;
  for (const auto& [m, n, r] : shapes) {
    for (const index_t k : {0, 1, 5}) {
      const auto a = random_low_rank<TestType>(m, n, r, batch, random);
      check_products(a, r, k, random);
      batch = batch % 3 + 1;
    }
  }
}

TEMPLATE_TEST_CASE("low rank is linear and takes any stride", "", double, std::complex<float>) {
  Random random(2);
  const auto a = random_low_rank<TestType>(9, 6, 3, 2, random);
  check_linearity(a, 3, random);
  for (const index_t k : {1, 3}) {
    check_strides(a, k, random);
    check_threads(a, k, random);
  }
  check_errors(a, "lowrank");
}

TEST_CASE("factors of any strides") {
  using T = std::complex<double>;
  Random random(3);
  const auto stored = random.array<T, 3>({1, 4, 9});
  const LowRank<T> plain = [&] {
    LowRank<T> a(9, 4, 4);
    copy(stored.view().transposed(), a.u.view());
    random.fill(a.v);
    return a;
  }();
  const LowRankView<T> strided{stored.view().transposed().broadcast(0, 2), plain.v.view()};
  const auto x = random.array<T, 3>({2, 9, 3});
  Array<T, 3> y({2, 4, 3}), expected({2, 4, 3});
  apply(exec::cpu{}, strided, Op::adjoint, x.view(), y.view());
  apply_adjoint(exec::cpu{}, plain, x, expected);
  CHECK(same_bits(y, expected));
}

TEMPLATE_TEST_CASE("gradients of a product of low rank", "", double, std::complex<double>) {
  Random random(4);
  const auto each = [](auto& m, auto& bar, const auto& f) {
    f("u", m.u, bar.u);
    f("v", m.v, bar.v);
  };
  const auto check = [&](const Shape& s, index_t batch, index_t x_batch, index_t k) {
    check_apply_vjp<LowRankCotangent<TestType>>(
        random_low_rank<TestType>(s.m, s.n, s.r, batch, random), x_batch, k, 7, each);
  };
  check({4, 6, 2}, 1, 1, 1);
  check({5, 3, 4}, 3, 1, 2);
  check({2, 3, 1}, 1, 3, 3);
  check({3, 2, 0}, 1, 1, 2);
}

TEST_CASE("cotangents of low rank may be absent, and must fit") {
  Random random(5);
  const auto m = random_low_rank<double>(4, 3, 2, 2, random);
  const auto x = random.array<double, 3>({2, 3, 2}), y_bar = random.array<double, 3>({2, 4, 2});
  LowRank<double> all(4, 3, 2, 2), one(4, 3, 2, 2);
  Array<double, 3> x_bar({2, 3, 2}), alone({2, 3, 2});
  apply_vjp(exec::cpu{}, m.view(), Op::none, x.view(), y_bar.view(), LowRankCotangent(all),
            x_bar.view());
  apply_vjp(exec::cpu{}, m.view(), Op::none, x.view(), y_bar.view(),
            LowRankCotangent<double>(one.u, {}), View<double, 3>{});
  apply_vjp(exec::cpu{}, m.view(), Op::none, x.view(), y_bar.view(),
            LowRankCotangent<double>({}, one.v), View<double, 3>{});
  apply_vjp(exec::cpu{}, m.view(), Op::none, x.view(), y_bar.view(), LowRankCotangent<double>{},
            alone.view());
  CHECK(same_bits(all.u, one.u));
  CHECK(same_bits(all.v, one.v));
  CHECK(same_bits(x_bar, alone));
  Array<double, 3> wrong({2, 5, 2});
  CHECK(message_from<ShapeError>([&] {
          apply_vjp(exec::cpu{}, m.view(), Op::none, x.view(), y_bar.view(),
                    LowRankCotangent<double>(wrong, {}), View<double, 3>{});
        }) == "lowrank::apply_vjp: the cotangent of u has extent 5 in dimension 1, expected 4");
  CHECK(message_from<ShapeError>([&] {
          apply_vjp(exec::cpu{}, m.view(), Op::none, y_bar.view(), y_bar.view(),
                    LowRankCotangent<double>{}, View<double, 3>{});
        }) == "lowrank::apply_vjp: x has 4 rows, the operator has 3");
}

TEST_CASE("a batch of no factors") {
  const LowRank<double> m(4, 4, 2, 0);
  const Array<double, 3> none({0, 4, 2}), one({1, 4, 2});
  Array<double, 3> y({0, 4, 2});
  for (const Op op : all_ops) {
    apply_op(exec::cpu{}, m, op, none, y);
    apply_op(exec::cpu{}, m, op, one, y);
    CHECK_THROWS_AS(apply_op(exec::cpu{}, m, op, one, Array<double, 3>({1, 4, 2})), ShapeError);
  }
}
