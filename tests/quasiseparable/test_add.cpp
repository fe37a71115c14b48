#include "structmat/quasiseparable/add.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/hadamard.hpp"
#include "structmat/quasiseparable/scale.hpp"
#include "structmat/quasiseparable/transpose.hpp"
#include "structmat/quasiseparable/with_transition.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// c_ij = expected(b, i, j) up to rounding; entries of the tests are of moderate size.
template <class M, class Expected>
void check_entries(const M& c, const Expected& expected) {
  using T = typename M::value_type;
  const Array<T, 3> dense = c.to_dense();
  double worst = 0;
  for (index_t b = 0; b < c.batch(); ++b) {
    for (index_t i = 0; i < c.size(); ++i) {
      for (index_t j = 0; j < c.size(); ++j) {
        const double error = std::abs(dense(b, i, j) - expected(b, i, j));
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
      }
    }
  }
  CHECK(worst <= 200 * double(epsilon<T>));
}

template <Scalar T>
auto entries(const Array<T, 3>& dense) {
  return [&dense](index_t b, index_t i, index_t j) {
    return dense(dense.extent(0) == 1 ? 0 : b, i, j);
  };
}

template <Scalar T, class K>
void check_algebra(index_t n, Order rx, Order ry, index_t bx, index_t by) {
  INFO("n " << n << ", orders " << rx.lower << " " << rx.upper << ", " << ry.lower << " "
            << ry.upper << ", batch " << bx << ", " << by);
  const auto x = random_quasiseparable<T, K>(n, rx, bx, 3),
             y = random_quasiseparable<T, K>(n, ry, by, 4);
  const Array<T, 3> dx = x.to_dense(), dy = y.to_dense();
  const auto xe = entries(dx), ye = entries(dy);
  const index_t batch = bx == 1 ? by : bx;
  Random random(8);

  const auto sum = quasiseparable::add(x, y);
  CHECK(sum.order() == Order{rx.lower + ry.lower, rx.upper + ry.upper});
  CHECK(sum.batch() == batch);
  check_entries(sum, [&](index_t b, index_t i, index_t j) { return xe(b, i, j) + ye(b, i, j); });
  check_entries(quasiseparable::subtract(x, y),
                [&](index_t b, index_t i, index_t j) { return xe(b, i, j) - ye(b, i, j); });

  const auto hadamard = quasiseparable::hadamard(x, y);
  CHECK(hadamard.order() == Order{rx.lower * ry.lower, rx.upper * ry.upper});
  check_entries(hadamard,
                [&](index_t b, index_t i, index_t j) { return xe(b, i, j) * ye(b, i, j); });

  const T alpha = random.scalar<T>();
  check_entries(quasiseparable::scale(alpha, x),
                [&](index_t b, index_t i, index_t j) { return alpha * xe(b, i, j); });
  const auto left = random.array<T, 2>({1, n}), right = random.array<T, 2>({by, n});
  if (bx == 1 || by == 1 || bx == by) {
    const auto scaled = quasiseparable::scale_diagonal(left, x, right);
    CHECK(scaled.batch() == batch);
    CHECK(scaled.order() == rx);
    check_entries(scaled, [&](index_t b, index_t i, index_t j) {
      return left(0, i) * xe(b, i, j) * right(by == 1 ? 0 : b, j);
    });
  }

  CHECK(quasiseparable::transpose(x).order() == Order{rx.upper, rx.lower});
  check_entries(quasiseparable::transpose(x),
                [&](index_t b, index_t i, index_t j) { return xe(b, j, i); });
  check_entries(quasiseparable::adjoint(x),
                [&](index_t b, index_t i, index_t j) { return conjugate(xe(b, j, i)); });

  check_entries(quasiseparable::with_transition<transition::Dense>(x), xe);
  if constexpr (K::rank < 4) {
    check_entries(quasiseparable::with_transition<transition::Diagonal>(x), xe);
  }
}

template <Scalar T>
void check_kinds(index_t n, Order rx, Order ry, index_t bx, index_t by) {
  check_algebra<T, transition::Scalar>(n, rx, ry, bx, by);
  check_algebra<T, transition::Diagonal>(n, rx, ry, bx, by);
  check_algebra<T, transition::Dense>(n, rx, ry, bx, by);
}

}  // namespace

TEMPLATE_TEST_CASE("sums, Hadamard products, scaling, transposes, entry by entry", "", float,
                   double, std::complex<float>, std::complex<double>) {
  for (const index_t n : {0, 1, 2, 3, 11}) check_kinds<TestType>(n, {2, 1}, {1, 3}, 1, 1);
  check_kinds<TestType>(7, {0, 2}, {3, 0}, 1, 1);
  check_kinds<TestType>(3, {5, 4}, {4, 5}, 1, 1);
  check_kinds<TestType>(5, {2, 1}, {1, 2}, 3, 3);
  check_kinds<TestType>(5, {2, 1}, {1, 2}, 3, 1);
  check_kinds<TestType>(5, {2, 1}, {1, 2}, 1, 3);
  check_kinds<TestType>(5, {2, 1}, {1, 2}, 0, 1);
}

TEST_CASE("transposed views share memory") {
  const auto m = random_quasiseparable<double, transition::Dense>(6, {2, 3}, 1, 1);
  const auto t = quasiseparable::transposed(m.view());
  CHECK(t.p.data() == m.h.data());
  for (index_t i = 0; i < 6; ++i) {
    for (index_t j = 0; j < 6; ++j) CHECK(entry(t, i, j) == Approx(m.entry(j, i)));
  }
}

TEST_CASE("operands that do not fit are refused") {
  using K = transition::Diagonal;
  const auto x = random_quasiseparable<double, K>(5, {1, 1}, 2, 1);
  const auto small = random_quasiseparable<double, K>(4, {1, 1}, 2, 1);
  const auto three = random_quasiseparable<double, K>(5, {1, 1}, 3, 1);
  CHECK(message_from<ShapeError>([&] { quasiseparable::add(x, small); }) ==
        "quasiseparable::add: X has size 5, Y has size 4");
  CHECK(message_from<ShapeError>([&] { quasiseparable::subtract(x, three); }) ==
        "quasiseparable::subtract: X has batch 2, Y has batch 3");
  CHECK(message_from<ShapeError>([&] { quasiseparable::hadamard(x, small); }) ==
        "quasiseparable::hadamard: X has size 5, Y has size 4");
  CHECK(message_from<ShapeError>([&] {
          quasiseparable::scale_diagonal(Array<double, 2>({1, 4}), x, Array<double, 2>({1, 5}));
        }) == "quasiseparable::scale_diagonal: left has extent 4 in dimension 1, expected 5");
}
