#include "structmat/displacement/operator.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
namespace ds = structmat::displacement;

namespace {

/// The operator as a matrix, entry by entry from its definition.
template <class T>
Array<T, 2> matrix_of(const ds::Operator<T>& a, index_t n) {
  Array<T, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    if (a.kind == ds::OperatorKind::diagonal) {
      m(i, i) = a.x[i];
      continue;
    }
    const bool plain = a.kind == ds::OperatorKind::shift;
    const index_t j = (i + n - 1) % n;  // row i of Z_f has its number in column i - 1
    (plain ? m(i, j) : m(j, i)) = i == 0 ? a.corner : T{1};
  }
  return m;
}

template <class T>
Array<T, 2> multiply(const Array<T, 2>& a, const Array<T, 2>& b) {
  Array<T, 2> c({a.extent(0), b.extent(1)});
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t l = 0; l < a.extent(1); ++l) {
      for (index_t j = 0; j < b.extent(1); ++j) c(i, j) += a(i, l) * b(l, j);
    }
  }
  return c;
}

template <class T>
double largest_difference(const Array<T, 2>& a, const Array<T, 2>& b) {
  REQUIRE(a.extents() == b.extents());
  double most = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    most = std::max(most, double(std::abs(a.data()[i] - b.data()[i])));
  }
  return most;
}

}  // namespace

TEMPLATE_TEST_CASE("displacements are those of the matrices", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{1, 1}, {1, 4}, {4, 1}, {2, 2}, {3, 2}, {7, 7}, {5, 8}}) {
    const auto numbers = [&](index_t count) {
      const auto a = random.array<T, 1>({count});
      return std::vector<T>(a.begin(), a.end());
    };
    const auto operators = [&](index_t size) {
      return std::vector<ds::Operator<T>>{ds::shift<T>(random.scalar<T>()),
                                          ds::shift_transposed<T>(random.scalar<T>()),
                                          ds::diagonal(numbers(size))};
    };
    const auto x = random.array<T, 2>({m, n});
    const double bound = 16 * double(epsilon<T>);
    for (const auto& left : operators(m)) {
      const auto a = matrix_of(left, m);
      CHECK(largest_difference(ds::apply_left<T>(left, x), multiply(a, x)) <= bound);
      for (const auto& right : operators(n)) {
        INFO(m << " x " << n << ", kinds " << int(left.kind) << ", " << int(right.kind));
        const auto b = matrix_of(right, n);
        const auto xb = multiply(x, b);
        CHECK(largest_difference(ds::apply_right<T>(x, right), xb) <= bound);

        auto expected = multiply(a, x);
        for (index_t i = 0; i < x.size(); ++i) expected.data()[i] -= xb.data()[i];
        const ds::Displacement<T> sylvester{ds::Kind::sylvester, left, right};
        CHECK(largest_difference(ds::displace(sylvester, x), expected) <= bound);

        expected = multiply(a, xb);
        for (index_t i = 0; i < x.size(); ++i) {
          expected.data()[i] = x.data()[i] - expected.data()[i];
        }
        const ds::Displacement<T> stein{ds::Kind::stein, left, right};
        CHECK(largest_difference(ds::displace(stein, x), expected) <= bound);
        CHECK(largest_difference(
                  ds::displace<T>(
                      stein, View<const T, 2>(to_array(x.view().transposed()).view()).transposed()),
                  expected) <= bound);
      }
    }
  }
}

TEST_CASE("presets: what is left of each structure") {
  // Toeplitz: first row and last column only.
  Array<double, 2> t({4, 5});
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 5; ++j) t(i, j) = double((i - j) * (i - j) + i - j);
  }
  const auto dt = ds::displace(ds::toeplitz<double>(), t);
  for (index_t i = 1; i < 4; ++i) {
    for (index_t j = 0; j < 4; ++j) CHECK(dt(i, j) == 0);
  }
  CHECK(dt(0, 0) == t(3, 0) - t(0, 1));
  CHECK(dt(2, 4) == t(1, 4) + t(2, 0));

  // Hankel: first row and first column only.
  Array<double, 2> h({4, 5});
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 5; ++j) h(i, j) = double((i + j) * (i + j + 1));
  }
  const auto dh = ds::displace(ds::hankel<double>(), h);
  for (index_t i = 1; i < 4; ++i) {
    for (index_t j = 1; j < 5; ++j) CHECK(dh(i, j) == 0);
  }
  CHECK(dh(2, 0) == h(1, 0) + h(2, 4));

  // Vandermonde: x^n - f in the last column; Cauchy: ones.
  const std::vector<double> x{1, 2, -3}, s{4, 8, 16}, y{1, 2};
  Array<double, 2> v({3, 4}), c({3, 2});
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 4; ++j) v(i, j) = std::pow(x[i], double(j));
    for (index_t j = 0; j < 2; ++j) c(i, j) = 1 / (s[i] - y[j]);
  }
  const auto dv = ds::displace(ds::vandermonde<double>(x, 5), v);
  const auto dc = ds::displace(ds::cauchy<double>(s, y), c);
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j) CHECK(dv(i, j) == 0);
    CHECK(dv(i, 3) == std::pow(x[i], 4.0) - 5);
    for (index_t j = 0; j < 2; ++j) CHECK(dc(i, j) == Approx(1).epsilon(1e-14));
  }
}

TEST_CASE("displacements of empty matrices, and diagonals that do not fit") {
  CHECK(ds::displace(ds::toeplitz<double>(), Array<double, 2>({0, 3})).size() == 0);
  CHECK(ds::displace(ds::hankel<double>(), Array<double, 2>({3, 0})).size() == 0);
  const Array<double, 2> x({3, 4});
  CHECK(message_from<ShapeError>([&] {
          ds::displace(ds::vandermonde<double>({1, 2}), x);
        }) ==
        "displacement::displace: the diagonal on the left has 2 numbers, the matrix has 3 rows");
  CHECK(message_from<ShapeError>([&] {
          ds::displace(ds::cauchy<double>({1, 2, 3}, {1, 2, 3}), x);
        }) ==
        "displacement::displace: the diagonal on the right has 3 numbers, the matrix has 4 "
        "columns");
}
