/// \file
/// What errors of products and solves with LDL factors call themselves, on the host and on a device.
#pragma once

#include "structmat/quasiseparable/ldl.hpp"

namespace structmat::quasiseparable {

constexpr const char* name(LdlPart part) {
  switch (part) {
    case LdlPart::solve:
      return "quasiseparable::solve";
    case LdlPart::solve_lower:
      return "quasiseparable::solve_lower";
    case LdlPart::solve_lower_adjoint:
      return "quasiseparable::solve_lower_adjoint";
    case LdlPart::apply_lower:
      return "quasiseparable::apply_lower";
    case LdlPart::apply_lower_adjoint:
      return "quasiseparable::apply_lower_adjoint";
  }
  return "";
}

}  // namespace structmat::quasiseparable
