#include "structmat/core/status.hpp"

#include <locale>
#include <sstream>

namespace structmat {

std::string describe(const PivotStatus& status) {
  if (status.ok()) return "all pivots are good";
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "pivot " << status.index << " of batch entry " << status.batch << " is " << status.pivot;
  if (status.kind == PivotStatus::Kind::near_singular) {
    text << ", the matrix is singular to working precision";
  }
  if (status.kind == PivotStatus::Kind::zero) text << ", the matrix is singular there";
  if (status.kind == PivotStatus::Kind::not_positive) {
    text << ", a positive definite matrix has positive pivots";
  }
  if (status.kind == PivotStatus::Kind::not_finite) text << ", it must be finite";
  return text.str();
}

}  // namespace structmat
