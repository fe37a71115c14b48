// Cotangents on a device against those of the CPU: what the inclusive form has of its own. What chunked
// sweeps have is tested with the quasiseparable product, which runs on the same kernels.
#include "structmat/semiseparable/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "structmat/semiseparable/entry.hpp"
#include "support/apply_vjp.hpp"
#include "support/gpu.hpp"
#include "support/vjp_on_device.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class T_, class K_>
struct Case {
  using Value = T_;
  using Transition = K_;
  template <class T, class Space>
  using Cotangent = SemiseparableCotangent<T, K_, Space>;
};

template <class C>
void check(index_t n, index_t r, index_t matrices, index_t bars, index_t inputs, index_t x_bars,
           index_t k, Random& random) {
  using T = typename C::Value;
  using K = typename C::Transition;
  const auto m = random_semiseparable<T, K>(n, r, matrices, 1);
  const auto bar = random_semiseparable<T, K>(n, r, bars, 2);
  const index_t batch = std::max(matrices, inputs);
  const double terms = static_cast<double>(k * (bars < batch || x_bars < batch ? batch : 1));
  const double states = static_cast<double>((r + 1) * (r + 1));
  check_vjp_on_device<C::template Cotangent>(
      m, bar, inputs, x_bars, k, 50 * terms * states * static_cast<double>(epsilon<T>), random,
      [](const auto& a) {
        return std::vector{elements(a.c), elements(a.b), elements(a.a)};
      });
}

template <class T, class K>
auto pulled_back(const Semiseparable<T, K>& m, Op op, const Array<T, 3>& x,
                 const Array<T, 3>& y_bar) {
  const auto there = to_device(m);
  const auto x_there = to_device(x), y_there = to_device(y_bar);
  auto m_bar = to_device(Semiseparable<T, K>(m.size(), m.order()));
  auto x_bar = to_device(Array<T, 3>(x.extents()));
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(there.view(), x.extent(2))},
                                             uninitialized);
  replay([&](void* stream) {
    apply_vjp(exec::cuda{stream, workspace}, there.view(), op, x_there.view(), y_there.view(),
              SemiseparableCotangent<T, K, space::cuda>(m_bar), x_bar.view());
  });
  return std::pair(to_host(m_bar), to_host(x_bar));
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("semiseparable cotangents on a device are those of the host",
                           "[semiseparable_apply_vjp]", (Case),
                           ((double, transition::Scalar), (std::complex<float>, transition::Scalar),
                            (float, transition::Diagonal),
                            (std::complex<double>, transition::Diagonal),
                            (double, transition::Dense), (std::complex<double>, transition::Dense),
                            (std::complex<float>, transition::Dense), (float, transition::Dense))) {
  Random random(1);
  const index_t columns[] = {1, 3, 9};
  unsigned turn = 0;
  for (const index_t n : {0, 1, 2, 17, 37}) {
    for (const index_t r : {0, 1, 4, 8, 13, 18}) {
      ++turn;
      if (quick() && turn % 2 != 0) continue;
      check<TestType>(n, r, 1, 1, 1, 1, columns[turn % 3], random);
    }
  }
  check<TestType>(20, 3, 2, 2, 2, 2, 2, random);
  check<TestType>(20, 3, 1, 1, 3, 3, 1, random);
  check<TestType>(20, 3, 3, 3, 1, 1, 1, random);
  if (quick()) return;
  for (const index_t n : {3000, 40000, 300001}) check<TestType>(n, 6, 1, 1, 1, 1, 1, random);
}

TEMPLATE_TEST_CASE("semiseparable cotangents on a device, twice in a graph, against differences",
                   "[semiseparable_apply_vjp]", (Case<std::complex<double>, transition::Scalar>),
                   (Case<double, transition::Diagonal>),
                   (Case<std::complex<double>, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(2);
  const index_t n = 19;
  auto m = random_semiseparable<T, K>(n, 2, 1, 5);
  // A_0 is never read, nor its cotangent touched.
  std::fill_n(m.a.data(), m.a.size() / n, T(std::numeric_limits<double>::quiet_NaN()));
  auto x = random.array<T, 3>({1, n, 1});
  const auto y_bar = random.array<T, 3>({1, n, 1});
  for (const Op op : all_ops) {
    auto [m_bar, x_bar] = pulled_back<T, K>(m, op, x, y_bar);
    const auto half = [](auto& a) {
      for (T& v : a) v *= 0.5;
    };
    half(m_bar.c), half(m_bar.b), half(m_bar.a), half(x_bar);
    const auto loss = [&] { return product_loss(m, op, x, y_bar); };
    check_gradient("c", m.c, m_bar.c, loss), check_gradient("b", m.b, m_bar.b, loss);
    check_gradient("x", x, x_bar, loss);
    for (index_t l = 0; l < m.a.size() / n; ++l) CHECK(m_bar.a.data()[l] == T{});
    check_gradient("a", m.a, m_bar.a, loss);
  }
}

TEST_CASE("semiseparable cotangents on a device that do not fit are refused",
          "[semiseparable_apply_vjp]") {
  using T = double;
  using K = transition::Dense;
  const index_t n = 100;
  const auto m = to_device(random_semiseparable<T, K>(n, 4, 1, 8));
  const Array<T, 3, space::cuda> x({1, n, 1});
  Semiseparable<T, K> seven(n, 4);
  for (T& v : seven.c) v = 7;
  auto bar = to_device(seven);
  const index_t bytes = apply_vjp_workspace_bytes(m.view(), 1);
  REQUIRE(bytes > 0);
  Array<std::byte, 1, space::cuda> workspace({bytes});
  const SemiseparableCotangent<T, K, space::cuda> fits(bar);
  const auto run = [&](auto space, const auto& m_bar) {
    apply_vjp(exec::cuda{nullptr, space}, m.view(), Op::none, x.view(), x.view(), m_bar, {});
  };
  CHECK_THROWS_AS(run(workspace.view().slice(0, 0, bytes - 1), fits), DomainError);
  auto wrong = fits;
  wrong.b = wrong.b.slice(1, 1, n);
  CHECK_THROWS_AS(run(workspace.view(), wrong), ShapeError);
  wrong = fits;
  wrong.a = View<T, 4, space::cuda>(bar.a.data(), {1, n, 4, 4}, {0, 16, 0, 1});
  CHECK_THROWS_AS(run(workspace.view(), wrong), Unsupported);
  CHECK(same_bits(to_host(bar.c), seven.c));
}
