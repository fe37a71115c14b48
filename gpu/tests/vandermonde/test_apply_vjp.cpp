// Cotangents on the device against those of the CPU, which are tested by differences.
#include "structmat/vandermonde/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "structmat/vandermonde/exponential_sum.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"
#include "vandermonde/nodes.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T, int Rank>
double largest_difference(const Array<T, Rank>& a, const Array<T, Rank>& b) {
  double worst = a.extents() == b.extents() ? 0 : INFINITY;
  for (index_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a.data()[i] - b.data()[i]);
    worst = difference <= worst ? worst : std::isnan(difference) ? INFINITY : difference;
  }
  return worst;
}

/// Both spaces add to the same numbers; `bars`: batch of the cotangents.
template <class M, class T = typename M::value_type>
void check_reverse(const M& m, index_t nodes, index_t batch, index_t bars, index_t k,
                   Random& random) {
  const auto device = to_device(m);
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? m.cols() : m.rows();
    const index_t out = op == Op::none ? m.rows() : m.cols();
    INFO("op " << int(op) << ", " << m.rows() << " x " << m.cols() << ", bars " << bars);
    const auto x = random.array<T, 3>({batch, in, k}), y_bar = random.array<T, 3>({batch, out, k});
    auto node_bar = random.array<T, 2>({bars, nodes});
    auto x_bar = random.array<T, 3>({bars, in, k});
    auto device_node_bar = to_device(node_bar);
    auto device_x_bar = to_device(x_bar);
    apply_vjp<T>(exec::cpu{}, m.view(), op, x.view(), y_bar.view(), node_bar.view(), x_bar.view());
    Array<std::byte, 1> junk({apply_vjp_workspace_bytes(device.view(), batch, k)});
    std::fill(junk.begin(), junk.end(), std::byte{0xff});
    auto workspace = to_device(junk);
    const auto x_there = to_device(x), y_there = to_device(y_bar);
    apply_vjp<T>(exec::cuda{nullptr, workspace}, device.view(), op, x_there.view(), y_there.view(),
                 device_node_bar.view(), device_x_bar.view());
    const double scale = double(epsilon<T>) * double(m.rows() + m.cols() + batch * k);
    CHECK(largest_difference(to_host(device_x_bar), x_bar) <= scale);
    CHECK(largest_difference(to_host(device_node_bar), node_bar) <=
          scale * double(std::max(m.rows(), m.cols())));
    // Either may be absent, and nothing else is touched.
    const auto before = to_host(device_x_bar);
    apply_vjp<T>(exec::cuda{nullptr, workspace}, device.view(), op, x_there.view(), y_there.view(),
                 device_node_bar.view(), {});
    CHECK(same_bits(to_host(device_x_bar), before));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("cotangents of vandermonde products on the device", "[vandermonde_apply_vjp]",
                   float, double, std::complex<float>, std::complex<double>) {
  Random random(1);
  for (const index_t n : {0, 1, 2, 9}) {
    check_reverse(random_vandermonde<TestType>(6, n, 2, 3), 6, 2, 2, 2, random);
  }
  check_reverse(random_vandermonde<TestType>(5, 7, 1, 3), 5, 3, 1, 2, random);
}

TEMPLATE_TEST_CASE("cotangents of exponential sums on the device", "[vandermonde_apply_vjp]", float,
                   double, std::complex<float>, std::complex<double>) {
  Random random(2);
  for (const index_t lags : {0, 1, 13, 90}) {
    check_reverse(random_exponentials<TestType>(lags, 5, 2, 4), 5, 2, 2, 2, random);
  }
  check_reverse(random_exponentials<TestType>(20, 5, 1, 4), 5, 40, 1, 1, random);
}

TEMPLATE_TEST_CASE("cotangents of real sums on the device", "[vandermonde_apply_vjp]",
                   std::complex<float>, std::complex<double>) {
  using C = TestType;
  using R = real_t<C>;
  Random random(3);
  for (const auto& [lags, batch, bars] :
       {std::tuple<index_t, index_t, index_t>{100, 2, 2}, {17000, 1, 1}, {5, 3, 1}}) {
    const index_t poles = 7, k = 2;
    auto e = random_exponentials<C>(lags, poles, bars, 5);
    for (C& a : e.a) a = C(a.real() * R(20) / R(lags), a.imag());
    const auto c = random.array<C, 3>({batch, poles, k});
    const auto y_bar = random.array<R, 3>({batch, lags, k});
    auto a_bar = random.array<C, 2>({bars, poles});
    auto c_bar = random.array<C, 3>({bars, poles, k});
    auto device_a_bar = to_device(a_bar);
    auto device_c_bar = to_device(c_bar);
    // The CPU in double.
    LogVandermonde<std::complex<double>> exact(lags, poles, bars);
    const auto widen = [](const auto& from, auto& to) {
      std::copy(from.begin(), from.end(), to.begin());
    };
    Array<std::complex<double>, 3> c_exact(c.extents()), c_bar_exact(c_bar.extents());
    Array<std::complex<double>, 2> a_bar_exact(a_bar.extents());
    Array<double, 3> y_bar_exact(y_bar.extents());
    widen(e.a, exact.a), widen(c, c_exact), widen(c_bar, c_bar_exact), widen(a_bar, a_bar_exact);
    widen(y_bar, y_bar_exact);
    real_exponential_sum_vjp<std::complex<double>>(exec::cpu{}, exact.view(), c_exact.view(),
                                                   y_bar_exact.view(), a_bar_exact.view(),
                                                   c_bar_exact.view());
    const auto device = to_device(e);
    Array<std::byte, 1, space::cuda> workspace(
        {real_exponential_sum_vjp_workspace_bytes(device.view(), batch, k)});
    const auto c_there = to_device(c);
    const auto y_there = to_device(y_bar);
    real_exponential_sum_vjp<C>(exec::cuda{nullptr, workspace}, device.view(), c_there.view(),
                                y_there.view(), device_a_bar.view(), device_c_bar.view());
    const auto c_got = to_host(device_c_bar);
    const auto a_got = to_host(device_a_bar);
    const double scale = 4 * double(epsilon<R>) * double(lags * batch);
    for (index_t i = 0; i < c_got.size(); ++i) {
      CHECK(std::abs(std::complex<double>(c_got.data()[i]) - c_bar_exact.data()[i]) <= scale);
    }
    for (index_t i = 0; i < a_got.size(); ++i) {
      CHECK(std::abs(std::complex<double>(a_got.data()[i]) - a_bar_exact.data()[i]) <=
            scale * double(lags));
    }
  }
}

TEST_CASE("reverse mode on the device refuses what does not fit", "[vandermonde_apply_vjp]") {
  const auto v = to_device(random_vandermonde<double>(5, 4, 1, 8));
  const Array<double, 3, space::cuda> x({1, 4, 2}), y_bar({1, 5, 2});
  Array<double, 2, space::cuda> nodes({1, 4}), right({1, 5});
  CHECK(message_from<ShapeError>([&] {
          apply_vjp<double>(exec::cuda{}, v.view(), Op::none, x.view(), y_bar.view(), nodes.view(),
                            {});
        }) == "vandermonde::apply_vjp: node_bar has extent 4, expected 5");
  CHECK_THROWS_AS(
      apply_vjp<double>(exec::cuda{}, v.view(), Op::none, x.view(), y_bar.view(), right.view(), {}),
      DomainError);
}
