// Operands and results of more than 2^31 numbers: 32-bit offsets would wrap around. On a device of 64 GB; with
// small sizes where time is short. Most of the memory holds zeroes, what is not zero lies at its end.
#include <catch2/catch.hpp>
#include <complex>

#include "structmat/cauchy/apply.hpp"
#include "structmat/dense/singular_values.hpp"
#include "structmat/lowrank/apply.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/toeplitz/plan.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "support/gpu.hpp"
#include "support/random.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// So many numbers that the last ones have offsets beyond 2^31.
index_t large() {
  return quick() ? index_t{1} << 13 : index_t{1} << 31;
}

/// Runs `test`, or skips it where the device has not the memory.
template <class F>
void where_memory_allows(F&& test) {
  try {
    test();
  } catch (const BackendError& error) {
    constexpr int out_of_memory = 2;  // cudaErrorMemoryAllocation
    if (error.code() != out_of_memory) throw;
    skip(error.what());
  }
}

template <int Rank, class T>
void send(const Array<T, Rank>& from, T* to) {
  detail::copy_host_to_device(to, from.data(), sizeof(T) * static_cast<std::size_t>(from.size()));
}
template <class T>
Array<T, 1> fetch(const T* from, index_t size) {
  Array<T, 1> to({size}, uninitialized);
  detail::copy_device_to_host(to.data(), from, sizeof(T) * static_cast<std::size_t>(size));
  return to;
}

template <class M, class T>
void multiply(const M& m, Op op, View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  const auto bytes = [&] {
    if constexpr (requires { apply_workspace_bytes(m, index_t{1}, index_t{1}); }) {
      return apply_workspace_bytes(m, x.extent(2), x.extent(0));
    } else {
      return apply_workspace_bytes(m, x.extent(2));
    }
  };
  Array<std::byte, 1, space::cuda> workspace({bytes()}, uninitialized);
  apply(exec::cuda{nullptr, workspace}, m, op, x, y);
}

/// The largest difference of two vectors, over the largest modulus of the second.
template <class A, class B>
double difference(const A& got, const B& expected) {
  double worst = 0, most = 0;
  for (index_t i = 0; i < expected.size(); ++i) {
    const double wanted = expected.data()[i];
    worst = std::max(worst, std::abs(static_cast<double>(got.data()[i]) - wanted));
    most = std::max(most, std::abs(wanted));
  }
  return worst / most;
}

}  // namespace

TEST_CASE("columns of a Toeplitz product beyond 2^31 numbers", "[core_large]") {
  where_memory_allows([] {
    Random random(1);
    const index_t n = quick() ? 512 : index_t{1} << 20, k = large() / n + 1;
    Toeplitz<float> m(n, n);
    random.fill(m.lags);
    const auto there = to_device(m);
    const ToeplitzPlan<float, space::cuda> plan({}, there.view(),
                                                {.method = toeplitz::Method::fourier});
    const auto last = random.array<float, 1>({n});
    Array<float, 3, space::cuda> x({1, k, n}), y({1, k, n}, uninitialized);
    send(last, x.data() + (k - 1) * n);
    multiply(plan, Op::none, View<const float, 3, space::cuda>(x).transposed(),
             y.view().transposed());

    const auto got = fetch(y.data() + (k - 1) * n, n);
    double worst = 0;
    for (index_t i = 0; i < n; i += n / 8 + 1) {
      double expected = 0;
      for (index_t j = 0; j < n; ++j) expected += double(m.lags(0, i - j + n - 1)) * last(j);
      worst = std::max(worst, std::abs(expected - got(i)));
    }
    CHECK(worst <= 4 * 20 * epsilon<float> * double(n));  // ||c||_2 ||x||_2 <= 2 n
    for (const float v : fetch(y.data() + (k - 2) * n, 100)) CHECK(v == 0);
  });
}

