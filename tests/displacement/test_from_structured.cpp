#include "structmat/displacement/from_structured.hpp"

#include <catch2/catch.hpp>

#include "displacement/support.hpp"
#include "structmat/displacement/convert.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::displacement::test;
namespace ds = structmat::displacement;

namespace {

template <Scalar T>
Array<T, 2> cauchy_matrix(const std::vector<T>& s, const std::vector<T>& t) {
  return structmat::test::matrix<T>(index_t(s.size()), index_t(t.size()),
                                    [&](index_t i, index_t j) { return T{1} / (s[i] - t[j]); });
}

/// The generators are those of `dense`, by the definition of the displacement.
template <Scalar T>
void check(const ds::Generators<T>& x, const Array<T, 2>& dense, index_t order) {
  CHECK(x.order() == order);
  const auto both = ds::terms<T>(x.displacement, dense);
  CHECK(distance(image(x), ds::displace(x.displacement, dense)) <=
        20 * double(x.rows() + x.cols() + 1) * double(epsilon<T>) *
            (norm_of(both.first) + norm_of(both.second)));
}

}  // namespace

TEMPLATE_TEST_CASE("generators in closed form are those of the definition", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  using structmat::test::matrix;
  Random random(1);
  const T e = random.scalar<T>(), f = random.scalar<T>() + T(2);
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{1, 1}, {1, 4}, {5, 1}, {2, 2}, {6, 6}, {5, 8}, {8, 3}}) {
    INFO(m << " x " << n);
    const auto lags = random.array<T, 2>({2, m + n - 1});
    Toeplitz<T> t(m, n, 2);
    Hankel<T> h(m, n, 2);
    copy(lags.view(), t.lags.view());
    copy(lags.view(), h.anti_diagonals.view());
    const auto dt = matrix<T>(m, n, [&](index_t i, index_t j) { return lags(1, i - j + n - 1); });
    const auto dh = matrix<T>(m, n, [&](index_t i, index_t j) { return lags(1, i + j); });
    for (const auto& corners :
         {ds::Corners<T>{}, ds::Corners<T>{e, f}, ds::Corners<T>{T(1), T(0)}}) {
      check(ds::from_toeplitz(t.view(), corners, 1), dt, 2);
      check(ds::from_hankel(h.view(), corners, 1), dh, 2);
    }
    CHECK(ds::from_toeplitz(t.view()).displacement == ds::toeplitz<T>());
    CHECK(ds::from_hankel(h.view()).displacement == ds::hankel<T>());

    const auto x = random_nodes<T>(m, random);
    Vandermonde<T> v(View<const T, 1>(x), n);
    const auto dv = matrix<T>(m, n, [&](index_t i, index_t j) {
      T power{1};
      for (index_t l = 0; l < j; ++l) power *= x[i];
      return power;
    });
    check(ds::from_vandermonde(v.view()), dv, 1);
    check(ds::from_vandermonde(v.view(), f), dv, 1);

    const auto s = random_nodes<T>(m, random), y = random_nodes<T>(n, random, 4);
    const Cauchy<T> c{View<const T, 1>(s), View<const T, 1>(y)};
    check(ds::from_cauchy(c.view()), cauchy_matrix(s, y), 1);
    CauchyLike<T> like(m, n, 3);
    copy(c.s.view(), like.s.view());
    copy(c.t.view(), like.t.view());
    random.fill(like.g);
    random.fill(like.h);
    const auto from_like = ds::from_cauchy_like(like.view());
    check(from_like, dense_of(from_like), 3);
    const auto back = ds::to_cauchy_like(from_like);
    CHECK(same_bits(back.g, like.g));
    CHECK(same_bits(back.h, like.h));
    CHECK(same_bits(back.s, like.s));
    CHECK(same_bits(back.t, like.t));
  }
  for (const index_t n : {1, 2, 7}) {
    const auto column = random.array<T, 2>({1, n});
    Circulant<T> c(n);
    SkewCirculant<T> s(n);
    copy(column.view(), c.column.view());
    copy(column.view(), s.column.view());
    const auto dc =
        matrix<T>(n, n, [&](index_t i, index_t j) { return column(0, (i - j + n) % n); });
    // The sign: entries above the diagonal of a skew-circulant matrix are negated.
    const auto skew = matrix<T>(n, n, [&](index_t i, index_t j) {
      return i >= j ? column(0, i - j) : -column(0, n + i - j);
    });
    check(ds::from_circulant(c.view()), dc, 1);
    check(ds::from_circulant(c.view(), f), dc, 1);
    check(ds::from_skew_circulant(s.view()), skew, 1);
    CHECK(relative_distance(dense_of(ds::from_circulant(c.view())), dc) <= 50 * epsilon<T>);
    CHECK(relative_distance(dense_of(ds::from_skew_circulant(s.view())), skew) <= 50 * epsilon<T>);
  }
}

TEST_CASE("generators of empty matrices, and what is refused") {
  CHECK(ds::from_toeplitz(Toeplitz<double>(0, 3).view()).cols() == 3);
  CHECK(ds::from_hankel(Hankel<double>(3, 0).view()).rows() == 3);
  CHECK(ds::from_circulant(Circulant<double>(0).view()).rows() == 0);
  CHECK(ds::from_vandermonde(Vandermonde<double>(2, 0).view()).cols() == 0);
  CHECK(ds::from_cauchy(Cauchy<double>(0, 2).view()).cols() == 2);
  CHECK(message_from<ShapeError>([] { ds::from_toeplitz(Toeplitz<double>(2, 2).view(), {}, 1); }) ==
        "displacement::from_toeplitz: index 1 of a batch of 1");
  const std::vector<double> x{1, 10};
  CHECK(message_from<DomainError>([&] {
          ds::from_vandermonde(Vandermonde<double>(View<const double, 1>(x), 400).view());
        }) == "displacement::from_vandermonde: power 400 of node 1 is not finite");
  CHECK_THROWS_AS(ds::to_cauchy_like(ds::from_toeplitz(Toeplitz<double>(2, 2).view())),
                  DomainError);
}
