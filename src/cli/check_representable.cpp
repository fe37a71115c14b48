// structmat check --property representable: is the strictly lower triangle that of U V^T?
#include "check.hpp"
#include "progress.hpp"
#include "structmat/verify/completion.hpp"

namespace structmat::cli {
namespace {

/// The part of a completion that does not depend on the scalar type.
struct Found {
  index_t representable_order, order;
  double tolerance, smallest_kept, largest_dropped;
};

template <Scalar T>
Found examine(View<const T, 2> m, const CheckOptions& options) {
  const Progress progress("structmat check");
  const auto found = verify::complete_diagonal(m, {.tolerance = options.tolerance});
  index_t order = 0;
  for (const auto& entry : found.entries) order = std::max(order, entry.rank_left);
  return {found.representable_order, order, found.tolerance, found.smallest_kept,
          found.largest_dropped};
}

}  // namespace

Status check_representable(const CheckOptions& options) {
  const io::DenseMatrix dense = read_entries(options.file);
  const Found found = std::visit(
      [&]<Scalar T>(const Array<T, 2>& m) { return examine(View<const T, 2>(m), options); }, dense);
  const bool holds = !options.order || found.representable_order <= *options.order;
  if (options.json) {
    fmt::print("{}\n", Json{{"file", options.file},
                            {"property", options.property},
                            {"holds", holds},
                            {"asked", options.order ? Json(*options.order) : Json()},
                            {"rank", found.representable_order},
                            {"lower_order", found.order},
                            {"tolerance", found.tolerance},
                            {"smallest_kept", found.smallest_kept},
                            {"largest_dropped", found.largest_dropped}}
                           .dump(2));
    return holds ? done : refuted;
  }
  print_line("file", options.file + ": " + describe(dense));
  print_line("property", "representable: the strictly lower triangle is that of U V^T");
  print_line("rank", fmt::format("{} columns of U and V are needed", found.representable_order));
  print_line("lower order", std::to_string(found.order));
  if (options.order) {
    print_line("asked", fmt::format("at most {}", *options.order));
    print_line("verdict", holds ? "holds" : "DOES NOT HOLD");
  }
  print_line("tolerance", fmt::format("{:.3g} times the norm of the triangle", found.tolerance));
  print_line("smallest kept", fmt::format("{:.3g}", found.smallest_kept));
  print_line("largest dropped", fmt::format("{:.3g}", found.largest_dropped));
  return holds ? done : refuted;
}

}  // namespace structmat::cli
