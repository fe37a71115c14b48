/// \file
/// The cotangent of a right-hand side.
#pragma once

#include <string>
#include <utility>

#include "structmat/core/array.hpp"
#include "structmat/core/op.hpp"

namespace structmat {

/// w = op(A)^-H x_bar by solve(op, b, x), which may work in place; b_bar += w, unless it is absent.
/// Returns -w. Throws ShapeError, DomainError (overlap).
template <Scalar T, class Solve>
Array<T, 3> solve_cotangent(const char* operation, Op op, const View<const T, 3>& x,
                            const View<const T, 3>& x_bar, const View<T, 3>& b_bar,
                            const Solve& solve) {
  detail::require_extents<const T, 3, space::host>(operation, x_bar, x.extents());
  if (b_bar.data() != nullptr) {
    const std::array<index_t, 3> wanted{b_bar.extent(0) == 1 ? 1 : x.extent(0), x.extent(1),
                                        x.extent(2)};
    detail::require_extents<T, 3, space::host>(operation, b_bar, wanted);
    if (overlaps(x_bar, b_bar) || overlaps(x, b_bar)) {
      throw DomainError(std::string(operation) + ": b_bar overlaps x or x_bar in memory");
    }
  }
  Array<T, 3> w = to_array(x_bar);
  const auto conjugate_all = [&] {
    for (T& v : w) v = conjugate(v);
  };
  // (A^T)^-H = conj(A^-1)
  if (op == Op::transpose) conjugate_all();
  solve(op == Op::none ? Op::adjoint : Op::none, std::as_const(w).view(), w.view());
  if (op == Op::transpose) conjugate_all();
  for (index_t b = 0; b < w.extent(0); ++b) {
    for (index_t i = 0; i < w.extent(1); ++i) {
      for (index_t c = 0; c < w.extent(2); ++c) {
        if (b_bar.data() != nullptr) b_bar(b_bar.extent(0) == 1 ? 0 : b, i, c) += w(b, i, c);
        w(b, i, c) = -w(b, i, c);
      }
    }
  }
  return w;
}

}  // namespace structmat
