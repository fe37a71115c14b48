// Structured matrices as dense ones on the device: all families against the host.
#include <catch2/catch.hpp>

#include "structmat/cauchy/cauchy.hpp"
#include "structmat/vandermonde/vandermonde.hpp"
#include "support/battery.hpp"
#include "support/butterfly.hpp"
#include "support/gpu.hpp"
#include "support/low_rank.hpp"
#include "support/on_device.hpp"
#include "support/toeplitz.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

template <class V>
Array<std::byte, 1, space::cuda> workspace_for(const V& view) {
  if constexpr (requires { to_dense_workspace_bytes(view); })
    return Array<std::byte, 1, space::cuda>({to_dense_workspace_bytes(view)});
  else
    return Array<std::byte, 1, space::cuda>({0});
}

/// Where element (b, i, j) lies, and how large the memory is.
struct Layout {
  index_t offset, batch, row, column, size;
};
/// By rows, by columns, backwards with gaps.
std::vector<Layout> layouts(index_t batch, index_t m, index_t n) {
  const index_t each = m * n, wide = 3 * n + 1;
  return {{0, each, n, 1, batch * each},
          {0, each, 1, m, batch * each},
          {std::max<index_t>(0, batch * m * wide - 1), -m * wide, -wide, -3, batch * m * wide}};
}

/// In each layout: the entries of the host up to `ulps` of max(|entry|, scale), gaps untouched.
/// Entries below the range of numbers with all their figures count as the least one.
template <class M>
void check_dense(const M& m, double ulps, double scale = 0) {
  using T = typename M::value_type;
  constexpr double least = std::numeric_limits<real_t<T>>::min();
  const auto expected = m.to_dense();
  const auto there = to_device(m);
  auto workspace = workspace_for(there.view());
  const index_t rows = m.rows(), cols = m.cols(), batch = m.batch();
  INFO(rows << " x " << cols << ", batch " << batch);
  for (const Layout& l : layouts(batch, rows, cols)) {
    const auto poison = poisoned<T, 1>({l.size});
    auto memory = to_device(poison);
    to_dense(exec::cuda{nullptr, workspace}, there.view(),
             View<T, 3, space::cuda>(memory.data() + l.offset, {batch, rows, cols},
                                     {l.batch, l.row, l.column}));
    auto got = to_host(memory);
    double worst = 0;
    for (index_t b = 0; b < batch; ++b) {
      for (index_t i = 0; i < rows; ++i) {
        for (index_t j = 0; j < cols; ++j) {
          T& value = got(l.offset + b * l.batch + i * l.row + j * l.column);
          const T right = expected(b, i, j);
          if (value != right) {
            const double error =
                std::abs(value - right) / std::max<double>({std::abs(right), scale, least});
            worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
          }
          value = T(NAN);
        }
      }
    }
    CHECK(worst <= ulps * epsilon<T>);
    CHECK(same_bits(got, poison));
  }
}

template <Scalar T>
CauchyLike<T> random_cauchy_like(index_t m, index_t n, index_t order, index_t batch,
                                 Random& random) {
  CauchyLike<T> c(m, n, order, batch);
  random.fill(c.s);
  random.fill(c.t);
  random.fill(c.g);
  random.fill(c.h);
  for (T& v : c.t) v += T(4);
  return c;
}
template <Scalar T>
Cauchy<T> random_cauchy(index_t m, index_t n, index_t batch, Random& random) {
  const auto like = random_cauchy_like<T>(m, n, 0, batch, random);
  Cauchy<T> c(m, n, batch);
  c.s = like.s;
  c.t = like.t;
  return c;
}
template <Scalar T>
Vandermonde<T> random_vandermonde(index_t m, index_t n, index_t batch, Random& random) {
  Vandermonde<T> v(m, n, batch);
  random.fill(v.x);
  return v;
}
template <Scalar T>
LogVandermonde<T> random_exponentials(index_t m, index_t n, index_t batch, Random& random) {
  LogVandermonde<T> v(m, n, batch);
  for (T& a : v.a) a = random.scalar<T>() - T(1);
  return v;
}

