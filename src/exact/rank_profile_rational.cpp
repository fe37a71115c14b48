#include <flint/ulong_extras.h>

#include <algorithm>

#include "exact/rational_access.hpp"
#include "structmat/exact/convert.hpp"
#include "structmat/exact/quasiseparable.hpp"
#include "structmat/exact/rank_profile.hpp"

namespace structmat::exact {
namespace {

std::uint32_t random_prime(Engine& engine) {
  constexpr std::uint32_t most = 67108000;  // a prime follows before 2^26
  std::uniform_int_distribution<std::uint32_t> start(1u << 25, most);
  return static_cast<std::uint32_t>(n_nextprime(start(engine), 1));
}

/// Ranks of the blocks as sizes of minimal states.
std::vector<index_t> proved_ranks(const Matrix<RationalField>& m, Blocks blocks) {
  const auto generators = detail::lower_generators(m, blocks == Blocks::with_diagonal);
  std::vector<index_t> ranks;
  for (index_t k = 1; k < generators.size(); ++k) ranks.push_back(generators.p[k].cols());
  return ranks;
}

void raise(std::vector<index_t>& ranks, const std::vector<index_t>& others) {
  ranks.resize(others.size());
  for (std::size_t k = 0; k < ranks.size(); ++k) ranks[k] = std::max(ranks[k], others[k]);
}

}  // namespace

RationalRankProfile rank_profile(const Matrix<RationalField>& m, const RationalOptions& options) {
  constexpr auto operation = "exact::rank_profile: ";
  detail::require_square("exact::rank_profile", m);
  if (options.primes < (options.deterministic ? 0 : 1)) {
    throw DomainError(operation + std::to_string(options.primes) +
                      " primes are asked for, at least one is needed");
  }
  RationalRankProfile result;
  if (options.deterministic) {
    result.ranks.lower = proved_ranks(m, options.blocks);
    result.ranks.upper = proved_ranks(m.transposed(), options.blocks);
    result.proved = true;
  } else {
    Engine engine(options.seed);
    while (static_cast<int>(result.primes.size()) < options.primes) {
      const std::uint32_t prime = random_prime(engine);
      const bool divides =
          std::any_of(m.elements().begin(), m.elements().end(), [&](const Rational& x) {
            return fmpz_fdiv_ui(fmpq_denref(RationalAccess::of(x)), prime) == 0;
          });
      const bool repeated =
          std::find(result.primes.begin(), result.primes.end(), prime) != result.primes.end();
      if (divides || repeated) continue;
      const RankProfile image = rank_profile(reduced(m, PrimeField(prime)), options.blocks);
      raise(result.ranks.lower, image.lower);
      raise(result.ranks.upper, image.upper);
      result.primes.push_back(prime);
    }
  }
  const auto largest = [](const std::vector<index_t>& ranks) {
    return ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end());
  };
  result.ranks.order = {largest(result.ranks.lower), largest(result.ranks.upper)};
  return result;
}

}  // namespace structmat::exact
