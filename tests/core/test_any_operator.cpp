#include "structmat/core/any_operator.hpp"

#include <catch2/catch.hpp>

#include "structmat/core/shift.hpp"
#include "structmat/dense/dense.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

using Complex = std::complex<double>;
using Any = AnyOperator<Complex>;
using Matrix = Array<Complex, 2>;

/// An operator that offers no transpose, only the adjoint.
struct Twice {
  using value_type = Complex;
  index_t n;
  index_t rows() const { return n; }
  index_t cols() const { return n; }
  void apply(View<const Complex, 2> x, View<Complex, 2> y) const { scale(x, y, {0, 2}); }
  void apply_adjoint(View<const Complex, 2> x, View<Complex, 2> y) const { scale(x, y, {0, -2}); }
  static void scale(const View<const Complex, 2>& x, const View<Complex, 2>& y, Complex by) {
    for (index_t i = 0; i < x.extent(0); ++i) {
      for (index_t j = 0; j < x.extent(1); ++j) y(i, j) = by * x(i, j);
    }
  }
};

Matrix entries(const Any& a, Op op) {
  const index_t m = op == Op::none ? a.rows() : a.cols(), n = op == Op::none ? a.cols() : a.rows();
  Matrix identity({n, n}), result = poisoned<Complex, 2>({m, n});
  for (index_t i = 0; i < n; ++i) identity(i, i) = 1;
  a.apply(op, identity.view(), result.view());
  return result;
}

Complex op_of(const Matrix& m, Op op, index_t i, index_t j) {
  const Complex v = op == Op::none ? m(i, j) : m(j, i);
  return op == Op::adjoint ? std::conj(v) : v;
}

/// op(A) is what the matrix of A says, for all three.
void check_against(const Any& a, const Matrix& expected) {
  REQUIRE(a.rows() == expected.extent(0));
  REQUIRE(a.cols() == expected.extent(1));
  for (const Op op : all_ops) {
    const Matrix got = entries(a, op);
    for (index_t i = 0; i < got.extent(0); ++i) {
      for (index_t j = 0; j < got.extent(1); ++j) {
        CHECK(std::abs(got(i, j) - op_of(expected, op, i, j)) < 1e-13);
      }
    }
  }
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c({a.extent(0), b.extent(1)});
  for (index_t i = 0; i < a.extent(0); ++i) {
    for (index_t j = 0; j < b.extent(1); ++j) {
      for (index_t l = 0; l < a.extent(1); ++l) c(i, j) += a(i, l) * b(l, j);
    }
  }
  return c;
}

}  // namespace

TEST_CASE("compositions apply what their matrices say, transposed and adjoint told apart") {
  Random random(1);
  const Matrix a = random.array<Complex, 2>({4, 3}), b = random.array<Complex, 2>({4, 3}),
               c = random.array<Complex, 2>({3, 5});
  const Any da = Dense<Complex>(a), db = Dense<Complex>(b), dc = Dense<Complex>(c);
  const Complex factor{0.5, -2};

  Matrix sum = a, difference = a, scaled = a, at({3, 4}), ah({3, 4}), blocks({7, 8});
  for (index_t i = 0; i < a.size(); ++i) {
    sum.data()[i] += b.data()[i];
    difference.data()[i] -= b.data()[i];
    scaled.data()[i] *= factor;
  }
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 3; ++j) {
      at(j, i) = a(i, j);
      ah(j, i) = std::conj(a(i, j));
      blocks(i, j) = a(i, j);
    }
  }
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 5; ++j) blocks(4 + i, 3 + j) = c(i, j);
  }
  check_against(da, a);
  check_against(da + db, sum);
  check_against(da - db, difference);
  check_against(factor * da, scaled);
  check_against(da * dc, product(a, c));
  check_against(transposed(da), at);
  check_against(adjoint(da), ah);
  check_against(adjoint(adjoint(da)), a);
  check_against(transposed(da * dc), [&] {
    const Matrix ac = product(a, c);
    return to_array(ac.view().transposed());
  }());
  check_against(block_diagonal<Complex>({da, dc}), blocks);
}

TEST_CASE("an operator without a transpose gets one from its adjoint") {
  Matrix expected({3, 3});
  for (index_t i = 0; i < 3; ++i) expected(i, i) = {0, 2};
  check_against(Twice{3}, expected);
}

TEST_CASE("structured matrices are operators") {
  const auto m = random_quasiseparable<Complex, transition::Diagonal>(9, {2, 3}, 1, 2);
  STATIC_REQUIRE(LinearOperator<Quasiseparable<Complex, transition::Diagonal>>);
  Matrix dense({9, 9});
  for (index_t i = 0; i < 9; ++i) {
    for (index_t j = 0; j < 9; ++j) dense(i, j) = entry(m.view(), i, j);
  }
  check_against(m, dense);
}

TEST_CASE("shift and flip") {
  for (const index_t n : {0, 1, 2, 5}) {
    Matrix z({n, n}), j({n, n});
    for (index_t i = 0; i < n; ++i) {
      j(i, n - 1 - i) = 1;
      if (i > 0) z(i, i - 1) = 1;
    }
    check_against(Shift<Complex>(n), z);
    check_against(Flip<Complex>(n), j);
  }
}

TEST_CASE("shapes that do not fit are refused when the composition is made") {
  const Any a = Dense<Complex>(Matrix({2, 3})), b = Dense<Complex>(Matrix({3, 3}));
  CHECK(message_from<ShapeError>([&] { a + b; }) ==
        "any_operator::sum: the left operator is 2 x 3, the right one 3 x 3");
  CHECK(message_from<ShapeError>([&] { a* a; }) ==
        "any_operator::product: the left operator is 2 x 3, the right one 2 x 3");
  Matrix x({2, 1}), y({2, 1});
  CHECK(message_from<ShapeError>([&] { a.apply(x, y); }) ==
        "any_operator::apply: x has 2 rows, the operator has 3 columns");
}
