// Elimination of many small Cauchy and Cauchy-like matrices on the device.
#include "structmat/cauchy/solve.hpp"

#include <catch2/catch.hpp>

#include "cauchy/interlacing.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"
#include "support/solve.hpp"

using namespace structmat;
using namespace structmat::test;
using Kind = PivotStatus::Kind;

namespace {

template <class T>
double rounding(index_t n) {
  return 16 * (double(n) + 8) * double(epsilon<T>);
}

/// x := op(m)^-1 b in one call; the status of every matrix.
template <class M, class T = typename M::value_type>
Array<PivotStatus, 1> solve_on_device(const M& m, Op op, const View<const T, 3>& b,
                                      const View<T, 3>& x) {
  Mirror in, out;
  in.cover(b), out.cover(x);
  in.send(), out.send();
  const auto there = to_device(m);
  Array<PivotStatus, 1, space::cuda> status({m.batch()});
  Array<std::byte, 1> junk({solve_workspace_bytes(there.view(), x.extent(2), x.extent(0))});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  auto memory = to_device(junk);
  solve(exec::cuda{nullptr, memory}, there.view(), op, View<const T, 3, space::cuda>(in(b)), out(x),
        status.view());
  out.fetch();
  return to_host(status);
}

template <class M>
void check_solve(const M& m, Random& random) {
  using T = typename M::value_type;
  check_solutions(m, rounding<T>(m.rows()), random, [&](Op op, View<const T, 3> b, View<T, 3> x) {
    for (const PivotStatus& s : solve_on_device(m, op, b, x)) CHECK(s.usable());
  });
}

template <class M, class T = typename M::value_type>
PivotStatus status_of(const M& m, index_t batch, Array<T, 3>& x) {
  const auto b = Random(9).array<T, 3>({m.batch(), m.rows(), 1});
  x = Array<T, 3>(b.extents());
  const auto status = solve_on_device(m, Op::none, View<const T, 3>(b.view()), x.view());
  CHECK(status(batch).batch == batch);
  return status(batch);
}

}  // namespace

TEMPLATE_TEST_CASE("Cauchy-like systems on a device, of every size and displacement rank",
                   "[cauchy_solve]", float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 7, 33, 65}) {
    if (quick() && n == 65) continue;
    for (const index_t r : {1, 2, 5}) {
      if (r > n || (quick() && n > 7 && r != 2)) continue;
      check_solve(random_cauchy_like<T>(n, n, r, 1 + n % 2, unsigned(10 * n + r)), random);
    }
  }
  for (const index_t n : {0, 1, 3, 20}) check_solve(random_cauchy<T>(n, n, 2, 3), random);
}

TEMPLATE_TEST_CASE("factors on a device serve many right-hand sides", "[cauchy_solve]", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(2);
  const index_t n = quick() ? 70 : 140;
  const auto check = [&](const auto& m) {
    const auto there = to_device(m);
    cauchy::Lu<T, space::cuda> f(n, m.batch());
    Array<std::byte, 1, space::cuda> workspace({cauchy::factor_lu_workspace_bytes(there.view())});
    cauchy::factor_lu(exec::cuda{nullptr, workspace}, there.view(), f);
    for (const PivotStatus& s : to_host(f.status)) CHECK(s.usable());
    for (const Op op : all_ops) {
      const auto b = random.array<T, 3>({2, n, 6});
      auto x = to_device(b);
      Array<std::byte, 1, space::cuda> more({cauchy::solve_workspace_bytes(f, 6, 2)});
      cauchy::solve(exec::cuda{nullptr, more}, f, op, std::as_const(x).view(), x.view());
      CHECK(backward_error(m, op, b, to_host(x)) <= rounding<T>(n));
    }
  };
  check(random_cauchy_like<T>(n, n, 2, 2, 1));
  check(random_cauchy_like<T>(n, n, 3, 1, 2));
  check(with_interlacing_nodes(Cauchy<T>(n, n, 2), random));
}

TEST_CASE("generators on a device that do not fit into shared memory", "[cauchy_solve]") {
  Random random(3);
  const index_t n = quick() ? 90 : 1500, r = quick() ? 80 : 5;
  const auto m = random_cauchy_like<double>(n, n, r, 1, 4);
  const auto b = random.array<double, 3>({1, n, 1});
  auto x = poisoned<double, 3>(b.extents());
  const auto status = solve_on_device(m, Op::none, View<const double, 3>(b.view()), x.view());
  CHECK(status(0).usable());
  CHECK(backward_error(m, Op::none, b, x) <= 1e-10);
  CHECK(cauchy::factor_lu_workspace_bytes(to_device(m).view()) > 0);
}

TEST_CASE("Cauchy systems on a device with known numbers", "[cauchy_solve]") {
  Cauchy<double> c(3, 3);
  for (index_t i = 0; i < 3; ++i) c.s(0, i) = double(i), c.t(0, i) = double(i) + 0.5;
  Array<double, 3> b({1, 3, 1}), x({1, 3, 1});
  const double right[] = {-68. / 15, -4, -4. / 3};
  std::copy_n(right, 3, b.data());
  const auto status = solve_on_device(c, Op::none, View<const double, 3>(b.view()), x.view());
  CHECK(status(0).ok());
  for (index_t i = 0; i < 3; ++i) CHECK(x(0, i, 0) == Approx(double(i + 1)).epsilon(1e-14));

  // Hilbert's matrix of order 12, condition 1.7e16: factors are accurate entry by entry. The first
  // entry of the first column of its inverse is 144, the next -10296.
  const index_t n = 12;
  Cauchy<double> hilbert(n, n);
  for (index_t i = 0; i < n; ++i) hilbert.s(0, i) = double(i), hilbert.t(0, i) = -double(i) - 1;
  Array<double, 3> e({1, n, 1}), column({1, n, 1});
  e(0, 0, 0) = 1;
  CHECK(solve_on_device(hilbert, Op::none, View<const double, 3>(e.view()), column.view())(0).ok());
  CHECK(column(0, 0, 0) == Approx(144).epsilon(1e-8));
  CHECK(column(0, 1, 0) == Approx(-10296).epsilon(1e-8));
}

