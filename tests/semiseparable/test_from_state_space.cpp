// State-space models as matrices: products are simulations of the recurrence.
#include "structmat/semiseparable/from_state_space.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/error.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structmat/semiseparable/discretise.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "structmat/verify/completion.hpp"
#include "support/files.hpp"
#include "support/random.hpp"

using namespace structmat;
using quasiseparable::Output;
using semiseparable::Discretisation;
using test::same_bits;

namespace {

template <Scalar T, transition::Uniform K>
StateSpace<T, K> random_model(index_t steps, index_t r, index_t batch, unsigned seed) {
  test::Random random(seed);
  StateSpace<T, K> m(steps, r, batch);
  random.fill(m.a, test::contraction<K>(r));
  random.fill(m.b);
  random.fill(m.c);
  random.fill(m.d);
  return m;
}

template <Scalar T, transition::Uniform K>
T transition_entry(const StateSpace<T, K>& m, index_t b, index_t i, index_t k, index_t l) {
  if constexpr (K::rank == 2) return k == l ? m.a(b, i) : T{};
  if constexpr (K::rank == 3) return k == l ? m.a(b, i, l) : T{};
  if constexpr (K::rank == 4) return m.a(b, i, k, l);
}

/// The recurrence as it stands.
template <Scalar T, transition::Uniform K>
std::vector<T> simulate(const StateSpace<T, K>& m, index_t b, const Array<T, 1>& x, Output output) {
  const index_t n = x.size(), r = m.order();
  std::vector<T> s(r), y(n);
  for (index_t i = 0; i < n; ++i) {
    const index_t at = m.b.extent(1) == 1 ? 0 : i;
    std::vector<T> next(r);
    for (index_t k = 0; k < r; ++k) {
      next[k] = m.b(b, at, k) * x(i);
      for (index_t l = 0; l < r; ++l) next[k] += transition_entry(m, b, at, k, l) * s[l];
    }
    const std::vector<T>& seen = output == Output::after_input ? next : s;
    y[i] = m.d(b, at) * x(i);
    for (index_t k = 0; k < r; ++k) y[i] += m.c(b, at, k) * seen[k];
    s = next;
  }
  return y;
}

template <Scalar T, transition::Uniform K>
void check(index_t n, index_t steps, index_t r, index_t batch) {
  const auto m = random_model<T, K>(steps, r, batch, 11);
  test::Random random(2);
  const auto x = random.array<T, 1>({n});
  const View<const T, 3> input(x.data(), {1, n, 1});
  const double bound = 50 * double(n + r + 1) * double(r + 1) * double(epsilon<T>);
  const auto close = [&](const Array<T, 3>& y, Output output, const Array<T, 2>* d) {
    double worst = 0;
    for (index_t b = 0; b < batch; ++b) {
      const std::vector<T> expected = simulate(m, b, x, output);
      for (index_t i = 0; i < n; ++i) {
        const T value = y(b, i, 0) + (d != nullptr ? (*d)(b, i) * x(i) : T{});
        worst = std::max(worst, double(std::abs(value - expected[i])));
      }
    }
    CHECK(worst <= bound);
  };
  const auto semi = semiseparable::from_state_space(m, n);
  CHECK(semi.matrix.order() == r);
  close(semi.matrix * input, Output::after_input, &semi.d);
  for (const Output output : {Output::after_input, Output::before_input}) {
    const auto q = quasiseparable::from_state_space(m, n, output);
    CHECK(q.order() == Order{r, 0});
    close(q * input, output, nullptr);
  }

  const auto back = semiseparable::to_state_space(semi.matrix, std::as_const(semi.d).view());
  const auto again = semiseparable::from_state_space(back, n);
  CHECK(same_bits(again.matrix.to_dense(), semi.matrix.to_dense()));
  CHECK(same_bits(again.d, semi.d));
  const auto strict = quasiseparable::from_state_space(m, n, Output::before_input);
  const auto round = quasiseparable::from_state_space(quasiseparable::to_state_space(strict), n,
                                                      Output::before_input);
  CHECK(same_bits(round.to_dense(), strict.to_dense()));
}

}  // namespace

