/// \file
/// The four kinds of transition a that link neighbouring indices in generator form
///   M_ij = p_i^T a_{i-1} ... a_{j+1} q_j.
///
/// | tag      | stored as     | a_i stands for         | meant for                               |
/// |----------|---------------|------------------------|-----------------------------------------|
/// | Scalar   | (batch,n)     | a_i times the identity | Mamba-2, autoregressions of order 1     |
/// | Diagonal | (batch,n,r)   | diag(a_i)              | Mamba-1, S4D, sums of exponentials      |
/// | Dense    | (batch,n,r,r) | a_i, row-major         | Gaussian-process kernels, realisations  |
/// | Block    | see block.hpp | one matrix a block row | what compression returns                |
///
/// The first three have one state size r for all indices; sizes that change with the index are what
/// Block is for (with blocks of one row it is the classical form with index-dependent orders).
#pragma once

#include <array>
#include <concepts>

#include "structmat/core/scalar.hpp"

namespace structmat::transition {

struct Scalar {
  static constexpr int rank = 2;  ///< of the array that stores it, batch included
  static constexpr const char* name = "scalar";
};
struct Diagonal {
  static constexpr int rank = 3;
  static constexpr const char* name = "diagonal";
};
struct Dense {
  static constexpr int rank = 4;
  static constexpr const char* name = "dense";
};
struct Block {
  static constexpr const char* name = "block";
};

template <class K>
concept Uniform = std::same_as<K, Scalar> || std::same_as<K, Diagonal> || std::same_as<K, Dense>;

/// Extents of the array that stores n transitions of state size r.
template <Uniform K>
constexpr std::array<index_t, K::rank> extents(index_t batch, index_t n, index_t r) {
  if constexpr (K::rank == 2) return {batch, n};
  if constexpr (K::rank == 3) return {batch, n, r};
  if constexpr (K::rank == 4) return {batch, n, r, r};
}

}  // namespace structmat::transition
