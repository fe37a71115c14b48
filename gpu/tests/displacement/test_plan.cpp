// Products with matrices given by their displacement on the device, and these matrices as dense ones.
#include "structmat/displacement/plan.hpp"

#include <catch2/catch.hpp>

#include "displacement/support.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::displacement::test;
namespace ds = structmat::displacement;

namespace {

template <Scalar T>
using DevicePlan = ds::Plan<T, space::cuda>;

template <Scalar T>
auto both_plans(const std::vector<ds::Generators<T>>& batch, const ds::PlanOptions& options = {}) {
  return on_device(ds::Plan<T>(batch, options), DevicePlan<T>(exec::cuda{}, batch, options));
}

/// dense := X in memory by rows or by columns.
template <Scalar T>
Array<T, 3> dense_on_device(const DevicePlan<T>& plan, bool by_rows) {
  const index_t b = plan.batch(), m = plan.rows(), n = plan.cols();
  auto dense = to_device(poisoned<T, 3>({b, by_rows ? m : n, by_rows ? n : m}));
  Array<std::byte, 1> junk({to_dense_workspace_bytes(plan)});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  auto workspace = to_device(junk);
  to_dense(exec::cuda{nullptr, workspace}, plan,
           by_rows ? dense.view() : dense.view().transposed());
  const auto here = to_host(dense);
  return by_rows ? to_array(here.view()) : to_array(here.view().transposed());
}

template <Scalar T>
void check_dense(const ds::Plan<T>& host, const DevicePlan<T>& device) {
  const auto expected = host.to_dense();
  for (const bool by_rows : {true, false}) {
    const auto got = dense_on_device(device, by_rows);
    for (index_t b = 0; b < host.batch(); ++b) {
      const auto right = to_array(expected.view().select(0, b));
      CHECK(distance(to_array(got.view().select(0, b)), right) <=
            50 * double(host.rows() + host.cols()) * double(epsilon<T>) * norm_of(right));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("plans of every displacement on a device", "[displacement_plan]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  constexpr bool few = std::same_as<T, float> || std::same_as<T, std::complex<double>>;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 4}, {8, 8}, {6, 9}, {13, 4}}) {
    if (m != 6 && (few || (m == 13 && is_complex_v<T>))) continue;
    int number = 0;
    for (const auto& d : determining<T>(m, n, random)) {
      INFO(name(d) << ", " << m << " x " << n);
      // Two that share their launches, and one of another order.
      const auto p = both_plans<T>({random_generators(d, m, n, 2, random),
                                    random_generators(d, m, n, 2, random),
                                    random_generators(d, m, n, 1, random)});
      check_products(p, normwise<T>(m + n, 100), 2, random);
      check_dense(p.host(), p.device());
      ++number;
      if (few || m != 6) continue;
      const auto one = both_plans<T>({random_generators(d, m, n, 2, random)});
      if (number % 3 == 0) check_products(one, normwise<T>(m + n, 100), 3, random);
      if (number % 3 == 1) check_linearity(one, normwise<T>(m + n, 100), random);
      if (number % 3 == 2) check_strides(one, 2, random);
    }
  }
}

TEMPLATE_TEST_CASE("plans with transforms on a device", "[displacement_plan]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(2);
  const auto diagonal = [&](index_t n, double around) {
    return ds::diagonal(random_nodes<T>(n, random, around));
  };
  const auto check = [&](const ds::Displacement<T>& d, index_t m, index_t n, index_t r) {
    INFO(name(d) << ", " << m << " x " << n << ", order " << r);
    const auto p = both_plans<T>(
        {random_generators(d, m, n, r, random), random_generators(d, m, n, r, random)});
    check_products(p, normwise<T>(m + n, 30), 2, random);
    check_products(both_plans<T>({random_generators(d, m, n, r, random)}), normwise<T>(m + n, 30),
                   1, random);
    check_dense(p.host(), p.device());
  };
  check(ds::toeplitz<T>(), 127, 127, 2);
  check(ds::hankel<T>(), 100, 100, 1);
  check({ds::Kind::sylvester, ds::shift<T>(1), ds::shift<T>(0)}, 90, 150, 2);
  check({ds::Kind::sylvester, ds::shift<T>(0), ds::shift_transposed<T>(1)}, 150, 90, 3);
  check({ds::Kind::sylvester, diagonal(20, 0), ds::shift<T>(1)}, 20, 100, 2);
  check({ds::Kind::sylvester, ds::shift<T>(1), diagonal(100, 3)}, 70, 100, 2);
}

TEST_CASE("dense matrices of many lines on a device", "[displacement_plan]") {
  Random random(7);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{600, 7}, {7, 600}, {257, 255}}) {
    const auto x = random_generators<double>(
        {ds::Kind::sylvester, ds::shift<double>(1), ds::shift_transposed<double>(0)}, m, n, 2,
        random);
    INFO(m << " x " << n);
    check_dense(ds::Plan<double>({x, x}), DevicePlan<double>(exec::cuda{}, {x, x}));
  }
  // Rows of either kind, more than 32 of each, and more columns than 128 and 32.
  for (const index_t n : {1, 2, 128, 130, 300}) {
    auto nodes = random_nodes<double>(80, random);
    for (double& v : nodes) v *= 1.02;
    for (std::size_t i = 0; i < nodes.size(); i += 2) nodes[i] = nodes[i] < 0 ? -1.02 : 1.03;
    const auto x = random_generators(ds::vandermonde<double>(nodes, 3), 80, n, 2, random);
    INFO("Vandermonde-like, 80 x " << n);
    check_dense(ds::Plan<double>(x), DevicePlan<double>(exec::cuda{}, x));
  }
}

TEMPLATE_TEST_CASE("empty and zero matrices on a device", "[displacement_plan]", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(3);
  for (const auto& [m, n, r] : std::initializer_list<std::array<index_t, 3>>{
           {0, 0, 1}, {0, 3, 1}, {4, 0, 2}, {5, 5, 0}, {1, 1, 0}}) {
    for (const auto& d : determining<T>(m, n, random)) {
      INFO(name(d) << ", " << m << " x " << n << ", order " << r);
      const auto p = both_plans<T>(
          {random_generators(d, m, n, r, random), random_generators(d, m, n, r, random)});
      check_products(p, normwise<T>(m + n, 100), 2, random);
      check_products(p, normwise<T>(m + n, 100), 0, random);
      check_dense(p.host(), p.device());
    }
  }
  check_products(both_plans<T>({}), normwise<T>(1), 2, random);
}

TEST_CASE("illegal operands, batches and operators are refused on a device",
          "[displacement_plan]") {
  using T = std::complex<double>;
  Random random(4);
  const auto x = random_generators(ds::toeplitz<T>(), 5, 5, 2, random);
  check_errors(both_plans<T>({x, x}), "displacement");
  const auto refused = [&](const std::vector<ds::Generators<T>>& batch) {
    return [&] { DevicePlan<T>(exec::cuda{}, batch); };
  };
  CHECK(message_from<ShapeError>(
            refused({x, random_generators(ds::toeplitz<T>(), 4, 4, 2, random)})) ==
        "displacement::Plan: the first matrix is 5 x 5, another one is 4 x 4");
  using ds::Kind;
  const auto message = [&](ds::Displacement<T> d, index_t m, index_t n) {
    const std::vector<ds::Generators<T>> one{random_generators(std::move(d), m, n, 1, random)};
    return message_from<DomainError>(refused(one));
  };
  CHECK(message({Kind::sylvester, ds::shift<T>(1), ds::shift<T>(1)}, 6, 6)
            .rfind("displacement::Plan: some m-th root of the left corner") == 0);
  CHECK(message(ds::vandermonde<T>({T(3), T(-1)}, 1), 2, 4)
            .rfind("displacement::Plan: node 1 is a root of z^4") == 0);
  CHECK(
      message(ds::cauchy<T>({1, 2, 3}, {7, 3}), 3, 2).rfind("displacement::Plan: s_2 equals t_1") ==
      0);

  const DevicePlan<T> plan(exec::cuda{}, x);
  Array<T, 3, space::cuda> in({1, 5, 1}), out({1, 5, 1}), dense({1, 5, 5});
  CHECK(message_from<DomainError>([&] {
          apply(exec::cuda{}, plan, in, out);
        }).rfind("displacement::apply: the workspace has 0 bytes, ") == 0);
  CHECK(message_from<DomainError>([&] {
          to_dense(exec::cuda{}, plan, dense.view());
        }).rfind("displacement::to_dense: the workspace has 0 bytes, ") == 0);
}

TEMPLATE_TEST_CASE("a matrix does not depend on its batch, and can be captured",
                   "[displacement_plan]", float, std::complex<double>) {
  using T = TestType;
  Random random(5);
  const index_t m = 80, n = 80, k = 2;
  std::vector<ds::Displacement<T>> all{
      ds::toeplitz<T>(),
      ds::vandermonde<T>(random_nodes<T>(m, random), 1),
      {ds::Kind::sylvester, ds::shift<T>(1), ds::diagonal(random_nodes<T>(n, random, 3))},
      ds::cauchy<T>(random_nodes<T>(m, random), random_nodes<T>(n, random, 4))};
  for (const auto& d : all) {
    INFO(name(d));
    std::vector<ds::Generators<T>> batch;
    for (int b = 0; b < 3; ++b) batch.push_back(random_generators(d, m, n, 3, random));
    const DevicePlan<T> together(exec::cuda{}, batch);
    const auto x = to_device(random.array<T, 3>({3, n, k}));
    for (const Op op : all_ops) {
      const auto run = [&](const DevicePlan<T>& plan, const View<const T, 3, space::cuda>& in,
                           auto&& how) {
        Array<T, 3, space::cuda> y({in.extent(0), m, k});
        Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(plan, k, in.extent(0))});
        how([&](void* stream) { apply(exec::cuda{stream, workspace}, plan, op, in, y.view()); });
        return to_host(y);
      };
      const auto directly = [](const auto& call) { call(nullptr); };
      const auto expected = run(together, x.view(), directly);
      CHECK(same_bits(run(together, x.view(), replay), expected));
      const DevicePlan<T> alone(exec::cuda{}, batch[1]);
      const auto one = run(alone, x.view().slice(0, 1, 2), directly);
      CHECK(std::equal(one.begin(), one.end(), expected.data() + m * k));
      // One matrix, three right-hand sides.
      const auto broadcast = run(alone, x.view(), directly);
      CHECK(std::equal(one.begin(), one.end(), broadcast.data() + m * k));
    }
    CHECK(same_bits(dense_on_device(together, true), dense_on_device(together, true)));
  }
}

