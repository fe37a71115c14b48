// Gradients of Cauchy products on the device are those of the host.
#include "structmat/cauchy/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "cauchy/support.hpp"
#include "support/gpu.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class A>
double distance_of(const A& host, const A& device) {
  double worst = 0, size = 0;
  for (index_t i = 0; i < host.size(); ++i) {
    const double error = std::abs(host.data()[i] - device.data()[i]);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    size = std::max<double>(size, std::abs(host.data()[i]));
  }
  return size > 0 ? worst / size : worst;
}

/// Nodes of different sides away from each other, so that errors are comparable to the results.
template <class M>
M separated(M m) {
  for (auto& v : m.t) v += typename M::value_type(3);
  return m;
}

template <class M, class T = typename M::value_type>
void check(const M& m, M bar, Op op, index_t k, index_t batch, index_t bars) {
  Random random(6);
  const index_t in = op == Op::none ? m.cols() : m.rows(),
                out = op == Op::none ? m.rows() : m.cols();
  const auto x = random.array<T, 3>({batch, in, k}), y_bar = random.array<T, 3>({batch, out, k});
  auto x_bar = random.array<T, 3>({bars, in, k});
  auto bar_there = to_device(bar);
  auto x_bar_there = to_device(x_bar);
  const auto there = to_device(m);
  const auto x_there = to_device(x), y_bar_there = to_device(y_bar);
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(there.view(), k, batch)});
  const exec::cuda e{nullptr, workspace};
  if constexpr (requires { m.g; }) {
    apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(), CauchyLikeCotangent<T>(bar),
              x_bar.view());
    apply_vjp(e, there.view(), op, x_there.view(), y_bar_there.view(),
              CauchyLikeCotangent<T, space::cuda>(bar_there), x_bar_there.view());
    CHECK(distance_of(bar.g, to_host(bar_there.g)) <= 256 * epsilon<T>);
    CHECK(distance_of(bar.h, to_host(bar_there.h)) <= 256 * epsilon<T>);
  } else {
    apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(), CauchyCotangent<T>(bar),
              x_bar.view());
    apply_vjp(e, there.view(), op, x_there.view(), y_bar_there.view(),
              CauchyCotangent<T, space::cuda>(bar_there), x_bar_there.view());
  }
  INFO("op " << int(op) << ", k " << k << ", batch " << batch << ", bars " << bars);
  CHECK(distance_of(bar.s, to_host(bar_there.s)) <= 256 * epsilon<T>);
  CHECK(distance_of(bar.t, to_host(bar_there.t)) <= 256 * epsilon<T>);
  CHECK(distance_of(x_bar, to_host(x_bar_there)) <= 256 * epsilon<T>);
}

}  // namespace

TEMPLATE_TEST_CASE("gradients of Cauchy products on a device", "[cauchy_apply_vjp]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const Op op : all_ops) {
    check(separated(random_cauchy<T>(5, 7, 2, 1)), random_cauchy<T>(5, 7, 2, 3), op, 3, 2, 2);
    check(separated(random_cauchy<T>(19, 3, 1, 2)), random_cauchy<T>(19, 3, 1, 3), op, 1, 3, 1);
    check(separated(random_cauchy_like<T>(5, 1300, 2, 1, 3)),
          random_cauchy_like<T>(5, 1300, 2, 1, 3), op, 1, 1, 1);
    check(separated(random_cauchy_like<T>(9, 13, 6, 3, 4)), random_cauchy_like<T>(9, 13, 6, 1, 4),
          op, 5, 3, 1);
  }
}

TEST_CASE("gradients of Cauchy products: parts, skipped pairs, a graph, errors",
          "[cauchy_apply_vjp]") {
  using T = double;
  Random random(7);
  auto m = random_cauchy_like<T>(6, 5, 2, 1, 5);
  m.s(0, 1) = m.t(0, 2);
  m.coincidence = Coincidence::skip;
  const auto x = random.array<T, 3>({1, 5, 2}), y_bar = random.array<T, 3>({1, 6, 2});
  Array<T, 2> s_bar({1, 6});
  CauchyLikeCotangent<T> bar;
  bar.s = s_bar;
  apply_vjp(exec::cpu{}, m.view(), Op::none, x.view(), y_bar.view(), bar, View<T, 3>());

  const auto there = to_device(m);
  const auto x_there = to_device(x), y_bar_there = to_device(y_bar);
  Array<T, 2, space::cuda> s_bar_there({1, 6});
  CauchyLikeCotangent<T, space::cuda> bar_there;
  bar_there.s = s_bar_there;
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(there.view(), 2)});
  replay([&](void* stream) {
    apply_vjp(exec::cuda{stream, workspace}, there.view(), Op::none, x_there.view(),
              y_bar_there.view(), bar_there, View<T, 3, space::cuda>());
  });
  // Two runs, both added.
  for (T& v : s_bar) v *= 2;
  CHECK(distance_of(s_bar, to_host(s_bar_there)) <= 1e-13);

  CHECK_THROWS_AS(apply_vjp(exec::cuda{}, there.view(), Op::none, x_there.view(),
                            y_bar_there.view(), bar_there, View<T, 3, space::cuda>()),
                  DomainError);
  CHECK_THROWS_AS(
      apply_vjp(exec::cuda{nullptr, workspace}, there.view(), Op::none, y_bar_there.view(),
                y_bar_there.view(), bar_there, View<T, 3, space::cuda>()),
      ShapeError);
}
