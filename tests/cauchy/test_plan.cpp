#include "structmat/cauchy/plan.hpp"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "cauchy/support.hpp"

namespace structmat {

/// The entries of a plan without generators, in absolute value.
template <Scalar T>
struct AbsoluteEntries {
  Array<T, 3> entries;
  const Array<T, 3>& to_dense() const { return entries; }
};
template <Scalar T>
AbsoluteEntries<T> absolute(const CauchyPlan<T>& plan) {
  auto dense = plan.to_dense();
  for (T& v : dense) v = std::abs(v);
  return {std::move(dense)};
}

}  // namespace structmat

using namespace structmat;
using namespace structmat::test;
using cauchy::Method;

namespace {

enum class Shape { real_line, horizontal, vertical, plane };

template <Scalar T>
Cauchy<T> nodes_on(Shape shape, index_t m, index_t n, index_t batch, unsigned seed) {
  auto c = random_cauchy<T>(m, n, batch, seed);
  if constexpr (is_complex_v<T>) {
    for (auto* nodes : {&c.s, &c.t}) {
      for (T& v : *nodes) {
        if (shape == Shape::horizontal) v = T(v.real(), real_t<T>(0.25));
        if (shape == Shape::vertical) v = T(real_t<T>(-0.5), v.imag());
      }
    }
  }
  return c;
}

template <Scalar T>
std::vector<Shape> shapes() {
  if constexpr (is_complex_v<T>) {
    return {Shape::horizontal, Shape::vertical, Shape::plane};
  } else {
    return {Shape::real_line};
  }
}

}  // namespace

TEMPLATE_TEST_CASE("planned Cauchy products match the entries", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-11;
  Random random(1);
  unsigned seed = 0;
  for (const Shape shape : shapes<T>()) {
    const Method method = shape == Shape::plane ? Method::plane : Method::line;
    const index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};
    for (const index_t n : sizes) {
      const index_t m = sizes[(seed * 7 + 3) % 10], k = 1 + seed % 3;
      const auto c = nodes_on<T>(shape, m, n, 1 + seed % 2, seed);
      const CauchyPlan<T> plan(c.view(), {tolerance, method});
      CHECK(plan.method() == method);
      check_products(plan, Accuracy{tolerance + 40 * epsilon<T>}, k, random);
      ++seed;
    }
    const auto c = nodes_on<T>(shape, 131, 150, 2, 5);
    const CauchyPlan<T> plan(c.view(), {tolerance, method});
    check_strides(plan, 3, random);
    check_threads(plan, 2, random);
    check_errors(plan, "cauchy");
    check_linearity(plan, Accuracy{tolerance + 40 * epsilon<T>}, random);
  }
}

TEMPLATE_TEST_CASE("planned Cauchy-like products are those taken pair by pair", "", double,
                   std::complex<double>) {
  using T = TestType;
  const double tolerance = 1e-11;
  for (const Shape shape : shapes<T>()) {
    auto like = random_cauchy_like<T>(210, 170, 3, 2, 4);
    const auto nodes = nodes_on<T>(shape, 210, 170, 2, 4);
    like.s = nodes.s;
    like.t = nodes.t;
    auto view = like.view();
    for (const bool shared : {false, true}) {
      if (shared) {
        view.s = view.s.slice(0, 0, 1);
        view.t = view.t.slice(0, 0, 1);
      }
      const CauchyPlan<T> plan(view,
                               {tolerance, shape == Shape::plane ? Method::plane : Method::line});
      Random random(2);
      for (const Op op : all_ops) {
        const auto x = random.array<T, 3>({2, op == Op::none ? 170 : 210, 2});
        Array<T, 3> got({2, op == Op::none ? 210 : 170, 2}), expected = got, bound = got;
        apply_op(exec::cpu{}, plan, op, x, got);
        apply_op(exec::cpu{}, view, op, x, expected);
        // Differences are within the tolerance times the sum of absolute values; its average over the
        // rows is at least that of the results.
        auto absolute_view = absolute(like).to_dense();
        double worst = 0;
        for (index_t b = 0; b < 2; ++b) {
          for (index_t i = 0; i < got.extent(1); ++i) {
            double scale = 0;
            for (index_t j = 0; j < x.extent(1); ++j) {
              double value = 0;
              for (index_t l = 0; l < 3; ++l) {
                const index_t row = op == Op::none ? i : j, col = op == Op::none ? j : i;
                value += std::abs(like.g(b, row, l)) * std::abs(like.h(b, col, l)) /
                         std::abs(view.s(shared ? 0 : b, row) - view.t(shared ? 0 : b, col));
              }
              scale += value * std::abs(x(b, j, 1));
            }
            worst = std::max(worst, std::abs(got(b, i, 1) - expected(b, i, 1)) / scale);
          }
        }
        CHECK(worst <= tolerance);
      }
    }
  }
}

