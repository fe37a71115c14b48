// Gradients of products on a device: those of the host, and central differences once.
#include "structmat/toeplitz/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/gradient.hpp"
#include "support/on_device.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

constexpr toeplitz::PlanOptions by_transforms{.method = toeplitz::Method::fourier};

/// ||a - b|| <= tolerance ||a||, elements all finite.
template <class T, int Rank>
void check_close(const Array<T, Rank>& a, const Array<T, Rank>& b, double tolerance) {
  double difference = 0, size = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    difference += std::norm(std::complex<double>(a.data()[i]) - std::complex<double>(b.data()[i]));
    size += std::norm(std::complex<double>(a.data()[i]));
  }
  CHECK(difference <= tolerance * tolerance * size);
}

/// The cotangents of m from the host and from `device`, a view or a plan of the same matrix. bars: the
/// batch of the cotangents.
template <class M, class Device, class Numbers>
void compare(const M& m, const Device& device, const Numbers& numbers, index_t batch, index_t bars,
             index_t k, Random& random) {
  using T = typename M::value_type;
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? m.cols() : m.rows();
    const index_t out = op == Op::none ? m.rows() : m.cols();
    INFO("op " << int(op) << ", " << m.rows() << " x " << m.cols() << ", batch " << m.batch()
               << " and " << batch << ", bars " << bars << ", k " << k);
    const auto x = random.array<T, 3>({batch, in, k}), y_bar = random.array<T, 3>({batch, out, k});
    // To be added to.
    auto m_bar = random.array<T, 2>({bars, numbers.extent(1)});
    auto x_bar = random.array<T, 3>({bars, in, k});
    const auto xd = to_device(x), yd = to_device(y_bar);
    auto md_bar = to_device(m_bar);
    auto xd_bar = to_device(x_bar);
    apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(), m_bar.view(), x_bar.view());
    Array<std::byte, 1, space::cuda> workspace;
    if constexpr (requires { apply_vjp_workspace_bytes(device, k, batch); })
      workspace = Array<std::byte, 1, space::cuda>({apply_vjp_workspace_bytes(device, k, batch)});
    apply_vjp(exec::cuda{nullptr, workspace}, device, op, xd.view(), yd.view(), md_bar.view(),
              xd_bar.view());
    const double tolerance = 100 * static_cast<double>(epsilon<T>);
    check_close(m_bar, to_host(md_bar), tolerance);
    check_close(x_bar, to_host(xd_bar), tolerance);
  }
}

template <class T>
auto plan_of(const Toeplitz<T>& m) {
  return ToeplitzPlan<T, space::cuda>(exec::cuda{}, to_device(m).view(), by_transforms);
}
template <class T>
auto plan_of(const Hankel<T>& m) {
  return ToeplitzPlan<T, space::cuda>(exec::cuda{}, to_device(m).view(), by_transforms);
}

}  // namespace

TEMPLATE_TEST_CASE("gradients by sums are those of the host", "[toeplitz_apply_vjp]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t matrices : {1, 3}) {
    for (const index_t bars : {1, 3}) {
      for (const auto& [m, n] :
           std::initializer_list<std::array<index_t, 2>>{{1, 1}, {7, 5}, {1, 150}, {140, 90}}) {
        const auto t = random_toeplitz<T>(m, n, matrices, random);
        const auto h = random_hankel<T>(m, n, matrices, random);
        compare(t, to_device(t).view(), t.lags, 3, bars, 2, random);
        compare(h, to_device(h).view(), h.anti_diagonals, 3, bars, 1, random);
      }
      for (const index_t n : {1, 6, 131}) {
        const auto c = random_circulant<T>(n, matrices, random);
        const auto s = random_skew_circulant<T>(n, matrices, random);
        compare(c, to_device(c).view(), c.column, 3, bars, 2, random);
        compare(s, to_device(s).view(), s.column, 3, bars, 1, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("gradients by transforms are those of the host", "[toeplitz_apply_vjp]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(2);
  for (const index_t matrices : {1, 3}) {
    for (const index_t bars : {1, 3}) {
      for (const auto& [m, n] :
           std::initializer_list<std::array<index_t, 2>>{{1, 1}, {7, 5}, {200, 300}}) {
        const auto t = random_toeplitz<T>(m, n, matrices, random);
        const auto h = random_hankel<T>(m, n, matrices, random);
        compare(t, plan_of(t), t.lags, 3, bars, 6, random);
        compare(h, plan_of(h), h.anti_diagonals, 3, bars, 1, random);
      }
    }
  }
  if (quick() && std::same_as<T, std::complex<double>>) return;
  const auto t = random_toeplitz<T>(9000, 8200, 1, random);
  compare(t, plan_of(t), t.lags, 2, 1, 2, random);
  if (!quick()) compare(t, plan_of(t), t.lags, 2, 2, 3, random);
}

TEST_CASE("gradients of lengths that the library transforms", "[toeplitz_apply_vjp]") {
  Random random(3);
  const index_t n = (index_t{1} << 20) + 5;
  Toeplitz<double> t(n, n);
  random.fill(t.lags);
  const auto plan = plan_of(t);
  const index_t k = quick() ? 1 : 2;
  Array<double, 3> x({1, n, k}), y_bar({1, n, k});
  // Few numbers, for a correlation that is known: x has ones at 3 and n - 1, y_bar twos at 0 and 10.
  x(0, 3, k - 1) = x(0, n - 1, k - 1) = 1;
  y_bar(0, 0, k - 1) = y_bar(0, 10, k - 1) = 2;
  const auto xd = to_device(x), yd = to_device(y_bar);
  Array<double, 2, space::cuda> bar({1, 2 * n - 1});
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(plan, k)});
  apply_vjp(exec::cuda{nullptr, workspace}, plan, Op::none, xd.view(), yd.view(), bar.view(), {});
  const auto got = to_host(bar);
  double worst = 0;
  for (index_t l = 1 - n; l < n; ++l) {
    const bool hit = l == -3 || l == 7 || l == 1 - n || l == 11 - n;
    worst = std::max(worst, std::abs(got(0, l + n - 1) - (hit ? 2 : 0)));
  }
  CHECK(worst <= 1e-14);
}

TEST_CASE("gradients by transforms against central differences", "[toeplitz_apply_vjp]") {
  using T = std::complex<double>;
  Random random(4);
  auto t = random_toeplitz<T>(9, 12, 1, random);
  auto x = random.array<T, 3>({2, 12, 2});
  const auto y_bar = random.array<T, 3>({2, 9, 2});
  const auto loss = [&] {
    double sum = 0;
    const auto y = t * x;
    for (index_t i = 0; i < y.size(); ++i)
      sum += std::real(conjugate(y_bar.data()[i]) * y.data()[i]);
    return sum;
  };
  Array<T, 2, space::cuda> bar({1, 20});
  Array<T, 3, space::cuda> x_bar({2, 12, 2});
  const auto plan = plan_of(t);
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(plan, 2, 2)});
  const auto xd = to_device(x), yd = to_device(y_bar);
  apply_vjp(exec::cuda{nullptr, workspace}, plan, Op::none, xd.view(), yd.view(), bar.view(),
            x_bar.view());
  check_gradient("lags", t.lags, to_host(bar), loss);
  check_gradient("x", x, to_host(x_bar), loss);
}

