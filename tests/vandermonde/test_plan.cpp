#include "structmat/vandermonde/plan.hpp"

#include <catch2/catch.hpp>

#include "vandermonde/nodes.hpp"

namespace structmat {

template <Scalar T>
Vandermonde<T> absolute(const VandermondePlan<T>& plan) {
  Vandermonde<T> v(plan.rows(), plan.cols(), plan.batch());
  for (index_t b = 0; b < v.batch() && v.cols() > 1; ++b) {
    for (index_t i = 0; i < v.rows(); ++i) v.x(b, i) = std::abs(plan.entry(i, 1, b));
  }
  return v;
}

}  // namespace structmat

using namespace structmat;
using namespace structmat::test;
using vandermonde::Method;

namespace {

using C = std::complex<double>;

constexpr Method fast_methods[] = {Method::automatic, Method::nonuniform_fft, Method::barycentric};

/// The largest error of a row of y = V c against long double, in units of max(1, |x|^(n-1)) sqrt(n)
/// ||c||.
double row_error(const std::vector<C>& nodes, const Array<C, 1>& c, const Array<C, 1>& y) {
  double worst = 0, squares = 0;
  for (const C& v : c) squares += std::norm(v);
  const auto n = static_cast<double>(c.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::complex<long double> sum = 0;
    for (index_t j = c.size() - 1; j >= 0; --j) {
      sum = sum * std::complex<long double>(nodes[i]) + std::complex<long double>(c(j));
    }
    const double scale =
        std::max(1.0, std::pow(std::abs(nodes[i]), n - 1)) * std::sqrt(n * squares);
    const double error = double(std::abs(sum - std::complex<long double>(y(index_t(i))))) / scale;
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst;
}

/// Sets of nodes whose n-th powers are finite.
std::vector<std::vector<C>> node_sets(index_t m, index_t n) {
  Random random(9);
  const auto set = [&](auto node) {
    std::vector<C> nodes;
    for (index_t i = 0; i < m; ++i) nodes.push_back(node(double(i)));
    return nodes;
  };
  const double turn = 2 * std::numbers::pi;
  std::vector<std::vector<C>> sets{
      set([&](double) { return std::polar(1.0, turn * random.real()); }),
      set([&](double) {
        return std::polar(1 + 3 / double(n) * random.real(), turn * random.real());
      }),
      set([&](double) { return C(random.real(), random.real()) / 1.5; }),
      set([&](double) {
        return std::polar(
            std::exp(std::pow(10, 3 * random.real()) / double(n) * (random.real() < 0 ? -1 : 0.1)),
            turn * random.real());
      }),
      set([&](double) { return std::polar(1.0, 1 + 1e-8 * random.real()); }),
      set([&](double i) { return C(std::cos(std::numbers::pi * (i + 0.5) / double(m))); })};
  for (const double distance : {0.0, 1e-15, 1e-12, 1e-8, 1e-4, 1e-1}) {
    sets.push_back(set([&](double i) {
      return std::polar(1.0, turn * i / double(n)) *
             (1.0 + distance * C(random.real(), random.real()) * 10.0 / double(n));
    }));
  }
  return sets;
}

}  // namespace

TEMPLATE_TEST_CASE("plans pass the battery", "", float, double, std::complex<float>,
                   std::complex<double>) {
  const bool single = sizeof(real_t<TestType>) == 4;
  const double tolerance = single ? 1e-6 : 1e-13;
  Random random(1);
  unsigned seed = 0;
  for (const Method method : fast_methods) {
    for (const index_t n : {0, 1, 2, 3, 31, 128}) {
      for (const index_t m : {0, 1, 2, 37}) {
        const auto v = random_vandermonde<TestType>(m, n, 1 + seed % 2, seed);
        const VandermondePlan<TestType> plan(v, {tolerance, method});
        INFO("method " << int(method));
        check_products(plan, {50 * tolerance, true}, 1 + seed % 2, random);
        ++seed;
      }
    }
    const VandermondePlan<TestType> plan(random_vandermonde<TestType>(20, 30, 2, 3),
                                         {tolerance, method});
    check_linearity(plan, {50 * tolerance, true}, random);
    check_strides(plan, 2, random);
    check_errors(plan, "vandermonde");
  }
}

TEST_CASE("plans meet the tolerance wherever the nodes are") {
  const index_t n = 301, m = 90;
  Random random(2);
  const auto c = random.array<C, 1>({n});
  for (const auto& nodes : node_sets(m, n)) {
    const Vandermonde<C> v(nodes, n);
    for (const double tolerance : {1e-4, 1e-8, 1e-12}) {
      for (const Method method : {Method::nonuniform_fft, Method::barycentric}) {
        const VandermondePlan<C> plan(v, {tolerance, method});
        CHECK(plan.method() == method);
        INFO("tolerance " << tolerance << ", method " << int(method) << ", first node "
                          << nodes[0]);
        CHECK(row_error(nodes, c, plan * c) <= 2 * tolerance);
      }
    }
  }
}

TEST_CASE("long plans: direct paths are not taken, and adjoints are adjoint") {
  const index_t n = 20'011, m = 20'000;
  Random random(3);
  std::vector<C> nodes(m);
  for (C& x : nodes) {
    x = std::polar(1 + 5 / double(n) * random.real(), std::numbers::pi * random.real());
  }
  const Vandermonde<C> v(nodes, n);
  const VandermondePlan<C> plan(v, {1e-12});
  CHECK(plan.method() == Method::nonuniform_fft);
  const auto c = random.array<C, 1>({n});
  const auto y = plan * c;
  std::vector<C> some;
  Array<C, 1> values({20});
  for (index_t i = 0; i < 20; ++i) {
    some.push_back(nodes[997 * i]);
    values(i) = y(997 * i);
  }
  CHECK(row_error(some, c, values) <= 1e-12);

  const auto f = random.array<C, 1>({m});
  Array<C, 1> sums({n});
  plan.apply_adjoint(f, sums);
  C left = 0, right = 0;
  double size = 0;
  for (index_t i = 0; i < m; ++i) left += std::conj(f(i)) * y(i), size += std::abs(y(i));
  for (index_t j = 0; j < n; ++j) right += std::conj(sums(j)) * c(j);
  CHECK(std::abs(left - right) <= 1e-12 * size);
  check_threads(plan, 1, random);
}

TEST_CASE("nodes on roots of unity have the values of the Fourier transform") {
  const index_t n = 8;
  std::vector<C> nodes{1, C(0, 1), -1, C(0, -1)};
  const Vandermonde<C> v(nodes, n);
  Random random(4);
  const auto c = random.array<C, 1>({n});
  const VandermondePlan<C> plan(v, {1e-14, Method::barycentric});
  const auto y = plan * c;
  CHECK(row_error(nodes, c, y) <= 1e-15);
}

TEST_CASE("a cosine sum is the real part at points of the circle") {
  // sum_j c_j cos(j t) = Re p(exp(i t)).
  const index_t n = 200, m = 150;
  Random random(5);
  std::vector<C> nodes;
  std::vector<double> angles;
  for (index_t i = 0; i < m; ++i) {
    angles.push_back(3 * random.real());
    nodes.push_back(std::polar(1.0, angles.back()));
  }
  const VandermondePlan<C> plan(Vandermonde<C>(nodes, n), {1e-13, Method::nonuniform_fft});
  Array<C, 1> c({n});
  for (C& v : c) v = random.real();
  const auto y = plan * c;
  for (index_t i = 0; i < m; ++i) {
    double sum = 0;
    for (index_t j = 0; j < n; ++j) sum += c(j).real() * std::cos(double(j) * angles[i]);
    CHECK(y(i).real() == Approx(sum).margin(1e-10));
  }
}

TEST_CASE("what is not finite, zero or refused") {
  const std::vector<C> nodes{0, C(NAN, 0), C(0.5, 0.5), C(INFINITY, 0), 1};
  const Vandermonde<C> v(nodes, 300);
  Array<C, 1> c({300});
  for (C& w : c) w = 1;
  for (const Method method : {Method::nonuniform_fft, Method::barycentric}) {
    const auto y = VandermondePlan<C>(v, {1e-12, method}) * c;
    CHECK(std::abs(y(0) - 1.0) <= 1e-12);
    CHECK(std::isnan(y(1).real()));
    CHECK(std::abs(y(2) - C(1, 1)) <= 1e-11);
    CHECK_FALSE(std::isfinite(std::abs(y(3))));
    CHECK(std::abs(y(4) - 300.0) <= 1e-9);
  }
  CHECK(VandermondePlan<C>(v).method() == Method::direct);
  CHECK(VandermondePlan<C>(Vandermonde<C>(nodes, 40), {1e-12}).method() == Method::direct);
  CHECK(message_from<DomainError>([&] {
          VandermondePlan<C>(v, {0, Method::nonuniform_fft});
        }).find("the tolerance is 0") != std::string::npos);
  CHECK_THROWS_AS(VandermondePlan<C>(v, {-1e-3}), DomainError);
}
