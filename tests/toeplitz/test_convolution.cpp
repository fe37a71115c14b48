#include "structmat/toeplitz/convolution.hpp"

#include <catch2/catch.hpp>

#include "support/battery.hpp"
#include "support/gradient.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// The definition. Kernels without elements stand for none.
template <Scalar T>
Array<T, 3> definition(const Array<T, 3>& f, const Array<T, 3>& b, const Array<T, 3>& x) {
  Array<T, 3> y(x.extents());
  const auto tap = [](const Array<T, 3>& k, index_t batch, index_t c, index_t l) {
    if (k.empty() || l >= k.extent(2)) return T{};
    return k(k.extent(0) == 1 ? 0 : batch, k.extent(1) == 1 ? 0 : c, l);
  };
  for (index_t batch = 0; batch < x.extent(0); ++batch) {
    for (index_t c = 0; c < x.extent(1); ++c) {
      for (index_t i = 0; i < x.extent(2); ++i) {
        for (index_t j = 0; j < x.extent(2); ++j) {
          y(batch, c, i) +=
              x(batch, c, j) * (j <= i ? tap(f, batch, c, i - j) : tap(b, batch, c, j - i));
        }
      }
    }
  }
  return y;
}

template <Scalar T>
Array<T, 3> convolved(const Array<T, 3>& f, const Array<T, 3>& b, const Array<T, 3>& x) {
  auto y = poisoned<T, 3>(x.extents());
  if (b.empty()) {
    toeplitz::convolve(exec::cpu{}, f.view(), x.view(), y.view());
  } else {
    toeplitz::convolve(exec::cpu{}, f.view(), b.view(), x.view(), y.view());
  }
  return y;
}

struct Kernels {
  std::array<index_t, 3> forward, backward;
};

}  // namespace

TEMPLATE_TEST_CASE("convolutions match the definition", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  Random random(1);
  for (const index_t length : {0, 1, 2, 17, 100}) {
    for (const Kernels& s :
         {Kernels{{1, 3, length}, {0, 0, 0}}, Kernels{{1, 3, length}, {1, 3, length}},
          Kernels{{1, 1, 5}, {1, 3, 130}}, Kernels{{2, 3, length}, {1, 1, length}},
          Kernels{{2, 1, 130}, {2, 3, 1}}}) {
      const auto f = random.array<T, 3>(s.forward), b = random.array<T, 3>(s.backward);
      const auto x = random.array<T, 3>({2, 3, length});
      CHECK(distance(convolved(f, b, x), definition(f, b, x)) <=
            8 * double(length + 1) * double(epsilon<T>));
    }
  }
}

TEST_CASE("an impulse at 0 gives the kernel") {
  Random random(2);
  for (const index_t length : {5, 4099}) {
    const auto f = random.array<double, 3>({1, 2, length}),
               b = random.array<double, 3>({1, 2, length});
    Array<double, 3> x({1, 2, length});
    x(0, 0, 0) = 1;
    x(0, 1, length - 1) = 1;
    const auto y = convolved(f, b, x);
    for (index_t i = 0; i < length; ++i) {
      CHECK(y(0, 0, i) == Approx(f(0, 0, i)).margin(1e-12));
      CHECK(y(0, 1, i) ==
            Approx(i == length - 1 ? f(0, 1, 0) : b(0, 1, length - 1 - i)).margin(1e-12));
    }
  }
}

TEMPLATE_TEST_CASE("gradients of convolutions", "", double, std::complex<double>) {
  using T = TestType;
  Random random(3);
  for (const Kernels& s :
       {Kernels{{1, 3, 6}, {1, 3, 6}}, Kernels{{1, 1, 4}, {1, 3, 8}}, Kernels{{2, 3, 6}, {1, 1, 6}},
        Kernels{{2, 1, 6}, {2, 3, 2}}, Kernels{{1, 3, 6}, {0, 0, 0}}}) {
    auto f = random.array<T, 3>(s.forward), b = random.array<T, 3>(s.backward),
         x = random.array<T, 3>({2, 3, 6});
    const auto y_bar = random.array<T, 3>(x.extents());
    Array<T, 3> f_bar(s.forward), b_bar(s.backward), x_bar(x.extents());
    toeplitz::convolve_vjp(exec::cpu{}, std::as_const(f).view(), std::as_const(b).view(),
                           std::as_const(x).view(), y_bar.view(), f_bar.view(), b_bar.view(),
                           x_bar.view());
    const auto loss = [&] { return inner(y_bar, definition(f, b, x)); };
    check_gradient("f", f, f_bar, loss);
    check_gradient("b", b, b_bar, loss);
    check_gradient("x", x, x_bar, loss);
  }
}

TEST_CASE("sequences with strides, and what does not fit") {
  Random random(4);
  const auto f = random.array<double, 3>({1, 3, 20}), x = random.array<double, 3>({2, 3, 20});
  const auto expected = convolved(f, {}, x);
  // (batch, L, channels) in memory.
  Array<double, 3> in({2, 20, 3}), out({2, 20, 3});
  copy(x.view(), in.view().transposed());
  toeplitz::convolve(exec::cpu{}, f.view(), std::as_const(in).view().transposed(),
                     out.view().transposed());
  CHECK(same_bits(to_array(out.view().transposed()), expected));

  Array<double, 3> y({2, 3, 20});
  CHECK(message_from<ShapeError>([&] {
          toeplitz::convolve(exec::cpu{}, f.view(), x.view().slice(1, 0, 2), y.view());
        }) ==
        "toeplitz::convolve: the forward kernel has extent 3 in dimension 1, the sequences have 2");
  CHECK(message_from<ShapeError>([&] {
          toeplitz::convolve(exec::cpu{}, f.view(), x.view(), y.view().slice(2, 0, 19));
        }) == "toeplitz::convolve: y has extent 19 in dimension 2, x has 20");
  CHECK_THROWS_AS(toeplitz::convolve(exec::cpu{}, f.view(), std::as_const(y).view(), y.view()),
                  DomainError);
}
