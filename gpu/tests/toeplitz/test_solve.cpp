// Many small Toeplitz systems on the device, by their Cauchy-like images.
#include "structmat/toeplitz/solve.hpp"

#include <catch2/catch.hpp>

#include "structmat/toeplitz/to_cauchy_like.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"
#include "support/solve.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <Scalar T>
Toeplitz<T> random_matrix(index_t n, index_t batch, unsigned seed) {
  Random random(seed);
  Toeplitz<T> m(n, n, batch);
  random.fill(m.lags);
  return m;
}

template <Scalar T>
Array<PivotStatus, 1> solve_on_device(const Toeplitz<T>& m, Op op, const View<const T, 3>& b,
                                      const View<T, 3>& x) {
  Mirror in, out;
  in.cover(b), out.cover(x);
  in.send(), out.send();
  const auto md = to_device(m);
  Array<PivotStatus, 1, space::cuda> status({m.batch()});
  Array<std::byte, 1> junk({solve_workspace_bytes(md.view(), x.extent(2), x.extent(0))});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  auto memory = to_device(junk);
  solve(exec::cuda{nullptr, memory}, md.view(), op, View<const T, 3, space::cuda>(in(b)), out(x),
        status.view());
  out.fetch();
  return to_host(status);
}

}  // namespace

TEMPLATE_TEST_CASE("Toeplitz systems on a device", "[toeplitz_solve]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {0, 1, 2, 3, 33, 64}) {
    if (quick() && n == 64) continue;
    const auto m = random_matrix<T>(n, 1 + n % 3, unsigned(n));
    check_solutions(m, 32 * (double(n) + 8) * double(epsilon<T>), random,
                    [&](Op op, View<const T, 3> b, View<T, 3> x) {
                      for (const PivotStatus& s : solve_on_device(m, op, b, x)) CHECK(s.usable());
                    });
  }
}

TEST_CASE("Toeplitz systems on a device of which leading minors vanish, and singular ones",
          "[toeplitz_solve]") {
  // Cyclic shift: zero diagonal, all leading minors zero.
  const index_t n = 24;
  Toeplitz<double> m(n, n, 2);
  m.lags(0, n) = 1;                                          // c_1
  m.lags(0, 0) = 1;                                          // c_{1-n}
  for (index_t l = 0; l < 2 * n - 1; ++l) m.lags(1, l) = 1;  // rank 1
  Array<double, 3> b({2, n, 1}), x({2, n, 1});
  for (index_t i = 0; i < n; ++i) b(0, i, 0) = b(1, i, 0) = double(i);
  const auto status = solve_on_device<double>(m, Op::none, b.view(), x.view());
  CHECK(status(0).ok());
  CHECK(!status(1).ok());
  // y_i = x_{i-1}
  for (index_t i = 0; i < n; ++i) CHECK(x(0, i, 0) == Approx(double((i + 1) % n)).margin(1e-12));
  m.lags(0, 3) = NAN;
  CHECK(solve_on_device<double>(m, Op::none, b.view(), x.view())(0).kind ==
        PivotStatus::Kind::not_finite);
  CHECK(std::isnan(x(0, 0, 0)));
}

TEMPLATE_TEST_CASE("Cauchy-like images on a device are those of the host", "[toeplitz_solve]",
                   float, std::complex<double>) {
  using T = TestType;
  using C = std::complex<real_t<T>>;
  for (const index_t n : {0, 1, 2, 5, 64}) {
    const auto m = random_matrix<T>(n, 2, unsigned(n));
    const auto expected = toeplitz::to_cauchy_like(m);
    CauchyLike<C, space::cuda> there_image(n, n, 2, 2);
    toeplitz::to_cauchy_like<T>(exec::cuda{}, to_device(m).view(), there_image);
    const auto image = to_host(there_image);
    const auto close = [&](const auto& a, const auto& b) {
      for (index_t i = 0; i < a.size(); ++i)
        CHECK(std::abs(a.data()[i] - b.data()[i]) <= 16 * std::sqrt(double(n)) * epsilon<T>);
    };
    close(expected.s, image.s);
    close(expected.t, image.t);
    close(expected.g, image.g);
    close(expected.h, image.h);
  }
}

TEST_CASE("Toeplitz systems on a device in a graph, and what is refused", "[toeplitz_solve]") {
  const auto m = random_matrix<float>(40, 2, 5);
  Random random(2);
  const auto b = random.array<float, 3>({2, 40, 3});
  auto expected = b;
  solve_on_device<float>(m, Op::adjoint, b.view(), expected.view());
  const auto md = to_device(m);
  const auto bd = to_device(b);
  Array<float, 3, space::cuda> x({2, 40, 3});
  Array<PivotStatus, 1, space::cuda> status({2});
  Array<std::byte, 1, space::cuda> workspace({solve_workspace_bytes(md.view(), 3)});
  replay([&](void* stream) {
    solve(exec::cuda{stream, workspace}, md.view(), Op::adjoint, bd.view(), x.view(),
          status.view());
  });
  CHECK(same_bits(to_host(x), expected));

  Toeplitz<float, space::cuda> wide(3, 4), large(4000, 4000);
  CHECK_THROWS_AS(solve_workspace_bytes(wide.view(), 1), ShapeError);
  CHECK_THROWS_AS(solve_workspace_bytes(large.view(), 1), Unsupported);
}