TEST_CASE("gradients repeat, do not depend on the batch, and can be captured",
          "[toeplitz_apply_vjp]") {
  Random random(5);
  for (const index_t n : {index_t{200}, index_t{8200}}) {
    const auto t = random_toeplitz<float>(n, n, 1, random);
    const auto plan = plan_of(t);
    const index_t k = 5;
    const auto x = to_device(random.array<float, 3>({3, n, k}));
    const auto y_bar = to_device(random.array<float, 3>({3, n, k}));
    const auto run = [&](index_t begin, index_t end) {
      Array<float, 2, space::cuda> bar({end - begin, 2 * n - 1});
      Array<float, 3, space::cuda> x_bar({end - begin, n, k});
      Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(plan, k, end - begin)});
      apply_vjp(exec::cuda{nullptr, workspace}, plan, Op::none, x.view().slice(0, begin, end),
                y_bar.view().slice(0, begin, end), bar.view(), x_bar.view());
      return to_host(bar);
    };
    const auto all = run(0, 3);
    CHECK(same_bits(all, run(0, 3)));
    const auto one = run(1, 2);
    CHECK(std::equal(one.begin(), one.end(), all.begin() + (2 * n - 1)));

    Array<float, 2, space::cuda> bar({1, 2 * n - 1});
    Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(plan, k, 3)});
    replay([&](void* stream) {
      apply_vjp(exec::cuda{stream, workspace}, plan, Op::transpose, x.view(), y_bar.view(),
                bar.view(), {});
    });
    for (const float v : to_host(bar)) {
      if (!std::isfinite(v)) FAIL("not finite");
    }
  }
}

TEST_CASE("cotangents are checked before anything is written", "[toeplitz_apply_vjp]") {
  const auto t = to_device(Toeplitz<double>(4, 3));
  Array<double, 3, space::cuda> x({1, 3, 2}), y_bar({1, 4, 2}), x_bar({1, 3, 2});
  Array<double, 2, space::cuda> bar({1, 6}), wrong({1, 7});
  const auto run = [&](auto m_bar, auto in_bar) {
    apply_vjp(exec::cuda{}, t.view(), Op::none, View<const double, 3, space::cuda>(x.view()),
              View<const double, 3, space::cuda>(y_bar.view()), View<double, 2, space::cuda>(m_bar),
              View<double, 3, space::cuda>(in_bar));
  };
  CHECK_THROWS_AS(run(wrong.view(), x_bar.view()), ShapeError);
  CHECK_THROWS_AS(run(bar.view(), y_bar.view()), ShapeError);
  CHECK_THROWS_AS(run(bar.view(), x.view()), DomainError);
  const View<double, 2, space::cuda> zero_stride(bar.data(), {1, 6}, {6, 0});
  CHECK_THROWS_AS(run(zero_stride, x_bar.view()), Unsupported);
  const auto plan = plan_of(Toeplitz<double>(4, 3));
  CHECK_THROWS_AS(
      apply_vjp(exec::cuda{}, plan, Op::none, View<const double, 3, space::cuda>(x.view()),
                View<const double, 3, space::cuda>(y_bar.view()), bar.view(), x_bar.view()),
      DomainError);
}
