// structmat check --property banded | toeplitz | hankel | circulant | cauchy | vandermonde.
#include "check.hpp"
#include "structmat/verify/entrywise.hpp"

namespace structmat::cli {
namespace {

/// What a test found: how far the matrix is from the structure, and its bandwidths if it has any.
struct Found {
  verify::Deviation deviation;
  std::optional<Order> band{};
};

template <Scalar T>
Found examine(View<const T, 2> m, const CheckOptions& options) {
  const verify::EntrywiseOptions asked{options.tolerance};
  if (options.property == "toeplitz") return {verify::toeplitz(m, asked)};
  if (options.property == "hankel") return {verify::hankel(m, asked)};
  if (options.property == "circulant") return {verify::circulant(m, asked)};
  if (options.property == "cauchy") return {verify::cauchy(m, asked)};
  if (options.property == "vandermonde") return {verify::vandermonde(m, asked)};
  verify::BandFound band = verify::banded(m, asked);
  const auto most = asked_order(options, std::max(m.extent(0), m.extent(1)));
  band.holds = !most || (band.lower <= most->lower && band.upper <= most->upper);
  return {band, Order{band.lower, band.upper}};
}

void print_text(const CheckOptions& options, const std::string& description, const Found& found) {
  const verify::Deviation& d = found.deviation;
  print_line("file", options.file + ": " + description);
  print_line("property", options.property);
  if (found.band) {
    print_line("band",
               fmt::format("{} diagonals below, {} above", found.band->lower, found.band->upper));
  }
  const bool asked = !found.band || options.order || options.lower || options.upper;
  if (asked) print_line("verdict", d.holds ? "holds" : "DOES NOT HOLD");
  print_line("deviation", fmt::format("{:.3g} at ({}, {})", d.largest, d.row, d.col));
  print_line("tolerance", fmt::format("{:.3g}", d.tolerance));
}

void print_json(const CheckOptions& options, const Found& found) {
  const verify::Deviation& d = found.deviation;
  Json json{{"file", options.file},
            {"property", options.property},
            {"holds", d.holds},
            {"deviation", d.largest},
            {"at", {{"row", d.row}, {"col", d.col}}},
            {"tolerance", d.tolerance}};
  if (found.band) json["band"] = order_json(*found.band);
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Status check_entrywise(const CheckOptions& options) {
  const io::DenseMatrix dense = read_entries(options.file);
  const Found found = std::visit(
      [&]<Scalar T>(const Array<T, 2>& m) { return examine(View<const T, 2>(m), options); }, dense);
  if (options.json) {
    print_json(options, found);
  } else {
    print_text(options, describe(dense), found);
  }
  return found.deviation.holds ? done : refuted;
}

}  // namespace structmat::cli
