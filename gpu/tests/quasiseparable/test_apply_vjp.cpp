// Cotangents on a device against those of the CPU, and central differences once.
#include "structmat/quasiseparable/apply_vjp.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/entry.hpp"
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
  using Cotangent = QuasiseparableCotangent<T, K_, Space>;
};

template <Scalar T, class K>
auto arrays(const Quasiseparable<T, K>& m) {
  return std::vector{elements(m.p), elements(m.q), elements(m.a), elements(m.d),
                     elements(m.g), elements(m.h), elements(m.b)};
}

/// Sums of `terms` products of states, which are at most about r.
template <class C>
void check(index_t n, Order r, index_t matrices, index_t bars, index_t inputs, index_t x_bars,
           index_t k, Random& random) {
  using T = typename C::Value;
  using K = typename C::Transition;
  const auto m = random_quasiseparable<T, K>(n, r, matrices, 1);
  const auto bar = random_quasiseparable<T, K>(n, r, bars, 2);
  const index_t batch = std::max(matrices, inputs), order = std::max(r.lower, r.upper) + 1;
  const double terms = static_cast<double>(k * (bars < batch || x_bars < batch ? batch : 1));
  check_vjp_on_device<C::template Cotangent>(
      m, bar, inputs, x_bars, k,
      50 * terms * static_cast<double>(order * order) * static_cast<double>(epsilon<T>), random,
      [](const auto& a) { return arrays(a); });
}

/// One call on the device, all cotangents zero before it.
template <class T, class K>
struct Result {
  Quasiseparable<T, K, space::cuda> m;
  Array<T, 3, space::cuda> x;
};
template <class T, class K>
Result<T, K> pulled_back(const Quasiseparable<T, K, space::cuda>& m, Op op,
                         const View<const T, 3, space::cuda>& x,
                         const View<const T, 3, space::cuda>& y_bar) {
  const index_t batch = y_bar.extent(0), k = x.extent(2);
  Result<T, K> bar{to_device(Quasiseparable<T, K>(m.size(), m.order(), batch)),
                   to_device(Array<T, 3>({batch, m.size(), k}))};
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(m.view(), k, batch)},
                                             uninitialized);
  apply_vjp(exec::cuda{nullptr, workspace}, m.view(), op, x, y_bar,
            QuasiseparableCotangent<T, K, space::cuda>(bar.m), bar.x.view());
  return bar;
}

template <class T, class K>
bool same(const Result<T, K>& one, const Result<T, K>& other) {
  const auto a = to_host(one.m), b = to_host(other.m);
  return same_bits(a.p, b.p) && same_bits(a.q, b.q) && same_bits(a.a, b.a) && same_bits(a.d, b.d) &&
         same_bits(a.g, b.g) && same_bits(a.h, b.h) && same_bits(a.b, b.b) &&
         same_bits(to_host(one.x), to_host(other.x));
}

}  // namespace

#define CASES                                                                                  \
  (Case<float, transition::Scalar>), (Case<double, transition::Scalar>),                       \
      (Case<std::complex<float>, transition::Scalar>),                                         \
      (Case<std::complex<double>, transition::Scalar>), (Case<float, transition::Diagonal>),   \
      (Case<double, transition::Diagonal>), (Case<std::complex<float>, transition::Diagonal>), \
      (Case<std::complex<double>, transition::Diagonal>), (Case<float, transition::Dense>),    \
      (Case<double, transition::Dense>), (Case<std::complex<float>, transition::Dense>),       \
      (Case<std::complex<double>, transition::Dense>)

TEMPLATE_TEST_CASE("cotangents on a device are those of the host", "[quasiseparable_apply_vjp]",
                   CASES) {
  Random random(1);
  const index_t columns[] = {1, 3, 9};
  unsigned turn = 0;
  for (const index_t n : {1, 2, 17, 37}) {
    for (const Order r : {Order{3, 0}, {0, 8}, {8, 3}, {5, 13}}) {
      ++turn;
      if (quick() && turn % 2 != 0) continue;
      check<TestType>(n, r, 1, 1, 1, 1, columns[turn % 3], random);
    }
  }
  check<TestType>(0, {2, 3}, 1, 1, 1, 1, 1, random);
  check<TestType>(5, {0, 0}, 1, 1, 1, 1, 2, random);
  check<TestType>(5, {2, 3}, 1, 1, 1, 1, 0, random);
  // Batches, with cotangents of their own or sums.
  check<TestType>(19, {4, 9}, 2, 2, 2, 2, 2, random);
  check<TestType>(19, {4, 9}, 1, 1, 3, 3, 1, random);
  check<TestType>(5, {4, 9}, 3, 3, 1, 1, 9, random);
  check<TestType>(20, {2, 3}, 3, 1, 3, 3, 1, random);
}