TEST_CASE("breakdown on a device is a status, and leaves NaN", "[cauchy_solve]") {
  Array<double, 3> x;
  auto c = random_cauchy<double>(5, 5, 3, 5);
  c.s(1, 3) = c.s(1, 1);
  CHECK(status_of(c, 1, x).kind == Kind::zero);
  CHECK(status_of(c, 1, x).index == 4);
  CHECK(std::isnan(x(1, 0, 0)));
  CHECK(status_of(c, 0, x).usable());
  CHECK(std::isfinite(x(0, 0, 0)));
  c.s(2, 3) = c.t(2, 0);
  CHECK(status_of(c, 2, x).kind == Kind::not_finite);

  auto like = random_cauchy_like<double>(6, 6, 2, 2, 6);
  like.s(0, 4) = like.s(0, 2);
  CHECK(status_of(like, 0, x).usable());
  like.s(0, 5) = like.s(0, 2);  // three equal ones with two generators
  CHECK(!status_of(like, 0, x).ok());
  like.h(1, 2, 1) = INFINITY;
  CHECK(status_of(like, 1, x).kind == Kind::not_finite);
  CHECK(status_of(like, 1, x).index == 2);
  CHECK(status_of(random_cauchy_like<double>(4, 4, 0, 1, 1), 0, x).kind == Kind::zero);
}

TEST_CASE("generators near the ends of the range on a device", "[cauchy_solve]") {
  for (const double size : {1e-200, 1e200}) {
    auto m = random_cauchy_like<double>(40, 40, 2, 1, 9);
    Array<double, 3> x, y;
    CHECK(status_of(m, 0, x).ok());
    for (index_t i = 0; i < 40; ++i) {
      m.g(0, i, 0) *= size;
      m.h(0, i, 0) /= size;
    }
    CHECK(status_of(m, 0, y).ok());
    for (index_t i = 0; i < 40; ++i) CHECK(y(0, i, 0) == Approx(x(0, i, 0)).epsilon(1e-9));
  }
}

TEST_CASE("systems on a device repeat, do not depend on their batch and can be captured",
          "[cauchy_solve]") {
  Random random(7);
  const auto m = to_device(random_cauchy_like<float>(50, 50, 2, 3, 11));
  const auto b = to_device(random.array<float, 3>({3, 50, 5}));
  const auto run = [&](const CauchyLikeView<float, space::cuda>& view,
                       const View<const float, 3, space::cuda>& right, auto&& how) {
    Array<float, 3, space::cuda> x({right.extent(0), 50, 5});
    Array<PivotStatus, 1, space::cuda> status({view.batch()});
    Array<std::byte, 1, space::cuda> workspace({solve_workspace_bytes(view, 5)});
    how([&](void* stream) {
      solve(exec::cuda{stream, workspace}, view, Op::none, right, x.view(), status.view());
    });
    return to_host(x);
  };
  const auto directly = [](const auto& call) { call(nullptr); };
  const auto together = run(m.view(), b.view(), directly);
  auto one = m.view();
  for (auto* nodes : {&one.s, &one.t}) *nodes = nodes->slice(0, 1, 2);
  for (auto* generator : {&one.g, &one.h}) *generator = generator->slice(0, 1, 2);
  const auto alone = run(one, b.view().slice(0, 1, 2), directly);
  CHECK(std::equal(alone.begin(), alone.end(), together.data() + 250));
  CHECK(same_bits(run(m.view(), b.view(), [](const auto& call) { replay(call); }), together));
}

TEST_CASE("what is not a system on a device", "[cauchy_solve]") {
  const auto m = to_device(random_cauchy<double>(4, 4, 2, 7));
  const auto wide = to_device(random_cauchy<double>(3, 4, 1, 7));
  Array<double, 3, space::cuda> b({2, 4, 1}), x({2, 4, 1});
  Array<PivotStatus, 1, space::cuda> status({2}), one({1});
  const auto bd = std::as_const(b).view();
  const exec::cuda e{};
  CHECK_THROWS_AS(solve_workspace_bytes(wide.view(), 1), ShapeError);
  CHECK_THROWS_AS(solve(e, m.view(), Op::none, bd, x.view(), status.view()), DomainError);
  CHECK_THROWS_AS(solve(e, m.view(), Op::none, bd, x.view(), one.view()), ShapeError);
  CHECK_THROWS_AS(solve(e, m.view(), Op::none, bd, b.view(), status.view()), DomainError);
  CHECK_THROWS_AS(solve(e, wide.view(), Op::none, bd, x.view(), status.view()), ShapeError);
  cauchy::Lu<double, space::cuda> f(5, 2);
  CHECK(message_from<ShapeError>([&] { cauchy::factor_lu(e, m.view(), f); }) ==
        "cauchy::factor_lu: the factors are for 2 matrices of size 5, there are 2 of size 4");
}
