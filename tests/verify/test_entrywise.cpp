#include "structmat/verify/entrywise.hpp"

#include <catch2/catch.hpp>

#include "structmat/dense/norm.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
View<const T, 2> in(const Array<T, 2>& a) {
  return a.view();
}

/// The structure holds; with entry (i, j) off by 1e-3 ||A||_F it does not, and a tolerance of 1e-2
/// lets that pass.
template <class T, class Test>
void check_structure(const Array<T, 2>& a, index_t i, index_t j, const Test& test) {
  const auto found = test(in(a), verify::EntrywiseOptions{});
  CHECK(found.holds);
  CHECK(found.largest <= found.tolerance);
  CHECK(found.tolerance == double(std::max(a.extent(0), a.extent(1))) * double(epsilon<T>));
  auto b = a;
  const double change = 1e-3 * dense::frobenius_norm<T>(a.view());
  b(i, j) += T(real_t<T>(change));
  const auto broken = test(in(b), verify::EntrywiseOptions{});
  CHECK_FALSE(broken.holds);
  CHECK(broken.largest > 4e-4);
  CHECK(test(in(b), verify::EntrywiseOptions{.tolerance = 1e-2}).holds);

  // The same through other strides.
  Array<T, 2> store({2 * a.extent(0), 3 * a.extent(1)});
  const View<T, 2> spaced(store.data(), a.extents(), {6 * a.extent(1), 3});
  copy(b.view().reversed(0), spaced);
  const auto strided = test(View<const T, 2>(spaced).reversed(0), verify::EntrywiseOptions{});
  CHECK(strided.largest == broken.largest);
  CHECK(strided.row == broken.row);
  CHECK(strided.col == broken.col);
}

}  // namespace

TEMPLATE_TEST_CASE("structures that compare entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  const auto numbers = random.array<T, 1>({40});
  for (const auto& [m, n] : {std::pair<index_t, index_t>{7, 7}, {5, 9}, {9, 4}}) {
    INFO(m << " x " << n);
    const index_t rows = m, cols = n;
    const auto t = matrix<T>(m, n, [&](index_t i, index_t j) { return numbers(i - j + cols); });
    check_structure(t, 2, 1, [](auto v, const auto& o) { return verify::toeplitz(v, o); });
    const auto found = verify::toeplitz(in(t));
    CHECK(found.largest == 0);
    for (index_t i = 0; i < m; ++i) CHECK(found.column[i] == numbers(i + n));
    for (index_t j = 0; j < n; ++j) CHECK(found.row[j] == numbers(n - j));

    const auto h = matrix<T>(m, n, [&](index_t i, index_t j) { return numbers(i + j); });
    check_structure(h, 2, 1, [](auto v, const auto& o) { return verify::hankel(v, o); });
    const auto hankel = verify::hankel(in(h));
    for (index_t i = 0; i < m; ++i) CHECK(hankel.column[i] == numbers(i));
    for (index_t j = 0; j < n; ++j) CHECK(hankel.row[j] == numbers(rows - 1 + j));
    CHECK_FALSE(verify::hankel(in(t)).holds);
    CHECK_FALSE(verify::toeplitz(in(h)).holds);

    const auto d =
        matrix<T>(m, n, [&](index_t i, index_t j) { return i == j ? numbers(i) + T(2) : T{}; });
    check_structure(d, 2, 1, [](auto v, const auto& o) { return verify::diagonal(v, o); });
    const auto l = matrix<T>(m, n, [&](index_t i, index_t j) { return i >= j ? numbers(i) : T{}; });
    check_structure(l, 1, 2, [](auto v, const auto& o) {
      return verify::triangular(v, verify::Part::lower, o);
    });
    CHECK_FALSE(verify::triangular(in(l), verify::Part::upper).holds);
    CHECK(verify::triangular(View<const T, 2>(l.view().transposed()), verify::Part::upper).holds);
  }
  const index_t n = 6;
  const auto c = matrix<T>(n, n, [&](index_t i, index_t j) { return numbers((i - j + n) % n); });
  check_structure(c, 2, 1, [](auto v, const auto& o) { return verify::circulant(v, o); });
  for (index_t i = 0; i < n; ++i) CHECK(verify::circulant(in(c)).column[i] == numbers(i));
  const auto s = matrix<T>(n, n, [&](index_t i, index_t j) { return numbers(i * j + i + j); });
  check_structure(s, 2, 1, [](auto v, const auto& o) { return verify::symmetric(v, o); });
  const auto h = matrix<T>(n, n, [&](index_t i, index_t j) {
    const T v = numbers(i * j + i + j);
    return i == j ? T(std::real(v)) : i > j ? v : conjugate(v);
  });
  check_structure(h, 2, 1, [](auto v, const auto& o) { return verify::hermitian(v, o); });
  if (is_complex_v<T>) {
    CHECK_FALSE(verify::hermitian(in(s)).holds);
    CHECK_FALSE(verify::symmetric(in(h)).holds);
  }
}

