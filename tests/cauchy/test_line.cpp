#include "cauchy/line.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "cauchy/line_support.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <RealScalar R>
double error_of(const Nodes<R>& nodes, double tolerance, index_t k, bool exchanged) {
  const exec::cpu e{};
  const cauchy::Line<R> line(e, nodes.s, nodes.t, tolerance, Coincidence::skip);
  Random random(3);
  const auto x = random.array<R, 2>({exchanged ? line.rows() : line.cols(), k});
  auto y = poisoned<R, 2>({exchanged ? line.cols() : line.rows(), k});
  if (exchanged) {
    line.apply_exchanged(e, x.view(), y.view());
  } else {
    line.apply(e, x.view(), y.view());
  }
  return worst_error(nodes, x, y, exchanged);
}

}  // namespace

TEST_CASE("sums on a line meet their tolerance in every row, wherever the nodes are") {
  for (const auto& nodes : node_sets(2003, 2600)) {
    for (const double tolerance : {1e-3, 1e-8, 1e-12, 1e-15}) {
      for (const bool exchanged : {false, true}) {
        INFO(nodes.name << ", tolerance " << tolerance << (exchanged ? ", exchanged" : ""));
        CHECK(error_of(nodes, tolerance, 1, exchanged) <= tolerance + 40 * epsilon<double>);
      }
    }
  }
}

TEST_CASE(
    "sums on a line where cells hold two or three neighbouring numbers, whose centers are none") {
  const auto sets = node_sets(20003, 26000);
  const auto set = std::find_if(sets.begin(), sets.end(),
                                [](const auto& nodes) { return nodes.name == "three values"; });
  REQUIRE(set != sets.end());
  CHECK(error_of(*set, 1e-8, 1, false) <= 1e-8);
  CHECK(error_of(*set, 1e-12, 1, true) <= 1e-12);
}

TEST_CASE("sums on a line of any shape and number of columns") {
  for (const index_t m : {0, 1, 2, 63, 64, 131, 1009}) {
    for (const index_t n : {0, 1, 3, 65, 509}) {
      const auto nodes = placed<double>("", m, n, [](double u, double) { return u; });
      for (const index_t k : {0, 1, 2, 3, 4, 7}) {
        INFO(m << " x " << n << ", k " << k);
        CHECK(error_of(nodes, 1e-12, k, false) <= 1e-12);
        CHECK(error_of(nodes, 1e-12, k, true) <= 1e-12);
      }
    }
  }
}

TEST_CASE("sums on a line in single precision") {
  const auto place = [](double u, double v) { return v < 0.3 ? 0.5 + 1e-5 * u : u; };
  const auto nodes = placed<float>("", 3001, 2203, place);
  for (const double tolerance : {1e-3, 1e-6}) {
    CHECK(error_of(nodes, tolerance, 1, false) <= tolerance + 40 * epsilon<float>);
    CHECK(error_of(nodes, tolerance, 3, true) <= tolerance + 40 * epsilon<float>);
  }
}

TEST_CASE("the work on a line grows with the number of nodes and not faster") {
  const auto work = [](index_t n, auto place) {
    const auto nodes = placed<double>("", n, n, place);
    const cauchy::Line<double> line({}, nodes.s, nodes.t, 1e-12, Coincidence::skip);
    return static_cast<double>(line.pairs()) / static_cast<double>(n);
  };
  const auto uniform = [](double u, double) { return u; };
  const auto spread = [](double u, double v) { return std::copysign(std::pow(10, 10 * u), v); };
  const auto cluster = [](double u, double v) { return v < 0.5 ? 1 + 1e-12 * u : u; };
  for (const auto& pairs : {std::pair{work(3000, uniform), work(90000, uniform)},
                            std::pair{work(3000, spread), work(90000, spread)},
                            std::pair{work(3000, cluster), work(90000, cluster)}}) {
    INFO("pairs a node: " << pairs.first << ", " << pairs.second);
    CHECK(pairs.second <= 1.5 * pairs.first);
    CHECK(pairs.second <= 1000);
  }
  // Nor does it grow without bounds with a tolerance below what rounding allows.
  const auto nodes = placed<double>("", 30000, 30000, uniform);
  const cauchy::Line<double> line({}, nodes.s, nodes.t, 1e-200, Coincidence::skip);
  CHECK(line.pairs() <= 1000 * index_t{30000});
  // Coincidences that are skipped cost nothing.
  CHECK(work(90000, [](double, double) { return 1.0; }) == 0);
}

TEST_CASE("the number of threads does not change a bit of sums on a line") {
  const auto nodes = node_sets(2003, 2600)[2];
  Random random(5);
  const auto x = random.array<double, 2>({2600, 3});
  Array<double, 2> one({2003, 3}), many({2003, 3});
  const cauchy::Line<double> line({1}, nodes.s, nodes.t, 1e-10, Coincidence::error);
  line.apply({1}, x.view(), one.view());
  for (const int threads : {2, 3, 7}) {
    const cauchy::Line<double> other({threads}, nodes.s, nodes.t, 1e-10, Coincidence::error);
    other.apply({threads}, x.view(), many.view());
    CHECK(same_bits(one, many));
  }
}

TEST_CASE("illegal nodes on a line are named") {
  std::vector<double> s{3, 1, 2}, t{5, 4, 1, 3, 1};
  const auto message = [&] {
    return message_from<DomainError>(
        [&] { cauchy::Line<double>({}, s, t, 1e-12, Coincidence::error, 4); });
  };
  CHECK(message() == "cauchy::plan: s_0 equals t_3 in batch entry 4");
  s[0] = 7;
  CHECK(message() == "cauchy::plan: s_1 equals t_2 in batch entry 4");
  s[1] = 8;
  t[4] = NAN;
  CHECK(message().rfind("cauchy::plan: t_4 is not finite", 0) == 0);
}
