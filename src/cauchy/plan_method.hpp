/// \file
/// Which methods a plan may use.
#pragma once

#include <string>

#include "structmat/cauchy/plan.hpp"

namespace structmat::cauchy {

/// How nodes lie.
enum class Geometry { horizontal, vertical, plane };

/// Throws DomainError where the nodes or the tolerance do not allow what is asked for.
inline void check_method(const PlanOptions& options, Geometry geometry, bool complex_nodes) {
  const bool fast = options.method == Method::line || options.method == Method::plane;
  if (!(options.tolerance >= 0 && options.tolerance < 1) || (fast && options.tolerance == 0)) {
    throw DomainError("cauchy::plan: the tolerance is " + std::to_string(options.tolerance) +
                      ", a fast method needs one between 0 and 1");
  }
  if (options.method == Method::line && geometry == Geometry::plane) {
    throw DomainError(
        "cauchy::plan: the method for a line is asked for, and the nodes are not all on one line "
        "of equal real or imaginary parts");
  }
  if (options.method == Method::plane && !complex_nodes) {
    throw DomainError("cauchy::plan: the method for the plane is asked for, and nodes are real");
  }
}

}  // namespace structmat::cauchy