TEMPLATE_TEST_CASE("cotangents of long sequences on a device", "[quasiseparable_apply_vjp]",
                   (Case<double, transition::Scalar>), (Case<float, transition::Diagonal>),
                   (Case<std::complex<double>, transition::Diagonal>),
                   (Case<double, transition::Dense>),
                   (Case<std::complex<float>, transition::Dense>)) {
  constexpr bool dense = TestType::Transition::rank == 4;
  Random random(2);
  const auto sizes = quick() ? std::vector<index_t>{dense ? 150 : 1100}
                             : std::vector<index_t>{3000, 40000, 300001};
  for (const index_t n : sizes) {
    check<TestType>(n, {8, 4}, 1, 1, 1, 1, 1, random);
    if (n < 100000) check<TestType>(n / 2, {3, 16}, 1, 1, 2, 1, 2, random);
    if (n < 100000) check<TestType>(n / 6, {3, 4}, 1, 1, 1, 1, 9, random);
  }
}

TEMPLATE_TEST_CASE("cotangents for dense transitions beyond the tensor cores' tiles",
                   "[quasiseparable_apply_vjp]", (Case<double, transition::Dense>),
                   (Case<std::complex<float>, transition::Dense>)) {
  Random random(3);
  for (const index_t n : {1, 2, 19, 40}) check<TestType>(n, {21, 17}, 1, 1, 1, 1, 1, random);
  check<TestType>(33, {3, 18}, 2, 1, 2, 2, 9, random);
  if (!quick()) check<TestType>(3000, {20, 33}, 1, 1, 1, 1, 2, random);
}