TEST_CASE("bandwidths are measured at the tolerance") {
  auto a = matrix<double>(
      8, 11, [](index_t i, index_t j) { return i - j <= 2 && j - i <= 1 ? 1.0 + double(i) : 0.0; });
  auto band = verify::banded(in(a));
  CHECK(band.lower == 2);
  CHECK(band.upper == 1);
  CHECK(band.largest == 0);
  a(0, 6) = 1e-9;
  band = verify::banded(in(a));
  CHECK(band.lower == 2);
  CHECK(band.upper == 6);
  band = verify::banded(in(a), {.tolerance = 1e-8});
  CHECK(band.upper == 1);
  CHECK(band.largest == Approx(1e-9 / dense::frobenius_norm<double>(a.view())));
  CHECK(band.row == 0);
  CHECK(band.col == 6);
  band = verify::banded(in(Array<double, 2>({3, 3})));
  CHECK(band.lower + band.upper == 0);
}

TEMPLATE_TEST_CASE("Vandermonde matrices, relative to each entry", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  using Wide = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;
  std::vector<T> x{T(0), T(1), T(-1), T(0.001F), T(3), T(-0.25F)};
  if constexpr (is_complex_v<T>) x.push_back({0.6F, -0.9F});
  const auto rows = index_t(x.size()), n = index_t(12);
  auto v = matrix<T>(rows, n, [&](index_t i, index_t j) {
    Wide power = 1;
    for (index_t l = 0; l < j; ++l) power *= Wide(x[i]);
    return T(power);
  });
  auto found = verify::vandermonde(in(v));
  CHECK(found.holds);
  CHECK(found.nodes == x);
  // 0.001^11 is 1e-33; twice that is another matrix.
  v(3, 11) *= 2;
  found = verify::vandermonde(in(v));
  CHECK_FALSE(found.holds);
  CHECK(found.row == 3);
  CHECK(found.col == 11);
  CHECK(found.largest == Approx(0.5).epsilon(1e-4));
  CHECK(verify::vandermonde(in(v), {.tolerance = 0.6}).holds);
  v(3, 11) /= 2;
  v(0, 5) = T(1e-20F);
  CHECK_FALSE(verify::vandermonde(in(v)).holds);

  const auto ones = matrix<T>(4, 1, [](index_t, index_t) { return T(1); });
  CHECK(verify::vandermonde(in(ones)).holds);
  CHECK(verify::vandermonde(in(ones)).nodes.empty());
  const auto twos = matrix<T>(4, 1, [](index_t, index_t) { return T(2); });
  CHECK_FALSE(verify::vandermonde(in(twos)).holds);
}

TEST_CASE("powers that leave the range are no Vandermonde matrix of finite entries") {
  const auto a = matrix<double>(1, 5, [](index_t, index_t j) { return j == 0 ? 1.0 : 1e200; });
  CHECK_FALSE(verify::vandermonde(in(a)).holds);
}

