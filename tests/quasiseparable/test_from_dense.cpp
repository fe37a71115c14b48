#include "structmat/quasiseparable/from_dense.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/norm.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
Array<T, 2> dense_of(const Array<T, 3>& batch) {
  return to_array(batch.view().select(0, 0));
}

/// ||M - Q||_F
template <class T, class M>
double distance(const Array<T, 2>& m, const M& q) {
  Array<T, 2> difference = dense_of(q.to_dense());
  for (index_t i = 0; i < m.size(); ++i) difference.data()[i] -= m.data()[i];
  return dense::frobenius_norm<T>(difference.view());
}

}  // namespace

TEMPLATE_TEST_CASE("compression finds the order and loses nothing", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 7, 16, 65, 200}) {
    for (const Order r : {Order{0, 0}, Order{1, 0}, Order{2, 5}, Order{9, 9}}) {
      const auto q = random_quasiseparable<T, transition::Diagonal>(n, r, 1, unsigned(n));
      const Array<T, 2> m = dense_of(q.to_dense());
      const auto result = quasiseparable::from_dense(m);
      INFO("n " << n << ", orders " << r.lower << ", " << r.upper);
      CHECK(result.matrix.order().lower <= r.lower);
      CHECK(result.matrix.order().upper <= r.upper);
      CHECK(result.matrix.size() == n);
      CHECK(distance(m, result.matrix) <= result.truncation_error + result.rounding_bound);
      CHECK(result.truncation_error <= double(n) * double(epsilon<T>) * result.frobenius_norm);
      CHECK(result.rounding_bound <=
            100 * double(n + 8) * double(epsilon<T>) * result.frobenius_norm);
      check_products(result.matrix, std::max(r.lower, r.upper), 2, *std::make_unique<Random>(1));
    }
  }
}

TEST_CASE("the error is the one that was asked for, and it is reported truly") {
  // Smooth off-diagonal decay: singular values of the blocks fall steadily, so that every tolerance
  // cuts.
  const index_t n = 300;
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j)
      m(i, j) = 1 / (1 + 0.1 * std::abs(double(i - j)) + (i > j ? 0.3 : 0));
  }
  const double norm = dense::frobenius_norm<double>(m.view());
  index_t previous = n;
  for (const double tolerance : {1e-10, 1e-6, 1e-3, 1e-1}) {
    const auto result = quasiseparable::from_dense(m, {.tolerance = tolerance});
    const double error = distance(m, result.matrix);
    CHECK(result.truncation_error <= tolerance * norm);
    CHECK(std::abs(error - result.truncation_error) <= result.rounding_bound);
    CHECK(result.frobenius_norm == Approx(norm));
    CHECK(result.matrix.order().lower < previous);
    previous = result.matrix.order().lower;
    const auto absolute = quasiseparable::from_dense(m, {.absolute_tolerance = tolerance * norm});
    CHECK(same_bits(absolute.matrix.lower.all_p(), result.matrix.lower.all_p()));
  }
}

TEST_CASE("a fixed order") {
  const index_t n = 120;
  const auto q = random_quasiseparable<double, transition::Diagonal>(n, {6, 6}, 1, 4);
  const Array<double, 2> m = dense_of(q.to_dense());
  const auto result = quasiseparable::from_dense(m, {.order = Order{3, 8}});
  CHECK(result.matrix.order() == Order{3, 6});
  const double error = distance(m, result.matrix);
  CHECK(error > 1e-3);
  CHECK(std::abs(error - result.truncation_error) <= result.rounding_bound);
  const auto none = quasiseparable::from_dense(m, {.order = Order{0, 0}});
  CHECK(none.matrix.order() == Order{0, 0});
}

