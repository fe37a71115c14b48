/// \file
/// Random structured matrices without a recurrence, for gen and bench.
#pragma once

#include <string>

#include "random.hpp"
#include "structmat/io/structured.hpp"

namespace structmat::cli {

/// Families by their names on the command line.
inline const std::vector<std::string> structured_families{
    "toeplitz",    "hankel",          "circulant", "skew-circulant", "cauchy",
    "vandermonde", "log-vandermonde", "low-rank",  "butterfly",      "monarch"};

/// m x n (square families: m), of N(0, 1) numbers but for
/// - cauchy: s_i = i + 1/4 to i + 3/4, t_j = j, imaginary parts N(0, 1): no two coincide;
/// - vandermonde: Chebyshev nodes, complex: random on the unit circle;
/// - log-vandermonde: decay rates 0 to 8 / m, complex: and random frequencies;
/// - low-rank: of this order; butterfly: of so many stages, N(0, 1/2);
/// - monarch: m and n must be squares b^2 of the same b.
/// Throws UsageError.
template <Scalar T>
io::AnyStructured random_structured(const std::string& family, index_t m, index_t n, index_t order,
                                    std::uint64_t seed);

}  // namespace structmat::cli
