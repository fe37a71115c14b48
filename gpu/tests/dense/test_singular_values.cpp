// Singular values and ranks of batches on a device, against LAPACK.
#include "structmat/dense/singular_values.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/device.hpp"
#include "structmat/core/error.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/verify/low_rank.hpp"
#include "support/gpu.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
struct Values {
  Array<real_t<T>, 2> sigma;
  Array<int, 1> status;
};

Array<std::byte, 1, space::cuda> junk(index_t bytes) {
  Array<std::byte, 1> memory({bytes});
  std::fill(memory.begin(), memory.end(), std::byte{0xff});
  return to_device(memory);
}

template <class T>
Values<T> values_of(View<const T, 3, space::cuda> a) {
  const index_t number = std::min(a.extent(1), a.extent(2));
  Array<real_t<T>, 2, space::cuda> sigma({a.extent(0), number}, uninitialized);
  Array<int, 1, space::cuda> status({a.extent(0)}, uninitialized);
  auto workspace = junk(dense::singular_values_workspace_bytes<T>(a));
  dense::singular_values<T>(exec::cuda{nullptr, workspace}, a, sigma, status);
  return {to_host(sigma), to_host(status)};
}
template <class T>
Values<T> values_of(const Array<T, 3>& a) {
  const auto there = to_device(a);
  return values_of<T>(there.view());
}

template <class T>
std::vector<double> expected(const View<const T, 2>& a) {
  Array<real_t<T>, 1> s({std::min(a.extent(0), a.extent(1))});
  if (s.empty()) return {};
  dense::singular_values<T>(a, s);
  return {s.begin(), s.end()};
}

/// Largest error, in eps sigma_1; of a large batch a few matrices and the last one.
template <class T>
double error(const Values<T>& found, const Array<T, 3>& a) {
  double worst = 0;
  const index_t last = a.extent(0) - 1, step = std::max<index_t>(1, last / 8);
  for (index_t b = last; b >= 0; b -= step) {
    REQUIRE(found.status(b) == 0);
    const auto s = expected<T>(a.view().select(0, b));
    for (std::size_t l = 0; l < s.size(); ++l) {
      const double unit = double(epsilon<T>) * s[0];
      const double off = std::abs(double(found.sigma(b, index_t(l))) - s[l]);
      if (l > 0) CHECK(found.sigma(b, index_t(l)) <= found.sigma(b, index_t(l) - 1));
      worst = std::max(worst, unit > 0 ? off / unit : off > 0 ? INFINITY : 0);
    }
  }
  return worst;
}

template <class T>
Array<T, 3> one(const Array<T, 2>& a) {
  Array<T, 3> batch({1, a.extent(0), a.extent(1)});
  std::copy(a.begin(), a.end(), batch.begin());
  return batch;
}

Array<double, 2> hilbert(index_t n) {
  return matrix<double>(n, n, [](index_t i, index_t j) { return 1 / double(i + j + 1); });
}

/// U diag(s) V^T with U, V of Householder reflections.
Array<double, 2> with_values(const std::vector<double>& s, index_t rows, unsigned seed) {
  const index_t n = index_t(s.size());
  Random random(seed);
  const auto u = random.array<double, 1>({rows}), v = random.array<double, 1>({n});
  double uu = 0, vv = 0;
  for (const double x : u) uu += x * x;
  for (const double x : v) vv += x * x;
  const auto reflect = [](const Array<double, 1>& w, double ww, index_t i, index_t j) {
    return (i == j ? 1.0 : 0.0) - 2 * w(i) * w(j) / ww;
  };
  return matrix<double>(rows, n, [&](index_t i, index_t j) {
    double sum = 0;
    for (index_t l = 0; l < n; ++l) sum += reflect(u, uu, i, l) * s[l] * reflect(v, vv, l, j);
    return sum;
  });
}

struct Ranks {
  Array<int, 1> ranks;
  Array<double, 1> kept, dropped;
};

