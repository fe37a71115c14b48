// Solutions with circulant and skew-circulant matrices on a device.
#include "structmat/toeplitz/circulant_solve.hpp"

#include <catch2/catch.hpp>

#include "support/gpu.hpp"
#include "support/on_device.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// A random matrix with a large diagonal.
template <class M>
M dominant(M m) {
  using T = typename M::value_type;
  for (index_t b = 0; b < m.batch(); ++b) m.column(b, 0) += T(static_cast<real_t<T>>(m.size()));
  return m;
}

/// x = op(M)^-1 b on the device, through views with gaps when `strided`.
template <class T>
Array<T, 3> solved(const CirculantSolver<T>& solver, Op op, const Array<T, 3>& b, index_t batch) {
  const auto bd = to_device(b);
  auto xd = to_device(Array<T, 3>({batch, b.extent(1), b.extent(2)}));
  Array<std::byte, 1, space::cuda> workspace({solve_workspace_bytes(solver)});
  const auto report = solve(exec::cuda{nullptr, workspace}, solver, op,
                            View<const T, 3, space::cuda>(bd.view()), xd.view());
  CHECK(report.status == solver.status());
  return to_host(xd);
}

template <class M>
void check_solutions(const M& m, index_t batch, index_t k, index_t at_once, Random& random) {
  using T = typename M::value_type;
  const CirculantSolver<T> solver(exec::cuda{}, to_device(m).view(), at_once);
  REQUIRE(solver.status().ok());
  for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
    const auto b = random.array<T, 3>({batch, m.size(), k});
    Array<T, 3> expected(b.extents());
    solve(exec::cpu{}, m.view(), op, std::as_const(b).view(), expected.view());
    const auto x = solved(solver, op, b, batch);
    double worst = 0;
    for (index_t i = 0; i < x.size(); ++i)
      worst = std::max<double>(worst, std::abs(x.data()[i] - expected.data()[i]));
    CHECK(worst * static_cast<double>(m.size()) <= 200 * static_cast<double>(epsilon<T>));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("solutions with circulant matrices on a device are those of the host",
                   "[toeplitz_circulant_solve]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {1, 2, 7, 64, 101}) {
    check_solutions(dominant(random_circulant<T>(n, 1, random)), 3, 2, 4, random);
    check_solutions(dominant(random_circulant<T>(n, 3, random)), 3, 2, 1, random);
    check_solutions(dominant(random_skew_circulant<T>(n, 1, random)), 2, 3, 6, random);
    check_solutions(dominant(random_skew_circulant<T>(n, 2, random)), 2, 1, 9, random);
  }
  // More than one entry of the coarse table of the twist.
  check_solutions(dominant(random_skew_circulant<T>(3001, 1, random)), 1, 1, 1, random);
}

TEST_CASE("statuses of circulant matrices on a device", "[toeplitz_circulant_solve]") {
  // Eigenvalues n and zeros.
  Circulant<double> ones(4);
  for (double& v : ones.column) v = 1;
  const CirculantSolver<double> singular(exec::cuda{}, to_device(ones).view());
  CHECK(singular.status().kind == PivotStatus::Kind::zero);
  CHECK(singular.status().index == 1);
  const Array<double, 3, space::cuda> b({1, 4, 1});
  auto x = to_device(Array<double, 3>({1, 4, 1}));
  const auto report = solve(exec::cuda{}, singular, Op::none,
                            View<const double, 3, space::cuda>(b.view()), x.view());
  CHECK_FALSE(report.status.usable());
  ones.column(0, 2) = NAN;
  const CirculantSolver<double> broken(exec::cuda{}, to_device(ones).view());
  CHECK(broken.status().kind == PivotStatus::Kind::not_finite);
  CHECK_THROWS_AS(CirculantSolver<double>(exec::cuda{}, to_device(ones).view(), 0), DomainError);
  const CirculantSolver<double> empty(exec::cuda{}, to_device(Circulant<double>(0)).view());
  CHECK(empty.status().ok());
  CHECK(empty.size() == 0);
}

TEST_CASE("solutions with circulant matrices: strides, capture, workspace",
          "[toeplitz_circulant_solve]") {
  Random random(2);
  const index_t n = 30;
  const auto m = dominant(random_circulant<double>(n, 1, random));
  const CirculantSolver<double> solver(exec::cuda{}, to_device(m).view(), 2);
  const auto b = random.array<double, 3>({1, n, 3});
  const auto expected = solved(solver, Op::none, b, 1);
  const auto bd = to_device(b);
  Array<double, 3, space::cuda> x({1, n, 6});
  Array<std::byte, 1, space::cuda> workspace({solve_workspace_bytes(solver)});
  const View<double, 3, space::cuda> every_second(x.data() + (n - 1) * 6, {1, n, 3}, {0, -6, 2});
  replay([&](void* stream) {
    solve(exec::cuda{stream, workspace}, solver, Op::none,
          View<const double, 3, space::cuda>(bd.view()), every_second);
  });
  const auto got = to_host(x);
  for (index_t i = 0; i < n; ++i) {
    for (index_t c = 0; c < 3; ++c) {
      CHECK(got(0, n - 1 - i, 2 * c) == expected(0, i, c));
      CHECK(got(0, n - 1 - i, 2 * c + 1) == 0);
    }
  }
  CHECK_THROWS_AS(solve(exec::cuda{}, solver, Op::none,
                        View<const double, 3, space::cuda>(bd.view()), every_second),
                  DomainError);
}
