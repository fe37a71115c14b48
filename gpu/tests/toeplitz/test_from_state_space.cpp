// Kernels of state-space models on the device against those of the CPU in double.
#include "structmat/toeplitz/from_state_space.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

using W = std::complex<double>;

template <class T>
Array<T, 2> poles(index_t batch, index_t r, Random& random) {
  Array<T, 2> a({batch, r});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t n = 0; n < r; ++n) a(b, n) = T(W(-0.5 + 0.2 * random.real(), 3.0 * double(n)));
  }
  return a;
}

template <class To, class From, int Rank>
Array<To, Rank> converted(const Array<From, Rank>& from) {
  Array<To, Rank> to(from.extents());
  std::copy(from.begin(), from.end(), to.begin());
  return to;
}

template <class A, class B>
double relative_error(const A& got, const B& expected) {
  double worst = 0, largest = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(W(got.data()[i]) - W(expected.data()[i]));
    worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
    largest = std::max(largest, std::abs(W(expected.data()[i])));
  }
  return largest == 0 ? worst : worst / largest;
}

}  // namespace

TEMPLATE_TEST_CASE("kernels of diagonal models on the device", "[toeplitz_from_state_space]",
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  using R = real_t<T>;
  Random random(1);
  for (const auto& [length, r] :
       {std::pair<index_t, index_t>{300, 5}, {5000, 4}, {1, 1}, {7, 0}, {0, 2}}) {
    const index_t batch = 2;
    auto a = poles<T>(batch, r, random);
    if (r > 2) a(1, 2) = T{};  // an integrator
    const auto w = random.array<T, 2>({batch, r});
    // A power of two: dt a is exact, and its multiples are those of the reference.
    Array<R, 1> dt({1});
    dt(0) = R(0.0078125);
    const auto a_wide = converted<W>(a), w_wide = converted<W>(w);
    const auto dt_wide = converted<double>(dt);
    const auto expected = toeplitz::s4d_kernel<W>(
        exec::cpu{}, {a_wide.view(), w_wide.view(), dt_wide.view()}, length);
    const auto a_there = to_device(a), w_there = to_device(w);
    const auto dt_there = to_device(dt);
    const toeplitz::DiagonalModel<T, space::cuda> m{a_there.view(), w_there.view(),
                                                    dt_there.view()};
    Array<std::byte, 1> junk({toeplitz::s4d_kernel_workspace_bytes(m)});
    std::fill(junk.begin(), junk.end(), std::byte{0xff});
    auto workspace = to_device(junk);
    Array<R, 2, space::cuda> kernel({batch, length}, uninitialized);
    replay([&](void* stream) { toeplitz::s4d_kernel<T>({stream, workspace}, m, kernel.view()); });
    INFO("length " << length << ", poles " << r);
    CHECK(relative_error(to_host(kernel), expected) <= 16 * double(epsilon<R>));
  }
}

TEMPLATE_TEST_CASE("kernels of diagonal plus rank 1 models on the device",
                   "[toeplitz_from_state_space]", std::complex<float>, std::complex<double>) {
  using T = TestType;
  using R = real_t<T>;
  Random random(2);
  // 4096: sums on tensor cores; 300: directly, with the node -1; 7: without it.
  for (const auto& [length, r] :
       {std::pair<index_t, index_t>{300, 6}, {4096, 5}, {7, 3}, {5, 0}, {0, 2}}) {
    const index_t batch = 2;
    const auto lambda = poles<T>(batch, r, random);
    auto p = random.array<T, 2>({1, r}), q = random.array<T, 2>({batch, r});
    for (T& v : p) v *= R(0.3);
    for (T& v : q) v *= R(0.3);
    const auto b = random.array<T, 2>({batch, r}), c = random.array<T, 2>({batch, r});
    Array<R, 1> dt({batch});
    dt(0) = R(0.02), dt(1) = R(0.1);
    const auto lw = converted<W>(lambda), pw = converted<W>(p), qw = converted<W>(q),
               bw = converted<W>(b), cw = converted<W>(c);
    const auto dw = converted<double>(dt);
    const auto expected = toeplitz::s4_kernel<W>(
        exec::cpu{}, {lw.view(), pw.view(), qw.view(), bw.view(), cw.view(), dw.view()}, length);
    const auto lt = to_device(lambda), pt = to_device(p), qt = to_device(q), bt = to_device(b),
               ct = to_device(c);
    const auto dd = to_device(dt);
    const toeplitz::DiagonalPlusRankOneModel<T, space::cuda> m{lt.view(), pt.view(), qt.view(),
                                                               bt.view(), ct.view(), dd.view()};
    const toeplitz::S4Plan<T> plan(batch, length);
    Array<std::byte, 1> junk({toeplitz::s4_kernel_workspace_bytes(plan, r)});
    std::fill(junk.begin(), junk.end(), std::byte{0xff});
    auto workspace = to_device(junk);
    Array<T, 2, space::cuda> kernel({batch, length}, uninitialized);
    replay([&](void* stream) {
      toeplitz::s4_kernel<T>({stream, workspace}, plan, m, kernel.view());
    });
    INFO("length " << length << ", poles " << r);
    CHECK(relative_error(to_host(kernel), expected) <= (std::same_as<R, float> ? 1e-5 : 1e-12));
  }
}

TEST_CASE("kernels on the device refuse what does not fit", "[toeplitz_from_state_space]") {
  const Array<W, 2, space::cuda> a({2, 3}), w({2, 2});
  const Array<double, 1, space::cuda> dt({1});
  Array<double, 2, space::cuda> kernel({2, 5});
  CHECK_THROWS_AS(
      toeplitz::s4d_kernel<W>(exec::cuda{}, {a.view(), w.view(), dt.view()}, kernel.view()),
      ShapeError);
  // No workspace.
  CHECK_THROWS_AS(
      toeplitz::s4d_kernel<W>(exec::cuda{}, {a.view(), a.view(), dt.view()}, kernel.view()),
      DomainError);
  CHECK_THROWS_AS(toeplitz::S4Plan<W>(1, -1), ShapeError);
  const toeplitz::S4Plan<W> plan(1, 5);
  Array<std::byte, 1, space::cuda> workspace({toeplitz::s4_kernel_workspace_bytes(plan, 3)});
  Array<W, 2, space::cuda> z({1, 5});
  CHECK_THROWS_AS(toeplitz::s4_kernel<W>(
                      exec::cuda{nullptr, workspace}, plan,
                      {a.view(), a.view(), a.view(), a.view(), a.view(), dt.view()}, z.view()),
                  ShapeError);
}
