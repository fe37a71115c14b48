// structmat check --property low-rank | displacement.
#include "check.hpp"
#include "progress.hpp"
#include "structmat/io/npy.hpp"
#include "structmat/verify/displacement_rank.hpp"

namespace structmat::cli {
namespace {

/// "z:1", "zt:-1" or "diag:FILE".
template <Scalar T>
displacement::Operator<T> parse_operator(const std::string& option, const std::string& text) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "diag" && !rest.empty()) {
    const io::DenseMatrix nodes = io::read_npy(rest);
    const Array<T, 2>* column = std::get_if<Array<T, 2>>(&nodes);
    if (column == nullptr || (column->extent(0) != 1 && column->extent(1) != 1)) {
      throw UsageError(
          fmt::format("{}: {} must hold one row or column of {}", option, rest, dtype_name<T>()));
    }
    return displacement::diagonal(std::vector<T>(column->begin(), column->end()));
  }
  if ((kind == "z" || kind == "zt") && !rest.empty()) {
    std::size_t used = 0;
    double corner = 0;
    try {
      corner = std::stod(rest, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == rest.size()) {
      const T f(static_cast<real_t<T>>(corner));
      return kind == "z" ? displacement::shift<T>(f) : displacement::shift_transposed<T>(f);
    }
  }
  throw UsageError(fmt::format("{}: \"{}\" is not z:F, zt:F or diag:FILE", option, text));
}

template <Scalar T>
verify::RankReport examine(View<const T, 2> m, const CheckOptions& options) {
  Progress progress("structmat check");
  verify::RankOptions asked;
  asked.order = options.order;
  asked.tolerance = options.tolerance;
  asked.progress = [&progress](double fraction) { progress.set(fraction); };
  if (options.property == "low-rank") return verify::low_rank(m, asked);
  const displacement::Displacement<T> d{
      options.stein ? displacement::Kind::stein : displacement::Kind::sylvester,
      parse_operator<T>("--left", options.left), parse_operator<T>("--right", options.right)};
  return verify::displacement_rank(m, d, asked);
}

std::string equation(const CheckOptions& options) {
  return fmt::format("{}, A = {}, B = {}", options.stein ? "X - A X B" : "A X - X B", options.left,
                     options.right);
}

void print_text(const CheckOptions& options, const std::string& description,
                const verify::RankReport& report) {
  print_line("file", options.file + ": " + description);
  print_line("property", options.property);
  if (options.property == "displacement") print_line("operators", equation(options));
  print_line("rank", fmt::format("{}{}", report.complete ? "" : "at least ", report.rank));
  if (report.asked) {
    print_line("asked", fmt::format("at most {}", *report.asked));
    print_line("verdict", report.holds ? "holds" : "DOES NOT HOLD");
  }
  print_line("tolerance", fmt::format("{:.3g} times {:.6g}", report.tolerance, report.reference));
  print_line("smallest kept", fmt::format("{:.3g}", report.smallest_kept));
  print_line("largest dropped", fmt::format("{:.3g}", report.largest_dropped));
}

void print_json(const CheckOptions& options, const verify::RankReport& report) {
  Json json{{"file", options.file},
            {"property", options.property},
            {"holds", report.holds},
            {"rows", report.rows},
            {"cols", report.cols},
            {"asked", report.asked ? Json(*report.asked) : Json()},
            {"complete", report.complete},
            {"rank", report.rank},
            {"tolerance", report.tolerance},
            {"reference", report.reference},
            {"smallest_kept", report.smallest_kept},
            {"largest_dropped", report.largest_dropped},
            {"singular_values", report.singular_values}};
  if (options.property == "displacement") {
    json["kind"] = options.stein ? "stein" : "sylvester";
    json["left"] = options.left;
    json["right"] = options.right;
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Status check_rank(const CheckOptions& options) {
  const io::DenseMatrix dense = read_entries(options.file);
  const verify::RankReport report = std::visit(
      [&]<Scalar T>(const Array<T, 2>& m) { return examine(View<const T, 2>(m), options); }, dense);
  if (options.json) {
    print_json(options, report);
  } else {
    print_text(options, describe(dense), report);
  }
  return report.holds ? done : refuted;
}

}  // namespace structmat::cli
