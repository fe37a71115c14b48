#include "cauchy/coincidence.hpp"

#include <bit>
#include <string>
#include <vector>

#include "core/instantiate.hpp"

namespace structmat::cauchy {
namespace {

template <Scalar T>
std::uint64_t hash(const T& x) {
  const auto bits = [](real_t<T> v) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(v) + 0.0);  // -0 becomes 0
  };
  // Multiplicative hashing with an odd number near 2^64 / golden ratio; the top bits are the best.
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  std::uint64_t h = bits(std::real(x)) * factor;
  if constexpr (is_complex_v<T>) h = (std::rotl(h, 32) ^ bits(std::imag(x))) * factor;
  return (h ^ (h >> 29)) * factor;
}

}  // namespace

template <Scalar T>
std::optional<std::pair<index_t, index_t>> find_coincidence(const View<const T, 1>& s,
                                                            const View<const T, 1>& t) {
  const index_t m = s.extent(0), n = t.extent(0);
  constexpr index_t few = 32;
  if (m <= few || n <= few) {
    for (index_t i = 0; i < m; ++i) {
      for (index_t j = 0; j < n; ++j) {
        if (s(i) == t(j)) return std::pair{i, j};
      }
    }
    return {};
  }
  const int bits = std::bit_width(static_cast<std::uint64_t>(n)) + 1;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::vector<index_t> table(mask + 1, -1);
  const auto slot_of = [&](const T& x) {
    std::uint64_t slot = hash(x) >> (64 - bits);
    while (table[slot] >= 0 && t(table[slot]) != x) slot = (slot + 1) & mask;
    return slot;
  };
  for (index_t j = 0; j < n; ++j) {
    if (t(j) != t(j)) continue;  // NaN would never be found, and many of them make long runs
    index_t& slot = table[slot_of(t(j))];
    if (slot < 0) slot = j;
  }
  for (index_t i = 0; i < m; ++i) {
    const index_t j = table[slot_of(s(i))];
    if (j >= 0) return std::pair{i, j};
  }
  return {};
}

void throw_coincidence(const char* operation, index_t i, index_t j, index_t batch) {
  throw DomainError(std::string(operation) + ": s_" + std::to_string(i) + " equals t_" +
                    std::to_string(j) + " in batch entry " + std::to_string(batch));
}

#define STRUCTMAT_INSTANTIATE(T)                                           \
  template std::optional<std::pair<index_t, index_t>> find_coincidence<T>( \
      const View<const T, 1>&, const View<const T, 1>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
