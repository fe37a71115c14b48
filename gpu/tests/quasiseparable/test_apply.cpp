// y := op(M) x for quasiseparable M on a device: the battery of the CPU's tests, and what is special to
// chunked sweeps: many chunks and groups of them, products of transitions beyond any range, numbers
// that are not finite.
#include "structmat/quasiseparable/apply.hpp"

#include "products.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// Transitions of one size everywhere; Dense: times the identity, and a little coupling.
template <class T, class K>
Quasiseparable<T, K> with_transitions(index_t n, Order r, T value) {
  auto m = random_quasiseparable<T, K>(n, r, 1, 15);
  for (auto* a : {&m.a, &m.b}) {
    for (T& v : *a) v = value;
    if constexpr (K::rank == 4) {
      const index_t order = a->extent(3);
      for (index_t i = 0; i < a->size(); ++i) {
        const index_t row = i / order % order, column = i % order;
        if (row != column) a->data()[i] = row == 0 ? value / T(8) : T(0);
      }
    }
  }
  return m;
}

/// NaN wherever no entry of the matrix reads.
template <class T, class K>
void poison_unread(Quasiseparable<T, K>& m) {
  const index_t n = m.size();
  const auto poison = [](auto&& row) {
    for (index_t b = 0; b < row.extent(0); ++b) {
      if constexpr (std::decay_t<decltype(row)>::rank == 1) {
        row(b) = T(NAN);
      } else {
        auto entry = row.select(0, b);
        if constexpr (std::decay_t<decltype(entry)>::rank == 1) {
          for (index_t l = 0; l < entry.extent(0); ++l) entry(l) = T(NAN);
        } else {
          for (index_t l = 0; l < entry.extent(0); ++l) {
            for (index_t k = 0; k < entry.extent(1); ++k) entry(l, k) = T(NAN);
          }
        }
      }
    }
  };
  poison(m.p.view().select(1, 0));
  poison(m.q.view().select(1, n - 1));
  poison(m.g.view().select(1, n - 1));
  poison(m.h.view().select(1, 0));
  for (const index_t row : {index_t{0}, n - 1}) {
    poison(m.a.view().select(1, row));
    poison(m.b.view().select(1, row));
  }
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE(
    "products on a device match the entries", "[quasiseparable_apply]", (Case),
    ((float, transition::Scalar), (double, transition::Scalar),
     (std::complex<float>, transition::Scalar), (float, transition::Diagonal),
     (double, transition::Diagonal), (std::complex<float>, transition::Diagonal),
     (std::complex<double>, transition::Diagonal), (float, transition::Dense),
     (double, transition::Dense), (std::complex<float>, transition::Dense),
     (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  Random random(1);
  const std::vector<index_t> sizes = quick()
                                         ? std::vector<index_t>{0, 1, 2, 17, 67}
                                         : std::vector<index_t>{0, 1, 2, 3, 7, 16, 17, 129, 257};
  // The oracle costs n^2, and emulated barriers cost more: sizes take turns with orders and right-hand
  // sides, in other turns for other types.
  unsigned seed = 4 * TestType::Transition::rank + 2 * is_complex_v<T> + sizeof(real_t<T>) / 8;
  for (const index_t n : sizes) {
    const unsigned turns = quick() ? 23 : n > 100 ? 5 : 3;
    for (const Order r : {Order{0, 0}, {1, 1}, {3, 0}, {0, 5}, {8, 8}, {13, 16}}) {
      for (const index_t k : {1, 3, 9, 35}) {
        if ((seed++ + unsigned(k)) % turns != 0) continue;
        if (quick() && n > 2 && k * (r.lower + r.upper) > 200) continue;
        check_products(TestType::make(n, r, 1 + seed % 2, seed), std::max(r.lower, r.upper), k,
                       random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("operators on a device are linear, take any stride and refuse what does not fit",
                   "[quasiseparable_apply]", (Case<double, transition::Scalar>),
                   (Case<std::complex<float>, transition::Diagonal>),
                   (Case<std::complex<double>, transition::Dense>),
                   (Case<float, transition::Dense>)) {
  Random random(2);
  for (const index_t n : {7, 61}) {
    const auto m = TestType::make(n, {3, 5}, 2, unsigned(n));
    check_linearity(m, 5, random);
    for (const index_t k : {1, 3, 9}) {
      if (quick() && (n == 7) != (k == 3)) continue;
      check_strides(m, k, random);
    }
  }
  check_errors(TestType::make(7, {3, 5}, 2, 3), "quasiseparable");
}

TEMPLATE_TEST_CASE("long sequences on a device, in many chunks", "[quasiseparable_apply]",
                   (Case<float, transition::Scalar>), (Case<double, transition::Diagonal>),
                   (Case<std::complex<float>, transition::Diagonal>),
                   (Case<double, transition::Dense>), (Case<float, transition::Dense>),
                   (Case<std::complex<double>, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(3);
  const std::vector<index_t> sizes = quick() ? std::vector<index_t>{K::rank == 4 ? 120 : 1000}
                                             : std::vector<index_t>{5000, 70001, 524288};
  for (const index_t n : sizes) {
    for (const Order r : {Order{8, 3}, {2, 12}}) {
      if (n > 100000 && r.upper > 8) continue;
      const auto m = TestType::make(n, r, 1, 4);
      check_against_host(m, Op::none, random.array<T, 3>({1, n, 1}));
      check_against_host(m, Op::adjoint, random.array<T, 3>({1, n, 2}));
      if (n < 100000)
        check_against_host(m, Op::transpose, random.array<T, 3>({quick() ? 1 : 2, n, 9}));
    }
  }
}

TEMPLATE_TEST_CASE("numbers that no entry contains are not read, with NaN in their place",
                   "[quasiseparable_apply]", (Case<double, transition::Scalar>),
                   (Case<float, transition::Diagonal>), (Case<double, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(4);
  for (const index_t n : {1, 2, quick() ? 70 : 300}) {
    for (const index_t k : {1, 9}) {
      const auto clean = random_quasiseparable<T, K>(n, {3, 4}, 2, 5);
      auto m = clean;
      poison_unread(m);
      const auto x = random.array<T, 3>({2, n, k});
      for (const Op op : all_ops) {
        CHECK(same_bits(product(on_device(m), op, x), product(on_device(clean), op, x)));
      }
    }
  }
}

TEMPLATE_TEST_CASE("what is not finite reaches the rows that depend on it and no other",
                   "[quasiseparable_apply]", (Case<double, transition::Scalar>),
                   (Case<float, transition::Diagonal>), (Case<double, transition::Diagonal>),
                   (Case<float, transition::Dense>), (Case<double, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  const index_t n = quick() ? 200 : 700, at = 133;
  Random random(5);
  for (const index_t k : {1, 9}) {
    const auto x = random.array<T, 3>({1, n, k});
    const auto check = [&](const char* what, const Quasiseparable<T, K>& m, const Array<T, 3>& in,
                           const auto& affected) {
      const auto y = product(on_device(m), Op::none, in);
      index_t wrong = 0;
      for (index_t i = 0; i < n; ++i) wrong += std::isfinite(y(0, i, 0)) == affected(i);
      INFO(what << ", k " << k);
      CHECK(wrong == 0);
      // Another right-hand side is not concerned where x is the culprit.
      if (k > 1 && what[0] == 'x') {
        for (index_t i = 0; i < n; ++i) wrong += !std::isfinite(y(0, i, 1));
        CHECK(wrong == 0);
      }
    };
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      auto x_bad = x;
      x_bad(0, at, 0) = bad;
      const auto below = [](index_t i) { return i >= at; };
      const auto above = [](index_t i) { return i <= at; };
      check("x, lower", random_quasiseparable<T, K>(n, {3, 0}, 1, 14), x_bad, below);
      check("x, upper", random_quasiseparable<T, K>(n, {0, 3}, 1, 14), x_bad, above);
      auto m = random_quasiseparable<T, K>(n, {3, 3}, 1, 14);
      const index_t width = m.a.size() / n;
      m.a.data()[at * width + width / 2] = bad;
      check("a", m, x, [](index_t i) { return i > at; });
      m = random_quasiseparable<T, K>(n, {3, 3}, 1, 14);
      m.b.data()[at * width + width / 2] = bad;
      check("b", m, x, [](index_t i) { return i < at; });
      m = random_quasiseparable<T, K>(n, {3, 3}, 1, 14);
      m.g(0, at, 2) = bad;
      check("g", m, x, [](index_t i) { return i == at; });
    }
  }
}

TEMPLATE_TEST_CASE("products of transitions outside the range lose nothing",
                   "[quasiseparable_apply]", (Case<float, transition::Scalar>),
                   (Case<double, transition::Diagonal>),
                   (Case<std::complex<float>, transition::Diagonal>),
                   (Case<float, transition::Dense>), (Case<double, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  using R = real_t<T>;
  constexpr bool single = std::is_same_v<R, float>;
  const index_t n = quick() ? K::rank == 4 ? 500 : 1200 : 100000;
  const Order r{3, 2};
  Random random(6);
  const auto x = random.array<T, 3>({1, n, 1});

  check_against_host(on_device(with_transitions<T, K>(n, r, T(R(1e-3)))), Op::none, x);

  // Far apart, a large number among zeros: what is left of it after a chunk is all that there is.
  Array<T, 3> spikes({1, n, 1});
  for (index_t i = 5; i < n; i += 200) spikes(0, i, 0) = T(R(single ? 1e30 : 1e280));
  check_against_host(on_device(with_transitions<T, K>(n, r, T(R(single ? 0.4 : 3e-3)))), Op::none,
                     spikes);

  // Modulus 1: nothing decays. (Dense couples, so that products grow; they stay small here.)
  for (const R sign : {R(1), R(-1)}) {
    if (K::rank == 4) continue;
    check_against_host(on_device(with_transitions<T, K>(n, r, T(sign))), Op::none, x, n);
  }

  // Products that overflow, of a state that is zero.
  auto m = with_transitions<T, K>(n, r, T(1000));
  const Array<T, 3> zero({1, n, 1});
  const auto image = product(on_device(m), Op::none, zero);
  CHECK(std::all_of(image.begin(), image.end(), [](const T& v) { return v == T{}; }));

  // They overflow, and then a transition forgets everything.
  const index_t row = m.a.size() / n;
  for (index_t i = 7; i < n; i += 9) {
    std::fill_n(m.a.data() + i * row, row, T{});
    std::fill_n(m.b.data() + i * (m.b.size() / n), m.b.size() / n, T{});
  }
  check_against_host(on_device(m), Op::none, x);

  // They vanish, then grow: the product over a period is moderate, its parts are not.
  auto swinging = with_transitions<T, K>(n, r, T(1));
  for (index_t i = 0; i < n; ++i) {
    const R factor = i % 64 < 32 ? R(0.01) : R(100);
    for (index_t l = 0; l < row; ++l) swinging.a.data()[i * row + l] *= factor;
    const index_t upper = swinging.b.size() / n;
    for (index_t l = 0; l < upper; ++l) swinging.b.data()[i * upper + l] *= factor;
  }
  Array<T, 3> one({1, n, 1});
  one(0, 0, 0) = T(1);
  const auto swung = product(on_device(swinging), Op::none, one);
  CHECK(std::all_of(swung.begin(), swung.end(), [](const T& v) {
    return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
  }));
}

TEMPLATE_TEST_CASE("generators broadcast over the batch, with gaps and negative strides",
                   "[quasiseparable_apply]", (Case<double, transition::Diagonal>),
                   (Case<std::complex<float>, transition::Dense>),
                   (Case<double, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  Random random(7);
  const index_t n = 60;
  for (const index_t r : {3, 4}) {
    auto shared = random_quasiseparable<T, K>(n, {r, r}, 1, 9);
    const auto own = random_quasiseparable<T, K>(n, {r, r}, 3, 10);
    // The same numbers, states in reverse behind every second column.
    Array<T, 3> p_store({1, n, 2 * r});
    const View<T, 3> p(p_store.data(), {1, n, r}, {0, 2 * r, 2});
    copy(shared.p.view(), p.reversed(2));
    Mirror memory, at_p;
    at_p.cover(p);
    at_p.send();
    const auto there = to_device(own), shared_there = to_device(shared);
    auto m = there.view();
    m.a = shared_there.a.view();
    m.p = View<const T, 3, space::cuda>(at_p(p).reversed(2));
    QuasiseparableView<T, K> here = own.view();
    here.a = shared.a.view();
    here.p = shared.p.view();
    for (const index_t k : {1, 9}) {
      const auto x = random.array<T, 3>({3, n, k});
      auto expected = poisoned<T, 3>({3, n, k});
      apply(exec::cpu{}, here, Op::none, x.view(), expected.view());
      const auto x_there = to_device(x);
      auto y_there = to_device(poisoned<T, 3>({3, n, k}));
      Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(m, k)}, uninitialized);
      apply(exec::cuda{nullptr, workspace}, m, Op::none, x_there.view(), y_there.view());
      const auto y = to_host(y_there);
      double worst = 0;
      for (index_t i = 0; i < y.size(); ++i) {
        worst = std::max(worst, static_cast<double>(std::abs(y.data()[i] - expected.data()[i])));
      }
      CHECK(worst <= 1000 * static_cast<double>(epsilon<T>));
    }
  }
}

TEMPLATE_TEST_CASE("one matrix, a batch of right-hand sides: alone or together, the same bits",
                   "[quasiseparable_apply]", (Case<double, transition::Diagonal>),
                   (Case<float, transition::Dense>)) {
  const index_t n = quick() ? 100 : 300;
  for (const index_t k : {1, 10}) check_batches(TestType::make(n, {8, 3}, 1, 11), k);
}

TEMPLATE_TEST_CASE("a call on a device that cannot be served writes nothing",
                   "[quasiseparable_apply]", (Case<double, transition::Diagonal>),
                   (Case<double, transition::Dense>)) {
  const index_t n = 100, k = 2;
  const auto m = TestType::make(n, {4, 4}, 2, 8);
  const auto view = m.device().view();
  const Array<double, 3, space::cuda> x({2, n, k});
  Array<double, 3> seven({2, n, k});
  for (double& v : seven) v = 7;
  auto y = to_device(seven);
  const index_t bytes = apply_workspace_bytes(view, k);
  REQUIRE(bytes > 0);
  Array<std::byte, 1, space::cuda> workspace({bytes + 256});
  const auto ws = workspace.view();
  const auto run = [&](auto space, auto in, auto out) {
    apply(exec::cuda{nullptr, space}, view, Op::none, in, out);
  };
  CHECK_THROWS_AS(run(ws.slice(0, 0, bytes - 1), x.view(), y.view()), DomainError);
  CHECK_THROWS_AS(run(View<std::byte, 1, space::cuda>(), x.view(), y.view()), DomainError);
  CHECK_THROWS_AS(run(ws.slice(0, 8, bytes + 8), x.view(), y.view()), Unsupported);
  CHECK_THROWS_AS(run(ws, x.view(), View<double, 3, space::cuda>(y.data(), {2, n, k}, {0, k, 1})),
                  Unsupported);
  CHECK_THROWS_AS(apply_workspace_bytes(view, -1), ShapeError);
  auto bad = view;
  bad.q = bad.q.slice(2, 0, 3);
  CHECK_THROWS_AS(apply(exec::cuda{nullptr, ws}, bad, Op::none, x.view(), y.view()), ShapeError);
  CHECK(same_bits(to_host(y), seven));
}

TEMPLATE_TEST_CASE("dense transitions of orders beyond the tensor cores' tiles",
                   "[quasiseparable_apply]", (Case<double, transition::Dense>),
                   (Case<std::complex<float>, transition::Dense>)) {
  using T = typename TestType::Value;
  Random random(9);
  for (const index_t n : {1, 2, 19}) {
    for (const index_t k : {1, 9}) check_products(TestType::make(n, {21, 17}, 2, 1), 21, k, random);
  }
  const auto m = TestType::make(quick() ? 60 : 2000, {3, 18}, 1, 2);
  check_strides(m, 2, random);
  check_against_host(m, Op::none, random.array<T, 3>({1, m.rows(), 1}));
  check_against_host(m, Op::adjoint, random.array<T, 3>({2, m.rows(), 3}));
}

TEST_CASE("known answers of the shift", "[quasiseparable_apply]") {
  // Rank 1, transitions 1: M = ones off the diagonal, d on it.
  for (const double d : {0.0, 1.0}) {
    Quasiseparable<double, transition::Scalar> m(4, {1, 1});
    for (auto* generator : {&m.p, &m.q, &m.g, &m.h}) {
      for (double& v : *generator) v = 1;
    }
    for (double& v : m.a) v = 1;
    for (double& v : m.b) v = 1;
    for (double& v : m.d) v = d;
    Array<double, 3> x({1, 4, 1});
    for (index_t i = 0; i < 4; ++i) x(0, i, 0) = static_cast<double>(1 << i);
    const auto y = product(on_device(m), Op::none, x);
    for (index_t i = 0; i < 4; ++i) CHECK(y(0, i, 0) == 15 - (1 - d) * x(0, i, 0));
  }
}
