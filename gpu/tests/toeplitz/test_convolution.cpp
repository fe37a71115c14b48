// Convolutions on the device, and their gradients: those of the host.
#include "structmat/toeplitz/convolution.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/gradient.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

struct Extents {
  std::array<index_t, 3> forward, backward;
};

template <class T>
using Device = View<T, 3, space::cuda>;

/// What the calls on the device need, filled with NaN.
Array<std::byte, 1, space::cuda> filled(index_t bytes) {
  Array<std::byte, 1> junk({bytes});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  return to_device(junk);
}

template <Scalar T>
void convolve_there(void* stream, const Device<const T>& f, const Device<const T>& b,
                    const Device<const T>& x, const Device<T>& y,
                    const View<std::byte, 1, space::cuda>& workspace) {
  if (b.data())
    toeplitz::convolve(exec::cuda{stream, workspace}, f, b, x, y);
  else
    toeplitz::convolve(exec::cuda{stream, workspace}, f, x, y);
}

template <Scalar T>
Array<T, 3> on_host(const Array<T, 3>& f, const Array<T, 3>& b, const Array<T, 3>& x) {
  Array<T, 3> y(x.extents());
  toeplitz::convolve(exec::cpu{}, f.view(), b.view(), x.view(), y.view());
  return y;
}

template <Scalar T>
Array<T, 3> on_device(const Array<T, 3>& f, const Array<T, 3>& b, const Array<T, 3>& x) {
  const auto fd = to_device(f), bd = to_device(b), xd = to_device(x);
  auto yd = to_device(poisoned<T, 3>(x.extents()));
  auto w = filled(toeplitz::convolve_workspace_bytes<T>(fd.view(), bd.view(), xd.view()));
  convolve_there<T>(nullptr, fd.view(), bd.view(), xd.view(), yd.view(), w.view());
  return to_host(yd);
}

/// The largest difference, in units of eps log2(L) times what normwise bounds grow with.
template <Scalar T>
double error_of(const Array<T, 3>& got, const Array<T, 3>& expected, double scale) {
  REQUIRE(got.extents() == expected.extents());
  double worst = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got.data()[i] - expected.data()[i]);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst / (epsilon<T> * scale);
}

std::vector<Extents> kernels(index_t length) {
  return {{{1, 3, length}, {0, 0, 0}}, {{1, 3, length}, {1, 3, length}},
          {{1, 1, 5}, {1, 3, 130}},    {{2, 3, length}, {1, 1, length}},
          {{2, 1, 130}, {2, 1, 1}},    {{1, 1, length}, {0, 0, 0}}};
}

}  // namespace

TEMPLATE_TEST_CASE("convolutions on a device are those of the host", "[toeplitz_convolution]",
                   float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t length : {0, 1, 2, 17, 100, 257}) {
    for (const Extents& s : kernels(length)) {
      if (length == 257 && s.backward[1] == 0) continue;
      INFO("length " << length << ", " << s.forward[0] << " x " << s.forward[1]);
      const auto f = random.array<T, 3>(s.forward), b = random.array<T, 3>(s.backward);
      const auto x = random.array<T, 3>({2, 3, length});
      CHECK(error_of(on_device(f, b, x), on_host(f, b, x), double(length + 1)) <= 16);
    }
  }
}

TEST_CASE("long sequences on a device: an impulse gives the kernel", "[toeplitz_convolution]") {
  // One launch up to 8192, then two levels.
  Random random(2);
  for (const index_t length : {index_t{8192}, quick() ? index_t{8193} : index_t{300000}}) {
    const auto f = random.array<float, 3>({1, 2, length}),
               b = random.array<float, 3>({1, 2, length});
    Array<float, 3> x({1, 2, length});
    x(0, 0, 0) = 1;
    x(0, 1, length - 1) = 1;
    const auto y = on_device(f, b, x);
    double worst = 0;
    for (index_t i = 0; i < length; ++i) {
      worst = std::max<double>(worst, std::abs(y(0, 0, i) - f(0, 0, i)));
      worst = std::max<double>(
          worst, std::abs(y(0, 1, i) - (i == length - 1 ? f(0, 1, 0) : b(0, 1, length - 1 - i))));
    }
    CHECK(worst <= 1e-6 * std::sqrt(double(length)));
  }
}

TEMPLATE_TEST_CASE("gradients of convolutions on a device are those of the host",
                   "[toeplitz_convolution]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const index_t length : {1, 6, 70}) {
    for (const Extents& s : kernels(length)) {
      INFO("length " << length << ", " << s.forward[0] << " x " << s.forward[1]);
      const auto f = random.array<T, 3>(s.forward), b = random.array<T, 3>(s.backward),
                 x = random.array<T, 3>({2, 3, length}), y_bar = random.array<T, 3>(x.extents());
      auto f_bar = random.array<T, 3>(s.forward), b_bar = random.array<T, 3>(s.backward),
           x_bar = random.array<T, 3>(x.extents());
      const auto fd = to_device(f), bd = to_device(b), xd = to_device(x), yd = to_device(y_bar);
      auto w = filled(toeplitz::convolve_vjp_workspace_bytes<T>(fd.view(), bd.view(), xd.view()));
      const auto run = [&](bool kernel, bool sequence) {
        auto f_there = to_device(f_bar), b_there = to_device(b_bar), x_there = to_device(x_bar);
        toeplitz::convolve_vjp(exec::cuda{nullptr, w}, fd.view(), bd.view(), xd.view(), yd.view(),
                               kernel ? f_there.view() : Device<T>{},
                               kernel ? b_there.view() : Device<T>{},
                               sequence ? x_there.view() : Device<T>{});
        return std::array{to_host(f_there), to_host(b_there), to_host(x_there)};
      };
      const auto all = run(true, true), kernels_only = run(true, false), x_only = run(false, true);
      for (const int i : {0, 1}) {
        CHECK(same_bits(all[i], kernels_only[i]));
        CHECK(same_bits(x_only[i], i == 0 ? f_bar : b_bar));
      }
      CHECK(same_bits(all[2], x_only[2]));
      CHECK(same_bits(kernels_only[2], x_bar));
      toeplitz::convolve_vjp(exec::cpu{}, f.view(), b.view(), x.view(), y_bar.view(), f_bar.view(),
                             b_bar.view(), x_bar.view());
      const double scale = 6 * double(length + 1);
      CHECK(error_of(all[0], f_bar, scale) <= 16);
      CHECK(error_of(all[1], b_bar, scale) <= 16);
      CHECK(error_of(all[2], x_bar, scale) <= 16);
    }
  }
}

