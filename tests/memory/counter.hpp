/// \file
/// Bytes that this program has asked for; test_quasiseparable_slow.cpp has the operators that count.
#pragma once

#include <atomic>
#include <cstddef>

namespace structmat::test {

extern std::atomic<std::size_t> bytes_in_use, bytes_at_peak;

/// The most bytes in use at one time while `action` runs, beyond those in use before.
template <class Action>
std::size_t peak_of(Action&& action) {
  const std::size_t before = bytes_in_use;
  bytes_at_peak = before;
  action();
  return bytes_at_peak - before;
}

}  // namespace structmat::test