TEST_CASE("block sizes") {
  const index_t n = 50;
  const auto q = random_quasiseparable<double, transition::Dense>(n, {3, 2}, 1, 5);
  const Array<double, 2> m = dense_of(q.to_dense());
  for (const index_t size : {1, 2, 7, 49, 50, 1000}) {
    const auto result = quasiseparable::from_dense(m, {.block_size = size});
    CHECK(result.matrix.partition.blocks() == (n + size - 1) / size);
    CHECK(distance(m, result.matrix) <= result.truncation_error + result.rounding_bound);
    // With blocks of one row every index is a boundary: the states are the ranks.
    if (size == 1) CHECK(result.matrix.order() == Order{3, 2});
  }
}

TEST_CASE("known orders") {
  const index_t n = 200;
  SECTION("inverse of tridiag(-1, 2, -1): (1, 1)") {
    Array<double, 2> m({n, n});
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        m(i, j) = double(std::min(i, j) + 1) * double(n - std::max(i, j)) / double(n + 1);
      }
    }
    CHECK(quasiseparable::from_dense(m).matrix.order() == Order{1, 1});
  }
  SECTION("shift: (1, 0)") {
    Array<double, 2> m({n, n});
    for (index_t i = 1; i < n; ++i) m(i, i - 1) = 1;
    const auto result = quasiseparable::from_dense(m);
    CHECK(result.matrix.order() == Order{1, 0});
    CHECK(distance(m, result.matrix) == 0);
  }
  SECTION("zero: (0, 0)") {
    CHECK(quasiseparable::from_dense(Array<double, 2>({n, n})).matrix.order() == Order{0, 0});
  }
}

TEST_CASE("any stride, the matrix untouched") {
  Random random(6);
  const Array<double, 2> m = random.array<double, 2>({40, 40}), before = m;
  const auto plain = quasiseparable::from_dense(m);
  const Array<double, 2> t = to_array(m.view().transposed());
  const auto transposed = quasiseparable::from_dense<double>(t.view().transposed());
  const auto reversed = quasiseparable::from_dense<double>(
      to_array(m.view().reversed(0).reversed(1)).view().reversed(0).reversed(1));
  CHECK(same_bits(plain.matrix.lower.all_p(), transposed.matrix.lower.all_p()));
  CHECK(same_bits(plain.matrix.lower.all_a(), reversed.matrix.lower.all_a()));
  CHECK(same_bits(m, before));
}

TEST_CASE("huge and tiny entries neither overflow nor vanish") {
  for (const double scale : {1e150, 1e-150}) {
    auto q = random_quasiseparable<double, transition::Diagonal>(60, {3, 3}, 1, 7);
    Array<double, 2> m = dense_of(q.to_dense());
    for (double& v : m) v *= scale;
    const auto result = quasiseparable::from_dense(m);
    CHECK(result.matrix.order() == Order{3, 3});
    CHECK(distance(m, result.matrix) <= 1e-13 * result.frobenius_norm);
  }
}

TEST_CASE("what cannot be compressed is refused") {
  const auto says = [](const Array<double, 2>& m, const quasiseparable::FromDenseOptions& o) {
    return message_from<Error>([&] { quasiseparable::from_dense(m, o); });
  };
  CHECK(says(Array<double, 2>({3, 4}), {}) ==
        "quasiseparable::from_dense: the matrix is 3 x 4, it must be square");
  Array<double, 2> m({5, 5});
  m(3, 1) = NAN;
  CHECK(says(m, {}) ==
        "quasiseparable::from_dense: entry (3, 1) is nan, only finite input has an answer");
  m(3, 1) = -INFINITY;
  CHECK(says(m, {}) ==
        "quasiseparable::from_dense: entry (3, 1) is -inf, only finite input has an answer");
  m(3, 1) = 0;
  CHECK_THROWS_AS(quasiseparable::from_dense(m, {.tolerance = -1.0}), DomainError);
  CHECK_THROWS_AS(quasiseparable::from_dense(m, {.tolerance = NAN}), DomainError);
  CHECK_THROWS_AS(quasiseparable::from_dense(m, {.order = Order{-1, 0}}), DomainError);
  CHECK_THROWS_AS(quasiseparable::from_dense(m, {.block_size = 0}), DomainError);
  CHECK(quasiseparable::from_dense(Array<double, 2>({0, 0})).matrix.size() == 0);
}
