/// \file
/// bf16: a number of 8 significant bits with the range of float, as a type of storage. It is computed
/// with as float; there is no arithmetic in it.
#pragma once

#include <bit>
#include <cstdint>

namespace structmat {

struct bf16 {
  std::uint16_t bits;

  bf16() = default;
  /// To the nearest, ties to even; NaN stays NaN. Doubles go through float explicitly, since they would be
  /// rounded twice.
  explicit constexpr bf16(float x) : bits(rounded(std::bit_cast<std::uint32_t>(x))) {}
  explicit bf16(double) = delete;

  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  static constexpr std::uint16_t rounded(std::uint32_t x) {
    if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(x >> 16 | 0x40);
    return static_cast<std::uint16_t>((x + 0x7fff + (x >> 16 & 1)) >> 16);
  }
};
static_assert(sizeof(bf16) == 2 && alignof(bf16) == 2);

}  // namespace structmat
