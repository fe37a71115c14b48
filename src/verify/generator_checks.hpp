/// \file
/// Validation and triangles of generators, for all checks that read them.
#pragma once

#include <string>

#include "core/finite.hpp"
#include "structmat/core/error.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"
#include "structmat/semiseparable/semiseparable.hpp"
#include "verify/triangles.hpp"

namespace structmat::verify {

inline void require_one(const std::string& operation, index_t batch) {
  if (batch != 1) {
    throw ShapeError(operation + ": the generators have batch " + std::to_string(batch) +
                     ", expected 1");
  }
}

/// The index of the first number that is not finite in rows begin <= i < end of a generator (n,
/// ...), as "3, 1"; empty if there is none.
template <Scalar T, int Rank>
std::string first_not_finite(const View<const T, Rank>& m, index_t begin, index_t end) {
  for (index_t i = begin; i < end; ++i) {
    if constexpr (Rank == 1) {
      if (!is_finite(m(i))) {
        return std::to_string(i);
      }
    } else {
      const std::string inner = first_not_finite<T, Rank - 1>(m.select(0, i), 0, m.extent(1));
      if (!inner.empty()) return std::to_string(i) + ", " + inner;
    }
  }
  return {};
}

/// Throws DomainError "operation: p (3, 1) is not finite".
template <Scalar T, int Rank>
void require_finite(const std::string& operation, const std::string& name,
                    const View<const T, Rank>& m, index_t begin, index_t end,
                    const std::string& place = {}) {
  const std::string where = first_not_finite(m, begin, end);
  if (where.empty()) return;
  throw DomainError(operation + ": " + name + " (" + place + (place.empty() ? "" : ", ") + where +
                    ") is not finite, only finite input has an answer");
}

template <Scalar T>
void require_finite(const std::string& operation, const std::string& name,
                    const Array<T, 2>& numbers) {
  if (numbers.extent(0) > 0) {
    require_finite<T, 1>(operation, name, numbers.view().select(0, 0), 0, numbers.extent(1));
  }
}

/// The strictly lower triangle, after checks of its generators.
template <Scalar T, transition::Uniform K>
UniformTriangle<T, K> strictly_lower(const std::string& operation,
                                     const QuasiseparableView<T, K>& m) {
  const index_t n = m.size(), rows = std::max<index_t>(n - 1, 0);
  const auto p = m.p.select(0, 0), q = m.q.select(0, 0);
  const auto a = m.a.select(0, 0);
  require_finite<T, 2>(operation, "p", p, 1, n);
  require_finite<T, 2>(operation, "q", q, 0, rows);
  require_finite<T, K::rank - 1>(operation, "a", a, 1, rows);
  return {p.slice(0, n - rows, n), q.slice(0, 0, rows), a, false};
}

/// The strictly upper triangle, transposed.
template <Scalar T, transition::Uniform K>
UniformTriangle<T, K> strictly_upper(const std::string& operation,
                                     const QuasiseparableView<T, K>& m) {
  const index_t n = m.size(), rows = std::max<index_t>(n - 1, 0);
  const auto g = m.g.select(0, 0), h = m.h.select(0, 0);
  const auto b = m.b.select(0, 0);
  require_finite<T, 2>(operation, "g", g, 0, rows);
  require_finite<T, 2>(operation, "h", h, 1, n);
  require_finite<T, K::rank - 1>(operation, "b", b, 1, rows);
  return {h.slice(0, n - rows, n), g.slice(0, 0, rows), b, true};
}

/// The lower triangle with its diagonal.
template <Scalar T, transition::Uniform K>
UniformTriangle<T, K> lower_triangle(const std::string& operation,
                                     const SemiseparableView<T, K>& m) {
  const index_t n = m.size();
  const auto c = m.c.select(0, 0), b = m.b.select(0, 0);
  const auto a = m.a.select(0, 0);
  require_finite<T, 2>(operation, "c", c, 0, n);
  require_finite<T, 2>(operation, "b", b, 0, n);
  require_finite<T, K::rank - 1>(operation, "a", a, std::min<index_t>(1, n), n);
  return {c, b, a, false};
}

template <Scalar T>
void require_finite(const std::string& operation, const std::string& name,
                    const BlockTriangle<T>& triangle) {
  require_finite(operation, name + ".p", triangle.all_p());
  require_finite(operation, name + ".q", triangle.all_q());
  require_finite(operation, name + ".a", triangle.all_a());
}

/// The squares of the entries (i, j), j < i + extra, of the diagonal blocks.
template <Scalar T>
SumOfSquares squares_inside(const Partition& partition, const BlockDiagonal<T>& diagonal,
                            index_t extra) {
  SumOfSquares sum;
  for (index_t i = 0; i < partition.blocks(); ++i) {
    const View<const T, 2> block = diagonal.block(0, i);
    for (index_t row = 0; row < block.extent(0); ++row) {
      for (index_t j = 0; j < row + extra; ++j) sum.add(block(row, j));
    }
  }
  return sum;
}

/// Throws when the blocks do not fit the partition.
template <Scalar T>
void require_fit(const std::string& operation, const Partition& partition,
                 const BlockTriangle<T>& triangle, const BlockDiagonal<T>& diagonal) {
  require_one(operation, diagonal.batch());
  index_t squares = 0, rows = 0;
  const bool fits = static_cast<index_t>(triangle.states().size()) == partition.blocks() + 1;
  for (index_t i = 0; fits && i < partition.blocks(); ++i) {
    squares += partition.size(i) * partition.size(i);
    rows += partition.size(i) * triangle.state(i);
  }
  if (!fits || squares != diagonal.stored() || rows != triangle.all_p().size()) {
    throw ShapeError(
        operation + ": the generators have " + std::to_string(triangle.states().size()) +
        " states and " + std::to_string(diagonal.stored()) +
        " numbers on the diagonal, the partition " + std::to_string(partition.blocks()) +
        " blocks with " + std::to_string(squares));
  }
}

}  // namespace structmat::verify
