/// \file
/// Nodes that rows and columns have in common, on the device.
#pragma once

#include "core/strided.cuh"
#include "structmat/cauchy/cauchy.hpp"

namespace structmat::gpu {

/// Throws DomainError, on behalf of `operation`, where s_i equals some t_j, with the least such i, then
/// j, of the first batch entry that has any. NaN equals nothing. s: (batch, m); t: (batch, n).
/// Allocates and synchronises. Cost: a sort of the hashes of t.
template <class T>
void require_distinct(const char* operation, const Strided<const T, 2>& s,
                      const Strided<const T, 2>& t, index_t batch, index_t m, index_t n,
                      cudaStream_t stream);

/// "operation: s_3 equals t_5 in batch entry 0"
[[noreturn]] void throw_coincidence(const char* operation, index_t i, index_t j, index_t batch);

}  // namespace structmat::gpu
