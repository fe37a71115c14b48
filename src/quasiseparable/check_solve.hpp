/// \file
/// What all solvers of the family ask of their operands.
#pragma once

#include "structmat/core/operand.hpp"
#include "structmat/core/status.hpp"

namespace structmat::quasiseparable {

/// The batch of x := M^-1 b. b and x may be the same view, and must not overlap otherwise. Throws
/// ShapeError, DomainError (overlap, factors that broke down).
template <class Factors, class T>
index_t check_solve(const char* operation, const Factors& f, const View<const T, 3>& b,
                    const View<T, 3>& x) {
  const bool in_place =
      b.data() == x.data() && b.extents() == x.extents() && b.strides() == x.strides();
  const View<T, 3> apart(nullptr, x.extents());
  const index_t n = f.size(),
                batch = detail::check_operands(operation, f.batch(), n, n, b, in_place ? apart : x);
  if (!f.status().usable()) throw DomainError(std::string(operation) + ": " + describe(f.status()));
  return batch;
}

/// For each batch entry: work(entry, columns) on a copy of b that becomes x. conjugated: of the
/// conjugates (M^-T b = conj(M^-H conj(b))).
template <class T, class Work>
void solve_entries(index_t batch, bool conjugated, const View<const T, 3>& b, const View<T, 3>& x,
                   const Work& work) {
  for (index_t entry = 0; entry < batch; ++entry) {
    Array<T, 2> columns = to_array(b.select(0, b.extent(0) == 1 ? 0 : entry));
    const auto turn = [&] {
      if (!conjugated) return;
      for (T& v : columns) v = conjugate(v);
    };
    turn();
    work(entry, columns.view());
    turn();
    copy(std::as_const(columns).view(), x.select(0, entry));
  }
}

}  // namespace structmat::quasiseparable
