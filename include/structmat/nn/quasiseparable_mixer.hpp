/// \file
/// The quasiseparable mixer of Hydra: SSD in both directions, each shifted by one token, and a diagonal of
/// the data.
///
/// Definition, for one batch entry and head with P channels and N states:
///   Delta_t = clamp(softplus(dt_t + dt_bias), dt_min, dt_max)  in each direction, with one dt_bias and one a,
///   o^f the result of SSD forward in time, o^b that of SSD backward in time, both without D,
///   y_t = o^f_{t-1} + o^b_{t+1} + (delta_t + D) x_t,
/// so that y = M x with the matrix of order (N, N)
///   M_ij = C^f_{i-1} . B^f_j Delta^f_j exp(a sum_{j < k < i} Delta^f_k)     i > j
///   M_ij = C^b_{i+1} . B^b_j Delta^b_j exp(a sum_{i < k < j} Delta^b_k)     i < j
///   M_ii = delta_i + D.
/// Rows that have nothing in front of them (behind them) within their sequence get nothing from there.
///
/// Variants: shift = false is o^f_t + o^b_t (with a diagonal: No-Shift; without: Add); without delta and D
/// the diagonal is zero (No-Diag).
///
/// Shapes: as in ssd.hpp; delta: (batch, L, H). Shift, reversal and diagonal are index arithmetic: nothing is
/// flipped, rolled or doubled in memory. Packed sequences do not see each other.
/// Source: Hwang, Lahoti, Dao, Gu, "Hydra" (2024), section 3.
#pragma once

#include "structmat/nn/ssd.hpp"

namespace structmat::nn {

/// What one direction is made of, in the order of the tokens.
template <Storage T, class Space = space::host>
struct MixerDirection {
  View<const T, 3, Space> dt;
  View<const T, 4, Space> b, c;
  View<const compute_t<T>, 4, Space> initial_state{};  ///< data() null: zero
};

template <Storage T, class Space = space::host>
struct QuasiseparableMixerView {
  using R = compute_t<T>;
  MixerDirection<T, Space> forward, backward;
  View<const R, 1, Space> a;
  View<const T, 3, Space> delta{};    ///< data() null: 0
  View<const R, 2, Space> d{};        ///< data() null: 0
  View<const R, 1, Space> dt_bias{};  ///< data() null: 0
  bool shift = true;
  bool softplus = true;
  R dt_min = 0, dt_max = std::numeric_limits<R>::infinity();
  Starts<Space> starts{};
};

/// Cotangents, added to or set; data() null: not wanted.
template <Storage T, class Space = space::host>
struct MixerDirectionCotangent {
  View<T, 3, Space> dt{};
  View<T, 4, Space> b{}, c{};
  View<compute_t<T>, 4, Space> initial_state{};
};
template <Storage T, class Space = space::host>
struct QuasiseparableMixerCotangent {
  using R = compute_t<T>;
  View<T, 4, Space> x{};
  MixerDirectionCotangent<T, Space> forward{}, backward{};
  View<R, 1, Space> a{};
  View<T, 3, Space> delta{};
  View<R, 2, Space> d{};
  View<R, 1, Space> dt_bias{};
  bool accumulate = true;  ///< false: cotangents are set
};

/// y := M x. x, y: (batch, L, H, P); the batch extent of x rules. y overlaps nothing. Strides are free.
/// Cost: twice that of SSD; memory: L P numbers and O(N P) a thread. Threads, accuracy, exceptions:
/// as SSD; y is rounded once.
template <Storage T>
void apply(const exec::cpu& e, const QuasiseparableMixerView<T>& m, View<const T, 4> x,
           View<T, 4> y);

/// Reverse mode; see that of SSD.
template <Storage T>
void apply_vjp(const exec::cpu& e, const QuasiseparableMixerView<T>& m, View<const T, 4> x,
               View<const T, 4> y_bar, const QuasiseparableMixerCotangent<T>& bar);

/// The same on the device; what is said of SSD there holds. Both directions are walked in the first launch, and make one matrix of
/// each chunk in the second one. x is read three times and y written once: (4 P + 4 P N / 64) sizeof(T) bytes a token and head.
/// Throws Unsupported for more than 256 states (float: 160), and for a y with stride 0.
template <Storage T>
void apply(const exec::cuda& e, const QuasiseparableMixerView<T, space::cuda>& m,
           View<const T, 4, space::cuda> x, View<T, 4, space::cuda> y);
template <Storage T>
index_t apply_workspace_bytes(const QuasiseparableMixerView<T, space::cuda>& m,
                              View<const T, 4, space::cuda> x);

}  // namespace structmat::nn