TEST_CASE("a batch of Cauchy products beyond 2^31 numbers", "[core_large]") {
  where_memory_allows([] {
    Random random(2);
    const index_t n = 64, k = quick() ? 8 : 1024, batch = large() / (n * k) + 1;
    Cauchy<float> m(n, n);
    for (index_t i = 0; i < n; ++i) {
      m.s(0, i) = static_cast<float>(i);
      m.t(0, i) = static_cast<float>(i) + 0.5F + 0.25F * static_cast<float>(random.real());
    }
    const auto there = to_device(m);
    const auto last = random.array<float, 2>({n, k});
    Array<float, 3, space::cuda> x({batch, n, k}), y({batch, n, k}, uninitialized);
    send(last, x.data() + (batch - 1) * n * k);
    multiply(there.view(), Op::none, View<const float, 3, space::cuda>(x), y.view());

    Array<double, 2> expected({n, k});
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        for (index_t c = 0; c < k; ++c)
          expected(i, c) += last(j, c) / (double(m.s(0, i)) - m.t(0, j));
      }
    }
    CHECK(difference(fetch(y.data() + (batch - 1) * n * k, n * k), expected) <=
          2 * double(n) * epsilon<float>);
    for (const float v : fetch(y.data() + (batch - 2) * n * k, n * k)) REQUIRE(v == 0);
  });
}

TEST_CASE("factors of low rank beyond 2^31 numbers", "[core_large]") {
  where_memory_allows([] {
    Random random(3);
    const index_t r = 32, n = large() / r + 1, tail = 200;
    LowRank<float, space::cuda> m;
    m.u = Array<float, 3, space::cuda>({1, n, r});
    m.v = Array<float, 3, space::cuda>({1, n, r});
    const auto u = random.array<float, 2>({tail, r}), v = random.array<float, 2>({tail, r});
    send(u, m.u.data() + (n - tail) * r);
    send(v, m.v.data() + (n - tail) * r);
    const auto x_tail = random.array<float, 1>({tail});
    Array<float, 3, space::cuda> x({1, n, 1}), y({1, n, 1}, uninitialized);
    send(x_tail, x.data() + n - tail);
    for (const Op op : {Op::none, Op::transpose}) {
      multiply(m.view(), op, View<const float, 3, space::cuda>(x), y.view());
      const auto& left = op == Op::none ? u : v;
      const auto& right = op == Op::none ? v : u;
      Array<double, 1> inner({r}), expected({tail});
      for (index_t i = 0; i < tail; ++i) {
        for (index_t s = 0; s < r; ++s) inner(s) += double(right(i, s)) * x_tail(i);
      }
      for (index_t i = 0; i < tail; ++i) {
        for (index_t s = 0; s < r; ++s) expected(i) += inner(s) * left(i, s);
      }
      CHECK(difference(fetch(y.data() + n - tail, tail), expected) <=
            double(tail) * epsilon<float>);
      for (const float w : fetch(y.data(), 50)) CHECK(w == 0);
    }
  });
}

TEST_CASE("quasiseparable generators beyond 2^31 numbers", "[core_large]") {
  where_memory_allows([] {
    Random random(4);
    const index_t r = 8, tail = 1000, n = large() / (r * r) + tail;
    const auto last = random_quasiseparable<float, transition::Dense>(tail, {r, r}, 1, 4);
    Quasiseparable<float, transition::Dense, space::cuda> m(n, {r, r});
    const auto send_tail = [&](const auto& from, auto& to) {
      send(from, to.data() + (to.size() - from.size()));
    };
    send_tail(last.p, m.p), send_tail(last.q, m.q), send_tail(last.a, m.a);
    send_tail(last.d, m.d);
    send_tail(last.g, m.g), send_tail(last.h, m.h), send_tail(last.b, m.b);
    const auto x_tail = random.array<float, 3>({1, tail, 1});
    Array<float, 3, space::cuda> x({1, n, 1}), y({1, n, 1}, uninitialized);
    send_tail(x_tail, x);
    for (const Op op : {Op::none, Op::transpose}) {
      multiply(m.view(), op, View<const float, 3, space::cuda>(x), y.view());
      Array<float, 3> expected({1, tail, 1});
      apply(exec::cpu{}, last.view(), op, x_tail.view(), expected.view());
      CHECK(difference(fetch(y.data() + n - tail, tail), expected) <= 100 * epsilon<float>);
      for (const float v : fetch(y.data(), 50)) CHECK(v == 0);
    }
  });
}

