/// \file
/// Linear state-space models of one input and one output:
///
///   continuous:                 s' = A s + B x,                   y = C^T s + D x
///   discrete, after the input:  s_i = A_i s_{i-1} + B_i x_i,      y_i = C_i^T s_i + D_i x_i
///   discrete, before the input: s_{i+1} = A_i s_i + B_i x_i,      y_i = C_i^T s_i + D_i x_i
///
/// with s = 0 in front of the first input. The transpose is plain, also for complex data.
///
/// | part | shape                                                                       |
/// |------|-----------------------------------------------------------------------------|
/// | a    | transition.hpp, with the index of time in the place of n                    |
/// | b, c | (batch, n, r)                                                               |
/// | d    | (batch, n), or empty: 0                                                     |
///
/// A batch extent 1 is broadcast over the batch, an extent n = 1 over time: a time-invariant model
/// has n = 1.
///
/// | here     | Mamba-2 (SSD) | S4D, Mamba-1          | first-order layer      |
/// |----------|---------------|-----------------------|------------------------|
/// | A        | A (scalar)    | A (diagonal)          | -W_A                   |
/// | discrete | after, exp(dt A), dt B | after, zero-order hold or bilinear | after, Euler |
#pragma once

#include "structmat/core/array.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat {

/// A model that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, transition::Uniform K>
struct StateSpaceView {
  using value_type = T;
  using transition_type = K;

  const StateSpaceView& view() const { return *this; }

  View<const T, K::rank> a{};
  View<const T, 3> b{}, c{};
  View<const T, 2> d{};

  index_t order() const { return b.extent(2); }
};

namespace semiseparable {

/// The same model with extents 1 of batch and time broadcast to the largest of each, or to `batch`
/// and `steps` if those are larger; an empty d becomes zeros. Throws ShapeError, on behalf of
/// `operation`, when the parts do not fit together.
template <Scalar T, transition::Uniform K>
StateSpaceView<T, K> checked(StateSpaceView<T, K> m, const char* operation, index_t batch = 1,
                             index_t steps = 1);

}  // namespace semiseparable

/// A model that owns its parts (see the file's head for shapes).
template <Scalar T, class K = transition::Diagonal>
struct StateSpace {
  using value_type = T;
  using transition_type = K;

  StateSpace() = default;
  /// Zeros. Throws ShapeError.
  StateSpace(index_t steps, index_t order, index_t batch = 1)
      : a(transition::extents<K>(batch, steps, order)),
        b({batch, steps, order}),
        c({batch, steps, order}),
        d({batch, steps}) {}

  Array<T, K::rank> a;
  Array<T, 3> b, c;
  Array<T, 2> d;

  index_t order() const { return b.extent(2); }
  StateSpaceView<T, K> view() const { return {a.view(), b.view(), c.view(), d.view()}; }
};

}  // namespace structmat
