#include "structmat/quasiseparable/apply.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T, class K>
struct Case {
  using Value = T;
  using Transition = K;
  static auto make(index_t n, Order r, index_t batch, unsigned seed) {
    if constexpr (std::same_as<K, transition::Block>) {
      return random_block_quasiseparable<T>(n, r, batch, seed);
    } else {
      return random_quasiseparable<T, K>(n, r, batch, seed);
    }
  }
};

template <class K>
using Double = Case<double, K>;
template <class K>
using Complex = Case<std::complex<float>, K>;

constexpr index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};
constexpr Order orders[] = {{0, 0}, {1, 1}, {3, 0}, {0, 5}, {8, 8}, {13, 21}};

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE(
    "products match the entries", "", (Case),
    ((float, transition::Scalar), (double, transition::Scalar),
     (std::complex<float>, transition::Scalar), (std::complex<double>, transition::Scalar),
     (float, transition::Diagonal), (double, transition::Diagonal),
     (std::complex<float>, transition::Diagonal), (std::complex<double>, transition::Diagonal),
     (float, transition::Dense), (double, transition::Dense),
     (std::complex<float>, transition::Dense), (std::complex<double>, transition::Dense),
     (float, transition::Block), (double, transition::Block),
     (std::complex<float>, transition::Block), (std::complex<double>, transition::Block))) {
  Random random(1);
  unsigned seed = 0;
  for (const index_t n : sizes) {
    for (const Order r : orders) {
      // Every way in which right-hand sides fill tiles, at one size; the ends of the range
      // elsewhere.
      for (const index_t k : {1, 2, 4, 5, 8, 17}) {
        if (n != 16 && k != 1 && k != 5) continue;
        // The oracle costs n^2: large sizes take turns with orders and right-hand sides.
        if (n > 100 && (seed + unsigned(n) + unsigned(k)) % 3 != 0) {
          ++seed;
          continue;
        }
        check_products(TestType::make(n, r, 1 + seed % 2, seed), std::max(r.lower, r.upper), k,
                       random);
        ++seed;
      }
    }
  }
}

TEMPLATE_TEST_CASE("operators are linear, take any stride and any number of threads", "",
                   (Case<double, transition::Scalar>), (Case<double, transition::Diagonal>),
                   (Case<double, transition::Dense>),
                   (Case<std::complex<float>, transition::Diagonal>),
                   (Case<std::complex<double>, transition::Dense>),
                   (Case<float, transition::Dense>), (Case<double, transition::Block>),
                   (Case<std::complex<float>, transition::Block>)) {
  Random random(2);
  for (const index_t n : {1, 7, 129}) {
    const auto m = TestType::make(n, {3, 5}, 2, unsigned(n));
    check_linearity(m, 5, random);
    for (const index_t k : {1, 3, 9}) check_strides(m, k, random);
  }
  check_errors(TestType::make(7, {3, 5}, 2, 3), "quasiseparable");
}

TEMPLATE_TEST_CASE("the number of threads does not change a bit", "",
                   (Case<double, transition::Scalar>), (Case<float, transition::Diagonal>),
                   (Case<double, transition::Dense>),
                   (Case<std::complex<double>, transition::Diagonal>)) {
  Random random(3);
  // Large enough that threads are started: over the two triangles, over columns, over the batch.
  for (const index_t k : {1, 3, 33}) check_threads(TestType::make(6000, {7, 4}, 1, 5), k, random);
  check_threads(TestType::make(1500, {7, 4}, 3, 6), 5, random);
}

TEST_CASE("empty batches and empty right-hand sides") {
  const auto m = random_quasiseparable<double, transition::Diagonal>(5, {2, 2}, 1, 1);
  const Quasiseparable<double, transition::Diagonal> none(5, {2, 2}, 0);
  Array<double, 3> x({0, 5, 2}), y({0, 5, 2});
  apply(exec::cpu{}, none, x, y);
  apply(exec::cpu{}, m, x, y);
  Array<double, 2> x0({5, 0}), y0({5, 0});
  apply(exec::cpu{}, m, x0, y0);
  CHECK(y0.empty());
}