TEST_CASE("cauchy-like matrices with a tolerance on a device", "[displacement_plan]") {
  Random random(6);
  const index_t n = quick() ? 300 : 20000;
  std::vector<double> s(static_cast<std::size_t>(n)), t(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    s[i] = double(i);
    t[i] = double(i) + 0.5;
  }
  const auto x = random_generators(ds::cauchy<double>(s, t), n, n, 2, random);
  const auto v = random.array<double, 2>({n, 1});
  const auto exact = ds::Plan<double>(x) * v;
  const auto fast = both_plans<double>({x}, {.tolerance = 1e-9}) * v;
  double worst = 0, largest = 0;
  for (index_t i = 0; i < n; ++i) {
    worst = std::max(worst, std::abs(exact(i, 0) - fast(i, 0)));
    largest = std::max(largest, std::abs(exact(i, 0)));
  }
  CHECK(worst <= 1e-7 * largest);
}

TEST_CASE("large nodes and long rows neither overflow nor underflow on a device",
          "[displacement_plan]") {
  // h = ones is an eigenvector of Z_1, so X 1 = n / (x - 1), and all entries of a row are alike.
  const index_t n = quick() ? 500 : 4000;
  const std::vector<double> nodes{1e3, -50, 0.5, 1e-3};
  ds::Generators<double> x{ds::vandermonde<double>(nodes, 1), Array<double, 2>({4, 1}),
                           Array<double, 2>({n, 1})};
  for (double& v : x.g) v = 1;
  for (double& v : x.h) v = 1;
  const auto plan = both_plans<double>({x});
  Array<double, 2> ones({n, 1});
  for (double& v : ones) v = 1;
  const auto y = plan * ones;
  const auto dense = dense_on_device(plan.device(), true);
  for (index_t i = 0; i < 4; ++i) {
    const double node = nodes[static_cast<std::size_t>(i)];
    CHECK(y(i, 0) == Approx(double(n) / (node - 1)).epsilon(1e-12));
    for (const index_t j : {index_t(0), index_t(7), n / 2, n - 1})
      CHECK(dense(0, i, j) == Approx(1 / (node - 1)).epsilon(1e-12));
  }
}