TEMPLATE_TEST_CASE("cotangents on a device against central differences",
                   "[quasiseparable_apply_vjp]", (Case<std::complex<double>, transition::Scalar>),
                   (Case<double, transition::Diagonal>),
                   (Case<std::complex<double>, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(4);
  const index_t n = 19;
  auto m = random_quasiseparable<T, K>(n, {2, 1}, 1, 5);
  auto x = random.array<T, 3>({1, n, 1});
  const auto y_bar = random.array<T, 3>({1, n, 1});
  const auto x_there = to_device(x), y_there = to_device(y_bar);
  for (const Op op : all_ops) {
    const auto bar = pulled_back<T, K>(to_device(m), op, x_there.view(), y_there.view());
    const auto m_bar = to_host(bar.m);
    const auto loss = [&] { return product_loss(m, op, x, y_bar); };
    check_gradient("p", m.p, m_bar.p, loss), check_gradient("q", m.q, m_bar.q, loss);
    check_gradient("a", m.a, m_bar.a, loss), check_gradient("d", m.d, m_bar.d, loss);
    check_gradient("g", m.g, m_bar.g, loss), check_gradient("h", m.h, m_bar.h, loss);
    check_gradient("b", m.b, m_bar.b, loss);
    check_gradient("x", x, to_host(bar.x), loss);
  }
}

TEMPLATE_TEST_CASE("what no entry contains is not read in reverse, with NaN in its place",
                   "[quasiseparable_apply_vjp]", (Case<double, transition::Scalar>),
                   (Case<float, transition::Diagonal>), (Case<double, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(5);
  for (const index_t n : {1, 2, 30}) {
    for (const index_t r : {4, 20}) {
      const auto clean = random_quasiseparable<T, K>(n, {r, r}, 1, 6);
      auto m = clean;
      const T nan = std::numeric_limits<T>::quiet_NaN();
      for (index_t l = 0; l < r; ++l) {
        m.p(0, 0, l) = m.h(0, 0, l) = m.q(0, n - 1, l) = m.g(0, n - 1, l) = nan;
      }
      for (auto* t : {&m.a, &m.b}) {
        const index_t width = t->size() / n;
        std::fill_n(t->data(), width, nan);
        std::fill_n(t->data() + (n - 1) * width, width, nan);
      }
      const auto x = to_device(random.array<T, 3>({1, n, 2}));
      const auto y_bar = to_device(random.array<T, 3>({1, n, 2}));
      for (const Op op : {Op::none, Op::transpose}) {
        INFO("n " << n << ", r " << r << ", op " << int(op));
        const auto got = pulled_back<T, K>(to_device(m), op, x.view(), y_bar.view());
        CHECK(same(got, pulled_back<T, K>(to_device(clean), op, x.view(), y_bar.view())));
        const auto bar = to_host(got.m);
        CHECK((bar.p(0, 0, 0) == 0 && bar.h(0, 0, 0) == 0 && bar.q(0, n - 1, 0) == 0 &&
               bar.g(0, n - 1, 0) == 0 && bar.a.data()[0] == 0 &&
               bar.b.data()[bar.b.size() - 1] == 0));
      }
    }
  }
}

TEMPLATE_TEST_CASE("cotangents with gaps, negative strides, or absent",
                   "[quasiseparable_apply_vjp]", (Case<double, transition::Diagonal>),
                   (Case<double, transition::Dense>),
                   (Case<std::complex<float>, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(6);
  const index_t n = 37, r = 4, k = 2;
  const auto m = to_device(random_quasiseparable<T, K>(n, {r, r}, 1, 7));
  const auto x = random.array<T, 3>({1, n, k}), y_bar = random.array<T, 3>({1, n, k});
  const auto x_there = to_device(x), y_there = to_device(y_bar);
  const auto expected = pulled_back<T, K>(m, Op::none, x_there.view(), y_there.view());

  // Behind every second column, from the last row and state to the first.
  const auto gappy = [](auto& store, index_t columns) {
    store = to_device(Array<T, 3>({1, n, 3 * columns}));
    return View<T, 3, space::cuda>(store.data(), {1, n, columns}, {0, 3 * columns, 2})
        .reversed(1)
        .reversed(2);
  };
  Array<T, 3, space::cuda> p_store, x_store, y_store;
  const auto p = gappy(p_store, r), x_bar = gappy(x_store, k);
  const auto transitions = transition::extents<K>(1, n, r);
  auto a_store = to_device(Array<T, K::rank>(transitions));
  View<T, K::rank, space::cuda> a = a_store.view();
  if constexpr (K::rank == 4) a = a.transposed();
  Array<T, 3> y_here({1, n, 3 * k});
  copy(y_bar.view(), View<T, 3>(y_here.data(), {1, n, k}, {0, 3 * k, 2}).reversed(1).reversed(2));
  y_store = to_device(y_here);
  const View<const T, 3, space::cuda> y =
      View<const T, 3, space::cuda>(y_store.data(), {1, n, k}, {0, 3 * k, 2})
          .reversed(1)
          .reversed(2);
  QuasiseparableCotangent<T, K, space::cuda> some;
  some.p = p;
  some.a = a;
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(m.view(), k)},
                                             uninitialized);
  apply_vjp(exec::cuda{nullptr, workspace}, m.view(), Op::none, x_there.view(), y, some, x_bar);
  const auto wanted = to_host(expected.m);
  const auto wanted_x = to_host(expected.x);
  const auto got_p = to_host(p_store), got_x = to_host(x_store);
  const auto got_a = to_host(a_store);
  index_t wrong = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t l = 0; l < r; ++l) {
      wrong += got_p(0, n - 1 - i, 2 * (r - 1 - l)) != wanted.p(0, i, l);
      if constexpr (K::rank == 4) {
        for (index_t c = 0; c < r; ++c) wrong += got_a(0, i, c, l) != wanted.a(0, i, l, c);
      } else {
        wrong += got_a(0, i, l) != wanted.a(0, i, l);
      }
    }
    for (index_t c = 0; c < k; ++c) {
      wrong += got_x(0, n - 1 - i, 2 * (k - 1 - c)) != wanted_x(0, i, c);
    }
    wrong += got_p(0, i, 1) != T{};
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("cotangents repeat, do not depend on the batch, and can be captured",
                   "[quasiseparable_apply_vjp]", (Case<float, transition::Scalar>),
                   (Case<double, transition::Diagonal>), (Case<float, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(7);
  const index_t n = 100;
  for (const index_t k : {1, quick() ? 4 : 9}) {
    const auto here = random_quasiseparable<T, K>(n, {8, 3}, 1, 8);
    const auto m = to_device(here);
    const auto x = to_device(random.array<T, 3>({3, n, k}));
    const auto y_bar = to_device(random.array<T, 3>({3, n, k}));
    const auto all = pulled_back<T, K>(m, Op::none, x.view(), y_bar.view());
    CHECK(same(all, pulled_back<T, K>(m, Op::none, x.view(), y_bar.view())));
    const auto alone =
        pulled_back<T, K>(m, Op::none, x.view().slice(0, 1, 2), y_bar.view().slice(0, 1, 2));
    const auto p_all = to_host(all.m.p), p_alone = to_host(alone.m.p);
    const auto a_all = to_host(all.m.a), a_alone = to_host(alone.m.a);
    CHECK(std::equal(p_alone.begin(), p_alone.end(), p_all.begin() + p_alone.size()));
    CHECK(std::equal(a_alone.begin(), a_alone.end(), a_all.begin() + a_alone.size()));

    // Twice, called and in a graph.
    const auto zero = [&] {
      return Result<T, K>{to_device(Quasiseparable<T, K>(n, {8, 3}, 3)),
                          to_device(Array<T, 3>({3, n, k}))};
    };
    auto called = zero(), replayed = zero();
    Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(m.view(), k, 3)},
                                               uninitialized);
    const auto add_to = [&](Result<T, K>& bar, void* stream) {
      apply_vjp(exec::cuda{stream, workspace}, m.view(), Op::none,
                View<const T, 3, space::cuda>(x.view()),
                View<const T, 3, space::cuda>(y_bar.view()),
                QuasiseparableCotangent<T, K, space::cuda>(bar.m), bar.x.view());
    };
    for (int times = 0; times < 2; ++times) add_to(called, nullptr);
    device_synchronize();  // the graph's stream does not wait, and the workspace is the same
    replay([&](void* stream) { add_to(replayed, stream); });
    CHECK(same(called, replayed));
  }
}

