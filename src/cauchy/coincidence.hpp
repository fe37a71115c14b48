/// \file
/// Nodes that rows and columns have in common.
#pragma once

#include <optional>
#include <utility>

#include "structmat/cauchy/cauchy.hpp"

namespace structmat::cauchy {

/// The least i for which s_i equals some t_j, with the least such j. NaN equals nothing.
/// Cost: O(m + n) expected, by a table of hashes; m n comparisons for few nodes.
template <Scalar T>
std::optional<std::pair<index_t, index_t>> find_coincidence(const View<const T, 1>& s,
                                                            const View<const T, 1>& t);

/// "operation: s_3 equals t_5 in batch entry 0"
[[noreturn]] void throw_coincidence(const char* operation, index_t i, index_t j, index_t batch);

/// Has batch entry `batch` coinciding nodes? Throws DomainError where they are an error.
template <class V>
bool check_coincidence(const char* operation, const V& m, index_t batch) {
  const auto found = find_coincidence(m.s.select(0, batch), m.t.select(0, batch));
  if (found && m.coincidence == Coincidence::error) {
    throw_coincidence(operation, found->first, found->second, batch);
  }
  return found.has_value();
}

}  // namespace structmat::cauchy
