/// \file
/// The inner loops of elimination.hpp. A pivot record is a row of reals: the node of the other side
/// (2), the node of this side that was the pivot (2), dot (order scalars) and minus the update (order
/// scalars); scalars are interleaved.
#pragma once

#include "cauchy/elimination.hpp"
#include "core/simd.hpp"

namespace structmat::cauchy {

/// How a step changes the generators: any order, order 2 in registers, or by products
/// (elimination.hpp; dot is then 1 or -1, and the update unused).
enum class Step { general, order_two, product };

/// Blocks of lanes that a panel holds in registers.
inline constexpr int panel_blocks = 4;
template <class R>
inline constexpr int panel_width = panel_blocks* lane_width<R>;

template <class T>
inline constexpr index_t parts = is_complex_v<T> ? 2 : 1;
template <class T>
constexpr index_t record_length(index_t order) {
  return 4 + 2 * order * parts<T>;
}

template <class R>
struct Best {
  R size = 0;
  index_t index = 0;
};

/// Blocks [first, last) of one side during the elimination.
template <class T>
struct Pass {
  index_t first, last, order;
  real_t<T>* x;
  const real_t<T>* node;
  real_t<T>* v;                 ///< a block of reals for each block
  const real_t<T>* finished{};  ///< record of the last pivot, of which v still holds the entries
  const real_t<T>* pivot{};     ///< record of the present pivot
};

/// Rows: x -= v update(finished), then v := entries of the column of `pivot`; where either is given.
/// Returns the largest |re v| + |im v|.
template <Scalar T, class Node>
Best<real_t<T>> pass_rows(const Pass<T>& p, Step step);
/// Columns: v := entries of the row of `pivot`, x -= v update(pivot); without a pivot nothing of
/// both. Returns the column with the largest sum of |re x_l| + |im x_l|.
template <Scalar T, class Node>
Best<real_t<T>> pass_columns(const Pass<T>& p, Step step);

/// x_l := (x_l - sum_{m<l} x_m R_ml) / R_ll for rows, x_l := sum_{m>=l} R_lm x_m for columns. matrix:
/// R, row-major, for rows with inverses of the diagonal on it.
template <Scalar T>
void transform_rows(real_t<T>* x, index_t blocks, index_t order, const T* matrix);
template <Scalar T>
void transform_columns(real_t<T>* x, index_t blocks, index_t order, const T* matrix);

/// Makes the columns of G orthonormal by modified Gram-Schmidt. matrix: out, R as transform_rows
/// takes it. A column that vanishes stays, with 1 on the diagonal.
template <Scalar T>
void orthogonalise(real_t<T>* x, index_t first, index_t last, index_t order, T* matrix);

/// The sum of the squares of `count` reals, and the largest of them in modulus.
template <RealScalar R>
double sum_of_squares(const R* x, index_t count);
template <RealScalar R>
R largest_modulus(const R* x, index_t count);

/// panel(k, :) := entries of panel_blocks blocks of lines against the pivots first <= k < last; x
/// moves on to step `last`.
template <Scalar T, class Node>
struct PanelPass {
  index_t first, last, order;
  real_t<T>* x;
  const real_t<T>* node;
  const real_t<T>* pivots;
  index_t record;
  real_t<T>* panel;
};
template <Scalar T, class Node>
void pass_panel(const PanelPass<T, Node>& p, Step step);

/// sums (one panel row) := sum_{k<count} panel(k, :) y_k
template <Scalar T>
void gather_panel(const real_t<T>* panel, index_t count, const T* y, real_t<T>* sums);
/// y_k -= sum over lanes of panel(k, :) x, k < count; x is one panel row.
template <Scalar T>
void scatter_panel(const real_t<T>* panel, index_t count, const real_t<T>* x, T* y);

}  // namespace structmat::cauchy
