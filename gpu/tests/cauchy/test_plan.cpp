// Planned Cauchy products on a device: the battery with the entries of the host as oracle, known sums,
// nodes that are hard on trees, coincidences, refusals.
#include "structmat/cauchy/plan.hpp"

#include <catch2/catch.hpp>

#include "cauchy/line_support.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;
using cauchy::Method;

namespace {

enum class Shape { real_line, horizontal, vertical };

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
  if constexpr (is_complex_v<T>) return {Shape::horizontal, Shape::vertical};
  return {Shape::real_line};
}

/// The plan of a matrix on the host, for a device.
template <class M, class T = typename M::value_type>
CauchyPlan<T, space::cuda> device_plan(const M& m, const cauchy::PlanOptions& options) {
  return CauchyPlan<T, space::cuda>(to_device(m).view(), options);
}

}  // namespace

TEMPLATE_TEST_CASE("planned Cauchy products match the entries on a device", "[cauchy_plan]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-11;
  const Accuracy accuracy{tolerance + 40 * epsilon<T>};
  Random random(1);
  unsigned seed = 0;
  for (const Shape shape : shapes<T>()) {
    const index_t sizes[] = {0, 1, 2, 3, 7, 16, 127, 128, 129, 257};
    for (const index_t n : sizes) {
      const index_t m = sizes[(seed * 7 + 3) % 10], k = 1 + seed % 3;
      const auto c = nodes_on<T>(shape, m, n, 1 + seed % 2, seed);
      const auto plan = device_plan(c, {tolerance, Method::line});
      CHECK(plan.method() == Method::line);
      check_products(on_device(c, plan), accuracy, k, random);
      ++seed;
    }
    const auto c = nodes_on<T>(shape, 131, 150, 2, 5);
    const auto plan = on_device(c, device_plan(c, {tolerance, Method::line}));
    check_strides(plan, 3, random);
    check_errors(plan, "cauchy");
    check_linearity(plan, accuracy, random);
  }
}

namespace {

template <RealScalar R>
double error_of(const Nodes<R>& nodes, double tolerance, index_t k, bool exchanged) {
  const Cauchy<R> c(nodes.s, nodes.t, Coincidence::skip);
  const auto plan = on_device(c, device_plan(c, {tolerance, Method::line}));
  Random random(3);
  const auto x = random.array<R, 2>({exchanged ? plan.rows() : plan.cols(), k});
  auto y = poisoned<R, 2>({exchanged ? plan.cols() : plan.rows(), k});
  if (exchanged) {
    apply_transpose(exec::cpu{}, plan, x, y);
    for (R& v : y) v = -v;
  } else {
    apply(exec::cpu{}, plan, x, y);
  }
  return worst_error(nodes, x, y, exchanged);
}

}  // namespace

TEST_CASE("planned sums on a device meet their tolerance in every row, wherever the nodes are",
          "[cauchy_plan]") {
  for (const auto& nodes : quick() ? node_sets(401, 700) : node_sets(20003, 26000)) {
    for (const double tolerance : {1e-3, 1e-8, 1e-12, 1e-15}) {
      if (quick() && tolerance != 1e-3 && tolerance != 1e-12) continue;
      for (const bool exchanged : {false, true}) {
        INFO(nodes.name << ", tolerance " << tolerance << (exchanged ? ", exchanged" : ""));
        CHECK(error_of(nodes, tolerance, 1, exchanged) <= tolerance + 40 * epsilon<double>);
      }
    }
  }
}

TEST_CASE("planned sums on a device of any shape and number of columns", "[cauchy_plan]") {
  for (const index_t m : {1, 2, 63, 64, 131, 1009}) {
    for (const index_t n : {1, 3, 65, 509}) {
      const auto nodes = placed<double>("", m, n, [](double u, double) { return u; });
      const index_t k = 1 + (m + n) % 7;
      INFO(m << " x " << n << ", k " << k);
      CHECK(error_of(nodes, 1e-12, k, false) <= 1e-12);
      CHECK(error_of(nodes, 1e-12, k, true) <= 1e-12);
    }
  }
  const auto nodes = placed<double>("", 70, 90, [](double u, double) { return u; });
  CHECK(error_of(nodes, 1e-12, 37, false) <= 1e-12);
}

TEST_CASE("planned sums on a device in single precision", "[cauchy_plan]") {
  const auto place = [](double u, double v) { return v < 0.3 ? 0.5 + 1e-5 * u : u; };
  const auto nodes =
      quick() ? placed<float>("", 801, 703, place) : placed<float>("", 30001, 22003, place);
  for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
    CHECK(error_of(nodes, tolerance, 1, false) <= tolerance + 40 * epsilon<float>);
    CHECK(error_of(nodes, tolerance, 3, true) <= tolerance + 40 * epsilon<float>);
  }
}

