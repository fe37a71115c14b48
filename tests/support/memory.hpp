/// \file
/// Peak memory of the process, for tests that n x n numbers are never formed.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

namespace structmat::test {

/// Sanitizers keep memory of their own.
inline constexpr bool memory_is_instrumented = STRUCTMAT_SANITIZED;

/// Lets the peak start from what is in use now (Linux). False where that cannot be done.
inline bool restart_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return bool(file);
}

/// The largest resident memory since then, in MiB; 0 where that is not known.
inline double peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

}  // namespace structmat::test
