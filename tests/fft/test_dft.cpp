#include "structmat/fft/dft.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/gradient.hpp"

using namespace structmat;
using namespace structmat::test;

namespace structmat {

// Entries have modulus sigma or less; the normwise contract does not read this.
template <ComplexScalar T>
const Dft<T>& absolute(const Dft<T>& m) {
  return m;
}
template <Scalar T>
const CosineDft<T>& absolute(const CosineDft<T>& m) {
  return m;
}
template <RealScalar T>
const RealDft2d<T>& absolute(const RealDft2d<T>& m) {
  return m;
}

}  // namespace structmat

namespace {

template <class M>
void check_operator(const M& m, Random& random) {
  using T = typename M::value_type;
  for (const index_t k : {1, 4}) {
    check_products(m, normwise<T>(m.rows(), 4), k, random);
    check_strides(m, k, random);
    check_threads(m, k, random);
  }
  check_linearity(m, normwise<T>(m.rows(), 4), random);
}

/// x_bar starts from ones, to which M^H y_bar is added; one x_bar for a batch collects the sum.
template <class M>
void check_vjp(const M& m, Random& random) {
  using T = typename M::value_type;
  const index_t n = m.rows();
  const auto y_bar = random.array<T, 3>({2, n, 2});
  const auto dense = m.to_dense();
  for (const Op op : all_ops) {
    Array<T, 3> x_bar({1, n, 2});
    for (T& v : x_bar) v = T{1};
    apply_vjp(exec::cpu{}, m, op, y_bar.view(), x_bar.view());
    for (index_t j = 0; j < n; ++j) {
      for (index_t c = 0; c < 2; ++c) {
        std::complex<double> expected = 1;
        for (index_t b = 0; b < 2; ++b) {
          for (index_t i = 0; i < n; ++i) {
            expected += std::complex<double>(conjugate(op_entry(op, dense.view(), 0, i, j))) *
                        std::complex<double>(y_bar(b, i, c));
          }
        }
        CHECK(std::abs(expected - std::complex<double>(x_bar(0, j, c))) <=
              20 * double(n) * double(epsilon<T>));
      }
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("the Fourier matrix", "", std::complex<float>, std::complex<double>) {
  Random random(1);
  for (const index_t n : {0, 1, 2, 7, 16, 101}) check_operator(Dft<TestType>(n), random);
  check_operator(Dft<TestType>(12, Scaling::unitary), random);
  check_vjp(Dft<TestType>(9), random);
  const Dft<TestType> f(4);
  const TestType expected[] = {1, {0, -1}, -1, {0, 1}};
  for (index_t j = 0; j < 4; ++j) CHECK(std::abs(f.entry(1, j) - expected[j]) < 1e-6F);
}

TEMPLATE_TEST_CASE("the cosine part", "", float, double, std::complex<double>) {
  Random random(2);
  for (const index_t n : {0, 1, 2, 7, 16, 101}) check_operator(CosineDft<TestType>(n), random);
  check_operator(CosineDft<TestType>(10, Scaling::unitary), random);
  check_vjp(CosineDft<TestType>(8), random);
}

TEST_CASE("the cosine part loses odd sequences") {
  for (const index_t n : {8, 9}) {
    const CosineDft<double> c(n, Scaling::unitary);
    Array<double, 1> odd({n});
    for (index_t i = 1; 2 * i < n; ++i) odd(n - i) = -(odd(i) = double(i * i));
    for (const double v : c* odd) CHECK(std::abs(v) < 1e-13);
    // C^2 is the projection (I + J) / 2 on even sequences: rank floor(n / 2) + 1.
    double trace = 0;
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) trace += c.entry(i, j) * c.entry(j, i);
    }
    CHECK(trace == Approx(double(n / 2 + 1)));
  }
}

TEMPLATE_TEST_CASE("the real part in two dimensions", "", float, double) {
  using T = TestType;
  Random random(3);
  for (const auto& [l, d] :
       {std::array<index_t, 2>{0, 3}, {3, 0}, {1, 1}, {1, 6}, {7, 1}, {4, 4}, {5, 7}, {6, 9}}) {
    check_operator(RealDft2d<T>(l, d), random);
  }
  check_operator(RealDft2d<T>(3, 4, Scaling::unitary), random);
  check_vjp(RealDft2d<T>(4, 3), random);
}

TEST_CASE("arrays of their own shape") {
  Random random(4);
  const index_t length = 5, width = 6;
  const RealDft2d<double> m(length, width);
  const auto x = random.array<double, 3>({2, length, width});
  Array<double, 3> y({2, width, length});
  apply_2d(exec::cpu{2}, m, x.view(), y.view().transposed());
  for (index_t b = 0; b < 2; ++b) {
    for (index_t j = 0; j < length; ++j) {
      for (index_t d = 0; d < width; ++d) {
        double sum = 0;
        for (index_t k = 0; k < length; ++k) {
          for (index_t e = 0; e < width; ++e) {
            const double turns = double(j * k) / length + double(d * e) / width;
            sum += std::cos(2 * std::acos(-1.0) * turns) * x(b, k, e);
          }
        }
        CHECK(y(b, d, j) == Approx(sum).margin(1e-13));
      }
    }
  }
  CHECK(message_from<ShapeError>([&] { apply_2d(exec::cpu{}, m, x.view(), y.view()); }) ==
        "real_dft_2d::apply_2d: the result has extent 6 in dimension 1, expected 5");
  CHECK_THROWS_AS(apply_2d(exec::cpu{}, m, std::as_const(y).view(), y.view()), ShapeError);
  Array<double, 3> both({1, length, width});
  CHECK_THROWS_AS(apply_2d(exec::cpu{}, m, std::as_const(both).view(), both.view()), DomainError);
}
