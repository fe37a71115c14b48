// Arrays on the device from the host's side, in every build: with a device the copies are exact,
// without one (or without the CUDA component) the reason is told.
#include <catch2/catch.hpp>

#include "structmat/core/array.hpp"

using namespace structmat;

TEST_CASE("a device array makes the round trip or says why not") {
  Array<double, 2> a({3, 5});
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = 0.1 * static_cast<double>(i);
  try {
    const auto on_device = to_device(a);
    const auto back = to_host(on_device);
    CHECK(back.extents() == a.extents());
    CHECK(std::equal(a.begin(), a.end(), back.begin()));

    const auto zeros = to_host(Array<double, 2, space::cuda>({3, 5}));
    CHECK(std::all_of(zeros.begin(), zeros.end(), [](double x) { return x == 0; }));
  } catch (const NotAvailable& e) {
    const std::string reason = STRUCTMAT_HAVE_CUDA ? "no CUDA device" : "built without CUDA";
    CHECK_THAT(e.what(), Catch::StartsWith("device_allocate: " + reason));
  }
}

TEST_CASE("an empty device array needs no device") {
  const Array<float, 1, space::cuda> none({0});
  CHECK(none.empty());
  CHECK(to_host(none).empty());
}