struct Shape {
  index_t m, n;
};
constexpr Shape shapes[] = {{0, 0}, {0, 3}, {4, 0}, {1, 1}, {1, 7}, {9, 1}, {33, 130}, {129, 34}};

}  // namespace

TEMPLATE_TEST_CASE("dense matrices on a device are those of the host", "[dense_to_dense]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  index_t batch = 1;
  constexpr bool few = std::same_as<T, float> || std::same_as<T, std::complex<double>>;
  for (const auto& [m, n] : shapes) {
    if (few && m != 9 && m != 33) continue;
    check_dense(random_toeplitz<T>(m, n, batch, random), 0);
    check_dense(random_hankel<T>(m, n, batch, random), 0);
    check_dense(random_circulant<T>(n, batch, random), 0);
    check_dense(random_skew_circulant<T>(n, batch, random), 0);
    check_dense(random_cauchy<T>(m, n, batch, random), 4);
    check_dense(random_cauchy_like<T>(m, n, 3, batch, random), 8, 1);
    check_dense(random_cauchy_like<T>(m, n, 0, batch, random), 0);
    check_dense(random_vandermonde<T>(m, n, batch, random), 2 + double(n));
    check_dense(random_exponentials<T>(m, n, batch, random), 16);
    check_dense(random_low_rank<T>(m, n, 5, batch, random), 8, 1);
    check_dense(random_low_rank<T>(m, n, 0, batch, random), 0);
    check_dense(random_butterfly<T>(m, n, 1, Strides::increasing, batch, random), 32, 1);
    if (n < 100) check_dense(random_butterfly<T>(m, n, 3, Strides::decreasing, 1, random), 64, 8);
    batch = batch % 3 + 1;
  }
  for (const auto& shape : monarch_shapes) check_dense(random_monarch<T>(shape, 2, random), 16, 1);
  // More columns than go through a butterfly at once.
  if (!few) check_dense(random_butterfly<T>(5, 300, 1, Strides::decreasing, 1, random), 32, 1);
}

TEST_CASE("known entries: Hilbert, exponents beyond the range, coincidences", "[dense_to_dense]") {
  Cauchy<double> hilbert(3, 3);
  for (index_t i = 0; i < 3; ++i) {
    hilbert.s(0, i) = double(i + 1);
    hilbert.t(0, i) = -double(i);
  }
  const auto expand = [](const auto& m) {
    const auto there = to_device(m);
    using T = typename std::decay_t<decltype(m)>::value_type;
    Array<T, 3, space::cuda> dense({m.batch(), m.rows(), m.cols()});
    to_dense(exec::cuda{}, there.view(), dense.view());
    return to_host(dense);
  };
  const auto h = expand(hilbert);
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j) CHECK(h(0, i, j) == 1.0 / double(i + j + 1));
  }
  hilbert.t(0, 2) = 1;
  CHECK(std::isinf(expand(hilbert)(0, 0, 2)));
  hilbert.coincidence = Coincidence::skip;
  CHECK(expand(hilbert)(0, 0, 2) == 0);

  Vandermonde<float> v(4, 300);
  v.x(0, 1) = 1.5f;
  v.x(0, 2) = -1;
  v.x(0, 3) = 0.5f;
  const auto p = expand(v);
  CHECK(p(0, 0, 0) == 1);
  CHECK(p(0, 0, 1) == 0);
  CHECK(std::isinf(p(0, 1, 299)));
  CHECK(p(0, 1, 3) == 3.375f);
  CHECK(p(0, 2, 299) == -1);
  CHECK(p(0, 3, 140) == std::ldexp(1.0f, -140));
  CHECK(p(0, 3, 299) == 0);

  // gpu.md, 13: the phase of exp(i theta l) for a long lag.
  LogVandermonde<std::complex<float>> e(1000001, 1);
  e.a(0, 0) = {0, 2.7182818f};
  CHECK(std::abs(expand(e)(0, 1000000, 0).real() - 0.98919093f) <= 1e-6f);
}