TEST_CASE("orders larger than the matrix") {
  Random random(4);
  for (const index_t n : {1, 2, 5}) {
    check_products(random_quasiseparable<double, transition::Diagonal>(n, {40, 33}, 1, 7), 40, 3,
                   random);
    check_products(random_quasiseparable<double, transition::Dense>(n, {40, 33}, 1, 8), 40, 1,
                   random);
  }
}

TEST_CASE("generators broadcast over the batch, with extent 1 and with stride 0") {
  Random random(5);
  const index_t n = 33;
  auto shared = random_quasiseparable<double, transition::Diagonal>(n, {4, 3}, 1, 9);
  auto own = random_quasiseparable<double, transition::Diagonal>(n, {4, 3}, 3, 10);
  // a, p and g from one matrix, the rest per batch entry.
  QuasiseparableView<double, transition::Diagonal> m = own.view();
  m.a = shared.a.view();
  m.p = std::as_const(shared.p).view().broadcast(0, 3);
  m.g = shared.g.view();
  const auto x = random.array<double, 3>({3, n, 2});
  auto y = poisoned<double, 3>({3, n, 2});
  apply(exec::cpu{}, m, x, y);
  for (index_t b = 0; b < 3; ++b) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t c = 0; c < 2; ++c) {
        double sum = 0;
        for (index_t j = 0; j < n; ++j) {
          double v = i == j ? own.d(b, i) : 0;
          for (index_t l = 0; i > j && l < 4; ++l) {
            double term = shared.p(0, i, l) * own.q(b, j, l);
            for (index_t k = j + 1; k < i; ++k) term *= shared.a(0, k, l);
            v += term;
          }
          for (index_t l = 0; i < j && l < 3; ++l) {
            double term = shared.g(0, i, l) * own.h(b, j, l);
            for (index_t k = i + 1; k < j; ++k) term *= own.b(b, k, l);
            v += term;
          }
          sum += v * x(b, j, c);
        }
        CHECK(y(b, i, c) == Approx(sum).margin(1e-12));
      }
    }
  }
  // One matrix, many right-hand sides in a batch.
  apply(exec::cpu{}, shared, x, y);
  CHECK(Oracle(shared).worst_error(Op::none, x, y) <= tolerance<double>(n, 4));
}

TEST_CASE("generators with gaps and negative strides") {
  Random random(6);
  const index_t n = 140, r = 5;
  auto m = random_quasiseparable<std::complex<double>, transition::Diagonal>(n, {r, r}, 1, 11);
  const auto x = random.array<std::complex<double>, 2>({n, 3});
  const auto expected = m * x;
  // The same numbers behind reversed states and every second column.
  Array<std::complex<double>, 3> p({1, n, 2 * r}), a({1, n, 2 * r}), q({1, n, r});
  const auto spread = [&](Array<std::complex<double>, 3>& to) {
    return View<std::complex<double>, 3>(to.data(), {1, n, r}, {0, 2 * r, 2}).reversed(2);
  };
  copy(m.p.view(), spread(p));
  copy(m.a.view(), spread(a));
  copy(m.q.view(), q.view().reversed(1));
  auto view = m.view();
  view.p = spread(p);
  view.a = spread(a);
  view.q = q.view().reversed(1);
  auto y = poisoned<std::complex<double>, 2>({n, 3});
  apply(exec::cpu{}, view, x, y);
  CHECK(same_bits(y, expected));
}

