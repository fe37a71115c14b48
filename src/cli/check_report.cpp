#include "check_report.hpp"

#include "check.hpp"

namespace structmat::cli {
namespace {

const char* name(verify::Relative relative) {
  return relative == verify::Relative::matrix ? "matrix" : "block";
}
const char* name(verify::Part part) {
  return part == verify::Part::lower ? "lower" : "upper";
}

std::string reference(const verify::Report& report) {
  return report.relative == verify::Relative::matrix
             ? "times ||M||_F"
             : "times the largest singular value of a block";
}

void print_block(const verify::Block& block) {
  print_line("worst block",
             fmt::format("{}, rows {} to {}, columns {} to {}", name(block.part), block.row_begin,
                         block.row_end - 1, block.col_begin, block.col_end - 1));
  constexpr std::size_t shown = 6;
  const auto& values = block.singular_values;
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), shown); ++i) {
    text += fmt::format("{}{:.3g}", i == 0 ? "" : "  ", values[i]);
  }
  if (values.size() > shown) text += fmt::format("  ... ({} in all)", values.size());
  print_line("", "singular values " + (text.empty() ? "none above rounding level" : text));
}

void print_compression(const CheckResult& result) {
  const double dense = double(result.report.size) * double(result.report.size);
  const Compression& c = *result.compression;
  if (double(c.stored) >= dense / 2) {
    print_line("compression", fmt::format("structure brings nothing: {} numbers instead of {:.0f}",
                                          c.stored, dense));
    return;
  }
  print_line(
      "compression",
      fmt::format(
          "{} numbers instead of {:.0f} (1/{:.1f}), order {} lower and {} upper, error {:.2g}",
          c.stored, dense, dense / double(c.stored), c.order.lower, c.order.upper, c.error));
}

}  // namespace

void print_text(const CheckResult& result) {
  const verify::Report& report = result.report;
  print_line("file", fmt::format("{}: {}", result.file, result.description));
  if (!result.method.empty()) print_line("", result.method);
  print_line("property", report.property);
  print_line("order", fmt::format("lower {}{}, upper {}{}", report.complete ? "" : "at least ",
                                  report.order.lower, report.complete ? "" : "at least ",
                                  report.order.upper));
  if (report.asked) {
    print_line("asked", fmt::format("lower {}, upper {}", at_most(report.asked->lower, report.size),
                                    at_most(report.asked->upper, report.size)));
    print_line("verdict", report.holds ? "holds" : "DOES NOT HOLD");
  }
  print_line("tolerance", fmt::format("{:.3g} {}", report.tolerance, reference(report)));
  print_line("||M||_F", fmt::format("{:.6g}", report.frobenius_norm));
  print_line("smallest kept", fmt::format("{:.3g}", report.smallest_kept));
  print_line("largest dropped", fmt::format("{:.3g}", report.largest_dropped));
  if (report.worst_block) print_block(*report.worst_block);
  if (!report.complete) print_line("", "stopped at the first block that exceeds what was asked");
  if (result.compression) print_compression(result);
}

void print_json(const CheckResult& result) {
  const verify::Report& report = result.report;
  Json json{{"file", result.file},
            {"property", report.property},
            {"holds", report.holds},
            {"size", report.size},
            {"asked", report.asked ? order_json(*report.asked) : Json()},
            {"complete", report.complete},
            {"order", order_json(report.order)},
            {"tolerance", report.tolerance},
            {"relative_to", name(report.relative)},
            {"frobenius_norm", report.frobenius_norm},
            {"smallest_kept", report.smallest_kept},
            {"largest_dropped", report.largest_dropped},
            {"worst_block", nullptr},
            {"compression", nullptr},
            {"rank_profile", {{"lower", report.lower}, {"upper", report.upper}}}};
  if (report.worst_block) {
    const verify::Block& block = *report.worst_block;
    json["worst_block"] = {{"part", name(block.part)}, {"row_begin", block.row_begin},
                           {"row_end", block.row_end}, {"col_begin", block.col_begin},
                           {"col_end", block.col_end}, {"singular_values", block.singular_values}};
  }
  if (result.compression) {
    const Compression& c = *result.compression;
    json["compression"] = {{"stored", c.stored},
                           {"dense", double(report.size) * double(report.size)},
                           {"order", order_json(c.order)},
                           {"error", c.error}};
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace structmat::cli
