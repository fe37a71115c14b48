// Vandermonde matrices as Cauchy-like ones on the device: the parts are those of the CPU.
#include "structmat/cauchy/from_vandermonde.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;

TEMPLATE_TEST_CASE("vandermonde matrices as cauchy-like ones on the device",
                   "[cauchy_from_vandermonde]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  using C = std::complex<real_t<T>>;
  Random random(1);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 3}, {3, 0}, {1, 1}, {5, 8}, {300, 7}}) {
    for (const C corner : {C(1), C(0, 1), C(-2)}) {
      Vandermonde<T> v(m, n, 2);
      random.fill(v.x, 0.8);
      const auto expected = cauchy::from_vandermonde(v, corner);
      const auto there = to_device(v);
      const auto got = cauchy::from_vandermonde<T>(exec::cuda{}, there.view(), corner);
      INFO(m << " x " << n << ", corner " << corner);
      const auto check = [&](const auto& device, const auto& host) {
        const auto back = to_host(device);
        REQUIRE(back.extents() == host.extents());
        double worst = 0;
        for (index_t i = 0; i < back.size(); ++i) {
          const double error = std::abs(back.data()[i] - host.data()[i]);
          worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
        }
        CHECK(worst <= 8 * double(n + 1) * double(epsilon<T>));
      };
      if (n == 0) continue;
      check(got.s, expected.s);
      check(got.t, expected.t);
      check(got.g, expected.g);
      check(got.h, expected.h);
    }
  }
}

TEST_CASE("nodes on roots are refused on the device", "[cauchy_from_vandermonde]") {
  const std::vector<double> x{0.5, -1};
  const auto v = to_device(Vandermonde<double>(View<const double, 1>(x), 4));
  CHECK(message_from<DomainError>(
            [&] { cauchy::from_vandermonde<double>(exec::cuda{}, v.view()); }) ==
        "cauchy::from_vandermonde: node 1 of batch entry 0 is a root of z^4 = corner up to "
        "rounding; take another corner");
  CHECK(cauchy::from_vandermonde<double>(exec::cuda{}, v.view(), -1.0).rows() == 2);
  CHECK_THROWS_AS(cauchy::from_vandermonde<double>(exec::cuda{}, v.view(), 0.0), DomainError);
}
