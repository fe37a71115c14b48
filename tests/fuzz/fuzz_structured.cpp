// Any bytes give an Error or a matrix of which every entry can be computed.
#include <cstddef>
#include <cstdint>
#include <span>

#include "structmat/io/structured.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace structmat;
  const auto expand = [](const auto& m) {
    constexpr index_t largest = 16;  // tensors without elements may declare any extent
    const bool small = m.batch() <= largest && m.rows() <= largest && m.cols() <= largest;
    if (m.batch() > 0 && small) m.to_dense();
  };
  try {
    const auto any = io::parse_structured(std::as_bytes(std::span(data, size)), "fuzz");
    std::visit([&](const auto& family) { std::visit(expand, family); }, any);
  } catch (const Error&) {
  }
  return 0;
}
