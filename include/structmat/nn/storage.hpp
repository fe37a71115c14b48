/// \file
/// What activations of layers are stored in, and what is computed in.
#pragma once

#include "structmat/core/bf16.hpp"
#include "structmat/core/scalar.hpp"

namespace structmat::nn {

/// float and double are computed in themselves, bf16 in float.
template <class T>
concept Storage = RealScalar<T> || std::same_as<T, bf16>;

template <Storage T>
using compute_t = std::conditional_t<std::same_as<T, bf16>, float, T>;

}  // namespace structmat::nn