TEST_CASE("a dense matrix of more than 2^31 numbers", "[dense_to_dense]") {
  if (quick()) return;
  const index_t n = 46400;
  Random random(4);
  const auto t = random_toeplitz<float>(n, n, 1, random);
  const auto there = to_device(t);
  Array<float, 3, space::cuda> dense({1, n, n}, uninitialized);
  to_dense(exec::cuda{}, there.view(), dense.view());
  for (const index_t i : {index_t(0), n / 2, n - 1}) {
    std::vector<float> row(static_cast<std::size_t>(n));
    detail::copy_device_to_host(row.data(), dense.data() + i * n, row.size() * sizeof(float));
    index_t wrong = 0;
    for (index_t j = 0; j < n; ++j)
      wrong += row[static_cast<std::size_t>(j)] != t.lags(0, i - j + n - 1);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a Hankel matrix and its Toeplitz matrix share their numbers on a device",
          "[dense_to_dense]") {
  Random random(2);
  const auto h = random_hankel<float>(7, 12, 2, random);
  const auto there = to_device(h);
  const auto t = toeplitz::from_hankel(there.view());
  CHECK(t.lags.data() == there.anti_diagonals.data());
  Array<float, 3, space::cuda> dense({2, 7, 12}), back({2, 7, 12});
  to_dense(exec::cuda{}, t, dense.view().reversed(2));
  CHECK(same_bits(to_host(dense), h.to_dense()));
  to_dense(exec::cuda{}, hankel::from_toeplitz(t), back.view());
  CHECK(same_bits(to_host(back), h.to_dense()));

  // H x = T (J x).
  const auto x = to_device(random.array<float, 3>({2, 12, 3}));
  Array<float, 3, space::cuda> left({2, 7, 3}), right({2, 7, 3});
  apply(exec::cuda{}, there.view(), Op::none, std::as_const(x).view(), left.view());
  apply(exec::cuda{}, t, Op::none, std::as_const(x).view().reversed(1), right.view());
  CHECK(same_bits(to_host(left), to_host(right)));
}

TEST_CASE("what does not fit is refused, and the rest can be captured", "[dense_to_dense]") {
  Random random(3);
  const auto t = to_device(random_toeplitz<double>(6, 5, 2, random));
  Array<double, 3, space::cuda> wrong({2, 5, 5}), dense({2, 6, 5});
  CHECK(message_from<ShapeError>([&] { to_dense(exec::cuda{}, t.view(), wrong.view()); }) ==
        "toeplitz::to_dense: the result has extent 5 in dimension 1, expected 6");
  CHECK(message_from<Unsupported>([&] {
          to_dense(exec::cuda{}, t.view(),
                   View<double, 3, space::cuda>(dense.data(), {2, 6, 5}, {0, 5, 1}));
        }) ==
        "toeplitz::to_dense: the result has stride 0 in dimension 0 of extent 2; an output "
        "cannot be broadcast");

  const auto b = random_butterfly<double>(30, 20, 2, Strides::increasing, 2, random);
  const auto there = to_device(b);
  Array<double, 3, space::cuda> first({2, 30, 20}), again({2, 30, 20});
  CHECK(message_from<DomainError>([&] {
          to_dense(exec::cuda{}, there.view(), first.view());
        }).rfind("butterfly::to_dense: the workspace has 0 bytes, ") == 0);
  auto workspace = workspace_for(there.view());
  to_dense(exec::cuda{nullptr, workspace}, there.view(), first.view());
  // The graph shares the workspace, and runs on a stream that does not wait.
  device_synchronize();
  replay([&](void* stream) {
    to_dense(exec::cuda{stream, workspace}, there.view(), again.view());
    to_dense(exec::cuda{stream}, t.view(), dense.view());
  });
  CHECK(same_bits(to_host(first), to_host(again)));
  CHECK(same_bits(to_host(dense), to_host(t).to_dense()));
}
