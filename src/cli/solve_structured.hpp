/// \file
/// Solving with structured matrices that have no recurrence: for solve and logdet.
#pragma once

#include <optional>
#include <string>

#include "structmat/core/status.hpp"
#include "structured.hpp"

namespace structmat::cli {

/// What a solver of whichever family reports; what it does not measure is absent.
struct SolveFacts {
  PivotStatus status{};
  std::optional<double> backward_error{}, growth{};
  std::optional<int> refinements{};
};

/// x := op(A)^-1 b, computed in T, which holds every scalar of A. Throws Unsupported for a family
/// without a solver.
template <Scalar T>
SolveFacts solve_structured(const io::AnyStructured& a, Op op, View<const T, 2> b, View<T, 2> x);

/// The same on the device. Throws Unsupported for a family without a solver there.
template <Scalar T>
SolveFacts solve_on_device(const io::AnyStructured& a, Op op, const Array<T, 2>& b, Array<T, 2>& x);

/// log |det A| and the sign or phase of det A. Throws Unsupported for a family without one.
LogDeterminant<std::complex<double>> log_determinant_structured(const io::AnyStructured& a);

}  // namespace structmat::cli
