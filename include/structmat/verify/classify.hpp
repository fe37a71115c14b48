/// \file
/// What is this matrix? All structures that a dense matrix has and that save storage.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "structmat/core/array.hpp"

namespace structmat::verify {

struct ClassifyOptions {
  /// In the measure of each test (rank_profile.hpp, low_rank.hpp, entrywise.hpp). Unset: max(m, n)
  /// eps.
  std::optional<double> tolerance{};
};

/// One structure that the matrix has.
struct Finding {
  std::string name;
  /// Named whole numbers: {"rank", 3}, {"lower", 2}, {"upper", 1}.
  std::vector<std::pair<std::string, index_t>> parameters;
  /// Of structures seen entry by entry: the largest deviation.
  std::optional<double> deviation{};
  /// Of structures seen by ranks: 0 where there is no such singular value.
  std::optional<double> smallest_kept{}, largest_dropped{};
  index_t storage = 0;  ///< numbers that the structure needs
  index_t dense = 0;    ///< m n
};

/// Structures of A that need fewer than m n numbers, those that need fewest first.
///
/// | name                              | parameters   | storage                                  |
/// |-----------------------------------|--------------|------------------------------------------|
/// | zero (then nothing else is told)  |              | 0                                        |
/// | diagonal                          |              | min(m, n)                                |
/// | banded                            | lower, upper | entries inside the band                  |
/// | lower triangular, upper triangular|              | entries on that side                     |
/// | symmetric, hermitian              |              | n (n + 1) / 2                            |
/// | circulant                         |              | n                                        |
/// | toeplitz, hankel                  |              | m + n - 1                                |
/// | vandermonde, transposed vandermonde |            | the nodes: m, n                          |
/// | cauchy                            |              | m + n                                    |
/// | low rank                          | rank         | rank (m + n)                             |
/// | toeplitz-like, hankel-like        | rank         | displacement generators: rank (m + n)    |
/// | quasiseparable                    | lower, upper | block generators, blocks of b = max(lower,
/// |                                   |              | upper, 1) rows: n (2 l + 2 u + (l^2 + u^2)
/// |                                   |              | / b + b)                                 |
/// | semiseparable (triangular only)   | order r      | n (3 r + (r + 1) / 2)                    |
///
/// a: (m, n) in, any strides, finite. Square matrices alone are circulant, symmetric, Hermitian,
/// quasi- or semiseparable. Real symmetric matrices are reported as symmetric, not as Hermitian.
/// Cost: O(m n r) for each rank test of a result r; a test stops once its rank no longer saves
/// storage, so O(m n min(m, n)) at worst. Workspace O(m n). Throws DomainError (NaN or Inf with its
/// place; a negative or NaN tolerance).
template <Scalar T>
std::vector<Finding> classify(View<const T, 2> a, const ClassifyOptions& options = {});

template <Scalar T>
std::vector<Finding> classify(const Array<T, 2>& a, const ClassifyOptions& options = {}) {
  return classify(a.view(), options);
}

}  // namespace structmat::verify
