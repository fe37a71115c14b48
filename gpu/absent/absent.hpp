/// \file
/// Stands in for the CUDA component where it is not built: every entry throws NotAvailable.
#pragma once

#include <string>

#include "structmat/core/error.hpp"

namespace structmat {

[[noreturn]] inline void absent(const char* operation) {
  throw NotAvailable(std::string(operation) + ": built without CUDA");
}

}  // namespace structmat