TEMPLATE_TEST_CASE("products are simulations", "", float, double, std::complex<float>,
                   std::complex<double>) {
  for (const index_t n : {0, 1, 2, 7, 31}) {
    for (const index_t steps : {index_t{1}, n}) {
      check<TestType, transition::Scalar>(n, steps, 2, 1);
      check<TestType, transition::Diagonal>(n, steps, 3, 2);
      check<TestType, transition::Diagonal>(n, steps, 0, 1);
      check<TestType, transition::Dense>(n, steps, 3, 2);
    }
  }
  check<TestType, transition::Dense>(5, 5, 2, 0);
}

TEST_CASE("a layer of first order keeps its shift where it is singular") {
  // s' = -w s + x with dt w = 1: the transition I - dt w is 0.
  StateSpace<double, transition::Scalar> layer(1, 1);
  layer.a(0, 0) = -2;
  layer.b(0, 0, 0) = 2;
  layer.c(0, 0, 0) = 3;
  const index_t n = 5;
  const auto discrete = semiseparable::discretise(layer, 0.5, Discretisation::euler);
  REQUIRE(discrete.a(0, 0) == 0);

  // Read after the input, all that is left is the present: a diagonal matrix.
  const auto inclusive = semiseparable::from_state_space(discrete, n).matrix.to_dense();
  // Read before the input, exclusive generators hold the input of the step before: 3 times the shift.
  const auto exclusive = quasiseparable::from_state_space(discrete, n, Output::before_input);
  const auto shift = exclusive.to_dense();
  CHECK(exclusive.order() == Order{1, 0});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      CHECK(inclusive(0, i, j) == (i == j ? 3 : 0));
      CHECK(shift(0, i, j) == (i == j + 1 ? 3 : 0));
    }
  }
  // No model of order 1 read after its input has this strictly lower triangle, whatever D is.
  const auto completion = verify::complete_diagonal(exclusive, {.order = 1});
  CHECK(!completion.completable);
  CHECK(completion.minimal_order == 2);

  // Next to the singular step there is one, whose C grows beyond all bounds: c_i = a^-1 c_{i-1}.
  const auto near = semiseparable::discretise(layer, 0.5 - 1e-9, Discretisation::euler);
  CHECK(verify::complete_diagonal(quasiseparable::from_state_space(near, n, Output::before_input),
                                  {.order = 1})
            .completable);
}

TEST_CASE("steps of different length") {
  using T = std::complex<double>;
  const index_t n = 9;
  auto m = random_model<T, transition::Dense>(1, 3, 1, 4);
  Array<double, 2> dt({1, n});
  for (index_t i = 0; i < n; ++i) dt(0, i) = 0.1 * double(i + 1);
  const auto discrete =
      semiseparable::discretise(m, std::as_const(dt).view(), Discretisation::zero_order_hold);
  test::Random random(2);
  const auto x = random.array<T, 1>({n});
  const auto expected = simulate(discrete, 0, x, Output::after_input);
  const Array<T, 1> y = quasiseparable::from_state_space(discrete, n, Output::after_input) * x;
  for (index_t i = 0; i < n; ++i) CHECK(std::abs(y(i) - expected[i]) <= 1e-13);
}

TEST_CASE("shapes that do not fit") {
  const auto m = random_model<double, transition::Diagonal>(3, 2, 1, 4);
  CHECK(test::message_of<ShapeError>([&] { semiseparable::from_state_space(m, 4); }) ==
        "semiseparable::from_state_space: a has 3 steps, expected 1 or 4");
  CHECK_THROWS_AS(quasiseparable::from_state_space(m, 4, Output::before_input), ShapeError);
  const auto s = test::random_semiseparable<double, transition::Diagonal>(3, 2, 1, 1);
  const Array<double, 2> d({1, 2});
  CHECK_THROWS_AS(semiseparable::to_state_space(s, d.view()), ShapeError);
}