TEST_CASE("transitions at the ends are never read, and what is not finite stays where it belongs") {
  const index_t n = 300, bad = 200;
  const auto finite = [](const Array<double, 1>& y, index_t i) { return std::isfinite(y(i)); };
  auto m = random_quasiseparable<double, transition::Diagonal>(n, {3, 4}, 1, 12);
  for (index_t l = 0; l < 3; ++l) m.a(0, 0, l) = m.a(0, n - 1, l) = m.p(0, 0, l) = NAN;
  for (index_t l = 0; l < 4; ++l) m.b(0, 0, l) = m.b(0, n - 1, l) = m.g(0, n - 1, l) = INFINITY;
  Array<double, 1> x({n});
  for (double& v : x) v = 1;
  for (const Op op : all_ops) {
    auto y = poisoned<double, 1>({n});
    apply_op(exec::cpu{}, m, op, x, y);
    for (index_t i = 0; i < n; ++i) CHECK(finite(y, i));
  }
  // An infinite generator reaches the rows that use it: p_i row i, q_j the rows below j.
  m.p(0, bad, 1) = INFINITY;
  auto y = m * x;
  for (index_t i = 0; i < n; ++i) CHECK(finite(y, i) == (i != bad));
  m = random_quasiseparable<double, transition::Diagonal>(n, {3, 4}, 1, 12);
  m.q(0, bad, 1) = NAN;
  y = m * x;
  for (index_t i = 0; i < n; ++i) CHECK(finite(y, i) == (i <= bad));
}

TEST_CASE("long gaps: ratios neither overflow nor vanish") {
  // exp(-|i - j|), row 500 of 1000: 1 + two geometric sums.
  const index_t n = 1000;
  Quasiseparable<double, transition::Scalar> m(n, {1, 1});
  const double ratio = std::exp(-1.0);
  for (index_t i = 0; i < n; ++i) {
    m.d(0, i) = 1;
    m.a(0, i) = m.b(0, i) = m.p(0, i, 0) = m.g(0, i, 0) = ratio;
    m.q(0, i, 0) = m.h(0, i, 0) = 1;
  }
  const auto y = m * std::vector<double>(n, 1.0);
  CHECK(y(500) == Approx(2.163953413738653).epsilon(1e-15));
  // Decay far below the smallest number between neighbours that are close to 1 again.
  for (index_t i = 0; i < n; i += 10) m.a(0, i) = 1e-300;
  const auto z = m * std::vector<double>(n, 1.0);
  for (const double v : z) CHECK((v >= 1 && v < 3));
}

TEST_CASE("generators that do not fit are refused") {
  auto m = random_quasiseparable<double, transition::Diagonal>(6, {2, 3}, 2, 13);
  Array<double, 3> x({2, 6, 1}), y({2, 6, 1});
  const auto says = [&](const QuasiseparableView<double, transition::Diagonal>& v) {
    return message_from<ShapeError>([&] { apply(exec::cpu{}, v, x, y); });
  };
  auto v = m.view();
  v.q = v.q.slice(2, 0, 1);
  CHECK(says(v) == "quasiseparable::apply: q has extent 1 in dimension 2, expected 2");
  v = m.view();
  v.b = v.b.slice(1, 0, 5);
  CHECK(says(v) == "quasiseparable::apply: b has extent 5 in dimension 1, expected 6");
  const Array<double, 3> other({3, 6, 2});
  v = m.view();
  v.a = other.view();
  CHECK(says(v) == "quasiseparable::apply: a has batch 3, the other generators have 2");
  CHECK_THROWS_AS((Quasiseparable<double>(-1, {1, 1})), ShapeError);
}

TEST_CASE("members and products of any rank") {
  Random random(7);
  const auto m = random_quasiseparable<float, transition::Dense>(9, {2, 1}, 1, 14);
  const auto x = random.array<float, 2>({9, 2});
  const auto y = m * x;
  const auto column = m * to_array(x.view().select(1, 1));
  for (index_t i = 0; i < 9; ++i) CHECK(column(i) == Approx(y(i, 1)).epsilon(1e-5));
  CHECK(m.order() == Order{2, 1});
  CHECK(m.stored() == 9 * (2 + 2 + 4 + 1 + 1 + 1 + 1));
}