TEST_CASE("gradients of convolutions on a device against central differences",
          "[toeplitz_convolution]") {
  using T = std::complex<double>;
  Random random(5);
  auto f = random.array<T, 3>({2, 3, 6}), b = random.array<T, 3>({1, 1, 4}),
       x = random.array<T, 3>({2, 3, 6});
  const auto y_bar = random.array<T, 3>(x.extents());
  const auto fd = to_device(f), bd = to_device(b), xd = to_device(x), yd = to_device(y_bar);
  Array<T, 3, space::cuda> f_bar(f.extents()), b_bar(b.extents()), x_bar(x.extents());
  auto w = filled(toeplitz::convolve_vjp_workspace_bytes<T>(fd.view(), bd.view(), xd.view()));
  toeplitz::convolve_vjp(exec::cuda{nullptr, w}, fd.view(), bd.view(), xd.view(), yd.view(),
                         f_bar.view(), b_bar.view(), x_bar.view());
  const auto loss = [&] { return inner(y_bar, on_host(f, b, x)); };
  check_gradient("f", f, to_host(f_bar), loss);
  check_gradient("b", b, to_host(b_bar), loss);
  check_gradient("x", x, to_host(x_bar), loss);
}

TEMPLATE_TEST_CASE("a sequence does not depend on others, on strides, and can be captured",
                   "[toeplitz_convolution]", float, std::complex<double>) {
  using T = TestType;
  Random random(4);
  const index_t length = 40;
  for (const index_t kernel_batch : {1, 2}) {
    const auto f = to_device(random.array<T, 3>({kernel_batch, 3, length})),
               b = to_device(random.array<T, 3>({1, 3, length}));
    const auto host_x = random.array<T, 3>({2, 3, length});
    const auto x = to_device(host_x);
    auto w = filled(toeplitz::convolve_workspace_bytes<T>(f.view(), b.view(), x.view()));
    Array<T, 3, space::cuda> first({2, 3, length}), again({2, 3, length}), alone({1, 1, length});
    convolve_there<T>(nullptr, f.view(), b.view(), x.view(), first.view(), w.view());
    // The graph shares the workspace, and runs on a stream that does not wait.
    device_synchronize();
    replay([&](void* stream) {
      convolve_there<T>(stream, f.view(), b.view(), x.view(), again.view(), w.view());
    });
    const auto expected = to_host(first);
    CHECK(same_bits(to_host(again), expected));
    const auto one = [&](const auto& v, index_t batch) {
      return std::as_const(v).view().slice(0, batch, batch + 1).slice(1, 2, 3);
    };
    convolve_there<T>(nullptr, one(f, kernel_batch - 1), one(b, 0), one(x, 1), alone.view(),
                      w.view());
    const auto row = to_host(alone);
    CHECK(std::equal(row.begin(), row.end(), expected.data() + 5 * length));

    // (batch, L, channels) in memory: batch and channels are not evenly spaced.
    Array<T, 3> in({2, length, 3});
    copy(host_x.view(), in.view().transposed());
    const auto there = to_device(in);
    Array<T, 3, space::cuda> out({2, length, 3});
    convolve_there<T>(nullptr, f.view(), b.view(), there.view().transposed(),
                      out.view().transposed(), w.view());
    const auto back = to_host(out);
    CHECK(same_bits(to_array(back.view().transposed()), expected));
  }
}

TEST_CASE("what does not fit is refused on a device", "[toeplitz_convolution]") {
  const Array<double, 3, space::cuda> f({1, 3, 20}), x({2, 3, 20});
  Array<double, 3, space::cuda> y({2, 3, 20});
  const auto run = [&](const Device<const double>& in, const Device<double>& out) {
    toeplitz::convolve(exec::cuda{}, f.view(), in, out);
  };
  CHECK(message_from<ShapeError>([&] { run(x.view().slice(1, 0, 2), y.view()); }) ==
        "toeplitz::convolve: the forward kernel has extent 3 in dimension 1, the sequences have 2");
  CHECK(message_from<ShapeError>([&] { run(x.view(), y.view().slice(2, 0, 19)); }) ==
        "toeplitz::convolve: y has extent 19 in dimension 2, x has 20");
  CHECK_THROWS_AS(run(y.view(), y.view()), DomainError);
  CHECK(message_from<DomainError>([&] {
          run(x.view(), y.view());
        }).rfind("toeplitz::convolve: the workspace has 0 bytes, ") == 0);
  CHECK_THROWS_AS(run(x.view(), Device<double>(y.data(), {2, 3, 20}, {60, 0, 1})), Unsupported);
}