TEMPLATE_TEST_CASE("cotangents on a device that cannot be served: nothing is written",
                   "[quasiseparable_apply_vjp]", (Case<double, transition::Diagonal>),
                   (Case<double, transition::Dense>)) {
  using T = double;
  using K = typename TestType::Transition;
  const index_t n = 100, k = 2;
  const auto m = to_device(random_quasiseparable<T, K>(n, {4, 4}, 2, 8));
  const Array<T, 3, space::cuda> x({2, n, k}), y_bar({2, n, k});
  Quasiseparable<T, K> seven(n, {4, 4}, 2);
  for (T& v : seven.p) v = 7;
  auto bar = to_device(seven);
  Array<T, 3, space::cuda> x_bar({2, n, k});
  const index_t bytes = apply_vjp_workspace_bytes(m.view(), k, 2);
  REQUIRE(bytes > 0);
  Array<std::byte, 1, space::cuda> workspace({bytes + 256});
  const auto ws = workspace.view();
  using Cotangent = QuasiseparableCotangent<T, K, space::cuda>;
  const auto run = [&](auto space, auto in, const Cotangent& m_bar, auto target) {
    apply_vjp(exec::cuda{nullptr, space}, m.view(), Op::none, View<const T, 3, space::cuda>(in),
              View<const T, 3, space::cuda>(y_bar.view()), m_bar, target);
  };
  const Cotangent fits(bar);
  CHECK_THROWS_AS(run(ws.slice(0, 0, bytes - 1), x.view(), fits, x_bar.view()), DomainError);
  CHECK_THROWS_AS(run(ws.slice(0, 8, bytes + 8), x.view(), fits, x_bar.view()), Unsupported);
  CHECK_THROWS_AS(run(ws, x.view().slice(1, 1, n), fits, x_bar.view()), ShapeError);
  CHECK_THROWS_AS(run(ws, x_bar.view(), fits, x_bar.view()), DomainError);
  auto wrong = fits;
  wrong.q = wrong.q.slice(2, 0, 3);
  CHECK_THROWS_AS(run(ws, x.view(), wrong, x_bar.view()), ShapeError);
  wrong = fits;
  wrong.p = View<T, 3, space::cuda>(bar.p.data(), {2, n, 4}, {4 * n, 0, 1});
  CHECK_THROWS_AS(run(ws, x.view(), wrong, x_bar.view()), Unsupported);
  CHECK_THROWS_AS(apply_vjp_workspace_bytes(m.view(), -1), ShapeError);
  CHECK(same_bits(to_host(bar.p), seven.p));
}
