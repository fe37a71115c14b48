#include "structmat/displacement/algebra.hpp"

#include <catch2/catch.hpp>

#include "displacement/support.hpp"
#include "structmat/displacement/compress.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::displacement::test;
namespace ds = structmat::displacement;

namespace {

/// x has the dense matrix `expected`, and these operators.
template <Scalar T>
void check(const ds::Generators<T>& x, const Array<T, 2>& expected, const ds::Displacement<T>& d,
           index_t order, double factor = 200) {
  CHECK(x.displacement == d);
  CHECK(x.order() == order);
  CHECK(relative_distance(dense_of(x), expected) <=
        factor * double(x.rows() + x.cols()) * double(epsilon<T>));
}

template <Scalar T>
Array<T, 2> adjoint_of(const Array<T, 2>& a, bool conjugates) {
  Array<T, 2> b({a.extent(1), a.extent(0)});
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t j = 0; j < a.extent(1); ++j) b(j, i) = conjugates ? conjugate(a(i, j)) : a(i, j);
  }
  return b;
}

/// Z_1 X - X Z_-1, well conditioned.
template <Scalar T>
ds::Generators<T> shifted_identity(index_t n, Random& random) {
  Toeplitz<T> t = random_toeplitz<T>(n, n, random);
  for (T& v : t.lags) v *= real_t<T>(1) / real_t<T>(n + 1);
  if (n > 0) t.lags(0, n - 1) += T(2);
  return ds::from_toeplitz(t.view());
}

}  // namespace

TEMPLATE_TEST_CASE("sums, multiples, transposes and adjoints", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  using ds::Kind;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 0}, {1, 1}, {5, 5}, {6, 4}, {4, 7}}) {
    const T f = random.scalar<T>() + T(3);
    for (const ds::Displacement<T>& d :
         {ds::Displacement<T>{Kind::sylvester, ds::shift<T>(1), ds::shift_transposed<T>(0)},
          ds::Displacement<T>{Kind::stein, ds::shift<T>(0), ds::shift_transposed<T>(f)},
          ds::cauchy<T>(random_nodes<T>(m, random), random_nodes<T>(n, random, 4)),
          ds::vandermonde<T>(random_nodes<T>(m, random), f)}) {
      INFO(m << " x " << n << ", kinds " << int(d.left.kind) << ", " << int(d.right.kind));
      const auto x = random_generators(d, m, n, 2, random),
                 y = random_generators(d, m, n, 1, random);
      const auto dx = dense_of(x), dy = dense_of(y);
      check(ds::add(x, y), entrywise(dx, [&](index_t i, index_t j) { return dx(i, j) + dy(i, j); }),
            d, 3);
      check(ds::subtract(x, y),
            entrywise(dx, [&](index_t i, index_t j) { return dx(i, j) - dy(i, j); }), d, 3);
      const T alpha = random.scalar<T>();
      check(ds::scale(alpha, x),
            entrywise(dx, [&](index_t i, index_t j) { return alpha * dx(i, j); }), d, 2);
      const ds::Displacement<T> across{d.kind, ds::transposed(d.right), ds::transposed(d.left)};
      check(ds::transpose(x), adjoint_of(dx, false), across, 2);
      check(ds::adjoint(x), adjoint_of(dx, true),
            {d.kind, ds::conjugated(across.left), ds::conjugated(across.right)}, 2);
    }
  }
}

TEMPLATE_TEST_CASE("products: orders add, and one more where corners differ", "", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(2);
  using ds::Kind;
  for (const index_t n : {0, 1, 2, 7, 12}) {
    INFO("n " << n);
    const auto x = ds::from_toeplitz(random_toeplitz<T>(n, n, random).view());
    const auto y = ds::from_toeplitz(random_toeplitz<T>(n, n, random).view());
    const auto z = ds::from_toeplitz(random_toeplitz<T>(n, n, random).view(), {T(-1), T(0)});
    const auto product = dense_product(dense_of(x), dense_of(y));
    check(ds::multiply(x, y), product, ds::toeplitz<T>(), n == 0 ? 4 : 5);
    check(ds::multiply(x, z), dense_product(dense_of(x), dense_of(z)),
          {Kind::sylvester, ds::shift<T>(1), ds::shift<T>(0)}, 4);
    // Generators of rank 4 for the product of two Toeplitz matrices, although 5 were made.
    const auto compressed = ds::compress(ds::multiply(x, y));
    CHECK(compressed.generators.order() <= 4);
    if (n >= 7) CHECK(compressed.generators.order() == 4);
    check(compressed.generators, product, ds::toeplitz<T>(), compressed.generators.order(), 1000);
  }
}

