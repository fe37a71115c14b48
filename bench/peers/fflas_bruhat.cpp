// fflas-ffpack: Bruhat generators of a random quasiseparable matrix over F_131071, and the ranks
// that structmat finds in the same matrix.
//
// usage: fflas_bruhat [n] [order] [repetitions] [full | renewed]
//
// FFPACK::LTBruhatGen works on one left-triangular matrix, in place: that call alone is timed, on a
// fresh copy each time. What it returns is still n x n: CompressToBlockBiDiagonal, which makes
// O(n order) numbers of it, is not timed. exact::rank_profile of the lower triangle is timed in turn
// with it; the two must agree on the order. The matrix is a random strictly lower triangle in
// generator form with diagonal transitions, with its rows in reversed order. With `full`, no
// transition is 0, as in bench_report; the matrix then has `order` pivots. With `renewed`, each
// transition is 0 with probability 1 / (2 order): states end and new ones begin, and about n / 2
// pivots result, at the same order.

// First: fflas-ffpack defines macros.
#include "structmat/exact/rank_profile.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <fflas-ffpack/config.h>
#include <fflas-ffpack/fflas-ffpack-config.h>
#include <fflas-ffpack/ffpack/ffpack.h>
#include <givaro/modular.h>

namespace {

using Field = Givaro::Modular<double>;
using Clock = std::chrono::steady_clock;

/// Entry (i, j) of the lower triangle, p_i^T a_{i-1} ... a_{j+1} q_j, goes to (n - 1 - i, j).
std::vector<double> left_triangular(const Field& field, std::size_t n, std::size_t order,
                                    bool renewed) {
  constexpr std::uint64_t prime = 131071;
  std::mt19937_64 engine(1);
  const auto random = [&] {
    std::vector<std::uint64_t> v(n * order);
    for (auto& x : v) x = 1 + engine() % (prime - 1);
    return v;
  };
  const auto p = random(), q = random();
  auto a = random();
  if (renewed) {
    for (auto& x : a) {
      if (engine() % (2 * order) == 0) x = 0;
    }
  }
  std::vector<double> matrix(n * n);
  std::vector<std::uint64_t> w(order);
  for (std::size_t i = 1; i < n; ++i) {
    std::copy_n(&p[i * order], order, w.begin());
    for (std::size_t j = i; j-- > 0;) {
      std::uint64_t sum = 0;
      for (std::size_t l = 0; l < order; ++l) {
        sum += w[l] * q[j * order + l];
        w[l] = w[l] * a[j * order + l] % prime;
      }
      field.init(matrix[(n - 1 - i) * n + j], sum % prime);
    }
  }
  return matrix;
}

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4000;
  const std::size_t s = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 32;
  const int repetitions = argc > 3 ? std::atoi(argv[3]) : 5;
  const bool renewed = argc > 4 && std::string(argv[4]) == "renewed";
  const Field field(131071);
  const std::vector<double> matrix = left_triangular(field, n, s, renewed);
  std::vector<double> work(n * n);

  const structmat::exact::PrimeField prime_field(131071);
  structmat::exact::Matrix<structmat::exact::PrimeField> lower(prime_field, n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      lower(i, j) = static_cast<std::uint32_t>(matrix[(n - 1 - i) * n + j]);
    }
  }

  std::vector<double> bruhat, ranks;
  std::vector<std::size_t> p(n), q(n);
  std::size_t rank = 0, our_order = 0;
  for (int i = 0; i <= repetitions; ++i) {
    work = matrix;
    auto begin = Clock::now();
    rank = FFPACK::LTBruhatGen(field, FFLAS::FflasNonUnit, n, work.data(), n, p.data(), q.data());
    if (i > 0) bruhat.push_back(since(begin));  // the first call warms up
    begin = Clock::now();
    const auto profile = structmat::exact::rank_profile(lower, structmat::exact::Part::lower);
    if (i > 0) ranks.push_back(since(begin));
    our_order = static_cast<std::size_t>(*std::max_element(profile.begin(), profile.end()));
  }
  const std::size_t order = FFPACK::LTQSorder(n, rank, p.data(), q.data());
  std::printf(
      "{\"peer\": \"fflas-ffpack %s\", \"n\": %zu, \"order\": %zu, \"pivots\": %zu, "
      "\"one_triangle_ms\": %.1f, \"rank_profile_ms\": %.1f}\n",
      __FFLASFFPACK_PACKAGE_VERSION, n, order, rank, median(bruhat), median(ranks));
  return order == s && our_order == s ? 0 : 1;
}