Ranks ranks_of(const Array<double, 3>& a, const dense::RankTolerance& tolerance = {}) {
  const auto there = to_device(a);
  const index_t batch = a.extent(0);
  Array<int, 1, space::cuda> ranks({batch}, uninitialized);
  Array<double, 1, space::cuda> kept({batch}, uninitialized), dropped({batch}, uninitialized);
  auto workspace = junk(dense::rank_workspace_bytes<double>(there));
  dense::rank<double>(exec::cuda{nullptr, workspace}, there, tolerance, ranks, kept, dropped);
  return {to_host(ranks), to_host(kept), to_host(dropped)};
}

}  // namespace

TEMPLATE_TEST_CASE("singular values of many shapes", "[dense_singular_values]", float, double,
                   std::complex<float>, std::complex<double>) {
  // Warps; blocks; tall ones with one and with several pieces; wide ones.
  std::vector<std::array<index_t, 3>> shapes{{5, 3, 2},   {1, 1, 1},   {3, 1, 7},   {2, 16, 16},
                                             {3, 32, 32}, {2, 64, 31}, {2, 60, 3},  {1, 40, 33},
                                             {2, 33, 40}, {1, 64, 64}, {1, 300, 5}, {1, 7, 700}};
  if (!quick()) {
    shapes.insert(shapes.end(), {{300, 64, 64},
                                 {20, 256, 64},
                                 {7, 128, 128},
                                 {3, 129, 100},
                                 {2, 1000, 128},
                                 {2, 160, 160},
                                 {1, 256, 256},
                                 {1, 900, 256}});
  } else {
    shapes.insert(shapes.end(), {{1, 150, 40}, {1, 90, 90}});
  }
  unsigned seed = 0;
  for (const auto& shape : shapes) {
    CAPTURE(shape[0], shape[1], shape[2]);
    const auto a = Random(++seed).array<TestType, 3>(shape);
    CHECK(error<TestType>(values_of(a), a) <= 4 * std::sqrt(double(std::max(shape[1], shape[2]))));
  }
}

TEST_CASE("matrices larger than shared memory", "[dense_singular_values]") {
  using T = std::complex<double>;
  const index_t n = quick() ? 125 : 200;
  const auto a = Random(3).array<T, 3>({1, n, n - 1});
  CHECK(error<T>(values_of(a), a) <= 60);
}

TEST_CASE("nothing to do", "[dense_singular_values]") {
  CHECK(values_of(Array<double, 3>({0, 4, 4})).sigma.empty());
  const auto found = values_of(Array<double, 3>({3, 0, 4}));
  for (const int s : found.status) CHECK(s == 0);
  const auto zero = values_of(Array<double, 3>({2, 40, 40}));
  for (const double s : zero.sigma) CHECK(s == 0);
}

TEST_CASE("any strides", "[dense_singular_values]") {
  const auto whole = Random(5).array<double, 3>({4, 20, 18});
  const auto there = to_device(whole);
  const auto view = there.view().slice(1, 3, 17).slice(2, 2, 18).reversed(1).transposed();
  const auto part = to_array(whole.view().slice(1, 3, 17).slice(2, 2, 18).reversed(1).transposed());
  const auto strided = values_of<double>(view), plain = values_of(part);
  CHECK(std::equal(strided.sigma.begin(), strided.sigma.end(), plain.sigma.begin()));
  const auto one_matrix = values_of<double>(view.slice(0, 1, 2).broadcast(0, 3));
  for (index_t b = 0; b < 3; ++b) {
    for (index_t l = 0; l < 14; ++l) CHECK(one_matrix.sigma(b, l) == plain.sigma(1, l));
  }

  Array<double, 2, space::cuda> sigma({14, 8}, uninitialized);
  Array<int, 1, space::cuda> status({4}, uninitialized);
  auto workspace = junk(dense::singular_values_workspace_bytes<double>(view));
  const View<double, 2, space::cuda> every_second(sigma.data() + 6, {4, 14}, {-2, 8});
  dense::singular_values<double>(exec::cuda{nullptr, workspace}, view, every_second, status);
  const auto back = to_host(sigma);
  for (index_t b = 0; b < 4; ++b) {
    for (index_t l = 0; l < 14; ++l) CHECK(back(l, 6 - 2 * b) == plain.sigma(b, l));
  }
}