TEST_CASE("values of polynomials beyond 2^31 numbers", "[core_large]") {
  where_memory_allows([] {
    Random random(5);
    const index_t n = 16, k = quick() ? 8 : 2048, m = large() / k + 1, tail = 100;
    Vandermonde<float> v(m, n);
    random.fill(v.x);
    const auto there = to_device(v);
    const auto x = random.array<float, 3>({1, n, k});
    Array<float, 3, space::cuda> y({1, m, k}, uninitialized);
    multiply(there.view(), Op::none, View<const float, 3, space::cuda>(to_device(x)), y.view());
    const auto value = [&](index_t i, index_t c) {
      double sum = 0;
      for (index_t j = n - 1; j >= 0; --j) sum = sum * v.x(0, i) + x(0, j, c);
      return sum;
    };
    double worst = 0;
    for (const index_t i : {index_t{0}, m / 2, m - 1}) {
      const auto row = fetch(y.data() + i * k, k);
      for (index_t c = 0; c < k; ++c) worst = std::max(worst, std::abs(row(c) - value(i, c)));
    }
    CHECK(worst <= 2 * double(n) * double(n) * epsilon<float>);

    // Sums of powers over as many numbers: all but the last rows are zero.
    const auto x_tail = random.array<float, 2>({tail, k});
    Array<float, 3, space::cuda> weights({1, m, k});
    send(x_tail, weights.data() + (m - tail) * k);
    Array<float, 3, space::cuda> sums({1, n, k}, uninitialized);
    multiply(there.view(), Op::transpose, View<const float, 3, space::cuda>(weights), sums.view());
    Array<double, 2> expected({n, k});
    for (index_t i = 0; i < tail; ++i) {
      for (index_t c = 0; c < k; ++c) {
        double power = x_tail(i, c);
        for (index_t j = 0; j < n; ++j, power *= v.x(0, m - tail + i)) expected(j, c) += power;
      }
    }
    CHECK(difference(to_host(sums), expected) <= 2 * double(tail) * epsilon<float>);
  });
}

TEST_CASE("singular values of matrices beyond 2^31 numbers", "[core_large]") {
  where_memory_allows([] {
    Random random(6);
    const index_t n = 32, batch = large() / (n * n) + 1;
    // Reflections on both sides of 1, ..., n.
    const auto u = random.array<double, 1>({n}), v = random.array<double, 1>({n});
    const auto reflection = [&](const Array<double, 1>& w, index_t i, index_t j) {
      double square = 0;
      for (const double t : w) square += t * t;
      return (i == j ? 1.0 : 0.0) - 2 * w(i) * w(j) / square;
    };
    Array<float, 2> last({n, n});
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        double sum = 0;
        for (index_t s = 0; s < n; ++s)
          sum += reflection(u, i, s) * double(s + 1) * reflection(v, s, j);
        last(i, j) = static_cast<float>(sum);
      }
    }
    Array<float, 3, space::cuda> a({batch, n, n});
    send(last, a.data() + (batch - 1) * n * n);
    Array<float, 2, space::cuda> sigma({batch, n}, uninitialized);
    Array<int, 1, space::cuda> status({batch}, uninitialized);
    const View<const float, 3, space::cuda> matrices = a;
    Array<std::byte, 1, space::cuda> workspace({dense::singular_values_workspace_bytes(matrices)},
                                               uninitialized);
    dense::singular_values(exec::cuda{nullptr, workspace}, matrices, sigma.view(), status.view());
    const auto values = fetch(sigma.data() + (batch - 1) * n, n);
    for (index_t i = 0; i < n; ++i)
      CHECK(std::abs(values(i) - double(n - i)) <= double(n * n) * epsilon<float>);
    for (const float s : fetch(sigma.data() + (batch - 2) * n, n)) CHECK(s == 0);
    CHECK(fetch(status.data() + batch - 1, 1)(0) == 0);
  });
}
