#include "structmat/verify/classify.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/entry.hpp"
#include "support/battery.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

std::vector<std::string> names(const std::vector<verify::Finding>& findings) {
  std::vector<std::string> out;
  for (const auto& f : findings) out.push_back(f.name);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<verify::Finding> find(const std::vector<verify::Finding>& findings,
                                    const std::string& name) {
  for (const auto& f : findings) {
    if (f.name == name) return f;
  }
  return std::nullopt;
}

using Parameters = std::vector<std::pair<std::string, index_t>>;

/// What every list of findings keeps to.
template <class T>
std::vector<verify::Finding> classify(const Array<T, 2>& a,
                                      const verify::ClassifyOptions& options = {}) {
  const auto findings = verify::classify(a, options);
  index_t before = 0;
  for (const auto& f : findings) {
    INFO(f.name);
    CHECK(f.storage < f.dense);
    CHECK(f.dense == a.size());
    CHECK(f.storage >= before);
    before = f.storage;
    CHECK(f.deviation.has_value() != f.largest_dropped.has_value());
    CHECK(f.smallest_kept.has_value() == f.largest_dropped.has_value());
  }
  return findings;
}

}  // namespace

TEMPLATE_TEST_CASE("each structure is found, and lost with one entry", "", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(1);
  const index_t n = 48;
  const auto numbers = random.array<T, 1>({3 * n});
  const auto check = [&](const Array<T, 2>& a, const std::string& name, index_t storage) {
    INFO(name);
    const auto found = find(classify(a), name);
    REQUIRE(found);
    CHECK(found->storage == storage);
    auto b = a;
    b(a.extent(0) - 5, 3) += T(0.5F);
    b(4, a.extent(1) - 2) += T(0.25F);
    const auto after = find(classify(b), name);
    CHECK((!after || after->storage > storage));  // two entries more, two ranks more
  };
  check(matrix<T>(n, n, [&](index_t i, index_t j) { return i == j ? numbers(i) + T(2) : T{}; }),
        "diagonal", n);
  check(matrix<T>(n, n,
                  [&](index_t i, index_t j) { return i >= j ? numbers(i - j) * numbers(i) : T{}; }),
        "lower triangular", n * (n + 1) / 2);
  check(matrix<T>(n, n,
                  [&](index_t i, index_t j) { return i <= j ? numbers(j - i) * numbers(i) : T{}; }),
        "upper triangular", n * (n + 1) / 2);
  check(matrix<T>(n, n, [&](index_t i, index_t j) { return numbers(i + j + i * j % 7); }),
        "symmetric", n * (n + 1) / 2);
  check(matrix<T>(n, n, [&](index_t i, index_t j) { return numbers((i - j + n) % n); }),
        "circulant", n);
  check(matrix<T>(n, n + 5, [&](index_t i, index_t j) { return numbers(i - j + n + 4); }),
        "toeplitz", 2 * n + 4);
  check(matrix<T>(n - 5, n, [&](index_t i, index_t j) { return numbers(i + j); }), "hankel",
        2 * n - 6);
  // Node i is 1 + i / 64: powers stay near 1.
  const auto node = [](index_t i) { return T(1 + real_t<T>(i) / 64); };
  const auto v = matrix<T>(20, 9, [&](index_t i, index_t j) {
    T power = 1;
    for (index_t l = 0; l < j; ++l) power *= node(i);
    return power;
  });
  check(v, "vandermonde", 20);
  check(to_array(v.view().transposed()), "transposed vandermonde", 20);
  check(matrix<T>(20, 30, [&](index_t i, index_t j) { return T(1) / (node(i) + T(real_t<T>(j))); }),
        "cauchy", 50);
  check(matrix<T>(n, n + 9,
                  [&](index_t i, index_t j) {
                    return numbers(i) * numbers(j) + numbers(i + 1) * numbers(j + 20);
                  }),
        "low rank", 2 * (2 * n + 9));
}