TEST_CASE("a leaf that takes from very many others", "[cauchy_plan]") {
  Nodes<double> nodes{"sources between two targets", {}, {}};
  for (index_t i = 0; i < 40; ++i) nodes.s.push_back(static_cast<double>(i));
  const index_t n = quick() ? 3000 : 300000;
  for (index_t j = 0; j < n; ++j) {
    nodes.t.push_back(7.5 + 1e-3 * static_cast<double>(j) / static_cast<double>(n));
  }
  CHECK(error_of(nodes, 1e-12, 2, false) <= 1e-12);
  CHECK(error_of(nodes, 1e-12, 2, true) <= 1e-12);
  nodes.name = "the same with targets among the sources";
  for (index_t i = 20; i < 40; ++i) nodes.s[i] = 7.5 + 5e-5 * static_cast<double>(i) + 1e-12;
  CHECK(error_of(nodes, 1e-12, 1, false) <= 1e-12);
  CHECK(error_of(nodes, 1e-12, 1, true) <= 1e-12);
}

TEMPLATE_TEST_CASE("planned Cauchy-like products on a device are those taken pair by pair",
                   "[cauchy_plan]", float, double, std::complex<double>) {
  using T = TestType;
  const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-11;
  for (const Shape shape : shapes<T>()) {
    for (const index_t order : {0, 3, 19}) {
      if (quick() && is_complex_v<T> && order > 3) continue;
      auto like = random_cauchy_like<T>(90, 70, order, 2, 4);
      const auto nodes = nodes_on<T>(shape, 90, 70, 2, 4);
      like.s = nodes.s;
      like.t = nodes.t;
      Random random(2);
      check_products(on_device(like, device_plan(like, {tolerance, Method::line})),
                     Accuracy{tolerance + 40 * epsilon<T>}, 2, random);
    }
  }
}

TEMPLATE_TEST_CASE("plans on a device without a line or a tolerance take pairs", "[cauchy_plan]",
                   float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(3);
  const auto c = random_cauchy<T>(60, 47, 2, 1);
  const auto like = random_cauchy_like<T>(31, 45, 3, 2, 2);
  for (const double asked : {0.0, 1e-3}) {
    const auto method = asked == 0 ? Method::automatic : Method::direct;
    const auto plan = device_plan(c, {asked, method});
    CHECK(plan.method() == Method::direct);
    check_products(on_device(c, plan), 8, 3, random);
    check_products(on_device(like, device_plan(like, {asked, method})), 8, 2, random);
  }
  const auto one = random_cauchy<T>(30, 20, 1, 1);
  const auto plan = on_device(one, device_plan(one, {}));
  const auto x = random.array<T, 3>({3, 20, 2});
  auto y = poisoned<T, 3>({3, 30, 2});
  apply(exec::cpu{}, plan, x, y);
  CHECK(Oracle(plan).worst_error(Op::none, x, y) <= tolerance<T>(30, 8));
  CHECK(device_plan(one, {1e-3}).method() == Method::direct);
  if (!quick()) {
    auto many = nodes_on<T>(shapes<T>()[0], 30000, 30000, 1, 2);
    many.coincidence = Coincidence::skip;  // so many numbers of single precision meet
    CHECK(device_plan(many, {1e-3}).method() == Method::line);
  }
}

TEST_CASE("batch entries that share nodes share their trees", "[cauchy_plan]") {
  auto like = random_cauchy_like<double>(150, 170, 2, 3, 4);
  for (index_t b = 1; b < 3; ++b) {
    for (index_t i = 0; i < 150; ++i) like.s(b, i) = like.s(0, i);
    for (index_t j = 0; j < 170; ++j) like.t(b, j) = like.t(0, j);
  }
  const auto s = to_device(like.s), t = to_device(like.t);
  const auto g = to_device(like.g), h = to_device(like.h);
  const CauchyPlan<double, space::cuda> shared(
      CauchyLikeView<double, space::cuda>{s.view().slice(0, 0, 1), t.view().slice(0, 0, 1),
                                          g.view(), h.view()},
      {1e-11, Method::line});
  const auto own = device_plan(like, {1e-11, Method::line});
  CHECK(shared.batch() == 3);
  Random random(1);
  const auto x = random.array<double, 3>({3, 170, 5});
  const auto a = on_device(like, shared) * x, b = on_device(like, own) * x;
  CHECK(same_bits(a, b));
}

TEST_CASE("an entry of a batch has the bits that it has alone", "[cauchy_plan]") {
  const auto c = random_cauchy<double>(200, 230, 3, 9);
  Random random(1);
  const auto x = random.array<double, 3>({3, 230, 2});
  const auto all = on_device(c, device_plan(c, {1e-10, Method::line})) * x;
  CHECK(same_bits(all, on_device(c, device_plan(c, {1e-10, Method::line})) * x));
  for (index_t b = 0; b < 3; ++b) {
    const Cauchy<double> one(c.s.view().select(0, b), c.t.view().select(0, b));
    const auto alone =
        on_device(one, device_plan(one, {1e-10, Method::line})) * to_array(x.view().select(0, b));
    CHECK(same_bits(alone, to_array(all.view().select(0, b))));
  }
}

