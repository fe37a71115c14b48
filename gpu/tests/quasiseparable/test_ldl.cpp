// Factorisations on the device against their twins, and against dense ones.
#include "structmat/quasiseparable/ldl.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "ldl_on_device.hpp"
#include "structmat/quasiseparable/from_kernel.hpp"

using namespace structmat;
using namespace structmat::test;
using Kind = PivotStatus::Kind;

TEMPLATE_PRODUCT_TEST_CASE(
    "the factor is that of the host", "[quasiseparable_ldl]", (Case),
    ((float, transition::Scalar), (double, transition::Scalar),
     (std::complex<float>, transition::Scalar), (std::complex<double>, transition::Scalar),
     (float, transition::Diagonal), (double, transition::Diagonal),
     (std::complex<float>, transition::Diagonal), (std::complex<double>, transition::Diagonal),
     (float, transition::Dense), (double, transition::Dense),
     (std::complex<float>, transition::Dense), (std::complex<double>, transition::Dense))) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  unsigned seed = 0;
  for (const index_t n : {0, 1, 2, 31, 32, 33, 150, 700}) {
    for (const index_t r : {0, 1, 3, 4, 5, 8, 11, 32}) {
      // Wide states are slow on the emulation.
      if (quick() && ((r > 4 && n > 150) || (r > 8 && n > 33) || (r > 11 && n != 33))) continue;
      const index_t batch = 1 + seed % 2;
      const auto m = random_hermitian<T, K>(n, r, batch, ++seed);
      const auto expected = qs::factor_ldl(m);
      const auto got = factor_on_device(m);
      INFO("n " << n << ", r " << r);
      CHECK(got.ok());
      const double tolerance = 16.0 * double(n + r) * double(epsilon<T>);
      CHECK(difference(got.w, expected.w) <= tolerance);
      CHECK(difference(got.d, expected.d) <= tolerance);
    }
  }
}

namespace {

/// |M - L diag(d) L^H| relative to |M|, largest entries.
template <class K>
double residual(const Quasiseparable<double, K>& m, const FactorFromDevice<double>& f) {
  const index_t n = m.size();
  Quasiseparable<double, K> lower(n, {m.order().lower, 0});
  lower.p = m.p;
  lower.q = f.w;
  lower.a = m.a;
  for (double& v : lower.d) v = 1;
  const auto l = lower.to_dense(), dense = m.to_dense();
  double most = 0, scale = 0;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j) {
      double sum = dense(0, i, j);
      for (index_t k = 0; k <= j; ++k) sum -= l(0, i, k) * f.d(0, k) * l(0, j, k);
      most = std::max(most, std::abs(sum));
      scale = std::max(scale, std::abs(dense(0, i, j)));
    }
  }
  return most / scale;
}

}  // namespace

TEST_CASE("covariances close to singular", "[quasiseparable_ldl]") {
  using qs::Kernel;
  const index_t n = quick() ? 200 : 700;
  std::vector<double> times(static_cast<std::size_t>(n));
  Random random(4);
  const auto gaps = random.array<double, 1>({n});
  double t = 0;
  for (index_t i = 0; i < n; ++i) {
    times[std::size_t(i)] = t;
    t += 0.01 + 0.02 * std::abs(gaps(i));
  }
  for (const auto& [kernel, noise] :
       {std::pair{Kernel::matern52(1), 1e-2}, std::pair{Kernel::matern52(1), 1e-6},
        std::pair{Kernel::matern32(3), 1e-8},
        std::pair{Kernel::matern52(1) + Kernel::sho(4, 20), 1e-6},
        std::pair{Kernel::matern32(5) * Kernel::cosine(0.7) + Kernel::exponential(2), 1e-6}}) {
    const auto m = qs::from_kernel(times, kernel, noise);
    const auto got = factor_on_device(m);
    INFO(qs::to_string(kernel) << ", noise " << noise);
    REQUIRE(got.ok());
    const double eps = epsilon<double>;
    const double error = residual(m, got);
    UNSCOPED_INFO("residual " << error);
    CHECK(error <= 64 * double(n) * eps);
    const auto expected = qs::factor_ldl(m);
    UNSCOPED_INFO("d " << difference(got.d, expected.d));
    // Pivots are as small as the noise.
    CHECK(difference(got.d, expected.d) <= 64 * double(n) * eps / noise);
  }
}

