#include "structmat/toeplitz/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "support/apply_vjp.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class M>
auto& numbers(M& m) {
  if constexpr (requires { m.lags; }) {
    return m.lags;
  } else if constexpr (requires { m.anti_diagonals; }) {
    return m.anti_diagonals;
  } else {
    return m.column;
  }
}

template <class M>
void check_differences(M m, index_t x_batch, index_t k, Random& random) {
  using T = typename M::value_type;
  const index_t batch = m.batch() == 1 ? x_batch : m.batch();
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? m.cols() : m.rows();
    const index_t out = op == Op::none ? m.rows() : m.cols();
    INFO(m.rows() << " x " << m.cols() << ", batch " << m.batch() << ", " << x_batch << ", k " << k
                  << ", op " << int(op));
    auto x = random.array<T, 3>({x_batch, in, k});
    const auto y_bar = random.array<T, 3>({batch, out, k});
    M m_bar = m;
    for (T& v : numbers(m_bar)) v = T{};
    Array<T, 3> x_bar({x_batch, in, k});
    apply_vjp(exec::cpu{}, m.view(), op, std::as_const(x).view(), y_bar.view(),
              numbers(m_bar).view(), x_bar.view());
    const auto loss = [&] { return product_loss(m, op, x, y_bar); };
    check_gradient("m", numbers(m), numbers(m_bar), loss);
    check_gradient("x", x, x_bar, loss);
  }
}

/// lags_bar from all entries: sum_{i-j=l} of the dense cotangent y_bar x^H (or that of op).
template <Scalar T>
Array<T, 1> textbook(index_t m, index_t n, Op op, const Array<T, 3>& x, const Array<T, 3>& y_bar) {
  Array<T, 1> bar({m + n - 1});
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      for (index_t c = 0; c < x.extent(2); ++c) {
        T& sum = bar(i - j + n - 1);
        if (op == Op::none) sum += y_bar(0, i, c) * conjugate(x(0, j, c));
        if (op == Op::transpose) sum += y_bar(0, j, c) * conjugate(x(0, i, c));
        if (op == Op::adjoint) sum += conjugate(y_bar(0, j, c)) * x(0, i, c);
      }
    }
  }
  return bar;
}

}  // namespace

TEMPLATE_TEST_CASE("cotangents against central differences", "", double, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const auto& [m, n] : std::initializer_list<std::array<index_t, 2>>{
           {0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 3}, {3, 1}, {2, 2}, {5, 3}, {3, 5}}) {
    check_differences(random_toeplitz<T>(m, n, 1, random), 1, 2, random);
    check_differences(random_hankel<T>(m, n, 1, random), 1, 2, random);
  }
  for (const index_t n : {0, 1, 2, 5}) {
    check_differences(random_circulant<T>(n, 1, random), 1, 2, random);
    check_differences(random_skew_circulant<T>(n, 1, random), 1, 2, random);
  }
  // Shared matrices and shared operands collect sums.
  for (const auto& [own, other] :
       std::initializer_list<std::array<index_t, 2>>{{3, 3}, {1, 3}, {3, 1}, {0, 1}}) {
    check_differences(random_toeplitz<T>(3, 4, own, random), other, 2, random);
    check_differences(random_hankel<T>(4, 3, own, random), other, 1, random);
    check_differences(random_circulant<T>(3, own, random), other, 2, random);
    check_differences(random_skew_circulant<T>(3, own, random), other, 1, random);
  }
}

TEMPLATE_TEST_CASE("long sequences against the dense cotangent", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const auto& [m, n] : std::initializer_list<std::array<index_t, 2>>{
           {400, 300}, {150, 500}, {3, 400}, {257, 257}}) {
    for (const Op op : all_ops) {
      const index_t in = op == Op::none ? n : m, out = op == Op::none ? m : n, k = 3;
      const auto t = random_toeplitz<T>(m, n, 1, random);
      const auto x = random.array<T, 3>({1, in, k}), y_bar = random.array<T, 3>({1, out, k});
      Array<T, 2> bar({1, m + n - 1});
      Array<T, 3> x_bar({1, in, k});
      const ToeplitzPlan<T> plan(t.view());
      apply_vjp(exec::cpu{}, plan, op, x.view(), y_bar.view(), bar.view(), x_bar.view());
      const auto expected = textbook(m, n, op, x, y_bar);
      // ||x|| ||y_bar|| is about sqrt(m n), times three columns.
      const double allowed =
          8 * std::log2(double(m + n)) * double(epsilon<T>) * 3 * std::sqrt(double(m) * double(n));
      CHECK(distance(to_array(bar.view().select(0, 0)), expected) <= allowed);
      Array<T, 3> again({1, in, k});
      apply_vjp(exec::cpu{}, t.view(), op, x.view(), y_bar.view(), View<T, 2>{}, again.view());
      CHECK(distance(x_bar, again) <= allowed);
    }
  }
}