TEST_CASE("planned products can be captured in a graph", "[cauchy_plan]") {
  const auto c = random_cauchy<double>(300, 280, 1, 3);
  const auto plan = device_plan(c, {1e-10, Method::line});
  Random random(1);
  const auto x = random.array<double, 3>({1, 280, 1});
  const auto expected = on_device(c, plan) * x;
  const auto there = to_device(x);
  Array<double, 3, space::cuda> y({1, 300, 1});
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(plan, 1)});
  replay([&](void* stream) {
    apply(exec::cuda{stream, workspace.view()}, plan, Op::none, there.view(), y.view());
  });
  CHECK(same_bits(to_host(y), expected));
}

TEMPLATE_TEST_CASE("rows of a large Hilbert matrix have known sums", "[cauchy_plan]", float,
                   double) {
  using R = TestType;
  const index_t n = quick() ? 3000 : 1000000;
  Cauchy<R> c(n, n);
  for (index_t i = 0; i < n; ++i) {
    c.s(0, i) = static_cast<R>(i + 1);
    c.t(0, i) = static_cast<R>(-i);
  }
  const double tolerance = sizeof(R) == 4 ? 1e-6 : 1e-13;
  const auto y = on_device(c, device_plan(c, {tolerance, Method::line})) * [&] {
    Array<R, 3> ones({1, n, 1});
    for (R& v : ones) v = 1;
    return ones;
  }();
  long double first = 0, last = 0;
  for (index_t j = n; j > 0; --j) {
    first += 1.0L / static_cast<long double>(j);
    last += 1.0L / static_cast<long double>(n + j - 1);
  }
  if (n == 1000000) {
    CHECK(std::abs(static_cast<double>(first) - 14.392726722866) <= 1e-12);
    CHECK(std::abs(static_cast<double>(last) - 0.69314743056) <= 1e-11);
  }
  const double accuracy = tolerance + 40 * epsilon<R>;
  CHECK(std::abs(static_cast<double>(y(0, 0, 0) - first)) <= accuracy * 15);
  CHECK(std::abs(static_cast<double>(y(0, n - 1, 0) - last)) <= accuracy);
}

TEST_CASE("plans that cannot be on a device are refused", "[cauchy_plan]") {
  const auto real = random_cauchy<double>(30, 20, 1, 1);
  const auto refused = [](const auto& c, const cauchy::PlanOptions& options) {
    return message_from<DomainError>([&] { device_plan(c, options); });
  };
  CHECK(refused(real, {0, Method::line}).rfind("cauchy::plan: the tolerance is 0", 0) == 0);
  CHECK(refused(real, {1e-9, Method::plane}).find("nodes are real") != std::string::npos);
  const auto plane = random_cauchy<std::complex<double>>(30, 20, 1, 1);
  CHECK(refused(plane, {1e-9, Method::line}).find("not all on one line") != std::string::npos);
  CHECK_THROWS_AS(device_plan(plane, {1e-9, Method::plane}), Unsupported);

  auto batch = random_cauchy<double>(300, 200, 3, 1);
  batch.s(2, 7) = batch.s(2, 200) = batch.t(2, 9) = batch.t(2, 100);
  for (const Method method : {Method::line, Method::direct}) {
    CHECK(refused(batch, {1e-9, method}) == "cauchy::plan: s_7 equals t_9 in batch entry 2");
  }
  auto meeting = random_cauchy<std::complex<float>>(100, 90, 2, 1);
  for (index_t j = 40; j < 80; ++j) meeting.t(1, j) = meeting.s(1, 70);
  meeting.s(1, 30) = meeting.s(1, 70);
  CHECK(refused(meeting, {}) == "cauchy::plan: s_30 equals t_40 in batch entry 1");
  batch.s(1, 5) = INFINITY;
  CHECK(refused(batch, {1e-9, Method::line}).rfind("cauchy::plan: s_5 is not finite", 0) == 0);
  batch.s(1, 5) = 0;
  batch.t(1, 6) = NAN;
  CHECK(refused(batch, {1e-9, Method::line}).rfind("cauchy::plan: t_6 is not finite", 0) == 0);
}

TEST_CASE("planned products on a device refuse workspaces and outputs", "[cauchy_plan]") {
  const auto c = random_cauchy<double>(100, 100, 1, 3);
  const auto plan = device_plan(c, {1e-10, Method::line});
  const Array<double, 3, space::cuda> x({1, 100, 2});
  Array<double, 3, space::cuda> y({1, 100, 2});
  const index_t bytes = apply_workspace_bytes(plan, 2);
  Array<std::byte, 1, space::cuda> workspace({bytes});
  const auto run = [&](View<std::byte, 1, space::cuda> w, View<double, 3, space::cuda> out) {
    apply(exec::cuda{nullptr, w}, plan, Op::none, x.view(), out);
  };
  CHECK_NOTHROW(run(workspace.view(), y.view()));
  CHECK_THROWS_AS(run(workspace.view().slice(0, 0, bytes - 1), y.view()), DomainError);
  CHECK_THROWS_AS(run(workspace.view(), {y.data(), {1, 100, 2}, {200, 2, 0}}), Unsupported);
  CHECK_THROWS_AS(run(workspace.view(), {reinterpret_cast<double*>(workspace.data()), {1, 100, 2}}),
                  DomainError);
  CHECK_THROWS_AS(apply_workspace_bytes(plan, -1), ShapeError);
}
