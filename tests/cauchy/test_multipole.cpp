#include <thread>

#include "multipole_support.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

using C = std::complex<double>;
constexpr double pi = std::numbers::pi;

template <RealScalar R>
std::vector<NodeSet<R>> node_sets(index_t m, index_t n) {
  const auto square = [](index_t, Random& r) { return r.scalar<C>(); };
  const auto set = [&](const char* name, const auto& node) {
    return node_set<R>(name, m, n, node);
  };
  std::vector<NodeSet<R>> sets{
      set("square", square),
      set("circle", [](index_t, Random& r) { return std::polar(1.0, pi * r.real()); }),
      set("line", [](index_t, Random& r) { return C(r.real()); }),
      set("oblique line", [](index_t, Random& r) { return r.real() * C(3, 2) + C(0, 1); }),
      set("magnitudes",
          [](index_t, Random& r) {
            const double size = std::pow(10, 10 * r.real());
            return std::polar(size, pi * r.real());
          }),
      set("cluster",
          [](index_t i, Random& r) {
            return i % 10 == 0 ? r.scalar<C>() : C(0.3, -0.2) + 1e-12 * r.scalar<C>();
          }),
      set("clusters", [](index_t i, Random& r) {
        return C(static_cast<double>(i % 3), static_cast<double>(i % 7)) + 1e-5 * r.scalar<C>();
      })};
  sets.push_back(sets[0]);
  sets.back().name = "one far source";
  sets.back().t[n / 2] = C(1e18, -1e18);
  sets.push_back(sets[0]);
  sets.back().name = "one far target";
  sets.back().s[0] = C(1e18, 0);
  sets.push_back(sets[0]);
  sets.back().name = "equal sources";
  for (auto& z : sets.back().t) z = C(0.1, 0.1);
  sets.push_back(sets[0]);
  sets.back().name = "apart";
  for (auto& z : sets.back().t) z += C(5, 0);
  return sets;
}

}  // namespace

TEMPLATE_TEST_CASE("every row has the accuracy asked for", "", float, double) {
  using R = TestType;
  for (const auto& set : node_sets<R>(1500, 2003)) {
    for (const double tolerance : {1e-3, 1e-6, 1e-10, 1e-13}) {
      INFO(set.name << ", tolerance " << tolerance);
      // In float random nodes may be equal.
      CHECK(error_of<R>(set, static_cast<R>(tolerance), 1, Coincidence::skip) <=
            allowed(tolerance));
    }
    for (const index_t k : {2, 3, 5}) {
      INFO(set.name << ", " << k << " columns");
      CHECK(error_of<R>(set, R(1e-6), k, Coincidence::skip) <= allowed(1e-6));
    }
  }
}

TEST_CASE("charges of one sign, which do not cancel errors") {
  for (const auto& set : node_sets<double>(700, 900)) {
    const Array<C, 2> x = matrix<C>(900, 1, [](index_t, index_t) { return C(1); });
    Array<C, 2> y({700, 1});
    for (const double tolerance : {1e-2, 1e-5, 1e-9, 1e-12}) {
      cauchy::Multipole<double>(view_of(set.s), view_of(set.t), tolerance).apply(exec::cpu{}, x, y);
      INFO(set.name << ", tolerance " << tolerance);
      CHECK(error_of<double>(set, x.view(), std::as_const(y).view()) <= allowed(tolerance));
    }
  }
}

TEST_CASE("a single charge, whose error nothing averages") {
  const auto set = node_sets<double>(700, 900)[0];
  for (const double tolerance : {1e-2, 1e-5, 1e-9, 1e-12}) {
    const cauchy::Multipole<double> plan(view_of(set.s), view_of(set.t), tolerance);
    for (index_t j = 0; j < 900; j += 30) {
      Array<C, 2> x({900, 1}), y({700, 1});
      x(j, 0) = 1;
      plan.apply(exec::cpu{}, x, y);
      double worst = 0;
      for (index_t i = 0; i < 700; ++i) {
        worst = std::max(worst, std::abs(y(i, 0) * (set.s[i] - set.t[j]) - 1.0));
      }
      INFO("tolerance " << tolerance << ", charge " << j);
      CHECK(worst <= allowed(tolerance));
    }
  }
}

TEST_CASE("roots of unity, perturbed") {
  const index_t n = 1000;
  for (const double by : {1e-15, 1e-12, 1e-8, 1e-4, 1e-1}) {
    auto set = node_set<double>("", n, n, [&](index_t i, Random&) {
      return std::polar(1.0, 2 * pi * static_cast<double>(i) / static_cast<double>(n));
    });
    Random random(5);
    for (auto& z : set.t) z += C(by) * std::polar(1.0, pi * random.real());
    INFO("perturbed by " << by);
    CHECK(error_of<double>(set, 1e-12, 1, Coincidence::skip) <= allowed(1e-12));
  }
}

