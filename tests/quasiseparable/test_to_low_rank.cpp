#include "structmat/quasiseparable/to_low_rank.hpp"

#include <catch2/catch.hpp>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_banded.hpp"
#include "structmat/quasiseparable/from_low_rank.hpp"
#include "structmat/quasiseparable/index_sets.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::quasiseparable;

namespace {

template <Scalar T>
T entry_of(const LowRankTriangles<T>& m, index_t b, index_t i, index_t j) {
  if (i == j) return m.d(b, i);
  const auto& left = i > j ? m.u : m.w;
  const auto& right = i > j ? m.v : m.x;
  T sum{};
  for (index_t k = 0; k < left.extent(2); ++k) sum += left(b, i, k) * right(b, j, k);
  return sum;
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("U V^T and W X^T have the triangles of M", "", (std::tuple),
                           ((double, transition::Scalar), (float, transition::Diagonal),
                            (double, transition::Dense), (std::complex<double>, transition::Dense),
                            (std::complex<float>, transition::Scalar))) {
  using T = std::tuple_element_t<0, TestType>;
  using K = std::tuple_element_t<1, TestType>;
  for (const index_t n : {0, 1, 2, 3, 12}) {
    for (const Order r : {Order{0, 2}, Order{1, 1}, Order{3, 2}}) {
      auto m = random_quasiseparable<T, K>(n, r, 2, 5);
      // Transitions with condition numbers of a few.
      for (auto* t : {&m.a, &m.b}) {
        for (T& x : *t) x *= real_t<T>(0.3);
        for (index_t b = 0; b < 2; ++b) {
          for (index_t i = 0; i < n; ++i) {
            if constexpr (K::rank == 2) (*t)(b, i) += T(0.8);
            if constexpr (K::rank == 3) {
              for (index_t k = 0; k < t->extent(2); ++k) (*t)(b, i, k) += T(0.8);
            }
            if constexpr (K::rank == 4) {
              for (index_t k = 0; k < t->extent(2); ++k) (*t)(b, i, k, k) += T(0.8);
            }
          }
        }
      }
      // What is not used may be anything.
      if (n > 1) {
        if (r.lower > 0) m.p(0, 0, 0) = T(NAN);
        m.h(1, 0, 0) = T(NAN);
      }
      const auto triangles = to_low_rank_triangles(m);
      const auto dense = m.to_dense();
      double worst = 0;
      for (index_t b = 0; b < 2; ++b) {
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < n; ++j) {
            const double error = std::abs(entry_of(triangles, b, i, j) - dense(b, i, j));
            worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
          }
        }
      }
      CHECK(worst <= 1e5 * double(epsilon<T>));
    }
  }
}

TEST_CASE("from low rank and back") {
  Random random(1);
  const index_t n = 5000;
  const auto u = random.array<double, 3>({1, n, 2}), v = random.array<double, 3>({1, n, 2});
  const auto triangles = to_low_rank_triangles(from_low_rank<double>(u, v));
  for (index_t i = 1; i < n; ++i) {
    for (index_t k = 0; k < 2; ++k) {
      REQUIRE(triangles.u(0, i, k) == u(0, i, k));
      REQUIRE(triangles.v(0, i - 1, k) == v(0, i - 1, k));
      REQUIRE(triangles.w(0, i - 1, k) == u(0, i - 1, k));
      REQUIRE(triangles.x(0, i, k) == v(0, i, k));
    }
  }
}

TEST_CASE("what has no such form is refused, a part may have it") {
  // Ones on the first subdiagonal.
  Array<double, 2> sub({1, 5});
  for (double& x : sub) x = 1;
  const auto shift =
      from_tridiagonal<double>(sub, Array<double, 2>({1, 6}), Array<double, 2>({1, 5}));
  CHECK(message_from<DomainError>([&] { to_low_rank_triangles(shift); }) ==
        "quasiseparable::to_low_rank_triangles: transition a[3] of batch entry 0 is singular, or "
        "not finite");
  CHECK(to_low_rank_triangles(principal_submatrix(shift.view(), 1, 3)).u(0, 1, 0) == 1);

  auto decay = random_quasiseparable<double, transition::Diagonal>(20000, {1, 1}, 1, 2);
  for (auto* t : {&decay.a, &decay.b}) {
    for (double& x : *t) x = 0.9;
  }
  CHECK(message_from<DomainError>([&] {
          to_low_rank_triangles(decay);
        }).find("over- or underflow") != std::string::npos);
  const auto part = to_low_rank_triangles(principal_submatrix(decay.view(), 500, 12500));
  for (const auto& [i, j] : {std::pair<index_t, index_t>{11999, 11900}, {200, 100}, {6000, 5990}}) {
    CHECK(entry_of(part, 0, i, j) == Approx(decay.entry(500 + i, 500 + j)).epsilon(1e-11));
  }

  auto graded = random_quasiseparable<double, transition::Dense>(40, {2, 0}, 1, 3);
  for (index_t i = 0; i < 40; ++i) {
    graded.a(0, i, 0, 0) = 2;
    graded.a(0, i, 0, 1) = graded.a(0, i, 1, 0) = 0;
    graded.a(0, i, 1, 1) = 0.1;
  }
  CHECK(message_from<DomainError>([&] {
          to_low_rank_triangles(graded);
        }).find("working precision") != std::string::npos);
}
