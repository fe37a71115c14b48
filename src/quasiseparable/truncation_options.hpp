/// \file
/// What from_dense and compress ask of their options.
#pragma once

#include <optional>
#include <string>

#include "structmat/core/error.hpp"

namespace structmat::quasiseparable {

/// Throws DomainError for a tolerance or an order that is negative, and a tolerance that is NaN.
template <class Options>
void require_truncation(const char* operation, const Options& options) {
  const std::optional<double> tolerances[] = {options.tolerance, options.absolute_tolerance};
  for (const std::optional<double>& tolerance : tolerances) {
    if (tolerance && !(*tolerance >= 0)) {
      throw DomainError(std::string(operation) + ": the tolerance is " +
                        std::to_string(*tolerance) + ", it must be at least 0");
    }
  }
  if (options.order && (options.order->lower < 0 || options.order->upper < 0)) {
    throw DomainError(std::string(operation) + ": the order is negative");
  }
}

}  // namespace structmat::quasiseparable
