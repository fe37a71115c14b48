// Device memory: copies there and back, zeroes, failures that leave nothing behind.
#include "structmat/core/device.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "structmat/core/array.hpp"
#include "structmat/core/error.hpp"

using namespace structmat;

TEST_CASE("device memory holds what was sent", "[core_device]") {
  Array<double, 2> a({31, 33});
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = 1.0 / static_cast<double>(i + 1);
  const auto there = to_device(a);
  const auto back = to_host(there);
  CHECK(back.extents() == a.extents());
  CHECK(std::equal(back.begin(), back.end(), a.begin()));
  const Array<float, 1, space::cuda> zeroes({100});
  for (const float v : to_host(zeroes)) CHECK(v == 0);
  CHECK(to_host(to_device(Array<float, 3>({0, 2, 3}))).empty());
}

TEST_CASE("devices have names", "[core_device]") {
  CHECK_FALSE(device_name(0).empty());
  CHECK_THROWS_AS(device_name(device_count()), NotAvailable);
  CHECK_THROWS_AS(device_name(-1), NotAvailable);
}

TEST_CASE("an allocation that fails throws and leaves no error behind", "[core_device]") {
  CHECK_THROWS_AS((Array<std::byte, 1, space::cuda>({index_t{1} << 60})), BackendError);
  CHECK_NOTHROW(device_synchronize());
  CHECK(to_host(Array<float, 1, space::cuda>({3})).size() == 3);
}

TEST_CASE("the bandwidth of a copy is a number of bytes a second", "[core_device]") {
  const double bandwidth = device_copy_bandwidth();
  CHECK(std::isfinite(bandwidth));
  CHECK(bandwidth > 0);
}
