/// \file
/// The inner loop of direct Cauchy sums, whose lanes are targets.
#pragma once

#include "core/simd.hpp"

namespace structmat::cauchy {

/// What is known of the differences between targets and sources.
enum class Reach {
  narrow,  ///< finite, not zero, and products of `shared_power` of them are normal numbers
  wide     ///< nothing
};

template <Scalar T>
inline constexpr int lanes = 64 / static_cast<int>(sizeof(real_t<T>));
/// The most vectors of targets that one call of the kernel takes.
inline constexpr int kernel_vectors = 2;
template <Scalar T>
inline constexpr index_t kernel_targets = lanes<T>* kernel_vectors;
/// Real numbers in a vector of targets.
template <Scalar T>
inline constexpr index_t lane_reals = simd::Lanes<T, lanes<T>>::reals;

/// How many powers of a difference one division sees.
template <RealScalar R>
inline constexpr int shared_power = sizeof(R) == 8 ? 4 : 2;

/// A few vectors of targets, and sources.
template <Scalar T>
struct KernelRun {
  const real_t<T>* targets = nullptr;  // a vector each
  const real_t<T>* factors = nullptr;  // `order` vectors each
  const T* sources = nullptr;          // (count)
  const T* source_factors = nullptr;   // (count, order)
  const T* charges = nullptr;          // (K, count), rows charge_step apart
  index_t charge_step = 0;
  index_t order = 0, count = 0;
  real_t<T>* sums = nullptr;  // a vector each for K columns that are sum_step apart, added to
  index_t sum_step = 0;
};

/// sums_ic += sum_j w_ij x_jc for `columns` = 1, 2 (without factors) or 4 columns, with w_ij = 1 /
/// (s_i - t_j) or (a_i . b_j) / (s_i - t_j)^power; one or (real numbers without factors) two vectors
/// of targets. A pair that coincides counts as zero where the reach is wide.
template <Scalar T>
using Kernel = void (*)(const KernelRun<T>&);
template <Scalar T>
Kernel<T> kernel_for(Reach reach, int vectors, index_t columns, bool factors = false,
                     int power = 1);

/// May nodes of this size take part in narrow sums? |s - t| is at least half a unit in the last
/// place of the smaller one, unless one of them is zero.
template <RealScalar R>
inline constexpr R least_narrow = sizeof(R) == 8 ? R(0x1p-100) * R(0x1p-100) : R(0x1p-36);
template <RealScalar R>
inline constexpr R most_narrow = sizeof(R) == 8 ? R(0x1p125) * R(0x1p125) : R(0x1p60);
/// And differences of this size?
template <RealScalar R>
inline constexpr R least_narrow_difference = least_narrow<R>* epsilon<R>;

template <Scalar T>
Reach reach_of(const T* nodes, index_t step, index_t count);

}  // namespace structmat::cauchy
