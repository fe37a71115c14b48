#include "structmat/quasiseparable/rectangular.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "quasiseparable/kernel_terms.hpp"
#include "recurrence/walk.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_kernel.hpp"

namespace structmat {
namespace {

void require_positions(const char* operation, const char* name,
                       const View<const index_t, 1>& positions, index_t size) {
  for (index_t k = 0; k < positions.extent(0); ++k) {
    if (positions(k) >= 0 && positions(k) < size) continue;
    throw DomainError(std::string(operation) + ": position " + std::to_string(k) + " of the " +
                      name + " is " + std::to_string(positions(k)) + ", the matrix has size " +
                      std::to_string(size));
  }
}

void require_positions(const char* operation, const View<const index_t, 1>& rows,
                       const View<const index_t, 1>& columns, index_t size) {
  require_positions(operation, "rows", rows, size);
  require_positions(operation, "columns", columns, size);
}

}  // namespace

template <Scalar T, class K>
RectangularQuasiseparable<T, K>::RectangularQuasiseparable(Quasiseparable<T, K> m,
                                                           std::vector<index_t> rows,
                                                           std::vector<index_t> columns)
    : square(std::move(m)), row_positions(std::move(rows)), column_positions(std::move(columns)) {
  require_positions("quasiseparable::rectangular", row_positions, column_positions, square.size());
}

template <Scalar T, transition::Uniform K>
void apply(const exec::cpu& e, const RectangularQuasiseparableView<T, K>& r, Op op,
           View<const T, 3> x, View<T, 3> y) {
  constexpr auto operation = "quasiseparable::rectangular_apply";
  const bool plain = op == Op::none;
  const View<const index_t, 1> to = plain ? r.row_positions : r.column_positions;
  const View<const index_t, 1> from = plain ? r.column_positions : r.row_positions;
  const auto m = quasiseparable::checked(r.square, operation);
  const index_t size = m.size(), columns = x.extent(2);
  const index_t batch =
      detail::check_operands(operation, m.batch(), to.extent(0), from.extent(0), x, y);
  require_positions(operation, r.row_positions, r.column_positions, size);

  const View<const T, 3> input = x.broadcast(0, batch);
  Array<T, 3> scattered({batch, size, columns}), product({batch, size, columns}, uninitialized);
  for (index_t b = 0; b < batch; ++b) {
    for (index_t l = 0; l < from.extent(0); ++l) {
      for (index_t c = 0; c < columns; ++c) scattered(b, from(l), c) += input(b, l, c);
    }
  }
  apply<T, K>(e, m, op, std::as_const(scattered).view(), product.view());
  for (index_t b = 0; b < batch; ++b) {
    for (index_t k = 0; k < to.extent(0); ++k) {
      for (index_t c = 0; c < columns; ++c) y(b, k, c) = product(b, to(k), c);
    }
  }
}

template <Scalar T, transition::Uniform K>
T entry(const RectangularQuasiseparableView<T, K>& r, index_t i, index_t j, index_t batch) {
  constexpr auto operation = "quasiseparable::rectangular_entry";
  const auto m = quasiseparable::checked(r.square, operation);
  detail::require_index(operation, {m.batch(), r.rows(), r.cols()}, {batch, i, j});
  require_positions(operation, r.row_positions, r.column_positions, m.size());
  return entry<T, K>(m, r.row_positions(i), r.column_positions(j), batch);
}

template <Scalar T, transition::Uniform K>
void to_dense(const RectangularQuasiseparableView<T, K>& r, View<T, 3> dense) {
  constexpr auto operation = "quasiseparable::rectangular_to_dense";
  const auto m = quasiseparable::checked(r.square, operation);
  detail::require_extents(operation, dense, {m.batch(), r.rows(), r.cols()});
  require_positions(operation, r.row_positions, r.column_positions, m.size());
  const index_t size = m.size();
  std::vector<T> row(size);
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t k = 0; k < r.rows(); ++k) {
      const index_t i = r.row_positions(k);
      row[i] = m.d(b, i);
      const auto walk_row = [&](const auto& out, const auto& in, const auto& a, index_t step) {
        recurrence::Walk<T> walk(out.select(0, b).select(0, i));
        for (index_t j = i + step; j >= 0 && j < size; j += step) {
          row[j] = walk.times(in.select(0, b).select(0, j));
          walk.through(recurrence::transition_at(a.select(0, b), j));
        }
      };
      walk_row(m.p, m.q, m.a, -1);
      walk_row(m.g, m.h, m.b, 1);
      for (index_t l = 0; l < r.cols(); ++l) dense(b, k, l) = row[r.column_positions(l)];
    }
  }
}

namespace quasiseparable {
namespace {

constexpr auto cross_operation = "quasiseparable::cross_covariance";

void require_ascending(const char* name, const View<const double, 1>& times) {
  const auto refuse = [&](index_t i, const std::string& reason) {
    throw DomainError(std::string(cross_operation) + ": time " + std::to_string(i) + " of the " +
                      name + " is " + number(times(i)) + ", " + reason);
  };
  for (index_t i = 0; i < times.extent(0); ++i) {
    if (!std::isfinite(times(i))) refuse(i, "it must be finite");
    if (i > 0 && times(i) < times(i - 1)) {
      refuse(i, "the one before it is " + number(times(i - 1)) + "; times must ascend");
    }
  }
}

}  // namespace

RectangularQuasiseparable<double, transition::Dense> cross_covariance(
    View<const double, 1> row_times, View<const double, 1> column_times, const Kernel& kernel) {
  require_ascending("rows", row_times);
  require_ascending("columns", column_times);
  const index_t m = row_times.extent(0), n = column_times.extent(0);
  std::vector<double> all;
  std::vector<index_t> rows, columns;
  all.reserve(m + n);
  rows.reserve(m);
  columns.reserve(n);
  for (index_t k = 0, l = 0; k < m || l < n;) {
    const bool take_row = l == n || (k < m && row_times(k) <= column_times(l));
    const double time = take_row ? row_times(k) : column_times(l);
    if (all.empty() || time > all.back()) all.push_back(time);
    (take_row ? rows : columns).push_back(static_cast<index_t>(all.size()) - 1);
    ++(take_row ? k : l);
  }
  return {from_kernel(all, kernel), std::move(rows), std::move(columns)};
}

}  // namespace quasiseparable

#define STRUCTMAT_INSTANTIATE(T, K)                                                       \
  template STRUCTMAT_EXPORT                                                               \
      RectangularQuasiseparable<T, transition::K>::RectangularQuasiseparable(             \
          Quasiseparable<T, transition::K>, std::vector<index_t>, std::vector<index_t>);  \
  template STRUCTMAT_EXPORT void apply<T, transition::K>(                                 \
      const exec::cpu&, const RectangularQuasiseparableView<T, transition::K>&, Op,       \
      View<const T, 3>, View<T, 3>);                                                      \
  template STRUCTMAT_EXPORT T entry<T, transition::K>(                                    \
      const RectangularQuasiseparableView<T, transition::K>&, index_t, index_t, index_t); \
  template STRUCTMAT_EXPORT void to_dense<T, transition::K>(                              \
      const RectangularQuasiseparableView<T, transition::K>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
