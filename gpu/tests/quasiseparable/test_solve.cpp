// Solves and products with factors, determinants and likelihoods on the device against their twins.
#include <catch2/catch.hpp>
#include <cmath>

#include "ldl_on_device.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/from_kernel.hpp"

using namespace structmat;
using namespace structmat::test;
using enum qs::LdlPart;

namespace {

constexpr qs::LdlPart parts[] = {solve, solve_lower, solve_lower_adjoint, apply_lower,
                                 apply_lower_adjoint};

template <Scalar T, class K>
Array<T, 3> apply_on_host(const qs::Ldl<T, K>& f, qs::LdlPart part, const Array<T, 3>& x) {
  auto y = poisoned<T, 3>({std::max(f.batch(), x.extent(0)), x.extent(1), x.extent(2)});
  qs::ldl_apply<T, K>(exec::cpu{}, f.view(), part, x.view(), y.view());
  return y;
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE(
    "solves and products with a factor are those of the host", "[quasiseparable_solve]", (Case),
    ((float, transition::Scalar), (double, transition::Scalar),
     (std::complex<float>, transition::Scalar), (std::complex<double>, transition::Scalar),
     (float, transition::Diagonal), (double, transition::Diagonal),
     (std::complex<float>, transition::Diagonal), (std::complex<double>, transition::Diagonal),
     (float, transition::Dense), (double, transition::Dense),
     (std::complex<float>, transition::Dense), (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(3);
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 31, 32, 33, 150, 700}) {
    for (const index_t r : {0, 1, 3, 4, 5, 8, 11, 32}) {
      if (quick() && ((r > 4 && n > 150) || (r > 8 && n > 33) || (r > 11 && n != 33))) continue;
      const index_t k = std::array<index_t, 4>{1, 3, 9, 0}[seed % 4], batch = 1 + seed % 2;
      const auto m = random_hermitian<T, K>(n, r, batch, ++seed);
      const auto f = qs::factor_ldl(m);
      const auto x = random.array<T, 3>({batch, n, k});
      INFO("n " << n << ", r " << r << ", k " << k);
      const double tolerance = 16.0 * double(n + r) * double(epsilon<T>);
      for (const auto part : parts) {
        CHECK(difference(apply_on_device(f, part, x), apply_on_host(f, part, x)) <= tolerance);
      }
    }
  }
}

TEST_CASE("solutions of a nearly singular covariance have small residuals",
          "[quasiseparable_solve]") {
  const index_t n = quick() ? 200 : 5000;
  std::vector<double> times(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) times[std::size_t(i)] = 0.01 * double(i);
  const auto m = qs::from_kernel(times, qs::Kernel::matern52(1) + qs::Kernel::sho(4, 20), 1e-6);
  auto f = qs::factor_ldl(m);
  auto there = factor_on_device(m);
  REQUIRE(there.ok());
  f.w = std::move(there.w);
  f.d = std::move(there.d);
  Random random(5);
  const auto x = random.array<double, 3>({1, n, 1});
  const auto y = apply_on_device(f, solve, x);
  const auto residual = m * y;
  double most = 0, of_y = 0;
  for (index_t i = 0; i < n; ++i) {
    most = std::max(most, std::abs(residual.data()[i] - x.data()[i]));
    of_y += std::abs(y.data()[i]);
  }
  // ||M||_inf is below the sum of k(lag) over all lags; entries are at most 2.
  CHECK(most <= 64 * double(n) * double(epsilon<double>) * 2 * of_y);
}

TEST_CASE("one factor for a batch, strides, in place, repetition", "[quasiseparable_solve]") {
  using T = std::complex<double>;
  using K = transition::Dense;
  constexpr index_t n = 100, r = 3, k = 5, batch = 2;
  Random random(7);
  const auto one = qs::factor_ldl(random_hermitian<T, K>(n, r, 1, 9));
  const auto many = qs::factor_ldl(random_hermitian<T, K>(n, r, batch, 10));
  const auto x = random.array<T, 3>({batch, n, k});
  for (const auto part : parts) {
    const auto y = apply_on_device(one, part, x);
    CHECK(same_bits(y, apply_on_device(one, part, x)));
    for (index_t b = 0; b < batch; ++b) {
      const auto alone = apply_on_device(one, part, to_array(x.view().slice(0, b, b + 1)));
      CHECK(same_bits(alone, to_array(y.view().slice(0, b, b + 1))));
    }
    const auto column = apply_on_device(one, part, to_array(x.view().slice(2, 1, 2)));
    CHECK(same_bits(column, to_array(y.view().slice(2, 1, 2))));
    const auto broadcast = apply_on_device(many, part, to_array(x.view().slice(0, 0, 1)));
    CHECK(difference(broadcast, apply_on_host(many, part, to_array(x.view().slice(0, 0, 1)))) <=
          1e-13);

    // In place, with gaps and columns from last to first.
    const LdlOnDevice<T, K> there(one);
    Array<T, 3> store({batch, 2 * n, 2 * k});
    const std::array<index_t, 3> extents{batch, n, k}, strides{4 * n * k, 4 * k, 2};
    copy(x.view(), View<T, 3>(store.data(), extents, strides).reversed(2));
    auto store_there = to_device(store);
    const auto view = View<T, 3, space::cuda>(store_there.data(), extents, strides).reversed(2);
    auto workspace = junk(qs::ldl_apply_workspace_bytes(there.view(), k, batch));
    qs::ldl_apply<T, K>(exec::cuda{nullptr, workspace.view()}, there.view(), part, view, view);
    store = to_host(store_there);
    CHECK(same_bits(to_array(View<T, 3>(store.data(), extents, strides).reversed(2)), y));
    CHECK(store(0, 1, 1) == T(0));
  }
}

TEST_CASE("a column that is not finite leaves the others alone", "[quasiseparable_solve]") {
  using K = transition::Diagonal;
  constexpr index_t n = 100, k = 2;
  const auto f = qs::factor_ldl(random_hermitian<double, K>(n, 3, 1, 9));
  Random random(7);
  auto x = random.array<double, 3>({1, n, k});
  const auto clean = apply_on_device(f, solve_lower, x);
  x(0, 50, 0) = NAN;
  const auto y = apply_on_device(f, solve_lower, x);
  for (index_t i = 0; i < n; ++i) {
    CHECK(std::isnan(y(0, i, 0)) == (i >= 50));
    CHECK(y(0, i, 1) == clean(0, i, 1));
  }
}

TEMPLATE_TEST_CASE("determinants and likelihoods are those of the host", "[quasiseparable_solve]",
                   (Case<double, transition::Diagonal>), (Case<float, transition::Scalar>),
                   (Case<std::complex<double>, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(3);
  for (const index_t n : {0, 1, 40, 200}) {
    constexpr index_t r = 3, batch = 2;
    for (const bool definite : {true, false}) {
      const auto m = random_hermitian<T, K>(n, r, batch, unsigned(n) + 1, definite);
      const auto f = qs::factor_ldl(m, {.definite = definite});
      const double tolerance = 16.0 * double(n + r) * double(epsilon<T>);
      const LdlOnDevice<T, K> there(f);
      auto result = to_device(Array<LogDeterminant<T>, 1>({batch}));
      auto workspace = junk(qs::log_determinant_workspace_bytes(there.view()));
      qs::log_determinant(exec::cuda{nullptr, workspace.view()}, there.view(), result.view());
      const auto determinants = to_host(result);
      for (index_t b = 0; b < batch; ++b) {
        const auto expected = qs::log_determinant(f, b);
        CHECK(determinants(b).sign == expected.sign);
        CHECK(std::abs(determinants(b).log_abs - expected.log_abs) <= 1e-14 * double(n + 1));
      }

      const HermitianOnDevice<T, K> matrix(m);
      const auto y = random.array<T, 2>({batch, n});
      const auto y_there = to_device(y);
      auto value_there = to_device(Array<double, 1>({batch}));
      auto status_there = to_device(Array<PivotStatus, 1>({batch}));
      auto memory = junk(qs::log_likelihood_workspace_bytes(matrix.view()));
      replay([&](void* stream) {
        qs::log_likelihood(exec::cuda{stream, memory.view()}, matrix.view(),
                           View<const T, 2, space::cuda>(y_there.view()), value_there.view(),
                           status_there.view());
      });
      Array<double, 1> expected({batch});
      const auto value = to_host(value_there);
      qs::log_likelihood(exec::cpu{}, m.view(), View<const T, 2>(y.view()), expected.view());
      const auto status = to_host(status_there);
      for (index_t b = 0; b < batch; ++b) {
        CHECK(status(b).ok() == std::isfinite(expected(b)));
        if (std::isfinite(expected(b))) {
          CHECK(std::abs(value(b) - expected(b)) <= tolerance * double(n + 1));
        } else {
          CHECK(value(b) == expected(b));
        }
      }
    }
  }
  // log 0
  Quasiseparable<T, K> zero(2, {1, 1});
  zero.d(0, 0) = 2;
  auto f = qs::factor_ldl(zero, {.definite = false});
  const LdlOnDevice<T, K> there(f);
  auto result = to_device(Array<LogDeterminant<T>, 1>({1}));
  auto workspace = junk(qs::log_determinant_workspace_bytes(there.view()));
  qs::log_determinant(exec::cuda{nullptr, workspace.view()}, there.view(), result.view());
  CHECK(to_host(result)(0).log_abs == -INFINITY);
  CHECK(to_host(result)(0).sign == T(0));
}

TEST_CASE("the value of a matrix that is not finite is NaN", "[quasiseparable_solve]") {
  using K = transition::Diagonal;
  auto m = random_hermitian<double, K>(50, 2, 2, 3);
  m.q(1, 40, 0) = NAN;
  const HermitianOnDevice<double, K> matrix(m);
  const auto y = to_device(Array<double, 2>({1, 50}));
  auto value = to_device(Array<double, 1>({2}));
  auto status = to_device(Array<PivotStatus, 1>({2}));
  auto memory = junk(qs::log_likelihood_workspace_bytes(matrix.view()));
  qs::log_likelihood(exec::cuda{nullptr, memory.view()}, matrix.view(),
                     View<const double, 2, space::cuda>(y.view()), value.view(), status.view());
  CHECK(std::isfinite(to_host(value)(0)));
  CHECK(std::isnan(to_host(value)(1)));
  const PivotStatus second = to_host(status)(1);
  CHECK(second.kind == PivotStatus::Kind::not_finite);
  CHECK(second.batch == 1);
  CHECK(second.index == 40);
}

TEST_CASE("solves are captured, and refuse what does not fit", "[quasiseparable_solve]") {
  using K = transition::Diagonal;
  constexpr index_t n = 100;
  const auto f = qs::factor_ldl(random_hermitian<double, K>(n, 2, 1, 9));
  const LdlOnDevice<double, K> there(f);
  Random random(7);
  const auto x = random.array<double, 3>({1, n, 2});
  const auto from = to_device(x);
  auto to = to_device(poisoned<double, 3>({1, n, 2}));
  auto workspace = junk(qs::ldl_apply_workspace_bytes(there.view(), 2));
  replay([&](void* stream) {
    qs::solve(exec::cuda{stream, workspace.view()}, there.view(), from, to);
  });
  CHECK(same_bits(to_host(to), apply_on_device(f, solve, x)));

  const exec::cuda e{nullptr, workspace.view()};
  Array<double, 3, space::cuda> wrong({1, n - 1, 2});
  CHECK(message_from<ShapeError>([&] { qs::solve(e, there.view(), wrong, to); }) ==
        "quasiseparable::solve: x has 99 rows, the operator has 100 columns");
  CHECK(message_from<DomainError>([&] {
          qs::solve_lower(e, there.view(), to.view().slice(2, 0, 1), to.view().slice(2, 1, 2));
        }) == "quasiseparable::solve_lower: x and y overlap in memory");
  const index_t bytes = workspace.size();
  CHECK(message_from<DomainError>([&] {
          qs::solve(exec::cuda{nullptr, workspace.view().slice(0, 0, bytes - 1)}, there.view(),
                    from, to);
        }) == "quasiseparable::solve: the workspace has " + std::to_string(bytes - 1) + " bytes, " +
                  std::to_string(bytes) + " are needed");
}
