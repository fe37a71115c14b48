#include "structmat/quasiseparable/index_sets.hpp"

#include <catch2/catch.hpp>

#include <numeric>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;
using namespace structmat::quasiseparable;

namespace {

using Indices = std::vector<index_t>;

/// A random matrix whose unused generators are NaN.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> random_with_poison(index_t n, Order r, index_t batch, unsigned seed) {
  auto m = random_quasiseparable<T, K>(n, r, batch, seed);
  const auto poison = [&](auto& generator, index_t i) {
    if (n == 0) return;
    auto v = generator.view().slice(1, i, i + 1);
    auto poisoned_values = to_array(v);
    for (T& x : poisoned_values) x = T(NAN);
    copy(poisoned_values.view(), v);
  };
  poison(m.p, 0);
  poison(m.h, 0);
  poison(m.q, n - 1);
  poison(m.g, n - 1);
  for (auto* transitions : {&m.a, &m.b}) {
    poison(*transitions, 0);
    poison(*transitions, n - 1);
  }
  return m;
}

/// The largest error of m_ij in units of eps; `expected` and `bound` give the entries (b, i, j).
template <class M, class Expected>
double worst_entry(const M& m, index_t n, const Expected& expected) {
  const auto dense = m.to_dense();
  double worst = 0;
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        const double error = std::abs(dense(b, i, j) - expected(b, i, j));
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
      }
    }
  }
  return worst / double(epsilon<typename M::value_type>);
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("parts and assemblies, entry by entry", "", (std::tuple),
                           ((double, transition::Scalar), (double, transition::Diagonal),
                            (float, transition::Dense), (std::complex<double>, transition::Dense),
                            (std::complex<float>, transition::Diagonal))) {
  using T = std::tuple_element_t<0, TestType>;
  using K = std::tuple_element_t<1, TestType>;
  Random random(1);
  for (const index_t n : {0, 1, 2, 3, 17}) {
    for (const Order r : {Order{0, 0}, Order{1, 3}, Order{4, 0}, Order{20, 2}}) {
      for (const index_t batch : {0, 1, 3}) {
        INFO("n " << n << ", orders " << r.lower << ", " << r.upper << ", batch " << batch);
        const auto m = random_with_poison<T, K>(n, r, batch, unsigned(n));
        const auto dense = m.to_dense();

        {  // a range refers to the same generators
          for (const auto& [begin, end] :
               {std::pair<index_t, index_t>{0, n}, {n / 3, n - n / 4}, {n / 2, n / 2}}) {
            const auto part = principal_submatrix(m.view(), begin, end);
            CHECK(part.size() == end - begin);
            Array<T, 3> entries({batch, end - begin, end - begin});
            to_dense(part, entries.view());
            for (index_t b = 0; b < batch; ++b) {
              for (index_t i = begin; i < end; ++i) {
                for (index_t j = begin; j < end; ++j) {
                  CHECK(entries(b, i - begin, j - begin) == dense(b, i, j));
                }
              }
            }
          }
        }

        {  // a set, and back
          Indices every(n), kept;
          std::iota(every.begin(), every.end(), 0);
          for (const index_t i : every) {
            if (random.real() > 0) kept.push_back(i);
          }
          for (const Indices& set : {every, kept, Indices{}}) {
            const auto part = principal_submatrix(m, set);
            const auto size = index_t(set.size());
            CHECK(part.size() == size);
            CHECK(part.order() == r);
            const auto tolerance = double(4 * (n + r.lower + r.upper) * 20);
            CHECK(worst_entry(part, size, [&](index_t b, index_t i, index_t j) {
                    return dense(b, set[i], set[j]);
                  }) <= tolerance);

            const auto all = embed(part, set, n);
            CHECK(all.size() == n);
            Array<T, 3> expected({batch, n, n});
            for (index_t b = 0; b < batch; ++b) {
              for (index_t i = 0; i < size; ++i) {
                for (index_t j = 0; j < size; ++j) {
                  expected(b, set[i], set[j]) = part.entry(i, j, b);
                }
              }
            }
            CHECK(worst_entry(all, n, expected.view()) == 0);
            const auto again = principal_submatrix(all, set);
            CHECK(worst_entry(again, size, part.to_dense().view()) == 0);
          }
          const auto wide = embed(m, every, n + 5);  // m first, and zeros behind it
          CHECK(worst_entry(wide, n, dense.view()) == 0);
          CHECK(worst_entry(principal_submatrix(m, every), n, dense.view()) == 0);
        }

        {  // block diagonal
          for (const index_t ny : {0, 1, 2, 5}) {
            const auto y = random_with_poison<T, K>(ny, {2, 5}, 1, 7);
            const auto both = block_diagonal(m, y);
            CHECK(both.size() == n + ny);
            CHECK(both.order() == Order{std::max<index_t>(r.lower, 2), 5});
            CHECK(worst_entry(both, n + ny, [&](index_t b, index_t i, index_t j) {
                    if ((i < n) != (j < n)) return T{};
                    return i < n ? dense(b, i, j) : y.entry(i - n, j - n);
                  }) == 0);
          }
        }

        {  // bordered
          for (const index_t k : {0, 1, 3}) {
            const auto c = random.array<T, 3>({1, n, k}), rows = random.array<T, 3>({batch, k, n}),
                       d = random.array<T, 3>({1, k, k});
            const auto all = bordered(m, c, rows, d);
            CHECK(all.order() == Order{r.lower + k, r.upper + k});
            CHECK(worst_entry(all, n + k, [&](index_t b, index_t i, index_t j) {
                    if (i < n) return j < n ? dense(b, i, j) : c(0, i, j - n);
                    return j < n ? rows(b, i - n, j) : d(0, i - n, j - n);
                  }) == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("long matrices: gaps underflow to 0, views with gaps and stride 0 are read") {
  const index_t n = 200000;
  auto m = random_quasiseparable<double, transition::Diagonal>(1, {2, 2}, 1, 3);
  for (auto* t : {&m.a, &m.b}) {
    for (double& x : *t) x = 0.5;
  }
  const auto v = m.view();
  const QuasiseparableView<double, transition::Diagonal> constant{
      v.p.broadcast(1, n), v.q.broadcast(1, n), v.a.broadcast(1, n), v.d.broadcast(1, n),
      v.g.broadcast(1, n), v.h.broadcast(1, n), v.b.broadcast(1, n)};
  const Indices kept{3, 5, 150000, 150001};
  const auto part = principal_submatrix(constant, View<const index_t, 1>(kept));
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 4; ++j) {
      CHECK(part.entry(i, j) == Approx(entry(constant, kept[i], kept[j])).epsilon(1e-14));
    }
  }
  CHECK(part.entry(2, 1) == 0);
}

TEST_CASE("wrong indices and shapes are refused") {
  const auto m = random_quasiseparable<double, transition::Scalar>(5, {1, 1}, 2, 1);
  const std::string place = "quasiseparable::principal_submatrix: ";
  CHECK(message_from<ShapeError>([&] { principal_submatrix(m.view(), 2, 6); }) ==
        place + "the range is [2, 6), the matrix is of size 5");
  CHECK(message_from<DomainError>([&] {
          principal_submatrix(m, Indices{1, 5});
        }) == place + "index 1 is 5, the matrix is of size 5");
  CHECK(message_from<DomainError>([&] {
          principal_submatrix(m, Indices{1, 3, 3});
        }) == place + "index 2 is 3, the one before it is 3; indices must increase strictly");
  CHECK(message_from<ShapeError>([&] {
          embed(m, Indices{1, 3}, 9);
        }) == "quasiseparable::embed: there are 2 indices, the matrix is of size 5");
  CHECK_THROWS_AS(embed(m, Indices{1, 3, 4, 5, 9}, 9), DomainError);
  const auto three = random_quasiseparable<double, transition::Scalar>(5, {1, 1}, 3, 1);
  CHECK_THROWS_AS(block_diagonal(m, three), ShapeError);
  CHECK(message_from<ShapeError>([&] {
          bordered(m, Array<double, 3>({1, 5, 2}), Array<double, 3>({1, 2, 4}),
                   Array<double, 3>({1, 2, 2}));
        }) == "quasiseparable::bordered: R has extent 4 in dimension 2, expected 5");
}
