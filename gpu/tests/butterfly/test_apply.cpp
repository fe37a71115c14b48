// Products with butterfly and Monarch matrices on the device, and their gradients.
#include "structmat/butterfly/apply.hpp"

#include <catch2/catch.hpp>

#include "structmat/butterfly/apply_vjp.hpp"
#include "support/butterfly.hpp"
#include "support/gpu.hpp"
#include "support/vjp_on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

const auto butterfly_arrays = [](const auto& m) { return std::vector{elements(m.factors)}; };
const auto monarch_arrays = [](const auto& m) {
  return std::vector{elements(m.w1), elements(m.w2)};
};

}  // namespace

TEMPLATE_TEST_CASE("butterflies on a device match the entries", "[butterfly_apply]", float, double,
                   std::complex<float>, std::complex<double>) {
  Random random(1);
  index_t batch = 1;
  constexpr std::pair<index_t, index_t> sizes[] = {{0, 0}, {1, 1}, {1, 2},
                                                   {3, 2}, {7, 8}, {33, 20}};
  for (const auto& [m, n] : sizes) {
    for (const index_t stages : {0, 1, 2}) {
      for (const index_t k : {0, 1, 5}) {
        const auto first = k == 1 ? Strides::increasing : Strides::decreasing;
        const auto a = random_butterfly<TestType>(m, n, stages, first, batch, random);
        check_products(on_device(a), 4 * stages * 6, k, random);
        batch = batch % 3 + 1;
      }
    }
  }
}

TEMPLATE_TEST_CASE("butterflies and Monarch matrices on a device take any stride",
                   "[butterfly_apply]", double, std::complex<float>) {
  Random random(2);
  const auto a = random_butterfly<TestType>(9, 6, 2, Strides::increasing, 2, random);
  const auto b = random_monarch<TestType>({{2, 3, 4}, {3, 5, 2}}, 2, random);
  for (const index_t k : {1, 3}) {
    check_strides(on_device(a), k, random);
    check_strides(on_device(b), k, random);
  }
  check_linearity(on_device(a), 48, random);
  check_linearity(on_device(b), 8, random);
  check_errors(on_device(a), "butterfly");
  check_errors(on_device(b), "monarch");
}

// Too long for shared memory: registers, four factors a launch.
TEMPLATE_TEST_CASE("long butterflies on a device are those of the host", "[butterfly_apply]",
                   double, std::complex<float>) {
  using T = TestType;
  Random random(3);
  for (const Strides first : {Strides::increasing, Strides::decreasing}) {
    const auto m = random_butterfly<T>(9000, 16001, 2, first, 1, random);
    const auto device = on_device(m);
    for (const Op op : all_ops) {
      const auto x = random.array<T, 3>({2, op == Op::none ? 16001 : 9000, 2});
      Array<T, 3> expected({2, op == Op::none ? 9000 : 16001, 2});
      auto y = poisoned<T, 3>(expected.extents());
      apply_op(exec::cpu{}, m, op, x, expected);
      apply_op(exec::cpu{}, device, op, x, y);
      double worst = 0, largest = 0;
      for (index_t i = 0; i < y.size(); ++i) {
        worst = std::max<double>(worst, std::abs(y.data()[i] - expected.data()[i]));
        largest = std::max<double>(largest, std::abs(expected.data()[i]));
      }
      CHECK(worst <= 4 * 30 * epsilon<T> * largest);
      CHECK(largest > 0);
    }
  }
}

TEMPLATE_TEST_CASE("Monarch matrices on a device match the entries", "[butterfly_apply]", float,
                   double, std::complex<float>, std::complex<double>) {
  Random random(4);
  index_t batch = 1;
  for (const auto& shape : monarch_shapes) {
    for (const index_t k : {0, 1, 5}) {
      const auto a = random_monarch<TestType>(shape, batch, random);
      check_products(on_device(a), 16, k, random);
      batch = batch % 3 + 1;
    }
  }
}

TEMPLATE_TEST_CASE("gradients of butterflies on a device are those of the host",
                   "[butterfly_apply]", float, std::complex<double>) {
  using T = TestType;
  Random random(5);
  for (const index_t matrices : {1, 3}) {
    for (const index_t bars : {index_t{1}, matrices}) {
      const auto a = random_butterfly<T>(13, 16, 2, Strides::decreasing, matrices, random);
      const auto bar = random_butterfly<T>(13, 16, 2, Strides::decreasing, bars, random);
      const auto b = random_monarch<T>({{2, 3, 4}, {3, 5, 2}}, matrices, random);
      const auto b_bar = random_monarch<T>({{2, 3, 4}, {3, 5, 2}}, bars, random);
      for (const index_t k : {1, 3, 40}) {
        const double tolerance = 1e3 * double(k) * epsilon<T>;
        check_vjp_on_device<ButterflyCotangent>(a, bar, 3, bars, k, tolerance, random,
                                                butterfly_arrays);
        check_vjp_on_device<MonarchCotangent>(b, b_bar, 3, bars, k, tolerance, random,
                                              monarch_arrays);
      }
    }
  }
}

TEST_CASE("butterflies and Monarch matrices can be captured", "[butterfly_apply]") {
  Random random(6);
  const auto check = [&](const auto& m) {
    using T = double;
    const auto device = to_device(m);
    const auto x = to_device(random.array<T, 3>({1, m.cols(), 2}));
    Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(device.view(), 2)});
    Array<T, 3, space::cuda> direct({1, m.rows(), 2}), replayed({1, m.rows(), 2});
    apply(exec::cuda{nullptr, workspace}, device, x, direct);
    device_synchronize();
    replay([&](void* stream) { apply(exec::cuda{stream, workspace}, device, x, replayed); });
    CHECK(same_bits(to_host(direct), to_host(replayed)));
  };
  check(random_butterfly<double>(100, 128, 2, Strides::increasing, 1, random));
  check(random_butterfly<double>(20000, 128, 1, Strides::increasing, 1, random));
  check(random_monarch<double>({{11, 11, 11}, {11, 11, 11}}, 1, random));
}
