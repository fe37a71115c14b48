// Any bytes give a matrix or an Error: no crash, and no more memory than the input justifies.
#include <cstddef>
#include <cstdint>
#include <span>

#include "structmat/io/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    structmat::io::parse_npy(std::as_bytes(std::span(data, size)), "fuzz");
  } catch (const structmat::Error&) {
  }
  return 0;
}