TEMPLATE_TEST_CASE("Cauchy matrices and their nodes", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  const auto s = [](index_t i) { return T(real_t<T>(0.5 + double(i))); };
  const auto t = [](index_t j) {
    return is_complex_v<T> ? T(real_t<T>(-1)) - T(real_t<T>(2 * j)) : T(real_t<T>(1 + j));
  };
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1}, {1, 4}, {4, 1}, {6, 6}, {9, 5}}) {
    auto c = matrix<T>(m, n, [&](index_t i, index_t j) { return T(1) / (s(i) - t(j)); });
    const auto found = verify::cauchy(in(c));
    INFO(m << " x " << n);
    CHECK(found.holds);
    REQUIRE(index_t(found.s.size()) == m);
    REQUIRE(index_t(found.t.size()) == n);
    CHECK(found.t[0] == T{});
    for (index_t i = 0; i < m; ++i) {
      CHECK(std::abs(found.s[i] - (s(i) - t(0))) <= 40 * epsilon<T>);
    }
    for (index_t j = 0; j < n; ++j) {
      CHECK(std::abs(found.t[j] - (t(j) - t(0))) <= 40 * epsilon<T>);
    }
    if (m < 2 || n < 2) continue;
    c(1, 1) *= T(1.01F);
    CHECK_FALSE(verify::cauchy(in(c)).holds);
    CHECK(verify::cauchy(in(c), {.tolerance = 0.1}).holds);
    c(1, 1) = 0;
    CHECK_FALSE(verify::cauchy(in(c)).holds);
    CHECK(verify::cauchy(in(c)).largest == 1);
  }
}

TEST_CASE("matrices without entries have every structure, of one entry nearly every") {
  for (const auto& extents : {std::array<index_t, 2>{0, 0}, {0, 3}, {3, 0}}) {
    const Array<double, 2> a(extents);
    CHECK(verify::toeplitz(in(a)).holds);
    CHECK(verify::hankel(in(a)).holds);
    CHECK(verify::diagonal(in(a)).holds);
    CHECK(verify::triangular(in(a), verify::Part::upper).holds);
    CHECK(verify::vandermonde(in(a)).holds);
    CHECK(verify::cauchy(in(a)).holds);
    CHECK(verify::banded(in(a)).upper == 0);
  }
  CHECK(verify::circulant(in(Array<double, 2>({0, 0}))).holds);
  const auto one = matrix<double>(1, 1, [](index_t, index_t) { return 3.0; });
  CHECK(verify::circulant(in(one)).column == std::vector<double>{3});
  CHECK(verify::symmetric(in(one)).holds);
  CHECK(verify::hankel(in(one)).holds);
  CHECK_FALSE(verify::vandermonde(in(one)).holds);
}

TEST_CASE("huge and tiny entries neither overflow nor vanish in a comparison") {
  for (const double size : {1.7e308, 1e-310}) {
    auto a = matrix<double>(3, 3, [&](index_t, index_t) { return size / 4; });
    CHECK(verify::toeplitz(in(a)).holds);
    a(2, 1) = -a(2, 1);
    const auto found = verify::toeplitz(in(a));
    CHECK_FALSE(found.holds);
    CHECK(found.largest == Approx(2.0 / 3));
  }
}

TEST_CASE("what the entrywise tests refuse") {
  Array<double, 2> a({3, 4});
  CHECK(message_from<ShapeError>([&] { verify::circulant(in(a)); }) ==
        "verify::circulant: the matrix is 3 x 4, it must be square");
  CHECK_THROWS_AS(verify::symmetric(in(a)), ShapeError);
  CHECK_THROWS_AS(verify::hermitian(in(a)), ShapeError);
  CHECK(message_from<DomainError>([&] { verify::toeplitz(in(a), {.tolerance = -1.0}); }) ==
        "verify::toeplitz: the tolerance is -1.000000, it must be at least 0");
  a(0, 3) = NAN;
  CHECK(message_from<DomainError>([&] { verify::cauchy(in(a)); }) ==
        "verify::cauchy: entry (0, 3) is nan, only finite input has an answer");
}