TEMPLATE_TEST_CASE("the first bad pivot is found", "[quasiseparable_ldl]",
                   (Case<double, transition::Diagonal>), (Case<float, transition::Scalar>),
                   (Case<std::complex<double>, transition::Dense>)) {
  using T = typename TestType::Value;
  using K = typename TestType::Transition;
  constexpr index_t n = 150;
  for (const real_t<T> bad : {real_t<T>(-1), real_t<T>(NAN), real_t<T>(INFINITY)}) {
    for (const index_t at : {0, 1, 31, 32, 33, 63, 64, 100, 149}) {
      auto m = random_hermitian<T, K>(n, 3, 2, 5);
      m.d(1, at) = bad;
      m.d(1, n - 1) = std::min(std::real(m.d(1, n - 1)), real_t<T>(-2));
      const PivotStatus expected = qs::factor_ldl(m).status;
      const auto got = factor_on_device(m);
      INFO("pivot " << at << ", " << bad);
      CHECK(got.status(0).ok());
      CHECK(got.status(1).kind == expected.kind);
      CHECK(got.status(1).index == expected.index);
      CHECK(got.status(1).batch == 1);
      if (expected.kind == Kind::not_positive) {
        CHECK(got.status(1).pivot == Approx(expected.pivot).epsilon(1e-3));
      }
    }
  }
  for (const index_t at : {1, 30, 31, 32, 95, 148}) {
    for (const int which : {0, 1, 2}) {
      auto m = random_hermitian<T, K>(n, 3, 2, 11);
      const T value = T(1) * std::numeric_limits<real_t<T>>::quiet_NaN();
      if (which == 0) m.p(1, at, 1) = value;
      if (which == 1) m.q(1, at, 1) = value;
      if (which == 2) m.a.data()[(n + at) * (m.a.size() / (2 * n))] = value;
      const PivotStatus status = factor_on_device(m).status(1);
      INFO("generator " << which << ", row " << at);
      CHECK(status.kind == Kind::not_finite);
      CHECK(status.index == at);
    }
  }
  // These are nowhere in the matrix.
  auto m = random_hermitian<T, K>(n, 3, 1, 11);
  const auto clean = factor_on_device(m);
  m.p(0, 0, 0) = m.q(0, n - 1, 0) = m.a.data()[0] = m.a.data()[m.a.size() - 1] =
      T(std::numeric_limits<real_t<T>>::quiet_NaN());
  const auto got = factor_on_device(m);
  CHECK(got.ok());
  CHECK(same_bits(got.w, clean.w));
  CHECK(same_bits(got.d, clean.d));
}

TEST_CASE("a matrix whose chunks are definite need not be", "[quasiseparable_ldl]") {
  constexpr index_t n = 300;
  Quasiseparable<double, transition::Diagonal> m(n, {1, 1});
  for (index_t i = 0; i < n; ++i) {
    m.p(0, i, 0) = m.q(0, i, 0) = i == 2 || i == n - 2 ? 1 : 0;
    m.a(0, i, 0) = 1;
    m.d(0, i) = 1 - (i == n - 2 ? 1e-3 : 0);
  }
  const PivotStatus status = factor_on_device(m).status(0);
  CHECK(status.kind == Kind::not_positive);
  CHECK(status.index == n - 2);
  CHECK(status.pivot == Approx(-1e-3));
}

