#include "structmat/verify/completion.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/quasiseparable/from_semiseparable.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "structmat/verify/rank_profile.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using verify::complete_diagonal;
using verify::Freedom;

namespace {

Array<double, 2> three(double m10, double m20, double m21) {
  Array<double, 2> m({3, 3});
  m(1, 0) = m10;
  m(2, 0) = m20;
  m(2, 1) = m21;
  return m;
}

Array<double, 2> delay(index_t n, index_t steps) {
  Array<double, 2> m({n, n});
  for (index_t i = steps; i < n; ++i) m(i, i - steps) = 1;
  return m;
}

template <class M>
auto entries_of(const M& m) {
  using T = typename M::value_type;
  Array<T, 3> batch({1, m.size(), m.size()});
  to_dense(m.view(), batch.view());
  return to_array(batch.view().select(0, 0));
}

/// rank of a block by its singular values: the definition.
template <class T>
index_t rank_of(const View<const T, 2>& block, double threshold) {
  Array<real_t<T>, 1> values({std::min(block.extent(0), block.extent(1))});
  if (!values.empty()) dense::singular_values<T>(block, values);
  return std::count_if(values.begin(), values.end(), [&](auto v) { return v > threshold; });
}

template <class T>
void check_ranks(const Array<T, 2>& m, const verify::Completion<T>& found) {
  const index_t n = m.extent(0);
  const double threshold = found.tolerance * found.frobenius_norm;
  REQUIRE(index_t(found.entries.size()) == n);
  for (index_t k = 0; k < n; ++k) {
    const auto below = m.view().slice(0, k + 1, n);
    CHECK(found.entries[k].rank_left ==
          rank_of<T>(m.view().slice(0, k, n).slice(1, 0, k), threshold));
    CHECK(found.entries[k].rank_below == rank_of<T>(below.slice(1, 0, k + 1), threshold));
    CHECK(found.entries[k].rank_common == rank_of<T>(below.slice(1, 0, k), threshold));
  }
}

/// The lower triangle with the diagonal found (and `anything` where it is free).
template <class T>
Array<T, 2> filled(const Array<T, 2>& m, const verify::Completion<T>& found, T anything) {
  Array<T, 2> result({m.extent(0), m.extent(0)});
  for (index_t i = 0; i < m.extent(0); ++i) {
    for (index_t j = 0; j < i; ++j) result(i, j) = m(i, j);
    result(i, i) = found.entries[i].freedom == Freedom::free ? anything : found.entries[i].value;
  }
  return result;
}

}  // namespace

TEST_CASE("completion of 3 x 3 triangles to order 1") {
  const auto blocked = complete_diagonal(three(1, 0, 1), {.order = 1});
  CHECK_FALSE(blocked.completable);
  CHECK(blocked.blocking == 1);
  CHECK(blocked.entries[1].rank_left == 1);
  CHECK(blocked.entries[1].rank_below == 1);
  CHECK(blocked.entries[1].rank_common == 0);
  CHECK(blocked.minimal_order == 2);

  const auto half = complete_diagonal(three(1, 2, 1), {.order = 1});
  REQUIRE(half.completable);
  CHECK(half.entries[1].freedom == Freedom::forced);
  CHECK(half.entries[1].value == Approx(0.5).epsilon(1e-14));

  const auto zero = complete_diagonal(three(0, 3, 1), {.order = 1});
  REQUIRE(zero.completable);
  CHECK(zero.entries[1].freedom == Freedom::forced);
  CHECK(std::abs(zero.entries[1].value) < 1e-15);

  const auto any = complete_diagonal(three(0, 0, 1), {.order = 1});
  REQUIRE(any.completable);
  CHECK(any.entries[1].freedom == Freedom::free);
  // With room for one more, the value of least rank is no longer the only one.
  CHECK(complete_diagonal(three(1, 2, 1), {.order = 2}).entries[1].freedom == Freedom::unique);
}

