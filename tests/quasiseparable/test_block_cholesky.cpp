#include "structmat/quasiseparable/block_cholesky.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/quasiseparable/apply.hpp"
#include "support/battery.hpp"
#include "support/hermitian.hpp"

using namespace structmat;
using namespace structmat::test;
using Kind = PivotStatus::Kind;
namespace qs = structmat::quasiseparable;

namespace {

/// Positive definite by a dominating diagonal; the upper half is the adjoint of the lower one.
template <Scalar T>
Quasiseparable<T, transition::Block> random_block_hermitian(index_t n, index_t r, index_t batch,
                                                            unsigned seed) {
  auto m = random_block_quasiseparable<T>(n, {r, 0}, batch, seed);
  m.upper_transposed = m.lower;
  for (auto* all :
       {&m.upper_transposed.all_p(), &m.upper_transposed.all_q(), &m.upper_transposed.all_a()}) {
    for (T& v : *all) v = conjugate(v);
  }
  const auto bound = absolute(m).to_dense();
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < m.partition.blocks(); ++i) {
      const auto d = m.diagonal.block(b, i);
      for (index_t k = 0; k < d.extent(0); ++k) {
        real_t<T> row = 1;
        for (index_t j = 0; j < n; ++j) row += std::abs(bound(b, m.partition.begin(i) + k, j));
        for (index_t l = 0; l < k; ++l) {
          d(l, k) = conjugate(d(k, l));
          row += std::abs(d(k, l));
        }
        d(k, k) = row + real_t<T>(d.extent(0));
      }
    }
  }
  return m;
}

}  // namespace

TEMPLATE_TEST_CASE("block Cholesky: factor, solves and determinant", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(2);
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 7, 60}) {
    for (const index_t r : {0, 1, 4, 9}) {
      const index_t batch = 1 + ++seed % 2, k = 1 + seed % 3;
      const auto m = random_block_hermitian<T>(n, r, batch, seed);
      const auto f = qs::factor_cholesky(m);
      INFO("n " << n << ", r " << r << ", batch " << batch);
      REQUIRE(f.ok());
      const double tolerance = 16.0 * double(n + r) * double(epsilon<T>);

      // G as a matrix: its product with its adjoint is M.
      Quasiseparable<T, transition::Block> g;
      g.partition = f.partition;
      g.lower = f.lower;
      g.upper_transposed = BlockTriangle<T>(
          f.partition, std::vector<index_t>(std::size_t(f.partition.blocks() + 1), 0), batch);
      g.diagonal = f.diagonal;
      const auto x = random.array<T, 3>({batch, n, k});
      Array<T, 3> half({batch, n, k}), whole({batch, n, k}), y({batch, n, k});
      apply_adjoint(exec::cpu{}, g, x, half);
      apply(exec::cpu{}, g, half, whole);
      CHECK(difference(whole, m * x) <= tolerance);

      const exec::cpu e;
      qs::solve(e, f, x, y);
      CHECK(difference(m * y, x) <= tolerance);
      qs::solve_lower(e, f, whole, y);
      CHECK(difference(y, half) <= tolerance);
      qs::solve_lower_adjoint(e, f, half, half);  // in place
      CHECK(difference(half, x) <= tolerance);

      const auto dense = m.to_dense();
      for (index_t b = 0; b < batch; ++b) {
        const DenseLdl oracle(View<const T, 2>(dense.view().select(0, b)));
        double log_abs = 0;
        for (const double d : oracle.d) log_abs += std::log(d);
        const auto determinant = qs::log_determinant(f, b);
        CHECK(std::abs(determinant.log_abs - log_abs) <= tolerance * double(n + 1));
        CHECK(determinant.sign == T(1));
      }
    }
  }
}

TEST_CASE("block Cholesky reports the first bad pivot") {
  using T = std::complex<double>;
  for (const double bad : {-1.0, 0.0, double(NAN), double(INFINITY)}) {
    for (const index_t at : {0, 1, 17, 29}) {
      auto m = random_block_hermitian<T>(30, 3, 2, 4);
      const index_t i = m.partition.find(at), k = at - m.partition.begin(i);
      m.diagonal.block(1, i)(k, k) = bad;
      const PivotStatus status = qs::factor_cholesky(m).status;
      CHECK(status.kind == (std::isfinite(bad) ? Kind::not_positive : Kind::not_finite));
      CHECK(status.batch == 1);
      CHECK(status.index == at);
    }
  }
  auto m = random_block_hermitian<T>(30, 3, 1, 4);
  m.diagonal.block(0, 1)(0, 0) += T(0, 1);
  CHECK(message_from<DomainError>([&] { qs::factor_cholesky(m); }) ==
        "quasiseparable::factor_cholesky: diagonal entry 1 of batch entry 0 has the imaginary part "
        "1.000000, a Hermitian matrix has a real diagonal");
  const auto f = qs::factor_cholesky(random_block_hermitian<T>(30, 3, 1, 4));
  Array<T, 1> x({29}), y({30});
  CHECK(message_from<ShapeError>([&] { qs::solve(exec::cpu{}, f, x, y); }) ==
        "quasiseparable::cholesky_solve: x has 29 rows, the operator has 30 columns");
}
