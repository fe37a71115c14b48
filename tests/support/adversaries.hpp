/// \file
/// Matrices of small order on which eliminations without pivoting fail.
#pragma once

#include <cmath>
#include <vector>

#include "support/random.hpp"

namespace structmat::test {

/// n x n matrices, regular, with leading minors that vanish or nearly so, indefinite or graded.
inline std::vector<Array<double, 2>> adversaries(index_t n) {
  const auto at = [n](auto entry) { return matrix<double>(n, n, entry); };
  return {
      // Cyclic shift, and exchanges of pairs.
      at([n](index_t i, index_t j) { return j == (i + 1) % n ? 1.0 : 0.0; }),
      at([n](index_t i, index_t j) {
        const index_t partner = i % 2 == 0 ? std::min(i + 1, n - 1) : i - 1;
        return j == partner ? 1.0 : 0.0;
      }),
      // Every leading minor regular, by a hair.
      at([n](index_t i, index_t j) {
        const index_t partner = i % 2 == 0 ? std::min(i + 1, n - 1) : i - 1;
        return j == partner ? 1.0 : i == j ? 1e-14 : 0.0;
      }),
      // A zero diagonal between two constants.
      at([](index_t i, index_t j) { return i == j  ? 0.0
                                           : i > j ? 1.0
                                                   : 2.0; }),
      // Bordered: the corner decides.
      at([n](index_t i, index_t j) {
        return i == j ? (i + 1 == n ? 0.0 : 1e-9) : i + 1 == n || j + 1 == n ? 1.0 : 0.0;
      }),
      // Rows of very different size.
      at([](index_t i, index_t j) {
        return std::pow(0.7, double(i)) * (i == j ? 0.0 : 1.0 + double(i < j));
      }),
      // The first row is e_n.
      at([n](index_t i, index_t j) {
        return i == 0 ? double(j + 1 == n) : double(j + 1 == i) - 0.5 * double(j == i);
      }),
  };
}

}  // namespace structmat::test
