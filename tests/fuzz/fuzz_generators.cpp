// Any bytes give an Error or generators of which every entry can be computed.
#include <cstddef>
#include <cstdint>
#include <span>

#include "structmat/io/generators.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/semiseparable/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace structmat;
  try {
    const auto any = io::parse_generators(std::as_bytes(std::span(data, size)), "fuzz");
    std::visit(
        [](const auto& m) {
          constexpr index_t largest = 16;  // tensors without elements may declare any n
          if (m.batch() > 0 && m.batch() <= largest && m.size() <= largest) m.to_dense();
        },
        any);
  } catch (const Error&) {
  }
  return 0;
}
