// Two-phase sweeps over ranges of rows.

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/ldl.hpp"
#include "support/battery.hpp"
#include "support/hermitian.hpp"

using namespace structmat;
using namespace structmat::test;
namespace qs = structmat::quasiseparable;

namespace {}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("two phases give what one sweep gives", "", (Case),
                           ((float, transition::Scalar), (std::complex<double>, transition::Scalar),
                            (double, transition::Diagonal),
                            (std::complex<double>, transition::Diagonal),
                            (double, transition::Dense),
                            (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(3);
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 5, 700}) {
    for (const index_t r : {0, 1, 3, 8, 11}) {
      const index_t batch = 1 + ++seed % 2;
      const auto m = random_hermitian<T, K>(n, r, batch, seed);
      const auto one = qs::factor_ldl(m);
      const double tolerance = 16.0 * double(n + r) * double(epsilon<T>);
      for (const int chunks : {2, 3, 5}) {
        INFO("n " << n << ", r " << r << ", chunks " << chunks);
        const auto f = qs::factor_ldl(exec::cpu{1, chunks}, m.view());
        REQUIRE(f.ok());
        CHECK(difference(f.w, one.w) <= tolerance);
        CHECK(difference(f.d, one.d) <= tolerance);
        const auto many = qs::factor_ldl(exec::cpu{4, chunks}, m.view());
        CHECK(same_bits(many.w, f.w));
        CHECK(same_bits(many.d, f.d));

        using enum qs::LdlPart;
        for (const auto part :
             {solve, solve_lower, solve_lower_adjoint, apply_lower, apply_lower_adjoint}) {
          const auto x = random.array<T, 3>({batch, n, 2});
          auto expected = poisoned<T, 3>({batch, n, 2}), y = expected, z = x;
          qs::ldl_apply<T>(exec::cpu{}, one.view(), part, x.view(), expected.view());
          qs::ldl_apply<T>(exec::cpu{1, chunks}, one.view(), part, x.view(), y.view());
          CHECK(difference(y, expected) <= tolerance);
          qs::ldl_apply<T>(exec::cpu{4, chunks}, one.view(), part, z.view(), z.view());
          CHECK(same_bits(z, y));
        }
      }
    }
  }
}

TEST_CASE("two phases find the first bad pivot, too") {
  using K = transition::Diagonal;
  constexpr index_t n = 600;
  for (const index_t at : {0, 3, 150, 299, 310, 450, 599}) {
    for (const double bad : {-1.0, double(NAN)}) {
      auto m = random_hermitian<double, K>(n, 3, 1, 5);
      m.d(0, at) = bad;
      m.d(0, n - 1) = std::min(m.d(0, n - 1), -2.0);
      const PivotStatus expected = qs::factor_ldl(m).status;
      const PivotStatus got = qs::factor_ldl(exec::cpu{0, 3}, m.view()).status;
      CHECK(got.kind == expected.kind);
      CHECK(got.index == expected.index);
    }
  }
  // Each range is definite, the matrix is not: a correlation of 1 across the ranges.
  Quasiseparable<double, K> m(n, {1, 1});
  for (index_t i = 0; i < n; ++i) {
    m.p(0, i, 0) = m.q(0, i, 0) = i == 2 || i == n - 2 ? 1 : 0;
    m.a(0, i, 0) = 1;
    m.d(0, i) = 1 - (i == n - 2 ? 1e-3 : 0);
  }
  const PivotStatus status = qs::factor_ldl(exec::cpu{0, 3}, m.view()).status;
  CHECK(status.kind == PivotStatus::Kind::not_positive);
  CHECK(status.index == n - 2);
}

TEST_CASE("chunks that are refused") {
  const auto m = random_hermitian<double, transition::Diagonal>(9, 2, 1, 5);
  CHECK(message_from<DomainError>([&] {
          qs::factor_ldl(exec::cpu{0, 0}, m.view());
        }) == "quasiseparable::factor_ldl: 0 chunks, it takes at least 1");
  CHECK(message_from<Unsupported>([&] {
          qs::factor_ldl(exec::cpu{0, 2}, m.view(), {.definite = false});
        }) == "quasiseparable::factor_ldl: 2 chunks, a matrix that may be indefinite takes 1");
  const auto f = qs::factor_ldl(m);
  Array<double, 1> x({9}), y({9});
  CHECK(message_from<DomainError>([&] {
          qs::solve(exec::cpu{0, -1}, f, x, y);
        }) == "quasiseparable::solve: -1 chunks, it takes at least 1");
}
