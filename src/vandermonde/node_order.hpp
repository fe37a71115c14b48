/// \file
/// The order in which nodes enter divided differences.
#pragma once

#include <vector>

#include "structmat/vandermonde/solve.hpp"

namespace structmat::vandermonde {

/// What automatic is for these nodes.
template <Scalar T>
NodeOrder resolved(NodeOrder order, const View<const T, 1>& nodes);

/// order[i] is the node that comes i-th. Nodes finite. Leja: O(n^2), the others O(n log n).
template <Scalar T>
std::vector<index_t> ordered(NodeOrder order, const View<const T, 1>& nodes);

}  // namespace structmat::vandermonde
