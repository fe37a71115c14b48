/// \file
/// Where a parser stands, for its error messages.
#pragma once

#include <string>
#include <string_view>

#include "structmat/core/error.hpp"

namespace structmat::io::detail {

/// A piece of an untrusted file, fit for a message: printable, at most 40 characters, in double
/// quotes.
inline std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "\"";
  for (char c : text.substr(0, longest)) result += c >= ' ' && c < 127 ? c : '?';
  return result + (text.size() > longest ? "...\"" : "\"");
}

/// "io::read_npy: data.npy, byte 10: reason".
struct Source {
  const char* operation;
  std::string name;

  template <class E = FileError>
  [[noreturn]] void fail(const std::string& place, const std::string& reason) const {
    throw E(std::string(operation) + ": " + name + ", " + place + ": " + reason);
  }
};

}  // namespace structmat::io::detail