TEST_CASE("graded, repeated, tiny and huge values", "[dense_singular_values]") {
  std::vector<double> graded, repeated;
  for (int l = 0; l < 40; ++l) {
    graded.push_back(std::ldexp(1.0, -2 * l));
    repeated.push_back(l < 20 ? 1 : l < 30 ? 1e-8 : 0);
  }
  for (const auto& s : {graded, repeated}) {
    for (const index_t rows : {40, 100}) {
      const auto a = one(with_values(s, rows, 2));
      CHECK(error<double>(values_of(a), a) <= 20);
      // A power of two changes nothing, down to where entries are subnormal.
      for (const int power : {900, -900, -1040}) {
        auto scaled = a;
        for (double& v : scaled) v = std::ldexp(v, power);
        const auto found = values_of(scaled);
        const double unit = std::ldexp(1.0, power == -1040 ? -1074 + 7 : power - 50);
        for (std::size_t l = 0; l < s.size(); ++l) {
          CHECK(std::abs(found.sigma(0, l) - std::ldexp(s[l], power)) <= unit);
        }
      }
    }
  }
  Array<float, 3> largest({1, 8, 8});
  std::fill(largest.begin(), largest.end(), 1e37f);
  CHECK(values_of(largest).sigma(0, 0) == Approx(8e37));
  const auto identity =
      one(matrix<double>(33, 33, [](index_t i, index_t j) { return double(i == j); }));
  for (const double s : values_of(identity).sigma) CHECK(s == Approx(1).epsilon(1e-15));
}

TEST_CASE("NaN and infinity are a status, and only of their own matrix",
          "[dense_singular_values]") {
  for (const index_t n : {8, 40}) {
    auto a = Random(8).array<std::complex<double>, 3>({4, n, n});
    const auto good = values_of(a);
    a(1, n - 1, 2) = {0, NAN};
    a(3, 0, 0) = {-INFINITY, 0};
    const auto found = values_of(a);
    CHECK(std::vector<int>(found.status.begin(), found.status.end()) ==
          std::vector<int>{0, 1, 0, 1});
    for (index_t l = 0; l < n; ++l) {
      CHECK(found.sigma(0, l) == good.sigma(0, l));
      CHECK(found.sigma(2, l) == good.sigma(2, l));
      CHECK(std::isnan(found.sigma(1, l)));
      CHECK(std::isnan(found.sigma(3, l)));
    }
  }
}

TEST_CASE("a matrix does not see its batch, and runs repeat", "[dense_singular_values]") {
  const auto a = Random(9).array<double, 3>({quick() ? 9 : 3000, 12, 9});
  const auto first = values_of(a), second = values_of(a);
  CHECK(std::equal(first.sigma.begin(), first.sigma.end(), second.sigma.begin()));
  const index_t last = a.extent(0) - 1;
  const auto alone = values_of(one(to_array(a.view().select(0, last))));
  for (index_t l = 0; l < 9; ++l) CHECK(alone.sigma(0, l) == first.sigma(last, l));
}

