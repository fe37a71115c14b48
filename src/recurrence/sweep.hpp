/// \file
/// The linear recurrence under semiseparable and quasiseparable matrices, one triangle of one batch
/// entry:
///
///   emit before:  y_i += out_i^T s;  s := transition_i s + in_i x_i      (strictly triangular)
///   emit after:   s := transition_i s + in_i x_i;  y_i += out_i^T s      (triangular, diagonal
///   included)
///
/// with s = 0 at first; transition_0 and, before, out_0 are never read. An upper triangle and a
/// transpose are the same recurrence on views in the opposite order with the roles of out and in
/// exchanged.
#pragma once

#include "core/simd.hpp"
#include "structmat/core/view.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat::recurrence {

enum class Emit { before, after };

/// Right-hand sides that one pass over the generators serves: one 64-byte vector of the real type.
template <Scalar T>
inline constexpr int tile_width = static_cast<int>(64 / sizeof(real_t<T>));

/// Generators in sweep order; inner strides are 1 (Scalar: none).
template <Scalar T, transition::Uniform K>
struct Recurrence {
  View<const T, 2> out{}, in{};
  View<const T, K::rank - 1> transition{};
  Emit emit = Emit::before;

  index_t size() const { return out.extent(0); }
  index_t order() const { return out.extent(1); }
};

/// x and y of W lanes a row. Lanes of real types are W neighbouring numbers; those of complex types
/// W real parts, then W imaginary parts.
template <Scalar T>
struct Rows {
  const real_t<T>* x;
  index_t x_step;
  real_t<T>* y;
  index_t y_step;
};

/// All rows of r, which is a run of consecutive rows of a recurrence; `fresh` says that it starts
/// with row 0. state holds order() lane vectors and is carried from run to run; `spare` is as large
/// (Dense only). W is 1, 4 or tile_width<T>.
template <Scalar T, transition::Uniform K, int W>
void sweep(const Recurrence<T, K>& r, bool fresh, const Rows<T>& rows, real_t<T>* state,
           real_t<T>* spare);

}  // namespace structmat::recurrence