TEST_CASE("a plan says what it picked") {
  const auto real = random_cauchy<double>(20000, 20000, 1, 1);
  CHECK(CauchyPlan<double>(real.view()).method() == Method::direct);
  CHECK(CauchyPlan<double>(real.view(), {1e-10}).method() == Method::line);
  CHECK(CauchyPlan<double>(random_cauchy<double>(50, 50, 1, 1).view(), {1e-10}).method() ==
        Method::direct);
  using C = std::complex<double>;
  const auto pick = [](Shape shape) {
    return CauchyPlan<C>(nodes_on<C>(shape, 9000, 9000, 1, 2).view(), {1e-6}).method();
  };
  CHECK(pick(Shape::plane) == Method::plane);
  CHECK(pick(Shape::vertical) == Method::line);
  CHECK(pick(Shape::horizontal) == Method::line);
}

TEST_CASE("plans that cannot be are refused") {
  const auto real = random_cauchy<double>(30, 20, 1, 1);
  const auto refused = [](const auto& c, const cauchy::PlanOptions& options) {
    using T = typename std::decay_t<decltype(c)>::value_type;
    return message_from<DomainError>([&] { CauchyPlan<T>(c.view(), options); });
  };
  CHECK(refused(real, {0, Method::line}).rfind("cauchy::plan: the tolerance is 0", 0) == 0);
  CHECK(refused(real, {-1, Method::direct}).rfind("cauchy::plan: the tolerance is -1", 0) == 0);
  CHECK(refused(real, {NAN, Method::automatic}).rfind("cauchy::plan: the tolerance is", 0) == 0);
  CHECK(refused(real, {1e-9, Method::plane}).find("nodes are real") != std::string::npos);
  CHECK(refused(random_cauchy<std::complex<double>>(30, 20, 1, 1), {1e-9, Method::line})
            .find("not all on one line") != std::string::npos);
  auto batch = random_cauchy<double>(30, 20, 3, 1);
  batch.s(2, 7) = batch.t(2, 9);
  for (const Method method : {Method::direct, Method::line}) {
    CHECK(refused(batch, {1e-9, method}) == "cauchy::plan: s_7 equals t_9 in batch entry 2");
  }
}

TEST_CASE("one plan serves several threads") {
  using C = std::complex<double>;
  const auto c = random_cauchy<C>(300, 310, 1, 3);
  const CauchyPlan<C> plan(c.view(), {1e-9, Method::plane});
  Random random(1);
  const auto x = random.array<C, 2>({300, 1});
  std::vector<Array<C, 2>> results(3, Array<C, 2>({310, 1}));
  std::vector<std::thread> threads;
  for (auto& y : results) threads.emplace_back([&] { apply_transpose(exec::cpu{1}, plan, x, y); });
  for (auto& thread : threads) thread.join();
  CHECK(same_bits(results[0], results[1]));
  CHECK(same_bits(results[0], results[2]));
}
