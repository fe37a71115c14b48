/// \file
/// Lists of sizes on the command line.
#pragma once

#include <string_view>
#include <vector>

#include "structmat/core/scalar.hpp"

namespace structmat::cli {

/// "4,16" is 4 and 16; "256-2048*2" is 256, 512, 1024, 2048; "10-50+20" is 10, 30, 50; "3-5" is 3,
/// 4, 5; items are separated by commas. An end that is not met exactly is not included. At most
/// 1000 numbers, each >= 1. Throws UsageError.
std::vector<index_t> parse_range(std::string_view text);

}  // namespace structmat::cli
