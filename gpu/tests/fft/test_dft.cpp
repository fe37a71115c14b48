// The wrapper of cuFFT against the definition.
#include "fft/dft.cuh"

#include <catch2/catch.hpp>
#include <numbers>

#include "structmat/core/array.hpp"
#include "support/gpu.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T>
using device_t = gpu::device_scalar_t<T>;

/// Device memory with what a host array holds.
template <class T>
device_t<T>* pointer(Array<T, 1, space::cuda>& a) {
  return gpu::device_pointer(a.data());
}

/// y_k = sum_j x_j exp(sign 2 pi i j k / n) for numbers at first + j stride.
template <class T>
std::complex<double> reference(const Array<T, 1>& x, index_t first, index_t stride, index_t n,
                               index_t k, int sign) {
  std::complex<double> sum = 0;
  for (index_t j = 0; j < n; ++j) {
    const double angle = sign * 2 * std::numbers::pi * double(j * k % n) / double(n);
    sum += std::complex<double>(x(first + j * stride)) * std::polar(1.0, angle);
  }
  return sum;
}

constexpr gpu::DftLayout layouts[] = {{1, 20}, {3, 1}, {2, 40}};

}  // namespace

TEMPLATE_TEST_CASE("complex transforms in all layouts", "[fft_dft]", float, double) {
  using C = std::complex<TestType>;
  Random random(1);
  for (const index_t n : {1, 2, 13, 20}) {
    for (const auto& in : layouts) {
      for (const auto& out : layouts) {
        INFO(n << ": " << in.stride << ", " << in.distance << " to " << out.stride << ", "
               << out.distance);
        const gpu::Dft<device_t<C>, device_t<C>> plan("test", n, 3, in, out);
        const auto x = random.array<C, 1>({200});
        auto xd = to_device(x), yd = to_device(x);
        Array<std::byte, 1, space::cuda> work({plan.workspace_bytes()});
        for (const int sign : {-1, 1}) {
          if (sign < 0)
            plan.forward("test", nullptr, work.data(), pointer(xd), pointer(yd));
          else
            plan.backward("test", nullptr, work.data(), pointer(xd), pointer(yd));
          const auto y = to_host(yd);
          for (index_t b = 0; b < 3; ++b) {
            for (index_t k = 0; k < n; ++k) {
              const auto expected = reference(x, b * in.distance, in.stride, n, k, sign);
              const auto got = std::complex<double>(y(b * out.distance + k * out.stride));
              CHECK(std::abs(got - expected) <= 50 * epsilon<TestType>);
            }
          }
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("real transforms, and back from their halves", "[fft_dft]", float, double) {
  using R = TestType;
  using C = std::complex<R>;
  Random random(2);
  for (const index_t n : {1, 2, 15, 16}) {
    const gpu::DftLayout rows{1, 20}, columns{3, 1};
    const gpu::Dft<R, device_t<C>> forward("test", n, 3, columns, rows);
    const gpu::Dft<device_t<C>, R> backward("test", n, 3, rows, columns);
    const auto x = random.array<R, 1>({200});
    auto xd = to_device(x), zd = to_device(Array<R, 1>({200}));
    auto yd = to_device(Array<C, 1>({200}));
    Array<std::byte, 1, space::cuda> work(
        {std::max(forward.workspace_bytes(), backward.workspace_bytes())});
    forward.forward("test", nullptr, work.data(), pointer(xd), pointer(yd));
    const auto y = to_host(yd);
    backward.backward("test", nullptr, work.data(), pointer(yd), pointer(zd));
    const auto z = to_host(zd);
    for (index_t b = 0; b < 3; ++b) {
      for (index_t k = 0; k <= n / 2; ++k) {
        const auto expected = reference(x, b, 3, n, k, -1);
        CHECK(std::abs(std::complex<double>(y(20 * b + k)) - expected) <= 50 * epsilon<R>);
      }
      for (index_t j = 0; j < n; ++j)
        CHECK(std::abs(z(b + 3 * j) - R(n) * x(b + 3 * j)) <= 100 * epsilon<R>);
    }
  }
}

TEST_CASE("nothing to transform, plans that move, and capture", "[fft_dft]") {
  using C = std::complex<double>;
  using Plan = gpu::Dft<device_t<C>, device_t<C>>;
  const Plan none("test", 0, 3, {1, 0}, {1, 0}), no_batch("test", 5, 0, {1, 5}, {1, 5}), empty;
  for (const Plan* plan : {&none, &no_batch, &empty}) {
    CHECK(plan->workspace_bytes() == 0);
    plan->forward("test", nullptr, nullptr, nullptr, nullptr);
  }
  Plan first("test", 8, 1, {1, 8}, {1, 8});
  const Plan plan = std::move(first);
  Random random(3);
  const auto x = random.array<C, 1>({8});
  auto xd = to_device(x), yd = to_device(x);
  Array<std::byte, 1, space::cuda> work({plan.workspace_bytes()});
  replay([&](void* stream) {
    plan.forward("test", static_cast<cudaStream_t>(stream), work.data(), pointer(xd), pointer(yd));
  });
  const auto y = to_host(yd);
  for (index_t k = 0; k < 8; ++k) CHECK(std::abs(y(k) - reference(x, 0, 1, 8, k, -1)) <= 1e-14);
}

TEST_CASE("errors of cuFFT carry name and code", "[fft_dft]") {
  using C = device_t<std::complex<float>>;
  try {
    const gpu::Dft<C, C> plan("family::operation", -4, 1, {1, 1}, {1, 1});
    FAIL("a negative length was accepted");
  } catch (const BackendError& e) {
    const std::string what = e.what();
    CHECK(what.find("family::operation") != std::string::npos);
    CHECK(what.find("CUFFT_INVALID_SIZE") != std::string::npos);
  }
}