TEST_CASE("the delay by N steps is completable up to size 2N") {
  for (const index_t order : {1, 2, 3, 5}) {
    CHECK(complete_diagonal(delay(2 * order, order), {.order = order}).completable);
    const auto one_more = complete_diagonal(delay(2 * order + 1, order), {.order = order});
    CHECK_FALSE(one_more.completable);
    CHECK(one_more.blocking == order);
    CHECK(one_more.minimal_order == order + 1);
  }
}

TEST_CASE("order 1 is not always that of a matrix of rank 1") {
  CHECK(complete_diagonal(delay(4, 1)).representable_order == 3);
  Array<double, 2> inverse({4, 4});  // of tridiag(-1, 2, -1)
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      inverse(i, j) = double(std::min(i, j) + 1) * double(4 - std::max(i, j)) / 5;
    }
  }
  CHECK(complete_diagonal(inverse).representable_order == 1);
}

TEMPLATE_TEST_CASE("semiseparable matrices are completed, from entries and from generators", "",
                   float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t n : {0, 1, 2, 3, 7, 16, 33}) {
    for (const index_t order : {1, 2, 3}) {
      const auto s = random_semiseparable<T, transition::Diagonal>(n, order, 1, 5);
      const Array<T, 2> m = entries_of(s);
      const double tolerance = 200 * double(epsilon<T>);
      const auto found = complete_diagonal(m, {.order = order, .tolerance = tolerance});
      INFO("n " << n << ", order " << order);
      CHECK(found.completable);
      const auto result = filled(m, found, random.scalar<T>());
      // Values of forced entries carry rounding over small singular values of their blocks.
      CHECK(verify::semiseparable(
                result, {.order = Order{order, order}, .tolerance = 1e4 * double(epsilon<T>)})
                .holds);

      const auto from_generators = complete_diagonal(quasiseparable::from_dense(m).matrix,
                                                     {.order = order, .tolerance = tolerance});
      CHECK(from_generators.completable);
      CHECK(from_generators.representable_order == found.representable_order);
    }
  }
}

TEMPLATE_TEST_CASE("ranks are those of the blocks, for all transitions", "", transition::Scalar,
                   transition::Diagonal, transition::Dense) {
  for (const index_t n : {1, 2, 5, 12, 21}) {
    for (const index_t order : {0, 1, 2, 4, 25}) {
      const auto m = random_quasiseparable<std::complex<double>, TestType>(n, {order, 1}, 1, 9);
      check_ranks(entries_of(m), complete_diagonal(m, {.tolerance = 1e-10}));
    }
  }
}

TEST_CASE("ranks are those of the blocks, for block generators") {
  for (const index_t n : {1, 2, 9, 23}) {
    const auto m = random_block_quasiseparable<double>(n, {3, 2}, 1, 4);
    check_ranks(entries_of(m), complete_diagonal(m, {.tolerance = 1e-10}));
  }
}

TEST_CASE("the diagonal and the upper triangle do not matter") {
  auto m = three(1, 2, 1);
  m(0, 0) = m(1, 1) = m(0, 2) = 1e300;
  CHECK(complete_diagonal(m, {.order = 1}).entries[1].value == Approx(0.5));
  // Reversed views.
  const auto reversed = to_array(m.view().reversed(0).reversed(1));
  CHECK(complete_diagonal(View<const double, 2>(reversed.view().reversed(0).reversed(1)),
                          {.order = 1})
            .completable);
}

TEST_CASE("what cannot be completed is refused") {
  CHECK_THROWS_AS(complete_diagonal(Array<double, 2>({2, 3})), ShapeError);
  CHECK_THROWS_AS(complete_diagonal(three(1, NAN, 1)), DomainError);
  CHECK_THROWS_AS(complete_diagonal(three(1, 2, 1), {.order = -1}), DomainError);
  CHECK_THROWS_AS(complete_diagonal(three(1, 2, 1), {.tolerance = -1.0}), DomainError);
  CHECK_THROWS_AS(complete_diagonal(Quasiseparable<double>(4, {1, 1}, 2)), ShapeError);
  auto m = random_quasiseparable<double, transition::Diagonal>(5, {2, 2}, 1, 1);
  m.a(0, 2, 1) = INFINITY;
  CHECK_THROWS_AS(complete_diagonal(m), DomainError);
}
