#include "structmat/vandermonde/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "support/gradient.hpp"
#include "vandermonde/nodes.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// Cotangents of nodes and operand against central differences of Re <y_bar, op(M) x>.
template <class M>
void check_reverse(M m, Array<typename M::value_type, 2>& nodes, index_t k, unsigned seed) {
  using T = typename M::value_type;
  Random random(seed);
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? m.cols() : m.rows();
    const index_t out = op == Op::none ? m.rows() : m.cols();
    auto x = random.array<T, 3>({m.batch(), in, k});
    const auto y_bar = random.array<T, 3>({m.batch(), out, k});
    auto x_bar = random.array<T, 3>(x.extents());
    auto node_bar = random.array<T, 2>(nodes.extents());
    const auto x_start = x_bar;
    const auto node_start = node_bar;
    apply_vjp<T>(exec::cpu{}, m.view(), op, std::as_const(x).view(), y_bar.view(), node_bar.view(),
                 x_bar.view());
    for (index_t i = 0; i < x_bar.size(); ++i) x_bar.data()[i] -= x_start.data()[i];
    for (index_t i = 0; i < node_bar.size(); ++i) node_bar.data()[i] -= node_start.data()[i];
    const auto loss = [&] {
      Array<T, 3> y({m.batch(), out, k});
      M moved = m;
      if constexpr (requires { moved.x; }) {
        moved.x = nodes;
      } else {
        moved.a = nodes;
      }
      apply_op(exec::cpu{}, moved, op, x, y);
      return inner(y_bar, y);
    };
    INFO("op " << int(op));
    check_gradient("x", x, x_bar, loss, 1e-7);
    check_gradient("nodes", nodes, node_bar, loss, 1e-7);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("cotangents of Vandermonde products", "", double, std::complex<double>) {
  for (const index_t n : {0, 1, 2, 9}) {
    auto v = random_vandermonde<TestType>(6, n, 2, 3);
    auto nodes = v.x;
    check_reverse(v, nodes, 2, 4);
  }
}

TEMPLATE_TEST_CASE("cotangents of exponential sums", "", double, std::complex<double>) {
  for (const index_t lags : {0, 1, 2, 13}) {
    auto e = random_exponentials<TestType>(lags, 5, 2, 5);
    auto nodes = e.a;
    check_reverse(e, nodes, 2, 6);
  }
}

TEST_CASE("cotangents of shared data are sums over the batch") {
  using C = std::complex<double>;
  Random random(7);
  const auto v = random_vandermonde<C>(5, 4, 1, 8);
  const auto x = random.array<C, 3>({1, 4, 2});
  const auto y_bar = random.array<C, 3>({3, 5, 2});
  Array<C, 2> together({1, 5}), each({1, 5});
  Array<C, 3> x_together({1, 4, 2}), x_each({1, 4, 2});
  Array<C, 2> nodes({3, 5});
  copy(v.x.view().broadcast(0, 3), nodes.view());
  const VandermondeView<C> many{nodes.view(), 4};
  apply_vjp<C>(exec::cpu{}, many, Op::none, x.view(), y_bar.view(), together.view(),
               x_together.view());
  for (index_t b = 0; b < 3; ++b) {
    apply_vjp<C>(exec::cpu{}, v.view(), Op::none, x.view(), y_bar.view().slice(0, b, b + 1),
                 each.view(), x_each.view());
  }
  CHECK(distance(together, each) <= 1e-13);
  CHECK(distance(x_together, x_each) <= 1e-13);
}

TEST_CASE("reverse mode refuses what does not fit") {
  const auto v = random_vandermonde<double>(5, 4, 1, 8);
  const Array<double, 3> x({1, 4, 2}), y_bar({1, 5, 2});
  Array<double, 2> nodes({1, 4});
  CHECK(message_from<ShapeError>([&] {
          apply_vjp<double>(exec::cpu{}, v.view(), Op::none, x.view(), y_bar.view(), nodes.view(),
                            {});
        }) == "vandermonde::apply_vjp: node_bar has extent 4, expected 5");
  Array<double, 3> both({1, 5, 2});
  CHECK_THROWS_AS(
      apply_vjp<double>(exec::cpu{}, v.view(), Op::none, std::as_const(both).view().slice(1, 0, 4),
                        y_bar.view(), {}, both.view().slice(1, 0, 4)),
      DomainError);
}
