// The passes of long blocks at sizes that a dense product can check.

#include <catch2/catch.hpp>
#include <memory>

#include "support/battery.hpp"
#include "support/toeplitz.hpp"
#include "toeplitz/apply_fourier.hpp"

namespace structmat::test {
namespace {

/// A matrix whose products take long blocks at any size.
template <Scalar T>
struct LongProduct : OperatorMembers<LongProduct<T>, T> {
  using value_type = T;

  explicit LongProduct(Toeplitz<T> m)
      : matrix(std::make_shared<const Toeplitz<T>>(std::move(m))),
        symbol(std::make_shared<const toeplitz::BlockSymbol<T>>(matrix->view(), exec::cpu{}, 1)) {}

  index_t batch() const { return matrix->batch(); }
  index_t rows() const { return matrix->rows(); }
  index_t cols() const { return matrix->cols(); }
  const LongProduct& view() const { return *this; }
  Array<T, 3> to_dense() const { return matrix->to_dense(); }

  std::shared_ptr<const Toeplitz<T>> matrix;
  std::shared_ptr<const toeplitz::BlockSymbol<T>> symbol;
};

template <Scalar T>
void apply(const exec::cpu& e, const LongProduct<T>& m, Op op, View<const T, 3> x, View<T, 3> y) {
  m.symbol->apply(e, op, x.broadcast(0, y.extent(0)), y);
}

template <Scalar T>
AbsoluteDense<T> absolute(const LongProduct<T>& m) {
  return {absolute_values(m.to_dense())};
}

template <Scalar T>
LongProduct<T> random_long(index_t m, index_t n, index_t batch, Random& random) {
  return LongProduct<T>(random_toeplitz<T>(m, n, batch, random));
}

}  // namespace

TEMPLATE_TEST_CASE("long blocks match the entries", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t n : {1, 2, 7, 16, 97, 128, 130, 257}) {
    if (n > 130 && !std::same_as<T, double>) continue;
    check_products(random_long<T>(n, n, 1 + n % 2, random), normwise<T>(n), n < 100 ? 3 : 1,
                   random);
  }
}

TEMPLATE_TEST_CASE("rows and columns of long blocks", "", float, std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const auto& [m, n] : std::initializer_list<std::array<index_t, 2>>{
           {1, 200}, {200, 1}, {300, 40}, {40, 300}, {150, 140}, {33, 65}})
    check_products(random_long<T>(m, n, 2, random), normwise<T>(m + n), 2, random);
}

TEMPLATE_TEST_CASE("long blocks take any stride and any number of threads", "", double,
                   std::complex<float>) {
  using T = TestType;
  Random random(3);
  for (const auto& [m, n] :
       std::initializer_list<std::array<index_t, 2>>{{129, 77}, {140, 140}, {40, 300}, {500, 90}}) {
    const auto plan = random_long<T>(m, n, 2, random);
    for (const index_t k : {1, 3}) check_strides(plan, k, random);
  }
  // Columns at the same time, and one column by several threads.
  for (const index_t k : {1, 5}) check_threads(random_long<T>(9000, 9000, 1, random), k, random);
}

TEST_CASE("long blocks: what is not finite, and the ends of the range") {
  using T = double;
  Random random(4);
  const index_t n = 1000, bad = 400;
  auto t = random_toeplitz<T>(n, n, 1, random);
  auto x = random.array<T, 1>({n});
  const auto expected = LongProduct<T>(t) * x;
  auto big = t;
  for (T& c : big.lags) c *= 0x1p1000;
  auto small = x;
  for (T& c : small) c *= 0x1p-1000;
  CHECK(same_bits(LongProduct<T>(big) * small, expected));
  t.lags(0, n - 1 + bad) = INFINITY;
  const auto y = LongProduct<T>(t) * x;
  for (index_t i = 0; i < n; ++i) CHECK(std::isfinite(y(i)) == (i < bad));
}

TEST_CASE("plans of long matrices take long blocks") {
  using T = std::complex<float>;
  Random random(5);
  const index_t n = 70000;
  const auto t = random_toeplitz<T>(n, n, 1, random);
  const auto x = random.array<T, 1>({n});
  const ToeplitzPlan<T> plan(t.view());
  CHECK(plan.block_length() == toeplitz::four_step_length(n));
  for (const Op op : all_ops) {
    auto y = poisoned<T, 1>({n}), once = poisoned<T, 1>({n});
    apply_op(exec::cpu{}, plan, op, x, y);
    apply_op(exec::cpu{}, t, op, x, once);
    CHECK(same_bits(y, once));
    for (const index_t i : {index_t{0}, n / 3, n - 1}) {
      std::complex<double> sum = 0;
      for (index_t j = 0; j < n; ++j) {
        const T c = t.lags(0, (op == Op::none ? i - j : j - i) + n - 1);
        sum +=
            std::complex<double>(op == Op::adjoint ? std::conj(c) : c) * std::complex<double>(x(j));
      }
      CHECK(std::abs(std::complex<double>(y(i)) - sum) <=
            8 * std::log2(2.0 * n) * double(epsilon<T>) * 2 * n);
    }
  }
}

}  // namespace structmat::test