TEST_CASE("singular values and ranks in a graph", "[dense_singular_values]") {
  const auto a = Random(10).array<double, 3>({3, 70, 33});
  const auto plain = values_of(a);
  const auto there = to_device(a);
  Array<double, 2, space::cuda> sigma({3, 33}, uninitialized);
  Array<int, 1, space::cuda> status({3}, uninitialized), ranks({3}, uninitialized);
  auto workspace = junk(dense::rank_workspace_bytes<double>(there));
  replay([&](void* stream) {
    const exec::cuda e{stream, workspace};
    dense::singular_values<double>(e, there, sigma, status);
    dense::rank<double>(e, there, {}, ranks);
  });
  const auto back = to_host(sigma);
  CHECK(std::equal(back.begin(), back.end(), plain.sigma.begin()));
  for (const int r : to_host(ranks)) CHECK(r == 33);
}

TEST_CASE("ranks are those of the CPU", "[dense_singular_values]") {
  std::vector<Array<double, 2>> matrices{hilbert(24), Array<double, 2>({24, 24}),
                                         Random(4).array<double, 2>({24, 24})};
  std::vector<double> three(24);
  three[0] = 1, three[1] = 1e-4, three[2] = 1e-9;
  matrices.push_back(with_values(three, 24, 6));
  Array<double, 3> a({5, 24, 24});
  for (index_t b = 0; b < 4; ++b) std::copy_n(matrices[b].begin(), 24 * 24, &a(b, 0, 0));
  a(4, 3, 3) = NAN;
  for (const std::optional<double> tolerance : {std::optional<double>(), std::optional(1e-6)}) {
    const auto found = ranks_of(a, {tolerance, {}});
    for (index_t b = 0; b < 4; ++b) {
      verify::RankOptions options;
      options.tolerance = tolerance;
      const auto report = verify::low_rank(matrices[b], options);
      CHECK(found.ranks(b) == report.rank);
      // What the CPU's sweep drops may move a value by an eighth of the tolerance.
      const double slack = report.tolerance / 4;
      CHECK(found.kept(b) == Approx(report.smallest_kept).margin(slack));
      CHECK(found.dropped(b) == Approx(report.largest_dropped).margin(slack));
    }
    CHECK(found.ranks(4) == -1);
    CHECK(std::isnan(found.kept(4)));
  }
  CHECK(ranks_of(a).ranks(1) == 0);
  CHECK(ranks_of(a).ranks(3) == 3);
  CHECK(ranks_of(a, {0.5, 1.5}).ranks(3) == 1);
}

TEST_CASE("Hilbert matrices of higher order", "[dense_singular_values]") {
  for (const index_t n : {12, 40, 100}) {
    const auto h = hilbert(n);
    CHECK(ranks_of(one(h)).ranks(0) == verify::low_rank(h).rank);
    if (quick() && n == 40) break;
  }
}

TEST_CASE("operands that do not fit are refused", "[dense_singular_values]") {
  const Array<double, 3, space::cuda> a({2, 5, 4});
  Array<double, 2, space::cuda> sigma({2, 4}), wrong({2, 5});
  Array<int, 1, space::cuda> status({2}), short_status({1});
  auto workspace = junk(dense::singular_values_workspace_bytes<double>(a));
  const exec::cuda e{nullptr, workspace};
  CHECK_THROWS_AS(dense::singular_values<double>(e, a, wrong, status), ShapeError);
  CHECK_THROWS_AS(dense::singular_values<double>(e, a, sigma, short_status), ShapeError);
  CHECK_THROWS_AS(dense::singular_values<double>({}, a, sigma, status), DomainError);
  CHECK_THROWS_AS(dense::singular_values<double>(
                      e, a, View<double, 2, space::cuda>(sigma.data(), {2, 4}, {0, 1}), status),
                  Unsupported);
  const Array<double, 3, space::cuda> large({1, 257, 300});
  CHECK_THROWS_AS(dense::singular_values_workspace_bytes<double>(large), Unsupported);
  CHECK_THROWS_AS(dense::rank<double>(e, a, {-1.0, {}}, status), DomainError);
  CHECK_THROWS_AS(dense::rank<double>(e, a, {NAN, {}}, status), DomainError);
  CHECK_THROWS_AS(dense::rank<double>(e, a, {}, short_status), ShapeError);
}