TEST_CASE("orders, ranks and their storage") {
  const index_t n = 120;
  const auto q = random_quasiseparable<double, transition::Diagonal>(n, {3, 2}, 1, 1);
  const Array<double, 2> m = to_array(q.to_dense().view().select(0, 0));
  auto found = find(classify(m), "quasiseparable");
  REQUIRE(found);
  CHECK(found->parameters == Parameters{{"lower", 3}, {"upper", 2}});
  CHECK(found->storage == n * (2 * 3 + 2 * 2 + 3) + n * (9 + 4) / 3);
  CHECK(*found->smallest_kept > *found->largest_dropped);
  CHECK_FALSE(find(classify(m), "semiseparable"));

  const auto s = random_semiseparable<double, transition::Diagonal>(n, 2, 1, 2);
  const Array<double, 2> lower = to_array(s.to_dense().view().select(0, 0));
  found = find(classify(lower), "semiseparable");
  REQUIRE(found);
  CHECK(found->parameters == Parameters{{"order", 2}});
  CHECK(find(classify(lower), "lower triangular"));
  CHECK(find(classify(to_array(lower.view().transposed())), "semiseparable"));

  const auto band = matrix<double>(n, n + 3, [](index_t i, index_t j) {
    return i - j <= 2 && j - i <= 1 ? 1.0 + double(i * j % 5) : 0.0;
  });
  found = find(classify(band), "banded");
  REQUIRE(found);
  CHECK(found->parameters == Parameters{{"lower", 2}, {"upper", 1}});
  CHECK(found->storage == 4 * n - 3);

  // The product of two Toeplitz matrices: rank 4 of its displacement, none of the plain structures.
  Random random(3);
  const auto c = random.array<double, 1>({2 * n}), d = random.array<double, 1>({2 * n});
  const auto product = matrix<double>(n, n, [&](index_t i, index_t j) {
    double sum = 0;
    for (index_t l = 0; l < n; ++l) sum += c(i - l + n) * d(l - j + n);
    return sum;
  });
  found = find(classify(product), "toeplitz-like");
  REQUIRE(found);
  CHECK(found->parameters == Parameters{{"rank", 4}});
  CHECK(found->storage == 8 * n);
  CHECK(names(classify(product)) == std::vector<std::string>{"toeplitz-like"});
  CHECK(names(classify(to_array(product.view().reversed(1)))) ==
        std::vector<std::string>{"hankel-like"});
}

TEST_CASE("complex symmetric and Hermitian are told apart") {
  using T = std::complex<double>;
  Random random(4);
  const auto r = random.array<T, 2>({30, 30});
  const auto symmetric = matrix<T>(30, 30, [&](index_t i, index_t j) { return r(i, j) + r(j, i); });
  const auto hermitian =
      matrix<T>(30, 30, [&](index_t i, index_t j) { return r(i, j) + std::conj(r(j, i)); });
  CHECK(names(classify(symmetric)) == std::vector<std::string>{"symmetric"});
  CHECK(names(classify(hermitian)) == std::vector<std::string>{"hermitian"});
}

TEST_CASE("a random matrix is nothing in particular") {
  Random random(5);
  CHECK(classify(random.array<double, 2>({60, 60})).empty());
  CHECK(classify(random.array<double, 2>({60, 20})).empty());
  CHECK(classify(random.array<float, 2>({7, 40})).empty());
}

TEST_CASE("zero, small and empty matrices") {
  const auto zero = classify(Array<double, 2>({5, 8}));
  CHECK(names(zero) == std::vector<std::string>{"zero"});
  CHECK(zero[0].storage == 0);
  CHECK(classify(Array<double, 2>({0, 0})).empty());
  CHECK(classify(Array<double, 2>({0, 4})).empty());
  CHECK(classify(matrix<double>(1, 1, [](index_t, index_t) { return 3.0; })).empty());
  const auto identity =
      classify(matrix<double>(2, 2, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; }));
  REQUIRE(find(identity, "diagonal"));
  CHECK(find(identity, "circulant"));
}

TEST_CASE("the tolerance decides") {
  Random random(6);
  const index_t n = 40;
  auto a = matrix<double>(n, n, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
  for (double& v : a) v += 1e-7 * random.real();
  CHECK_FALSE(find(classify(a), "diagonal"));
  const auto found = find(classify(a, {.tolerance = 1e-6}), "diagonal");
  REQUIRE(found);
  CHECK(*found->deviation < 1e-7);
  CHECK(*found->deviation > 1e-9);
}

TEST_CASE("what classify refuses") {
  Array<double, 2> a({2, 3});
  CHECK(message_from<DomainError>([&] { verify::classify(a, {.tolerance = -2.0}); }) ==
        "verify::classify: the tolerance is -2.000000, it must be at least 0");
  a(1, 2) = INFINITY;
  CHECK(message_from<DomainError>([&] { verify::classify(a); }) ==
        "verify::classify: entry (1, 2) is inf, only finite input has an answer");
}
