/// \file
/// What tests on a device share.
#pragma once

#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

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

/// Each operation once only, for compute-sanitizer's racecheck, which takes a hundred times as long
/// (STRUCTMAT_QUICK=2).
inline bool once() {
  const char* quickness = std::getenv("STRUCTMAT_QUICK");
  return quickness != nullptr && std::string(quickness) == "2";
}

/// Has a test of this program been skipped? Its exit status is then 77, which CTest calls "Skipped".
inline bool& any_skipped() {
  static bool skipped = false;
  return skipped;
}
/// Leaves out the rest of a test that this device cannot run; to be followed by a return.
inline void skip(const std::string& reason) {
  std::cout << "skipped: " << reason << "\n";
  any_skipped() = true;
}

/// Captures run(stream) in a CUDA graph, launches the graph twice and waits. What `run` calls must
/// neither allocate nor synchronise, or the capture fails: throws BackendError. The emulation has no
/// graphs: it calls `run` twice.
void replay(const std::function<void(void* stream)>& run);

}  // namespace structmat::test
