// Products with matrices of low rank on the device, and their gradients.
#include "structmat/lowrank/apply.hpp"

#include <catch2/catch.hpp>

#include "structmat/lowrank/apply_vjp.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/low_rank.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

struct Shape {
  index_t m, n, r;
};
constexpr Shape shapes[] = {{0, 0, 0}, {1, 1, 1}, {1, 5, 2},  {5, 1, 0},    {3, 0, 2},
                            {0, 4, 1}, {2, 3, 5}, {16, 7, 3}, {127, 31, 8}, {64, 1029, 13}};

}  // namespace

TEMPLATE_TEST_CASE("low rank on a device matches the entries", "[lowrank_apply]", float, double,
                   std::complex<float>, std::complex<double>) {
  Random random(1);
  index_t batch = 1;
  for (const auto& [m, n, r] : shapes) {
    for (const index_t k : {0, 1, 5}) {
      const auto a = random_low_rank<TestType>(m, n, r, batch, random);
      check_products(on_device(a), r, k, random);
      batch = batch % 3 + 1;
    }
  }
  check_products(on_device(random_low_rank<TestType>(40, 50, 33, 2, random)), 33, 35, random);
}

TEMPLATE_TEST_CASE("low rank on a device is linear and takes any stride", "[lowrank_apply]", double,
                   std::complex<float>) {
  Random random(2);
  const auto a = random_low_rank<TestType>(9, 6, 3, 2, random);
  check_linearity(on_device(a), 3, random);
  for (const index_t k : {1, 3}) check_strides(on_device(a), k, random);
  check_errors(on_device(a), "lowrank");
}

TEST_CASE("a sample does not depend on its batch, and can be captured", "[lowrank_apply]") {
  Random random(3);
  const auto m = random_low_rank<float>(70, 3000, 5, 3, random);
  const auto x = random.array<float, 3>({3, 3000, 2});
  const auto all = to_device(m);
  const auto xd = to_device(x);
  const auto run = [&](const LowRankView<float, space::cuda>& view,
                       const View<const float, 3, space::cuda>& in, auto&& how) {
    Array<float, 3, space::cuda> y({in.extent(0), 70, 2});
    Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(view, 2, in.extent(0))});
    how([&](void* stream) { apply(exec::cuda{stream, workspace}, view, Op::none, in, y.view()); });
    return to_host(y);
  };
  const auto directly = [](const auto& call) { call(nullptr); };
  const auto together = run(all.view(), xd.view(), directly);
  for (index_t b = 0; b < 3; ++b) {
    const LowRankView<float, space::cuda> one{all.u.view().slice(0, b, b + 1),
                                              all.v.view().slice(0, b, b + 1)};
    const auto alone = run(one, xd.view().slice(0, b, b + 1), directly);
    CHECK(std::equal(alone.begin(), alone.end(), together.data() + b * 140));
  }
  CHECK(same_bits(run(all.view(), xd.view(), replay), together));
  // One matrix, three right-hand sides.
  const LowRankView<float, space::cuda> one{all.u.view().slice(0, 1, 2),
                                            all.v.view().slice(0, 1, 2)};
  const auto broadcast = run(one, xd.view(), directly);
  CHECK(std::equal(broadcast.data() + 140, broadcast.data() + 280, together.data() + 140));
}

TEST_CASE("a workspace that is too small", "[lowrank_apply]") {
  Random random(4);
  const auto m = to_device(random_low_rank<double>(7, 5, 2, 1, random));
  Array<double, 3, space::cuda> x({1, 5, 1}), y({1, 7, 1});
  Array<std::byte, 1, space::cuda> workspace({255});
  CHECK(message_from<DomainError>([&] {
          apply(exec::cuda{nullptr, workspace}, m, x, y);
        }) == "lowrank::apply: the workspace has 255 bytes, 256 are needed");
}

TEMPLATE_TEST_CASE("gradients of low rank on a device are those of the host", "[lowrank_apply]",
                   float, std::complex<double>) {
  using T = TestType;
  Random random(5);
  for (const index_t matrices : {1, 3}) {
    for (const index_t bars : {index_t{1}, matrices}) {
      for (const Op op : all_ops) {
        const auto m = random_low_rank<T>(13, 700, 4, matrices, random);
        const index_t in = op == Op::none ? 700 : 13, out = op == Op::none ? 13 : 700;
        const auto x = random.array<T, 3>({3, in, 2}), y_bar = random.array<T, 3>({3, out, 2});
        auto m_bar = random_low_rank<T>(13, 700, 4, bars, random);
        auto x_bar = random.array<T, 3>({bars, in, 2});
        auto md_bar = to_device(m_bar);
        auto xd_bar = to_device(x_bar);
        apply_vjp(exec::cpu{}, m.view(), op, x.view(), y_bar.view(), LowRankCotangent<T>(m_bar),
                  x_bar.view());

        const auto md = to_device(m);
        const auto xd = to_device(x), yd = to_device(y_bar);
        Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(md.view(), 2, 3)});
        apply_vjp(exec::cuda{nullptr, workspace}, md.view(), op, xd.view(), yd.view(),
                  LowRankCotangent<T, space::cuda>(md_bar), xd_bar.view());
        const auto close = [](const auto& host, const auto& device) {
          double worst = 0;
          for (index_t i = 0; i < host.size(); ++i)
            worst = std::max<double>(worst, std::abs(host.data()[i] - device.data()[i]));
          CHECK(worst <= 700 * 16 * epsilon<T>);
        };
        close(m_bar.u, to_host(md_bar.u));
        close(m_bar.v, to_host(md_bar.v));
        close(x_bar, to_host(xd_bar));
      }
    }
  }
}
