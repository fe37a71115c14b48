// SSD and the quasiseparable mixer captured in CUDA graphs.
#include "support/fixed_shape.hpp"

#include "mixer_case.hpp"
#include "structmat/nn/ssd.hpp"

using namespace structmat;
using structmat::test::MixerCase;

namespace {

using Cuda = space::cuda;

}  // namespace

TEMPLATE_TEST_CASE("the mixer has a fixed shape", "[nn_fixed_shape]", float, bf16) {
  for (const bool packed : {false, true}) {
    test::MixerShape s{1, 100, 2, 1, 16, 16};
    if (packed) s.starts = {0, 70, 100};
    const MixerCase<TestType> k(s);
    const auto m = k.device.matrix(s);
    const View<const TestType, 4, Cuda> x = k.device.x;
    Array<TestType, 4, Cuda> y(x.extents());
    test::check_fixed_shape(
        "nn/quasiseparable_mixer.hpp apply QuasiseparableMixer", apply_workspace_bytes(m, x),
        [&](const exec::cuda& e) { apply(e, m, x, y.view()); }, y);
  }
}

TEMPLATE_TEST_CASE("SSD has a fixed shape", "[nn_fixed_shape]", float, bf16) {
  // One token is a step; 4200 are cut into segments.
  for (const index_t length : {1, 100, 4200}) {
    if (test::once() && length > 100) continue;
    const MixerCase<TestType> k({2, length, 2, 1, 8, 16});
    const auto& device = k.device;
    nn::SsdView<TestType, Cuda> m{device.dt[0], device.a, device.b[0], device.c[0], device.d};
    const nn::SsdInput<TestType, Cuda> in{device.x, device.y_bar, device.initial[0]};
    Array<TestType, 4, Cuda> y(device.x.extents());
    Array<float, 4, Cuda> last(device.initial[0].extents());
    test::check_fixed_shape(
        "nn/ssd.hpp apply Ssd", apply_workspace_bytes(m, in),
        [&](const exec::cuda& e) {
          apply(e, m, in, nn::SsdOutput<TestType, Cuda>{y, last});
        },
        y, last);
  }
}