TEST_CASE("plans of Hankel matrices have the cotangents of the matrices") {
  using T = std::complex<double>;
  Random random(3);
  const auto h = random_hankel<T>(130, 90, 2, random);
  const ToeplitzPlan<T> plan(h.view(), {.method = toeplitz::Method::fourier});
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? 90 : 130, out = op == Op::none ? 130 : 90;
    const auto x = random.array<T, 3>({2, in, 2}), y_bar = random.array<T, 3>({2, out, 2});
    Array<T, 2> one({2, 219}), two({2, 219});
    Array<T, 3> x_one({2, in, 2}), x_two({2, in, 2});
    apply_vjp(exec::cpu{}, h.view(), op, x.view(), y_bar.view(), one.view(), x_one.view());
    apply_vjp(exec::cpu{}, plan, op, x.view(), y_bar.view(), two.view(), x_two.view());
    CHECK(distance(one, two) <= 1e-11);
    CHECK(distance(x_one, x_two) <= 1e-11);
  }
}

TEST_CASE("cotangents are added to, strides and threads change nothing") {
  using T = double;
  Random random(4);
  const index_t m = 300, n = 200, k = 3;
  const auto t = random_toeplitz<T>(m, n, 2, random);
  const auto x = random.array<T, 3>({2, n, k}), y_bar = random.array<T, 3>({2, m, k});
  Array<T, 2> bar({2, m + n - 1});
  Array<T, 3> x_bar({2, n, k});
  apply_vjp(exec::cpu{1}, t.view(), Op::none, x.view(), y_bar.view(), bar.view(), x_bar.view());
  for (const int threads : {1, 4}) {
    Array<T, 2> store({2, 3 * (m + n - 1)});
    const View<T, 2> strided =
        View<T, 2>(store.data(), {2, m + n - 1}, {3 * (m + n - 1), 3}).reversed(1);
    Array<T, 3> x_store({2, k, n});
    const View<T, 3> x_strided = x_store.view().transposed();
    apply_vjp(exec::cpu{threads}, t.view(), Op::none, x.view(), y_bar.view(), strided, x_strided);
    CHECK(same_bits(to_array(strided), bar));
    CHECK(same_bits(to_array(x_strided), x_bar));
  }
  auto twice = bar;
  apply_vjp(exec::cpu{1}, t.view(), Op::none, x.view(), y_bar.view(), twice.view(), View<T, 3>{});
  for (index_t i = 0; i < bar.size(); ++i) CHECK(twice.data()[i] == 2 * bar.data()[i]);
}

TEST_CASE("what is not finite, and numbers near the ends of the range, in correlations") {
  using T = double;
  Random random(5);
  const index_t m = 300, n = 250;
  const auto t = random_toeplitz<T>(m, n, 1, random);
  auto x = random.array<T, 3>({1, n, 2}), y_bar = random.array<T, 3>({1, m, 2});
  const auto correlate = [&] {
    Array<T, 2> bar({1, m + n - 1});
    apply_vjp(exec::cpu{}, t.view(), Op::none, std::as_const(x).view(), std::as_const(y_bar).view(),
              bar.view(), View<T, 3>{});
    return bar;
  };
  const auto expected = correlate();
  for (T& v : x) v *= 0x1p900;
  for (T& v : y_bar) v *= 0x1p-900;
  CHECK(same_bits(correlate(), expected));
  for (T& v : x) v *= 0x1p-900;
  for (T& v : y_bar) v *= 0x1p900;
  for (const T value : {T(NAN), T(INFINITY)}) {
    const T kept_y = y_bar(0, 40, 1), kept_x = x(0, 20, 0);
    y_bar(0, 40, 1) = value;
    auto bar = correlate();
    for (index_t l = 1 - n; l < m; ++l)
      CHECK(std::isfinite(bar(0, l + n - 1)) == !(l <= 40 && l > 40 - n));
    y_bar(0, 40, 1) = kept_y;
    x(0, 20, 0) = value;
    bar = correlate();
    for (index_t l = 1 - n; l < m; ++l)
      CHECK(std::isfinite(bar(0, l + n - 1)) == !(l >= -20 && l < m - 20));
    x(0, 20, 0) = kept_x;
  }
}

TEST_CASE("what does not fit is refused") {
  const Toeplitz<double> t(5, 4, 2);
  const Array<double, 3> x({2, 4, 1}), y_bar({2, 5, 1});
  Array<double, 2> bar({2, 8});
  Array<double, 3> x_bar({2, 4, 1});
  const auto says = [&](const Array<double, 3>& in, const Array<double, 3>& out,
                        const View<double, 2>& m_bar, const View<double, 3>& target) {
    return message_from<ShapeError>(
        [&] { apply_vjp(exec::cpu{}, t.view(), Op::none, in.view(), out.view(), m_bar, target); });
  };
  CHECK(says(Array<double, 3>({2, 5, 1}), y_bar, bar, x_bar) ==
        "toeplitz::apply_vjp: x is 2 x 5 x 1, expected 2 x 4 x 1");
  CHECK(says(x, Array<double, 3>({1, 5, 1}), bar, x_bar) ==
        "toeplitz::apply_vjp: y_bar is 1 x 5 x 1, expected 2 x 5 x 1");
  CHECK(says(x, y_bar, Array<double, 2>({2, 9}), x_bar) ==
        "toeplitz::apply_vjp: the cotangent of the matrix is 2 x 9, expected 2 x 8");
  CHECK(says(x, y_bar, bar, Array<double, 3>({3, 4, 1})) ==
        "toeplitz::apply_vjp: x_bar is 3 x 4 x 1, expected 2 x 4 x 1");
  CHECK_THROWS_AS(apply_vjp(exec::cpu{}, t.view(), Op::none, std::as_const(x_bar).view(),
                            y_bar.view(), bar.view(), x_bar.view()),
                  DomainError);
}
