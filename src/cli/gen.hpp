/// \file
/// The parts of structmat gen.
#pragma once

#include "command.hpp"

namespace structmat::cli {

/// gen toeplitz, ...: structured matrices without a recurrence.
void add_gen_structured(CLI::App& gen_command, Action& action);

}  // namespace structmat::cli
