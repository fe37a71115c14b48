/// \file
/// What tests on a device share.
#pragma once

#include <cstdlib>

#include "structmat/core/device.hpp"

namespace structmat::test {

/// On the emulation, which runs kernels on the host?
inline bool emulated() {
  return device_name(0) == "host emulation";
}

/// Smaller sizes: on the emulation, and for compute-sanitizer (STRUCTMAT_QUICK=1).
inline bool quick() {
  return std::getenv("STRUCTMAT_QUICK") != nullptr || emulated();
}

}  // namespace structmat::test
