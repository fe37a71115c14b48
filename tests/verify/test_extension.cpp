#include "structmat/verify/extension.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_banded.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/from_semiseparable.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using verify::extend_to_semiseparable;

namespace {

/// The largest difference between the strictly lower triangles of s and m.
template <class S, class M>
double worst_below(const S& s, const M& m) {
  const auto left = s.to_dense(), right = m.to_dense();
  double worst = 0;
  for (index_t i = 0; i < m.size(); ++i) {
    for (index_t j = 0; j < i; ++j) {
      const double error = std::abs(left(0, i, j) - right(0, i, j));
      worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    }
  }
  return worst;
}

template <Scalar T>
Quasiseparable<T, transition::Scalar> of_entries(T m10, T m20, T m21) {
  Array<T, 2> m({3, 3});
  m(1, 0) = m10;
  m(2, 0) = m20;
  m(2, 1) = m21;
  Quasiseparable<T, transition::Scalar> q(3, {2, 0});
  // Row 1 reads state 0, row 2 both; the transition of row 1 is 1.
  q.q(0, 0, 0) = m10;
  q.p(0, 1, 0) = 1;
  q.a(0, 1) = 1;
  q.q(0, 0, 1) = m20;
  q.p(0, 2, 1) = 1;
  q.q(0, 1, 1) = m21;
  return q;
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("semiseparable -> exclusive -> inclusive", "", (std::tuple),
                           ((double, transition::Scalar), (float, transition::Diagonal),
                            (double, transition::Dense), (std::complex<double>, transition::Dense),
                            (std::complex<float>, transition::Diagonal))) {
  using T = std::tuple_element_t<0, TestType>;
  using K = std::tuple_element_t<1, TestType>;
  for (const index_t n : {0, 1, 2, 5, 30}) {
    for (const index_t r : {0, 1, 3}) {
      auto s = random_semiseparable<T, K>(n, r, 1, unsigned(n + r));
      if (n > 0) {
        for (index_t k = 0; k < s.a.size() / n; ++k) s.a.data()[k] = T(NAN);  // A_0
      }
      const auto m = quasiseparable::from_semiseparable(s);
      CHECK(m.order() == Order{r, 0});
      const double unit = double(epsilon<T>), bound = 100 * double(r + 1) * unit;
      const auto entries = s.to_dense(), exclusive = m.to_dense();
      for (index_t i = 0; i < entries.size(); ++i) {
        CHECK(std::abs(entries.data()[i] - exclusive.data()[i]) <= bound);
      }

      const auto back = extend_to_semiseparable(m);
      INFO("n " << n << ", r " << r << ", order found " << back.completion.order);
      REQUIRE(back.completion.completable);
      CHECK(back.matrix.size() == n);
      CHECK(back.matrix.order() <= r);
      CHECK(worst_below(back.matrix, m) <= 1e3 * double(n + 1) * unit);
      for (index_t i = 0; i < n; ++i) {
        const auto& entry = back.completion.entries[i];
        CHECK(std::abs(back.matrix.entry(i, i) - entry.value) <=
              1e4 * double(n + 1) * unit * (1 + std::abs(entry.value)));
      }
    }
  }
}

TEST_CASE("known answers of order 1") {
  // (A21, A31, A32) = (1, 0, 1): not extendable.
  const auto none = extend_to_semiseparable(of_entries(1.0, 0.0, 1.0));
  CHECK_FALSE(none.completion.completable);
  CHECK(none.completion.order == 1);
  CHECK(none.completion.blocking == 1);
  CHECK(none.matrix.size() == 0);
  // With one order more it is.
  const auto two = extend_to_semiseparable(of_entries(1.0, 0.0, 1.0), {.order = 2});
  REQUIRE(two.completion.completable);
  CHECK(two.matrix.order() == 2);
  CHECK(worst_below(two.matrix, of_entries(1.0, 0.0, 1.0)) <= 1e-14);

  for (const auto& [m10, m20, m21, d] : {std::array{1.0, 2.0, 1.0, 0.5}, {0.0, 3.0, 1.0, 0.0}}) {
    const auto m = of_entries(m10, m20, m21);
    const auto forced = extend_to_semiseparable(m);
    REQUIRE(forced.completion.completable);
    CHECK(forced.matrix.order() == 1);
    CHECK(std::abs(forced.matrix.entry(1, 1) - d) <= 1e-14);
    CHECK(worst_below(forced.matrix, m) <= 1e-14);
  }
  const auto free = extend_to_semiseparable(of_entries(0.0, 0.0, 1.0));
  CHECK(free.completion.completable);
  CHECK(worst_below(free.matrix, of_entries(0.0, 0.0, 1.0)) <= 1e-14);
}

TEST_CASE("the shift matrix has no extension of its order") {
  const index_t n = 50;
  Array<double, 2> sub({1, n - 1});
  for (double& x : sub) x = 1;
  const auto shift = quasiseparable::from_tridiagonal<double>(sub, Array<double, 2>({1, n}),
                                                              Array<double, 2>({1, n - 1}));
  const auto result = extend_to_semiseparable(shift);
  CHECK_FALSE(result.completion.completable);
  CHECK(result.completion.blocking == 1);
  const auto two = extend_to_semiseparable(shift, {.order = 2});
  REQUIRE(two.completion.completable);
  CHECK(two.matrix.order() == 2);
  CHECK(worst_below(two.matrix, shift) <= 1e-13);
}

TEMPLATE_TEST_CASE("block generators", "", double, std::complex<float>) {
  using T = TestType;
  const auto s = random_semiseparable<T, transition::Dense>(40, 2, 1, 3);
  const auto dense = s.to_dense();
  Array<T, 2> m = to_array(dense.view().select(0, 0));
  Random random(4);
  for (index_t i = 0; i < 40; ++i) {
    for (index_t j = i; j < 40; ++j) m(i, j) = random.scalar<T>();
  }
  const double tolerance = 1e3 * double(epsilon<T>);
  const auto q = quasiseparable::from_dense(m, {.tolerance = tolerance / 10}).matrix;
  const auto result = extend_to_semiseparable(q, {.tolerance = tolerance});
  REQUIRE(result.completion.completable);
  CHECK(result.completion.order == 2);
  CHECK(worst_below(result.matrix, s) <= 100 * tolerance);
  for (index_t i = 0; i < 40; ++i) {
    CHECK(result.matrix.entry(i, i) == result.completion.entries[i].value);
    for (index_t j = i + 1; j < 40; ++j) CHECK(result.matrix.entry(i, j) == T{});
  }
}

TEST_CASE("a long triangle") {
  const index_t n = 3000;
  const auto s = random_semiseparable<double, transition::Diagonal>(n, 2, 1, 6);
  const auto m = quasiseparable::from_semiseparable(s);
  const auto result = extend_to_semiseparable(m);
  REQUIRE(result.completion.completable);
  CHECK(result.matrix.order() == 2);
  for (index_t i = 1; i < n; i += 7) {
    for (const index_t lag : {1, 2, 10}) {
      if (i < lag) continue;
      CHECK(std::abs(result.matrix.entry(i, i - lag) - m.entry(i, i - lag)) <= 1e-11);
    }
  }
}