TEST_CASE("indefinite matrices go row by row", "[quasiseparable_ldl]") {
  using K = transition::Diagonal;
  const auto m = random_hermitian<double, K>(150, 5, 3, 8, false);
  const auto expected = qs::factor_ldl(m, {.definite = false});
  const auto got = factor_on_device(m, {.definite = false});
  CHECK(got.ok());
  CHECK(difference(got.w, expected.w) <= 1e-13);
  CHECK(difference(got.d, expected.d) <= 1e-13);
  const auto refused = factor_on_device(m);
  CHECK(refused.status(2).kind == Kind::not_positive);
  CHECK(refused.status(2).index == 1);
  Quasiseparable<double, K> zero(3, {1, 1});
  zero.d(0, 0) = 1;
  CHECK(factor_on_device(zero, {.definite = false}).status(0) == PivotStatus{Kind::zero, 0, 1, 0});
}

TEST_CASE("a Hermitian matrix has a real diagonal", "[quasiseparable_ldl]") {
  auto m = random_hermitian<std::complex<double>, transition::Scalar>(40, 2, 1, 3);
  m.d(0, 35) += std::complex<double>(0, 0.5);
  const PivotStatus status = factor_on_device(m).status(0);
  CHECK(status.kind == Kind::not_finite);
  CHECK(status.index == 35);
}

TEST_CASE("strides, batch and repetition change no bit", "[quasiseparable_ldl]") {
  using T = double;
  using K = transition::Dense;
  constexpr index_t n = 100, r = 3, batch = 3;
  const auto m = random_hermitian<T, K>(n, r, batch, 5);
  const auto f = factor_on_device(m), again = factor_on_device(m);
  CHECK(same_bits(f.w, again.w));
  CHECK(same_bits(f.d, again.d));
  for (index_t b = 0; b < batch; ++b) {
    Quasiseparable<T, K> one(n, {r, 0});
    copy(m.p.view().slice(0, b, b + 1), one.p.view());
    copy(m.q.view().slice(0, b, b + 1), one.q.view());
    copy(m.a.view().slice(0, b, b + 1), one.a.view());
    copy(m.d.view().slice(0, b, b + 1), one.d.view());
    const auto alone = factor_on_device(one);
    CHECK(same_bits(alone.w, to_array(f.w.view().slice(0, b, b + 1))));
    CHECK(same_bits(alone.d, to_array(f.d.view().slice(0, b, b + 1))));
  }

  // In the opposite order of states, with gaps; one p for all of the batch.
  auto p_store = Array<T, 3>({1, n, 2 * r}), q_store = Array<T, 3>({n, batch, r});
  const auto same_p = Quasiseparable<T, K>(m);
  Quasiseparable<T, K> broadcast = m;
  for (index_t b = 1; b < batch; ++b) {
    copy(m.p.view().slice(0, 0, 1), broadcast.p.view().slice(0, b, b + 1));
  }
  const auto expected = factor_on_device(broadcast);
  copy(m.p.view().slice(0, 0, 1),
       View<T, 3>(p_store.data(), {1, n, r}, {n * 2 * r, 2 * r, 2}).reversed(2));
  copy(m.q.view(), View<T, 3>(q_store.data(), {batch, n, r}, {r, batch * r, 1}));
  const HermitianOnDevice<T, K> there(m);
  auto p_there = to_device(p_store), q_there = to_device(q_store);
  auto w_there = to_device(poisoned<T, 3>({batch, n, 2 * r}));
  auto d_there = to_device(poisoned<T, 2>({n, batch}));
  auto status = to_device(Array<PivotStatus, 1>({2 * batch}));
  auto v = there.view();
  v.p = View<T, 3, space::cuda>(p_there.data(), {1, n, r}, {n * 2 * r, 2 * r, 2}).reversed(2);
  v.q = View<T, 3, space::cuda>(q_there.data(), {batch, n, r}, {r, batch * r, 1});
  const View<T, 3, space::cuda> w(w_there.data(), {batch, n, r}, {n * 2 * r, 2 * r, 2});
  const View<T, 2, space::cuda> d(d_there.data(), {batch, n}, {1, batch});
  auto workspace = junk(qs::factor_ldl_workspace_bytes(v));
  qs::factor_ldl(exec::cuda{nullptr, workspace.view()}, v, {}, w, d,
                 View<PivotStatus, 1, space::cuda>(status.data(), {batch}, {2}));
  const auto w_here = to_host(w_there);
  const auto d_here = to_host(d_there);
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) {
      CHECK(d_here(i, b) == expected.d(b, i));
      for (index_t l = 0; l < r; ++l) CHECK(w_here(b, i, 2 * l) == expected.w(b, i, l));
      CHECK(std::isnan(w_here(b, i, 1)));
    }
  }
}

