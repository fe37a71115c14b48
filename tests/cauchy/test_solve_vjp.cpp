#include "structmat/cauchy/solve_vjp.hpp"

#include <catch2/catch.hpp>

#include "cauchy/interlacing.hpp"
#include "structmat/cauchy/inverse.hpp"
#include "support/gradient.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
Array<T, 3> solution(const auto& m, Op op, const Array<T, 3>& b, index_t batch) {
  Array<T, 3> x({batch, b.extent(1), b.extent(2)});
  cauchy::solve(exec::cpu{}, cauchy::factor_lu(m), op, b.view(), x.view());
  return x;
}

/// Starts gradients from ones, to which they must be added.
template <class T, int Rank>
void fill_ones(Array<T, Rank>& a) {
  for (T& v : a) v = T{1};
}
template <class T, int Rank>
void minus_one(Array<T, Rank>& a) {
  for (T& v : a) v -= T{1};
}

template <class M>
auto parts(M& m) {
  using T = typename M::value_type;
  std::vector<std::pair<Array<T, 2>*, Array<T, 3>*>> all{{&m.s, nullptr}, {&m.t, nullptr}};
  if constexpr (requires { m.g; }) {
    all.push_back({nullptr, &m.g});
    all.push_back({nullptr, &m.h});
  }
  return all;
}

/// Compares the cotangent of each part of m, which was started from ones, with differences.
template <class M, class Loss>
void check_parts(M& m, M& bar, const Loss& loss) {
  const auto values = parts(m), bars = parts(bar);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string name = "part " + std::to_string(i);
    if (values[i].first != nullptr) {
      minus_one(*bars[i].first);
      check_gradient(name, *values[i].first, *bars[i].first, loss);
    } else {
      minus_one(*bars[i].second);
      check_gradient(name, *values[i].second, *bars[i].second, loss);
    }
  }
}

template <class M>
M ones_like(M m) {
  for (const auto& [two, three] : parts(m)) {
    if (two != nullptr) fill_ones(*two);
    if (three != nullptr) fill_ones(*three);
  }
  return m;
}

template <class Cotangent, class M>
void check_solve_vjp(M m, unsigned seed) {
  using T = typename M::value_type;
  Random random(seed);
  const index_t n = m.rows(), batch = 2;
  for (const Op op : all_ops) {
    INFO("op " << int(op) << ", batch " << m.batch());
    auto b = random.array<T, 3>({m.batch() == 1 ? 2 : 1, n, 2});
    const auto x_bar = random.array<T, 3>({batch, n, 2});
    const auto x = solution<T>(m, op, b, batch);
    M bar = ones_like(m);
    Array<T, 3> b_bar(b.extents());
    fill_ones(b_bar);
    solve_vjp<T>(exec::cpu{}, m.view(), cauchy::factor_lu(m), op, x.view(), x_bar.view(),
                 Cotangent(bar), b_bar.view());
    const auto loss = [&] { return inner(x_bar, solution<T>(m, op, b, batch)); };
    minus_one(b_bar);
    check_gradient("b", b, b_bar, loss, 1e-7);
    check_parts(m, bar, loss);
  }
}

template <class Cotangent, class M>
void check_log_determinant_vjp(M m) {
  using T = typename M::value_type;
  Array<real_t<T>, 1> weights({m.batch()});
  for (index_t b = 0; b < m.batch(); ++b) weights(b) = real_t<T>(0.5) + real_t<T>(b);
  M bar = ones_like(m);
  log_determinant_vjp<T>(exec::cpu{}, m.view(), std::as_const(weights).view(), Cotangent(bar));
  check_parts(m, bar, [&] {
    double sum = 0;
    for (index_t b = 0; b < m.batch(); ++b) {
      sum += weights(b) * log_determinant(exec::cpu{}, m.view(), b).log_abs;
    }
    return sum;
  });
}

}  // namespace

TEMPLATE_TEST_CASE("gradients of Cauchy solutions and determinants", "", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {1, 4}) {
    for (const index_t batch : {1, 2}) {
      const auto c = with_interlacing_nodes(Cauchy<T>(n, n, batch), random);
      check_solve_vjp<CauchyCotangent<T>>(c, 2);
      check_log_determinant_vjp<CauchyCotangent<T>>(c);
    }
  }
}

TEMPLATE_TEST_CASE("gradients of Cauchy-like solutions and determinants", "", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t batch : {1, 2}) {
    CauchyLike<T> c(4, 4, 2, batch);
    // Generators near those of a Cauchy matrix.
    random.fill(c.g, 0.2);
    random.fill(c.h, 0.2);
    for (index_t b = 0; b < batch; ++b) {
      for (index_t i = 0; i < 4; ++i) {
        c.g(b, i, 0) += T{1};
        c.h(b, i, 0) += T{1};
      }
    }
    c = with_interlacing_nodes(c, random);
    check_solve_vjp<CauchyLikeCotangent<T>>(c, 4);
    check_log_determinant_vjp<CauchyLikeCotangent<T>>(c);
  }
}

TEST_CASE("illegal operands of gradients of Cauchy solvers") {
  Random random(5);
  auto c = with_interlacing_nodes(Cauchy<double>(3, 3), random);
  Cauchy<double> bar(3, 3), wrong(4, 4);
  const auto f = cauchy::factor_lu(c);
  Array<double, 3> x({1, 3, 1}), longer({1, 4, 1});
  Array<double, 1> weights({1}), two({2});
  const auto gradient = [&](auto& x_bar, auto& b_bar) {
    solve_vjp<double>(exec::cpu{}, c.view(), f, Op::none, x.view(), x_bar.view(),
                      CauchyCotangent<double>(bar), b_bar.view());
  };
  CHECK_THROWS_AS(gradient(longer, x), ShapeError);
  CHECK_THROWS_AS(gradient(x, longer), ShapeError);
  CHECK_THROWS_AS(gradient(x, x), DomainError);
  const auto determinant = [&](auto& bars, auto& into) {
    log_determinant_vjp<double>(exec::cpu{}, c.view(), std::as_const(bars).view(),
                                CauchyCotangent<double>(into));
  };
  CHECK_THROWS_AS(determinant(two, bar), ShapeError);
  CHECK_THROWS_AS(determinant(weights, wrong), ShapeError);
  c.s(0, 1) = c.s(0, 0);
  CHECK_THROWS_AS(determinant(weights, bar), DomainError);
}
