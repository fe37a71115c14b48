/// \file
/// Several sequences of different lengths in one row of tokens.
#pragma once

#include <vector>

#include "structmat/core/array.hpp"

namespace structmat::nn {

/// Sequence s is tokens [starts[s], starts[s + 1]) of the one batch entry; starts has one element more
/// than there are sequences, begins with 0, does not decrease and ends with the number of tokens. Empty: no
/// packing, every batch entry is a sequence.
template <class Space = space::host>
using Starts = View<const index_t, 1, Space>;

/// The starts of runs of equal numbers in `sequence`, (length) in: {0, ..., length}. Cost O(length).
std::vector<index_t> starts_of(View<const int, 1> sequence);

}  // namespace structmat::nn
