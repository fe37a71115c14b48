/// \file
/// Products with Toeplitz matrices by their definition: a vector of lags times one number of x at a
/// time, in the order of the columns, whatever the shape and the number of right-hand sides.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/op.hpp"
#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat::toeplitz {

/// y := op(T) x for operands that have been checked and broadcast to the batch of y.
///
/// Cost: 2 m n k flops; workspace m + n numbers for lags, n + 512 for each of 16 right-hand sides, a
/// thread. Threads: over batch, right-hand sides and rows. Accuracy: componentwise, |error| <= (n + 1)
/// eps |T| |x|; the bits of an element of y depend on its row of T and its column of x only.
template <Scalar T>
void apply_direct(const exec::cpu& e, const ToeplitzView<T>& m, Op op, View<const T, 3> x,
                  View<T, 3> y);

}  // namespace structmat::toeplitz
