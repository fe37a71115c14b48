#include "structmat/verify/low_rank.hpp"

#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"
#include "structmat/dense/norm.hpp"
#include "verify/row_sweep.hpp"

namespace structmat::verify {
namespace {

constexpr auto operation = "verify::low_rank";

void require_non_negative(const char* name, double v) {
  if (!(v >= 0)) {
    throw DomainError(std::string(operation) + ": the " + name + " is " + std::to_string(v) +
                      ", it must be at least 0");
  }
}

/// Rows of the next block: about the rank so far. Once the matrix turns out not to be of low rank,
/// all that is left, or as many as could exceed the order at which to stop.
index_t next_rows(index_t state, index_t rows, index_t left, std::optional<index_t> stop) {
  constexpr index_t least = 16, most = 256;
  if (4 * state <= rows) return std::min(left, std::clamp(state, least, most));
  return stop ? std::clamp(*stop - state + least, std::min(least, left), left) : left;
}

}  // namespace

template <Scalar T>
RankReport low_rank(View<const T, 2> a, const RankOptions& options) {
  dense::require_finite(operation, a);
  RankReport report;
  report.property = "low rank";
  report.rows = a.extent(0);
  report.cols = a.extent(1);
  report.asked = options.order;
  const View<const T, 2> wide = a.extent(0) <= a.extent(1) ? a : a.transposed();
  const index_t rows = wide.extent(0), columns = wide.extent(1);
  report.tolerance = options.tolerance.value_or(double(columns) * double(epsilon<T>));
  const double norm = dense::frobenius_norm(a);
  report.reference = options.reference.value_or(norm);
  require_non_negative("tolerance", report.tolerance);
  require_non_negative("reference", report.reference);
  if (options.order && *options.order < 0) {
    throw DomainError(std::string(operation) + ": the order asked for is " +
                      std::to_string(*options.order) + ", it must not be negative");
  }

  const double threshold = report.tolerance * report.reference;
  RowSweep<T> sweep(columns);
  const auto rank = [&] {
    const auto& values = sweep.values();
    return index_t(std::find_if(values.begin(), values.end(),
                                [&](real_t<T> v) { return !(double(v) > threshold); }) -
                   values.begin());
  };
  const auto stop = options.stop_at_violation ? options.order : std::nullopt;
  index_t begin = 0;
  while (begin < rows) {
    const index_t size = next_rows(sweep.state(), rows, rows - begin, stop);
    const double share = std::sqrt(double(size) / double(rows));
    sweep.advance(wide.slice(0, begin, begin + size),
                  std::max(threshold / 8 * share, 2 * double(epsilon<T>) * norm),
                  begin + size == rows);
    begin += size;
    if (options.progress) options.progress(double(begin) / double(rows));
    // More rows make no singular value smaller.
    if (stop && rank() > *stop) break;
  }
  report.complete = begin == rows;
  report.rank = rank();
  for (const real_t<T> v : sweep.values()) {
    report.singular_values.push_back(report.reference > 0 ? double(v) / report.reference : 0.0);
  }
  const auto& values = report.singular_values;
  if (report.rank > 0) report.smallest_kept = values[report.rank - 1];
  if (report.rank < index_t(values.size())) report.largest_dropped = values[report.rank];
  report.holds = !options.order || report.rank <= *options.order;
  return report;
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT RankReport low_rank<T>(View<const T, 2>, const RankOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
