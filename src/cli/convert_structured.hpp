/// \file
/// Conversions to the families without a recurrence.
#pragma once

#include <optional>
#include <string>

#include "matrix.hpp"
#include "structmat/io/structured.hpp"

namespace structmat::cli {

struct FamilyOptions {
  std::string to;  ///< the family, or "recognised"
  std::optional<double> tolerance{};
  std::optional<index_t> order{};
  bool reverse_columns = false;
  bool on_device = false;  ///< compute on a device
};

/// The result and a line about it (empty: nothing to say).
struct Converted {
  io::AnyStructured matrix;
  std::string note{};
};

/// A dense matrix that has the structure, to the tolerance of verify. Throws DomainError where it has
/// not, with the deviation.
Converted to_family(const io::DenseMatrix& dense, const FamilyOptions& options);

/// toeplitz and vandermonde to cauchy-like, toeplitz and hankel into each other with reversed columns; others by way
/// of all entries.
Converted to_family(const io::AnyStructured& matrix, const FamilyOptions& options);

}  // namespace structmat::cli