TEST_CASE("Chebyshev nodes") {
  auto set = node_set<double>("", 1201, 1200, [](index_t, Random&) { return C(); });
  for (int i = 0; i < 1201; ++i) set.s[i] = std::cos(pi * (2 * i + 1) / 2402);
  for (int i = 0; i < 1200; ++i) set.t[i] = std::cos(pi * (2 * i + 1) / 2400);
  CHECK(error_of<double>(set, 1e-13, 1) <= allowed(1e-13));
}

TEST_CASE("few nodes") {
  for (const index_t m : {0, 1, 2, 3, 7, 41, 83}) {
    for (const index_t n : {0, 1, 2, 3, 8, 41, 97}) {
      for (const index_t k : {0, 1, 3}) {
        const auto set =
            node_set<double>("", m, n, [](index_t, Random& r) { return r.scalar<C>(); });
        INFO(m << " x " << n << ", " << k << " columns");
        CHECK(error_of<double>(set, 1e-12, k) <= allowed(1e-12));
      }
    }
  }
}

TEST_CASE("all lengths and distances of the floating format") {
  const auto set = node_set<double>("", 600, 700, [](index_t, Random& r) { return r.scalar<C>(); });
  for (const int exponent : {-980, -900, -700, -500, -300, 300, 500, 700, 990}) {
    auto scaled = set;
    for (auto* nodes : {&scaled.s, &scaled.t}) {
      for (auto& z : *nodes) z = {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
    }
    INFO("scaled by 2^" << exponent);
    // Their sums of unit charges overflow.
    const double charge = exponent < -900 ? 0x1p-200 : 1;
    Random random(3);
    Array<C, 2> x({700, 1}), y({600, 1});
    random.fill(x, charge);
    cauchy::Multipole<double>(view_of(scaled.s), view_of(scaled.t), 1e-12).apply(exec::cpu{}, x, y);
    CHECK(error_of<double>(scaled, x.view(), std::as_const(y).view()) <= allowed(1e-12));
  }
  const auto wide = node_set<double>("", 900, 800, [](index_t, Random& r) {
    return std::polar(std::pow(10, 200 * r.real()), pi * r.real());
  });
  CHECK(error_of<double>(wide, 1e-12, 1) <= allowed(1e-12));
  const auto geometric = node_set<double>("", 990, 990, [](index_t i, Random& r) {
    return C(std::ldexp(1 + r.real() / 4, -static_cast<int>(i)));
  });
  CHECK(error_of<double>(geometric, 1e-12, 1) <= allowed(1e-12));
}

TEST_CASE("nodes a rounding apart are summed, not dropped") {
  NodeSet<double> set =
      node_set<double>("", 500, 500, [](index_t, Random& r) { return r.scalar<C>() + C(2); });
  for (int i = 0; i < 500; ++i) {
    set.t[i] = {std::nextafter(set.s[i].real(), 0.0), set.s[i].imag()};
  }
  Array<C, 2> x({500, 1}), y({500, 1});
  for (auto& v : x) v = 1;
  cauchy::Multipole<double>(view_of(set.s), view_of(set.t), 1e-12).apply(exec::cpu{}, x, y);
  CHECK(error_of<double>(set, x.view(), std::as_const(y).view()) <= allowed(1e-12));
  for (int i = 0; i < 500; ++i) CHECK(y(i, 0).real() > 1e15);
}

TEST_CASE("a far node does not make near ones vanish, and keeps its own sum") {
  auto set = node_set<double>("", 300, 300, [](index_t, Random& r) { return r.scalar<C>(); });
  set.s[7] = set.t[9] = C(1e20, 0);
  set.t[9] *= 2;
  CHECK(error_of<double>(set, 1e-12, 1) <= allowed(1e-12));
}

TEST_CASE("coincidences") {
  auto set = node_set<double>("", 400, 500, [](index_t, Random& r) { return r.scalar<C>(); });
  set.t[321] = set.t[77] = set.s[123];
  set.t[400] = set.s[250];
  CHECK_THROWS_WITH(
      (cauchy::Multipole<double>(view_of(set.s), view_of(set.t), 1e-12, Coincidence::error)),
      "cauchy::multipole: s_123 equals t_77");
  CHECK(error_of<double>(set, 1e-12, 2, Coincidence::skip) <= allowed(1e-12));

  // Many equal nodes on both sides.
  auto equal = node_set<double>("", 100000, 100000, [](index_t, Random&) { return C(1, 2); });
  equal.t[5] = C(3, 4);
  CHECK(error_of<double>(equal, 1e-12, 1, Coincidence::skip) <= allowed(1e-12));
  CHECK_THROWS_AS((cauchy::Multipole<double>(view_of(equal.s), view_of(equal.t), 1e-12)),
                  DomainError);
}

TEST_CASE("bits do not depend on threads, nor on who else applies the plan") {
  const auto set = node_sets<double>(3000, 2500)[0];
  Random random(4);
  const auto x = random.array<C, 2>({2500, 3});
  Array<C, 2> one({3000, 3});
  cauchy::Multipole<double>(view_of(set.s), view_of(set.t), 1e-9, Coincidence::error, exec::cpu{1})
      .apply(exec::cpu{1}, x, one);
  const cauchy::Multipole<double> plan(view_of(set.s), view_of(set.t), 1e-9, Coincidence::error,
                                       exec::cpu{3});
  const auto same = [&](const Array<C, 2>& y) {
    return std::equal(y.begin(), y.end(), one.begin());
  };
  Array<C, 2> many({3000, 3}), first({3000, 3}), second({3000, 3});
  plan.apply(exec::cpu{4}, x, many);
  CHECK(same(many));
  std::thread other([&] { plan.apply(exec::cpu{1}, x, first); });
  plan.apply(exec::cpu{1}, x, second);
  other.join();
  CHECK(same(first));
  CHECK(same(second));
}

TEST_CASE("the transpose exchanges the nodes and changes the sign") {
  const auto set = node_sets<double>(1100, 900)[0];
  Random random(4);
  const auto x = random.array<C, 2>({900, 1}), u = random.array<C, 2>({1100, 1});
  Array<C, 2> y({1100, 1}), v({900, 1});
  cauchy::Multipole<double>(view_of(set.s), view_of(set.t), 1e-13).apply(exec::cpu{}, x, y);
  cauchy::Multipole<double>(view_of(set.t), view_of(set.s), 1e-13).apply(exec::cpu{}, u, v);
  C left = 0, right = 0;
  double size = 0;
  for (index_t i = 0; i < 1100; ++i) {
    left += u(i, 0) * y(i, 0);
    size += std::abs(u(i, 0) * y(i, 0));
  }
  for (index_t j = 0; j < 900; ++j) right -= x(j, 0) * v(j, 0);
  CHECK(std::abs(left - right) <= 1e-11 * size);
}

TEST_CASE("strided operands") {
  const auto set = node_sets<float>(300, 400)[0];
  using F = std::complex<float>;
  Random random(4);
  const auto x = random.array<F, 2>({2, 800});
  Array<F, 2> packed({400, 2}), expected({300, 2}), y({2, 300});
  const View<const F, 2> strided(x.data() + 798, {400, 2}, {-2, 1});
  copy(strided, packed.view());
  const cauchy::Multipole<float> plan(view_of(set.s), view_of(set.t), 1e-6f, Coincidence::skip);
  plan.apply(exec::cpu{}, packed, expected);
  plan.apply(exec::cpu{}, strided, y.view().transposed());
  for (index_t i = 0; i < 300; ++i) {
    for (index_t c = 0; c < 2; ++c) CHECK(y(c, i) == expected(i, c));
  }
  // Nodes backwards are the rows backwards.
  const View<const F, 1> backwards = view_of(set.s).reversed(0);
  cauchy::Multipole<float>(backwards, view_of(set.t), 1e-6f, Coincidence::skip)
      .apply(exec::cpu{}, packed, y.view().transposed());
  for (index_t i = 0; i < 300; ++i) {
    CHECK(std::abs(y(0, i) - expected(299 - i, 0)) <= 1e-4f * (1 + std::abs(y(0, i))));
  }
}

TEST_CASE("refused") {
  const Nodes<double> good{{1, 2}, {3, 4}};
  const auto make = [&](const Nodes<double>& s, const Nodes<double>& t, double tolerance) {
    return cauchy::Multipole<double>(view_of(s), view_of(t), tolerance, Coincidence::skip);
  };
  const double infinite = HUGE_VAL, nan = std::nan("");
  CHECK_THROWS_WITH(make({{1, 2}, {nan, 0}}, good, 1e-6),
                    "cauchy::multipole: node s_1 is not finite, or beyond 2^1000");
  CHECK_THROWS_AS(make(good, {{0, infinite}}, 1e-6), DomainError);
  CHECK_THROWS_AS(make(good, {{0, 1e305}}, 1e-6), DomainError);
  for (const double tolerance : {0.0, -1e-3, 1.0, nan}) {
    CHECK_THROWS_AS(make(good, good, tolerance), DomainError);
  }
  const auto plan = make(good, {{1, 1}, {2, 2}, {3, 3}}, 1e-6);
  Array<C, 2> x({3, 2}), y({2, 2}), narrow({2, 1});
  CHECK_THROWS_AS(plan.apply(exec::cpu{}, y, y), ShapeError);
  CHECK_THROWS_AS(plan.apply(exec::cpu{}, x, x), ShapeError);
  CHECK_THROWS_AS(plan.apply(exec::cpu{}, x, narrow), ShapeError);
}

TEST_CASE("a charge that is not finite shows") {
  const auto set = node_sets<double>(1000, 1000)[0];
  Array<C, 2> x({1000, 1}), y({1000, 1});
  for (auto& v : x) v = 1;
  x(500, 0) = std::nan("");
  cauchy::Multipole<double>(view_of(set.s), view_of(set.t), 1e-6).apply(exec::cpu{}, x, y);
  for (const C& v : y) CHECK_FALSE(std::isfinite(std::abs(v)));
}