TEST_CASE("factorisations are captured in graphs", "[quasiseparable_ldl]") {
  using T = double;
  using K = transition::Diagonal;
  constexpr index_t n = 200, r = 3;
  const auto m = random_hermitian<T, K>(n, r, 2, 5);
  const auto expected = factor_on_device(m);
  const HermitianOnDevice<T, K> there(m);
  auto w = to_device(poisoned<T, 3>({2, n, r}));
  auto d = to_device(poisoned<T, 2>({2, n}));
  auto status = to_device(Array<PivotStatus, 1>({2}));
  auto workspace = junk(qs::factor_ldl_workspace_bytes(there.view()));
  replay([&](void* stream) {
    qs::factor_ldl(exec::cuda{stream, workspace.view()}, there.view(), {}, w.view(), d.view(),
                   status.view());
  });
  CHECK(same_bits(to_host(w), expected.w));
  CHECK(same_bits(to_host(d), expected.d));
}

TEST_CASE("what a factorisation on the device refuses", "[quasiseparable_ldl]") {
  using K = transition::Diagonal;
  const auto m = random_hermitian<double, K>(100, 2, 1, 1);
  const HermitianOnDevice<double, K> there(m);
  Array<double, 3, space::cuda> w({1, 100, 2});
  Array<double, 2, space::cuda> d({1, 100}), wrong({1, 99});
  Array<PivotStatus, 1, space::cuda> status({1});
  auto workspace = junk(qs::factor_ldl_workspace_bytes(there.view()));
  const exec::cuda e{nullptr, workspace.view()};
  CHECK(message_from<ShapeError>([&] {
          qs::factor_ldl(e, there.view(), {}, w.view(), wrong.view(), status.view());
        }) == "quasiseparable::factor_ldl: the result has extent 99 in dimension 1, expected 100");
  CHECK(message_from<DomainError>([&] {
          qs::factor_ldl(
              e, there.view(), {},
              View<double, 3, space::cuda>(const_cast<double*>(there.q.data()), {1, 100, 2}),
              d.view(), status.view());
        }) == "quasiseparable::factor_ldl: w and q overlap in memory");
  const index_t bytes = workspace.size();
  CHECK(message_from<DomainError>([&] {
          qs::factor_ldl(exec::cuda{nullptr, workspace.view().slice(0, 0, bytes - 1)}, there.view(),
                         {}, w.view(), d.view(), status.view());
        }) == "quasiseparable::factor_ldl: the workspace has " + std::to_string(bytes - 1) +
                  " bytes, " + std::to_string(bytes) + " are needed");
  const auto wide = random_hermitian<double, K>(3, 33, 1, 1);
  CHECK(message_from<Unsupported>([&] { factor_on_device(wide); }) ==
        "quasiseparable::factor_ldl: order 33, at most 32 on a device");
  CHECK(message_from<Unsupported>([&] {
          qs::factor_ldl(e, there.view(), {},
                         View<double, 3, space::cuda>(w.data(), {1, 100, 2}, {0, 0, 1}), d.view(),
                         status.view());
        }) ==
        "quasiseparable::factor_ldl: w has stride 0 in dimension 1 of extent 100; an output cannot "
        "be broadcast");
}
