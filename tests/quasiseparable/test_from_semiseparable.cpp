#include "structmat/quasiseparable/from_semiseparable.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/any_operator.hpp"
#include "structmat/core/shift.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_PRODUCT_TEST_CASE("M = Z S_l + J Z S_u J + D", "", (std::tuple),
                           ((double, transition::Scalar), (double, transition::Diagonal),
                            (float, transition::Dense),
                            (std::complex<double>, transition::Dense))) {
  using T = std::tuple_element_t<0, TestType>;
  using K = std::tuple_element_t<1, TestType>;
  Random random(1);
  for (const index_t n : {1, 2, 3, 40}) {
    const auto lower = random_semiseparable<T, K>(n, 3, 1, 1);
    const auto upper = random_semiseparable<T, K>(n, 5, 1, 2);
    const auto d = random.array<T, 2>({1, n});
    const auto m = quasiseparable::from_semiseparable(lower, upper, d);
    CHECK(m.order() == Order{3, 5});

    // The entries of the identity, from those of the parts.
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        T expected = i == j ? d(0, i) : T{};
        if (i > 0) expected += lower.entry(i - 1, j);
        const index_t fi = n - 1 - i, fj = n - 1 - j;
        if (fi > 0) expected += upper.entry(fi - 1, fj);
        CHECK(std::abs(m.entry(i, j) - expected) <= 100 * double(epsilon<T>));
      }
    }

    // The same as a composition of operators.
    using Any = AnyOperator<T>;
    const Any shift = Shift<T>(n), flip = Flip<T>(n);
    const Any composed = shift * Any(lower) + flip * shift * Any(upper) * flip;
    const auto x = random.array<T, 2>({n, 2});
    auto y = composed * x;
    for (index_t i = 0; i < n; ++i) {
      for (index_t c = 0; c < 2; ++c) y(i, c) += d(0, i) * x(i, c);
    }
    const auto mx = m * x;
    for (index_t i = 0; i < y.size(); ++i) {
      CHECK(std::abs(y.data()[i] - mx.data()[i]) <= 200 * double(epsilon<T>) * double(n));
    }
  }
}

TEST_CASE("to_semiseparable undoes from_semiseparable") {
  const auto m = random_quasiseparable<double, transition::Diagonal>(12, {2, 3}, 2, 3);
  const auto parts = quasiseparable::to_semiseparable(m);
  const auto back = quasiseparable::from_semiseparable(parts.lower, parts.upper, parts.d);
  CHECK(same_bits(back.to_dense(), m.to_dense()));
  CHECK(same_bits(back.q, m.q));
  CHECK(same_bits(back.h, m.h));
}

TEST_CASE("the diagonal of the parts does not enter, and rows 0 and n-1 are shifted in as zero") {
  const index_t n = 6;
  const auto lower = random_semiseparable<double, transition::Scalar>(n, 2, 1, 1);
  const auto upper = random_semiseparable<double, transition::Scalar>(n, 2, 1, 2);
  const auto m = quasiseparable::from_semiseparable(lower, upper, Array<double, 2>({1, n}));
  for (index_t i = 0; i < n; ++i) CHECK(m.entry(i, i) == 0);
  CHECK(m.entry(1, 0) == Approx(lower.entry(0, 0)));
  CHECK(m.entry(n - 2, n - 1) == Approx(upper.entry(0, 0)));
}

TEST_CASE("a batch is broadcast, sizes that differ are refused") {
  const auto lower = random_semiseparable<float, transition::Diagonal>(5, 2, 3, 1);
  const auto upper = random_semiseparable<float, transition::Diagonal>(5, 1, 1, 2);
  const auto m = quasiseparable::from_semiseparable(lower, upper, Array<float, 2>({1, 5}));
  CHECK(m.batch() == 3);
  CHECK(m.entry(0, 4, 2) == m.entry(0, 4, 0));
  CHECK(message_from<ShapeError>([&] {
          quasiseparable::from_semiseparable(lower, upper, Array<float, 2>({1, 6}));
        }) ==
        "quasiseparable::from_semiseparable: S_l has size 5, S_u has size 5, d has 6 entries");
  const auto two = random_semiseparable<float, transition::Diagonal>(5, 1, 2, 2);
  CHECK_THROWS_AS(quasiseparable::from_semiseparable(lower, two, Array<float, 2>({1, 5})),
                  ShapeError);
}