TEMPLATE_TEST_CASE("products of rectangular matrices and of other operators", "", double,
                   std::complex<double>) {
  using T = TestType;
  Random random(3);
  using ds::Kind;
  const index_t m = 6, l = 5, n = 8;
  const auto s = random_nodes<T>(m, random), t = random_nodes<T>(n, random, 4);
  const ds::Displacement<T> vandermonde = ds::vandermonde<T>(s, 2);
  // Transposed shifts, a diagonal against a shift, Stein forms.
  for (const auto& [left, right] : std::vector<std::pair<ds::Displacement<T>, ds::Displacement<T>>>{
           {vandermonde, {Kind::sylvester, ds::shift<T>(-1), ds::diagonal(t)}},
           {{Kind::sylvester, ds::shift<T>(1), ds::shift_transposed<T>(0)},
            {Kind::sylvester, ds::shift_transposed<T>(1), ds::shift<T>(0)}},
           {{Kind::stein, ds::shift<T>(1), ds::shift_transposed<T>(0)},
            {Kind::sylvester, ds::shift_transposed<T>(1), ds::shift<T>(0)}},
           {ds::cauchy<T>(s, random_nodes<T>(l, random, 8)),
            {Kind::sylvester, ds::diagonal(random_nodes<T>(l, random, 8)), ds::shift<T>(1)}}}) {
    auto x = random_generators(left, m, l, 2, random),
         y = random_generators(right, l, n, 1, random);
    if (left.right.kind == ds::OperatorKind::diagonal) {
      y.displacement.left = x.displacement.right;
    }
    const auto z = ds::multiply(x, y);
    CHECK(z.order() == (z.displacement.left.kind == ds::OperatorKind::diagonal &&
                                left.right.kind == ds::OperatorKind::diagonal
                            ? 3
                            : 4));
    CHECK(relative_distance(dense_of(z), dense_product(dense_of(x), dense_of(y))) <= 1e-11);
  }
}

TEMPLATE_TEST_CASE("inverses have the exchanged operators", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(4);
  for (const index_t n : {0, 1, 2, 9}) {
    const auto x = shifted_identity<T>(n, random);
    const auto inverted = ds::inverse(x);
    REQUIRE(inverted.status.ok());
    CHECK(inverted.generators.displacement ==
          ds::Displacement<T>{ds::Kind::sylvester, ds::shift<T>(-1), ds::shift<T>(1)});
    CHECK(inverted.generators.order() == 2);
    const auto identity = dense_product(dense_of(x), dense_of(inverted.generators));
    CHECK(distance(identity, entrywise(identity, [](index_t i, index_t j) {
                     return T(i == j ? 1 : 0);
                   })) <= 1000 * double(n + 1) * double(epsilon<T>));
  }
  // A solver of the caller's: here one that counts.
  const auto x = shifted_identity<T>(5, random);
  index_t calls = 0;
  const auto counted = ds::inverse(x, [&](Op op, View<T, 2> b) {
    ++calls;
    CHECK(b.extent(0) == 5);
    CHECK((op == Op::none || op == Op::transpose));
    return PivotStatus{};
  });
  CHECK(calls == 2);
  CHECK(counted.generators.order() == 2);

  // Ones everywhere: singular.
  Toeplitz<T> ones(4, 4);
  for (T& v : ones.lags) v = T(1);
  const auto none = ds::inverse(ds::from_toeplitz(ones.view()));
  CHECK_FALSE(none.status.usable());
  CHECK(none.generators.order() == 0);
}

TEST_CASE("algebra: what does not fit is refused") {
  using T = double;
  Random random(5);
  const auto x = random_generators(ds::toeplitz<T>(), 5, 5, 1, random);
  const auto smaller = random_generators(ds::toeplitz<T>(), 4, 4, 1, random);
  const auto hankel = random_generators(ds::hankel<T>(), 5, 5, 1, random);
  CHECK(message_from<ShapeError>([&] { ds::add(x, smaller); }) ==
        "displacement::add: the left matrix is 5 x 5, the right one 4 x 4");
  CHECK(message_from<DomainError>([&] { ds::subtract(x, hankel); }) ==
        "displacement::subtract: the displacement operators of both matrices differ");
  CHECK(message_from<ShapeError>([&] { ds::multiply(x, smaller); }) ==
        "displacement::multiply: the left matrix is 5 x 5, the right one 4 x 4");
  CHECK(message_from<DomainError>([&] {
          ds::multiply(hankel, x);
        }).rfind("displacement::multiply: the operator on the right of the left factor") == 0);
  CHECK(message_from<ShapeError>([&] {
          ds::inverse(random_generators<T>({ds::Kind::sylvester, ds::shift<T>(1), ds::shift<T>(0)},
                                           3, 4, 1, random));
        }) == "displacement::inverse: the matrix is 3 x 4, it must be square");
}
